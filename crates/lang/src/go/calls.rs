//! Calls, and conversions with the same syntax.
//!
//! `f[T](x)` calls a generic function, `f[i](x)` calls an element of `f`. The grammar cannot distinguish them, and
//! neither can a reader without the other files; only an index that begins with a local variable is certain.

use codecompass_model::RefShape;

use super::kinds::{field as f, kind as k};
use super::types::{is_predeclared, name_node};
use super::walk::Walk;
use crate::roles::Role;

/// Handles a call. `T(x)` may be a conversion, which has the syntax of a call.
pub(super) fn call(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let arguments = tree.child_of_kind(at, k::TYPE_ARGUMENTS);
    if arguments.is_some_and(|arguments| is_index(walk, arguments)) {
        return;
    }
    let mut callee = tree.child(at, f::FUNCTION);
    while let Some(of) = callee {
        callee = match tree.kind(of) {
            k::IDENTIFIER => return walk.roles.mark(Some(of), Role::Refers(RefShape::Call)),
            k::SELECTOR => return walk.roles.mark(tree.child(of, f::FIELD), Role::Refers(RefShape::MemberCall)),
            k::TYPE_INSTANTIATION => return mark_type(walk, tree.child(of, f::TYPE)),
            k::PARENTHESIZED => tree.children(of).next(),
            k::UNARY => return pointer_conversion(walk, of),
            k::INDEX if may_instantiate(walk, of) => tree.child(of, f::OPERAND),
            _ => None,
        };
    }
}

/// Handles `(*T)(x)`, which converts to a pointer, unless the callee is the target of a local variable.
fn pointer_conversion(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let mut operand = Some(at);
    while let Some(pointer) = operand.filter(|&operand| tree.kind(operand) == k::UNARY) {
        if !walk.draft.slice(tree.node(pointer).span()).starts_with('*') {
            return;
        }
        operand = tree.children(pointer).next();
    }
    let Some(of) = operand else { return };
    let (root, name) = match tree.kind(of) {
        k::IDENTIFIER => (Some(of), Some(of)),
        k::SELECTOR => (tree.child(of, f::OPERAND), tree.child(of, f::FIELD)),
        _ => return,
    };
    let Some(root) = root.filter(|&root| tree.kind(root) == k::IDENTIFIER) else { return };
    if !walk.draft.is_local(tree.node(root).span()) {
        walk.roles.mark(name, Role::Refers(RefShape::Type));
    }
}

/// Handles `T[A](x)`: a conversion, or a call of a generic function.
pub(super) fn conversion(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let Some(of) = tree.child(at, f::TYPE) else { return };
    let arguments = tree.child_of_kind(of, k::TYPE_ARGUMENTS);
    if arguments.is_some_and(|arguments| is_index(walk, arguments)) {
        return mark(walk, of, RefShape::Value, RefShape::Member);
    }
    if matches!(tree.kind(of), k::GENERIC_TYPE | k::QUALIFIED_TYPE | k::TYPE_IDENTIFIER) {
        mark_type(walk, Some(of));
    }
}

fn mark_type(walk: &mut Walk<'_, '_>, of: Option<usize>) {
    if let Some(of) = of {
        mark(walk, of, RefShape::Call, RefShape::MemberCall);
    }
}

/// Assigns a role to the name of a type: one for a bare name, another after a package.
fn mark(walk: &mut Walk<'_, '_>, of: usize, alone: RefShape, qualified: RefShape) {
    let Some(name) = name_node(walk.tree, of) else { return };
    let is_qualified = walk.tree.kind(walk.tree.node(name).parent as usize) == k::QUALIFIED_TYPE;
    walk.roles.mark(Some(name), Role::Refers(if is_qualified { qualified } else { alone }));
}

/// Returns whether an apparent index may be a type: a name, or a member of a package.
fn may_instantiate(walk: &mut Walk<'_, '_>, at: usize) -> bool {
    let tree = walk.tree;
    let Some(index) = tree.child(at, f::INDEX) else { return false };
    let root = match tree.kind(index) {
        k::SELECTOR => tree.child(index, f::OPERAND),
        _ => Some(index),
    };
    let Some(root) = root.filter(|&root| tree.kind(root) == k::IDENTIFIER) else { return false };
    let span = tree.node(root).span();
    if walk.draft.is_local(span) {
        return false;
    }
    let is_type = index == root && is_predeclared(walk.draft.slice(span));
    walk.roles.mark(Some(root).filter(|_| is_type), Role::Declares);
    true
}

/// Returns whether an apparent type argument is a local variable or a member of one, and marks it as such.
fn is_index(walk: &mut Walk<'_, '_>, arguments: usize) -> bool {
    let tree = walk.tree;
    let only = tree.children(arguments).next().filter(|&only| tree.next(only) == tree.next(arguments));
    let Some(only) = only.and_then(|only| tree.children(only).next()) else { return false };
    let root = match tree.kind(only) {
        k::TYPE_IDENTIFIER => Some(only),
        k::QUALIFIED_TYPE => tree.child(only, f::PACKAGE),
        _ => None,
    };
    let is_local = root.is_some_and(|root| walk.draft.is_local(tree.node(root).span()));
    if is_local {
        mark(walk, only, RefShape::Value, RefShape::Member);
    }
    is_local
}
