//! Expressions, and the names in them.

use codecompass_model::{BindingKind, Expr, ExprId, RefShape, ValuePart};

use super::types::{is_type, type_of};
use crate::roles::Role;
use crate::spec::Walk;

/// Library functions whose lambda argument has no `it`: it has a receiver or no parameter.
const FUNCTIONS_WITHOUT_IT: &[&str] = &[
    "apply",
    "run",
    "with",
    "buildString",
    "buildList",
    "buildMap",
    "buildSet",
    "lazy",
    "synchronized",
    "runCatching",
    "runBlocking",
    "runTest",
    "launch",
    "async",
    "coroutineScope",
    "withContext",
    "sequence",
    "flow",
    "thread",
];

/// Library functions that call their last argument with their receiver, or their first argument, as the receiver.
const RECEIVER_SCOPE_FUNCTIONS: &[&str] = &["apply", "run", "with"];

/// Whether a part of a declaration is an expression.
pub(super) fn is_expression(walk: &Walk<'_, '_>, at: usize) -> bool {
    let known = [
        "modifiers",
        "binding_pattern_kind",
        "variable_declaration",
        "multi_variable_declaration",
        "receiver_type",
        "type_constraints",
        "type_parameters",
        "getter",
        "setter",
        "property_delegate",
        "parameter",
        "class_parameter",
        "parameter_modifiers",
        "statements",
        "function_body",
        "function_value_parameters",
        "type_modifiers",
        "class_body",
        "annotation",
        "control_structure_body",
    ];
    let kind = walk.kind(at);
    !is_type(kind) && !known.contains(&kind)
}

/// Returns the previous sibling of a node.
pub(super) fn previous_sibling(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let around = walk.parent(at);
    let last = at.checked_sub(1).filter(|&last| last > around)?;
    std::iter::successors(Some(last), |&one| Some(walk.parent(one))).find(|&one| walk.parent(one) == around)
}

/// Returns the arguments of a call, with the trailing lambda last.
pub(super) fn arguments(walk: &Walk<'_, '_>, at: usize) -> Vec<usize> {
    let mut all = Vec::new();
    let Some(suffix) = walk.child_of(at, "call_suffix") else { return all };
    for item in walk.items(suffix) {
        match walk.kind(item) {
            "value_arguments" => all.extend(list_arguments(walk, item)),
            "annotated_lambda" => all.extend(walk.child_of(item, "lambda_literal")),
            _ => {}
        }
    }
    all
}

/// Returns the arguments in parentheses. The position of a named argument is unknown, so its value is not extracted.
pub(super) fn list_arguments(walk: &Walk<'_, '_>, list: usize) -> Vec<usize> {
    let one = |item: usize| if name_of_argument(walk, item).is_some() { Some(item) } else { walk.items(item).last() };
    walk.items(list).filter_map(one).collect()
}

fn name_of_argument(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let mut items = walk.items(at);
    let name = items.next().filter(|&name| walk.kind(name) == "simple_identifier")?;
    items.next().map(|_| name)
}

/// The name of an argument is a label.
pub(super) fn argument(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = name_of_argument(walk, at) {
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.mark_label(walk.tree.node(name).span());
    }
    at + 1
}

/// `object : A(), B() { … }`: the grammar parses the body as a lambda after a call.
pub(super) fn object_call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(object) = object_called(walk, at)
        && let Some(of) = base_of(walk, object)
    {
        walk.unnamed.push((walk.tree.next(at), of));
    }
    at + 1
}

fn object_called(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    walk.items(at).next().filter(|&object| walk.kind(object) == "object_literal")
}

/// Returns the base type of an anonymous object.
pub(super) fn base_of(walk: &Walk<'_, '_>, object: usize) -> Option<usize> {
    let of = walk.child_of(object, "delegation_specifier").and_then(|of| walk.items(of).next())?;
    if walk.kind(of) == "user_type" { Some(of) } else { walk.child_of(of, "user_type") }
}

pub(super) fn object(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(of) = base_of(walk, at) else { return walk.other() };
    let of = walk.lower(of);
    walk.draft.expr(Expr::New(of))
}

/// `{ a, b -> … }`: a closure. Its only parameter is `it` unless it declares others.
pub(super) fn lambda(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let call = walk.parent(walk.parent(walk.parent(at)));
    if walk.kind(call) == "call_expression" && object_called(walk, call).is_some() {
        walk.scope(at);
        return at + 1;
    }
    let wanted = walk.expected_for(at).or_else(|| declared_type(walk, at));
    let called = last_name(walk, call);
    let is_trailing = walk.kind(walk.parent(at)) == "annotated_lambda";
    let on = on_receiver(walk, call, called).filter(|_| is_trailing);
    walk.scope(at);
    let list: Vec<usize> = match walk.child_of(at, "lambda_parameters") {
        Some(list) => walk.items(list).filter(|&one| walk.kind(one).ends_with("variable_declaration")).collect(),
        None => Vec::new(),
    };
    let body = walk.child_of(at, "statements").and_then(|body| walk.items(body).last());
    walk.begin_closure(at, list.len() as u32, body);
    let start = walk.tree.node(at).start;
    walk.bind_implicit_receiver(start, at, on, wanted);
    if walk.child_of(at, "lambda_parameters").is_none()
        && !called.is_some_and(|name| FUNCTIONS_WITHOUT_IT.contains(&name))
    {
        let binding = walk.draft.bind_implicit("it", start, None, at);
        annotate_binding(walk, binding, wanted, 0);
    }
    for (n, one) in list.into_iter().enumerate() {
        let names: Vec<usize> =
            if walk.kind(one) == "variable_declaration" { vec![one] } else { walk.items(one).collect() };
        let part = if walk.kind(one) == "variable_declaration" { ValuePart::Whole } else { ValuePart::Inside };
        for one in names {
            let Some(name) = walk.child_of(one, "simple_identifier") else { continue };
            let annotation = type_of(walk, one);
            let binding = walk.bind_as(name, BindingKind::Param, annotation, part, at);
            annotate_binding(walk, binding, wanted, n);
        }
    }
    at + 1
}

fn annotate_binding(walk: &mut Walk<'_, '_>, binding: Option<u32>, wanted: Option<ExprId>, at: usize) {
    if let (Some(binding), Some(of)) = (binding, wanted) {
        let value = walk.draft.expr(Expr::ParamOf { of, at: at as u32 });
        walk.draft.set_binding_value(binding, value);
    }
}

/// Returns the declared type of the property that a function is assigned to.
fn declared_type(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    let around = walk.parent(at);
    let of = if walk.kind(around) == "property_declaration" {
        walk.child_of(around, "variable_declaration")?
    } else {
        return None;
    };
    let of = walk.items(of).find(|&item| is_type(walk.kind(item)))?;
    let of = walk.lower(of);
    Some(walk.draft.expr(Expr::Cast(of)))
}

/// Returns the name that a call calls.
fn last_name<'t>(walk: &Walk<'_, 't>, call: usize) -> Option<&'t str> {
    if walk.kind(call) != "call_expression" {
        return None;
    }
    let callee = walk.items(call).next()?;
    walk.name_node(callee).map(|name| walk.text(name))
}

/// Returns the receiver with which a library function calls its last argument.
fn on_receiver(walk: &mut Walk<'_, '_>, call: usize, called: Option<&str>) -> Option<ExprId> {
    let called = called.filter(|name| RECEIVER_SCOPE_FUNCTIONS.contains(name))?;
    let callee = walk.items(call).next()?;
    let of = match walk.kind(callee) {
        "navigation_expression" => walk.items(callee).next()?,
        _ if called == "with" => *arguments(walk, call).first()?,
        _ => return None,
    };
    Some(walk.lower(of))
}

/// `fun(a: Int): Int { … }`.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let list = walk.child_of(at, "function_value_parameters");
    let params = list.map_or(0, |list| walk.items(list).filter(|&one| walk.kind(one) == "parameter").count());
    let value = walk.child_of(at, "function_body").and_then(|body| walk.items(body).next());
    let value = value.filter(|&value| is_expression(walk, value));
    walk.scope(at);
    walk.begin_closure(at, params as u32, value);
    at + 1
}

/// The name after a dot.
pub(super) fn refer_after_dot(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let (Some(name), Some(of)) = (walk.child_of(at, "simple_identifier"), previous_sibling(walk, at)) {
        walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
        walk.set_qualifier(name, of);
    }
    at + 1
}

/// `.name` with its receiver.
pub(super) fn suffix(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (Some(name), Some(of)) = (walk.child_of(at, "simple_identifier"), previous_sibling(walk, at)) else {
        return walk.other();
    };
    let of = walk.lower(of);
    let name = walk.draft.name(walk.tree.node(name).span());
    walk.draft.expr(Expr::Member { of, name })
}

/// `a[b]` is `a.get(b)`.
pub(super) fn index(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(of) = walk.items(at).next() else { return walk.other() };
    let of = walk.lower(of);
    let args = walk.child_of(at, "indexing_suffix").map_or_else(Box::default, |list| walk.lower_all(list));
    call_of(walk, of, "get", args)
}

fn call_of(walk: &mut Walk<'_, '_>, of: ExprId, name: &str, args: Box<[ExprId]>) -> ExprId {
    let name = walk.draft.word(name);
    let callee = walk.draft.expr(Expr::Member { of, name });
    walk.draft.expr(Expr::Call { callee, args })
}

/// `a to b` calls a member of its left operand.
pub(super) fn infix(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let items: Vec<usize> = walk.items(at).collect();
    let &[of, name, argument] = items.as_slice() else { return walk.other() };
    let (of, argument) = (walk.lower(of), walk.lower(argument));
    let name = walk.text(name);
    call_of(walk, of, name, Box::new([argument]))
}

pub(super) fn refer_infix(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let items: Vec<usize> = walk.items(at).collect();
    if let &[of, name, _] = items.as_slice()
        && walk.kind(name) == "simple_identifier"
    {
        walk.roles.mark(Some(name), Role::Refers(RefShape::MemberCall));
        walk.set_qualifier(name, of);
        walk.call(at, Some(name));
    }
    at + 1
}

/// `A::b` and `::b`: a function that is not called. `A::class` is a library value.
pub(super) fn callable(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (of, name) = (walk.child_of(at, "type_identifier"), walk.child_of(at, "simple_identifier"));
    match (of, name) {
        (Some(of), Some(name)) => {
            let of = walk.name_expr(of);
            let name = walk.draft.name(walk.tree.node(name).span());
            walk.draft.expr(Expr::Member { of, name })
        }
        (None, Some(name)) => walk.name_expr(name),
        _ => walk.other(),
    }
}

pub(super) fn refer_to_callable(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (of, name) = (walk.child_of(at, "type_identifier"), walk.child_of(at, "simple_identifier"));
    if let Some(of) = of {
        // A lower-case name is a value, even where the grammar parses it as a type.
        let is_value = walk.text(of).starts_with(char::is_lowercase);
        walk.roles.mark(Some(of), Role::Refers(if is_value { RefShape::Value } else { RefShape::Type }));
        if let Some(name) = name {
            walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
            walk.set_qualifier(name, of);
        }
    }
    at + 1
}

/// `by f()`: the value that the delegate provides for its property.
pub(super) fn delegate(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(of) = walk.items(at).next() else { return walk.other() };
    let of = walk.lower(of);
    let name = walk.draft.word("value");
    walk.draft.expr(Expr::Member { of, name })
}

/// `this`, and `this@Outer`, which is a value of the outer class.
pub(super) fn this(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    match walk.child_of(at, "type_identifier") {
        Some(name) => {
            let of = walk.name_expr(name);
            walk.draft.expr(Expr::Cast(of))
        }
        None => walk.this_expr(at),
    }
}

pub(super) fn for_loop(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    let value = walk.items(at).find(|&item| is_expression(walk, item));
    let (names, part): (Vec<usize>, ValuePart) = match walk.child_of(at, "multi_variable_declaration") {
        Some(list) => (walk.items(list).collect(), ValuePart::Inside),
        None => (walk.child_of(at, "variable_declaration").into_iter().collect(), ValuePart::Element),
    };
    let from = value.map_or(at, |value| walk.tree.next(value));
    bind_all(walk, names, part, value, from);
    at + 1
}

fn bind_all(walk: &mut Walk<'_, '_>, names: Vec<usize>, part: ValuePart, value: Option<usize>, from: usize) {
    for one in names {
        let Some(name) = walk.child_of(one, "simple_identifier") else { continue };
        let annotation = type_of(walk, one);
        let binding = walk.bind_as(name, BindingKind::Local, annotation, part, from);
        if let (Some(binding), Some(value)) = (binding, value) {
            walk.defer_binding_value(binding, value);
        }
    }
}

pub(super) fn catch(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    if let Some(name) = walk.child_of(at, "simple_identifier") {
        let annotation = type_of(walk, at);
        walk.bind_as(name, BindingKind::Local, annotation, ValuePart::Whole, at);
    }
    at + 1
}

/// `when (val x = …)`: a name visible in all branches.
pub(super) fn subject(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(one) = walk.child_of(at, "variable_declaration") {
        walk.draft.block(walk.tree.next(walk.parent(at)), false);
        let value = walk.items(at).find(|&item| is_expression(walk, item));
        bind_all(walk, vec![one], ValuePart::Whole, value, walk.tree.next(at));
    }
    at + 1
}

pub(super) fn when(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    const MAX_BRANCHES: usize = 16;
    let entries: Vec<usize> = walk.items(at).filter(|&one| walk.kind(one) == "when_entry").take(MAX_BRANCHES).collect();
    let mut all: Vec<ExprId> = entries.into_iter().map(|one| walk.lower(one)).collect();
    all.dedup();
    walk.draft.expr(Expr::Either(all.into()))
}

pub(super) fn long(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let of = walk.draft.name_expr("Long", at);
    walk.draft.expr(Expr::Cast(of))
}
