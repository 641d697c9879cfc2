//! Calls: their arguments, trailing closures, and closure parameters.

use codecompass_model::{BindingKind, Expr, ExprId, RefShape, ValuePart};

use super::hooks::{mark_label, with_label};
use crate::roles::Role;
use crate::spec::Walk;

/// Maximum number of nodes of a closure searched for `$0` and `$1`.
const MAX_CLOSURE_NODES: usize = 300;

/// Maximum number of preceding arguments of an argument whose expected type is inferred.
const MAX_PRECEDING_ARGS: usize = 8;

/// A call: its callee and its arguments.
struct Call {
    callee: usize,
    args: Vec<usize>,
}

/// Splits a call. A trailing closure is one more argument.
fn parse_call(walk: &Walk<'_, '_>, at: usize) -> Option<Call> {
    let suffix = walk.child_of(at, "call_suffix")?;
    let callee = walk.items(at).next().filter(|&callee| callee != suffix)?;
    let mut args = arguments(walk, suffix);
    if walk.child_of(suffix, "value_arguments").is_none()
        && let Some(inner) = inner_call(walk, callee)
    {
        let before = inner.args.into_iter();
        args = before.chain(args).collect();
        return Some(Call { callee: inner.callee, args });
    }
    Some(Call { callee, args })
}

/// Returns a call in parentheses that a trailing closure may follow.
fn inner_call(walk: &Walk<'_, '_>, at: usize) -> Option<Call> {
    let suffix = walk.child_of(at, "call_suffix").filter(|_| walk.kind(at) == "call_expression")?;
    let list = walk.child_of(suffix, "value_arguments").filter(|&list| walk.text(list).starts_with('('))?;
    let has_closure = walk.child_of(suffix, "lambda_literal").is_some();
    let callee = walk.items(at).next().filter(|&callee| callee != suffix && !has_closure)?;
    Some(Call { callee, args: values(walk, list) })
}

/// Whether a call is the first part of a call with a trailing closure.
fn is_inner(walk: &Walk<'_, '_>, at: usize) -> bool {
    let around = walk.parent(at);
    walk.kind(around) == "call_expression"
        && walk.items(around).next() == Some(at)
        && walk.child_of(around, "call_suffix").is_some_and(|suffix| walk.child_of(suffix, "value_arguments").is_none())
        && inner_call(walk, at).is_some()
}

fn arguments(walk: &Walk<'_, '_>, suffix: usize) -> Vec<usize> {
    let list = walk.child_of(suffix, "value_arguments").map_or_else(Vec::new, |list| values(walk, list));
    let closures = walk.items(suffix).filter(|&item| walk.kind(item) == "lambda_literal");
    list.into_iter().chain(closures).collect()
}

fn values(walk: &Walk<'_, '_>, list: usize) -> Vec<usize> {
    walk.items(list).map(|item| walk.child(item, "value").unwrap_or(item)).collect()
}

/// Whether a call is written with square brackets.
fn is_index(walk: &Walk<'_, '_>, at: usize) -> bool {
    let list = walk.child_of(at, "call_suffix").and_then(|suffix| walk.child_of(suffix, "value_arguments"));
    list.is_some_and(|list| walk.text(list).starts_with('['))
}

/// Returns the name after the dot.
fn suffix_of(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let suffix = walk.child_of(at, "navigation_suffix").and_then(|suffix| walk.child(suffix, "suffix"))?;
    Some(suffix).filter(|&name| walk.kind(name) == "simple_identifier")
}

/// Sets the reference shape of the called name.
pub(super) fn call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if is_index(walk, at) || is_inner(walk, at) {
        return at + 1;
    }
    let Some(Call { callee, .. }) = parse_call(walk, at) else { return at + 1 };
    let (name, alone) = match walk.kind(callee) {
        "simple_identifier" if walk.text(callee) == "defer" => {
            mark_label(walk, Some(callee));
            return at + 1;
        }
        "simple_identifier" => (Some(callee), RefShape::Call),
        "navigation_expression" => {
            let is_own = walk.child(callee, "target").is_some_and(|of| walk.kind(of) == "self_expression");
            (suffix_of(walk, callee), if is_own { RefShape::SelfCall } else { RefShape::MemberCall })
        }
        "prefix_expression" => {
            let target = walk.child(callee, "target").filter(|_| walk.text(callee).starts_with('.'));
            let name = target.and_then(|of| match walk.kind(of) {
                "simple_identifier" => Some(of),
                _ => suffix_of(walk, of),
            });
            (name, RefShape::MemberCall)
        }
        _ => (None, RefShape::Call),
    };
    let makes = name.is_some_and(|name| walk.text(name) == "init" || walk.text(name).starts_with(char::is_uppercase));
    walk.roles.mark(name, Role::Refers(if makes { RefShape::Construct } else { alone }));
    walk.call(at, name);
    at + 1
}

/// Returns the value of a call.
pub(super) fn call_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(Call { callee, args }) = parse_call(walk, at) else { return walk.other() };
    if is_index(walk, at) {
        let of = walk.lower(callee);
        let by = args.into_iter().map(|arg| walk.lower(arg)).collect();
        return walk.draft.expr(Expr::Index { of, by });
    }
    // `[A]()` is an empty list.
    if matches!(walk.kind(callee), "array_literal" | "dictionary_literal") {
        return walk.lower(callee);
    }
    let callee = callee_value(walk, callee);
    let args = args.into_iter().map(|arg| argument(walk, arg)).collect();
    walk.draft.expr(Expr::Call { callee, args })
}

/// An argument with its label.
fn argument(walk: &mut Walk<'_, '_>, arg: usize) -> ExprId {
    let around = walk.parent(arg);
    let label = walk.child(around, "name").filter(|_| walk.kind(around) == "value_argument");
    let of = walk.lower(arg);
    with_label(walk, label, of)
}

/// Lowers a callee; `A.init` constructs an `A`.
fn callee_value(walk: &mut Walk<'_, '_>, callee: usize) -> ExprId {
    let is_made = suffix_of(walk, callee).is_some_and(|name| walk.text(name) == "init");
    match walk.child(callee, "target").filter(|_| is_made && walk.kind(callee) == "navigation_expression") {
        Some(of) => {
            let of = walk.lower(of);
            walk.draft.expr(Expr::New(of))
        }
        None => walk.lower(callee),
    }
}

/// `A<B>(…)`.
pub(super) fn construct(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.child(at, "constructed_type").and_then(|of| super::types::last_name(walk, of));
    walk.roles.mark(name, Role::Refers(RefShape::Construct));
    walk.call(at, name);
    at + 1
}

/// Returns the value of `A<B>(…)`.
pub(super) fn construct_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(of) = walk.child(at, "constructed_type") else { return walk.other() };
    let of = walk.lower(of);
    let callee = walk.draft.expr(Expr::New(of));
    let args = walk.child_of(at, "constructor_suffix").map_or_else(Vec::new, |suffix| arguments(walk, suffix));
    let args = args.into_iter().map(|arg| argument(walk, arg)).collect();
    walk.draft.expr(Expr::Call { callee, args })
}

/// The labels of trailing closures.
pub(super) fn labels(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "simple_identifier").collect();
    for name in names {
        mark_label(walk, Some(name));
    }
    at + 1
}

/// `a.b`.
pub(super) fn member(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let (Some(of), Some(name)) = (walk.child(at, "target"), suffix_of(walk, at)) {
        let is_type = walk.text(name).starts_with(char::is_uppercase);
        walk.roles.mark(Some(name), Role::Refers(if is_type { RefShape::Type } else { RefShape::Member }));
        walk.set_qualifier(name, of);
    }
    at + 1
}

/// Lowers `a.b`; `A.self` is `A`.
pub(super) fn member_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (Some(of), Some(name)) = (walk.child(at, "target"), suffix_of(walk, at)) else { return walk.other() };
    let of = walk.lower(of);
    match walk.text(name) {
        "self" => of,
        _ => {
            let name = walk.draft.name(walk.tree.node(name).span());
            walk.draft.expr(Expr::Member { of, name })
        }
    }
}

/// Returns the expected type of a node among the arguments of a call.
pub(super) fn expected_type(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    let mut around = walk.parent(at);
    // The index of an argument is not counted beyond the limit.
    if walk.kind(around) == "value_argument"
        && !walk.items(walk.parent(around)).take(MAX_PRECEDING_ARGS + 1).any(|item| item == around)
    {
        return None;
    }
    while matches!(walk.kind(around), "value_argument" | "value_arguments" | "call_suffix" | "constructor_suffix") {
        around = walk.parent(around);
    }
    let (callee, args) = match walk.kind(around) {
        "constructor_expression" => {
            let of = walk.child(around, "constructed_type")?;
            let suffix = walk.child_of(around, "constructor_suffix")?;
            let of = walk.lower(of);
            (walk.draft.expr(Expr::New(of)), arguments(walk, suffix))
        }
        "call_expression" if !is_index(walk, around) => {
            let outer = if is_inner(walk, around) { walk.parent(around) } else { around };
            let Call { callee, args } = parse_call(walk, outer)?;
            (callee_value(walk, callee), args)
        }
        _ => return None,
    };
    let place = args.iter().position(|&arg| arg == at).filter(|&place| place <= MAX_PRECEDING_ARGS)?;
    let arity = args.len() as u32;
    let given = args[..place].iter().map(|&arg| walk.lower(arg)).collect();
    Some(walk.draft.expr(Expr::Argument { callee, arity, given }))
}

/// Returns the expected type of a closure: the type of a parameter, or of the variable that it is assigned to.
fn expected_closure_type(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    if walk.kind(walk.parent(at)) == "property_declaration" {
        let of = walk.items(walk.parent(at)).take_while(|&item| item < at).last()?;
        let of = Some(of).filter(|&of| walk.kind(of) == "type_annotation").map(|of| walk.lower(of))?;
        return Some(walk.draft.expr(Expr::Cast(of)));
    }
    expected_type(walk, at)
}

/// `{ a, b in … }`, `{ $0 }`.
pub(super) fn closure(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let list = walk.child(at, "type").and_then(|of| walk.child_of(of, "lambda_function_type_parameters"));
    let params: Vec<usize> = list.map_or_else(Vec::new, |list| walk.items(list).collect());
    let wanted = expected_closure_type(walk, at);
    // Parameters with a type are bound by their own row.
    let names: Vec<usize> = params
        .iter()
        .map(|&param| match walk.children_in(param, "name").nth(1) {
            Some(_) => param,
            None => walk.child(param, "name").unwrap_or(param),
        })
        .collect();
    let body = walk.child_of(at, "statements");
    let only = body.filter(|&body| walk.items(body).nth(1).is_none()).and_then(|body| walk.items(body).next());
    let only = only.filter(|&only| walk.kind(only) != "control_transfer_statement");
    walk.open_closure(at, names, only.or(body), wanted);
    if list.is_none() {
        unnamed_params(walk, at, wanted);
    }
    at + 1
}

/// A closure that is not open as a function.
pub(super) fn closure_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let list = walk.child(at, "type").and_then(|of| walk.child_of(of, "lambda_function_type_parameters"));
    let params = list.map_or(0, |list| walk.items(list).count() as u32);
    walk.draft.expr(Expr::Closure { params, back: None })
}

/// `$0` and `$1`: each is bound at its first occurrence and visible in the whole closure.
fn unnamed_params(walk: &mut Walk<'_, '_>, at: usize, wanted: Option<ExprId>) {
    let end = walk.tree.next(at);
    let (mut inner, mut seen) = (at + 1, [false; 4]);
    for _ in 0..MAX_CLOSURE_NODES {
        if inner >= end {
            return;
        }
        if walk.kind(inner) == "simple_identifier"
            && let Some(place) = walk.text(inner).strip_prefix('$').and_then(|n| n.parse::<usize>().ok())
            && seen.get(place) == Some(&false)
        {
            seen[place] = true;
            let binding = walk.bind_as(inner, BindingKind::Param, None, ValuePart::Whole, at);
            if let (Some(binding), Some(of)) = (binding, wanted) {
                let value = walk.draft.expr(Expr::ParamOf { of, at: place as u32 });
                walk.draft.set_binding_value(binding, value);
            }
        }
        // A nested closure without named parameters has its own `$0`.
        let is_closure = walk.kind(inner) == "lambda_literal";
        inner = if is_closure { walk.tree.next(inner) } else { inner + 1 };
    }
}
