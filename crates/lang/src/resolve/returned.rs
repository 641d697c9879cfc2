//! Finds the inner functions that a function returns.
//!
//! An inner function is returned if it follows `return` or the arrow of a short function, itself or by its bare name. A
//! function that is passed to another call or put into an object does not count: its callers are unknown.

use codecompass_model::{RefShape, SourceFile, Span, Symbol, SymbolAt, SymbolKind, World};

/// Returns the inner functions that a call of this one returns, in source order.
pub(crate) fn returned_functions(world: &dyn World, function: SymbolAt) -> Vec<SymbolAt> {
    let Some(file) = world.file(function.file) else { return Vec::new() };
    let is_inner = |symbol: &Symbol| symbol.parent == Some(function.ordinal) && is_function(symbol.kind);
    let inner: Vec<u32> = symbol_indices(&file, is_inner).collect();
    let outer = file.facts.symbols.get(function.ordinal as usize).filter(|outer| is_function(outer.kind));
    let (Some(_), false, Some(text)) = (outer, inner.is_empty(), world.text(function.file)) else { return Vec::new() };
    let is_given = |place: &u32| {
        let symbol = &file.facts.symbols[*place as usize];
        is_behind_return(&text, symbol.outer_start.min(symbol.span.start) as usize)
            || is_named(&file, &text, function.ordinal, symbol)
    };
    inner.into_iter().filter(is_given).map(|place| SymbolAt { file: function.file, ordinal: place }).collect()
}

fn symbol_indices<'f>(file: &'f SourceFile, is_meant: impl Fn(&Symbol) -> bool + 'f) -> impl Iterator<Item = u32> + 'f {
    file.facts.symbols.iter().zip(0..).filter(move |(symbol, _)| is_meant(symbol)).map(|(_, place)| place)
}

fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Fn | SymbolKind::Method)
}

/// Returns whether a function returns one of its inner functions by its bare name.
fn is_named(file: &SourceFile, text: &str, function: u32, inner: &Symbol) -> bool {
    let facts = &file.facts;
    let outer = facts.symbols[function as usize].lines;
    let from = facts.references.partition_point(|reference| reference.line < outer.start);
    let near = facts.references[from..].iter().take_while(|reference| reference.line <= outer.end);
    let mut line_starts = LineCursor::new(text, outer.start);
    near.filter(|reference| {
        reference.symbol == Some(function)
            && reference.shape == RefShape::Value
            && reference.binding.is_none()
            && facts.names.get(reference.name as usize).is_some_and(|name| *name == inner.name)
    })
    .any(|reference| {
        let start = line_starts.offset_of(reference.line) + reference.column as usize;
        let after = text.get(start + inner.name.len()..).unwrap_or("").trim_start_matches([' ', '\t']);
        is_behind_return(text, start) && !after.starts_with(['.', '(', '[', '`'])
    })
}

/// Returns whether an offset follows `return` or an arrow.
fn is_behind_return(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or("").trim_end();
    let before = before.strip_suffix('(').map_or(before, str::trim_end);
    let is_word =
        before.ends_with("return") && !before[..before.len() - 6].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    is_word || before.ends_with("=>")
}

/// Finds line starts, from a given line on.
struct LineCursor<'t> {
    text: &'t str,
    line: u32,
    start: usize,
}

impl<'t> LineCursor<'t> {
    fn new(text: &'t str, line: u32) -> Self {
        let mut lines = Self { text, line: 1, start: 0 };
        lines.offset_of(line);
        lines
    }

    fn offset_of(&mut self, line: u32) -> usize {
        while self.line < line {
            let rest = self.text.get(self.start..).unwrap_or("");
            self.start += rest.find('\n').map_or(rest.len(), |at| at + 1);
            self.line += 1;
        }
        self.start
    }
}

/// Returns the text after the call whose name ends at this span, if its arguments follow immediately.
pub(crate) fn text_after_call(text: &str, name: Span) -> Option<&str> {
    let rest = text.get(name.end as usize..)?;
    if !rest.starts_with('(') {
        return None;
    }
    let mut depth = 0usize;
    let mut quote = None;
    for (at, c) in rest.char_indices().take(MAX_ARGUMENTS) {
        match (quote, c) {
            (None, '"' | '\'' | '`') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return rest.get(at + c.len_utf8()..);
        }
    }
    None
}

/// The maximum length of arguments to scan.
const MAX_ARGUMENTS: usize = 4_000;

/// Returns the span of a reference's name in the text.
pub(crate) fn name_span(text: &str, line: u32, column: u32, name: &str) -> Span {
    let start = LineCursor::new(text, line).start as u32 + column;
    Span { start, end: start + name.len() as u32 }
}
