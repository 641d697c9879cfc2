//! Syntax highlighting for files that are shown to people.
//!
//! [`highlight`] finds the comments, string literals, numbers, keywords, types, function names, constants and
//! attributes of a text. It is only as exact as a reader needs. The name of a node's kind determines what the node is,
//! alike in every grammar (`node_kinds`); the nodes around a name determine what the name is (`walk`); exceptions of a
//! language are rows of one table (`overrides`). A text without a grammar goes through a scanner that finds comments,
//! string literals and numbers from a few facts about each format (`scan`). Highlighting is neither stored nor used by
//! resolvers, so changes to it need no new version.
//!
//! Like extraction, highlighting is total: any bytes give spans, broken code gives fewer, and a text that exceeds the
//! parse budget gives none.

mod formats;
mod node_kinds;
mod overrides;
mod scan;
mod walk;

use std::cell::Cell;

use crate::extraction::MAX_BYTES;
use crate::{Language, Walk, detect, parse};

/// The syntactic role of a part of a text. Punctuation and unclassified names have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HighlightKind {
    /// A comment.
    Comment,
    /// A comment or string literal that documents the code next to it.
    Doc,
    /// A string, a character or a regular expression. Code inside it is highlighted as code.
    Text,
    /// A number.
    Number,
    /// A keyword of the language.
    Keyword,
    /// The name of a type.
    Type,
    /// The name of a function where it is defined or called.
    Function,
    /// The name of a value: `true`, `nil`, `LIMIT`, `:ok`.
    Constant,
    /// An annotation, a decorator or a preprocessor directive; in data formats, a key.
    Attribute,
}

impl HighlightKind {
    /// All kinds.
    pub const ALL: [HighlightKind; 9] = [
        HighlightKind::Comment,
        HighlightKind::Doc,
        HighlightKind::Text,
        HighlightKind::Number,
        HighlightKind::Keyword,
        HighlightKind::Type,
        HighlightKind::Function,
        HighlightKind::Constant,
        HighlightKind::Attribute,
    ];

    /// Returns the name of the kind, in lower case.
    pub const fn name(&self) -> &'static str {
        match self {
            HighlightKind::Comment => "comment",
            HighlightKind::Doc => "doc",
            HighlightKind::Text => "text",
            HighlightKind::Number => "number",
            HighlightKind::Keyword => "keyword",
            HighlightKind::Type => "type",
            HighlightKind::Function => "function",
            HighlightKind::Constant => "constant",
            HighlightKind::Attribute => "attribute",
        }
    }
}

/// A part of a text with its highlight kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HighlightSpan {
    /// Its first byte.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
    /// Its kind.
    pub kind: HighlightKind,
}

/// Returns the highlight spans of a file: sorted, without overlaps, and on character boundaries. If the bytes are not
/// UTF-8, offsets refer to the text that [`extract`](crate::extract) returns, where invalid bytes are replaced.
/// `language` selects a language as in [`extract_as`](crate::extract_as).
pub fn highlight(path: &str, bytes: &[u8], language: Option<&str>) -> Vec<HighlightSpan> {
    highlight_while(path, bytes, language, &|| true).unwrap_or_default()
}

/// Highlights a file like [`highlight`], with cancellation: `go_on` is polled while the file is parsed, and once it
/// returns false the result is `None`. A text that exceeds the parse budget has no spans.
pub fn highlight_while(
    path: &str,
    bytes: &[u8],
    language: Option<&str>,
    go_on: &dyn Fn() -> bool,
) -> Option<Vec<HighlightSpan>> {
    let text = String::from_utf8_lossy(bytes);
    if text.len() > MAX_BYTES {
        return Some(Vec::new());
    }
    let found = language.and_then(|name| detect::by_name(name, path)).unwrap_or_else(|| detect::detect(path, &text));
    let Some(language) = found.language else {
        return Some(scan::highlight_text(found.name, &text));
    };
    let is_over = Cell::new(false);
    let go_on = || {
        is_over.set(is_over.get() || !go_on());
        !is_over.get()
    };
    let all = highlight_code(language, &text, &go_on);
    (!is_over.get()).then_some(all)
}

fn highlight_code(language: &Language, text: &str, go_on: &dyn Fn() -> bool) -> Vec<HighlightSpan> {
    let Walk::Embedded { code, .. } = language.walk else {
        return highlight_tree(language, text, text, go_on);
    };
    let code = code(text);
    if code.len() != text.len() {
        return Vec::new();
    }
    let mut all = scan::highlight_text(scan::MARKUP, &blank_code(text, &code));
    all.extend(highlight_tree(language, &code, text, go_on));
    sorted_without_overlaps(all)
}

/// Highlights code that may be only part of the text.
fn highlight_tree(language: &Language, code: &str, text: &str, go_on: &dyn Fn() -> bool) -> Vec<HighlightSpan> {
    let odd = overrides::overrides_for(language.name);
    let parsed = parse::with_best_tree(language, code, go_on, |tree, repaired| {
        let mut all = walk::highlight_nodes(tree, text, odd);
        // Text that the repair removed has no node.
        let hidden = repaired.zip(odd.repaired).map(|(repaired, colour)| repaired_spans(code, repaired, colour));
        all.extend(hidden.into_iter().flatten());
        all
    });
    sorted_without_overlaps(parsed.unwrap_or_default())
}

/// Returns the text with its code replaced by blanks.
fn blank_code(text: &str, code: &str) -> String {
    let blank = |(byte, code): (u8, u8)| if byte == code && byte != b'\n' { b' ' } else { byte };
    // Code consists of whole characters, so the remaining text does, too.
    String::from_utf8(text.bytes().zip(code.bytes()).map(blank).collect()).unwrap_or_default()
}

/// Returns spans for the words that differ in the repaired text.
fn repaired_spans(text: &str, repaired: &str, colour: HighlightKind) -> Vec<HighlightSpan> {
    let (text, repaired) = (text.as_bytes(), repaired.as_bytes());
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.len().min(repaired.len()) {
        let same = |(one, other): (&u8, &u8)| one == other;
        let len = text[at..].iter().zip(&repaired[at..]).take_while(|pair| !same(*pair)).count();
        if len > 0 && (text[at].is_ascii_alphabetic() || matches!(text[at], b'#' | b'@' | b'_')) {
            all.push(HighlightSpan { start: at as u32, end: (at + len) as u32, kind: colour });
        }
        at += len.max(1);
    }
    all
}

/// Sorts the spans and drops each one that begins before the previous one ends.
fn sorted_without_overlaps(mut all: Vec<HighlightSpan>) -> Vec<HighlightSpan> {
    all.sort_by_key(|one| (one.start, one.end));
    let mut end = 0;
    all.retain(|one| {
        let follows = one.start >= end;
        end = if follows { one.end } else { end };
        follows
    });
    all
}

/// Collects spans from the start to the end of a text.
struct SpanBuilder<'t> {
    text: &'t str,
    /// Everything before this offset is done.
    at: usize,
    spans: Vec<HighlightSpan>,
}

impl<'t> SpanBuilder<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, spans: Vec::new() }
    }

    /// Advances to an offset and gives everything up to it one kind, or none. An offset that was passed already has no
    /// effect.
    fn advance_to(&mut self, place: usize, colour: Option<HighlightKind>) {
        let (start, end) = (self.at, self.at.max(place));
        self.at = end;
        let Some((colour, part)) = colour.zip(self.text.get(start..end)) else { return };
        let kept = match colour {
            HighlightKind::Comment | HighlightKind::Doc => part.trim_end_matches(['\n', '\r']).len(),
            _ => part.len(),
        };
        let (start, end) = (start as u32, (start + kept) as u32);
        match self.spans.last_mut() {
            Some(last) if last.end == start && last.kind == colour => last.end = end,
            _ if kept > 0 => self.spans.push(HighlightSpan { start, end, kind: colour }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_name() {
        let mut names: Vec<&str> = HighlightKind::ALL.iter().map(HighlightKind::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), HighlightKind::ALL.len());
    }

    #[test]
    fn repaired_text_is_highlighted() {
        let colour = HighlightKind::Keyword;
        let all = repaired_spans("expect open class A\n <T>", "       open class A\n;<T>", colour);
        assert_eq!(all, [HighlightSpan { start: 0, end: 6, kind: colour }]);
    }

    #[test]
    fn first_of_overlapping_spans_wins() {
        let one = |start, end| HighlightSpan { start, end, kind: HighlightKind::Text };
        assert_eq!(
            sorted_without_overlaps(vec![one(3, 5), one(0, 2), one(1, 4), one(5, 6)]),
            [one(0, 2), one(3, 5), one(5, 6)]
        );
    }
}
