//! Python variables, fields and type aliases as symbols.
//!
//! A name of a file or class becomes a symbol where it first gets a value or a type. Attributes that `__init__` and the
//! other methods assign to their receiver become fields of the class in the same way. The first assignment in the
//! source counts, with two exceptions: one in `__init__` precedes those in methods above it, and an assignment to the
//! receiver never redeclares a method, property or variable of the class.

use codecompass_model::{Span, SymbolKind, ValuePart};

use super::definitions::visibility;
use super::docs_and_comments;
use super::kinds::{field as f, kind as k};
use super::patterns::ValueSource;
use super::scopes::{self, ScopeKind};
use super::walk::Walk;
use crate::draft::{ExprInput, NewSymbol, SymbolExtras};
use crate::header::header;
use crate::roles::Role;

/// The maximum length of a value in the signature of an assignment; longer values are left out.
const MAX_VALUE: u32 = 80;

/// The names that a class is known to have before its body is walked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedField {
    /// A method, property or inner class.
    Member,
    /// A field that `__init__` assigns.
    ByInit,
}

/// Enters a variable of a file or class.
pub(super) fn variable(walk: &mut Walk<'_, '_>, name_at: usize, given: ValueSource) {
    let at = walk.statement;
    let scope = walk.scopes.enclosing(at);
    let parent = scope.and_then(|scope| scope.class);
    let name_span = walk.tree.node(name_at).span();
    let name = walk.draft.slice(name_span);
    if name.is_empty() || !walk.is_in_order(at) || walk.assigned_fields.insert((parent, name), ()).is_some() {
        return;
    }
    walk.roles.mark(Some(name_at), Role::Declares);
    let is_enum = scope.is_some_and(|scope| matches!(scope.kind, ScopeKind::Class(true)));
    let kind = match given.annotation.map(|annotation| last_word(walk.draft.slice(annotation))) {
        Some("TypeAlias") => SymbolKind::Type,
        None if is_enum && !name.starts_with('_') => SymbolKind::Variant,
        _ if scope.is_some() => SymbolKind::Field,
        Some("Final") => SymbolKind::Const,
        _ if is_constant(name) => SymbolKind::Const,
        _ => SymbolKind::Var,
    };
    // References in the value belong to the variable if it is the only one of its statement.
    let is_alone = walk.tree.node(name_at).parent as usize == at && walk.draft.enclosing_index() == parent;
    let end = if is_alone { walk.tree.next(at) } else { 0 };
    enter(walk, FieldEntry { kind, name_span, given, parent, end });
}

/// Handles an attribute of the receiver that a method assigns.
pub(super) fn field(walk: &mut Walk<'_, '_>, attribute: usize, given: ValueSource) {
    let tree = walk.tree;
    let Some(scope) = walk.scopes.enclosing(walk.statement).filter(|_| walk.is_in_order(walk.statement)) else {
        return;
    };
    let ScopeKind::Function { name: method, receiver: Some(receiver) } = scope.kind else {
        return;
    };
    let name_at = own_attribute(walk, attribute, receiver);
    let Some((name_at, class)) = name_at.zip(scope.class) else {
        return;
    };
    let name_span = tree.node(name_at).span();
    let name = walk.draft.slice(name_span);
    let is_expected = match walk.expected_fields.get(&(class, name)) {
        Some(ExpectedField::Member) => false,
        Some(ExpectedField::ByInit) => method == "__init__",
        None => true,
    };
    if is_expected && !name.is_empty() && walk.assigned_fields.insert((Some(class), name), ()).is_none() {
        walk.roles.mark(Some(name_at), Role::Declares);
        enter(walk, FieldEntry { kind: SymbolKind::Field, name_span, given, parent: Some(class), end: 0 });
    }
}

/// Returns the name in `self.name`.
fn own_attribute(walk: &Walk<'_, '_>, attribute: usize, receiver: &str) -> Option<usize> {
    let tree = walk.tree;
    let object = tree.child(attribute, f::OBJECT).filter(|&object| tree.kind(object) == k::IDENTIFIER)?;
    let is_own = walk.draft.slice(tree.node(object).span()) == receiver;
    tree.child(attribute, f::ATTRIBUTE).filter(|_| is_own)
}

/// Records members that a class has without assignment, and fields that `__init__` assigns below other methods.
pub(super) fn expect_fields(walk: &mut Walk<'_, '_>, class: Option<u32>, body: usize) {
    let tree = walk.tree;
    let Some(class) = class else { return };
    let mut is_first = true;
    for child in tree.children(body) {
        let definition = match tree.kind(child) {
            k::DECORATED => tree.child(child, f::DEFINITION),
            k::FUNCTION | k::CLASS => Some(child),
            _ => None,
        };
        let Some(definition) = definition else { continue };
        let Some(name) = tree.child(definition, f::NAME).map(|name| walk.draft.slice(tree.node(name).span())) else {
            continue;
        };
        if name == "__init__" && !is_first {
            expect_init(walk, class, definition);
        }
        is_first = false;
        walk.expected_fields.insert((class, name), ExpectedField::Member);
    }
}

fn expect_init(walk: &mut Walk<'_, '_>, class: u32, init: usize) {
    let Some(receiver) = scopes::receiver(walk, init) else { return };
    let tree = walk.tree;
    let targets = (init..tree.next(init)).filter(|&at| {
        let is_target = tree.node(at).field == f::LEFT && tree.kind(tree.node(at).parent as usize) == k::ASSIGNMENT;
        is_target && tree.kind(at) == k::ATTRIBUTE
    });
    for target in targets {
        if let Some(name) = own_attribute(walk, target, receiver) {
            let name = walk.draft.slice(tree.node(name).span());
            walk.expected_fields.entry((class, name)).or_insert(ExpectedField::ByInit);
        }
    }
}

struct FieldEntry {
    kind: SymbolKind,
    name_span: Span,
    given: ValueSource,
    parent: Option<u32>,
    /// The first node after the symbol, if the references in its value belong to it.
    end: usize,
}

fn enter(walk: &mut Walk<'_, '_>, entry: FieldEntry) {
    let at = walk.statement;
    let node = walk.tree.node(at);
    let whole = if node.kind == k::ASSIGNMENT { node.span() } else { entry.name_span };
    let name = walk.draft.slice(entry.name_span);
    let value = entry.given.value.filter(|_| entry.given.part == ValuePart::Whole);
    let is_alias = entry.kind == SymbolKind::Type;
    let new = NewSymbol {
        kind: entry.kind,
        name,
        segment: name,
        separator: ".",
        impl_trait: None,
        signature: if node.kind == k::ASSIGNMENT { signature(walk, at) } else { name.to_owned() },
        visibility_text: None,
        visibility: Some(visibility(name)),
        span: whole,
        outer_start: walk.comment_start(whole.start),
        name_span: entry.name_span,
        attributes: &[],
        doc: docs_and_comments::doc_below(walk, at).or_else(|| walk.comment_above(whole.start)),
        annotation: if is_alias {
            value
        } else {
            entry.given.annotation.or_else(|| docs_and_comments::typed(walk, node.end))
        }
        .map(ExprInput::Text),
        value: value.filter(|_| !is_alias).map(ExprInput::Text),
        extras: SymbolExtras::default(),
        is_test: false,
    };
    match entry.end {
        0 => walk.draft.member(new, entry.parent),
        end => walk.draft.symbol(new, end),
    }
}

fn signature(walk: &Walk<'_, '_>, at: usize) -> String {
    let node = walk.tree.node(at);
    let value = walk.tree.child(at, f::RIGHT).map(|value| walk.tree.node(value));
    let is_long = |value: Span| value.end - value.start > MAX_VALUE || walk.draft.slice(value).contains('\n');
    let end = value.filter(|value| is_long(value.span())).map_or(node.end, |value| value.start);
    let mut signature = header(walk.draft, walk.tree, at, Span { start: node.start, end }, &[k::COMMENT]);
    if end < node.end {
        signature.truncate(signature.trim_end_matches(['=', ' ', '(']).len());
    }
    signature
}

/// Handles `type Name = …`.
pub(super) fn type_alias(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let node = tree.node(at);
    let Some(left) = tree.child(at, f::LEFT) else {
        return;
    };
    let Some(name_at) = (left..tree.next(left)).find(|&inner| tree.kind(inner) == k::IDENTIFIER) else {
        return;
    };
    walk.roles.mark(Some(name_at), Role::Declares);
    let name_span = tree.node(name_at).span();
    let name = walk.draft.slice(name_span);
    let new = NewSymbol {
        kind: SymbolKind::Type,
        name,
        segment: name,
        separator: ".",
        impl_trait: None,
        signature: signature(walk, at),
        visibility_text: None,
        visibility: Some(visibility(name)),
        span: node.span(),
        outer_start: walk.comment_start(node.start),
        name_span,
        attributes: &[],
        doc: walk.comment_above(node.start),
        annotation: tree.child(at, f::RIGHT).map(|right| tree.node(right).span().into()),
        value: None,
        extras: SymbolExtras::default(),
        is_test: false,
    };
    if !name.is_empty() && walk.is_in_order(at) {
        walk.draft.symbol(new, node.next as usize);
        walk.draft.block(node.next as usize, false);
        let parameters = (left..tree.next(left)).find(|&inner| tree.kind(inner) == k::TYPE_PARAMETER);
        scopes::type_parameters(walk, parameters);
    }
}

fn is_constant(name: &str) -> bool {
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

/// Returns the main word of a type: `Final` in `typing.Final[int]`.
fn last_word(annotation: &str) -> &str {
    let path = annotation.split('[').next().unwrap_or(annotation).trim();
    path.rsplit('.').next().unwrap_or(path)
}
