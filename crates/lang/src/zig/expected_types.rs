//! `.name`: a member of the expected type at its position.

use codecompass_model::{Expr, ExprId, RefShape};

use crate::roles::Role;
use crate::spec::Walk;

/// Maximum number of ancestors searched for the expected type.
const MAX_ANCESTORS: usize = 40;

/// Maximum number of preceding arguments of an argument whose expected type is inferred.
const MAX_PRECEDING_ARGS: usize = 8;

/// `.name` with nothing before the dot, as a value, a call, a case, or the field of a struct literal.
pub(super) fn literal(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(name), None) = (walk.child(at, "member"), walk.child(at, "object")) else { return at + 1 };
    let around = walk.parent(at);
    let is_called = walk.kind(around) == "call_expression" && walk.child(around, "function") == Some(at);
    // `.init(…)` returns the expected type of the whole call.
    let place = if is_called { around } else { at };
    let of = match expected_type(walk, place, 0) {
        Some(of) => of,
        None => walk.other(),
    };
    walk.roles.mark(Some(name), Role::Declares);
    let shape = if is_called { RefShape::MemberCall } else { RefShape::Member };
    walk.draft.reference_with_receiver(walk.tree.node(name).span(), shape, of);
    at + 1
}

/// Returns the expected type of a node, or a value of that type.
fn expected_type(walk: &mut Walk<'_, '_>, at: usize, depth: usize) -> Option<ExprId> {
    let around = walk.parent(at);
    if depth > MAX_ANCESTORS || around == at {
        return None;
    }
    match walk.kind(around) {
        "variable_declaration" | "container_field" => {
            let of = walk.child(around, "type")?;
            Some(walk.lower(of))
        }
        "parenthesized_expression" | "unary_expression" | "try_expression" | "comptime_expression" => {
            expected_type(walk, around, depth + 1)
        }
        "if_expression" if walk.child(around, "condition") != Some(at) => expected_type(walk, around, depth + 1),
        "return_expression" => {
            let mut outer = around;
            for _ in 0..MAX_ANCESTORS {
                outer = walk.parent(outer);
                if walk.kind(outer) == "function_declaration" {
                    let of = walk.child(outer, "type")?;
                    return Some(walk.lower(of));
                }
            }
            None
        }
        "switch_case" => {
            let switch = walk.parent(around);
            if walk.tree.next(at) == walk.tree.next(around) {
                return expected_type(walk, switch, depth + 1);
            }
            let of = walk.items(switch).find(|&item| walk.kind(item) != "block_label")?;
            Some(walk.lower(of))
        }
        "binary_expression" => {
            let (left, right) = (walk.child(around, "left")?, walk.child(around, "right")?);
            if left == at && right == at {
                return None;
            }
            Some(walk.lower(if left == at { right } else { left }))
        }
        "assignment_expression" => assigned_type(walk, around, at, depth),
        "call_expression" => argument(walk, around, at),
        _ => None,
    }
}

/// `a = .b` expects the type of `a`; `.a = .b` in an initialiser list expects the type of the field; `.a` itself is a
/// field of the type that the list constructs.
fn assigned_type(walk: &mut Walk<'_, '_>, around: usize, at: usize, depth: usize) -> Option<ExprId> {
    let (left, list) = (walk.child(around, "left")?, walk.parent(around));
    if walk.kind(list) != "initializer_list" {
        return (left != at).then(|| walk.lower(left));
    }
    let value = walk.parent(list);
    let made = match walk.kind(value) {
        "struct_initializer" => {
            let of = walk.items(value).next()?;
            walk.lower(of)
        }
        _ => expected_type(walk, value, depth + 1)?,
    };
    if left == at {
        return Some(made);
    }
    let name = walk.child(left, "member")?;
    let name = walk.draft.name(walk.tree.node(name).span());
    Some(walk.draft.expr(Expr::Member { of: made, name }))
}

/// Returns the type that a function expects for an argument. After a dot, the callee may also be a method, with the
/// receiver as its first argument.
fn argument(walk: &mut Walk<'_, '_>, call: usize, at: usize) -> Option<ExprId> {
    let function = walk.child(call, "function").filter(|&function| function != at)?;
    let before = walk.items(call).filter(|&item| item != function).take_while(|&item| item != at);
    let before: Vec<usize> = before.take(MAX_PRECEDING_ARGS + 1).collect();
    if before.len() > MAX_PRECEDING_ARGS {
        return None;
    }
    let arity = (walk.items(call).count() as u32).saturating_sub(1);
    let given: Vec<ExprId> = before.into_iter().map(|item| walk.lower(item)).collect();
    let object = walk.child(function, "object").map(|object| walk.lower(object));
    let callee = walk.lower(function);
    let alone = walk.draft.expr(Expr::Argument { callee, arity, given: given.clone().into() });
    let Some(object) = object else { return Some(alone) };
    let given = [object].into_iter().chain(given).collect();
    let behind = walk.draft.expr(Expr::Argument { callee, arity: arity + 1, given });
    Some(walk.draft.expr(Expr::Either(Box::new([alone, behind]))))
}
