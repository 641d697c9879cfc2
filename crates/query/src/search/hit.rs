//! Search hits: a symbol, a chunk of text, or a file.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::ids::{ResultId, SymbolId};
use codecompass_model::{Languages, LineOwners, Lines, Symbol, SymbolKind, VersionId, first_line, has_landmarks};
use codecompass_store::{Outline, Result, Snapshot, StoreError, VersionInfo, tokens};

use super::SearchRequest;
use super::candidates::Candidates;
use super::evidence::Candidate;
use super::parsed_query::{ParsedQuery, count_query_words};
use crate::score::Scores;

/// The kind of a search hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HitKind {
    /// A definition.
    Symbol,
    /// A chunk of text outside definitions, or lines that match literally.
    Snippet,
    /// A file whose path contains the words.
    File,
}

impl HitKind {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            HitKind::Symbol => "symbol",
            HitKind::Snippet => "snippet",
            HitKind::File => "file",
        }
    }
}

/// A search hit.
#[derive(Clone, Debug)]
pub struct SearchHit {
    /// The file.
    pub version: Rc<VersionInfo>,
    /// The kind of the hit.
    pub kind: HitKind,
    /// The lines of the symbol, the chunk or the file.
    pub lines: Lines,
    /// The contribution of each feature; their sum determines the rank.
    pub scores: Scores,
    pub(super) candidate: Candidate,
    /// The terms of the query that it contains.
    pub(super) terms: u64,
    outline: Arc<Outline>,
    symbol: Option<u32>,
    stems: Rc<HashSet<String>>,
    /// The literal text of the query, and the lines that contain it.
    exact: Option<Rc<str>>,
    pub(super) exact_lines: Vec<u32>,
    /// The requested line.
    line: Option<u32>,
    /// The line that a stack trace names.
    frame_line: Option<u32>,
}

impl SearchHit {
    /// Reads a candidate; `None` if a filter excludes it.
    pub(super) fn read(
        snapshot: &Snapshot,
        request: &SearchRequest<'_>,
        parsed: &ParsedQuery,
        candidates: &Candidates,
        candidate: Candidate,
    ) -> Result<Option<Self>> {
        let id = candidate.version();
        let lost = || StoreError::Corrupt(format!("{candidate:?}"));
        let version = snapshot.version(id)?.ok_or_else(lost)?;
        let outline = snapshot.outline(id)?;
        let frame_line = candidates.frame_line(candidate);
        let line = frame_line.or_else(|| parsed.typed_line(&version.path));
        let at_line = match line.filter(|_| matches!(candidate, Candidate::File(_))) {
            Some(line) => symbol_at(snapshot, id, &outline, line)?,
            None => None,
        };
        let symbol = match candidate {
            Candidate::Symbol(_, symbol) => Some(symbol),
            Candidate::Chunk(_, piece) => landmark_for_chunk(&outline, piece, request, parsed),
            Candidate::File(_) => at_line,
        };
        let found = symbol.and_then(|symbol| outline.symbols.get(symbol as usize));
        if !request.kinds.is_empty() && !found.is_some_and(|symbol| request.kinds.contains(&symbol.kind)) {
            return Ok(None);
        }
        let exact_lines = match candidate {
            Candidate::File(_) => Vec::new(),
            // The line of the frame is shown, whatever else the function contains.
            _ if frame_line.is_some() => Vec::new(),
            _ => candidates.exact_lines(snapshot, id)?.get(&candidate).cloned().unwrap_or_default(),
        };
        let (what, lines) = match (candidate, found) {
            (Candidate::Symbol(..), _) if !exact_lines.is_empty() => (HitKind::Snippet, span(&exact_lines)),
            (Candidate::Symbol(..) | Candidate::File(_), Some(symbol)) => (HitKind::Symbol, symbol.lines),
            (Candidate::Symbol(..), None) => return Err(lost()),
            (Candidate::Chunk(_, piece), _) => {
                (HitKind::Snippet, outline.chunks.get(piece as usize).ok_or_else(lost)?.lines)
            }
            (Candidate::File(_), None) if chunk_at(&outline, line).is_some() => {
                (HitKind::Snippet, chunk_at(&outline, line).ok_or_else(lost)?)
            }
            (Candidate::File(_), None) => (HitKind::File, Lines { start: 1, end: version.lines.max(1) }),
        };
        Ok(Some(Self {
            version,
            kind: what,
            lines,
            scores: Scores::default(),
            terms: candidates.record_evidence(candidate).terms,
            candidate,
            outline,
            symbol,
            stems: parsed.stems.clone(),
            exact: candidates.exact.text.clone(),
            exact_lines,
            line,
            frame_line,
        }))
    }

    /// The line of the hit that a stack trace or a sentence names.
    pub fn frame_line(&self) -> Option<u32> {
        self.frame_line
    }

    /// The symbol that matches, or that encloses the matching lines.
    pub fn symbol(&self) -> Option<&Symbol> {
        self.outline.symbols.get(self.symbol? as usize)
    }

    /// The ordinal of the symbol in its file.
    pub fn symbol_ordinal(&self) -> Option<u32> {
        self.symbol
    }

    /// The handle of the hit.
    pub fn result_id(&self) -> String {
        match (self.kind, self.symbol()) {
            (HitKind::Symbol, Some(symbol)) => SymbolId::new(&self.version.path, symbol).short(),
            (HitKind::File, _) => ResultId::for_lines("file", &self.version.path, 0, 0).to_string(),
            _ => ResultId::for_lines("snip", &self.version.path, self.lines.start, self.lines.end).to_string(),
        }
    }

    /// Returns the text of a chunk.
    pub(super) fn chunk_text<'t>(&self, text: &'t str) -> Option<&'t str> {
        let Candidate::Chunk(_, piece) = self.candidate else { return None };
        Some(self.outline.chunks.get(piece as usize)?.span.text(text))
    }

    /// Returns the text of a chunk that no grammar has parsed.
    pub(super) fn unparsed_text<'t>(&self, text: &'t str) -> Option<&'t str> {
        let Candidate::Chunk(_, piece) = self.candidate else { return None };
        let symbols = &self.outline.symbols;
        let chunk = self.outline.chunks.get(piece as usize);
        let chunk = chunk.filter(|_| symbols.is_empty() || has_landmarks(symbols))?;
        Some(chunk.span.text(text))
    }

    /// Whether it may have such a text.
    pub(super) fn may_be_unparsed(&self, languages: &dyn Languages) -> bool {
        matches!(self.candidate, Candidate::Chunk(..))
            && (self.version.symbols == 0 || !languages.has_grammar(&self.version.language))
    }

    /// The sort key among hits with equal scores.
    pub(super) fn sort_key(&self) -> (&str, u32, u32, Candidate) {
        let candidate = match self.candidate {
            // Version ids reflect only the order in which the store received the files.
            Candidate::Symbol(_, ordinal) => Candidate::Symbol(VersionId::MIN, ordinal),
            Candidate::Chunk(_, ordinal) => Candidate::Chunk(VersionId::MIN, ordinal),
            Candidate::File(_) => Candidate::File(VersionId::MIN),
        };
        (&self.version.path, self.lines.start, self.lines.end, candidate)
    }

    /// Returns up to `most` lines that show why the hit matches, in order and with line numbers: those that contain the
    /// literal text or the most query words. The line that defines the symbol is one of them. Lines of nested symbols
    /// do not count.
    pub fn matching_lines(&self, snapshot: &Snapshot, most: usize) -> Result<Vec<(u32, String)>> {
        let text = snapshot.text(self.version.id)?;
        let range = match (self.kind, self.symbol()) {
            (HitKind::Symbol, Some(symbol)) => Lines { start: first_line(&text, symbol), end: symbol.lines.end },
            _ => self.lines,
        };
        let owners = LineOwners::new(&text, &self.outline.symbols);
        let is_own = |line: u32| self.kind != HitKind::Symbol || owners.owner_at(line) == self.symbol;
        let defined = self.symbol().map(|symbol| symbol.name_line);
        let worth = |number: u32, line: &str| match self.kind {
            _ if self.line == Some(number) || self.exact_lines.contains(&number) => usize::MAX,
            _ if !self.exact_lines.is_empty() => 0,
            HitKind::File if !line.trim().is_empty() => usize::MAX - number as usize,
            _ if defined == Some(number) => usize::MAX - 1,
            _ if !is_own(number) => 0,
            _ => count_query_words(&self.stems, line),
        };
        let first = range.start.max(1);
        let lines =
            text.lines().enumerate().skip(first as usize - 1).take((range.end + 1).saturating_sub(first) as usize);
        let numbered = lines.map(|(at, line)| (at as u32 + 1, line));
        let mut ranked: Vec<(usize, u32, &str)> = numbered
            .clone()
            .map(|(number, line)| (worth(number, line), number, line))
            .filter(|line| line.0 > 0)
            .collect();
        if ranked.is_empty() {
            // The match is by words of the path or by synonyms, which no line contains.
            let first = numbered.filter(|(_, line)| !line.trim().is_empty()).take(1);
            ranked.extend(first.map(|(number, line)| (1, number, line)));
        }
        ranked.sort_by_key(|(words, number, _)| (Reverse(*words), *number));
        ranked.truncate(most);
        ranked.sort_by_key(|(_, number, _)| *number);
        Ok(ranked.into_iter().map(|(_, number, line)| (number, line.trim_end().to_owned())).collect())
    }
}

/// Returns the landmark of a requested kind to which a chunk belongs. Among landmarks that enclose the start of the
/// chunk or start in it, this is the one whose name has the most query words, else the innermost enclosing one. Without
/// a kind filter a chunk has no landmark.
fn landmark_for_chunk(outline: &Outline, piece: u32, request: &SearchRequest<'_>, parsed: &ParsedQuery) -> Option<u32> {
    let lines = outline.chunks.get(piece as usize).filter(|_| has_landmarks(&outline.symbols))?.lines;
    let is_around = |symbol: &Symbol| (symbol.lines.start..=symbol.lines.end).contains(&lines.start);
    let begins = |symbol: &Symbol| (lines.start..=lines.end).contains(&symbol.lines.start);
    let is_one = |symbol: &Symbol| request.kinds.contains(&symbol.kind) && (is_around(symbol) || begins(symbol));
    let worth = |at: usize, symbol: &Symbol| {
        let hit = if is_around(symbol) { (true, at) } else { (false, usize::MAX - at) };
        (count_query_words(&parsed.stems, &symbol.name), hit)
    };
    let all = outline.symbols.iter().enumerate().filter(|(_, symbol)| is_one(symbol));
    all.max_by_key(|(at, symbol)| worth(*at, symbol)).map(|(at, _)| at as u32)
}

/// Returns the lines of the chunk that contains a line.
fn chunk_at(outline: &Outline, line: Option<u32>) -> Option<Lines> {
    let mut all = outline.chunks.iter().map(|chunk| chunk.lines);
    all.find(|lines| line.is_some_and(|line| (lines.start..=lines.end).contains(&line)))
}

/// Returns the span from the first to the last line.
fn span(lines: &[u32]) -> Lines {
    Lines { start: lines.first().copied().unwrap_or(1), end: lines.last().copied().unwrap_or(1) }
}

/// The stems of the query words by first byte. A stem is a prefix of its word, so most lines can be rejected without
/// tokenization.
pub(crate) struct StemPrefixes {
    by_first: Vec<Vec<Box<[u8]>>>,
}

impl StemPrefixes {
    /// Collects the stems of the query that a hit matches.
    pub(crate) fn for_hit(hit: &SearchHit) -> Self {
        let mut by_first = vec![Vec::new(); 256];
        for stem in hit.stems.iter().map(String::as_bytes).filter(|stem| !stem.is_empty()) {
            by_first[usize::from(stem[0])].push(Box::from(stem));
        }
        Self { by_first }
    }

    /// Whether a line may contain a query word.
    pub(crate) fn may_match(&self, line: &str) -> bool {
        let bytes = line.as_bytes();
        let begins = |at: usize| {
            let stems = &self.by_first[usize::from(bytes[at].to_ascii_lowercase())];
            let stands =
                |stem: &[u8]| bytes.get(at..at + stem.len()).is_some_and(|part| part.eq_ignore_ascii_case(stem));
            stems.iter().any(|stem| stands(stem))
        };
        !line.is_ascii() || (0..bytes.len()).any(begins)
    }
}

impl SearchHit {
    /// Whether it was found by a literal text and not by words.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// Returns the ranges of a line that match the query.
    pub fn match_ranges(&self, line: &str) -> Vec<std::ops::Range<usize>> {
        if let Some(exact) = self.exact.as_ref().filter(|_| !self.exact_lines.is_empty()) {
            return line.match_indices(&**exact).map(|(at, text)| at..at + text.len()).collect();
        }
        let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
        for word in tokens(line) {
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            let is_inside = ranges.last().is_some_and(|last| start < last.end);
            if !is_inside && count_query_words(&self.stems, word) > 0 {
                ranges.push(start..start + word.len());
            }
        }
        ranges
    }
}

/// Returns the innermost symbol that contains a line, else the one whose docs or attributes contain it.
fn symbol_at(snapshot: &Snapshot, id: VersionId, outline: &Outline, line: u32) -> Result<Option<u32>> {
    let is_code = |symbol: &Symbol| symbol.kind != SymbolKind::Use && !symbol.kind.is_landmark();
    let around = |symbol: &Symbol| is_code(symbol) && (symbol.lines.start..=symbol.lines.end).contains(&line);
    if let Some(at) = outline.symbols.iter().rposition(around) {
        return Ok(Some(at as u32));
    }
    Ok(LineOwners::new(&snapshot.text(id)?, &outline.symbols).owner_at(line))
}
