//! Types, and the names in them.

use codecompass_model::{Expr, ExprId, FuncExpr};

use super::expressions::previous_sibling;
use crate::spec::Walk;

/// Whether nodes of a kind are types.
pub(super) fn is_type(kind: &str) -> bool {
    let known = [
        "user_type",
        "nullable_type",
        "not_nullable_type",
        "parenthesized_type",
        "function_type",
        "parenthesized_user_type",
    ];
    known.contains(&kind)
}

/// Returns the first type in a node.
pub(super) fn type_in(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    walk.items(at).find(|&item| is_type(walk.kind(item)))
}

/// Returns the declared type in a node, lowered.
pub(super) fn type_of(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    type_in(walk, at).map(|of| walk.lower(of))
}

/// Lowers the part of a type's path up to this name.
pub(super) fn type_name(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    match earlier_part(walk, at) {
        Some(of) => {
            let of = walk.lower(of);
            let name = walk.draft.name(walk.tree.node(at).span());
            walk.draft.expr(Expr::Member { of, name })
        }
        None => walk.name_expr(at),
    }
}

fn earlier_part(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    if walk.kind(walk.parent(at)) != "user_type" {
        return None;
    }
    let mut one = previous_sibling(walk, at)?;
    if walk.kind(one) == "type_arguments" {
        one = previous_sibling(walk, one)?;
    }
    (walk.kind(one) == "type_identifier").then_some(one)
}

/// The names of a path, each qualified by the previous one.
pub(super) fn refer_to_type(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).filter(|&one| walk.kind(one) == "type_identifier").collect();
    for pair in names.windows(2) {
        walk.set_qualifier(pair[1], pair[0]);
    }
    at + 1
}

pub(super) fn user_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let name = walk.items(at).filter(|&one| walk.kind(one) == "type_identifier").last();
    let Some(name) = name else { return walk.other() };
    let of = walk.lower(name);
    match walk.items(at).last().filter(|&last| walk.kind(last) == "type_arguments") {
        Some(list) => {
            let args = walk.lower_all(list);
            walk.draft.expr(Expr::Apply { of, args })
        }
        None => of,
    }
}

/// `(A, B) -> C`, and `A.(B) -> C`, whose first parameter is its receiver.
pub(super) fn function_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let receiver = walk.child(at, "receiver");
    let on_first = receiver.is_some();
    let mut of =
        FuncExpr { params: Vec::new(), variadic: false, optional: 0, has_receiver: on_first, results: Vec::new() };
    let list = walk.child_of(at, "function_type_parameters");
    let params: Vec<usize> = list.map_or_else(Vec::new, |list| walk.items(list).collect());
    for one in receiver.into_iter().chain(params) {
        let inner = if walk.kind(one) == "parameter" { type_in(walk, one).unwrap_or(one) } else { one };
        let param = walk.lower(inner);
        of.params.push(param);
    }
    let after = list.unwrap_or(at);
    let result = walk.items(at).find(|&item| item > after && is_type(walk.kind(item)));
    of.results = result.map(|result| walk.lower(result)).into_iter().collect();
    walk.draft.expr(Expr::Func(Box::new(of)))
}
