//! Types of Swift: dotted types, function types and bracketed types.

use codecompass_model::{Expr, ExprId, FuncExpr};

use super::hooks::mark_label;
use crate::spec::Walk;

/// A type in parentheses is that type.
pub(super) fn tuple_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let items: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "tuple_type_item").collect();
    if let [only] = items[..] { walk.lower(only) } else { walk.other() }
}

/// `(A, B) -> C`.
pub(super) fn function_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let given = walk.child(at, "params");
    let params: Vec<usize> = match given.filter(|&of| walk.kind(of) == "tuple_type") {
        Some(list) => walk.items(list).filter(|&item| walk.kind(item) == "tuple_type_item").collect(),
        None => given.into_iter().collect(),
    };
    let params = params.into_iter().map(|of| walk.lower(of)).collect();
    let result = walk.items(at).last().filter(|&last| Some(last) != given);
    let results = result.map(|of| walk.lower(of)).into_iter().collect();
    walk.draft.expr(Expr::Func(Box::new(FuncExpr { params, results, ..FuncExpr::default() })))
}

/// `[A]` and `[A: B]` are library types, and so are the types of list literals.
pub(super) fn list_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let items: Vec<usize> = walk.items(at).take(2).collect();
    let (name, count) = match walk.kind(at) {
        "array_type" | "array_literal" => ("Array", 1),
        _ => ("Dictionary", 2),
    };
    let is_literal = walk.kind(at).ends_with("literal");
    let args: Vec<ExprId> = items.into_iter().take(count).map(|of| walk.lower(of)).collect();
    let of = walk.draft.name_expr(name, at);
    let whole = if args.is_empty() { of } else { walk.draft.expr(Expr::Apply { of, args: args.into() }) };
    if is_literal { walk.draft.expr(Expr::Cast(whole)) } else { whole }
}

/// A name in a dotted type is qualified by the part before it.
pub(super) fn type_name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    if walk.text(at) == "Self" {
        mark_label(walk, Some(at));
    } else if walk.kind(around) == "user_type" && walk.child_of(around, "type_identifier") != Some(at) {
        let before = type_before(walk, around, at);
        walk.set_qualifier_expr(at, before);
    }
    at + 1
}

/// `A.B<C>.D`.
pub(super) fn user_type(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    type_before(walk, at, walk.tree.next(at))
}

/// Lowers a dotted type up to one of its parts.
fn type_before(walk: &mut Walk<'_, '_>, at: usize, end: usize) -> ExprId {
    let parts: Vec<usize> = walk.items(at).take_while(|&part| part < end).collect();
    let mut whole = None;
    for part in parts {
        whole = Some(match (walk.kind(part), whole) {
            ("type_arguments", Some(of)) => {
                let args: Vec<usize> = walk.items(part).filter(|&item| is_a_type(walk, item)).collect();
                let args = args.into_iter().map(|of| walk.lower(of)).collect();
                walk.draft.expr(Expr::Apply { of, args })
            }
            // A metatype has the members of its type.
            ("type_identifier", Some(of)) if matches!(walk.text(part), "Type" | "Protocol") => of,
            ("type_identifier", Some(of)) => {
                let name = walk.draft.name(walk.tree.node(part).span());
                walk.draft.expr(Expr::Member { of, name })
            }
            ("type_identifier", None) => walk.lower(part),
            (_, whole) => whole.unwrap_or_else(|| walk.other()),
        });
    }
    whole.unwrap_or_else(|| walk.other())
}

pub(super) fn is_a_type(walk: &Walk<'_, '_>, at: usize) -> bool {
    walk.kind(at).ends_with("_type")
}

/// Returns a type's name without its arguments.
pub(super) fn dotted_name(text: &str) -> String {
    let mut depth = 0;
    let is_kept = |c: &char| {
        depth += i32::from(*c == '<') - i32::from(*c == '>');
        depth == 0 && *c != '>' && !c.is_whitespace()
    };
    text.chars().filter(is_kept).collect()
}

/// Returns the last name of a type.
pub(super) fn last_name(walk: &Walk<'_, '_>, of: usize) -> Option<usize> {
    walk.items(of).filter(|&item| walk.kind(item) == "type_identifier").last()
}
