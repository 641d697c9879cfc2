//! Language-specific hooks of C++: namespaces, templates and `using` declarations.

use codecompass_model::{BindingKind, Expr, Flags, Import, ImportForm, SymbolKind, ValuePart, Visibility};

use super::functions::{bind_parts, declare, declared_name, define_function, is_auto, is_hidden};
use super::paths::{leaf_of, namespaces};
use crate::c::declarators::{base_type, read_declarator};
use crate::c::hooks::macro_text_without;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::spec::{Definition, Walk};
use crate::text;

/// Maximum nesting depth of templates.
const MAX_DEPTH: usize = 8;

/// A namespace: a symbol for each part of its name. An unnamed namespace hides its contents from other files; an inline
/// namespace is transparent.
pub(super) fn namespace(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let end = walk.tree.next(at);
    let Some(name) = walk.child(at, "name") else {
        walk.sections.push((end, "namespace"));
        return at + 1;
    };
    let is_inline = walk.text(at).starts_with("inline");
    let body = walk.child(at, "body");
    for part in namespaces(walk, name) {
        if is_inline {
            walk.roles.mark(Some(part), Role::Declares);
            walk.draft.mark_label(walk.tree.node(part).span());
        } else {
            walk.define(at, Definition { body, end, ..Definition::new(SymbolKind::Namespace, part) });
        }
    }
    at + 1
}

/// `namespace a = b::c;`.
pub(super) fn namespace_alias(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let of = walk.items(at).find(|&item| item != name);
    let annotation = of.map(|of| walk.lower(of));
    walk.define(at, Definition { annotation, flags: Flags::ALIAS, ..Definition::new(SymbolKind::Namespace, name) });
    at + 1
}

/// `using a::b;` and `using namespace a;`.
pub(super) fn using(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(path) = walk.items(at).next() else { return at + 1 };
    let glob = walk.text(at)["using".len().min(walk.text(at).len())..].trim_start().starts_with("namespace");
    let whole: String = walk.text(path).split_whitespace().collect();
    let whole = whole.trim_start_matches("::").trim_start_matches("typename");
    let Some(leaf) = leaf_of(walk, path) else { return at + 1 };
    let (module, name) = match whole.rsplit_once("::") {
        _ if glob => (whole, None),
        Some((module, name)) => (module, Some(name.to_owned())),
        None => ("", Some(whole.to_owned())),
    };
    let node = walk.tree.node(at);
    let own = walk.text(leaf);
    walk.draft.symbol(
        NewSymbol {
            kind: SymbolKind::Use,
            name: own,
            segment: if glob { "*" } else { own },
            separator: "::",
            impl_trait: None,
            signature: text::signature(walk.text(at).trim_end_matches(';')),
            visibility_text: None,
            visibility: Some(Visibility::Private),
            span: node.span(),
            outer_start: node.start,
            name_span: walk.tree.node(leaf).span(),
            attributes: &[],
            doc: None,
            annotation: None,
            value: None,
            extras: SymbolExtras::default(),
            is_test: false,
        },
        0,
    );
    walk.draft.import(Import {
        module: module.to_owned(),
        name,
        alias: None,
        glob,
        reexport: false,
        form: ImportForm::Static,
        line: walk.draft.line(node.start),
        symbol: walk.draft.enclosing_index(),
    });
    walk.tree.next(at)
}

/// A template: its parameters belong to the declaration in it.
pub(super) fn template(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.kind(walk.parent(at)) == "template_declaration" {
        return at + 1;
    }
    let Some(inner) = templated_declaration(walk, at) else {
        walk.draft.block(walk.tree.next(at), false);
        bind_parameters(walk, at, at);
        return at + 1;
    };
    match walk.kind(inner) {
        "function_definition" => define_function(walk, at, inner),
        "class_specifier" | "struct_specifier" | "union_specifier" => super::classes::define_class(walk, at, inner),
        "declaration" => declare(walk, at, inner),
        "alias_declaration" => define_alias(walk, at, inner),
        _ => {
            walk.draft.block(walk.tree.next(at), false);
            bind_parameters(walk, at, inner);
        }
    }
    at + 1
}

/// Returns the declaration inside a template.
fn templated_declaration(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let mut at = at;
    for _ in 0..MAX_DEPTH {
        let is_one = |&item: &usize| !matches!(walk.kind(item), "template_parameter_list" | "");
        at = walk.items(at).filter(is_one).last()?;
        if walk.kind(at) != "template_declaration" {
            return Some(at);
        }
    }
    None
}

/// Binds the parameters of the templates between two nodes.
pub(super) fn bind_parameters(walk: &mut Walk<'_, '_>, outer: usize, inner: usize) {
    let mut at = outer;
    for _ in 0..MAX_DEPTH {
        if at == inner && outer != inner || walk.kind(at) != "template_declaration" {
            break;
        }
        let list: Vec<usize> = walk.child(at, "parameters").map_or_else(Vec::new, |list| walk.items(list).collect());
        for item in list {
            let name = match walk.kind(item) {
                "type_parameter_declaration" | "variadic_type_parameter_declaration" => {
                    walk.child_of(item, "type_identifier")
                }
                "optional_type_parameter_declaration" => walk.child(item, "name"),
                "template_template_parameter_declaration" => {
                    let last = walk.items(item).last();
                    last.and_then(|last| walk.child_of(last, "type_identifier"))
                }
                // A non-type parameter is bound like any parameter.
                _ => None,
            };
            if let Some(name) = name {
                walk.bind_as(name, BindingKind::TypeParam, None, ValuePart::Whole, outer);
            }
        }
        let Some(next) = walk.child_of(at, "template_declaration") else { break };
        at = next;
    }
}

/// `using a = b;`.
pub(super) fn alias(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.kind(walk.parent(at)) != "template_declaration" {
        define_alias(walk, at, at);
    }
    at + 1
}

fn define_alias(walk: &mut Walk<'_, '_>, outer: usize, at: usize) {
    let Some(name) = walk.child(at, "name") else { return };
    let end = if outer == at { 0 } else { walk.tree.next(outer) };
    let flags = Flags::ALIAS | Flags::FILE_ONLY.when(is_hidden(walk));
    let symbol = walk.define(outer, Definition { flags, end, ..Definition::new(SymbolKind::Type, name) });
    if outer != at {
        walk.draft.block(end, false);
        bind_parameters(walk, outer, at);
    }
    let of = walk.child(at, "type").map(|of| walk.lower(of));
    if let (Some(symbol), Some(of)) = (symbol, of) {
        walk.draft.annotate_symbol(symbol, of, None);
    }
}

/// A concept is a name for requirements on types.
pub(super) fn concept(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "name") {
        walk.define(at, Definition { flags: Flags::ALIAS, ..Definition::new(SymbolKind::Type, name) });
    }
    at + 1
}

/// `for (auto& x : all)`.
pub(super) fn range_loop(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(declarator), Some(right)) = (walk.child(at, "declarator"), walk.child(at, "right")) else {
        return at + 1;
    };
    let end = walk.tree.next(right);
    let list = match walk.kind(declarator) {
        "structured_binding_declarator" => Some(declarator),
        _ => walk.child_of(declarator, "structured_binding_declarator"),
    };
    if let Some(list) = list {
        let of = walk.lower(right);
        let of = walk.draft.expr(Expr::Part { of, part: ValuePart::Element });
        bind_parts(walk, list, Some(of), end);
        return at + 1;
    }
    let Some(name) = declared_name(walk, declarator) else { return at + 1 };
    let annotation = if is_auto(walk, at) {
        None
    } else {
        let base = base_type(walk, at);
        Some(read_declarator(walk, base, declarator).of_type)
    };
    if let Some(binding) = walk.bind_as(name.name, BindingKind::Local, annotation, ValuePart::Element, end) {
        walk.defer_binding_value(binding, right);
    }
    at + 1
}

/// `[x = y]`.
pub(super) fn capture(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(name), Some(value)) = (walk.child(at, "left"), walk.child(at, "right")) else { return at + 1 };
    if let Some(binding) = walk.bind_as(name, BindingKind::Local, None, ValuePart::Whole, walk.tree.next(at)) {
        walk.defer_binding_value(binding, value);
    }
    at + 1
}

/// The replacement text of a macro.
pub(super) fn macro_text(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    macro_text_without(walk, at, KEYWORDS)
}

/// Keywords of C++ that are not keywords of C.
pub(super) const KEYWORDS: &[&str] = &[
    "__VA_ARGS__",
    "auto",
    "bool",
    "catch",
    "class",
    "const_cast",
    "constexpr",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "false",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "nullptr",
    "operator",
    "override",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "static_assert",
    "static_cast",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
];
