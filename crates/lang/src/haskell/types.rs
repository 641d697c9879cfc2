//! Types, classes and instances.

use codecompass_model::{Flags, RefShape, SymbolKind};

use super::modules::visibility;
use super::patterns::head;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::spec::{Definition, Walk};
use crate::text;

/// Lower-case names in a type are type variables and refer to nothing else; operators in a type are types.
pub(super) fn type_variables(walk: &mut Walk<'_, '_>, at: usize) {
    for inner in at..walk.tree.next(at) {
        match walk.kind(inner) {
            "variable" if walk.kind(walk.parent(inner)) != "field_name" && walk.roles.get(inner) == Role::Unset => {
                walk.roles.mark(Some(inner), Role::Declares);
                walk.draft.mark_label(walk.tree.node(inner).span());
            }
            "operator" | "constructor_operator" => walk.roles.mark(Some(inner), Role::Refers(RefShape::Type)),
            _ => {}
        }
    }
}

/// A type application among values.
pub(super) fn type_application(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    type_variables(walk, at);
    at + 1
}

/// Returns the name that a type declaration declares.
fn declared_name(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let infix = |at: usize| walk.child(walk.child_of(at, "infix")?, "operator").and_then(|of| head(walk, of));
    let name = walk.child(at, "name").filter(|&name| walk.kind(name) != "qualified").and_then(|name| head(walk, name));
    let parens = || walk.child_of(at, "parens");
    name.or_else(|| infix(at))
        .or_else(|| walk.child(parens()?, "name").and_then(|name| head(walk, name)))
        .or_else(|| infix(parens()?))
}

/// A type: `data`, `newtype`, `type`, a family.
pub(super) fn declare(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_instance = walk.kind(walk.parent(at)) == "data_instance";
    if let Some(name) = declared_name(walk, at).filter(|_| !is_instance) {
        let kind = match walk.kind(at) {
            "data_type" => {
                let all = walk.child(at, "constructors").map_or(0, |list| walk.items(list).take(2).count());
                if all > 1 { SymbolKind::Enum } else { SymbolKind::Struct }
            }
            "newtype" => SymbolKind::Struct,
            _ => SymbolKind::Type,
        };
        let around = walk.draft.enclosing().map(|around| around.name.clone());
        let visibility = visibility(walk, walk.text(name), around.as_deref());
        let body = ["constructors", "constructor", "closed_family"].into_iter().find_map(|field| walk.child(at, field));
        let flags = Flags::ALIAS.when(walk.kind(at) == "type_synonym");
        let end = walk.tree.next(at);
        walk.define(at, Definition { body, flags, visibility, end, ..Definition::new(kind, name) });
    }
    type_variables(walk, at);
    at + 1
}

/// Returns the name of the type that encloses a constructor or a field.
fn enclosing_type_name(walk: &Walk<'_, '_>) -> Option<String> {
    let around = walk.draft.enclosing()?;
    match around.kind {
        SymbolKind::Variant => around.parent.and_then(|at| walk.draft.symbol_at(at)).map(|of| of.name.clone()),
        _ => Some(around.name.clone()),
    }
}

/// A constructor of a type.
pub(super) fn constructor(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let of = walk.child(at, "constructor");
    let name = match of {
        Some(of) if walk.kind(of) == "infix" => walk.child(of, "operator"),
        Some(of) => walk.child(of, "name"),
        None => walk.child(at, "name"),
    };
    let several = walk.child(at, "names").map_or_else(Vec::new, |list| walk.items(list).collect());
    let names: Vec<usize> = name.into_iter().chain(several).filter_map(|name| head(walk, name)).collect();
    for (n, name) in names.into_iter().enumerate() {
        let around = enclosing_type_name(walk);
        let visibility = visibility(walk, walk.text(name), around.as_deref());
        let end = if n == 0 { walk.tree.next(at) } else { 0 };
        walk.roles.mark(Some(name), Role::Declares);
        walk.define(at, Definition { visibility, end, ..Definition::new(SymbolKind::Variant, name) });
    }
    at + 1
}

/// The fields of a constructor.
pub(super) fn field(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.children_in(at, "name").filter_map(|name| head(walk, name)).collect();
    for name in names {
        let around = enclosing_type_name(walk);
        let visibility = visibility(walk, walk.text(name), around.as_deref());
        walk.define(at, Definition { visibility, ..Definition::new(SymbolKind::Field, name) });
    }
    at + 1
}

/// A class: its signatures are methods.
pub(super) fn class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let body = walk.child(at, "declarations");
    if let Some(name) = declared_name(walk, at) {
        let visibility = visibility(walk, walk.text(name), None);
        let end = walk.tree.next(at);
        walk.define(at, Definition { body, visibility, end, ..Definition::new(SymbolKind::Trait, name) });
    }
    heads(walk, at, body);
    at + 1
}

/// The part before the body of a class or an instance.
fn heads(walk: &mut Walk<'_, '_>, at: usize, body: Option<usize>) {
    let heads: Vec<usize> = walk.items(at).filter(|&item| Some(item) != body).collect();
    for head in heads {
        type_variables(walk, head);
    }
}

/// `instance C T`: a block whose functions belong to the type and implement the class.
pub(super) fn instance(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let body = walk.child(at, "declarations");
    let class = walk.child(at, "name");
    let types = walk.child(at, "patterns");
    let first = types.and_then(|types| (types..walk.tree.next(types)).find(|&inner| walk.kind(inner) == "name"));
    let class_name = class.and_then(|class| head(walk, class));
    walk.roles.mark(class_name, Role::Refers(RefShape::Implements));
    if let Some(name_at) = first.or(class_name) {
        // A type and a constructor may share their name: here the name is the type.
        let as_type = |walk: &mut Walk<'_, '_>, name: usize| {
            let name = format!("type {}", walk.text(name));
            walk.draft.name_expr(&name, at)
        };
        let owner = first.map(|first| as_type(walk, first));
        let is_plain = class.is_some_and(|class| walk.kind(class) == "name");
        let bases = class_name.filter(|_| is_plain).map(|class| as_type(walk, class)).into_iter().collect();
        let node = walk.tree.node(at);
        let end = body.map_or(node.end, |body| walk.tree.node(body).start);
        let header = walk.draft.text.get(node.start as usize..end as usize).unwrap_or("").trim_end();
        let header = header.strip_suffix("where").unwrap_or(header);
        let class_text = class.map(|class| walk.text(class).to_owned());
        let name = walk.text(name_at);
        walk.draft.symbol(
            NewSymbol {
                kind: SymbolKind::Impl,
                name,
                segment: name,
                separator: ".",
                impl_trait: Some(class_text),
                signature: text::signature(header.trim_end()),
                visibility_text: None,
                visibility: None,
                span: node.span(),
                outer_start: node.start,
                name_span: walk.tree.node(name_at).span(),
                attributes: &[],
                doc: None,
                annotation: None,
                value: None,
                extras: SymbolExtras { owner, bases, header: None, flags: Flags::default() },
                is_test: false,
            },
            walk.tree.next(at),
        );
    }
    heads(walk, at, body);
    at + 1
}

/// `pattern P x = Just x`: another constructor.
pub(super) fn synonym(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let equation = walk.child_of(at, "equation");
    let of = equation.and_then(|equation| walk.child(equation, "synonym"));
    let name = of.and_then(|of| {
        walk.child(of, "function").or(walk.child(of, "operator")).or(walk.child(of, "constructor")).or(Some(of))
    });
    walk.scope(at);
    if let (Some(name), Some(of)) = (name.and_then(|name| head(walk, name)), of) {
        let visibility = visibility(walk, walk.text(name), None);
        walk.define(
            at,
            Definition { visibility, end: walk.tree.next(at), ..Definition::new(SymbolKind::Variant, name) },
        );
        super::patterns::pattern(walk, of, codecompass_model::BindingKind::Param, at);
    }
    at + 1
}
