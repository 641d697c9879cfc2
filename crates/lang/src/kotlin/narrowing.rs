//! Type narrowing of local bindings: after `x is T`, `x` is a `T`.

use crate::spec::Walk;

use super::types::is_type;

/// Maximum number of tests read in one condition.
const MAX_TESTS: usize = 8;

/// `x is T` or `x !is T`.
struct TypeTest {
    name: usize,
    of: usize,
    is_not: bool,
}

/// Returns the tests that all hold when a condition holds.
fn tests(walk: &Walk<'_, '_>, condition: usize) -> Vec<TypeTest> {
    let (mut open, mut found) = (vec![condition], Vec::new());
    for _ in 0..2 * MAX_TESTS {
        let Some(at) = open.pop() else { break };
        match walk.kind(at) {
            "conjunction_expression" => open.extend(walk.items(at)),
            "parenthesized_expression" => open.extend(walk.items(at).next()),
            "check_expression" => found.extend(test(walk, at)),
            _ => {}
        }
    }
    found
}

fn test(walk: &Walk<'_, '_>, at: usize) -> Option<TypeTest> {
    let (name, of) = (walk.items(at).next()?, walk.items(at).last()?);
    let is_test = walk.kind(name) == "simple_identifier" && is_type(walk.kind(of));
    let between = walk.tree.node(name).end as usize..walk.tree.node(of).start as usize;
    let is_not = walk.draft.text.get(between).unwrap_or("").contains("!is");
    is_test.then_some(TypeTest { name, of, is_not })
}

/// Gives a local binding the tested type from a node on.
fn narrow(walk: &mut Walk<'_, '_>, name: usize, of: usize, from: usize) {
    let span = walk.tree.node(name).span();
    if walk.draft.is_local(span) {
        let of = walk.lower(of);
        let word = walk.text(name);
        walk.draft.bind_implicit(word, span.start, Some(of), from);
    }
}

/// The body of a condition, a loop or a case: a block in which the condition holds. Its last expression is its value.
pub(super) fn body(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    let around = walk.parent(at);
    if walk.kind(around) == "if_expression"
        && let Some(condition) = walk.child(around, "condition")
    {
        let is_met = walk.child(around, "consequence") == Some(at);
        let found = tests(walk, condition);
        let is_one = walk.kind(condition) == "check_expression";
        for one in found.iter().filter(|one| if is_met { !one.is_not } else { one.is_not && is_one }) {
            narrow(walk, one.name, one.of, at);
        }
    }
    if let Some(last) = walk.child_of(at, "statements").and_then(|list| walk.items(list).last())
        && matches!(walk.kind(around), "if_expression" | "when_entry")
    {
        walk.defer_lowering(last);
    }
    at + 1
}

/// `if (x !is T) return`: after it, `x` is a `T`.
pub(super) fn guard(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (condition, then) = (walk.child(at, "condition"), walk.child(at, "consequence"));
    let is_alone = walk.child(at, "alternative").is_none();
    if let (Some(condition), Some(then), true) = (condition, then, is_alone)
        && let Some(one) = (walk.kind(condition) == "check_expression").then(|| test(walk, condition)).flatten()
        && one.is_not
    {
        let list = walk.child_of(then, "statements").unwrap_or(then);
        if walk.items(list).last().is_some_and(|last| walk.kind(last) == "jump_expression") {
            narrow(walk, one.name, one.of, walk.tree.next(at));
        }
    }
    at + 1
}

/// `x is T && x.f()`: the right operand is evaluated only when the left one holds.
pub(super) fn conjunction(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(first) = walk.items(at).next() else { return at + 1 };
    let found = tests(walk, first);
    if found.iter().any(|one| !one.is_not) {
        walk.draft.block(walk.tree.next(at), false);
        for one in found.iter().filter(|one| !one.is_not) {
            narrow(walk, one.name, one.of, walk.tree.next(first));
        }
    }
    at + 1
}

/// `is T ->` of a `when`: the subject is a `T` there.
pub(super) fn entry(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    let conditions: Vec<usize> = walk.items(at).filter(|&one| walk.kind(one) == "when_condition").take(2).collect();
    let &[only] = conditions.as_slice() else { return at + 1 };
    // Without a subject it is an ordinary condition.
    let first = walk.items(walk.parent(at)).next();
    let Some(subject) = first.filter(|&first| walk.kind(first) == "when_subject") else {
        let condition = walk.items(only).next();
        for one in condition.map_or_else(Vec::new, |of| tests(walk, of)).iter().filter(|one| !one.is_not) {
            narrow(walk, one.name, one.of, walk.tree.next(only));
        }
        return at + 1;
    };
    let name = match walk.child_of(subject, "variable_declaration") {
        Some(one) => walk.child_of(one, "simple_identifier"),
        None => walk.child_of(subject, "simple_identifier"),
    };
    let of = walk.child_of(only, "type_test").filter(|&of| !walk.text(of).starts_with('!'));
    let of = of.and_then(|of| walk.items(of).last());
    if let (Some(name), Some(of)) = (name, of) {
        narrow(walk, name, of, walk.tree.next(only));
    }
    at + 1
}
