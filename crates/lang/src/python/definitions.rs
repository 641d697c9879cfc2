//! Python definitions and assignments as symbols.

use codecompass_model::{RefShape, Span, SymbolKind, Visibility};

use super::kinds::{field as f, kind as k};
use super::walk::{Walk, bound_names};
use crate::draft::NewSymbol;
use crate::header::header;
use crate::roles::Role;

/// A value longer than this is left out of the signature of an assignment.
const MAX_VALUE: u32 = 80;

/// `def`.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) {
    let in_class = walk.draft.enclosing().is_some_and(|around| around.kind == SymbolKind::Class);
    let kind = match in_class {
        true if walk.decorated.definition == Some(at) && is_property(walk) => SymbolKind::Property,
        true => SymbolKind::Method,
        false => SymbolKind::Fn,
    };
    definition(walk, at, kind);
}

/// `class`, with its bases.
pub(super) fn class(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let bases = tree.child(at, f::SUPERCLASSES);
    for base in bases.into_iter().flat_map(|bases| tree.children(bases)) {
        let name = walk.name_of(base);
        walk.roles.mark(name, Role::Refers(RefShape::Extends));
    }
    definition(walk, at, SymbolKind::Class);
}

fn definition(walk: &mut Walk<'_, '_>, at: usize, kind: SymbolKind) {
    let node = walk.tree.node(at);
    let Some(name_at) = walk.tree.child(at, f::NAME) else {
        return;
    };
    walk.roles.mark(Some(name_at), Role::Declares);
    let is_decorated = walk.decorated.definition == Some(at);
    let first = if is_decorated { walk.decorated.start } else { node.start };
    let body = walk.tree.child(at, f::BODY).map_or(node.end, |body| walk.tree.node(body).start);
    let mut signature = header(walk.draft, walk.tree, at, Span { start: node.start, end: body }, &[k::COMMENT]);
    signature.truncate(signature.trim_end_matches([':', ' ']).len());
    let name_span = walk.tree.node(name_at).span();
    let name = walk.draft.slice(name_span);
    let new = NewSymbol {
        kind,
        name,
        segment: name,
        separator: ".",
        impl_trait: None,
        signature,
        visibility_text: None,
        visibility: Some(visibility(name)),
        span: node.span(),
        outer_start: walk.comment_start(first),
        name_span,
        attributes: if is_decorated { &walk.decorated.decorators } else { &[] },
        doc: None,
        annotation: None,
        value: None,
    };
    if !name.is_empty() {
        walk.draft.symbol(new, node.next as usize);
    }
}

/// An assignment: symbols at file and class level the first time a name is given a value, declarations of local names
/// in functions.
pub(super) fn assignment(walk: &mut Walk<'_, '_>, at: usize) {
    let Some(left) = walk.tree.child(at, f::LEFT) else {
        return;
    };
    let in_class = match walk.draft.enclosing().map(|around| around.kind) {
        None => false,
        Some(SymbolKind::Class) => true,
        // The right side of a chain, `a = b = 1`, stands inside the symbol of the left one.
        Some(SymbolKind::Var | SymbolKind::Const | SymbolKind::Field) => {
            return chained(walk, at, left);
        }
        Some(_) => return walk.declare(Some(left)),
    };
    assign(walk, at, left, in_class);
}

/// A further target of a chain gets a symbol beside the first one only by name: its text is part of the first one's.
fn chained(walk: &mut Walk<'_, '_>, at: usize, left: usize) {
    let is_chain = walk.tree.kind(walk.tree.node(at).parent as usize) == k::ASSIGNMENT;
    if !is_chain {
        walk.declare(Some(left));
    }
}

fn assign(walk: &mut Walk<'_, '_>, at: usize, left: usize, in_class: bool) {
    let tree = walk.tree;
    let node = tree.node(at);
    let scope = walk.draft.enclosing_index();
    let single = tree.kind(left) == k::IDENTIFIER;
    for name_at in bound_names(tree, left) {
        let name_span = tree.node(name_at).span();
        let name = walk.draft.slice(name_span);
        if walk.assigned.insert((scope, name), ()).is_some() {
            continue;
        }
        walk.roles.mark(Some(name_at), Role::Declares);
        let kind = match in_class {
            true => SymbolKind::Field,
            false if is_constant(name) => SymbolKind::Const,
            false => SymbolKind::Var,
        };
        let new = NewSymbol {
            kind,
            name,
            segment: name,
            separator: ".",
            impl_trait: None,
            signature: assignment_signature(walk, at),
            visibility_text: None,
            visibility: Some(visibility(name)),
            span: node.span(),
            outer_start: walk.comment_start(node.start),
            name_span,
            attributes: &[],
            doc: None,
            annotation: None,
            value: None,
        };
        walk.draft.symbol(new, if single { node.next as usize } else { 0 });
    }
}

fn assignment_signature(walk: &Walk<'_, '_>, at: usize) -> String {
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

/// `type Name = …`.
pub(super) fn type_alias(walk: &mut Walk<'_, '_>, at: usize) {
    let node = walk.tree.node(at);
    let Some(left) = walk.tree.child(at, f::LEFT) else {
        return;
    };
    let Some(name_at) = (left..walk.tree.next(left)).find(|&inner| walk.tree.kind(inner) == k::IDENTIFIER) else {
        return;
    };
    walk.roles.mark(Some(name_at), Role::Declares);
    let name_span = walk.tree.node(name_at).span();
    let name = walk.draft.slice(name_span);
    let new = NewSymbol {
        kind: SymbolKind::Type,
        name,
        segment: name,
        separator: ".",
        impl_trait: None,
        signature: assignment_signature(walk, at),
        visibility_text: None,
        visibility: Some(visibility(name)),
        span: node.span(),
        outer_start: walk.comment_start(node.start),
        name_span,
        attributes: &[],
        doc: None,
        annotation: None,
        value: None,
    };
    walk.draft.symbol(new, node.next as usize);
}

/// Visibility by convention: a leading underscore is private, unless the name is a dunder.
pub(super) fn visibility(name: &str) -> Visibility {
    let dunder = name.len() > 4 && name.starts_with("__") && name.ends_with("__");
    if name.starts_with('_') && !dunder { Visibility::Private } else { Visibility::Public }
}

fn is_constant(name: &str) -> bool {
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

/// Whether the decorators make a method look like a field: `@property`, `@cached_property`, `@name.setter`.
fn is_property(walk: &Walk<'_, '_>) -> bool {
    walk.decorated.decorators.iter().any(|&span| {
        let text = walk.draft.slice(span).trim_start_matches(['@', ' ']);
        let path = text.split(['(', '#', '\n']).next().unwrap_or(text).trim_end();
        let last = path.rsplit('.').next().unwrap_or(path);
        last.ends_with("property") || path.contains('.') && matches!(last, "setter" | "getter" | "deleter")
    })
}
