//! Members of classes, interfaces, object types, object literals and enums.

use codecompass_model::{Span, SymbolKind, Visibility};

use super::contextual_types;
use super::declarations::mark_members;
use super::kinds::{field as f, kind as k};
use super::scopes;
use super::symbols::SymbolEntry;
use super::walk::Walk;
use crate::roles::Role;

/// Handles a method, an accessor, or the signature of one.
pub(super) fn method(walk: &mut Walk<'_, '_>, at: usize) {
    if is_listed(walk, at) || walk.tree.kind(at) == k::METHOD {
        let name = walk.tree.child(at, f::NAME);
        let kind = method_kind(walk, at, name);
        member(
            walk,
            at,
            name,
            kind,
            walk.body(at),
            walk.type_of(at, f::RETURN_TYPE),
            contextual_types::result(walk, at),
        );
    }
    scopes::function(walk, at);
}

fn method_kind(walk: &Walk<'_, '_>, at: usize, name: Option<usize>) -> SymbolKind {
    let Some(name) = name else {
        return SymbolKind::Method;
    };
    let in_class = walk.tree.kind(walk.tree.node(at).parent as usize) == k::CLASS_BODY;
    if in_class && walk.slice(name) == "constructor" {
        return SymbolKind::Constructor;
    }
    let before = walk.draft.slice(Span { start: walk.tree.node(at).start, end: walk.tree.node(name).start });
    let is_accessor = before.split_whitespace().any(|word| word == "get" || word == "set");
    match () {
        () if is_accessor => SymbolKind::Property,
        () if is_exported_literal(walk, at) => SymbolKind::Fn,
        () => SymbolKind::Method,
    }
}

/// Handles a field of a class or of an object type. A field that holds a function is a method.
pub(super) fn field(walk: &mut Walk<'_, '_>, at: usize) {
    let is_signature = walk.tree.kind(at) == k::PROPERTY_SIGNATURE;
    if is_signature && !is_listed(walk, at) {
        return;
    }
    let name = walk.tree.child(at, f::NAME).or_else(|| walk.tree.child(at, f::PROPERTY));
    let type_at = walk.tree.child(at, f::TYPE);
    let value = walk.tree.child(at, f::VALUE);
    match value.and_then(|value| function_in(walk, value)) {
        Some(function) => {
            walk.roles.mark(Some(function), Role::Declares);
            let annotation = walk.type_of(function, f::RETURN_TYPE);
            let value = contextual_types::result(walk, function);
            member(walk, at, name, SymbolKind::Method, walk.body(function), annotation, value);
        }
        None => {
            let body = walk.long_value(value).or_else(|| walk.long_value(type_at));
            let annotation = walk.type_of(at, f::TYPE);
            member(walk, at, name, SymbolKind::Field, body, annotation, walk.span_of(at, f::VALUE));
            mark_members(walk, type_at);
        }
    }
}

/// Handles `name: value` in an object literal: a function is a method, other values are fields if members are listed.
pub(super) fn pair(walk: &mut Walk<'_, '_>, at: usize) {
    let key = walk.tree.child(at, f::KEY);
    let Some(value) = walk.tree.child(at, f::VALUE) else {
        return;
    };
    let is_exported = is_exported_literal(walk, at);
    if let Some(function) = function_in(walk, value) {
        walk.roles.mark(Some(function), Role::Declares);
        let annotation = walk.type_of(function, f::RETURN_TYPE);
        let is_class = walk.tree.kind(function) == k::CLASS;
        let kind = match is_exported {
            _ if is_class => SymbolKind::Class,
            true => SymbolKind::Fn,
            false => SymbolKind::Method,
        };
        return member(walk, at, key, kind, walk.body(function), annotation, contextual_types::result(walk, function));
    }
    let object = walk.tree.node(at).parent as usize;
    if walk.roles.get(object) == Role::Unset || key.is_none_or(|key| walk.tree.kind(key) == k::COMPUTED) {
        return;
    }
    let kind = if is_exported { SymbolKind::Var } else { SymbolKind::Field };
    let inner = walk.unwrap(value);
    if walk.tree.kind(inner) == k::OBJECT {
        walk.roles.mark(Some(inner), Role::Declares);
    }
    member(walk, at, key, kind, walk.long_value(Some(value)), None, walk.span_of(at, f::VALUE));
}

/// Returns the function or class that a value is.
pub(super) fn function_in(walk: &Walk<'_, '_>, value: usize) -> Option<usize> {
    let inner = walk.unwrap(value);
    let kind = walk.tree.kind(inner);
    matches!(kind, k::ARROW | k::FUNCTION_EXPRESSION | k::GENERATOR | k::CLASS).then_some(inner)
}

/// Adds the variants of an enum.
pub(super) fn variants(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    for child in tree.children(at) {
        let name = match tree.kind(child) {
            k::ENUM_ASSIGNMENT => tree.child(child, f::NAME),
            k::COMMENT => {
                walk.comments.add(walk.draft, tree.node(child).span());
                None
            }
            _ => Some(child).filter(|&child| tree.node(child).field == f::NAME),
        };
        member(walk, child, name, SymbolKind::Variant, None, None, walk.span_of(child, f::VALUE));
    }
}

/// Handles a parameter of a constructor that is also a field: `constructor(private x: X)`.
pub(super) fn parameter_property(walk: &mut Walk<'_, '_>, at: usize, name_at: usize) {
    let in_constructor = walk.draft.enclosing().is_some_and(|around| around.kind == SymbolKind::Constructor);
    let before = walk.draft.slice(Span { start: walk.tree.node(at).start, end: walk.tree.node(name_at).start });
    let is_field = before
        .split_whitespace()
        .any(|word| matches!(word, "public" | "private" | "protected" | "readonly" | "override"));
    if in_constructor && is_field && walk.tree.kind(name_at) == k::IDENTIFIER {
        let (annotation, value) = (walk.type_of(at, f::TYPE), walk.span_of(at, f::VALUE));
        member(walk, at, Some(name_at), SymbolKind::Field, None, annotation, value);
    }
}

/// Returns whether the members of the interface or object type around a node are symbols.
fn is_listed(walk: &Walk<'_, '_>, at: usize) -> bool {
    let body = walk.tree.node(at).parent as usize;
    let kind = walk.tree.kind(body);
    kind != k::OBJECT_TYPE || walk.roles.get(body) == Role::Declares
}

/// Returns whether a node is directly in the object literal that is assigned to `module.exports`.
fn is_exported_literal(walk: &Walk<'_, '_>, at: usize) -> bool {
    let object = walk.tree.node(at).parent as usize;
    let around = walk.tree.node(object).parent as usize;
    walk.roles.get(object) == Role::Declares
        && walk.tree.kind(object) == k::OBJECT
        && walk.tree.kind(around) == k::ASSIGNMENT
}

fn member(
    walk: &mut Walk<'_, '_>,
    at: usize,
    name_at: Option<usize>,
    kind: SymbolKind,
    body: Option<u32>,
    annotation: Option<Span>,
    value: Option<Span>,
) {
    let Some(name_at) = name_at else {
        return;
    };
    let Some(name) = walk.name_text(name_at) else {
        return;
    };
    let is_leaf = matches!(walk.tree.kind(at), k::REQUIRED_PARAMETER | k::OPTIONAL_PARAMETER);
    let end = if is_leaf || kind == SymbolKind::Variant { 0 } else { walk.tree.next(at) };
    // A parameter that is a field belongs to the class and not to the constructor.
    let owner = walk.draft.enclosing().filter(|_| is_leaf).map(|constructor| constructor.parent);
    let visibility = visibility(walk, at, name_at);
    let name_at = Some(name_at);
    walk.enter(&SymbolEntry {
        kind,
        name_at,
        name,
        segment: None,
        whole: at,
        body,
        visibility,
        annotation,
        value,
        end,
        owner,
    });
}

/// Returns the visibility of a member: public unless a modifier or a `#` changes it.
pub(super) fn visibility(walk: &Walk<'_, '_>, at: usize, name: usize) -> (Option<&'static str>, Visibility) {
    if walk.tree.kind(name) == k::PRIVATE_IDENTIFIER {
        return (Some("#"), Visibility::Private);
    }
    let word = walk.tree.child_of_kind(at, k::ACCESSIBILITY).filter(|&word| word < name);
    match word.map(|word| walk.slice(word)) {
        Some("private") => (Some("private"), Visibility::Private),
        Some("protected") => (Some("protected"), Visibility::Protected),
        Some("public") => (Some("public"), Visibility::Public),
        _ => (None, Visibility::Public),
    }
}
