//! Patterns and the names that they bind.

use codecompass_model::{BindingKind, ExprId, ValuePart};

use super::modules;
use crate::roles::Role;
use crate::spec::Walk;

/// Returns the operator between two nodes.
pub(super) fn operator<'t>(walk: &Walk<'_, 't>, at: usize) -> &'t str {
    let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { return "" };
    let between = walk.tree.node(left).end as usize..walk.tree.node(right).start as usize;
    walk.draft.text.get(between).unwrap_or("").split_whitespace().next().unwrap_or("")
}

/// Binds the names in a pattern; they are visible from a node on.
pub(super) fn bind(walk: &mut Walk<'_, '_>, pattern: usize, kind: BindingKind, from: usize) {
    let mut open = vec![(pattern, None)];
    while let Some((at, of_type)) = open.pop() {
        match walk.kind(at) {
            "identifier" => bind_name(walk, at, kind, of_type, from),
            "binary_operator" => {
                let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { continue };
                let word = operator(walk, at);
                // The enclosing pattern has bound all names in it.
                walk.roles.mark(Some(at), Role::Declares);
                match word {
                    "=" => {
                        // `%Name{} = x` gives the type of `x`.
                        let (of_right, of_left) = (type_of(walk, left), type_of(walk, right));
                        open.extend([(right, of_right), (left, of_left)]);
                    }
                    "::" | "\\\\" | "when" | "in" | "<-" => open.push((left, None)),
                    "=>" => open.push((right, None)),
                    _ => open.extend([(right, None), (left, None)]),
                }
            }
            "pair" => open.extend(walk.child(at, "value").map(|value| (value, None))),
            "call" if walk.child(at, "target").is_some_and(|target| walk.text(target).starts_with("unquote")) => {}
            "call" => open.extend(walk.child_of(at, "arguments").map(|inner| (inner, None))),
            "map" | "map_content" | "arguments" | "keywords" | "list" | "tuple" | "bitstring" | "block" | "struct" => {
                let from = open.len();
                open.extend(walk.items(at).map(|item| (item, None)));
                open[from..].reverse();
            }
            _ => {}
        }
    }
}

/// Returns the type that a pattern gives its value.
fn type_of(walk: &mut Walk<'_, '_>, pattern: usize) -> Option<ExprId> {
    let name = modules::struct_name(walk, pattern).filter(|_| walk.kind(pattern) == "map")?;
    Some(walk.lower(name))
}

fn bind_name(walk: &mut Walk<'_, '_>, name: usize, kind: BindingKind, of_type: Option<ExprId>, from: usize) {
    if walk.roles.get(name) == Role::Unset && !super::WORDS.contains(&walk.text(name)) {
        walk.bind_as(name, kind, of_type, ValuePart::Whole, from);
    }
}

/// `pattern -> body` of `fn`, `case` and similar constructs. In `cond` the left side is not a pattern.
pub(super) fn clause(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    let around = walk.parent(walk.parent(at));
    let is_condition = walk.child(around, "target").is_some_and(|target| walk.text(target) == "cond");
    if let Some(left) = walk.child(at, "left").filter(|_| !is_condition) {
        let is_function = walk.kind(walk.parent(at)) == "anonymous_function";
        bind(walk, left, if is_function { BindingKind::Param } else { BindingKind::Local }, at);
    }
    at + 1
}
