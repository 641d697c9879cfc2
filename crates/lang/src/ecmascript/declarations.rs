//! Named declarations of functions, classes, types, enums and namespaces.

use codecompass_model::SymbolKind;

use super::contextual_types;
use super::kinds::{field as f, kind as k};
use super::scopes;
use super::symbols::SymbolEntry;
use super::walk::Walk;
use crate::roles::Role;

/// Handles `function f() {}`, or the signature of an overload.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) {
    declaration(walk, at, SymbolKind::Fn);
    scopes::function(walk, at);
}

/// Handles `function f() {}` as an expression: a symbol of its own unless it is the value of a name.
pub(super) fn function_expression(walk: &mut Walk<'_, '_>, at: usize) {
    let name = walk.tree.child(at, f::NAME);
    if walk.roles.get(at) == Role::Unset && name.is_some() {
        declaration(walk, at, SymbolKind::Fn);
    }
    walk.roles.mark(name, Role::Declares);
    scopes::function(walk, at);
}

/// Handles a class; without a name it is listed only as the value of a name. The keyword has this kind as well.
pub(super) fn class(walk: &mut Walk<'_, '_>, at: usize) {
    if walk.tree.next(at) == at + 1 {
        return;
    }
    let name = walk.tree.child(at, f::NAME);
    if walk.roles.get(at) == Role::Unset && name.is_some() {
        declaration(walk, at, SymbolKind::Class);
    }
    walk.roles.mark(name, Role::Declares);
    walk.draft.block(walk.tree.next(at), false);
}

pub(super) fn interface(walk: &mut Walk<'_, '_>, at: usize) {
    declaration(walk, at, SymbolKind::Interface);
    walk.draft.block(walk.tree.next(at), false);
}

pub(super) fn enumeration(walk: &mut Walk<'_, '_>, at: usize) {
    declaration(walk, at, SymbolKind::Enum);
}

/// Handles `type A = …`; the members of an object type are its members.
pub(super) fn alias(walk: &mut Walk<'_, '_>, at: usize) {
    let Some((name_at, name)) = name_of(walk, at) else {
        return;
    };
    let whole = walk.statement(at);
    let value = walk.tree.child(at, f::VALUE);
    let entry = SymbolEntry {
        kind: SymbolKind::Type,
        name_at: Some(name_at),
        name,
        segment: None,
        whole,
        body: walk.long_value(value),
        visibility: walk.visibility(whole, name),
        annotation: walk.span_of(at, f::VALUE),
        value: None,
        end: walk.tree.next(at),
        owner: None,
    };
    walk.enter(&entry);
    walk.draft.block(walk.tree.next(at), false);
    mark_members(walk, value);
}

/// Marks the object types within a type, so that their members are listed.
pub(super) fn mark_members(walk: &mut Walk<'_, '_>, value: Option<usize>) {
    let mut open: Vec<usize> = value.into_iter().collect();
    while let Some(at) = open.pop() {
        match walk.tree.kind(at) {
            k::OBJECT_TYPE => walk.roles.mark(Some(at), Role::Declares),
            k::UNION_TYPE | k::INTERSECTION_TYPE | k::PARENTHESIZED_TYPE | k::READONLY_TYPE | k::TYPE_ANNOTATION => {
                open.extend(walk.tree.children(at));
            }
            _ => {}
        }
    }
}

/// Handles `namespace A.B {}`, `module A {}`, `declare module "a" {}`. The keyword has this kind as well.
pub(super) fn namespace(walk: &mut Walk<'_, '_>, at: usize) {
    let Some(name_at) = walk.tree.child(at, f::NAME) else {
        return;
    };
    let Some(path) = walk.name_text(name_at) else {
        return;
    };
    let is_module = walk.tree.kind(name_at) == k::STRING;
    let last =
        if walk.tree.kind(name_at) == k::NESTED_IDENTIFIER { walk.tree.child(name_at, f::PROPERTY) } else { None };
    let name = last.map_or(path, |last| walk.slice(last));
    let whole = walk.statement(at);
    let entry = SymbolEntry {
        kind: if is_module { SymbolKind::Module } else { SymbolKind::Namespace },
        name_at: Some(last.unwrap_or(name_at)),
        name,
        segment: Some(path),
        whole,
        body: walk.body(at),
        visibility: walk.visibility(whole, name),
        annotation: None,
        value: None,
        end: walk.tree.next(at),
        owner: None,
    };
    walk.enter(&entry);
    for part in name_at..walk.tree.next(name_at) {
        walk.roles.mark(Some(part), Role::Declares);
    }
}

/// Handles `declare …`. Everything in a declared namespace is exported; `declare global` is one as well.
pub(super) fn ambient(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let inner = tree.children(at).map(|child| tree.kind(child));
    let body = tree.child_of_kind(at, k::STATEMENT_BLOCK);
    if inner.into_iter().any(|kind| matches!(kind, k::MODULE | k::INTERNAL_MODULE)) || body.is_some() {
        walk.ambient_end = walk.ambient_end.max(tree.next(at));
    }
    if let Some(body) = body {
        let entry = SymbolEntry {
            kind: SymbolKind::Namespace,
            name_at: None,
            name: "global",
            segment: None,
            whole: at,
            body: Some(tree.node(body).start),
            visibility: walk.visibility(at, "global"),
            annotation: None,
            value: None,
            end: tree.next(at),
            owner: None,
        };
        walk.enter(&entry);
    }
}

fn name_of<'t>(walk: &Walk<'_, 't>, at: usize) -> Option<(usize, &'t str)> {
    let name_at = walk.tree.child(at, f::NAME)?;
    Some((name_at, walk.name_text(name_at)?))
}

fn declaration(walk: &mut Walk<'_, '_>, at: usize, kind: SymbolKind) {
    let Some((name_at, name)) = name_of(walk, at) else {
        return;
    };
    let whole = walk.statement(at);
    let entry = SymbolEntry {
        kind,
        name_at: Some(name_at),
        name,
        segment: None,
        whole,
        body: walk.body(at),
        visibility: walk.visibility(whole, name),
        annotation: walk.type_of(at, f::RETURN_TYPE),
        value: contextual_types::result(walk, at),
        end: walk.tree.next(at),
        owner: None,
    };
    walk.enter(&entry);
}
