//! `.name`: a member of the expected type at its position.

use codecompass_model::{Expr, ExprId, RefShape};

use super::calls;
use crate::roles::Role;
use crate::spec::Walk;

/// Maximum number of ancestors searched for the function that returns the value.
const MAX_ANCESTORS: usize = 40;

/// Returns the name after the dot of an implicit member expression, which the grammar parses as a prefix operator.
pub(super) fn name(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let mut target = walk.child(at, "target").filter(|_| walk.text(at).starts_with('.'))?;
    // `.a.b` is a member of a member: the first name follows the dot.
    for _ in 0..MAX_ANCESTORS {
        target = match walk.kind(target) {
            "simple_identifier" => return Some(target),
            "navigation_expression" => walk.child(target, "target")?,
            _ => walk.items(target).next()?,
        };
    }
    None
}

/// Returns an expression of the expected type at a node.
fn expected_type(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    if walk.child(at, "target").is_some_and(|of| walk.kind(of) != "simple_identifier") {
        return None;
    }
    let mut at = at;
    // The expected type of `.a(1)` is that of the whole call.
    while walk.kind(walk.parent(at)) == "call_expression" && walk.items(walk.parent(at)).next() == Some(at) {
        at = walk.parent(at);
    }
    let around = walk.parent(at);
    let node = match walk.kind(around) {
        "property_declaration" => {
            let before = walk.items(around).take_while(|&item| item < at).last();
            before.filter(|&of| walk.kind(of) == "type_annotation")?
        }
        "assignment" => walk.child(around, "target").filter(|&of| of != at)?,
        "equality_expression" => walk.child(around, "lhs").filter(|&of| of != at)?,
        "nil_coalescing_expression" => walk.child(around, "value").filter(|&of| of != at)?,
        "pattern" => return pattern_subject(walk, around),
        "control_transfer_statement" => return enclosing_result(walk, at),
        // The only statement of a function is its result.
        "statements" if walk.items(around).nth(1).is_none() => return enclosing_result(walk, at),
        "value_argument" => return calls::expected_type(walk, at),
        _ => return None,
    };
    let is_type = walk.kind(node) == "type_annotation";
    let of = walk.lower(node);
    Some(if is_type { walk.draft.expr(Expr::Cast(of)) } else { of })
}

/// Returns the value that a pattern of a `switch` is compared with.
pub(super) fn pattern_subject(walk: &mut Walk<'_, '_>, pattern: usize) -> Option<ExprId> {
    let around = walk.parent(pattern);
    if walk.kind(around) != "switch_pattern" {
        return None;
    }
    let subject = walk.child(walk.parent(walk.parent(around)), "expr")?;
    Some(walk.lower(subject))
}

/// Returns the result type of the enclosing function.
fn enclosing_result(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    let mut around = at;
    for _ in 0..MAX_ANCESTORS {
        around = walk.parent(around);
        let of = match walk.kind(around) {
            "function_declaration" => {
                let body = walk.child(around, "body")?;
                let of = walk.items(around).filter(|&item| item < body && walk.kind(item).ends_with("_type")).last();
                of.filter(|&of| walk.kind(of) != "user_type" || walk.child(around, "name") != Some(of))?
            }
            "property_declaration" => walk.child_of(around, "type_annotation")?,
            "lambda_literal" | "class_declaration" => return None,
            _ if around == 0 => return None,
            _ => continue,
        };
        let of = walk.lower(of);
        return Some(walk.draft.expr(Expr::Cast(of)));
    }
    None
}

/// The reference for a name after a leading dot.
pub(super) fn member(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = name(walk, at) else { return at + 1 };
    let before = expected_type(walk, at).unwrap_or_else(|| walk.other());
    walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
    walk.set_qualifier_expr(name, before);
    at + 1
}

/// The value of a prefix operator: `-a` has the type of `a`, `.a` is a member of the expected type.
pub(super) fn prefix_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(target) = walk.child(at, "target") else { return walk.other() };
    if !walk.text(at).starts_with('.') || walk.kind(target) != "simple_identifier" {
        return walk.lower(target);
    }
    match (name(walk, at), expected_type(walk, at)) {
        (Some(name), Some(of)) if walk.text(name) == "init" => walk.draft.expr(Expr::New(of)),
        (Some(name), Some(of)) => {
            let name = walk.draft.name(walk.tree.node(name).span());
            walk.draft.expr(Expr::Member { of, name })
        }
        _ => walk.other(),
    }
}
