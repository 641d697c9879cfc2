//! Test blocks as symbols: `describe`, `it`, `test` or one of their forms, called with a title and a function.
//!
//! Runners differ in their imports but share their syntax, so the words decide: `it.only('…', () => …)`,
//! `test.describe.serial('…', …)`, `test.each(table)('…', …)`, `it.skipIf(slow)('…', …)`. Hooks and steps are no
//! blocks. A name that other code may also use needs a literal title; so does any block outside test files.

use std::borrow::Cow;

use codecompass_model::{Span, SymbolKind};

use super::contextual_types::is_function;
use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::text;

/// Functions that accept a group of tests.
const GROUPS: &[&str] = &["describe", "fdescribe", "xdescribe"];

/// Functions that accept one test.
const SINGLES: &[&str] = &["it", "fit", "xit", "test", "xtest"];

/// Other names for both that may also have another purpose.
const AMBIGUOUS: &[&str] = &["context", "xcontext", "specify", "xspecify", "suite"];

/// Members of these functions that still declare tests.
const FORMS: &[&str] = &[
    "concurrent",
    "each",
    "fail",
    "failing",
    "fails",
    "fixme",
    "for",
    "if",
    "only",
    "parallel",
    "runIf",
    "sequential",
    "serial",
    "shuffle",
    "skip",
    "skipIf",
    "slow",
    "todo",
    "todoIf",
];

/// The forms that are called before the block: `test.each(table)('…', …)`.
const CALLED_FORMS: &[&str] = &["each", "for", "if", "runIf", "skipIf", "todoIf"];

/// The maximum number of consecutive forms.
const MAX_FORMS: usize = 8;

/// The maximum length of a title and of the name of a runner, in bytes; longer ones are truncated.
const MAX_TITLE: usize = 200;
const MAX_RUNNER: usize = 80;

/// A function that declares tests.
struct Runner {
    /// Whether it accepts a group, which needs no title.
    is_group: bool,
    /// Whether the name has no other use.
    is_unambiguous: bool,
}

/// Enters the symbol of a call that declares a test or a group of tests, and keeps it open up to the end of the call.
pub(super) fn enter(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let node = tree.node(at);
    let Some(callee) = tree.child(at, f::FUNCTION) else { return };
    let Some(runner) = runner(walk, callee, MAX_FORMS) else { return };
    let Some(title_at) = title(walk, at, &runner) else { return };
    let name = title_at.and_then(|title| literal(walk, title)).filter(|name| !name.is_empty());
    let in_test = || walk.draft.has_test_path || walk.draft.enclosing().is_some_and(|around| around.in_test);
    if node.start < walk.decorator_end || name.is_none() && !(runner.is_unambiguous && in_test()) {
        return;
    }
    let (outer_start, doc) = walk.comments.above(walk.draft, node.start);
    let name_span = match title_at.filter(|_| name.is_some()).map(|title| tree.node(title).span()) {
        Some(quoted) => Span { start: quoted.start + 1, end: quoted.end - 1 },
        None => Span { start: node.start, end: node.start },
    };
    let name = name.as_deref().unwrap_or("test");
    let new = NewSymbol {
        kind: SymbolKind::Test,
        name,
        segment: name,
        separator: ".",
        impl_trait: None,
        signature: signature(walk, callee, title_at),
        visibility_text: None,
        visibility: None,
        span: node.span(),
        outer_start,
        name_span,
        attributes: &[],
        doc,
        annotation: None,
        value: None,
        extras: SymbolExtras::default(),
        is_test: true,
    };
    walk.draft.symbol(new, node.next as usize);
}

/// Returns the runner if a callee declares tests.
fn runner(walk: &Walk<'_, '_>, callee: usize, steps: usize) -> Option<Runner> {
    let tree = walk.tree;
    let steps = steps.checked_sub(1)?;
    let callee = walk.unwrap(callee);
    match tree.kind(callee) {
        k::IDENTIFIER => {
            let word = walk.slice(callee);
            let is_group = GROUPS.contains(&word);
            let is_sure = is_group || SINGLES.contains(&word);
            (is_sure || AMBIGUOUS.contains(&word)).then_some(Runner { is_group, is_unambiguous: is_sure })
        }
        k::MEMBER => {
            let word = walk.slice(tree.child(callee, f::PROPERTY)?);
            let object = tree.child(callee, f::OBJECT)?;
            let is_group = GROUPS.contains(&word);
            if FORMS.contains(&word) {
                return runner(walk, object, steps);
            }
            if !is_group && !SINGLES.contains(&word) {
                return None;
            }
            // `test.describe` is one, `t.test` and `Deno.test` most likely.
            let is_sure = runner(walk, object, steps).is_some();
            (is_sure || tree.kind(object) == k::IDENTIFIER).then_some(Runner { is_group, is_unambiguous: is_sure })
        }
        k::CALL => {
            let inner = tree.child(callee, f::FUNCTION)?;
            let word = tree.child(inner, f::PROPERTY).map(|property| walk.slice(property))?;
            if CALLED_FORMS.contains(&word) { runner(walk, inner, steps) } else { None }
        }
        _ => None,
    }
}

/// Returns the title among the arguments of a call with the shape of a test: a title, optional options, and a function.
/// A group may have no title: `Some(None)`.
fn title(walk: &Walk<'_, '_>, call: usize, runner: &Runner) -> Option<Option<usize>> {
    let tree = walk.tree;
    let arguments = tree.child(call, f::ARGUMENTS).filter(|&list| tree.kind(list) == k::ARGUMENTS)?;
    let mut arguments = tree.children(arguments).filter(|&child| tree.kind(child) != k::COMMENT);
    let first = arguments.next()?;
    if is_body(walk, first) {
        return (runner.is_group && runner.is_unambiguous).then_some(None);
    }
    arguments.take(2).any(|argument| is_body(walk, argument)).then_some(Some(first))
}

/// Returns whether an argument is a function literal, or one in a call that prepares it: `fakeAsync(() => …)`.
fn is_body(walk: &Walk<'_, '_>, argument: usize) -> bool {
    let tree = walk.tree;
    let argument = walk.unwrap(argument);
    let prepared = (tree.kind(argument) == k::CALL).then(|| tree.child(argument, f::ARGUMENTS)).flatten();
    let last = prepared.and_then(|list| tree.children(list).last());
    is_function(tree.kind(last.unwrap_or(argument)))
}

/// Returns the title as plain text if it is a literal.
fn literal<'t>(walk: &Walk<'_, 't>, title: usize) -> Option<Cow<'t, str>> {
    let written = walk.slice(title);
    let is_template = written.starts_with('`') && !written.contains("${");
    let inside = written.get(1..written.len().saturating_sub(1))?;
    (walk.tree.kind(title) == k::STRING || is_template).then(|| text::title(inside, MAX_TITLE))
}

/// Returns the runner and the title, without tables, options and the function.
fn signature(walk: &Walk<'_, '_>, callee: usize, title: Option<usize>) -> String {
    let callee = walk.unwrap(callee);
    let inner = (walk.tree.kind(callee) == k::CALL).then(|| walk.tree.child(callee, f::FUNCTION)).flatten();
    let runner = text::truncate(walk.slice(inner.unwrap_or(callee)), MAX_RUNNER);
    let title = title.map_or("", |title| text::truncate(walk.slice(title), MAX_TITLE));
    text::signature(&format!("{runner}({title})"))
}
