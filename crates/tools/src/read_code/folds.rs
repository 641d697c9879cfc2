//! Lines that a text for an agent leaves out: long docs and imports in a wide range, and the parts of a long symbol
//! that are far from the requested line. Each is one row with the numbers of its lines, so it can be read on demand.

use codecompass_model::{Lines, Symbol, SymbolKind};

/// The minimum length of a range in which docs and imports are left out, in lines.
const MIN_RANGE: u32 = 40;

/// The number of lines of a doc comment that are shown.
const DOC_LINES: u32 = 2;

/// The minimum number of lines that are left out together.
const MIN_FOLD: u32 = 4;

/// The maximum length of a symbol that is shown whole if one of its lines is requested.
const MAX_WHOLE_SYMBOL: u32 = 80;

/// The number of lines shown before and after the requested line of a longer symbol.
const WINDOW: u32 = 25;

/// Lines that are left out.
pub(super) struct Fold {
    pub(super) lines: Lines,
    /// What they contain; may be empty.
    pub(super) what: &'static str,
}

impl Fold {
    fn new(start: u32, end: u32, what: &'static str) -> Option<Self> {
        (start <= end && end - start + 1 >= MIN_FOLD).then_some(Self { lines: Lines { start, end }, what })
    }

    /// The row in place of the lines.
    pub(super) fn row(&self) -> String {
        let space = if self.what.is_empty() { "" } else { " " };
        format!("{}-{}|…{space}{}", self.lines.start, self.lines.end, self.what)
    }
}

/// The docs and imports that lie in a range and are long, in order.
pub(super) fn docs_and_imports(symbols: &[Symbol], text: &str, range: Lines) -> Vec<Fold> {
    if range.end.saturating_sub(range.start) < MIN_RANGE {
        return Vec::new();
    }
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let line_of = |at: u32| starts.partition_point(|start| *start <= at as usize) as u32;
    let is_inside = |lines: Lines| range.start <= lines.start && lines.end <= range.end;
    let mut folds: Vec<Fold> = Vec::new();
    for symbol in symbols.iter().filter(|symbol| is_inside(Lines { end: symbol.name_line, ..symbol.lines })) {
        let Some(doc) = symbol.doc.filter(|doc| doc.start < doc.end) else { continue };
        let lines = Lines { start: line_of(doc.start), end: line_of(doc.end - 1) };
        if is_inside(lines) {
            folds.extend(Fold::new(lines.start + DOC_LINES, lines.end, "docs"));
        }
    }
    let imports = symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Use && is_inside(symbol.lines));
    let mut run: Option<Lines> = None;
    for lines in imports.map(|symbol| symbol.lines) {
        match &mut run {
            Some(last) if lines.start <= last.end + 2 => last.end = last.end.max(lines.end),
            _ => folds.extend(run.replace(lines).and_then(|last| Fold::new(last.start, last.end, "imports"))),
        }
    }
    folds.extend(run.and_then(|last| Fold::new(last.start, last.end, "imports")));
    folds.sort_by_key(|fold| fold.lines.start);
    // Docs of nested parts of one declaration may overlap.
    let mut end = 0;
    folds.retain(|fold| {
        let is_next = fold.lines.start > end;
        end = if is_next { fold.lines.end } else { end };
        is_next
    });
    folds
}

/// The parts of a long symbol, whose lines with its docs are given, that are far from one of its lines and from its
/// header.
pub(super) fn far_from(symbol: &Symbol, lines: Lines, line: u32) -> Vec<Fold> {
    let is_long = symbol.lines.end - symbol.lines.start >= MAX_WHOLE_SYMBOL;
    if !is_long || line <= symbol.name_line {
        return Vec::new();
    }
    let before = Fold::new(symbol.name_line + 1, line.saturating_sub(WINDOW + 1), "");
    let after = Fold::new(line + WINDOW + 1, lines.end, "");
    before.into_iter().chain(after).collect()
}
