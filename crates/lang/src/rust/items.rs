//! Rust items as symbols.

use std::borrow::Cow;

use codecompass_model::{Flags, RefShape, Span, SymbolKind, Visibility};

use super::impls;
use super::kinds::{field as f, kind as k};
use super::walk::{Walk, name_node};
use super::{attributes, bindings, macro_facts};
use crate::draft::{ExprInput, NewSymbol, SymbolExtras};
use crate::header::header;
use crate::roles::Role;
use crate::text;

/// The maximum length of a value in the signature of a constant; longer values are left out.
const MAX_VALUE: u32 = 80;

/// The maximum length of the name of an `impl` for a type without a name.
const MAX_TYPE_NAME: usize = 80;

/// Returns the kind of symbol that a node declares.
pub(super) fn kind(kind: u8) -> Option<SymbolKind> {
    Some(match kind {
        k::FUNCTION | k::FUNCTION_SIGNATURE => SymbolKind::Fn,
        k::STRUCT => SymbolKind::Struct,
        k::ENUM => SymbolKind::Enum,
        k::VARIANT => SymbolKind::Variant,
        k::UNION => SymbolKind::Union,
        k::TRAIT => SymbolKind::Trait,
        k::IMPL => SymbolKind::Impl,
        k::TYPE | k::ASSOCIATED_TYPE => SymbolKind::Type,
        k::CONST => SymbolKind::Const,
        k::STATIC => SymbolKind::Static,
        k::FIELD => SymbolKind::Field,
        k::MOD => SymbolKind::Module,
        k::MACRO_DEFINITION => SymbolKind::Macro,
        _ => return None,
    })
}

/// Enters the symbol of an item, and assigns roles to the names in its header.
pub(super) fn item(walk: &mut Walk<'_, '_>, at: usize, kind: SymbolKind) {
    let node = walk.tree.node(at);
    let outer_start = walk.outer.start_of(at, node.start);
    let name_at = walk.tree.child(at, f::NAME);
    let (name, impl_trait) = match kind {
        SymbolKind::Impl => impl_header(walk, at),
        _ => (name_at.map_or("", |name| walk.draft.slice(walk.tree.node(name).span())).into(), None),
    };
    if name.is_empty() {
        return;
    }
    let segment = if kind == SymbolKind::Impl { impls::segment(walk, at, &name) } else { None };
    walk.roles.mark(name_at, Role::Declares);
    if kind == SymbolKind::Trait {
        supertraits(walk, at);
    }
    let (visibility_text, visibility) = visibility(walk, at, kind);
    let name_span = name_at.map_or(Span { start: node.start, end: node.start }, |name| walk.tree.node(name).span());
    let header = signature(walk, at);
    let value = match walk.tree.child(at, f::VALUE) {
        Some(value) => Some(walk.tree.node(value).span().into()),
        None if kind == SymbolKind::Macro => {
            let rules = Span { start: name_span.end, end: node.end };
            macro_facts::rules(walk.draft, rules).map(ExprInput::Expr)
        }
        None => None,
    };
    let new = NewSymbol {
        kind,
        name: &name,
        segment: segment.as_deref().unwrap_or(&name),
        separator: "::",
        impl_trait,
        signature: header.clone(),
        visibility_text,
        visibility,
        span: node.span(),
        outer_start,
        name_span,
        attributes: &walk.outer.attributes,
        doc: walk.outer.doc.or_else(|| inner_doc(walk, at)),
        annotation: annotation(walk, at).map(ExprInput::Text),
        value,
        extras: SymbolExtras { flags: flags(kind, &header), ..SymbolExtras::default() },
        is_test: walk.outer.attributes.iter().any(|&span| attributes::is_test(walk.draft.slice(span))),
    };
    walk.draft.symbol(new, node.next as usize);
    walk.draft.assign_references_to_enclosing(walk.outer.references());
}

/// Returns the inner docs at the beginning of a module.
fn inner_doc(walk: &Walk<'_, '_>, at: usize) -> Option<Span> {
    let body = walk.tree.child(at, f::BODY).filter(|_| walk.tree.kind(at) == k::MOD)?;
    let is_doc = |&child: &usize| {
        let text = walk.draft.slice(walk.tree.node(child).span());
        text.starts_with("//!") || text.starts_with("/*!")
    };
    let first = walk.tree.children(body).next().filter(is_doc)?;
    let last = walk.tree.children(body).take_while(is_doc).last()?;
    let (start, last) = (walk.tree.node(first).start, walk.tree.node(last).span());
    Some(Span { start, end: last.start + walk.draft.slice(last).trim_end().len() as u32 })
}

/// Returns the declared type: the return type of a function, the type of an alias or an `impl`, the bound of an
/// associated type, the types of a tuple struct or variant.
fn annotation(walk: &Walk<'_, '_>, at: usize) -> Option<Span> {
    let tree = walk.tree;
    let span = |at: usize| tree.node(at).span();
    match tree.kind(at) {
        k::FUNCTION | k::FUNCTION_SIGNATURE => tree.child(at, f::RETURN_TYPE).map(span),
        k::CONST | k::STATIC | k::FIELD | k::TYPE | k::IMPL => tree.child(at, f::TYPE).map(span),
        k::STRUCT | k::VARIANT => {
            tree.child(at, f::BODY).map(span).filter(|&body| walk.draft.slice(body).starts_with('('))
        }
        k::ASSOCIATED_TYPE => tree.child(at, f::BOUNDS).and_then(|bounds| bindings::bounds_span(tree, bounds)),
        _ => None,
    }
}

/// Returns the name of an `impl` block's type, and the source text of its trait.
fn impl_header<'t>(walk: &mut Walk<'_, 't>, at: usize) -> (Cow<'t, str>, Option<Option<String>>) {
    let of_trait = walk.tree.child(at, f::TRAIT);
    walk.mark_name(of_trait, RefShape::Implements);
    let trait_text = of_trait.map(|of_trait| {
        let span = walk.tree.node(of_trait).span();
        let before = Span { start: walk.tree.node(at).start, end: span.start };
        let not = if walk.draft.slice(before).trim_end().ends_with('!') { "!" } else { "" };
        format!("{not}{}", text::fold(walk.draft.slice(span)))
    });
    let Some(type_at) = walk.tree.child(at, f::TYPE) else {
        return (Cow::Borrowed(""), Some(trait_text));
    };
    let name = match name_node(walk.tree, type_at) {
        Some(name) => Cow::Borrowed(walk.draft.slice(walk.tree.node(name).span())),
        None => text::fold(text::truncate(walk.draft.slice(walk.tree.node(type_at).span()), MAX_TYPE_NAME)),
    };
    (name, Some(trait_text))
}

fn supertraits(walk: &mut Walk<'_, '_>, at: usize) {
    let bounds = walk.tree.child(at, f::BOUNDS).filter(|&bounds| walk.tree.kind(bounds) == k::TRAIT_BOUNDS);
    let Some(bounds) = bounds else { return };
    let tree = walk.tree;
    for bound in tree.children(bounds) {
        walk.mark_name(Some(bound), RefShape::Extends);
    }
}

/// Returns the visibility modifier and its visibility. Items of traits, variants and their fields are as visible as
/// their parent; an `impl` block and the items of a trait's implementation have none.
fn visibility(walk: &Walk<'_, '_>, at: usize, kind: SymbolKind) -> (Option<String>, Option<Visibility>) {
    let written = walk.tree.child_of_kind(at, k::VISIBILITY);
    if let Some(written) = written {
        let text = text::fold(walk.draft.slice(walk.tree.node(written).span())).into_owned();
        let visibility = visibility_of_modifier(&text);
        return (Some(text), Some(visibility));
    }
    let around = walk.draft.enclosing();
    let visibility = match (kind, around.map(|around| around.kind)) {
        (SymbolKind::Impl, _) => None,
        (SymbolKind::Macro, _) if is_exported(walk) => Some(Visibility::Public),
        (_, Some(SymbolKind::Trait | SymbolKind::Enum | SymbolKind::Variant)) => {
            around.and_then(|around| around.visibility)
        }
        (_, Some(SymbolKind::Impl)) if around.is_some_and(|around| around.impl_trait.is_some()) => None,
        _ => Some(Visibility::Private),
    };
    (None, visibility)
}

/// Returns the visibility of a visibility modifier.
pub(super) fn visibility_of_modifier(written: &str) -> Visibility {
    match written {
        "pub" => Visibility::Public,
        "pub(self)" => Visibility::Private,
        _ => Visibility::Crate,
    }
}

fn is_exported(walk: &Walk<'_, '_>) -> bool {
    walk.outer.attributes.iter().any(|&span| walk.draft.slice(span).contains("macro_export"))
}

/// Returns the header on one line: up to a body in braces, without a long value and the closing semicolon.
fn signature(walk: &Walk<'_, '_>, at: usize) -> String {
    let node = walk.tree.node(at);
    let body = walk.tree.child(at, f::BODY).map(|body| walk.tree.node(body));
    let value = walk.tree.child(at, f::VALUE).map(|value| walk.tree.node(value));
    let end = match (node.kind, body, value) {
        (k::MACRO_DEFINITION, ..) => walk.tree.child(at, f::NAME).map_or(node.end, |name| walk.tree.node(name).end),
        (_, Some(body), _) if walk.draft.slice(body.span()).starts_with('{') => body.start,
        (_, _, Some(value)) if is_long(walk, value.span()) => value.start,
        _ => node.end,
    };
    let range = Span { start: node.start, end };
    let header = header(walk.draft, walk.tree, at, range, &[k::LINE_COMMENT, k::BLOCK_COMMENT]);
    let trimmed = header.trim_end_matches([';', ' ']);
    let trimmed = if end < node.end { trimmed.trim_end_matches(['=', ' ']) } else { trimmed };
    if trimmed.len() == header.len() { header } else { trimmed.to_owned() }
}

fn is_long(walk: &Walk<'_, '_>, value: Span) -> bool {
    value.end - value.start > MAX_VALUE || walk.draft.slice(value).contains('\n')
}

/// Returns the properties of a header that the resolver uses.
pub(super) fn flags(kind: SymbolKind, header: &str) -> Flags {
    Flags::TAKES_SELF.when(kind == SymbolKind::Fn && takes_self(header))
        | Flags::INITIALISED.when(kind == SymbolKind::Static && header.contains('='))
}

/// Returns whether the first parameter of a function is `self`, in any of its forms.
fn takes_self(header: &str) -> bool {
    let Some((_, after)) = header.split_once('(') else { return false };
    let first = after.split([',', ')']).next().unwrap_or("");
    let first = first.split(':').next().unwrap_or("").trim();
    first == "self" || first.ends_with(" self") || first.ends_with("&self")
}
