//! Renders the header of a declaration on one line.

use codecompass_model::Span;

use crate::draft::Draft;
use crate::text;
use crate::tree::Tree;

/// Returns a range at the start of a node, folded to one line and without its comments.
pub(crate) fn header(draft: &Draft<'_>, tree: &Tree, at: usize, range: Span, comments: &[u8]) -> String {
    let inside = (at + 1..tree.next(at)).map(|inner| tree.node(inner)).take_while(|inner| inner.start < range.end);
    let mut kept = String::new();
    let mut from = range.start;
    for comment in inside.filter(|inner| inner.start >= range.start && comments.contains(&inner.kind)) {
        kept.push_str(draft.slice(Span { start: from, end: comment.start }));
        kept.push(' ');
        from = comment.end;
    }
    let rest = draft.slice(Span { start: from, end: range.end.max(from) });
    if kept.is_empty() {
        return text::signature(rest);
    }
    kept.push_str(rest);
    text::signature(&kept)
}
