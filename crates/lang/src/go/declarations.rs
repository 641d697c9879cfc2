//! Go declarations as symbols.

use codecompass_model::{Expr, ExprId, Flags, RefShape, Span, SymbolKind, Visibility, Wrap};

use super::kinds::{field as f, kind as k};
use super::lower::{self, lower, lower_field};
use super::types::{has_body, name_node, receiver, span_of};
use super::walk::Walk;
use super::{locals, types};
use crate::comments::Docs;
use crate::draft::{ExprInput, NewSymbol, SymbolExtras};
use crate::header::header;
use crate::roles::Role;
use crate::text;

/// The maximum length of a value in the signature of a constant or variable; longer values are left out.
const MAX_VALUE: u32 = 80;

/// The maximum length of a header that is read, in bytes.
const MAX_HEADER: usize = 8000;

/// The properties that the names of one declaration share.
struct SharedDeclaration {
    kind: SymbolKind,
    span: Span,
    signature: String,
    docs: Docs,
    annotation: Option<ExprId>,
    flags: Flags,
}

/// Handles `func f()` and `func (r T) m()`, with their parameters.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let node = tree.node(at);
    let is_method = node.kind == k::METHOD;
    let of = receiver(tree, at).filter(|_| is_method).and_then(|of| name_node(tree, of));
    let name_at = tree.child(at, f::NAME);
    let end = span_of(tree, at, f::BODY).map_or(node.end, |body| body.start);
    let shared = SharedDeclaration {
        kind: if is_method { SymbolKind::Method } else { SymbolKind::Fn },
        span: node.span(),
        signature: head(walk, at, Span { start: node.start, end }),
        docs: walk.comments.take_above(walk.draft.text, node.start),
        annotation: None,
        flags: Flags::default(),
    };
    let name = name_at.map_or("", |name| walk.draft.slice(tree.node(name).span()));
    let segment = of.map(|of| format!("{}.{name}", walk.draft.slice(tree.node(of).span())));
    let symbol = enter(walk, &shared, name_at, segment.as_deref(), None, node.next as usize);
    locals::function(walk, at, true);
    let owner = receiver(tree, at).filter(|_| is_method).map(|of| lower(walk, of));
    annotate(walk, at, symbol, owner);
}

/// Sets the type of a function, after its type parameters are known.
fn annotate(walk: &mut Walk<'_, '_>, at: usize, symbol: Option<u32>, owner: Option<ExprId>) {
    let Some(symbol) = symbol else { return };
    let of = lower::function_type(walk, at);
    walk.draft.annotate_symbol(symbol, of, owner);
}

/// Handles a method of an interface.
pub(super) fn method_element(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let node = tree.node(at);
    let shared = SharedDeclaration {
        kind: SymbolKind::Method,
        span: node.span(),
        signature: head(walk, at, node.span()),
        docs: walk.comments.take_above(walk.draft.text, node.start),
        annotation: None,
        flags: Flags::default(),
    };
    let symbol = enter(walk, &shared, tree.child(at, f::NAME), None, None, node.next as usize);
    locals::function(walk, at, false);
    annotate(walk, at, symbol, None);
}

/// Handles `type T …` and `type T = …`.
pub(super) fn type_spec(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let node = tree.node(at);
    let type_at = tree.child(at, f::TYPE);
    let kind = match type_at.map(|of| tree.kind(of)) {
        Some(k::STRUCT_TYPE) => SymbolKind::Struct,
        Some(k::INTERFACE_TYPE) => SymbolKind::Interface,
        _ => SymbolKind::Type,
    };
    let (start, grouped) = walk.declaration_of(at);
    let shared = SharedDeclaration {
        kind,
        span: Span { start, end: node.end },
        signature: signature(walk, at, start, if grouped { "type " } else { "" }),
        docs: walk.comments.take_above(walk.draft.text, start),
        annotation: None,
        flags: Flags::ALIAS.when(node.kind == k::TYPE_ALIAS),
    };
    let name = tree.child(at, f::NAME);
    let symbol = enter(walk, &shared, name, None, None, node.next as usize);
    if let (Some(symbol), Some(name), true) = (symbol, name, walk.is_local(at)) {
        walk.draft.declare(tree.node(name).span(), symbol, at);
    }
    if let Some(list) = tree.child(at, f::TYPE_PARAMETERS) {
        walk.draft.block(node.next as usize, false);
        locals::type_parameters(walk, list);
    }
    if let (Some(symbol), Some(of)) = (symbol, type_at.filter(|&of| !has_body(tree, of))) {
        let of = lower(walk, of);
        walk.draft.annotate_symbol(symbol, of, None);
    }
}

/// Handles the fields of one line of a struct; an embedded type is a field with the name of the type.
pub(super) fn field(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let node = tree.node(at);
    let Some(type_at) = tree.child(at, f::TYPE) else { return };
    let mut shared = SharedDeclaration {
        kind: SymbolKind::Field,
        span: node.span(),
        signature: signature(walk, at, node.start, ""),
        docs: walk.comments.take_above(walk.draft.text, node.start),
        annotation: Some(lower(walk, type_at)),
        flags: Flags::default(),
    };
    if tree.child(at, f::NAME).is_some() {
        return enter_all(walk, &shared, at, &[]);
    }
    shared.flags = Flags::EMBEDDED;
    if walk.draft.slice(node.span()).starts_with('*') {
        let pointer = shared.annotation.map(|of| walk.draft.expr(Expr::Wrap { how: Wrap::Deref, of }));
        shared.annotation = pointer;
    }
    let name = name_node(tree, type_at);
    walk.roles.mark(name, Role::Refers(RefShape::Extends));
    let _ = enter(walk, &shared, name, None, None, 0);
}

/// Handles constants and variables: symbols at file level, local bindings in functions.
pub(super) fn values(walk: &mut Walk<'_, '_>, at: usize) {
    if walk.is_local(at) {
        return locals::spec(walk, at);
    }
    let tree = walk.tree;
    let node = tree.node(at);
    let is_const = node.kind == k::CONST_SPEC;
    let (start, grouped) = walk.declaration_of(at);
    let keyword = if is_const { "const " } else { "var " };
    let annotation = lower_field(walk, at, f::TYPE);
    let values = locals::values_of(walk, at);
    let (annotation, values) = match is_const {
        true => walk.repeated.constant(node.parent, annotation, values),
        false => (annotation, values),
    };
    let shared = SharedDeclaration {
        kind: if is_const { SymbolKind::Const } else { SymbolKind::Var },
        span: Span { start, end: node.end },
        signature: signature(walk, at, start, if grouped { keyword } else { "" }),
        docs: walk.comments.take_above(walk.draft.text, start),
        annotation,
        flags: Flags::default(),
    };
    enter_all(walk, &shared, at, &values);
}

/// The value that the constants of a group repeat: one without a value has the type and value of the previous one.
#[derive(Default)]
pub(super) struct RepeatedConst {
    group: u32,
    annotation: Option<ExprId>,
    values: Vec<ExprId>,
}

impl RepeatedConst {
    fn constant(
        &mut self,
        group: u32,
        annotation: Option<ExprId>,
        values: Vec<ExprId>,
    ) -> (Option<ExprId>, Vec<ExprId>) {
        if !values.is_empty() || self.group != group {
            *self = Self { group, annotation, values };
        }
        (self.annotation, self.values.clone())
    }
}

/// Enters the symbols of all names of a declaration; references after the names belong to the last one.
fn enter_all(walk: &mut Walk<'_, '_>, shared: &SharedDeclaration, at: usize, values: &[ExprId]) {
    let tree = walk.tree;
    let next = tree.next(at);
    let mut names = tree.children(at).filter(|&child| tree.node(child).field == f::NAME).peekable();
    let mut values = values.iter().copied();
    while let Some(name) = names.next() {
        let end = if names.peek().is_some() { 0 } else { next };
        let _ = enter(walk, shared, Some(name), None, values.next(), end);
    }
}

/// Enters a symbol, keeps it open up to the node `end`, and returns its index. The blank name declares nothing.
fn enter(
    walk: &mut Walk<'_, '_>,
    shared: &SharedDeclaration,
    name_at: Option<usize>,
    segment: Option<&str>,
    value: Option<ExprId>,
    end: usize,
) -> Option<u32> {
    let name_at = name_at?;
    let name_span = walk.tree.node(name_at).span();
    let name = walk.draft.slice(name_span);
    walk.roles.mark(Some(name_at), Role::Declares);
    if matches!(name, "" | "_") {
        return None;
    }
    let new = NewSymbol {
        kind: shared.kind,
        name,
        segment: segment.unwrap_or(name),
        separator: ".",
        impl_trait: None,
        signature: shared.signature.clone(),
        visibility_text: None,
        visibility: Some(visibility(name)),
        span: shared.span,
        outer_start: shared.docs.outer_start,
        name_span,
        attributes: &shared.docs.directives,
        doc: shared.docs.doc,
        annotation: shared.annotation.map(ExprInput::Expr),
        value: value.map(ExprInput::Expr),
        extras: SymbolExtras { flags: shared.flags, ..SymbolExtras::default() },
        is_test: false,
    };
    let place = walk.draft.symbol_count();
    walk.draft.symbol(new, end);
    (walk.draft.symbol_count() > place).then_some(place)
}

/// Returns the visibility of a name: it is exported if it begins with a capital letter.
fn visibility(name: &str) -> Visibility {
    let exported = name.chars().next().is_some_and(char::is_uppercase);
    if exported { Visibility::Public } else { Visibility::Private }
}

/// Returns the header on one line: up to the body of a struct or interface, and without a long value.
fn signature(walk: &Walk<'_, '_>, at: usize, start: u32, keyword: &str) -> String {
    let tree = walk.tree;
    let node = tree.node(at);
    let body = tree.child(at, f::TYPE).filter(|&of| types::has_body(tree, of)).map(|of| tree.node(of));
    let brace = body.and_then(|of| walk.draft.slice(of.span()).find('{').map(|brace| of.start + brace as u32));
    let value = span_of(tree, at, f::VALUE).filter(|&value| is_long(walk, value)).map(|value| value.start);
    let end = brace.or(value).unwrap_or(node.end);
    let mut header = head(walk, at, Span { start, end });
    if end < node.end {
        header.truncate(header.trim_end_matches(['=', ' ']).len());
    }
    if keyword.is_empty() { header } else { [keyword, &header].concat() }
}

/// Returns a range at the beginning of a node on one line. Headers nest, since a field may have an inline struct type:
/// no more of a header is read than can be shown.
fn head(walk: &Walk<'_, '_>, at: usize, range: Span) -> String {
    let read = text::truncate(walk.draft.slice(range), MAX_HEADER).len() as u32;
    header(walk.draft, walk.tree, at, Span { end: range.start + read, ..range }, &[k::COMMENT])
}

fn is_long(walk: &Walk<'_, '_>, value: Span) -> bool {
    value.end - value.start > MAX_VALUE || walk.draft.slice(value).contains('\n')
}
