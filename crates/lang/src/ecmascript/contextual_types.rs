//! Contextual types of functions: the types of their parameters and of their results.
//!
//! A parameter without a type of its own is annotated with its contextual type, in the syntax of the language: `c` in
//! `app.get('/', (c) => …)` is a `Parameters<Parameters<typeof app.get>[1]>[0]`.

use codecompass_model::Span;

use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::text;

/// The maximum number of steps up from a function.
const MAX_STEPS: usize = 12;

/// The maximum length of a contextual type.
const MAX_TYPE_BYTES: usize = 400;

/// Returns the contextual type of a function; `None` if its context has none.
pub(super) fn contextual_type(walk: &Walk<'_, '_>, function: usize) -> Option<String> {
    let place = contextual_type_at(walk, function, MAX_STEPS)?;
    (place.len() <= MAX_TYPE_BYTES).then_some(place)
}

fn contextual_type_at(walk: &Walk<'_, '_>, at: usize, steps: usize) -> Option<String> {
    let tree = walk.tree;
    let steps = steps.checked_sub(1)?;
    let parent = tree.node(at).parent as usize;
    let is_body = tree.node(at).field == f::BODY;
    match tree.kind(parent) {
        k::PARENTHESIZED | k::TERNARY | k::BINARY => contextual_type_at(walk, parent, steps),
        k::AS | k::SATISFIES => tree.children(parent).last().filter(|&to| to != at).map(|to| node_text(walk, to)),
        k::ARGUMENTS => argument(walk, at, parent),
        k::ARRAY => contextual_type_at(walk, parent, steps).map(|list| format!("{list}[number]")),
        k::PAIR => {
            let key = tree.child(parent, f::KEY).and_then(|key| walk.name_text(key))?;
            let object = contextual_type_at(walk, tree.node(parent).parent as usize, steps)?;
            Some(format!("{object}['{key}']"))
        }
        k::OBJECT if tree.kind(at) == k::METHOD => {
            let name = tree.child(at, f::NAME).and_then(|name| walk.name_text(name))?;
            contextual_type_at(walk, parent, steps).map(|object| format!("{object}['{name}']"))
        }
        k::VARIABLE_DECLARATOR | k::PUBLIC_FIELD => walk.type_of(parent, f::TYPE).map(|span| span_text(walk, span)),
        k::ASSIGNMENT => {
            let left = tree.child(parent, f::LEFT).filter(|&left| left != at)?;
            Some(format!("typeof {}", node_text(walk, left)))
        }
        k::ARROW if is_body => return_type_text(walk, parent, steps),
        k::RETURN => return_type_text(walk, enclosing_function(walk, parent)?, steps),
        _ => None,
    }
}

fn argument(walk: &Walk<'_, '_>, at: usize, arguments: usize) -> Option<String> {
    let tree = walk.tree;
    let call = tree.node(arguments).parent as usize;
    let index =
        tree.children(arguments).filter(|&child| tree.kind(child) != k::COMMENT).position(|child| child == at)?;
    let callee = |field| tree.child(call, field).map(|callee| node_text(walk, callee));
    match tree.kind(call) {
        k::CALL => Some(format!("Parameters<typeof {}>[{index}]", callee(f::FUNCTION)?)),
        k::NEW => Some(format!("ConstructorParameters<typeof {}>[{index}]", callee(f::CONSTRUCTOR)?)),
        _ => None,
    }
}

/// Returns the return type of a function, from its annotation or from its own context.
fn return_type_text(walk: &Walk<'_, '_>, function: usize, steps: usize) -> Option<String> {
    let own = walk.type_of(function, f::RETURN_TYPE).map(|span| span_text(walk, span));
    let given = match own {
        Some(own) => own,
        None => format!("ReturnType<{}>", contextual_type_at(walk, function, steps)?),
    };
    Some(if is_async(walk, function) { format!("Awaited<{given}>") } else { given })
}

fn is_async(walk: &Walk<'_, '_>, function: usize) -> bool {
    walk.slice(function).starts_with("async")
}

fn enclosing_function(walk: &Walk<'_, '_>, mut at: usize) -> Option<usize> {
    loop {
        let parent = walk.tree.node(at).parent as usize;
        if parent == at {
            return None;
        }
        at = parent;
        if is_function(walk.tree.kind(at)) {
            return Some(at);
        }
    }
}

/// Returns whether a node has parameters and a body of its own.
pub(super) fn is_function(kind: u8) -> bool {
    matches!(
        kind,
        k::ARROW
            | k::FUNCTION_DECLARATION
            | k::FUNCTION_EXPRESSION
            | k::GENERATOR
            | k::GENERATOR_DECLARATION
            | k::METHOD
            | k::STATIC_BLOCK
    )
}

/// Returns the result of a function without a declared return type: an arrow's body, or the last `return` expression.
pub(super) fn result(walk: &Walk<'_, '_>, function: usize) -> Option<Span> {
    let tree = walk.tree;
    let body = tree.child(function, f::BODY)?;
    if tree.child(function, f::RETURN_TYPE).is_some() || matches!(tree.kind(function), k::CLASS) {
        return None;
    }
    if tree.kind(body) != k::STATEMENT_BLOCK {
        return Some(tree.node(body).span());
    }
    let (mut at, mut last) = (body + 1, None);
    while at < tree.next(body) {
        match tree.kind(at) {
            kind if is_function(kind) => {
                at = tree.next(at);
                continue;
            }
            k::RETURN => last = tree.children(at).find(|&value| tree.kind(value) != k::COMMENT).or(last),
            _ => {}
        }
        at += 1;
    }
    last.map(|value| tree.node(value).span())
}

fn node_text(walk: &Walk<'_, '_>, at: usize) -> String {
    text::qualifier(walk.slice(at)).into_owned()
}

fn span_text(walk: &Walk<'_, '_>, span: Span) -> String {
    text::qualifier(walk.draft.slice(span)).into_owned()
}
