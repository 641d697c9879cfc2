//! Classes, structures, unions and enums, and their members.

use codecompass_model::{Expr, ExprId, Flags, RefShape, SymbolKind, Visibility};

use super::functions::{annotate, declared_name, is_function, is_hidden};
use super::kind_of_class_key;
use super::paths::leaf_of;
use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// `class a {…}`: a symbol; without a body it is only a reference.
pub(super) fn class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.kind(walk.parent(at)) != "template_declaration" {
        define_class(walk, at, at);
    }
    at + 1
}

/// Defines a class; `outer` is the enclosing template declaration, or the class itself.
pub(super) fn define_class(walk: &mut Walk<'_, '_>, outer: usize, at: usize) {
    let end = walk.tree.next(outer);
    let whole = walk.child(at, "name");
    let (Some(whole), Some(body)) = (whole, walk.child(at, "body")) else {
        if outer != at {
            walk.draft.block(end, false);
            super::hooks::bind_parameters(walk, outer, at);
        }
        return;
    };
    let Some(name) = declared_name(walk, whole) else { return };
    // A template specialization is not the template itself.
    let special =
        (walk.kind(whole) == "template_type").then(|| walk.text(whole).split_whitespace().collect::<String>());
    let segment = special.or(name.segment);
    let text = walk.text(at);
    let is_scoped = text.starts_with("enum class") || text.starts_with("enum struct");
    let flags = Flags::EMBEDDED.when(walk.kind(at) == "enum_specifier" && !is_scoped);
    let is_hidden = is_hidden(walk) && walk.draft.enclosing().is_none_or(|around| around.kind == SymbolKind::Namespace);
    let symbol = walk.define(
        outer,
        Definition {
            name_span: Some(name.span),
            segment: segment.as_deref(),
            body: Some(body),
            flags: flags | Flags::FILE_ONLY.when(is_hidden),
            visibility: is_hidden.then_some(Visibility::Private),
            end,
            ..Definition::new(kind_of_class_key(walk.kind(at)), name.name)
        },
    );
    if outer != at {
        walk.draft.block(end, false);
        super::hooks::bind_parameters(walk, outer, at);
    }
    if let (Some(symbol), Some(scope)) = (symbol, name.scope) {
        let (owner, other) = (walk.lower(scope), walk.other());
        walk.draft.annotate_symbol(symbol, other, Some(owner));
    }
}

/// A type by its name. A type without a name is known by its `typedef` name.
pub(super) fn named_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    if let Some(name) = walk.child(at, "name") {
        return walk.lower(name);
    }
    let around = walk.parent(at);
    let named = (walk.kind(around) == "type_definition").then(|| walk.child(around, "declarator")).flatten();
    match named.filter(|&name| walk.kind(name) == "type_identifier") {
        Some(name) => walk.name_expr(name),
        None => {
            let span = walk.tree.node(at).span();
            walk.draft.expr(Expr::Inline(span))
        }
    }
}

/// The base classes of a class.
pub(super) fn bases(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_type =
        |&item: &usize| matches!(walk.kind(item), "type_identifier" | "qualified_identifier" | "template_type");
    let all: Vec<usize> = walk.items(at).filter(is_type).collect();
    let has_body = walk.child(walk.parent(at), "body").is_some() && walk.child(walk.parent(at), "name").is_some();
    for item in all {
        let leaf = leaf_of(walk, item);
        walk.roles.mark(leaf, Role::Refers(RefShape::Extends));
        if has_body {
            let base = walk.lower(item);
            walk.draft.add_base(base);
        }
    }
    at + 1
}

/// The body of a class starts without an access specifier.
pub(super) fn body(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.sections.push((walk.tree.next(at), ""));
    at + 1
}

/// `public:`.
pub(super) fn section(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let word = walk.text(at).trim_end_matches([':', ' ']);
    if let Some(last) = walk.sections.last_mut() {
        last.1 = word;
    }
    at + 1
}

/// The fields of one declaration, and member functions that are only declared.
pub(super) fn fields(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let declarators: Vec<usize> = walk.children_in(at, "declarator").collect();
    let default = walk.child(at, "default_value");
    let is_static =
        walk.items(at).any(|item| walk.kind(item) == "storage_class_specifier" && walk.text(item) == "static");
    for declarator in declarators {
        let Some(name) = declared_name(walk, declarator) else { continue };
        let is_function = is_function(walk, declarator);
        let is_open = is_function && default.is_some_and(|value| walk.text(value) == "0");
        let kind = if is_function { SymbolKind::Prototype } else { SymbolKind::Field };
        let symbol = walk.define(
            at,
            Definition {
                name_span: Some(name.span),
                value: default.filter(|_| !is_function),
                flags: Flags::STATIC.when(is_static) | Flags::ABSTRACT.when(is_open),
                ..Definition::new(kind, name.name)
            },
        );
        annotate(walk, at, declarator, symbol, None);
    }
    at + 1
}

/// A constant is a value of the enclosing enum.
pub(super) fn constant(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(walk.parent(at));
    let symbol = walk.draft.symbol_count().checked_sub(1);
    if let (Some(name), Some(symbol)) = (walk.child(around, "name"), symbol) {
        let of = walk.lower(name);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}
