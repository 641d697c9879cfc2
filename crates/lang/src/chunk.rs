//! Cutting a text into the pieces that search sees.
//!
//! Pieces are whole lines and cover the text exactly once, in order. In code they begin where symbols begin: a symbol
//! that fits into one piece is never cut, small neighbours share one, and a large one is opened and its children are
//! treated the same way. What has no structure is cut at blank lines where it can be.

use codecompass_model::{Chunk, Lines, Span, Symbol, SymbolKind};

use crate::lines::LineStarts;

/// The size that pieces aim at, in bytes.
const TARGET: u32 = 750;

/// The size up to which a syntactic unit stays whole.
const LIMIT: u32 = 1500;

/// Lines, both inside, and the symbol they belong to.
#[derive(Clone, Copy)]
struct Unit {
    lines: Lines,
    symbol: Option<u32>,
}

/// The pieces of a text without a grammar.
pub(crate) fn of_text(text: &str, lines: &LineStarts) -> Vec<Chunk> {
    let mut units = Vec::new();
    split(&mut units, text, lines, Unit { lines: Lines { start: 1, end: lines.count() }, symbol: None });
    units.iter().map(|unit| chunk(lines, *unit)).collect()
}

/// The pieces of code with these symbols.
pub(crate) fn of_code(text: &str, lines: &LineStarts, symbols: &[Symbol]) -> Vec<Chunk> {
    merge(lines, symbols, &units(text, lines, symbols)).iter().map(|unit| chunk(lines, *unit)).collect()
}

/// The lines in order, each in one unit: a symbol that fits, or what lies between such symbols.
fn units(text: &str, lines: &LineStarts, symbols: &[Symbol]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut next_line = 1;
    let mut open: Vec<(u32, u32)> = Vec::new();
    for (index, symbol) in symbols.iter().enumerate() {
        let (first, last) = (lines.line(symbol.outer_start), symbol.lines.end);
        if symbol.kind == SymbolKind::Use || first < next_line {
            continue;
        }
        close(&mut units, text, lines, &mut open, &mut next_line, first);
        if open.last().is_some_and(|&(around, _)| is_within_sibling(symbol, &symbols[around as usize])) {
            continue;
        }
        gap(&mut units, text, lines, next_line, first, open.last().map(|&(symbol, _)| symbol));
        next_line = first;
        let own = Unit { lines: Lines { start: first, end: last }, symbol: Some(index as u32) };
        if size(lines, own.lines) <= LIMIT {
            units.push(own);
            next_line = last + 1;
        } else {
            open.push((index as u32, last));
        }
    }
    let end = lines.count() + 1;
    close(&mut units, text, lines, &mut open, &mut next_line, end);
    gap(&mut units, text, lines, next_line, end, None);
    units
}

/// Whether a symbol is written inside another one of the same parent: a field that a method assigns is part of the
/// method's text.
fn is_within_sibling(symbol: &Symbol, other: &Symbol) -> bool {
    symbol.parent == other.parent && symbol.span.end <= other.span.end
}

/// Ends the open symbols whose last line stands before `line`.
fn close(
    units: &mut Vec<Unit>,
    text: &str,
    lines: &LineStarts,
    open: &mut Vec<(u32, u32)>,
    next_line: &mut u32,
    line: u32,
) {
    while let Some(&(symbol, last)) = open.last() {
        if last >= line {
            break;
        }
        gap(units, text, lines, *next_line, last + 1, Some(symbol));
        *next_line = (*next_line).max(last + 1);
        open.pop();
    }
}

/// The lines from `from` up to but without `to`, cut to size.
fn gap(units: &mut Vec<Unit>, text: &str, lines: &LineStarts, from: u32, to: u32, symbol: Option<u32>) {
    if from < to {
        split(units, text, lines, Unit { lines: Lines { start: from, end: to - 1 }, symbol });
    }
}

/// Cuts a unit that is too large at line ends, at a blank line or a heading when one is near.
fn split(units: &mut Vec<Unit>, text: &str, lines: &LineStarts, unit: Unit) {
    let mut start = unit.lines.start;
    while start <= unit.lines.end {
        let end = piece_end(text, lines, Lines { start, end: unit.lines.end });
        units.push(Unit { lines: Lines { start, end }, ..unit });
        start = end + 1;
    }
}

/// The last line of the piece that begins with these lines.
fn piece_end(text: &str, lines: &LineStarts, rest: Lines) -> u32 {
    let mut best = None;
    for line in rest.start..=rest.end {
        let length = size(lines, Lines { start: rest.start, end: line });
        if length > LIMIT {
            return best.unwrap_or(line.saturating_sub(1)).max(rest.start);
        }
        let good = line < rest.end && is_border(text, lines, line);
        if good && length >= TARGET {
            return line;
        }
        if good && length >= TARGET / 3 || length <= TARGET && best.is_none_or(|best| !is_border(text, lines, best)) {
            best = Some(line);
        }
    }
    rest.end
}

/// Whether a piece may well end with this line: it is blank, or a heading follows.
fn is_border(text: &str, lines: &LineStarts, line: u32) -> bool {
    let of = |line: u32| Span { start: lines.start(line), end: lines.end(line) }.text(text);
    of(line).trim().is_empty() || of(line + 1).starts_with("# ") || of(line + 1).starts_with("## ")
}

/// Joins small neighbours.
fn merge(lines: &LineStarts, symbols: &[Symbol], units: &[Unit]) -> Vec<Unit> {
    let mut merged = Vec::new();
    let mut group: &[Unit] = &[];
    let mut start = 0;
    for (at, unit) in units.iter().enumerate() {
        let together = Lines { start: units[start].lines.start, end: unit.lines.end };
        let full = group.last().is_some_and(|last| size(lines, Lines { end: last.lines.end, ..together }) >= TARGET);
        if full || size(lines, together) > TARGET + TARGET / 3 && !group.is_empty() && !is_small(lines, unit, group) {
            merged.push(join(lines, symbols, group));
            start = at;
        }
        group = &units[start..=at];
    }
    if !group.is_empty() {
        merged.push(join(lines, symbols, group));
    }
    merged
}

/// Whether a unit, or the group before it, is too small to stand alone while both still fit into one piece.
fn is_small(lines: &LineStarts, unit: &Unit, group: &[Unit]) -> bool {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return false;
    };
    let before = Lines { start: first.lines.start, end: last.lines.end };
    let together = Lines { start: first.lines.start, end: unit.lines.end };
    size(lines, together) <= LIMIT && size(lines, unit.lines).min(size(lines, before)) < TARGET / 5
}

/// One unit over neighbours. It belongs to the symbol of most of its bytes, else to the type that encloses them all, else
/// to the largest symbol in it.
fn join(lines: &LineStarts, symbols: &[Symbol], group: &[Unit]) -> Unit {
    let span = Lines {
        start: group.first().map_or(1, |unit| unit.lines.start),
        end: group.last().map_or(1, |unit| unit.lines.end),
    };
    let largest = group.iter().filter(|unit| unit.symbol.is_some()).max_by_key(|unit| size(lines, unit.lines));
    let symbol = match largest {
        Some(unit) if 2 * size(lines, unit.lines) > size(lines, span) => unit.symbol,
        _ => common(symbols, group).or(largest.and_then(|unit| unit.symbol)),
    };
    Unit { lines: span, symbol }
}

/// The innermost symbol that encloses all units of a group, unless it is a module, which says little about them.
fn common(symbols: &[Symbol], group: &[Unit]) -> Option<u32> {
    let mut candidate = group.first()?.symbol;
    while let Some(symbol) = candidate {
        let lines = symbols[symbol as usize].lines;
        let outer = |unit: &Unit| unit.lines.start + 1 >= lines.start && unit.lines.end <= lines.end;
        if group.iter().all(outer) {
            break;
        }
        candidate = symbols[symbol as usize].parent;
    }
    candidate.filter(|&symbol| symbols[symbol as usize].kind != SymbolKind::Module)
}

fn size(lines: &LineStarts, range: Lines) -> u32 {
    lines.end(range.end) - lines.start(range.start)
}

fn chunk(lines: &LineStarts, unit: Unit) -> Chunk {
    let span = Span { start: lines.start(unit.lines.start), end: lines.end(unit.lines.end) };
    Chunk { span, lines: unit.lines, symbol: unit.symbol }
}
