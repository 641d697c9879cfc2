//! Language-specific hooks for declarations of C#.

use codecompass_model::BindingKind::{Local, Param};
use codecompass_model::{
    Expr, ExprId, Flags, FuncExpr, Import, ImportForm, RefShape, SymbolKind, ValuePart, Visibility,
};

use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::spec::table::Bind;
use crate::spec::{Definition, Find, Walk, bind};
use crate::text;

/// A parameter.
pub(super) const PARAMETER: Bind = bind(Param, Find::Field("name")).of_type(Find::Field("type"));

/// The loop variable of `foreach`.
const ELEMENT: Bind =
    bind(Local, Find::Field("left")).of_type(Find::Field("type")).value(Find::Field("right")).part(ValuePart::Element);

/// A dotted name without white space and type arguments.
fn path(walk: &Walk<'_, '_>, at: usize) -> String {
    let whole: String = walk.text(at).split_whitespace().collect();
    let whole = whole.strip_prefix("global::").unwrap_or(&whole);
    whole.split('<').next().unwrap_or(whole).to_owned()
}

/// `namespace A.B;`: the prefix of all qualified names.
pub(super) fn file_namespace(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "name") {
        let name = path(walk, name);
        walk.draft.set_prefix(name);
    }
    walk.tree.next(at)
}

/// `namespace A.B { … }`.
pub(super) fn namespace(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(whole) = walk.child(at, "name") else { return at + 1 };
    let Some(name) = walk.name_node(whole) else { return at + 1 };
    for part in whole..walk.tree.next(whole) {
        if walk.kind(part) == "identifier" && part != name {
            walk.roles.mark(Some(part), Role::Refers(RefShape::Import));
        }
    }
    let segment = path(walk, whole);
    let body = walk.child(at, "body");
    let end = walk.tree.next(at);
    let visibility = Some(Visibility::Public);
    let new = Definition::new(SymbolKind::Namespace, name);
    walk.define(at, Definition { segment: Some(&segment), body, visibility, end, ..new });
    at + 1
}

/// `using A.B;`, `using static A.B;`, `using X = A.B;`: a symbol and the import.
pub(super) fn using(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let next = walk.tree.next(at);
    let alias = walk.child(at, "name");
    let Some(path_at) = walk.items(at).filter(|&item| Some(item) != alias).last() else { return next };
    let whole = path(walk, path_at);
    let node = walk.tree.node(at);
    let is_global = walk.text(at).starts_with("global");
    let is_static = walk.text(at).split_whitespace().take(3).any(|word| word == "static");
    let (module, name) = match whole.rsplit_once('.') {
        _ if alias.is_none() => (whole.clone(), None),
        Some((module, name)) => (module.to_owned(), Some(name.to_owned())),
        None => (String::new(), Some(whole.clone())),
    };
    let shown = alias.map_or(whole.as_str(), |alias| walk.text(alias));
    walk.draft.symbol(
        NewSymbol {
            kind: SymbolKind::Use,
            name: shown,
            segment: if alias.is_some() { shown } else { "*" },
            separator: ".",
            impl_trait: None,
            signature: text::signature(walk.text(at).trim_end_matches(';')),
            visibility_text: None,
            visibility: Some(Visibility::Private),
            span: node.span(),
            outer_start: node.start,
            name_span: walk.tree.node(alias.unwrap_or(path_at)).span(),
            attributes: &[],
            doc: None,
            annotation: None,
            value: None,
            extras: SymbolExtras::default(),
            is_test: false,
        },
        0,
    );
    let glob = alias.is_none();
    walk.draft.import(Import {
        module,
        name,
        alias: alias.map(|alias| walk.text(alias).to_owned()),
        glob,
        reexport: is_global,
        form: if is_static { ImportForm::Static } else { ImportForm::TypeOnly },
        line: walk.draft.line(node.start),
        symbol: None,
    });
    next
}

/// The primary parameters of a type: properties of a record, local bindings otherwise.
pub(super) fn primary(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(list) = walk.child_of(at, "parameter_list") else { return at + 1 };
    walk.draft.block(walk.tree.next(at), false);
    if walk.kind(at) != "record_declaration" {
        return at + 1;
    }
    let items: Vec<usize> = walk.items(list).filter(|&item| walk.kind(item) == "parameter").collect();
    for item in items {
        let name = walk.child(item, "name");
        let of = walk.child(item, "type");
        let leaf = of.and_then(|of| walk.name_node(of));
        walk.roles.mark(leaf, Role::Refers(RefShape::Type));
        let annotation = of.map(|of| walk.lower(of));
        if let Some(name) = name {
            let visibility = Some(Visibility::Public);
            walk.define(item, Definition { annotation, visibility, ..Definition::new(SymbolKind::Property, name) });
        }
    }
    at + 1
}

/// The base types of a type. By convention, interface names start with `I`.
pub(super) fn bases(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    if walk.kind(around) == "enum_declaration" {
        return at + 1;
    }
    let items: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) != "argument_list").collect();
    for item in items {
        let leaf = walk.name_node(item);
        let name = leaf.map_or("", |leaf| walk.text(leaf));
        let is_interface = name.starts_with('I') && name[1..].starts_with(char::is_uppercase);
        let implements = is_interface && walk.kind(around) != "interface_declaration";
        let shape = if implements { RefShape::Implements } else { RefShape::Extends };
        walk.roles.mark(leaf, Role::Refers(shape));
        let base = walk.lower(item);
        walk.draft.add_base(base);
    }
    at + 1
}

/// `where T : A`: the bound of a type parameter.
pub(super) fn constraints(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child_of(at, "identifier") else { return at + 1 };
    walk.roles.mark(Some(name), Role::Refers(RefShape::Type));
    let found = walk.items(at).filter(|&item| walk.kind(item) == "type_parameter_constraint");
    let bound = found.filter_map(|item| walk.child(item, "type")).next();
    let of = walk.name_expr(name);
    if let (Some(bound), &Expr::Name { seen: codecompass_model::LexicalTarget::Local(binding), .. }) =
        (bound, walk.draft.expr_at(of))
    {
        let bound = walk.lower(bound);
        walk.draft.set_bound(binding, bound);
    }
    at + 1
}

/// A constant is a value of the enclosing enum.
pub(super) fn constant(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let mut around = walk.parent(at);
    while around > 0 && walk.kind(around) != "enum_declaration" {
        around = walk.parent(around);
    }
    if let (Some(name), Some(symbol)) = (walk.child(around, "name"), opened(walk, at)) {
        let of = walk.name_expr(name);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// Returns the symbol that the row of a node has just opened.
fn opened(walk: &Walk<'_, '_>, at: usize) -> Option<u32> {
    let name = walk.tree.node(walk.child(at, "name")?).span();
    let symbol = walk.draft.enclosing_index()?;
    walk.draft.enclosing().filter(|open| open.name_span == name).map(|_| symbol)
}

/// Sets the type of a function, and its receiver type when the first parameter is `this`.
pub(super) fn signature(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(symbol) = opened(walk, at) else { return at + 1 };
    let result = walk.child(at, "returns").or_else(|| walk.child(at, "type"));
    let (of, receiver) = function(walk, at, result);
    walk.draft.annotate_symbol(symbol, of, receiver);
    if receiver.is_some() {
        walk.draft.flag_symbol(symbol, Flags::TAKES_SELF);
    }
    at + 1
}

fn function(walk: &mut Walk<'_, '_>, at: usize, result: Option<usize>) -> (ExprId, Option<ExprId>) {
    let list = walk.child(at, "parameters");
    let items: Vec<usize> =
        list.map_or_else(Vec::new, |list| walk.items(list).filter(|&item| walk.kind(item) == "parameter").collect());
    let mut of = FuncExpr::default();
    let mut receiver = None;
    for item in items {
        let declared = walk.child(item, "type").map(|of| walk.lower(of));
        let is_receiver = |at: usize| walk.kind(at) == "modifier" && walk.text(at) == "this";
        if of.params.is_empty() && receiver.is_none() && walk.items(item).any(is_receiver) {
            receiver = declared;
        } else {
            let declared = declared.unwrap_or_else(|| walk.other());
            of.params.push(declared);
        }
    }
    // `params T[] all` has no node of its own.
    if let Some(rest) = list.and_then(|list| walk.child(list, "type")) {
        of.variadic = true;
        let rest = walk.lower(rest);
        of.params.push(rest);
    }
    of.results = result.map(|result| walk.lower(result)).into_iter().collect();
    (walk.draft.expr(Expr::Func(Box::new(of))), receiver)
}

/// `delegate R D(T t);`: a function type.
pub(super) fn delegate(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.draft.block(walk.tree.next(at), false);
    if let Some(symbol) = opened(walk, at) {
        let (of, _) = function(walk, at, walk.child(at, "type"));
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// An operator: it cannot be referenced by name.
pub(super) fn unnamed_function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.open_function(at, None);
    at + 1
}

/// `T this[int at] { … }`.
pub(super) fn indexer(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child_of(at, "this") else { return at + 1 };
    let annotation = walk.child(at, "type").map(|of| walk.lower(of));
    let body = walk.child(at, "accessors").or_else(|| walk.child(at, "value"));
    let end = walk.tree.next(at);
    walk.define(at, Definition { body, annotation, end, ..Definition::new(SymbolKind::Property, name) });
    walk.scope(at);
    at + 1
}

/// Binds `value` in an accessor that uses it.
pub(super) fn accessor(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(body) = walk.child(at, "body") {
        for inner in body..walk.tree.next(body) {
            let is_value = walk.kind(inner) == "identifier" && walk.text(inner) == "value";
            let around = walk.parent(inner);
            let is_member =
                walk.kind(around) == "member_access_expression" && walk.child(around, "name") == Some(inner);
            if is_value && !is_member {
                walk.roles.mark(Some(inner), Role::Declares);
                walk.draft.mark_label(walk.tree.node(inner).span());
            }
        }
    }
    at + 1
}

/// A field or a local variable.
pub(super) fn declarator(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let group = walk.parent(at);
    let declared = walk.parent(group);
    let of = walk.child(group, "type");
    let value = walk.items(at).last().filter(|&last| last != name && walk.kind(last) != "bracketed_argument_list");
    let annotation = of.map(|of| walk.lower(of));
    if matches!(walk.kind(declared), "field_declaration" | "event_field_declaration") {
        let is_const = |at: usize| walk.kind(at) == "modifier" && walk.text(at) == "const";
        let is_const = walk.items(declared).any(is_const);
        let kind = if is_const { SymbolKind::Const } else { SymbolKind::Field };
        walk.define(declared, Definition { value, annotation, end: walk.tree.next(at), ..Definition::new(kind, name) });
    } else if let Some(binding) = walk.bind_as(name, Local, annotation, ValuePart::Whole, walk.tree.next(at))
        && let Some(value) = value
    {
        walk.defer_binding_value(binding, value);
    }
    at + 1
}

/// A parameter; its default value follows its name.
pub(super) fn parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.child(at, "name");
    let value = walk.items(at).last().filter(|&last| Some(last) != name);
    if let (Some(binding), Some(value)) = (walk.bind_row(at, &PARAMETER), value) {
        walk.defer_binding_value(binding, value);
    }
    at + 1
}

/// `params T[] all`.
pub(super) fn params_array(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let (Some(name), Some(of)) = (walk.child(at, "name"), walk.child(at, "type")) {
        let leaf = walk.name_node(of);
        walk.roles.mark(leaf, Role::Refers(RefShape::Type));
        let of = walk.lower(of);
        walk.bind_as(name, Param, Some(of), ValuePart::Whole, at);
    }
    at + 1
}

pub(super) fn foreach(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.child(at, "left").is_some_and(|left| walk.kind(left) == "identifier") {
        walk.bind_row(at, &ELEMENT);
    }
    at + 1
}

/// `(a, b)` in a pattern.
pub(super) fn names(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.children_in(at, "name").filter(|&name| walk.kind(name) == "identifier").collect();
    for name in names {
        walk.bind_as(name, Local, None, ValuePart::Whole, walk.tree.next(at));
    }
    at + 1
}

/// `from x in xs`.
pub(super) fn from(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.child(at, "name");
    let of = walk.child(at, "type").map(|of| walk.lower(of));
    let value = walk.items(at).last().filter(|&last| Some(last) != name);
    if let Some(name) = name
        && let Some(binding) = walk.bind_as(name, Local, of, ValuePart::Element, walk.tree.next(at))
        && let Some(value) = value
    {
        walk.defer_binding_value(binding, value);
    }
    at + 1
}

/// `let x = …`.
pub(super) fn let_clause(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (first, last) = (walk.items(at).next(), walk.items(at).last());
    if let Some(name) = first.filter(|&name| walk.kind(name) == "identifier" && first != last)
        && let Some(binding) = walk.bind_as(name, Local, None, ValuePart::Whole, walk.tree.next(at))
        && let Some(value) = last
    {
        walk.defer_binding_value(binding, value);
    }
    at + 1
}

/// `join x in …` and `into x`: bindings of unknown type.
pub(super) fn query(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.items(at).find(|&item| walk.kind(item) == "identifier");
    if let Some(name) = name {
        walk.bind_as(name, Local, None, ValuePart::Whole, at);
    }
    at + 1
}
