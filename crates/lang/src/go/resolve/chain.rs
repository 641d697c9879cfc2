//! Receivers and values that the facts had to shorten: what is missing is found in other references, or in the file.

use std::rc::Rc;

use codecompass_model::RefShape;

use super::Go;
use super::infer::Value;
use super::packages::FileIndex;
use super::scope::{Near, Scope};
use super::syntax;
use super::types::Type;

/// As long as a text in the facts can become: a longer one ends anywhere.
const CUT: usize = 120;

/// How many references are looked at to find the step before.
const MAX_REFERENCES: usize = 200;

/// How many steps of a long chain are followed.
const MAX_STEPS: usize = 200;

/// How much of a file is read for one expression, in bytes.
const MAX_READ: usize = 4000;

/// Whether something was left out of a text.
pub(super) fn is_shortened(text: &str) -> bool {
    text.contains('…') || is_cut(text)
}

/// Whether a text ends anywhere.
pub(super) fn is_cut(text: &str) -> bool {
    text.len() >= CUT
}

/// Whether a receiver can be read as it is: a comment on one line has no end, but in braces it does no harm.
fn is_complete(text: &str) -> bool {
    !is_cut(text) && (!text.contains("// ") || text.starts_with("struct"))
}

impl Go<'_> {
    /// What the receiver of a reference stands for.
    pub(super) fn receiver(&self, scope: &Scope, text: &str) -> Value {
        if is_complete(text) {
            let value = self.value(scope, &syntax::parse(text));
            if !matches!(value, Value::Of(Type::Unknown)) {
                return value;
            }
        }
        match scope.near {
            Near::Reference(at) => Value::Of(self.long_chain(&scope.file, at)),
            _ => Value::Of(Type::Unknown),
        }
    }

    /// The type before a member at the end of a chain, from the references to the members before it.
    fn long_chain(&self, file: &Rc<FileIndex>, at: u32) -> Type {
        let mut steps = Vec::new();
        let mut from = at;
        let start = loop {
            let Some(before) = step_before(file, from) else { return Type::Unknown };
            steps.push(before);
            let reference = &file.source.facts.references[before as usize];
            let text = reference.qualifier.map_or("", |text| file.text(text));
            if is_complete(text) {
                let scope = Scope { file: file.clone(), symbol: reference.symbol, near: Near::Reference(before) };
                match self.value(&scope, &syntax::parse(text)) {
                    Value::Of(Type::Unknown) if !text.starts_with('(') => {}
                    value => break value,
                }
            }
            if steps.len() >= MAX_STEPS {
                return Type::Unknown;
            }
            from = before;
        };
        self.follow(file, start, &steps)
    }

    fn follow(&self, file: &Rc<FileIndex>, start: Value, steps: &[u32]) -> Type {
        let mut value = start;
        for &step in steps.iter().rev() {
            let reference = &file.source.facts.references[step as usize];
            let of = self.select(value, file.text(reference.name)).into_type();
            value = Value::Of(match (reference.shape, self.underlying(&of)) {
                (RefShape::MemberCall, Type::Func(of)) => Type::results(&of.results),
                (RefShape::MemberCall, Type::External) => Type::External,
                (RefShape::Member, _) => of,
                _ => return Type::Unknown,
            });
        }
        value.into_type()
    }

    /// The file's own text of an expression from a line on, by the beginning that the facts have.
    pub(super) fn full_text(&self, file: &FileIndex, line: u32, short: &str) -> Option<String> {
        let text = self.world.text(file.source.id)?;
        let start = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum::<usize>();
        let begins = short.split(['…', ' ']).next().filter(|begins| !begins.is_empty())?;
        let near = crate::text::cut(text.get(start..)?, MAX_READ);
        // Behind the name that gets the value.
        let behind = near.find('=').map_or(0, |equals| equals + 1);
        let at = near[behind..].find(begins)? + behind;
        Some(crate::text::cut(&text[start + at..], MAX_READ).to_owned())
    }
}

/// The reference to the last member of the receiver of another one.
fn step_before(file: &FileIndex, at: u32) -> Option<u32> {
    let references = &file.source.facts.references;
    let own = references.get(at as usize)?;
    let text = file.text(own.qualifier?);
    let whole = skeleton(text);
    let is_step = |&before: &usize| {
        let reference = &references[before];
        let Some(qualifier) = reference.qualifier else { return false };
        if !matches!(reference.shape, RefShape::Member | RefShape::MemberCall) || reference.binding != own.binding {
            return false;
        }
        let Some(rest) = whole.strip_prefix(skeleton(file.text(qualifier)).as_str()) else { return false };
        let expected = format!(".{}()", file.text(reference.name));
        match is_cut(text) {
            // What was cut off may be any part of the step.
            true => expected.starts_with(rest),
            false => rest == expected || expected.strip_suffix("()") == Some(rest),
        }
    };
    let at = at as usize;
    (at.saturating_sub(MAX_REFERENCES)..at).rev().find(is_step).map(|found| found as u32)
}

/// A text without white space and without what stands in brackets.
fn skeleton(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0u32;
    for c in text.chars() {
        let closes = matches!(c, ')' | ']' | '}');
        depth = if closes { depth.saturating_sub(1) } else { depth };
        if depth == 0 && !c.is_whitespace() {
            out.push(c);
        }
        depth += u32::from(matches!(c, '(' | '[' | '{'));
    }
    out
}
