//! Context items: the symbols that an agent should read to answer a query, best first, each once.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::{Lines, Symbol, SymbolKind, VersionId};
use codecompass_store::{Outline, Result, Snapshot, VersionInfo};

use crate::search::{HitKind, SearchHit, SearchRequest, StemPrefixes, search};
use crate::{SymbolHit, symbol_at};

/// The maximum number of symbols taken from a file when the search hit is the file itself.
const MAX_SYMBOLS_PER_FILE: usize = 8;

/// The maximum number of the best files that are searched for further symbols.
const MAX_EXPANDED_FILES: usize = 20;

/// A symbol, or lines of a file that contain no symbol.
#[derive(Clone, Debug)]
pub struct ContextItem {
    /// The file.
    pub version: Rc<VersionInfo>,
    /// The relevance score, from 0 to 1.
    pub score: f64,
    /// The lines of the item.
    pub lines: Lines,
    /// The most relevant line, for an item without a symbol.
    pub line: Option<String>,
    outline: Arc<Outline>,
    symbol: Option<u32>,
    /// The innermost symbol that encloses the requested lines.
    around: Option<u32>,
    /// Whether docs, attributes and decorators are included.
    is_outer: bool,
}

/// Parses a location into a path, a first line and an optional last line: `src/main.rs:10-20` or `src/main.rs:10`.
pub fn parse_location(text: &str) -> Option<(&str, (u32, Option<u32>))> {
    let (path, lines) = text.rsplit_once(':')?;
    let number = |text: &str| text.trim_start_matches('L').parse::<u32>().ok();
    match lines.split_once('-') {
        Some((start, end)) => Some((path, (number(start)?, Some(number(end)?)))),
        None => Some((path, (number(lines)?, None))),
    }
}

impl ContextItem {
    /// Returns the requested lines of a file. Without an end, returns the symbol that encloses the first line.
    pub fn at_lines(snapshot: &Snapshot, path: &str, (start, end): (u32, Option<u32>)) -> Result<Option<Self>> {
        let Some(version) = snapshot.version_at(path)? else { return Ok(None) };
        let outline = snapshot.outline(version.id)?;
        let (lines, symbol) = match (end, symbol_at(&outline.symbols, start, end)) {
            (Some(end), _) => (Lines { start, end }, None),
            (None, Some(around)) => (outline.symbols[around as usize].lines, Some(around)),
            (None, None) => (Lines { start, end: start }, None),
        };
        if start == 0 || start > version.lines.max(1) {
            return Ok(None);
        }
        let lines = Lines { start: lines.start, end: lines.end.min(version.lines.max(1)) };
        let is_around = |one: &Symbol| one.lines.start <= lines.start && lines.end <= one.lines.end;
        let around = outline.symbols.iter().rposition(|one| one.kind != SymbolKind::Use && is_around(one));
        let (version, around) = (Rc::new(version), around.map(|at| at as u32));
        Ok(Some(Self { version, score: 1.0, lines, line: None, outline, symbol, around, is_outer: true }))
    }

    /// Returns the item for a symbol that was requested by name.
    pub fn from_symbol_hit(snapshot: &Snapshot, hit: &SymbolHit) -> Result<Self> {
        Ok(Self {
            version: hit.version.clone(),
            score: 1.0,
            lines: hit.symbol().lines,
            line: None,
            outline: snapshot.outline(hit.version.id)?,
            symbol: Some(hit.ordinal()),
            around: None,
            is_outer: true,
        })
    }

    /// The symbol.
    pub fn symbol(&self) -> Option<&Symbol> {
        self.outline.symbols.get(self.symbol? as usize)
    }

    /// The symbol that the item is, or that encloses it.
    pub fn label(&self) -> Option<&Symbol> {
        self.outline.symbols.get(self.symbol.or(self.around)? as usize)
    }

    /// All symbols of the file.
    pub fn symbols(&self) -> &[Symbol] {
        &self.outline.symbols
    }

    /// The number of bytes in the path and the names that label the item.
    pub fn label_bytes(&self) -> u64 {
        let names = self.symbol().map_or(0, |symbol| symbol.name.len() + symbol.qualified_name.len());
        (names + self.version.path.len()) as u64
    }

    /// The approximate length of the complete item in bytes.
    pub fn estimated_bytes(&self) -> u64 {
        self.symbol().map_or(0, |symbol| u64::from(symbol.span.end.saturating_sub(symbol.span.start)))
    }

    /// Returns the unchanged source lines of the item.
    pub fn body(&self, snapshot: &Snapshot) -> Result<String> {
        let text = snapshot.text(self.version.id)?;
        Ok(select_lines(&text, self.lines).join("\n"))
    }

    /// Returns the lines of docs, attributes and decorators above a requested symbol.
    pub fn leading_lines(&self, snapshot: &Snapshot) -> Result<Option<Lines>> {
        let Some(symbol) = self.symbol().filter(|_| self.is_outer) else { return Ok(None) };
        let text = snapshot.text(self.version.id)?;
        Ok(leading_lines(&text, symbol))
    }

    /// A unique key of the item.
    pub fn key(&self) -> (VersionId, Option<u32>, u32) {
        (self.version.id, self.symbol, if self.symbol.is_some() { 0 } else { self.lines.start })
    }

    /// Whether the item is nested in the other one.
    pub fn is_inside(&self, other: &ContextItem) -> bool {
        if self.version.id != other.version.id {
            return false;
        }
        let (Some(mut at), Some(other)) = (self.symbol, other.symbol) else { return false };
        while let Some(parent) = self.outline.symbols.get(at as usize).and_then(|symbol| symbol.parent) {
            if parent == other {
                return true;
            }
            if parent >= at {
                return false;
            }
            at = parent;
        }
        false
    }
}

/// Returns a range of lines of a text, without line ends.
pub fn select_lines(text: &str, lines: Lines) -> Vec<&str> {
    let start = lines.start.saturating_sub(1) as usize;
    text.lines().skip(start).take((lines.end as usize).saturating_sub(start)).collect()
}

/// Returns the lines of docs, attributes and decorators directly above a symbol.
pub fn leading_lines(text: &str, symbol: &Symbol) -> Option<Lines> {
    let outer = text.get(symbol.outer_start as usize..symbol.span.start as usize)?;
    let count = outer.matches('\n').count() as u32;
    let start = symbol.lines.start.saturating_sub(count).max(1);
    (start < symbol.lines.start).then(|| Lines { start, end: symbol.lines.start - 1 })
}

/// Returns the context items for a query, best first: the search hits, then further symbols of the best files whose
/// signatures contain words of the query. The search itself lists only a few hits per file.
pub fn context(snapshot: &Snapshot, question: &SearchRequest<'_>) -> Result<Vec<ContextItem>> {
    let places = search(snapshot, question)?.hits;
    let mut seen = HashSet::new();
    let mut pieces: Vec<ContextItem> = Vec::new();
    for place in &places {
        let found = items_for_hit(snapshot, place)?;
        pieces.extend(found.into_iter().filter(|piece| seen.insert(piece.key())));
    }
    let last = pieces.last().map_or(1.0, |piece| piece.score);
    let beginnings = places.first().map(StemPrefixes::for_hit);
    let may_match = |place: &SearchHit, line: &str| {
        place.is_exact() || beginnings.as_ref().is_none_or(|beginnings| beginnings.may_match(line))
    };
    let mut files = HashSet::new();
    for place in places.iter().filter(|place| files.insert(place.version.id)).take(MAX_EXPANDED_FILES) {
        let outline = snapshot.outline(place.version.id)?;
        for (at, symbol) in outline.symbols.iter().enumerate() {
            let line = &symbol.signature;
            if is_member_kind(symbol.kind)
                || symbol.kind.is_landmark()
                || !may_match(place, line)
                || place.match_ranges(line).is_empty()
            {
                continue;
            }
            let score = last.min(place.scores.confidence() / 2.0);
            let score = (score * 1e3).round() / 1e3;
            let more = ContextItem {
                version: place.version.clone(),
                score,
                lines: symbol.lines,
                line: None,
                outline: outline.clone(),
                symbol: Some(at as u32),
                around: None,
                is_outer: false,
            };
            if seen.insert(more.key()) {
                pieces.push(more);
            }
        }
    }
    Ok(pieces)
}

/// Whether symbols of this kind are shown as part of the symbol that contains them.
fn is_member_kind(kind: SymbolKind) -> bool {
    use SymbolKind::{Field, Property, Use, Variant};
    matches!(kind, Field | Property | Use | Variant)
}

/// Returns the symbols for a search hit: its own symbol, the top-level symbols if the hit is a file, or the first
/// symbol that starts in its lines. A chunk of text is an item by itself, even if it contains landmarks.
fn items_for_hit(snapshot: &Snapshot, place: &SearchHit) -> Result<Vec<ContextItem>> {
    let outline = snapshot.outline(place.version.id)?;
    let is_code = |symbol: &Symbol| symbol.kind != SymbolKind::Use && !symbol.kind.is_landmark();
    let defines = |at: &u32| outline.symbols.get(*at as usize).is_some_and(is_code);
    let all = || (0..outline.symbols.len() as u32).filter(defines);
    let is_top = |at: &u32| outline.symbols[*at as usize].parent.is_none();
    let begins_here = |at: &u32| {
        let start = outline.symbols[*at as usize].lines.start;
        (place.lines.start..=place.lines.end).contains(&start)
    };
    let symbols: Vec<u32> = match place.symbol_ordinal().filter(defines) {
        Some(symbol) => vec![symbol],
        None if place.kind == HitKind::File => all().filter(is_top).take(MAX_SYMBOLS_PER_FILE).collect(),
        None => all().find(begins_here).into_iter().collect(),
    };
    let piece = |symbol: Option<u32>, lines: Lines, line: Option<String>| ContextItem {
        version: place.version.clone(),
        score: place.scores.confidence(),
        lines,
        line,
        outline: outline.clone(),
        symbol,
        around: None,
        is_outer: false,
    };
    if symbols.is_empty() {
        let line = place.matching_lines(snapshot, 1)?.into_iter().next().map(|(_, line)| line.trim().to_owned());
        return Ok(vec![piece(None, place.lines, line)]);
    }
    Ok(symbols.into_iter().map(|at| piece(Some(at), outline.symbols[at as usize].lines, None)).collect())
}
