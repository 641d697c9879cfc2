//! Expressions and types, and the names in them.

use codecompass_model::{BindingKind, Expr, ExprId, FuncExpr, RefShape, ValuePart};

use crate::roles::Role;
use crate::spec::Walk;

pub(super) fn scope(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    at + 1
}

/// A block; its last expression is its value.
pub(super) fn block(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    if let Some(last) = walk.items(at).last() {
        walk.defer_lowering(last);
    }
    at + 1
}

/// Only the grammar treats `this` and `super` as names.
pub(super) fn word(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if matches!(walk.text(at), "this" | "super") {
        walk.roles.mark(Some(at), Role::Declares);
    }
    at + 1
}

pub(super) fn name(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    match walk.text(at) {
        "this" => walk.this_expr(at),
        "super" => walk.draft.expr(Expr::Super),
        _ => walk.value_expr(at),
    }
}

/// Returns the arguments of a call: those in parentheses, or the one after it.
pub(super) fn arguments(walk: &Walk<'_, '_>, at: usize) -> Vec<usize> {
    let Some(list) = walk.child(at, "arguments") else { return Vec::new() };
    match walk.kind(list) {
        "arguments" => walk.items(list).collect(),
        "block" => {
            let mut items = walk.items(list);
            match (items.next(), items.next()) {
                (Some(only), None) if walk.kind(only) == "lambda_expression" => vec![only],
                _ => vec![list],
            }
        }
        _ => vec![list],
    }
}

/// The name of an argument is a label.
pub(super) fn named_argument(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "left").filter(|&name| walk.kind(name) == "identifier") {
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.mark_label(walk.tree.node(name).span());
    }
    at + 1
}

/// `this(…)` calls a constructor.
pub(super) fn this_call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(word) = walk.child(at, "function").filter(|&word| walk.text(word) == "this") else { return at + 1 };
    let reference = walk.draft.reference_count() as u32;
    walk.draft.reference(walk.tree.node(word).span(), RefShape::Construct, None);
    if walk.draft.reference_count() as u32 > reference {
        let args = arguments(walk, at);
        let args = args.into_iter().map(|one| walk.lower(one)).collect();
        let callee = walk.draft.expr(Expr::This);
        let call = walk.draft.expr(Expr::Call { callee, args });
        walk.draft.set_call(reference, call);
    }
    at + 1
}

/// `a op b` calls a member of its left operand; the operands determine the result type of an operator.
pub(super) fn infix(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let parts = (walk.child(at, "left"), walk.child(at, "operator"), walk.child(at, "right"));
    let (Some(left), Some(operator), Some(right)) = parts else { return walk.other() };
    if walk.kind(operator) != "identifier" {
        let known = ["==", "!=", "<", ">", "<=", ">=", "&&", "||", "eq", "ne"];
        return match walk.text(operator) {
            operator if known.contains(&operator) => walk.draft.expr(Expr::Literal(codecompass_model::Literal::Bool)),
            // `x :: xs` has the type of the list.
            operator if operator.ends_with(':') => walk.lower(right),
            "->" => walk.other(),
            _ => walk.lower(left),
        };
    }
    let (of, argument) = (walk.lower(left), walk.lower(right));
    let name = walk.draft.name(walk.tree.node(operator).span());
    let callee = walk.draft.expr(Expr::Member { of, name });
    walk.draft.expr(Expr::Call { callee, args: Box::new([argument]) })
}

pub(super) fn refer_infix(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let (Some(left), Some(operator)) = (walk.child(at, "left"), walk.child(at, "operator"))
        && walk.kind(operator) == "identifier"
    {
        walk.roles.mark(Some(operator), Role::Refers(RefShape::MemberCall));
        walk.set_qualifier(operator, left);
        walk.call(at, Some(operator));
    }
    at + 1
}

/// `x => …`, `(a: A, b) => …`.
pub(super) fn lambda(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let wanted = walk.expected_for(at).or_else(|| declared_type(walk, at));
    let params = walk.child(at, "parameters");
    let body = walk.items(at).last().filter(|&last| Some(last) != params);
    walk.scope(at);
    closure(walk, at, params, body, wanted);
    at + 1
}

/// `f: x => …` over lines.
pub(super) fn colon_argument(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let wanted = walk.expected_for(at);
    let params = walk.child(at, "lambda_start");
    let body = walk.items(at).last().filter(|&last| Some(last) != params);
    walk.scope(at);
    closure(walk, at, params, body, wanted);
    at + 1
}

fn closure(walk: &mut Walk<'_, '_>, at: usize, params: Option<usize>, body: Option<usize>, wanted: Option<ExprId>) {
    let list: Vec<usize> = match params {
        Some(list) if walk.kind(list) == "bindings" => walk.items(list).collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    walk.begin_closure(at, list.len() as u32, None);
    // The body may be a block of its own, so its value is read after that block.
    if let Some(body) = body {
        walk.defer_return(body);
    }
    for (n, one) in list.into_iter().enumerate() {
        let name = if walk.kind(one) == "identifier" { Some(one) } else { walk.child(one, "name") };
        let annotation =
            if walk.kind(one) == "binding" { walk.child(one, "type").map(|of| walk.lower(of)) } else { None };
        let Some(name) = name.filter(|&name| walk.kind(name) == "identifier") else { continue };
        let binding = walk.bind_as(name, BindingKind::Param, annotation, ValuePart::Whole, at);
        if let (Some(binding), Some(of)) = (binding, wanted) {
            let value = walk.draft.expr(Expr::ParamOf { of, at: n as u32 });
            walk.draft.set_binding_value(binding, value);
        }
    }
}

/// Returns the declared type of the binding that a function is assigned to.
fn declared_type(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    let around = walk.parent(at);
    let of = match walk.kind(around) {
        "val_definition" | "var_definition" => walk.child(around, "type")?,
        _ => return None,
    };
    let of = walk.lower(of);
    Some(walk.draft.expr(Expr::Cast(of)))
}

/// `_.name` as an argument: the parameter of the expected function.
pub(super) fn placeholder(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    const MAX_ANCESTORS: usize = 32;
    let mut one = at;
    for _ in 0..MAX_ANCESTORS {
        let around = walk.parent(one);
        let is_first = match walk.kind(around) {
            "field_expression" => walk.child(around, "value") == Some(one),
            "call_expression" | "generic_function" => walk.child(around, "function") == Some(one),
            "infix_expression" => walk.child(around, "left") == Some(one),
            "arguments" => {
                let Some(of) = walk.expected_for(one) else { break };
                return walk.draft.expr(Expr::ParamOf { of, at: 0 });
            }
            _ => break,
        };
        if !is_first {
            break;
        }
        one = around;
    }
    walk.other()
}

/// One of the values of the cases.
pub(super) fn cases(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    const MAX_CASES: usize = 16;
    let Some(body) = walk.child(at, "body") else { return walk.other() };
    let all: Vec<usize> = walk.items(body).filter(|&one| walk.kind(one) == "case_clause").take(MAX_CASES).collect();
    let mut all: Vec<ExprId> = all.into_iter().map(|one| walk.lower(one)).collect();
    all.dedup();
    walk.draft.expr(Expr::Either(all.into()))
}

/// The word before an interpolated string is a label.
pub(super) fn interpolated(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "interpolator") {
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.mark_label(walk.tree.node(name).span());
    }
    at + 1
}

/// `(A, B) => C`.
pub(super) fn function_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let list: Vec<usize> = walk.child(at, "parameter_types").map_or_else(Vec::new, |list| walk.items(list).collect());
    let params = list.into_iter().map(|one| walk.lower(one)).collect();
    let results = walk.child(at, "return_type").map(|of| walk.lower(of)).into_iter().collect();
    walk.draft.expr(Expr::Func(Box::new(FuncExpr { params, results, ..FuncExpr::default() })))
}
