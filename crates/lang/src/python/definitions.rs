//! Python functions and classes as symbols.

use codecompass_model::{ExprId, RefShape, Span, SymbolKind, Visibility};

use super::kinds::{field as f, kind as k};
use super::scopes::{self, Scope, ScopeKind};
use super::walk::Walk;
use super::{assignments, docs_and_comments};
use crate::draft::{ExprInput, NewSymbol, SymbolExtras};
use crate::header::header;
use crate::roles::Role;
use crate::text;

/// A definition with its decorators, which come before the definition itself.
#[derive(Default)]
pub(super) struct Decorated {
    pub(super) definition: usize,
    start: u32,
    decorators: Vec<Span>,
}

/// Handles decorators and their definition. The symbol is entered here, so that it owns the decorators' references.
pub(super) fn decorated(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let Some(definition) = tree.child(at, f::DEFINITION).filter(|&definition| definition > walk.decorated.definition)
    else {
        return;
    };
    walk.decorated.definition = definition;
    walk.decorated.start = tree.node(at).start;
    walk.decorated.decorators.clear();
    for child in tree.children(at).filter(|&child| tree.kind(child) == k::DECORATOR) {
        walk.decorated.decorators.push(tree.node(child).span());
    }
    match tree.kind(definition) {
        k::CLASS => enter(walk, definition, SymbolKind::Class),
        _ => enter_function(walk, definition),
    }
}

/// Handles `def`.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) {
    if walk.decorated.definition < at {
        enter_function(walk, at);
    }
    let tree = walk.tree;
    let around = walk.scopes.enclosing(at);
    let class = around.filter(|around| matches!(around.kind, ScopeKind::Class(_))).and_then(|around| around.class);
    let is_static = walk.decorated.definition == at && has_decorator(walk, |path| path == "staticmethod");
    let receiver = class.filter(|_| !is_static).and_then(|_| scopes::receiver(walk, at));
    let name = tree.child(at, f::NAME).map_or("", |name| walk.draft.slice(tree.node(name).span()));
    let end = tree.next(at);
    walk.scopes.enter(Scope { at, end, class, kind: ScopeKind::Function { name, receiver } });
    walk.draft.block(end, false);
    scopes::type_parameters(walk, tree.child_of_kind(at, k::TYPE_PARAMETER));
    let body = tree.child(at, f::BODY).unwrap_or(end);
    if let Some(list) = tree.child_of_kind(at, k::PARAMETERS) {
        scopes::parameters(walk, Some(at), list, body);
    }
    scopes::collect_locals(walk, at, body);
}

fn enter_function(walk: &mut Walk<'_, '_>, at: usize) {
    let in_class = walk.scopes.enclosing(at).is_some_and(|around| matches!(around.kind, ScopeKind::Class(_)));
    let kind = match in_class {
        true if walk.decorated.definition == at && is_property(walk) => SymbolKind::Property,
        true => SymbolKind::Method,
        false => SymbolKind::Fn,
    };
    enter(walk, at, kind);
}

/// Handles `class`, with its bases.
pub(super) fn class(walk: &mut Walk<'_, '_>, at: usize) {
    if walk.decorated.definition < at {
        enter(walk, at, SymbolKind::Class);
    }
    let tree = walk.tree;
    let mut is_enum = false;
    let bases = tree.child(at, f::SUPERCLASSES);
    for base in bases.into_iter().flat_map(|bases| tree.children(bases)) {
        let name = walk.name_of(base);
        walk.roles.mark(name, Role::Refers(RefShape::Extends));
        is_enum |= name.is_some_and(|name| is_enum_base(walk.draft.slice(tree.node(name).span())));
    }
    let end = tree.next(at);
    let class = walk.draft.enclosing_index();
    walk.scopes.enter(Scope { at, end, class, kind: ScopeKind::Class(is_enum) });
    walk.draft.block(end, false);
    scopes::type_parameters(walk, tree.child_of_kind(at, k::TYPE_PARAMETER));
    if let Some(body) = tree.child(at, f::BODY) {
        assignments::expect_fields(walk, class, body);
    }
}

/// Returns whether a base makes a class an enumeration, by its name alone: those of the standard library, and names
/// with the same ending.
fn is_enum_base(name: &str) -> bool {
    name.ends_with("Enum") || matches!(name, "Flag" | "IntFlag" | "TextChoices" | "IntegerChoices" | "Choices")
}

fn enter(walk: &mut Walk<'_, '_>, at: usize, kind: SymbolKind) {
    let tree = walk.tree;
    let node = tree.node(at);
    let Some(name_at) = tree.child(at, f::NAME) else {
        return;
    };
    walk.roles.mark(Some(name_at), Role::Declares);
    let is_decorated = walk.decorated.definition == at;
    let first = if is_decorated { walk.decorated.start } else { node.start };
    let body_at = tree.child(at, f::BODY);
    let body = body_at.map_or(node.end, |body| tree.node(body).start);
    let mut signature = header(walk.draft, tree, at, Span { start: node.start, end: body }, &[k::COMMENT]);
    signature.truncate(signature.trim_end_matches([':', ' ']).len());
    let name_span = tree.node(name_at).span();
    let name = walk.draft.slice(name_span);
    let bases = bases(walk, at);
    let returns = tree.child(at, f::RETURN_TYPE).map(|returns| tree.node(returns).span());
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
        doc: body_at.and_then(|body| docs_and_comments::docstring(walk, body)).or_else(|| walk.comment_above(first)),
        annotation: returns.or_else(|| docs_and_comments::return_type_comment(walk, at)).map(ExprInput::Text),
        value: None,
        extras: SymbolExtras { bases, ..SymbolExtras::default() },
        is_test: false,
    };
    if !name.is_empty() && walk.is_in_order(at) {
        walk.draft.symbol(new, node.next as usize);
    }
}

/// Returns the bases of a class: all its arguments without a keyword.
fn bases(walk: &mut Walk<'_, '_>, at: usize) -> Vec<ExprId> {
    let tree = walk.tree;
    let list = tree.child(at, f::SUPERCLASSES).into_iter().flat_map(|list| tree.children(list));
    let bases = list.filter(|&base| !matches!(tree.kind(base), k::COMMENT | k::KEYWORD_ARGUMENT));
    bases.map(|base| walk.draft.text_as_expr(&text::signature(walk.draft.slice(tree.node(base).span())))).collect()
}

/// Returns the visibility by convention, which ranking uses, since Python has none: a leading underscore is private,
/// unless the name is a dunder.
pub(super) fn visibility(name: &str) -> Visibility {
    let dunder = name.len() > 4 && name.starts_with("__") && name.ends_with("__");
    if name.starts_with('_') && !dunder { Visibility::Private } else { Visibility::Public }
}

/// Returns whether the decorators make a method a property: `@property`, `@cached_property`, `@name.setter`.
fn is_property(walk: &Walk<'_, '_>) -> bool {
    has_decorator(walk, |path| {
        let last = path.rsplit('.').next().unwrap_or(path);
        last.ends_with("property") || path.contains('.') && matches!(last, "setter" | "getter" | "deleter")
    })
}

fn has_decorator(walk: &Walk<'_, '_>, fits: impl Fn(&str) -> bool) -> bool {
    walk.decorated.decorators.iter().any(|&span| {
        let text = walk.draft.slice(span).trim_start_matches(['@', ' ']);
        fits(text.split(['(', '#', '\n']).next().unwrap_or(text).trim_end())
    })
}
