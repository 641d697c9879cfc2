//! Variables: symbols at file level and in namespaces, and everywhere if they hold a function or a class.

use codecompass_model::{Span, SymbolKind, ValuePart};

use super::contextual_types;
use super::kinds::{field as f, kind as k};
use super::loads;
use super::members::function_in;
use super::scopes::{self, PatternNames, PatternStep};
use super::symbols::SymbolEntry;
use super::walk::Walk;
use crate::roles::Role;
use crate::tree::OTHER;

/// Handles one declarator of `const`, `let` or `var`.
pub(super) fn declarator(walk: &mut Walk<'_, '_>, at: usize) {
    let Some(name) = walk.tree.child(at, f::NAME) else {
        return;
    };
    let value = walk.tree.child(at, f::VALUE);
    if value.is_some_and(|value| loads::loaded(walk, at, name, value)) {
        return;
    }
    let function = value.and_then(|value| function_in(walk, value));
    match function.filter(|_| walk.tree.kind(name) == k::IDENTIFIER) {
        Some(function) => define_function_variable(walk, at, name, function),
        None if is_file_level(walk, at) => listed(walk, at, name, value),
        None => scopes::local(walk, at),
    }
}

/// Handles `const f = () => …` or `const C = class …`.
fn define_function_variable(walk: &mut Walk<'_, '_>, at: usize, name_at: usize, function: usize) {
    let Some(name) = walk.name_text(name_at) else {
        return;
    };
    walk.roles.mark(Some(function), Role::Declares);
    let is_class = walk.tree.kind(function) == k::CLASS;
    let entry = SymbolEntry {
        kind: if is_class { SymbolKind::Class } else { SymbolKind::Fn },
        name_at: Some(name_at),
        name,
        segment: None,
        whole: whole(walk, at),
        body: walk.body(function),
        visibility: walk.visibility(walk.statement(walk.tree.node(at).parent as usize), name),
        annotation: walk.type_of(function, f::RETURN_TYPE),
        value: contextual_types::result(walk, function),
        end: walk.tree.next(at),
        owner: None,
    };
    walk.enter(&entry);
}

/// Handles a variable at file level, or several by a pattern.
fn listed(walk: &mut Walk<'_, '_>, at: usize, pattern: usize, value: Option<usize>) {
    let declaration = walk.tree.node(at).parent as usize;
    let is_const = walk.slice(declaration).starts_with("const");
    let single = walk.tree.kind(pattern) == k::IDENTIFIER;
    if let Some(object) = value.map(|value| last_value(walk, value)).filter(|&v| walk.tree.kind(v) == k::OBJECT) {
        walk.roles.mark(Some(object), Role::Declares);
    }
    let mut names = PatternNames::new(pattern);
    while let Some((name_at, step)) = names.next(walk.tree, walk.draft.text) {
        let Some(name) = walk.name_text(name_at) else {
            continue;
        };
        let entry = SymbolEntry {
            kind: if is_const { SymbolKind::Const } else { SymbolKind::Var },
            name_at: Some(name_at),
            name,
            segment: None,
            whole: whole(walk, at),
            body: walk.long_value(value),
            visibility: walk.visibility(walk.statement(declaration), name),
            annotation: if single { walk.type_of(at, f::TYPE) } else { None },
            value: walk.span_of(at, f::VALUE),
            end: if single { walk.tree.next(at) } else { 0 },
            owner: None,
        };
        let part = match step {
            PatternStep::Whole => ValuePart::Whole,
            PatternStep::Field(key) => ValuePart::Field(walk.draft.name(key)),
            PatternStep::Index(index) => ValuePart::Index(index),
            PatternStep::Inside => ValuePart::Inside,
        };
        walk.enter_part(&entry, part);
    }
}

/// Returns the value at the end of a chain of assignments: `{}` in `a = b = {}`.
pub(super) fn last_value(walk: &Walk<'_, '_>, value: usize) -> usize {
    let mut at = walk.unwrap(value);
    while walk.tree.kind(at) == k::ASSIGNMENT {
        match walk.tree.child(at, f::RIGHT) {
            Some(right) => at = walk.unwrap(right),
            None => break,
        }
    }
    at
}

/// Returns the whole statement if it has one declarator, else the declarator.
pub(super) fn whole(walk: &Walk<'_, '_>, at: usize) -> usize {
    let declaration = walk.tree.node(at).parent as usize;
    let is_declaration = matches!(walk.tree.kind(declaration), k::LEXICAL | k::VARIABLE_DECLARATION | k::USING);
    let is_first = walk.tree.child_of_kind(declaration, k::VARIABLE_DECLARATOR) == Some(at);
    let is_last = walk.tree.next(at) >= walk.tree.next(declaration);
    if is_declaration && is_first && is_last { walk.statement(declaration) } else { at }
}

/// Returns whether a declarator declares a name for the whole file or namespace.
fn is_file_level(walk: &Walk<'_, '_>, declarator: usize) -> bool {
    if declarator < walk.function_end {
        return false;
    }
    let mut at = declarator;
    loop {
        let parent = walk.tree.node(at).parent as usize;
        match walk.tree.kind(parent) {
            _ if parent == at => return true,
            // Outside functions, a `var` in a block belongs to the file.
            k::PROGRAM | k::VARIABLE_DECLARATION => return true,
            OTHER | k::EXPORT | k::AMBIENT | k::LEXICAL | k::USING => at = parent,
            k::STATEMENT_BLOCK => return is_namespace(walk, parent),
            _ => return false,
        }
    }
}

fn is_namespace(walk: &Walk<'_, '_>, block: usize) -> bool {
    let around = walk.tree.kind(walk.tree.node(block).parent as usize);
    matches!(around, k::MODULE | k::INTERNAL_MODULE | k::AMBIENT)
}

/// Returns the text of a string without its quotes.
pub(super) fn unquoted<'t>(walk: &Walk<'_, 't>, string: usize) -> &'t str {
    let node = walk.tree.node(string);
    let quotes = u32::from(node.end - node.start >= 2);
    walk.draft.slice(Span { start: node.start + quotes, end: node.end - quotes })
}
