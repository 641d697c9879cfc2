//! Facets of a changed symbol: signature, body, attributes, docs.

use codecompass_model::{Span, Symbol};

/// A part of a symbol that can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Facet {
    /// The header.
    Signature,
    /// The text after the header.
    Body,
    /// Attributes and decorators.
    Attributes,
    /// The doc comment or docstring.
    Doc,
}

impl Facet {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Facet::Signature => "signature",
            Facet::Body => "body",
            Facet::Attributes => "attributes",
            Facet::Doc => "doc",
        }
    }
}

/// A symbol with the symbols of its file and the text of the file.
type SymbolInFile<'s> = (&'s Symbol, &'s [Symbol], &'s str);

/// Returns the facets of a symbol that differ. If the content hash differs, there is at least one.
pub fn facets(place: (u32, u32), before: (&[Symbol], &str), after: (&[Symbol], &str)) -> Vec<Facet> {
    let (Some(old), Some(new)) = (before.0.get(place.0 as usize), after.0.get(place.1 as usize)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if old.signature != new.signature {
        found.push(Facet::Signature);
    }
    if body((old, before.0, before.1), place.0) != body((new, after.0, after.1), place.1) {
        found.push(Facet::Body);
    }
    let has_new_hash = old.content_hash != new.content_hash;
    if has_new_hash && attributes(old, before.1) != attributes(new, after.1) {
        found.push(Facet::Attributes);
    }
    let has_new_doc = doc_changed((old, before.1), (new, after.1));
    if found.is_empty() && has_new_hash && !(has_new_doc && is_inside(old, new)) {
        // Only significant white space differs: indentation, or white space in a string.
        found.push(Facet::Body);
    }
    if has_new_doc {
        found.push(Facet::Doc);
    }
    found
}

/// Whether the docs of a symbol differ, ignoring white space at both ends of each line.
pub fn doc_changed(before: (&Symbol, &str), after: (&Symbol, &str)) -> bool {
    let doc = |(symbol, text): (&Symbol, &str)| {
        symbol.doc.map(|doc| doc.text(text).lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>())
    };
    doc(before) != doc(after)
}

/// Returns the text before a symbol that belongs to it, without docs and white space.
pub(super) fn attributes(symbol: &Symbol, text: &str) -> String {
    let pieces = spans_before(symbol).into_iter().map(|(start, end)| Span { start, end }.text(text));
    pieces.flat_map(str::chars).filter(|char| !char.is_whitespace()).collect()
}

/// Returns the ranges before a symbol that belong to it and are not docs.
fn spans_before(symbol: &Symbol) -> Vec<(u32, u32)> {
    match symbol.doc.filter(|doc| doc.start < symbol.span.start) {
        Some(doc) => vec![(symbol.outer_start, doc.start), (doc.end, symbol.span.start)],
        None => vec![(symbol.outer_start, symbol.span.start)],
    }
}

/// Whether the docs are inside the symbol's text, like a docstring.
fn is_inside(old: &Symbol, new: &Symbol) -> bool {
    [old, new].iter().any(|symbol| symbol.doc.is_some_and(|doc| doc.start >= symbol.span.start))
}

/// Returns the own lines of a symbol with their line numbers: attributes included, docs before the symbol and nested
/// symbols excluded.
pub fn own_lines<'t>(symbols: &[Symbol], place: u32, text: &'t str) -> Vec<(u32, &'t str)> {
    let Some(symbol) = symbols.get(place as usize) else { return Vec::new() };
    let mut lines: Vec<(u32, &str)> = Vec::new();
    // Spans are in source order, so each line end is counted once.
    let (mut counted, mut line_number) = (0, 1);
    for (start, end) in spans_before(symbol).into_iter().chain(own_spans(symbols, place)) {
        line_number += newlines(text, counted, start);
        counted = counted.max(start);
        let piece = Span { start, end }.text(text);
        let is_own = |line: &str| !line.trim_matches([' ', '\t', ',', ';', '\r']).is_empty();
        for (line, number) in piece.split('\n').zip(line_number..).filter(|(line, _)| is_own(line)) {
            // Two spans on one line give one line.
            if lines.last().is_none_or(|(last, _)| *last != number) {
                lines.push((number, whole_line(text, line)));
            }
        }
    }
    lines
}

/// Returns the complete line that contains a fragment, so that it is shown as written.
fn whole_line<'t>(text: &'t str, line: &'t str) -> &'t str {
    let offset = line.as_ptr() as usize - text.as_ptr() as usize;
    let begin = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
    text[begin..end].trim_end()
}

fn newlines(text: &str, from: u32, to: u32) -> u32 {
    let between = text.as_bytes().get(from as usize..to as usize).unwrap_or_default();
    memchr::memchr_iter(b'\n', between).count() as u32
}

/// Returns the ranges of a symbol that belong to no nested symbol.
pub(super) fn own_spans(symbols: &[Symbol], place: u32) -> Vec<(u32, u32)> {
    let symbol = &symbols[place as usize];
    let mut from = symbol.span.start;
    let mut spans = Vec::new();
    // Children follow their parent, and everything nested starts before the end of the parent.
    let inside = symbols[place as usize + 1..].iter().take_while(|other| other.span.start < symbol.span.end);
    for child in inside.filter(|child| child.parent == Some(place)) {
        spans.push((from, child.outer_start.max(from)));
        from = from.max(child.span.end);
    }
    spans.push((from, symbol.span.end.max(from)));
    spans
}

/// Returns the own text of a symbol after its header, without white space, and without header and docs where they can
/// be recognised.
fn body((symbol, symbols, text): SymbolInFile<'_>, place: u32) -> String {
    let doc = symbol.doc.filter(|doc| doc.start >= symbol.span.start);
    let mut own = String::new();
    for (start, end) in own_spans(symbols, place) {
        let pieces = match doc.filter(|doc| doc.start >= start && doc.end <= end) {
            Some(doc) => [(start, doc.start), (doc.end, end)],
            None => [(start, end), (end, end)],
        };
        for (start, end) in pieces {
            own.extend(Span { start, end }.text(text).chars().filter(|char| !char.is_whitespace()));
        }
    }
    after_header(&own, &symbol.signature).unwrap_or(&own).trim_matches([',', ';']).to_owned()
}

/// Returns the text after the header in a text without white space; `None` if the text does not start with the header.
/// A header on one line has no comma after its last parameter and no comments.
fn after_header<'t>(own: &'t str, header: &str) -> Option<&'t str> {
    let mut rest = own;
    for wanted in header.chars().filter(|char| !char.is_whitespace()) {
        rest = match rest.strip_prefix(wanted) {
            Some(rest) => rest,
            None => rest.strip_prefix(',')?.strip_prefix(wanted)?,
        };
    }
    Some(rest)
}
