//! Items in macro calls that only the macro can parse: items that it expands from its arguments, and items that
//! unparsed macro tokens look like.

use codecompass_model::{Span, SymbolKind, Visibility};

use super::bindings;
use super::items::flags;
use super::items::visibility_of_modifier;
use super::kinds::{field as f, kind as k};
use super::macro_expansion::{self, ExpandedItem};
use super::walk::Walk;
use crate::draft::{ExprInput, NewSymbol, SymbolExtras};
use crate::text;
use crate::tree::Tree;

/// The maximum length of text before a name to search for its keyword.
const MAX_BEFORE: usize = 2_000;

/// Enters an item that a macro of the file expands from this name.
pub(super) fn enter_expanded(walk: &mut Walk<'_, '_>, made: ExpandedItem) {
    let name = walk.draft.slice(made.name);
    let visibility = made.visibility.as_deref().map_or(Visibility::Private, visibility_of_modifier);
    let new = NewSymbol {
        kind: made.kind,
        name,
        segment: name,
        separator: "::",
        impl_trait: None,
        signature: made.signature.clone(),
        visibility_text: made.visibility,
        visibility: Some(visibility),
        span: made.span,
        outer_start: made.span.start,
        name_span: made.name,
        attributes: &[],
        doc: None,
        annotation: made.annotation.map(ExprInput::Text),
        value: None,
        extras: SymbolExtras { flags: flags(made.kind, &made.signature), ..SymbolExtras::default() },
        is_test: false,
    };
    walk.draft.symbol(new, 0);
}

/// Enters an item if its name occurs here among unparsed tokens, after its keyword, in a macro call in item position:
/// `pub struct Flags: u8 { const A = 1; }`. Such a call declares what it looks like, though the grammar cannot parse
/// it.
pub(super) fn enter_loose(walk: &mut Walk<'_, '_>, at: usize) -> bool {
    let (tree, text) = (walk.tree, walk.draft.text);
    let node = tree.node(at);
    let near = text::last(&text[..node.start as usize], MAX_BEFORE);
    let Some((kind, start)) = head(near) else { return false };
    let start = node.start - near.len() as u32 + start;
    let Some(call) = enclosing_macro_call(tree, at).filter(|&call| macro_expansion::is_item(tree, call)) else {
        return false;
    };
    let called = tree.child(call, f::MACRO).map_or("", |name| walk.draft.slice(tree.node(name).span()));
    if called.contains("quote") {
        return false;
    }
    // Up to the braces or the semicolon that follow.
    let (mut from, mut end, mut body) = (node.end, None, None);
    let list = tree.node(at).parent as usize;
    let mut next = node.next as usize;
    for _ in 0..bindings::MAX_ELEMENTS {
        if end.is_some() {
            break;
        }
        let sibling = (next < tree.next(list)).then(|| tree.node(next));
        let until = sibling.map_or(tree.node(list).end.saturating_sub(1), |sibling| sibling.start);
        let gap = Span { start: from, end: until };
        match (walk.draft.slice(gap).find(';'), sibling) {
            (Some(semicolon), _) => end = Some(gap.start + semicolon as u32 + 1),
            (None, Some(sibling))
                if sibling.kind == k::TOKEN_TREE && text[sibling.start as usize..].starts_with('{') =>
            {
                (end, body) = (Some(sibling.end), Some(sibling));
            }
            (None, Some(sibling)) => (from, next) = (sibling.end, sibling.next as usize),
            (None, None) => end = Some(until),
        }
    }
    let span = Span { start, end: end.unwrap_or(node.end) };
    let header = Span { start, end: body.map_or(span.end, |body| body.start) };
    let header_text = walk.draft.slice(header);
    let visibility = header_text.starts_with("pub").then(|| {
        let restricted = header_text.strip_prefix("pub").is_some_and(|rest| rest.starts_with('('));
        let end = header_text.find(')').filter(|_| restricted).map_or(3, |at| at + 1);
        text::fold(&header_text[..end]).into_owned()
    });
    let arrow = header_text.find("->").filter(|_| kind == SymbolKind::Fn);
    let annotation = arrow.map(|at| Span { start: header.start + at as u32 + 2, end: header.end });
    let signature = text::signature(header_text.trim_end_matches([';', ' ', '\n']));
    let new = NewSymbol {
        kind,
        name: walk.draft.slice(node.span()),
        segment: walk.draft.slice(node.span()),
        separator: "::",
        impl_trait: None,
        signature: signature.clone(),
        visibility: Some(visibility.as_deref().map_or(Visibility::Private, visibility_of_modifier)),
        visibility_text: visibility,
        span,
        outer_start: start,
        name_span: node.span(),
        attributes: &[],
        doc: None,
        annotation: annotation.map(ExprInput::Text),
        value: None,
        extras: SymbolExtras { flags: flags(kind, &signature), ..SymbolExtras::default() },
        is_test: false,
    };
    walk.draft.symbol(new, body.map_or(0, |body| body.next as usize));
    true
}

/// Returns the macro call that contains a node among its unparsed tokens.
fn enclosing_macro_call(tree: &Tree, at: usize) -> Option<usize> {
    let mut at = tree.node(at).parent as usize;
    while tree.kind(at) == k::TOKEN_TREE {
        at = tree.node(at).parent as usize;
    }
    (tree.kind(at) == k::MACRO_CALL).then_some(at)
}

/// Returns the kind and the start of the item with its name after this text.
fn head(before: &str) -> Option<(SymbolKind, u32)> {
    let last = |text: &str| text::last_word(text.trim_end());
    let trimmed = before.trim_end();
    let mut start = last(trimmed);
    let kind = macro_expansion::item_kind(&trimmed[start..]).filter(|_| trimmed.len() < before.len())?;
    loop {
        let above = before[..start].trim_end();
        let word = &above[last(above)..];
        if matches!(word, "pub" | "unsafe" | "async" | "const" | "extern" | "default") {
            start = last(above);
        } else if above.ends_with(')')
            && above.rfind("pub(").is_some_and(|at| !above[at..above.len() - 1].contains(')'))
        {
            start = above.rfind("pub(")?;
        } else {
            let above = without_comments(above);
            let begins = above.is_empty() || above.ends_with(['{', '(', '[', ';', '}', ']']);
            return begins.then_some((kind, start as u32));
        }
    }
}

/// Returns a text without the comment lines at its end.
fn without_comments(mut text: &str) -> &str {
    loop {
        let line = text.rfind('\n').map_or(0, |at| at + 1);
        match text[line..].trim_start().starts_with("//") {
            true => text = text[..line].trim_end(),
            false => return text,
        }
    }
}
