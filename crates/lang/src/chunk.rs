//! Splits the text outside symbols into chunks for search.
//!
//! Text that belongs to a symbol is searched with the symbol. The rest is the text between symbols and whole files of
//! prose, data and languages without a grammar. Chunks are whole lines in source order. Every line that is not blank
//! belongs either to a symbol or to exactly one chunk. Chunks end at blank lines where possible.

use codecompass_model::{Chunk, LineOwners, Lines, Span, Symbol};

use crate::lines::LineStarts;

/// The target size of a chunk, in bytes.
const TARGET_BYTES: u32 = 750;

/// The maximum size of a chunk of several lines, in bytes.
const MAX_BYTES: u32 = 1500;

/// Returns the chunks of a text without a grammar.
pub(crate) fn chunk_text(text: &str, lines: &LineStarts) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    split(&mut chunks, text, lines, Lines { start: 1, end: lines.count() });
    chunks
}

/// Returns the chunks of the code between these symbols.
pub(crate) fn chunk_code(text: &str, lines: &LineStarts, symbols: &[Symbol]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut start = 1;
    for (at, owner) in LineOwners::new(text, symbols).iter().enumerate() {
        let line = at as u32 + 1;
        if owner.is_some() {
            split(&mut chunks, text, lines, Lines { start, end: line - 1 });
            start = line + 1;
        }
    }
    split(&mut chunks, text, lines, Lines { start, end: lines.count() });
    chunks
}

/// Splits a range of lines into chunks at line ends, preferably at a blank line or before a heading. Leading and
/// trailing blank lines are dropped.
fn split(chunks: &mut Vec<Chunk>, text: &str, lines: &LineStarts, range: Lines) {
    let is_text = |line: &u32| !is_blank(text, lines, *line);
    let Some(mut start) = (range.start..=range.end).find(is_text) else { return };
    let end = (start..=range.end).rev().find(is_text).unwrap_or(start);
    while start <= end {
        let last = chunk_end(text, lines, Lines { start, end });
        let span = Span { start: lines.start(start), end: lines.end(last) };
        chunks.push(Chunk { span, lines: Lines { start, end: last } });
        start = last + 1;
    }
}

/// Returns the last line of the chunk that begins with these lines.
fn chunk_end(text: &str, lines: &LineStarts, rest: Lines) -> u32 {
    let mut best = None;
    for line in rest.start..=rest.end {
        let length = size(lines, Lines { start: rest.start, end: line });
        if length > MAX_BYTES {
            return best.unwrap_or(line.saturating_sub(1)).max(rest.start);
        }
        let good = line < rest.end && is_good_break(text, lines, line);
        if good && length >= TARGET_BYTES {
            return line;
        }
        if good && length >= TARGET_BYTES / 3
            || length <= TARGET_BYTES && best.is_none_or(|best| !is_good_break(text, lines, best))
        {
            best = Some(line);
        }
    }
    rest.end
}

/// Returns whether this line is a good end for a chunk: it is blank, or a heading follows.
fn is_good_break(text: &str, lines: &LineStarts, line: u32) -> bool {
    let next = line_text(text, lines, line + 1);
    is_blank(text, lines, line) || next.starts_with("# ") || next.starts_with("## ")
}

fn is_blank(text: &str, lines: &LineStarts, line: u32) -> bool {
    line_text(text, lines, line).trim().is_empty()
}

fn line_text<'t>(text: &'t str, lines: &LineStarts, line: u32) -> &'t str {
    Span { start: lines.start(line), end: lines.end(line) }.text(text)
}

fn size(lines: &LineStarts, range: Lines) -> u32 {
    lines.end(range.end) - lines.start(range.start)
}
