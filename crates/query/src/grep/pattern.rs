//! A pattern: what it matches, and what a text must have in it to hold a match.

use std::ops::Range;

use codecompass_store::Need;
use memchr::memmem;
use regex_automata::meta;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use crate::grep::need;

/// What is looked for, as it was asked.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'p> {
    /// A regular expression, or a literal.
    pub text: &'p str,
    /// Whether it is a literal.
    pub literal: bool,
    /// Whether case does not count.
    pub ignore_case: bool,
    /// Whether only whole words match.
    pub word: bool,
}

/// What is wrong with a pattern, in the parser's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(pub String);

/// A pattern ready to be matched.
#[derive(Clone, Debug)]
pub struct Pattern {
    matcher: Matcher,
    need: Need,
    odd: bool,
}

#[derive(Clone, Debug)]
enum Matcher {
    Literal(Box<memmem::Finder<'static>>),
    Regex(meta::Regex),
}

impl Pattern {
    /// Compiles a pattern.
    pub fn new(wanted: &Wanted<'_>) -> Result<Self, BadPattern> {
        if wanted.literal && wanted.text.is_empty() {
            return Self::new(&Wanted { literal: false, ..*wanted });
        }
        if wanted.literal && !wanted.ignore_case && !wanted.word {
            let finder = memmem::Finder::new(wanted.text).into_owned();
            let (need, odd) = need::of_literal(wanted.text);
            return Ok(Self { matcher: Matcher::Literal(Box::new(finder)), need, odd });
        }
        let hir = parse(wanted)?;
        let (need, odd) = need::of_hir(&hir);
        let regex = meta::Regex::builder().build_from_hir(&hir).map_err(|error| BadPattern(error.to_string()))?;
        Ok(Self { matcher: Matcher::Regex(regex), need, odd })
    }

    /// What a text must have in it.
    pub(super) fn need(&self) -> &Need {
        &self.need
    }

    /// Whether texts with odd characters may hold a match whatever is needed.
    pub(super) fn is_odd(&self) -> bool {
        self.odd
    }

    /// Calls for each match that does not overlap one before, in order.
    pub(super) fn each_match(&self, text: &str, mut found: impl FnMut(Range<usize>)) {
        match &self.matcher {
            Matcher::Literal(finder) => {
                let length = finder.needle().len();
                finder.find_iter(text.as_bytes()).for_each(|at| found(at..at + length));
            }
            Matcher::Regex(regex) => regex.find_iter(text).for_each(|one| found(one.range())),
        }
    }
}

fn parse(wanted: &Wanted<'_>) -> Result<Hir, BadPattern> {
    let text = if wanted.literal { regex_syntax::escape(wanted.text) } else { wanted.text.to_owned() };
    let parsed = ParserBuilder::new().multi_line(true).case_insensitive(wanted.ignore_case).build().parse(&text);
    let mut hir = parsed.map_err(|error| BadPattern(said(&error)))?;
    if !wanted.literal {
        hir = on_one_line(&hir)?;
    }
    if wanted.word {
        let [start, end] = [Look::WordStartHalfUnicode, Look::WordEndHalfUnicode].map(Hir::look);
        hir = Hir::concat(vec![start, hir, end]);
    }
    Ok(hir)
}

/// The parser's words, without the drawing under them.
fn said(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => format!("{} at column {}", error.kind(), error.span().start.column),
        regex_syntax::Error::Translate(error) => format!("{} at column {}", error.kind(), error.span().start.column),
        other => other.to_string(),
    }
}

/// The expression without matches that span lines: classes lose the line break, a literal one is refused.
fn on_one_line(hir: &Hir) -> Result<Hir, BadPattern> {
    let all = |parts: &[Hir]| parts.iter().map(on_one_line).collect::<Result<Vec<_>, _>>();
    Ok(match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => hir.clone(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => {
            return Err(BadPattern("a match does not span lines: \\n is not allowed in a regular expression".into()));
        }
        HirKind::Literal(_) => hir.clone(),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => match class.to_unicode_class() {
            Some(class) => on_one_line(&Hir::class(Class::Unicode(class)))?,
            None => hir.clone(),
        },
        HirKind::Repetition(repetition) => {
            let sub = Box::new(on_one_line(&repetition.sub)?);
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => on_one_line(&capture.sub)?,
        HirKind::Concat(parts) => Hir::concat(all(parts)?),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)?),
    })
}
