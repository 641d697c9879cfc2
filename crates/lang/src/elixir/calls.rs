//! Calls and operators: callees, arities, and calls that are other constructs.

use codecompass_model::{BindingKind, Expr, ExprId, RefShape};

use super::patterns::{self, operator};
use super::{attributes, definitions, imports};
use crate::roles::Role;
use crate::spec::Walk;

/// Maximum number of arguments counted.
const MAX_ARGUMENTS: usize = 32;

/// Macros whose first argument is a pattern.
const PATTERN_MACROS: &[&str] =
    &["match?", "assert_receive", "assert_received", "refute_receive", "refute_received", "destructure"];

/// Words that may follow `::` in a binary.
const BINARY_SEGMENTS: &[&str] = &[
    "big",
    "binary",
    "bits",
    "bitstring",
    "bytes",
    "float",
    "integer",
    "little",
    "native",
    "signed",
    "size",
    "unit",
    "unsigned",
    "utf16",
    "utf32",
    "utf8",
];

/// A call: a definition, or a construct that its first word selects.
pub(super) fn call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(target) = walk.child(at, "target") else { return at + 1 };
    if walk.kind(target) == "dot" {
        remote(walk, at, target);
        return at + 1;
    }
    if walk.kind(target) != "identifier" || walk.roles.get(target) != Role::Unset {
        return at + 1;
    }
    let word = walk.text(target);
    match word {
        "defmodule" | "defprotocol" | "defimpl" => definitions::module(walk, at, word),
        "def" | "defp" | "defmacro" | "defmacrop" | "defguard" | "defguardp" | "defdelegate" => {
            definitions::function(walk, at, word);
        }
        "defstruct" | "defexception" => definitions::fields(walk, at),
        "alias" | "import" | "require" | "use" => imports::import(walk, at, word),
        "test" | "describe" | "property" | "setup" | "setup_all" => definitions::test(walk, at, word),
        "using" => definitions::using(walk, at, target),
        "for" | "with" => walk.scope(at),
        _ if PATTERN_MACROS.contains(&word) => {
            if let Some(pattern) = definitions::first_argument(walk, at) {
                patterns::bind(walk, pattern, BindingKind::Local, at);
            }
        }
        _ => {}
    }
    if super::WORDS.contains(&word) {
        walk.roles.mark(Some(target), Role::Declares);
    } else {
        walk.roles.mark(Some(target), Role::Refers(RefShape::Call));
        walk.call(at, Some(target));
    }
    at + 1
}

/// `Module.f(x)`, `module.f()`, `value.field`.
fn remote(walk: &mut Walk<'_, '_>, at: usize, dot: usize) {
    let (Some(left), Some(name)) = (walk.child(dot, "left"), walk.child(dot, "right")) else { return };
    if walk.kind(name) != "identifier" {
        return;
    }
    let is_own = walk.text(left) == "__MODULE__";
    let is_module = is_own || matches!(walk.kind(left), "alias" | "atom") || is_nested(walk, left);
    let is_call = is_module || walk.child_of(at, "arguments").is_some() || walk.child_of(at, "do_block").is_some();
    let shape = match is_call {
        true if is_own => RefShape::SelfCall,
        true => RefShape::MemberCall,
        false => RefShape::Member,
    };
    // In a specification it is a type; the enclosing node has marked that.
    walk.roles.mark(Some(name), Role::Refers(shape));
    walk.set_qualifier(name, left);
    if is_call && walk.roles.get(name) != Role::Refers(RefShape::Type) {
        walk.call(at, Some(name));
    }
}

/// `__MODULE__.Inner`.
fn is_nested(walk: &Walk<'_, '_>, left: usize) -> bool {
    walk.kind(left) == "dot" && walk.child(left, "right").is_some_and(|right| walk.kind(right) == "alias")
}

/// The value of a call. Its type is unknown, but the number of arguments is recorded.
pub(super) fn value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let other = walk.other();
    let count = match walk.kind(at) {
        "call" => arguments(walk, at),
        // `&f/2`, and `x |> f`.
        _ if operator(walk, at) == "/" => captured(walk, at).unwrap_or(0),
        _ if operator(walk, at) == "|>" => 1,
        _ => return other,
    };
    walk.draft.expr(Expr::Call { callee: other, args: vec![other; count.min(MAX_ARGUMENTS)].into() })
}

fn arguments(walk: &Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    let is_operand = walk.kind(around) == "binary_operator";
    if let Some(count) = captured(walk, around).filter(|_| is_operand && walk.child_of(at, "arguments").is_none()) {
        return count;
    }
    let written = walk.child_of(at, "arguments").map_or(0, |list| walk.items(list).count());
    let piped = is_operand && walk.child(around, "right") == Some(at) && operator(walk, around) == "|>";
    let block = walk.child_of(at, "do_block").is_some();
    // A `do` block counts as one more option if the call has options already.
    let options = walk.child_of(at, "arguments").is_some_and(|list| walk.child_of(list, "keywords").is_some());
    written + usize::from(piped) + usize::from(block && !options)
}

/// The number of arguments in `&f/2`.
fn captured(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let around = walk.parent(at);
    let is_capture = walk.kind(around) == "unary_operator" && walk.text(around).starts_with('&');
    if walk.kind(at) != "binary_operator" || !is_capture || operator(walk, at) != "/" {
        return None;
    }
    let count = walk.child(at, "right").filter(|&count| walk.kind(count) == "integer")?;
    walk.text(count).parse().ok()
}

/// A bare name: a variable, or a call without arguments.
pub(super) fn name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.roles.get(at) == Role::Unset {
        if super::WORDS.contains(&walk.text(at)) {
            walk.roles.mark(Some(at), Role::Declares);
        } else if !walk.draft.is_local(walk.tree.node(at).span()) {
            walk.roles.mark(Some(at), Role::Refers(RefShape::Call));
            walk.call(at, Some(at));
        }
    }
    at + 1
}

/// `@attribute`, `&f/1`.
pub(super) fn unary(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if walk.text(at).starts_with('@') {
        attributes::attribute(walk, at);
    }
    at + 1
}

/// `pattern = value`, `pattern <- list`, `x |> f`, `&f/1`.
pub(super) fn binary(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { return at + 1 };
    match operator(walk, at) {
        "=" | "<-" if walk.roles.get(at) == Role::Unset => {
            let from = walk.tree.next(at);
            let bound = walk.draft.binding_count() as u32;
            patterns::bind(walk, left, BindingKind::Local, from);
            let is_one = walk.kind(left) == "identifier" && walk.draft.binding_count() as u32 == bound + 1;
            if is_one && matches!(walk.kind(right), "map" | "alias") && operator(walk, at) == "=" {
                walk.defer_binding_value(bound, right);
            }
        }
        "|>" if walk.kind(right) == "identifier" => refer_by_capture(walk, at, right),
        "/" if walk.kind(left) == "identifier" && captured(walk, at).is_some() => refer_by_capture(walk, at, left),
        "::" if in_binary(walk, at) => {
            for inner in right..walk.tree.next(right) {
                if walk.kind(inner) == "identifier" && BINARY_SEGMENTS.contains(&walk.text(inner)) {
                    attributes::mark_label(walk, inner);
                }
            }
        }
        _ => {}
    }
    at + 1
}

/// A reference to a function that is not written as a call.
fn refer_by_capture(walk: &mut Walk<'_, '_>, at: usize, name: usize) {
    if !super::WORDS.contains(&walk.text(name)) {
        walk.roles.mark(Some(name), Role::Refers(RefShape::Call));
        walk.call(at, Some(name));
    }
}

fn in_binary(walk: &Walk<'_, '_>, at: usize) -> bool {
    walk.kind(walk.parent(at)) == "bitstring"
}
