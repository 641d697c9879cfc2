//! Names that patterns and local declarations bind, and their scopes.

use codecompass_model::{BindingKind, RefShape, ValuePart};

use super::declarations::declared_name;
use crate::roles::Role;
use crate::spec::Walk;

/// Returns the leaf of a name: `f`, `(+)`, `` `f` ``, `A.f`.
pub(super) fn head(walk: &Walk<'_, '_>, mut at: usize) -> Option<usize> {
    loop {
        at = match walk.kind(at) {
            "variable" | "constructor" | "name" | "operator" | "constructor_operator" => return Some(at),
            "qualified" => walk.child(at, "id")?,
            "prefix_id" | "infix_id" | "field_name" | "associated_type" => walk.items(at).last()?,
            _ => return None,
        };
    }
}

/// Binds the names in a pattern, visible from a node on. Constructors in a pattern are only references.
pub(super) fn pattern(walk: &mut Walk<'_, '_>, at: usize, kind: BindingKind, from: usize) {
    let end = walk.tree.next(at);
    let mut inner = at;
    while inner < end {
        let next = walk.tree.next(inner);
        match walk.kind(inner) {
            // A field without a pattern (a pun) is bound under its own name.
            "field_name" => {
                let around = walk.parent(inner);
                let is_field = walk.kind(around) != "field_pattern" || walk.child(around, "pattern").is_some();
                if let Some(name) = head(walk, inner) {
                    match is_field {
                        true => walk.roles.mark(Some(name), Role::Refers(RefShape::Member)),
                        false => bind(walk, name, kind, from),
                    }
                }
                inner = next;
                continue;
            }
            "variable" => bind(walk, inner, kind, from),
            "operator" if walk.kind(walk.parent(inner)) == "prefix_id" => bind(walk, inner, kind, from),
            "constructor" | "constructor_operator" | "operator" => {
                walk.roles.mark(Some(inner), Role::Refers(RefShape::Value));
            }
            "qualified" => {
                let name = head(walk, inner);
                walk.roles.mark(name, Role::Refers(RefShape::Value));
                inner = next;
                continue;
            }
            "type_binder" | "explicit_type" | "type_application" | "splice" | "quasiquote" => {
                inner = next;
                continue;
            }
            _ => {}
        }
        inner += 1;
        // The function applied in a pattern and the types in it are not patterns.
        while inner < end && is_not_pattern(walk, inner) {
            inner = walk.tree.next(inner);
        }
    }
}

fn is_not_pattern(walk: &Walk<'_, '_>, at: usize) -> bool {
    let around = walk.parent(at);
    match walk.kind(around) {
        "view_pattern" => walk.child(around, "expression") == Some(at),
        "signature" => walk.child(around, "type") == Some(at),
        _ => false,
    }
}

fn bind(walk: &mut Walk<'_, '_>, name: usize, kind: BindingKind, from: usize) {
    if walk.roles.get(name) == Role::Unset && !walk.draft.is_bound_here(walk.tree.node(name).span()) {
        walk.bind_as(name, kind, None, ValuePart::Whole, from);
    }
}

/// Declarations after `where` or `let` are visible in all of the block, and in the code before them.
pub(super) fn bind_declarations(walk: &mut Walk<'_, '_>, binds: usize, from: usize) {
    let decls: Vec<usize> = walk.items(binds).collect();
    for decl in decls {
        match (walk.kind(decl), walk.child(decl, "pattern")) {
            ("bind", Some(of)) => pattern(walk, of, BindingKind::Local, from),
            ("bind" | "function", _) => {
                if let Some(name) = declared_name(walk, decl) {
                    bind(walk, name, BindingKind::Local, from);
                }
            }
            _ => {}
        }
    }
}

/// The parameters and the local declarations of a block.
pub(super) fn block(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    for field in ["patterns", "pattern"] {
        if let Some(of) = walk.child(at, field) {
            pattern(walk, of, BindingKind::Param, at);
        }
    }
    if let Some(binds) = walk.child(at, "binds") {
        bind_declarations(walk, binds, at);
    }
    at + 1
}

/// `let` in its enclosing block.
pub(super) fn let_here(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(binds) = walk.child(at, "binds") {
        bind_declarations(walk, binds, at);
    }
    at + 1
}

/// `pat <- e` in a guard or a list: visible after it.
pub(super) fn generator(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(of) = walk.child(at, "pattern") {
        pattern(walk, of, BindingKind::Local, walk.tree.next(at));
    }
    if let Some(of) = walk.child(at, "expression") {
        mark_callee(walk, of);
    }
    at + 1
}

/// `[e | x <- l]`: names bound after the bar are visible before it.
pub(super) fn comprehension(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    let lists: Vec<usize> = walk.children_in(at, "qualifiers").collect();
    for list in lists {
        let parts: Vec<usize> = walk.items(list).collect();
        for part in parts {
            if let Some(of) = walk.child(part, "pattern").filter(|_| walk.kind(part) == "generator") {
                pattern(walk, of, BindingKind::Local, at);
            }
            if let Some(binds) = walk.child(part, "binds").filter(|_| walk.kind(part) == "let") {
                bind_declarations(walk, binds, at);
            }
        }
    }
    at + 1
}

/// Marks a callee, if it is a name.
pub(super) fn mark_callee(walk: &mut Walk<'_, '_>, at: usize) {
    let shape = if walk.kind(at) == "qualified" { RefShape::PathCall } else { RefShape::Call };
    if matches!(
        walk.kind(at),
        "variable" | "constructor" | "qualified" | "prefix_id" | "infix_id" | "operator" | "constructor_operator"
    ) {
        let name = head(walk, at);
        let is_behind = name.is_some_and(|name| walk.kind(walk.parent(name)) == "qualified");
        walk.roles.mark(name, Role::Refers(if is_behind { RefShape::PathCall } else { shape }));
    }
}

/// `f x`.
pub(super) fn apply(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(of) = walk.child(at, "function") {
        mark_callee(walk, of);
    }
    at + 1
}

/// `a + b`; the operand before `$` is called as well.
pub(super) fn infix(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let operator = walk.items(at).find(|&item| {
        matches!(walk.kind(item), "operator" | "constructor_operator" | "infix_id")
            || walk.kind(item) == "qualified" && walk.child(at, "operator") == Some(item)
    });
    let Some(operator) = operator else { return at + 1 };
    if matches!(walk.text(operator), "$" | "$!" | "<$>" | "<$!>")
        && let Some(left) = walk.child(at, "left_operand")
    {
        mark_callee(walk, left);
    }
    mark_callee(walk, operator);
    at + 1
}

/// A statement of a block.
pub(super) fn step(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let first = walk.items(at).next();
    if let Some(first) = first {
        mark_callee(walk, first);
    }
    at + 1
}

/// `r { a = 1 }`: the field is not a local binding; a field without a value is both.
pub(super) fn update(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let field = walk.child(at, "field").filter(|_| walk.child(at, "expression").is_some());
    let name = field.and_then(|field| head(walk, field));
    walk.roles.mark(name, Role::Refers(RefShape::Member));
    at + 1
}

/// `r.a`: the type of `r` is unknown.
pub(super) fn projection(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.child(at, "field").and_then(|field| head(walk, field));
    if let Some(name) = name {
        walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
        walk.set_qualifier(name, at);
    }
    at + 1
}
