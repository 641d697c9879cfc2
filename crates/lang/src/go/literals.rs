//! Composite literals and their keys.
//!
//! In `T{a: 1}` the key is a field if `T` is a struct and a value if it is a map, an array or a slice. A literal that
//! omits its type, `[]T{{a: 1}}`, has the element type of the enclosing one. A type that is only a name is assumed to
//! be a struct: its declaration may be in any file.

use codecompass_model::RefShape;

use super::kinds::{field as f, kind as k};
use super::types::name_node;
use super::walk::Walk;
use crate::roles::Role;
use crate::tree::Tree;

/// A composite literal that is still open.
pub(super) struct OpenLiteral {
    /// The node after it.
    end: usize,
    /// Its type; if unknown, that of the nearest enclosing literal.
    of: usize,
    /// Whether that type is its own.
    is_type_known: bool,
}

/// Handles `T{…}`, which constructs the type.
pub(super) fn composite(walk: &mut Walk<'_, '_>, at: usize) {
    let type_at = walk.tree.child(at, f::TYPE);
    let constructs =
        type_at.filter(|&of| matches!(walk.tree.kind(of), k::TYPE_IDENTIFIER | k::QUALIFIED_TYPE | k::GENERIC_TYPE));
    let name = constructs.and_then(|of| name_node(walk.tree, of));
    walk.roles.mark(name, Role::Refers(RefShape::Construct));
}

/// Handles the braces of a literal, with or without a type before them.
pub(super) fn value(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let node = tree.node(at);
    while walk.literals.pop_if(|literal| literal.end <= at).is_some() {}
    let parent = node.parent as usize;
    let (of, known) = match tree.kind(parent) {
        k::COMPOSITE_LITERAL => (tree.child(parent, f::TYPE), true),
        k::LITERAL_ELEMENT => match walk.literals.last() {
            Some(around) => {
                let is_key = tree.node(parent).field == f::KEY;
                let element = Some(around.of).filter(|_| around.is_type_known).and_then(|of| element(tree, of, is_key));
                (Some(element.unwrap_or(around.of)), element.is_some())
            }
            None => (None, false),
        },
        _ => (None, false),
    };
    if let Some(of) = of {
        walk.literals.push(OpenLiteral { end: node.next as usize, of, is_type_known: known });
    }
}

/// Returns the element type, or the key type, of an inline type.
fn element(tree: &Tree, of: usize, is_key: bool) -> Option<usize> {
    let mut element = match (tree.kind(of), is_key) {
        (k::MAP_TYPE, true) => tree.child(of, f::KEY),
        (k::MAP_TYPE, false) => tree.child(of, f::VALUE),
        (k::SLICE_TYPE | k::ARRAY_TYPE | k::IMPLICIT_ARRAY_TYPE, false) => tree.child(of, f::ELEMENT),
        _ => None,
    };
    while let Some(pointer) = element.filter(|&of| tree.kind(of) == k::POINTER_TYPE) {
        element = tree.children(pointer).next();
    }
    element
}

/// Handles `key: value`: a bare name as a key is a member, unless the type is inline and has none.
pub(super) fn keyed(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    while walk.literals.pop_if(|literal| literal.end <= at).is_some() {}
    let Some(literal) = walk.literals.last() else { return };
    let indexed = matches!(tree.kind(literal.of), k::MAP_TYPE | k::SLICE_TYPE | k::ARRAY_TYPE | k::IMPLICIT_ARRAY_TYPE);
    if literal.is_type_known && indexed {
        return;
    }
    let key = tree.child(at, f::KEY).and_then(|key| tree.children(key).next());
    let name = key.filter(|&key| tree.kind(key) == k::IDENTIFIER);
    walk.roles.mark(name, Role::Refers(RefShape::Member));
}

/// Returns the type that a key of the innermost open literal is a member of.
pub(super) fn key_owner(walk: &Walk<'_, '_>) -> Option<usize> {
    let of = walk.literals.last()?.of;
    let named = if walk.tree.kind(of) == k::GENERIC_TYPE { walk.tree.child(of, f::TYPE) } else { None };
    Some(named.unwrap_or(of))
}
