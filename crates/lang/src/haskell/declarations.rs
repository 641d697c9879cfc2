//! Functions: a signature and the equations after it are one symbol.

use codecompass_model::{BindingKind, Flags, SymbolKind};

use super::modules::visibility;
use super::patterns::{bind_declarations, head, mark_callee, pattern};
use super::types::type_variables;
use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// Returns the name that a function, a binding or a signature declares.
pub(super) fn declared_name(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let mut at = at;
    loop {
        if let Some(name) = walk.child(at, "name") {
            return head(walk, name);
        }
        // `(x + y) z` and `x + y`.
        if let Some(inner) = walk.child(at, "parens") {
            at = inner;
            continue;
        }
        let infix = walk.child_of(at, "infix")?;
        return head(walk, walk.child(infix, "operator")?);
    }
}

/// Returns the node kind of the enclosing declaration list.
fn level(walk: &Walk<'_, '_>, at: usize) -> &'static str {
    walk.kind(walk.parent(at))
}

fn kind_at(level: &str) -> Option<SymbolKind> {
    match level {
        "declarations" => Some(SymbolKind::Fn),
        "class_declarations" | "instance_declarations" => Some(SymbolKind::Method),
        _ => None,
    }
}

/// Returns the last of the following equations with this name.
fn last_of(walk: &Walk<'_, '_>, first: usize, name: &str) -> usize {
    let end = walk.tree.next(walk.parent(first));
    let (mut last, mut next) = (first, walk.tree.next(first));
    while next < end {
        match walk.kind(next) {
            "comment" | "haddock" => {}
            "function" | "bind" if declared_name(walk, next).is_some_and(|other| walk.text(other) == name) => {
                last = next;
            }
            _ => break,
        }
        next = walk.tree.next(next);
    }
    last
}

/// Whether a declaration continues the innermost symbol.
fn continues_symbol(walk: &Walk<'_, '_>, name: &str) -> bool {
    let begun = walk.draft.enclosing().filter(|around| matches!(around.kind, SymbolKind::Fn | SymbolKind::Method));
    begun.is_some_and(|begun| begun.name == name)
}

/// Adds the symbol of a function.
fn define(walk: &mut Walk<'_, '_>, at: usize, name: usize, kind: SymbolKind, flags: Flags, last: usize) {
    let around =
        walk.draft.enclosing().filter(|around| around.kind == SymbolKind::Trait).map(|around| around.name.clone());
    let visibility = visibility(walk, walk.text(name), around.as_deref());
    let body = walk.child_of(at, "match");
    let end = walk.tree.next(last);
    walk.define(at, Definition { body, flags, visibility, last: Some(last), end, ..Definition::new(kind, name) });
}

/// `f :: T`: the symbol starts here if its equations follow.
pub(super) fn signature(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(of) = walk.child(at, "type") {
        type_variables(walk, of);
    }
    let around = level(walk, at);
    if around == "foreign_import" {
        if let Some(name) = declared_name(walk, at) {
            define(walk, at, name, SymbolKind::Fn, Flags::default(), at);
        }
        return at + 1;
    }
    let Some(kind) = kind_at(around) else { return at + 1 };
    if let Some(names) = walk.child(at, "names") {
        let names: Vec<usize> = walk.items(names).filter_map(|item| head(walk, item)).collect();
        for name in names.into_iter().filter(|_| around == "class_declarations") {
            let seen = walk.draft.enclosing().map(|around| around.name.clone());
            let visibility = visibility(walk, walk.text(name), seen.as_deref());
            walk.define(name, Definition { flags: Flags::ABSTRACT, visibility, ..Definition::new(kind, name) });
        }
        return at + 1;
    }
    let Some(name) = declared_name(walk, at) else { return at + 1 };
    let last = last_of(walk, at, walk.text(name));
    let (kind, flags) = match (around, last == at) {
        ("class_declarations", is_alone) => (kind, Flags::ABSTRACT.when(is_alone)),
        (_, true) => (SymbolKind::Prototype, Flags::default()),
        _ => (kind, Flags::default()),
    };
    define(walk, at, name, kind, flags, last);
    at + 1
}

/// `f x = e`, `x + y = e`; function types have the same node kind.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.child(at, "parameter").is_some() || walk.child(at, "result").is_some() {
        return at + 1;
    }
    equation(walk, at);
    walk.scope(at);
    let mut part = at;
    loop {
        if let Some(of) = walk.child(part, "patterns") {
            pattern(walk, of, BindingKind::Param, at);
        }
        if let Some(of) = walk.child_of(part, "infix") {
            for side in ["left_operand", "right_operand"] {
                if let Some(of) = walk.child(of, side) {
                    pattern(walk, of, BindingKind::Param, at);
                }
            }
        }
        match walk.child(part, "parens") {
            Some(inner) => part = inner,
            None => break,
        }
    }
    if let Some(binds) = walk.child(at, "binds") {
        bind_declarations(walk, binds, at);
    }
    at + 1
}

/// The name of an equation: it starts a symbol or continues one.
fn equation(walk: &mut Walk<'_, '_>, at: usize) {
    let around = level(walk, at);
    let (Some(kind), Some(name)) = (kind_at(around), declared_name(walk, at)) else { return };
    let is_default = around == "class_declarations";
    if continues_symbol(walk, walk.text(name)) || is_default {
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.mark_label(walk.tree.node(name).span());
        return;
    }
    let last = last_of(walk, at, walk.text(name));
    define(walk, at, name, kind, Flags::default(), last);
}

/// `x = e`, `(a, b) = e`, and `x <- e` in a block.
pub(super) fn binding(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(of) = walk.child(at, "expression") {
        mark_callee(walk, of);
        if let Some(left) = walk.child(at, "pattern") {
            pattern(walk, left, BindingKind::Local, walk.tree.next(at));
        }
        return at + 1;
    }
    match walk.child(at, "pattern") {
        Some(of) if level(walk, at) == "declarations" => variables(walk, at, of),
        _ => equation(walk, at),
    }
    walk.scope(at);
    if let Some(binds) = walk.child(at, "binds") {
        bind_declarations(walk, binds, at);
    }
    at + 1
}

/// The names of a pattern at file level.
fn variables(walk: &mut Walk<'_, '_>, at: usize, of: usize) {
    let end = walk.tree.next(of);
    let is_name = |&inner: &usize| walk.kind(inner) == "variable" && walk.kind(walk.parent(inner)) != "field_name";
    let names: Vec<usize> = (of..end).filter(is_name).collect();
    for name in names {
        let visibility = visibility(walk, walk.text(name), None);
        let body = walk.child_of(at, "match");
        walk.define(at, Definition { body, visibility, ..Definition::new(SymbolKind::Var, name) });
    }
    for inner in of..end {
        if matches!(walk.kind(inner), "constructor" | "constructor_operator") {
            walk.roles.mark(Some(inner), Role::Refers(codecompass_model::RefShape::Value));
        }
    }
}
