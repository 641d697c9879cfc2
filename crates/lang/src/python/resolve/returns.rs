//! Return types of functions and types of variables: declared, or inferred from returned and assigned values.

use std::rc::Rc;

use codecompass_model::{Symbol, SymbolAt, SymbolKind};

use super::expression::Expr;
use super::names::LookupSite;
use super::source::{PythonFile, indent_of};
use super::types::{ContainerKind, Type};
use super::{PythonResolver, TypeQuery};
use crate::rules::index::Lines;

/// The maximum number of lines of a function that is read for its return type.
const MAX_LINES: u32 = 600;

/// The maximum number of lines of a returned expression.
const MAX_EXPRESSION_LINES: u32 = 12;

impl PythonResolver<'_> {
    /// Returns the result type of a call of a function.
    pub(super) fn return_type(&self, at: SymbolAt) -> Type {
        self.types.compute_cyclic(&self.query_stack, TypeQuery::Returned(at), Type::Unknown, || {
            let Some(source) = self.source(at.file) else { return Type::Unknown };
            let given = match self.declared_return_type(at) {
                Type::Unknown => self.inferred(&source, at.ordinal),
                declared => declared,
            };
            if source.is_decorated(at.ordinal, &["contextmanager", "asynccontextmanager"]) {
                return Type::Container(ContainerKind::Context, Rc::from([self.element(&given)]));
            }
            given
        })
    }

    /// Returns the declared return type of a function.
    pub(super) fn declared_return_type(&self, at: SymbolAt) -> Type {
        let Some(source) = self.source(at.file) else { return Type::Unknown };
        let annotation = source.symbol(at.ordinal).and_then(|symbol| symbol.annotation);
        let place = LookupSite::header(&source, at.ordinal);
        let declared = annotation.map_or(Type::Unknown, |text| self.type_from_text(source.expr_text(text), &place));
        match declared {
            // `def f(self: T) -> T` returns the type of its receiver.
            Type::Var(ref name, _) if self.is_receiver_parameter(&source, at.ordinal, name) => self.self_type(&place),
            declared => declared,
        }
    }

    fn is_receiver_parameter(&self, source: &PythonFile, function: u32, name: &str) -> bool {
        let first = source.params(function).first().and_then(|at| source.facts().bindings.get(*at as usize));
        let written = first.and_then(|first| first.annotation).map_or("", |text| source.expr_text(text));
        let is_method = source.symbol(function).is_some_and(|symbol| symbol.kind != SymbolKind::Fn);
        is_method
            && matches!(written.trim_matches(['"', '\'']), word if word == name || word == format!("type[{name}]") || word == format!("Type[{name}]"))
    }

    fn inferred(&self, source: &Rc<PythonFile>, function: u32) -> Type {
        let Some(symbol) = source.symbol(function) else { return Type::Unknown };
        // A declared type that is unknown is not replaced by an inferred one.
        if symbol.annotation.is_some() || symbol.lines.end - symbol.lines.start > MAX_LINES {
            return Type::Unknown;
        }
        let lines = self.lines(source);
        let mut given = Vec::new();
        let mut yielded = Vec::new();
        for (line, word, text) in statements(lines, symbol) {
            let place = LookupSite::at(source, Some(function), line);
            let value = self.value(&Expr::parse(&text), &place);
            if word == "yield" { yielded.push(value) } else { given.push(value) }
        }
        if !yielded.is_empty() {
            return Type::iterable_of(Type::union_of(yielded));
        }
        Type::union_of(given)
    }

    /// Returns the type of a variable, constant or field.
    pub(super) fn variable(&self, at: SymbolAt) -> Type {
        self.types.compute_cyclic(&self.query_stack, TypeQuery::Variable(at), Type::Unknown, || {
            let Some(source) = self.source(at.file) else { return Type::Unknown };
            let Some(symbol) = source.symbol(at.ordinal) else { return Type::Unknown };
            let scope = symbol.parent.map(|class| match symbol.kind {
                SymbolKind::Field => source.method_at(class, symbol.lines.start),
                _ => class,
            });
            let place = LookupSite::at(&source, scope, symbol.lines.start);
            let declared =
                symbol.annotation.map_or(Type::Unknown, |text| self.type_from_text(source.expr_text(text), &place));
            if !declared.is_unknown() {
                return declared;
            }
            if symbol.kind == SymbolKind::Type {
                return self.as_class(&self.type_of_named_symbol(at));
            }
            let first =
                symbol.value.map_or(Type::Unknown, |text| self.value(&Expr::parse(source.expr_text(text)), &place));
            match (first, symbol.parent) {
                (first @ (Type::Unknown | Type::NoneType), Some(class)) => {
                    Type::union_of([first, self.assigned_to_self(&source, class, &symbol.name)])
                }
                (first, _) => first,
            }
        })
    }

    /// Returns the type of the values that the methods of a class assign to one of its fields.
    fn assigned_to_self(&self, source: &Rc<PythonFile>, class: u32, name: &str) -> Type {
        let Some(symbol) = source.symbol(class) else { return Type::Unknown };
        let lines = self.lines(source);
        let start = format!("self.{name}");
        let mut all = Vec::new();
        for line in symbol.lines.start..=symbol.lines.end {
            let text = lines.line(line);
            let Some(rest) = text.trim_start().strip_prefix(&start) else { continue };
            let place = LookupSite::at(source, Some(source.method_at(class, line)), line);
            let offset = text.len() - rest.len();
            match rest.trim_start() {
                rest if rest.starts_with('=') && !rest.starts_with("==") => {
                    let value = expression(lines, line, offset);
                    all.push(self.value(&Expr::parse(value.trim_start().trim_start_matches('=')), &place));
                }
                rest if rest.starts_with(':') => {
                    let declared = rest[1..].split('=').next().unwrap_or("");
                    all.push(self.type_from_text(declared, &place));
                }
                _ => {}
            }
        }
        Type::union_of(all)
    }

    pub(super) fn lines<'s>(&self, source: &'s PythonFile) -> &'s Lines {
        source.lines(&*self.world)
    }
}

/// Returns the `return` and `yield` statements of a function itself, with their expressions.
fn statements(lines: &Lines, symbol: &Symbol) -> Vec<(u32, &'static str, String)> {
    let mut found = Vec::new();
    let mut skipped_below: Option<usize> = None;
    let doc_end = symbol.doc.map_or(0, |doc| doc.end as usize);
    for line in symbol.lines.start + 1..=symbol.lines.end {
        let Some(indent) = indent_of(lines, line) else { continue };
        if lines.start(line) < doc_end {
            continue;
        }
        if skipped_below.is_some_and(|below| indent > below) {
            continue;
        }
        skipped_below = None;
        let code = lines.line(line).trim_start();
        if ["def ", "class ", "async def "].iter().any(|start| code.starts_with(start)) {
            skipped_below = Some(indent);
            continue;
        }
        let at = |word: &str| {
            let rest = code.strip_prefix(word)?;
            rest.starts_with([' ', '(']).then_some(indent + word.len())
        };
        if let Some(offset) = at("return") {
            found.push((line, "return", expression(lines, line, offset)));
        } else if let Some(offset) = at("yield") {
            let text = expression(lines, line, offset);
            if !text.trim_start().starts_with("from ") {
                found.push((line, "yield", text));
            }
        }
    }
    found
}

/// Returns the expression that begins at an offset, up to the end of its statement, without comments.
fn expression(lines: &Lines, line: u32, offset: usize) -> String {
    let mut out = String::new();
    let mut open = 0i32;
    for number in line..line + MAX_EXPRESSION_LINES {
        let text = lines.line(number);
        let text = if number == line { text.get(offset..).unwrap_or("") } else { text };
        let mut quote = None;
        for c in text.chars() {
            match (quote, c) {
                (None, '#') => break,
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), _) if c == open => quote = None,
                (None, '(' | '[' | '{') => open += 1,
                (None, ')' | ']' | '}') => open -= 1,
                _ => {}
            }
            out.push(c);
        }
        if open <= 0 && !text.trim_end().ends_with('\\') {
            return out;
        }
        out.push(' ');
    }
    out
}
