//! Names that get a value: parameters, local variables, constants, instance variables.

use codecompass_model::{BindingKind, Expr, Flags, LexicalTarget, SymbolKind, ValuePart, Visibility};

use super::hooks::{constant, is_type};
use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// Maximum number of names bound by one pattern.
const MAX_NAMES: usize = 200;

/// The parameters that are plain names.
pub(super) fn parameters(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "identifier").collect();
    for name in names {
        walk.bind_as(name, BindingKind::Param, None, ValuePart::Whole, at);
    }
    at + 1
}

/// A parameter with a star, a default or a colon.
pub(super) fn parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "name") {
        walk.bind_as(name, BindingKind::Param, None, ValuePart::Whole, at);
    }
    at + 1
}

/// A block: names that are first assigned in it are not visible after it.
pub(super) fn block(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    at + 1
}

/// `a = b`, `a ||= b`, `A = b`, `@a = b`.
pub(super) fn assignment(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { return at + 1 };
    let is_plain = walk.kind(at) == "assignment" || walk.text_between(left, right).trim() == "||=";
    match walk.kind(left) {
        "identifier" => local(walk, at, left, is_plain.then_some(right)),
        "constant" if !walk.is_local(at) || walk.draft.enclosing().is_some_and(|of| is_type(of.kind)) => {
            constant(walk, at, left, right);
        }
        "instance_variable" | "class_variable" => variable(walk, at, left, is_plain.then_some(right)),
        _ => {}
    }
    at + 1
}

/// An assignment to a local variable; the first one creates it. A variable that is assigned again in a branch has no
/// known type. One that is assigned again in the same statement list is a new binding from there on.
fn local(walk: &mut Walk<'_, '_>, at: usize, name: usize, value: Option<usize>) {
    let seen = walk.name_expr(name);
    let known = match walk.draft.expr_at(seen) {
        Expr::Name { seen: LexicalTarget::Local(binding), .. } => Some(*binding),
        _ => None,
    };
    let is_straight = matches!(walk.kind(walk.parent(at)), "body_statement" | "block_body" | "program");
    match known {
        Some(binding) if !is_straight || value.is_none() => {
            let other = walk.other();
            walk.draft.set_binding_value(binding, other);
        }
        _ => {
            let Some(binding) = walk.bind_as(name, BindingKind::Local, None, ValuePart::Whole, walk.tree.next(at))
            else {
                return;
            };
            if let Some(value) = value {
                walk.defer_binding_value(binding, value);
            }
        }
    }
}

/// An instance variable belongs to the class that encloses the assigning method. It has a type if all assignments
/// agree.
fn variable(walk: &mut Walk<'_, '_>, at: usize, name: usize, value: Option<usize>) {
    let Some(class) = walk.draft.enclosing_of_kind(is_type) else { return };
    let word = walk.text(name);
    let is_nil = |walk: &Walk<'_, '_>, of: usize| walk.kind(of) == "nil";
    match (walk.hook_member(class, word), value) {
        (None, _) => {
            let in_static =
                walk.draft.enclosing().is_some_and(|around| is_type(around.kind) || around.flags.has(Flags::STATIC));
            let Some(symbol) = define_field(walk, at, name, class, in_static) else { return };
            walk.add_hook_member(class, word, symbol, value.unwrap_or(0));
            if let Some(value) = value {
                walk.defer_symbol_value(symbol, value);
            }
        }
        (Some((symbol, first)), Some(value)) => {
            if is_nil(walk, first) {
                walk.add_hook_member(class, word, symbol, value);
                walk.defer_symbol_value(symbol, value);
            } else if !is_nil(walk, value) && walk.text(first) != walk.text(value) {
                let other = walk.other();
                walk.draft.set_value(symbol, other);
            }
        }
        (Some(_), None) => {}
    }
}

fn define_field(walk: &mut Walk<'_, '_>, at: usize, name: usize, class: u32, is_static: bool) -> Option<u32> {
    let flags = Flags::STATIC.when(is_static);
    let visibility = Some(Visibility::Private);
    walk.define(at, Definition { flags, visibility, parent: Some(class), ..Definition::new(SymbolKind::Field, name) })
}

/// `a, (b, *c) = …`, and the name that `rescue` binds.
pub(super) fn targets(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).take(MAX_NAMES).collect();
    for name in names {
        match walk.kind(name) {
            "identifier" => bind(walk, name),
            "instance_variable" => variable(walk, at, name, None),
            _ => {}
        }
    }
    at + 1
}

fn bind(walk: &mut Walk<'_, '_>, name: usize) {
    if walk.roles.get(name) == Role::Unset && !walk.draft.is_local(walk.tree.node(name).span()) {
        walk.bind_as(name, BindingKind::Local, None, ValuePart::Whole, name);
    }
}

/// `for a in b`.
pub(super) fn loop_name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "pattern").filter(|&name| walk.kind(name) == "identifier") {
        bind(walk, name);
    }
    at + 1
}

/// `rescue A => e`: with one class, `e` has that type.
pub(super) fn rescue(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.child(at, "variable").and_then(|of| walk.items(of).find(|&name| walk.kind(name) == "identifier"));
    let classes: Vec<usize> = walk.child_of(at, "exceptions").map_or_else(Vec::new, |list| walk.items(list).collect());
    if let (Some(name), [only]) = (name, classes.as_slice()) {
        let of = walk.lower(*only);
        walk.bind_as(name, BindingKind::Local, Some(of), ValuePart::Whole, name);
    }
    at + 1
}

/// `in { a:, b: [c, *] }`: the names of a pattern.
pub(super) fn bind_pattern(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(pattern) = walk.child(at, "pattern") else { return at + 1 };
    let inside = pattern..walk.tree.next(pattern);
    let is_name = |&inner: &usize| {
        walk.kind(inner) == "identifier"
            && walk.kind(walk.parent(inner)) != "variable_reference_pattern"
            && walk.roles.get(inner) == Role::Unset
    };
    let names: Vec<usize> = inside.filter(is_name).take(MAX_NAMES).collect();
    for name in names {
        bind(walk, name);
    }
    at + 1
}
