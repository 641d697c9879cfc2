//! A place that answers: a symbol, a piece of text, or a file.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::rc::Rc;

use codecompass_model::ids::{ResultId, SymbolId};
use codecompass_model::{Chunk, Lines, Span, Symbol, SymbolKind};
use codecompass_store::{Outline, Result, Snapshot, StoreError, VersionInfo, tokens};

use super::Search;
use super::features::{self, Asked};
use super::gather::{Candidate, Gathered};
use crate::score::{Feature, Scores};

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A definition whose name bears words of the question.
    Symbol,
    /// A piece of text that holds some of them.
    Snippet,
    /// A file whose path bears them.
    File,
}

impl What {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            What::Symbol => "symbol",
            What::Snippet => "snippet",
            What::File => "file",
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file.
    pub version: Rc<VersionInfo>,
    /// What it is.
    pub what: What,
    /// Its lines: the symbol's, the piece's, or the file's.
    pub lines: Lines,
    /// What each feature adds; their sum decides.
    pub scores: Scores,
    /// How well the symbol's names bear the words, by BM25 over its ceiling.
    pub(super) symbol_score: f64,
    pub(super) candidate: Candidate,
    /// The piece that was found; of a file, the first.
    pub(super) chunk: Chunk,
    outline: Rc<Outline>,
    symbol: Option<u32>,
    stems: Rc<HashSet<String>>,
    /// The text that is wanted as it is, and the lines of the piece that hold it.
    exact: Option<Rc<str>>,
    pub(super) exact_lines: Vec<u32>,
    /// The line that was asked for.
    line: Option<u32>,
}

impl Place {
    /// Reads a candidate; `None` when a filter keeps it out.
    pub(super) fn read(
        snapshot: &Snapshot,
        question: &Search<'_>,
        asked: &Asked,
        gathered: &Gathered,
        candidate: Candidate,
    ) -> Result<Option<Self>> {
        let id = candidate.version();
        let lost = || StoreError::Corrupt(format!("{candidate:?}"));
        let version = snapshot.version(id)?.ok_or_else(lost)?;
        let outline = snapshot.outline(id)?;
        let first = || Chunk { span: Span::default(), lines: Lines { start: 1, end: 1 }, symbol: None };
        let candidate = match candidate {
            Candidate::Line(_, line) => {
                let piece = outline.chunks.iter().position(|chunk| holds_line(chunk.lines, line)).ok_or_else(lost)?;
                Candidate::Piece(id, piece as u32)
            }
            other => other,
        };
        let mut is_titled = false;
        let (chunk, symbol, symbol_score) = match candidate {
            Candidate::Piece(_, piece) | Candidate::Line(_, piece) => {
                let chunk = *outline.chunks.get(piece as usize).ok_or_else(lost)?;
                match gathered.exact.within(id, chunk.lines).first() {
                    // What is wanted is a text, and the symbol is the one it stands in.
                    Some(line) => (chunk, innermost(&outline, *line).or(chunk.symbol), 0.0),
                    None => {
                        let found = gathered.symbols(id);
                        let titled = best_title(&outline, &chunk, &asked.stems, question.kinds);
                        is_titled = titled.is_some();
                        let (symbol, score) = best_symbol(&outline, &chunk, found, question.kinds);
                        (chunk, titled.or(symbol), if is_titled { 0.0 } else { score })
                    }
                }
            }
            Candidate::File(_) => {
                let at = |line: u32| outline.chunks.iter().find(|chunk| holds_line(chunk.lines, line)).copied();
                let chunk = asked.line_in(&version.path).and_then(at).or(outline.chunks.first().copied());
                let symbol = asked.line_in(&version.path).and_then(|line| innermost(&outline, line));
                (chunk.unwrap_or_else(first), symbol, 0.0)
            }
        };
        let found = symbol.and_then(|symbol| outline.symbols.get(symbol as usize));
        if !question.kinds.is_empty() && !found.is_some_and(|symbol| question.kinds.contains(&symbol.kind)) {
            return Ok(None);
        }
        let exact_lines = match candidate {
            Candidate::File(_) => Vec::new(),
            _ => gathered.exact.within(id, chunk.lines),
        };
        let what = match (candidate, found) {
            (Candidate::File(_), None) => What::File,
            (Candidate::File(_), Some(_)) => What::Symbol,
            (_, Some(_)) if symbol_score > 0.0 || is_titled => What::Symbol,
            _ => What::Snippet,
        };
        let lines = match (what, found) {
            (What::Symbol, Some(symbol)) => symbol.lines,
            (What::File, _) => Lines { start: 1, end: version.lines.max(1) },
            _ => chunk.lines,
        };
        Ok(Some(Self {
            line: asked.line_in(&version.path),
            version,
            what,
            lines,
            scores: Scores::default(),
            symbol_score,
            candidate,
            chunk,
            outline,
            symbol,
            stems: asked.stems.clone(),
            exact: gathered.exact.text.clone(),
            exact_lines,
        }))
    }

    /// The symbol that answers, or the one the piece belongs to.
    pub fn symbol(&self) -> Option<&Symbol> {
        self.outline.symbols.get(self.symbol? as usize)
    }

    /// The symbol's place among those of its file.
    pub fn symbol_place(&self) -> Option<u32> {
        self.symbol
    }

    /// The handle of the place.
    pub fn result_id(&self) -> String {
        match (self.what, self.symbol()) {
            (What::Symbol, Some(symbol)) => SymbolId::of(&self.version.path, symbol).short(),
            (What::File, _) => ResultId::of("file", &self.version.path, 0, 0).to_string(),
            _ => ResultId::of("snip", &self.version.path, self.lines.start, self.lines.end).to_string(),
        }
    }

    /// Lets a snippet be about the symbol around the line that holds the most of what was asked for: a piece may hold
    /// several, and belongs to the largest.
    pub(super) fn point_at_best_line(&mut self, snapshot: &Snapshot) -> Result<()> {
        let is_named = self.scores.value(Feature::ExactMatch) > 0.0;
        if self.what != What::Snippet || is_named || !self.exact_lines.is_empty() || self.outline.symbols.is_empty() {
            return Ok(());
        }
        let text = snapshot.text(self.version.id)?;
        let lines = self.chunk.span.text(&text).lines().enumerate();
        let worth = lines.map(|(at, line)| (features::known_words(&self.stems, line), at));
        if let Some((_, at)) = worth.max_by_key(|(words, at)| (*words, Reverse(*at))) {
            self.symbol = innermost(&self.outline, self.chunk.lines.start + at as u32);
        }
        Ok(())
    }

    /// Whether it is code that no grammar has read.
    pub(super) fn is_unread(&self) -> bool {
        self.outline.symbols.is_empty() && features::is_code(&self.version.language)
    }

    /// Whether the symbol is named in the piece that was found.
    pub(super) fn defines(&self) -> bool {
        self.symbol().is_some_and(|symbol| holds(&self.chunk, symbol))
    }

    /// The symbol that the whole place is about: one that is shown once, however many of its pieces match. Pieces of a
    /// type, a module or a group of tests are places of their own.
    pub(super) fn owner(&self) -> Option<u32> {
        let is_container = |symbol: &Symbol| {
            use SymbolKind as K;
            matches!(
                symbol.kind,
                K::Impl
                    | K::Class
                    | K::Module
                    | K::Namespace
                    | K::Trait
                    | K::Interface
                    | K::Struct
                    | K::Enum
                    | K::Union
                    | K::Test
            )
        };
        match self.what {
            What::Symbol => self.symbol,
            What::Snippet => self.symbol.filter(|_| self.symbol().is_some_and(|symbol| !is_container(symbol))),
            What::File => None,
        }
    }

    /// The lines that show why: those that hold the text or the most of the words, at most so many, in order, each with
    /// its number. The line that defines the symbol is one of them.
    pub fn shown_lines(&self, snapshot: &Snapshot, most: usize) -> Result<Vec<(u32, String)>> {
        let text = snapshot.text(self.version.id)?;
        let all: Vec<&str> = self.chunk.span.text(&text).lines().collect();
        let number = |at: usize| self.chunk.lines.start + at as u32;
        let own = self.symbol().filter(|_| self.what == What::Symbol).map(|symbol| own_lines(&text, symbol));
        let defined = self.symbol().map(|symbol| symbol.name_line.wrapping_sub(self.chunk.lines.start) as usize);
        let worth = |at: usize, line: &str| match self.what {
            _ if self.line == Some(number(at)) || self.exact_lines.contains(&number(at)) => usize::MAX,
            _ if own.is_some_and(|own| !holds_line(own, number(at))) => 0,
            What::File if !line.trim().is_empty() => usize::MAX - at,
            _ if !self.exact_lines.is_empty() => 0,
            _ if defined == Some(at) => usize::MAX - 1,
            _ => features::known_words(&self.stems, line),
        };
        let mut ranked: Vec<(usize, usize)> = all.iter().enumerate().map(|(at, line)| (worth(at, line), at)).collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut chosen: Vec<usize> =
            ranked.into_iter().filter(|(words, _)| *words > 0).take(most).map(|(_, at)| at).collect();
        chosen.sort_unstable();
        let line = |at: usize| (number(at), all[at].trim_end().to_owned());
        Ok(chosen.into_iter().map(line).collect())
    }
}

/// How the words that were asked for begin. A stem begins its word, so most lines of most files need not be cut into words
/// to know that they hold none.
pub(crate) struct Beginnings {
    by_first: Vec<Vec<Box<[u8]>>>,
}

impl Beginnings {
    /// Those of the question that a place answers.
    pub(crate) fn of(place: &Place) -> Self {
        let mut by_first = vec![Vec::new(); 256];
        for stem in place.stems.iter().map(String::as_bytes).filter(|stem| !stem.is_empty()) {
            by_first[usize::from(stem[0])].push(Box::from(stem));
        }
        Self { by_first }
    }

    /// Whether a line may hold a word.
    pub(crate) fn may_be_in(&self, line: &str) -> bool {
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

impl Place {
    /// Whether it was found for a text as it is, and not for words.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// The ranges of a line that were asked for.
    pub fn matches(&self, line: &str) -> Vec<std::ops::Range<usize>> {
        if let Some(exact) = self.exact.as_ref().filter(|_| !self.exact_lines.is_empty()) {
            return line.match_indices(&**exact).map(|(at, text)| at..at + text.len()).collect();
        }
        let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
        for word in tokens(line) {
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            let is_inside = ranges.last().is_some_and(|last| start < last.end);
            if !is_inside && features::known_words(&self.stems, word) > 0 {
                ranges.push(start..start + word.len());
            }
        }
        ranges
    }
}

fn holds(chunk: &Chunk, symbol: &Symbol) -> bool {
    holds_line(chunk.lines, symbol.name_line)
}

fn holds_line(lines: Lines, line: u32) -> bool {
    (lines.start..=lines.end).contains(&line)
}

/// The lines of a symbol with its docs and attributes.
fn own_lines(text: &str, symbol: &Symbol) -> Lines {
    let outer = Span { start: symbol.outer_start, end: symbol.span.start }.text(text).matches('\n').count() as u32;
    Lines { start: symbol.lines.start.saturating_sub(outer), end: symbol.lines.end }
}

/// The innermost symbol around a line.
fn innermost(outline: &Outline, line: u32) -> Option<u32> {
    let around = |symbol: &Symbol| symbol.kind != SymbolKind::Use && holds_line(symbol.lines, line);
    outline.symbols.iter().rposition(around).map(|at| at as u32)
}

/// Where tests are asked for by kind: of those that begin in a piece, the one whose title has the most of the words. Titles
/// are in the text of pieces and in no record of their own.
fn best_title(outline: &Outline, chunk: &Chunk, stems: &HashSet<String>, kinds: &[SymbolKind]) -> Option<u32> {
    if !kinds.contains(&SymbolKind::Test) {
        return None;
    }
    let titles = outline.symbols.iter().enumerate();
    let titles = titles.filter(|(_, symbol)| symbol.kind == SymbolKind::Test && holds(chunk, symbol));
    let worth = titles.map(|(at, symbol)| (features::known_words(stems, &symbol.name), Reverse(at as u32)));
    worth.filter(|(words, _)| *words > 0).max().map(|(_, Reverse(at))| at)
}

/// Of the symbols named in a piece, the one that bears the words best; else the one the piece belongs to.
fn best_symbol(
    outline: &Outline,
    chunk: &Chunk,
    found: impl Iterator<Item = (u32, f64)>,
    kinds: &[SymbolKind],
) -> (Option<u32>, f64) {
    let is_wanted = |symbol: u32| {
        let symbol = outline.symbols.get(symbol as usize);
        symbol.is_some_and(|symbol| holds(chunk, symbol) && (kinds.is_empty() || kinds.contains(&symbol.kind)))
    };
    let best = found.filter(|(symbol, _)| is_wanted(*symbol)).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    match best {
        Some((symbol, score)) => (Some(symbol), score),
        None => (chunk.symbol, 0.0),
    }
}
