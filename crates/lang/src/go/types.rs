//! Reads the nodes of types.

use codecompass_model::Span;

use super::kinds::{field as f, kind as k};
use crate::tree::Tree;

/// Returns the node of the main name of a type: `Map` in `*sync.Map`, `List` in `List[T]`.
pub(super) fn name_node(tree: &Tree, mut at: usize) -> Option<usize> {
    loop {
        at = match tree.kind(at) {
            k::TYPE_IDENTIFIER | k::IDENTIFIER => return Some(at),
            k::QUALIFIED_TYPE => tree.child(at, f::NAME)?,
            k::GENERIC_TYPE => tree.child(at, f::TYPE)?,
            k::POINTER_TYPE | k::PARENTHESIZED_TYPE => tree.children(at).next()?,
            _ => return None,
        };
    }
}

/// Returns whether a type is a `struct` or an `interface` with its body.
pub(super) fn has_body(tree: &Tree, at: usize) -> bool {
    matches!(tree.kind(at), k::STRUCT_TYPE | k::INTERFACE_TYPE)
}

/// Returns the names that a method gives to the type parameters of its receiver: `T` in `func (l *List[T]) Len()`.
pub(super) fn receiver_parameters(tree: &Tree, receiver: usize) -> impl Iterator<Item = usize> + '_ {
    let mut at = Some(receiver);
    while let Some(around) = at.filter(|&at| matches!(tree.kind(at), k::POINTER_TYPE | k::PARENTHESIZED_TYPE)) {
        at = tree.children(around).next();
    }
    let generic = at.filter(|&at| tree.kind(at) == k::GENERIC_TYPE);
    let arguments = generic.and_then(|generic| tree.child_of_kind(generic, k::TYPE_ARGUMENTS));
    let elements = arguments.into_iter().flat_map(|arguments| tree.children(arguments));
    let names = elements.filter_map(|element| match tree.kind(element) {
        k::TYPE_ELEMENT => tree.children(element).next(),
        _ => Some(element),
    });
    names.filter(|&name| tree.kind(name) == k::TYPE_IDENTIFIER)
}

/// Returns the type of a method's receiver.
pub(super) fn receiver(tree: &Tree, method: usize) -> Option<usize> {
    let list = tree.child(method, f::RECEIVER)?;
    let parameter = tree.children(list).find(|&child| tree.kind(child) == k::PARAMETER)?;
    tree.child(parameter, f::TYPE)
}

/// Returns the span of the first child in a field.
pub(super) fn span_of(tree: &Tree, at: usize, field: u8) -> Option<Span> {
    tree.child(at, field).map(|child| tree.node(child).span())
}

/// Returns whether a name is a predeclared type.
pub(super) fn is_predeclared(name: &str) -> bool {
    matches!(
        name,
        "any"
            | "bool"
            | "byte"
            | "comparable"
            | "complex64"
            | "complex128"
            | "error"
            | "float32"
            | "float64"
            | "int"
            | "int8"
            | "int16"
            | "int32"
            | "int64"
            | "rune"
            | "string"
            | "uint"
            | "uint8"
            | "uint16"
            | "uint32"
            | "uint64"
            | "uintptr"
    )
}
