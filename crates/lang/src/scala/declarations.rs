//! Declarations: classes, objects, functions, values.

use codecompass_model::{BindingKind, Expr, ExprId, Flags, FuncExpr, RefShape, SymbolKind, ValuePart, Visibility};

use super::patterns;
use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// Returns the words of a declaration before its name.
fn words<'t>(walk: &Walk<'_, 't>, at: usize, name: usize) -> &'t str {
    walk.draft.text.get(walk.tree.node(at).start as usize..walk.tree.node(name).start as usize).unwrap_or("")
}

/// The visibility of a declaration with `private[a]`.
fn visibility(walk: &Walk<'_, '_>, at: usize) -> Option<Visibility> {
    let words = walk.child_of(at, "modifiers").map_or("", |words| walk.text(words));
    let is_for_some = words.contains("private[") && !words.contains("private[this]");
    is_for_some.then_some(Visibility::Internal)
}

/// A class, trait or enum. Its header is a block for its type parameters and constructor parameters.
pub(super) fn class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let kind = match walk.kind(at) {
        "trait_definition" => SymbolKind::Trait,
        "enum_definition" => SymbolKind::Enum,
        _ => SymbolKind::Class,
    };
    let (end, body) = (walk.tree.next(at), walk.child(at, "body"));
    let symbol =
        walk.define(at, Definition { body, end, visibility: visibility(walk, at), ..Definition::new(kind, name) });
    walk.draft.block(end, false);
    if let Some(list) = walk.child(at, "type_parameters") {
        type_params(walk, list);
    }
    if let Some(symbol) = symbol.filter(|_| kind == SymbolKind::Class) {
        let lists: Vec<usize> = walk.children_in(at, "class_parameters").collect();
        let of = function_type(walk, &lists, None);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// An object or a package object.
pub(super) fn object(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let (end, body) = (walk.tree.next(at), walk.child(at, "body"));
    walk.define(
        at,
        Definition { body, end, visibility: visibility(walk, at), ..Definition::new(SymbolKind::Module, name) },
    );
    at + 1
}

/// A case of an enum: a value of it, or a constructor of one.
pub(super) fn case(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let around = std::iter::successors(Some(at), |&one| Some(walk.parent(one))).take(4);
    let around =
        around.into_iter().find(|&one| walk.kind(one) == "enum_definition").and_then(|of| walk.child(of, "name"));
    let of = around.map(|of| walk.name_expr(of));
    let end = walk.tree.next(at);
    let symbol = walk.define(at, Definition { annotation: of, end, ..Definition::new(SymbolKind::Variant, name) });
    walk.draft.block(end, false);
    let lists: Vec<usize> = walk.children_in(at, "class_parameters").collect();
    if let (Some(symbol), false) = (symbol, lists.is_empty()) {
        let of = function_type(walk, &lists, of);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// Binds the type parameters in a list. A bound follows its name.
fn type_params(walk: &mut Walk<'_, '_>, list: usize) {
    let items: Vec<usize> = walk.items(list).collect();
    let mut last = None;
    for item in items {
        let name = match walk.kind(item) {
            "identifier" => Some(item),
            "covariant_type_parameter" | "contravariant_type_parameter" => walk.child(item, "name"),
            _ => None,
        };
        if let Some(name) = name.filter(|&name| walk.kind(name) == "identifier") {
            last = walk.bind_as(name, BindingKind::TypeParam, None, ValuePart::Whole, list);
        }
        let bound = if walk.kind(item) == "upper_bound" { Some(item) } else { walk.child_of(item, "upper_bound") };
        let bound = bound.and_then(|bound| walk.child(bound, "type"));
        if let (Some(of), Some(bound)) = (last, bound) {
            let bound = walk.lower(bound);
            walk.draft.set_bound(of, bound);
        }
    }
}

/// Whether the compiler fills in a parameter list.
fn is_implicit(walk: &Walk<'_, '_>, list: usize) -> bool {
    let text = walk.text(list).trim_start_matches('(').trim_start();
    text.starts_with("implicit ") || text.starts_with("using ")
}

/// Returns the type of a function with several parameter lists: the function of the first list returns a function of
/// the second.
fn function_type(walk: &mut Walk<'_, '_>, lists: &[usize], result: Option<ExprId>) -> ExprId {
    let lists: Vec<usize> = lists.iter().copied().filter(|&list| !is_implicit(walk, list)).collect();
    let mut result = result;
    for list in lists.iter().rev().take(8) {
        result = Some(param_list_type(walk, Some(*list), result));
    }
    result.filter(|_| !lists.is_empty()).unwrap_or_else(|| param_list_type(walk, None, result))
}

fn param_list_type(walk: &mut Walk<'_, '_>, list: Option<usize>, result: Option<ExprId>) -> ExprId {
    let items: Vec<usize> = list.map_or_else(Vec::new, |list| walk.items(list).collect());
    let results = result.into_iter().collect();
    let mut of = FuncExpr { results, ..FuncExpr::default() };
    for item in items {
        if !matches!(walk.kind(item), "parameter" | "class_parameter") {
            continue;
        }
        let declared = walk.child(item, "type");
        of.variadic = declared.is_some_and(|declared| walk.kind(declared) == "repeated_parameter_type");
        of.optional += u32::from(walk.child(item, "default_value").is_some());
        let declared = match declared {
            Some(declared) => walk.lower(declared),
            None => walk.other(),
        };
        of.params.push(declared);
    }
    walk.draft.expr(Expr::Func(Box::new(of)))
}

/// A parameter of a class: a field in a case class or with `val`, else a binding visible in the body.
pub(super) fn class_parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let annotation = walk.child(at, "type").map(|of| walk.lower(of));
    let class = walk.parent(walk.parent(at));
    let is_first = walk.child(class, "class_parameters") == Some(walk.parent(at));
    let is_case = match (walk.kind(class), walk.child(class, "name")) {
        ("full_enum_case", _) => true,
        ("class_definition", Some(name)) => words(walk, class, name).split_whitespace().any(|word| word == "case"),
        _ => false,
    };
    let is_said = words(walk, at, name).split_whitespace().any(|word| matches!(word, "val" | "var"));
    if is_said || is_case && is_first {
        walk.define(
            at,
            Definition { annotation, visibility: visibility(walk, at), ..Definition::new(SymbolKind::Field, name) },
        );
    } else {
        walk.bind_as(name, BindingKind::Param, annotation, ValuePart::Whole, at);
    }
    at + 1
}

/// The base types of a class.
pub(super) fn bases(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let all: Vec<usize> = walk.children_in(at, "type").filter(|&of| walk.kind(of) != "arguments").collect();
    for (n, of) in all.into_iter().enumerate() {
        let shape = if n == 0 { RefShape::Extends } else { RefShape::Implements };
        add_base(walk, of, Some(shape));
    }
    at + 1
}

fn add_base(walk: &mut Walk<'_, '_>, of: usize, shape: Option<RefShape>) {
    let name = walk.name_node(of);
    if let Some(shape) = shape {
        walk.roles.mark(name, Role::Refers(shape));
    }
    let base = walk.lower(of);
    walk.draft.add_base(base);
}

/// `self: A with B =>`: another name for `this`, which has the members of these types.
pub(super) fn self_type(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let items: Vec<usize> = walk.items(at).collect();
    for item in items {
        match walk.kind(item) {
            "identifier" if !matches!(walk.text(item), "this" | "_") => {
                let binding = walk.bind_as(item, BindingKind::Local, None, ValuePart::Whole, at);
                if let Some(binding) = binding {
                    let this = walk.draft.expr(Expr::This);
                    walk.draft.set_binding_value(binding, this);
                }
            }
            "compound_type" => {
                let parts: Vec<usize> = walk.items(item).collect();
                parts.into_iter().for_each(|part| add_base(walk, part, None));
            }
            "type_identifier" | "generic_type" | "stable_type_identifier" => add_base(walk, item, None),
            _ => {}
        }
    }
    at + 1
}

/// The body of an anonymous class.
pub(super) fn anonymous_class(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let of = walk.items(walk.parent(at)).next().filter(|&of| of != at);
    walk.scope(at);
    if let Some(of) = of {
        walk.unnamed.push((walk.tree.next(at), of));
        walk.bind_implicit_object(at, of);
    }
    at + 1
}

/// Whether a declaration is in a type or at file level.
fn is_member(walk: &Walk<'_, '_>, at: usize) -> bool {
    let around = walk.parent(at);
    around == 0 || matches!(walk.kind(around), "template_body" | "with_template_body" | "enum_body")
}

/// A function, a constructor named `this`, or an extension method.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let around = walk.parent(at);
    let in_type =
        is_member(walk, at) && around != 0 && walk.draft.enclosing().is_none_or(|of| of.kind != SymbolKind::Namespace);
    let owner = if walk.kind(around) == "extension_definition" { extended(walk, around) } else { None };
    let kind = match walk.text(name) {
        "this" => SymbolKind::Constructor,
        _ if in_type || owner.is_some() => SymbolKind::Method,
        _ => SymbolKind::Fn,
    };
    let (end, body) = (walk.tree.next(at), walk.child(at, "body"));
    let flags = Flags::ABSTRACT.when(body.is_none());
    let symbol = walk
        .define(at, Definition { body, end, flags, visibility: visibility(walk, at), ..Definition::new(kind, name) });
    walk.open_function(at, symbol);
    let lists: Vec<usize> = walk.children_in(at, "parameters").collect();
    for &list in lists.iter().filter(|&&list| walk.kind(list) == "type_parameters").collect::<Vec<_>>() {
        type_params(walk, list);
    }
    let lists: Vec<usize> = lists.into_iter().filter(|&list| walk.kind(list) == "parameters").collect();
    let result = walk.child(at, "return_type").map(|of| walk.lower(of));
    let owner = owner.map(|of| walk.lower(of));
    if let Some(symbol) = symbol {
        let of = function_type(walk, &lists, result);
        walk.draft.annotate_symbol(symbol, of, owner);
        if let Some(body) = body.filter(|_| result.is_none()) {
            walk.defer_symbol_value(symbol, body);
        }
    }
    at + 1
}

/// Returns the type that an extension extends.
fn extended(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let one = walk.child_of(walk.child(at, "parameters")?, "parameter")?;
    walk.child(one, "type")
}

/// `extension (x: T) def …`: a block in which the receiver has a name.
pub(super) fn extension(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.draft.block(walk.tree.next(at), false);
    if let Some(list) = walk.child(at, "type_parameters") {
        type_params(walk, list);
    }
    at + 1
}

pub(super) fn parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "name") {
        let annotation = walk.child(at, "type").map(|of| walk.lower(of));
        walk.bind_as(name, BindingKind::Param, annotation, ValuePart::Whole, at);
    }
    at + 1
}

/// `val` and `var`: symbols in a type and at file level, else local bindings.
pub(super) fn value(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let pattern = walk.child(at, "pattern");
    let value = walk.child(at, "value");
    let of = walk.child(at, "type").map(|of| walk.lower(of));
    if let Some(pattern) = pattern.filter(|_| !is_member(walk, at)) {
        patterns::bind(walk, pattern, value, of, ValuePart::Whole, walk.tree.next(at));
        return at + 1;
    }
    let names: Vec<(usize, bool)> = match pattern {
        // The name of a value may start with any letter.
        Some(name) if walk.kind(name).ends_with("identifier") => vec![(name, true)],
        Some(pattern) => patterns::names(walk, pattern).iter().map(|bound| (bound.name, bound.is_whole)).collect(),
        None => walk.children_in(at, "name").map(|name| (name, true)).collect(),
    };
    let around = walk.draft.enclosing().map(|around| around.kind);
    let kind = if matches!(around, None | Some(SymbolKind::Namespace)) { SymbolKind::Var } else { SymbolKind::Field };
    // The code that initialises one value belongs to it. The members of an anonymous class belong to the type around it.
    let is_instance = value.is_some_and(|value| walk.kind(value) == "instance_expression");
    let end = if names.len() == 1 && !is_instance { walk.tree.next(at) } else { 0 };
    for (name, is_whole) in names {
        let annotation = of.filter(|_| is_whole);
        let value = value.filter(|_| is_whole);
        let visibility = visibility(walk, at);
        walk.define(at, Definition { annotation, value, visibility, end, ..Definition::new(kind, name) });
    }
    at + 1
}

/// `type A = B`.
pub(super) fn alias(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let end = walk.tree.next(at);
    let symbol = walk.define(at, Definition { flags: Flags::ALIAS, end, ..Definition::new(SymbolKind::Type, name) });
    walk.draft.block(end, false);
    if let Some(list) = walk.child(at, "type_parameters") {
        type_params(walk, list);
    }
    if let (Some(symbol), Some(of)) = (symbol, walk.child(at, "type")) {
        let of = walk.lower(of);
        walk.draft.annotate_symbol(symbol, of, None);
    }
    at + 1
}

/// `given a: A = …`, `given A with { … }`: a value of a type, with or without a name.
pub(super) fn given(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let of = walk.child(at, "return_type");
    let annotation = of.map(|of| walk.lower(of));
    if let Some(name) = walk.child(at, "name") {
        let (end, body) = (walk.tree.next(at), walk.child(at, "body"));
        walk.define(at, Definition { annotation, body, end, ..Definition::new(SymbolKind::Var, name) });
    }
    walk.draft.block(walk.tree.next(at), false);
    at + 1
}
