//! Module attributes: constants, types, docs.

use codecompass_model::{BindingKind, RefShape, Span, SymbolKind, ValuePart, Visibility};

use super::definitions::{first_argument, signature_type};
use super::modules::key_span;
use super::patterns::operator;
use crate::draft::NewBinding;
use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// Attributes that the compiler or the test runner interprets. They are not constants.
const RESERVED_ATTRIBUTES: &[&str] = &[
    "after_compile",
    "after_verify",
    "before_compile",
    "behaviour",
    "compile",
    "deprecated",
    "derive",
    "describetag",
    "dialyzer",
    "doc",
    "enforce_keys",
    "external_resource",
    "fallback_to_any",
    "file",
    "impl",
    "moduledoc",
    "moduletag",
    "on_definition",
    "on_load",
    "optional_callbacks",
    "since",
    "spec",
    "tag",
    "typedoc",
    "undefined_impl_description",
    "vsn",
    "nifs",
];

/// Wrappers of a key in a map type.
const KEY_MARKERS: &[&str] = &["optional", "required"];

/// Maximum distance of a definition after its doc attribute, in statements.
const MAX_STATEMENTS_BETWEEN: usize = 8;

/// `@name`, `@name value`, `@spec f(a) :: b`.
pub(super) fn attribute(walk: &mut Walk<'_, '_>, at: usize) {
    let Some(inner) = walk.child(at, "operand") else { return };
    let name = if walk.kind(inner) == "call" { walk.child(inner, "target") } else { Some(inner) };
    let Some(name) = name.filter(|&name| walk.kind(name) == "identifier") else { return };
    let word = walk.text(name);
    let value = first_argument(walk, inner).filter(|_| walk.kind(inner) == "call");
    match (word, value) {
        ("type" | "typep" | "opaque", Some(value)) => {
            mark_label(walk, name);
            define_type(walk, at, value, word == "typep");
        }
        ("callback" | "macrocallback", Some(value)) => {
            mark_label(walk, name);
            callback(walk, at, value);
        }
        ("spec", Some(value)) => {
            mark_label(walk, name);
            types(walk, value);
        }
        ("doc", Some(value)) => {
            mark_label(walk, name);
            note_doc(walk, at, value);
        }
        _ if RESERVED_ATTRIBUTES.contains(&word) => mark_label(walk, name),
        (_, Some(value)) if !is_set(walk, word) && walk.draft.enclosing().is_some_and(|of| is_block(of.kind)) => {
            let end = walk.noted_end("__MODULE__");
            walk.note(end, &format!("@{word}"), "");
            walk.define(at, Definition { value: Some(value), ..Definition::new(SymbolKind::Const, name) });
        }
        _ => walk.roles.mark(Some(name), Role::Refers(RefShape::Value)),
    }
}

/// Marks a label, a word that refers to nothing.
pub(super) fn mark_label(walk: &mut Walk<'_, '_>, name: usize) {
    walk.roles.mark(Some(name), Role::Declares);
    walk.draft.mark_label(walk.tree.node(name).span());
}

fn is_block(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Module | SymbolKind::Interface | SymbolKind::Impl)
}

/// Whether the enclosing module has already set an attribute.
fn is_set(walk: &Walk<'_, '_>, word: &str) -> bool {
    walk.noted(&format!("@{word}")).is_some()
}

/// Returns the sides of the `::` of a type or specification, without its `when` clause.
fn spec_sides(walk: &Walk<'_, '_>, value: usize) -> Option<(usize, usize)> {
    let mut value = value;
    if operator(walk, value) == "when" {
        value = walk.child(value, "left")?;
    }
    let is_pair = walk.kind(value) == "binary_operator" && operator(walk, value) == "::";
    is_pair.then(|| Some((walk.child(value, "left")?, walk.child(value, "right")?)))?
}

/// `@type name(a) :: …`.
fn define_type(walk: &mut Walk<'_, '_>, at: usize, value: usize, is_private: bool) {
    let Some((left, _)) = spec_sides(walk, value) else { return types(walk, value) };
    let name = if walk.kind(left) == "call" { walk.child(left, "target") } else { Some(left) };
    let params = walk.child_of(left, "arguments");
    let end = walk.tree.next(at);
    if let Some(name) = name.filter(|&name| walk.kind(name) == "identifier") {
        let visibility = is_private.then_some(Visibility::Private);
        walk.define(at, Definition { visibility, end, ..Definition::new(SymbolKind::Type, name) });
    }
    walk.draft.block(end, false);
    let params: Vec<usize> = params.map_or_else(Vec::new, |params| walk.items(params).collect());
    for param in params.into_iter().filter(|&param| walk.kind(param) == "identifier").collect::<Vec<_>>() {
        walk.bind_as(param, BindingKind::TypeParam, None, ValuePart::Whole, at);
    }
    types(walk, value);
}

/// `@callback f(a) :: b`: a function that other modules define.
fn callback(walk: &mut Walk<'_, '_>, at: usize, value: usize) {
    if let Some((left, _)) = spec_sides(walk, value)
        && let Some(name) = walk.child(left, "target").filter(|&name| walk.kind(name) == "identifier")
    {
        let symbol = walk.define(at, Definition::new(SymbolKind::Prototype, name));
        if let Some(symbol) = symbol {
            let of = signature_type(walk, walk.child_of(left, "arguments"));
            walk.draft.annotate_symbol(symbol, of, None);
        }
    }
    types(walk, value);
}

/// All names in a specification are types, except the function's name and the names that only describe a parameter.
fn types(walk: &mut Walk<'_, '_>, value: usize) {
    if let Some((left, _)) = spec_sides(walk, value)
        && let Some(name) = walk.child(left, "target").filter(|&name| walk.kind(name) == "identifier")
        && walk.roles.get(name) == Role::Unset
    {
        mark_label(walk, name);
    }
    type_variables(walk, value);
    for at in value..walk.tree.next(value) {
        match walk.kind(at) {
            "binary_operator" if at != value && operator(walk, at) == "::" => {
                let label = walk.child(at, "left").filter(|&label| walk.kind(label) == "identifier");
                if let Some(label) = label.filter(|&label| walk.roles.get(label) == Role::Unset) {
                    mark_label(walk, label);
                }
            }
            "identifier" if KEY_MARKERS.contains(&walk.text(at)) => mark_label(walk, at),
            "identifier" if super::WORDS.contains(&walk.text(at)) => {}
            "identifier" => walk.roles.mark(Some(at), Role::Refers(RefShape::Type)),
            _ => {}
        }
    }
}

/// `… when a: term, b: var`: type variables.
fn type_variables(walk: &mut Walk<'_, '_>, value: usize) {
    let pairs =
        walk.child(value, "right").filter(|&pairs| walk.kind(pairs) == "keywords" && operator(walk, value) == "when");
    let Some(pairs) = pairs else { return };
    walk.draft.block(walk.tree.next(value), false);
    let keys: Vec<usize> = walk.items(pairs).filter_map(|pair| walk.child(pair, "key")).collect();
    for key in keys {
        let name = key_span(walk, key);
        let kind = BindingKind::TypeParam;
        walk.draft.bind(NewBinding { name, kind, annotation: None, value: None, part: ValuePart::Whole, from: value });
    }
}

/// `@doc "…"` belongs to the next definition.
fn note_doc(walk: &mut Walk<'_, '_>, at: usize, value: usize) {
    if !matches!(walk.kind(value), "string" | "sigil") {
        return;
    }
    let end = walk.tree.next(walk.parent(at));
    let mut next = walk.tree.next(at);
    for _ in 0..MAX_STATEMENTS_BETWEEN {
        if next >= end || walk.kind(next) == "call" {
            break;
        }
        next = walk.tree.next(next);
    }
    let is_definition = next < end && walk.kind(next) == "call" && walk.text(next).starts_with("def");
    if is_definition {
        let Span { start, end } = walk.tree.node(value).span();
        walk.note(walk.tree.next(next), &format!("doc {next}"), &format!("{start} {end}"));
    }
}

/// Returns the doc of a definition.
pub(super) fn doc_of(walk: &Walk<'_, '_>, at: usize) -> Option<Span> {
    let (start, end) = walk.noted(&format!("doc {at}"))?.split_once(' ')?;
    Some(Span { start: start.parse().ok()?, end: end.parse().ok()? })
}

/// `@moduledoc "…"` in a module.
pub(super) fn module_doc(walk: &Walk<'_, '_>, body: usize) -> Option<Span> {
    let inner = walk.items(body).take(MAX_STATEMENTS_BETWEEN).find_map(|item| {
        let inner = walk.child(item, "operand").filter(|&inner| walk.kind(inner) == "call")?;
        (walk.text(walk.child(inner, "target")?) == "moduledoc").then_some(inner)
    })?;
    let value = first_argument(walk, inner).filter(|&value| matches!(walk.kind(value), "string" | "sigil"))?;
    Some(walk.tree.node(value).span())
}
