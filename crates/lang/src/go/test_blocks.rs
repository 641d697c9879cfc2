//! Subtests and sub-benchmarks as symbols: `t.Run("title", func(t *testing.T) { … })`.

use std::borrow::Cow;

use codecompass_model::{Span, SymbolKind};

use super::kinds::{field as f, kind as k};
use super::types::span_of;
use super::walk::Walk;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::text;

/// The types of the single parameter that makes a function a test.
const TESTERS: &[&str] = &["*testing.T", "*testing.B", "*testing.F"];

/// The maximum length of a title, in bytes; longer titles are truncated.
const MAX_TITLE: usize = 200;

/// Enters the symbol of a call that runs a subtest, and keeps it open up to the end of the call.
pub(super) fn enter(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let node = tree.node(at);
    let is_run = |&callee: &usize| {
        let name = tree.child(callee, f::FIELD).filter(|_| tree.kind(callee) == k::SELECTOR);
        name.is_some_and(|name| walk.draft.slice(tree.node(name).span()) == "Run")
    };
    let Some(callee) = tree.child(at, f::FUNCTION).filter(is_run) else { return };
    let Some(title_at) = title(walk, at) else { return };
    let written = tree.node(title_at).span();
    let literal = literal(walk, title_at).filter(|title| !title.is_empty());
    let name_span = match literal {
        Some(_) => Span { start: written.start + 1, end: written.end - 1 },
        None => Span { start: node.start, end: node.start },
    };
    let runner = walk.draft.slice(tree.node(callee).span());
    let signature = format!("{runner}({})", text::truncate(walk.draft.slice(written), MAX_TITLE));
    let docs = walk.comments.take_above(walk.draft.text, node.start);
    let name = literal.as_deref().unwrap_or("test");
    let new = NewSymbol {
        kind: SymbolKind::Test,
        name,
        segment: name,
        separator: ".",
        impl_trait: None,
        signature: text::signature(&signature),
        visibility_text: None,
        visibility: None,
        span: node.span(),
        outer_start: docs.outer_start,
        name_span,
        attributes: &docs.directives,
        doc: docs.doc,
        annotation: None,
        value: None,
        extras: SymbolExtras::default(),
        is_test: true,
    };
    walk.draft.symbol(new, node.next as usize);
}

/// Returns the title of a call with a title and a function that is a test: by its parameter or, without one, as in
/// suites, if the title is a literal and the file a test.
fn title(walk: &Walk<'_, '_>, call: usize) -> Option<usize> {
    let tree = walk.tree;
    let arguments = tree.child(call, f::ARGUMENTS)?;
    let mut arguments = tree.children(arguments).filter(|&child| tree.kind(child) != k::COMMENT);
    let (Some(title), Some(function), None) = (arguments.next(), arguments.next(), arguments.next()) else {
        return None;
    };
    if tree.kind(function) != k::FUNCTION_LITERAL {
        return None;
    }
    let parameters = tree.child(function, f::PARAMETERS)?;
    let mut parameters = tree.children(parameters).filter(|&child| tree.kind(child) != k::COMMENT);
    let is_test = match (parameters.next(), parameters.next()) {
        (Some(only), None) => {
            let of = span_of(tree, only, f::TYPE).map(|of| walk.draft.slice(of));
            of.is_some_and(|of| TESTERS.contains(&of))
        }
        (None, _) => walk.draft.path.ends_with("_test.go") && literal(walk, title).is_some(),
        _ => false,
    };
    is_test.then_some(title)
}

/// Returns the title as plain text if it is a literal.
fn literal<'t>(walk: &Walk<'_, 't>, title: usize) -> Option<Cow<'t, str>> {
    let written = walk.draft.slice(walk.tree.node(title).span());
    let inside = written.get(1..written.len().saturating_sub(1))?;
    match walk.tree.kind(title) {
        k::STRING => Some(text::title(inside, MAX_TITLE)),
        k::RAW_STRING => Some(text::fold(text::truncate(inside, MAX_TITLE))),
        _ => None,
    }
}
