//! Targets that get a value, and their part of it: in assignments, loops, `with`, `except`, `:=` and `case`.

use codecompass_model::{Span, ValuePart};

use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::tree::Tree;

/// The maximum number of bracket levels between an `as` and its statement.
const MAX_LEVELS: usize = 8;

/// The value source of a target.
#[derive(Clone, Copy)]
pub(super) struct ValueSource {
    pub(super) annotation: Option<Span>,
    pub(super) value: Option<Span>,
    pub(super) part: ValuePart,
    /// The node of the value, which may be a sequence of values.
    pub(super) value_node: Option<usize>,
    /// The node from which on the target has the value.
    pub(super) after: usize,
}

impl ValueSource {
    pub(super) fn unknown(after: usize) -> Self {
        Self { annotation: None, value: None, part: ValuePart::Whole, value_node: None, after }
    }

    fn nested(self) -> Self {
        Self { part: ValuePart::Inside, ..self }
    }
}

/// Returns the pattern that a node assigns to.
pub(super) fn pattern(walk: &mut Walk<'_, '_>, at: usize) -> Option<(usize, ValueSource)> {
    let tree = walk.tree;
    let given = ValueSource::unknown(tree.next(at));
    let span = |node: usize| tree.node(node).span();
    match tree.kind(at) {
        k::ASSIGNMENT => {
            let row = last_value(tree, at);
            let annotation = tree.child(at, f::TYPE).map(span);
            Some((tree.child(at, f::LEFT)?, ValueSource { annotation, value: row.map(span), value_node: row, ..given }))
        }
        k::FOR | k::FOR_IN => {
            let row = tree.child(at, f::RIGHT);
            let after = row.map_or(given.after, |row| tree.next(row));
            Some((
                tree.child(at, f::LEFT)?,
                ValueSource { value: row.map(span), part: ValuePart::Element, value_node: row, after, ..given },
            ))
        }
        k::NAMED_EXPRESSION => {
            let value = tree.child(at, f::VALUE).map(span);
            Some((tree.child(at, f::NAME)?, ValueSource { value, ..given }))
        }
        k::AS_PATTERN => as_pattern(tree, at, given),
        k::DOTTED_NAME => {
            let name = capture(walk, at)?;
            Some((name, field(walk, at, subject(tree, at, given))))
        }
        k::SPLAT_PATTERN => Some((tree.children(at).next()?, subject(tree, at, given).nested())),
        _ => None,
    }
}

/// Returns the value at the end of a chain of assignments.
fn last_value(tree: &Tree, mut at: usize) -> Option<usize> {
    loop {
        at = tree.child(at, f::RIGHT)?;
        if tree.kind(at) != k::ASSIGNMENT {
            return Some(at);
        }
    }
}

/// Handles `value as target`: in a `with` the target is the value itself, in an `except` it is an instance of the type.
fn as_pattern(tree: &Tree, at: usize, given: ValueSource) -> Option<(usize, ValueSource)> {
    let mut children = tree.children(at);
    let first = children.next()?;
    let target = children.last()?;
    let target = match tree.kind(target) {
        k::AS_TARGET => tree.children(target).next()?,
        _ => target,
    };
    let span = Some(tree.node(first).span());
    let parent = tree.node(at).parent as usize;
    let given = match tree.kind(parent) {
        k::EXCEPT => ValueSource { annotation: span, ..given },
        k::CASE_PATTERN => {
            let class = tree.children(first).find(|&inner| tree.kind(inner) == k::CLASS_PATTERN);
            let class = class.and_then(|class| tree.children(class).next());
            ValueSource { annotation: class.map(|class| tree.node(class).span()), ..subject(tree, at, given) }
        }
        _ => ValueSource { value: span, ..given },
    };
    Some((target, given))
}

/// Returns the name that a dotted name in a `case` binds: a single name, unless it is a class or looks like a constant.
pub(super) fn capture(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let tree = walk.tree;
    let mut names = tree.children(at).filter(|&child| tree.kind(child) == k::IDENTIFIER);
    let name = names.next().filter(|_| tree.kind(tree.node(at).parent as usize) != k::CLASS_PATTERN)?;
    let is_bound = names.next().is_none() && !crate::text::is_capitalised(walk.draft.slice(tree.node(name).span()));
    is_bound.then_some(name)
}

/// Handles `case Point(x=a)`, where `a` is the field `x` of the matched value.
fn field(walk: &mut Walk<'_, '_>, at: usize, given: ValueSource) -> ValueSource {
    let tree = walk.tree;
    let around = |at: usize| tree.node(at).parent as usize;
    let keyword = around(at);
    let class = around(around(keyword));
    let is_whole = tree.kind(keyword) == k::KEYWORD_PATTERN && tree.kind(around(around(class))) == k::CASE_CLAUSE;
    let name = tree.children(keyword).next().filter(|&name| is_whole && name != at);
    match name.map(|name| tree.node(name).span()) {
        Some(name) if given.value.is_some() => ValueSource { part: ValuePart::Field(walk.draft.name(name)), ..given },
        _ => given,
    }
}

/// Returns the matched value, for a name that a `case` binds.
fn subject(tree: &Tree, at: usize, given: ValueSource) -> ValueSource {
    let mut around = tree.node(at).parent as usize;
    let mut depth = 0;
    for _ in 0..MAX_LEVELS {
        match tree.kind(around) {
            k::MATCH => {
                let value = tree.children(around).next().map(|subject| tree.node(subject).span());
                let part = if depth > 1 { ValuePart::Inside } else { ValuePart::Whole };
                return ValueSource { value, part, ..given };
            }
            k::CASE_PATTERN | k::CLASS_PATTERN | k::KEYWORD_PATTERN | k::LIST_PATTERN | k::TUPLE_PATTERN => depth += 1,
            _ => {}
        }
        around = tree.node(around).parent as usize;
    }
    given.nested()
}

/// Visits every name and attribute that a pattern assigns to, with its part of the value.
pub(super) fn each_target(
    walk: &mut Walk<'_, '_>,
    at: usize,
    given: ValueSource,
    take: fn(&mut Walk<'_, '_>, usize, ValueSource),
) {
    let tree = walk.tree;
    if !is_sequence(tree.kind(at)) {
        return take(walk, at, given);
    }
    let targets = || tree.children(at).filter(|&child| tree.kind(child) != k::COMMENT);
    let mut values = given
        .value_node
        .filter(|&row| is_same_length(tree, row, targets().count()))
        .map(|row| tree.children(row).filter(|&child| tree.kind(child) != k::COMMENT));
    for (position, target) in targets().enumerate() {
        let value = values.as_mut().and_then(Iterator::next).map(|value| tree.node(value).span());
        let own = match (given.part, value) {
            (ValuePart::Whole, Some(_)) => ValueSource { value, value_node: None, ..given },
            (ValuePart::Whole, None) => ValueSource { part: ValuePart::Index(position as u32), ..given },
            (ValuePart::Element, _) if position == 1 => enumerate_element(walk, given),
            _ => given.nested(),
        };
        match tree.kind(target) {
            k::IDENTIFIER | k::ATTRIBUTE => take(walk, target, own),
            _ => nested(tree, target).for_each(|inner| take(walk, inner, given.nested())),
        }
    }
}

/// Returns the names and attributes in a nested pattern.
fn nested(tree: &Tree, at: usize) -> impl Iterator<Item = usize> + '_ {
    let end = if is_sequence(tree.kind(at)) { tree.next(at) } else { at };
    (at..end).filter(move |&inner| {
        let node = tree.node(inner);
        matches!(node.kind, k::IDENTIFIER | k::ATTRIBUTE) && is_sequence(tree.kind(node.parent as usize))
    })
}

/// Handles `for i, x in enumerate(xs)`, where `x` is an element of `xs`.
fn enumerate_element(walk: &Walk<'_, '_>, given: ValueSource) -> ValueSource {
    let tree = walk.tree;
    let call = given.value_node.filter(|&row| tree.kind(row) == k::CALL);
    let is_count = |&call: &usize| {
        let callee = tree.child(call, f::FUNCTION).map(|callee| tree.node(callee).span());
        callee.is_some_and(|callee| walk.draft.slice(callee) == "enumerate")
    };
    let list = call.filter(is_count).and_then(|call| tree.child(call, f::ARGUMENTS));
    match list.and_then(|list| tree.children(list).next()) {
        Some(list) => ValueSource { value: Some(tree.node(list).span()), ..given },
        None => given.nested(),
    }
}

fn is_sequence(kind: u8) -> bool {
    matches!(
        kind,
        k::PATTERN_LIST
            | k::TUPLE_PATTERN
            | k::LIST_PATTERN
            | k::LIST_SPLAT_PATTERN
            | k::DICT_SPLAT_PATTERN
            | k::TUPLE
            | k::LIST
    )
}

/// Returns whether a value is a literal sequence of this length, with no element unpacked.
fn is_same_length(tree: &Tree, row: usize, length: usize) -> bool {
    let is_written = matches!(tree.kind(row), k::EXPRESSION_LIST | k::TUPLE | k::LIST);
    is_written && {
        let mut count = 0;
        let plain = tree.children(row).filter(|&child| tree.kind(child) != k::COMMENT).all(|child| {
            count += 1;
            tree.kind(child) != k::LIST_SPLAT
        });
        plain && count == length
    }
}
