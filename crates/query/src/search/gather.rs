//! Everything that the words of a question find, before any file is read.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{Lines, VersionId};
use codecompass_store::{Record, Result, Snapshot, StoreError, TermGroup, TextHit, TextHits, VersionInfo};

use super::features::{Asked, FileSigns};
use super::{Mode, Search, features, terms};
use crate::grep::{self, Pattern, Wanted};

/// Something that may be a place of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Candidate {
    /// A piece of a file, by its place among the file's pieces.
    Piece(VersionId, u32),
    /// The piece around a line that holds a wanted text; becomes a piece once its file is read.
    Line(VersionId, u32),
    /// A file as a whole.
    File(VersionId),
}

impl Candidate {
    pub(super) fn version(self) -> VersionId {
        match self {
            Candidate::Piece(version, _) | Candidate::Line(version, _) | Candidate::File(version) => version,
        }
    }
}

/// The lines that hold a text that is wanted as it is.
#[derive(Debug)]
pub(super) struct Exact {
    /// The text, unless it is a regular expression.
    pub(super) text: Option<Rc<str>>,
    /// Per file, in order.
    pub(super) lines: HashMap<VersionId, Vec<u32>>,
    /// Whether these are all lines that hold it.
    pub(super) is_exhaustive: bool,
}

impl Default for Exact {
    fn default() -> Self {
        Self { text: None, lines: HashMap::new(), is_exhaustive: true }
    }
}

impl Exact {
    /// Looks for the text: the one that is asked for, or of those that a message may be the first that is anywhere.
    fn find(snapshot: &Snapshot, question: &Search<'_>, asked: &Asked) -> Result<Self> {
        let text: Rc<str> = Rc::from(question.query);
        match question.mode {
            Mode::Literal(pattern) => Self::lines_of(snapshot, question, pattern, Some(text)),
            Mode::Regex(pattern) => Self::lines_of(snapshot, question, pattern, None),
            Mode::Words => {
                for text in &asked.texts_to_try {
                    let wanted = Wanted { text, literal: true, ignore_case: false, word: false };
                    let Ok(pattern) = Pattern::new(&wanted) else { continue };
                    let found = Self::lines_of(snapshot, question, &pattern, Some(text.clone()))?;
                    if !found.lines.is_empty() {
                        return Ok(found);
                    }
                }
                Ok(Self::default())
            }
        }
    }

    fn lines_of(snapshot: &Snapshot, question: &Search<'_>, pattern: &Pattern, text: Option<Rc<str>>) -> Result<Self> {
        let accepts = |version: &VersionInfo| question.accepts(&version.path, &version.language);
        let found = grep::find(snapshot, pattern, accepts, Some(MOST_LINES))?;
        let numbers = |lines: Vec<grep::Line>| lines.into_iter().map(|line| line.number).collect();
        let lines = found.files.into_iter().map(|file| (file.version.id, numbers(file.lines))).collect();
        Ok(Self { text, lines, is_exhaustive: found.is_complete })
    }

    /// The lines of a file that hold the text and lie in a range.
    pub(super) fn within(&self, version: VersionId, range: Lines) -> Vec<u32> {
        let lines = self.lines.get(&version).map_or(&[][..], Vec::as_slice);
        lines.iter().copied().filter(|line| (range.start..=range.end).contains(line)).collect()
    }
}

/// So many lines that hold a wanted text are looked at.
const MOST_LINES: usize = 2000;

/// See the module.
pub(super) struct Gathered {
    /// The pieces that hold a word.
    chunks: TextHits,
    symbols: TextHits,
    /// The files, in order, that may have a symbol that is exactly what was asked for; `None` when any may.
    exact_files: Option<Vec<VersionId>>,
    /// In order.
    files: Vec<(VersionId, FileSigns)>,
    /// What is wanted as it is.
    pub(super) exact: Exact,
    with_pieces: bool,
    with_files: bool,
}

impl Gathered {
    /// Looks all words up.
    pub(super) fn new(snapshot: &Snapshot, question: &Search<'_>, asked: &Asked) -> Result<Self> {
        let find = |record| snapshot.search(record, &terms::groups(snapshot, record, &asked.words)?);
        let (chunks, symbols, paths) = (find(Record::Chunk)?, find(Record::Symbol)?, find(Record::File)?);
        let mut files = join(&chunks, &symbols, &paths, &files_named(snapshot, asked)?);
        if question.language.is_some() || question.paths.is_some() {
            let versions = snapshot.catalogue()?;
            let accepts = |info: &Rc<VersionInfo>| question.accepts(&info.path, &info.language);
            files.retain(|(id, _)| versions.get(id).is_some_and(accepts));
        }
        let with_pieces = matches!(question.mode, Mode::Words);
        let has_pieces = files.iter().any(|(_, file)| !file.pieces.is_empty());
        Ok(Self {
            chunks,
            symbols,
            exact_files: exact_files(snapshot, asked)?,
            files,
            exact: Exact::find(snapshot, question, asked)?,
            with_pieces,
            with_files: with_pieces && (asked.is_path || !has_pieces),
        })
    }

    /// What is known of a file; nothing when no word is in it.
    pub(super) fn file(&self, version: VersionId) -> Option<&FileSigns> {
        let at = self.files.binary_search_by_key(&version, |(id, _)| *id).ok()?;
        Some(&self.files[at].1)
    }

    /// Whether a symbol of a file may be exactly what was asked for.
    pub(super) fn may_be_exact(&self, version: VersionId) -> bool {
        self.exact_files.as_ref().is_none_or(|files| files.binary_search(&version).is_ok())
    }

    /// The highest score a piece could have.
    pub(super) fn ceiling(&self) -> f64 {
        self.chunks.ceiling
    }

    /// The symbols of a file that bear words, by place, with their BM25 over the ceiling.
    pub(super) fn symbols(&self, version: VersionId) -> impl Iterator<Item = (u32, f64)> {
        let range = self.file(version).map_or(0..0, |file| file.symbols.clone());
        self.symbols.hits[range].iter().map(|hit| (hit.place, share(hit, &self.symbols)))
    }

    /// How many candidates there are.
    pub(super) fn count(&self) -> usize {
        let lines: usize = self.exact.lines.values().map(Vec::len).sum();
        let pieces: usize = self.files.iter().map(|(_, file)| file.pieces.len()).sum();
        let paths = if self.with_files { self.path_matches().count() } else { 0 };
        paths + if self.with_pieces { pieces } else { lines }
    }

    /// BM25 of a piece over its ceiling; nothing when it holds no word.
    pub(super) fn bm25(&self, version: VersionId, piece: u32) -> Option<f64> {
        let pieces = &self.chunks.hits[self.file(version)?.pieces.clone()];
        let at = pieces.binary_search_by_key(&piece, |hit| hit.place).ok()?;
        Some(share(&pieces[at], &self.chunks))
    }

    /// Whether a piece is a candidate.
    pub(super) fn holds(&self, candidate: Candidate) -> bool {
        match candidate {
            Candidate::Piece(version, piece) => self.with_pieces && self.bm25(version, piece).is_some(),
            Candidate::Line(version, line) => self.exact.lines.get(&version).is_some_and(|lines| lines.contains(&line)),
            Candidate::File(version) => self.with_files && self.file(version).is_some(),
        }
    }

    fn path_matches(&self) -> impl Iterator<Item = (VersionId, &FileSigns)> {
        self.files.iter().filter(|(_, file)| file.path > 0.0).map(|(version, file)| (*version, file))
    }

    /// The candidates that look best, at most so many, with the highest total each can have: the highest first.
    pub(super) fn candidates(&self, snapshot: &Snapshot, asked: &Asked, count: usize) -> Result<Vec<(Candidate, i64)>> {
        let mut best = Best::of(count);
        for (version, file) in self.files.iter().filter(|_| self.with_pieces) {
            let worth = features::estimate(self, file, Candidate::File(*version));
            if !best.may_take(worth + features::units(file.best_chunk)) {
                continue;
            }
            for hit in &self.chunks.hits[file.pieces.clone()] {
                let bm25 = share(hit, &self.chunks);
                best.push(Candidate::Piece(*version, hit.place), worth + features::units(bm25));
            }
        }
        let unknown = FileSigns::default();
        for (&version, lines) in &self.exact.lines {
            let file = self.file(version).unwrap_or(&unknown);
            for &line in lines {
                let candidate = Candidate::Line(version, line);
                best.push(candidate, features::estimate(self, file, candidate));
            }
        }
        for (version, file) in self.path_matches().filter(|_| self.with_files) {
            let candidate = Candidate::File(version);
            best.push(candidate, features::estimate(self, file, candidate) + features::units(file.path));
        }
        let mut all = best.finish(snapshot)?;
        for (candidate, worth) in &mut all {
            let lost = || StoreError::Corrupt(format!("file version {} is not stored", candidate.version()));
            let version = snapshot.version(candidate.version())?.ok_or_else(lost)?;
            *worth = features::most(asked, self, *candidate, &version);
        }
        all.sort_unstable_by_key(|(_, most)| Reverse(*most));
        Ok(all)
    }
}

/// BM25 of a record over its ceiling.
fn share(hit: &TextHit, found: &TextHits) -> f64 {
    if found.ceiling > 0.0 { hit.score / found.ceiling } else { 0.0 }
}

/// The files that may have a word in their names, in order.
fn files_named(snapshot: &Snapshot, asked: &Asked) -> Result<TextHits> {
    let stems = asked.stems.iter().map(String::as_str);
    let tokens = terms::beginnings(snapshot, stems, |word| asked.bears(word) > 0.0)?;
    snapshot.search(Record::File, &[TermGroup { tokens: tokens.into_iter().collect(), weight: 1.0 }])
}

fn exact_files(snapshot: &Snapshot, asked: &Asked) -> Result<Option<Vec<VersionId>>> {
    let Some(tokens) = asked.exact_words(snapshot)? else { return Ok(None) };
    let found = snapshot.search(Record::Symbol, &[TermGroup { tokens, weight: 1.0 }])?;
    let mut files: Vec<VersionId> = found.hits.iter().map(|hit| hit.version).collect();
    files.dedup();
    Ok(Some(files))
}

/// Every file that any of the records is of, in order, with what they tell of it.
fn join(chunks: &TextHits, symbols: &TextHits, paths: &TextHits, named: &TextHits) -> Vec<(VersionId, FileSigns)> {
    let all = [chunks, symbols, paths, named];
    let mut at = [0; 4];
    let mut files = Vec::new();
    let weight: f64 = chunks.rarity.iter().sum();
    while let Some(version) = (0..4).filter_map(|of| Some(all[of].hits.get(at[of])?.version)).min() {
        let [pieces, symbol_range, path, name] = std::array::from_fn(|of| {
            let hits = &all[of].hits[at[of]..];
            let count = hits.iter().take_while(|hit| hit.version == version).count();
            at[of] += count;
            at[of] - count..at[of]
        });
        let mut file = FileSigns { name: f64::from(!name.is_empty()), ..FileSigns::default() };
        for hit in &chunks.hits[pieces.clone()] {
            let bm25 = share(hit, chunks);
            file.terms |= hit.terms;
            file.best_chunk = file.best_chunk.max(bm25);
            file.chunk_sum += bm25;
        }
        file.best_symbol = symbols.hits[symbol_range.clone()].iter().map(|hit| share(hit, symbols)).fold(0.0, f64::max);
        file.path = paths.hits[path].last().map_or(0.0, |hit| share(hit, paths));
        let held = chunks.rarity.iter().enumerate().filter(|(at, _)| file.terms >> (*at).min(63) & 1 == 1);
        file.coverage = if weight > 0.0 { held.map(|(_, rarity)| rarity).sum::<f64>() / weight } else { 0.0 };
        files.push((version, FileSigns { pieces, symbols: symbol_range, ..file }));
    }
    files
}

/// The best of many, without keeping them all.
struct Best {
    count: usize,
    /// Nothing below can be one of them.
    bound: i64,
    /// When there are so many, those below the bound are dropped.
    full: usize,
    all: Vec<(Candidate, i64)>,
}

impl Best {
    fn of(count: usize) -> Self {
        Self { count, bound: i64::MIN, full: count * 4, all: Vec::new() }
    }

    fn may_take(&self, worth: i64) -> bool {
        worth >= self.bound
    }

    fn push(&mut self, candidate: Candidate, worth: i64) {
        if !self.may_take(worth) {
            return;
        }
        self.all.push((candidate, worth));
        if self.all.len() >= self.full {
            self.raise_bound();
            self.all.retain(|(_, worth)| *worth >= self.bound);
            // There may be many at the bound, and which of them count is not known yet.
            self.full = self.full.max(self.all.len() * 2);
        }
    }

    fn raise_bound(&mut self) {
        let (_, (_, last), _) = self.all.select_nth_unstable_by_key(self.count - 1, |(_, worth)| Reverse(*worth));
        self.bound = *last;
    }

    /// The best in no order. Of those that are as good as the last, the first by path and place are taken: version ids
    /// tell nothing but the order in which a store came to know files.
    fn finish(mut self, snapshot: &Snapshot) -> Result<Vec<(Candidate, i64)>> {
        if self.all.len() <= self.count {
            return Ok(self.all);
        }
        self.raise_bound();
        let Self { count, bound, mut all, .. } = self;
        let mut tied: Vec<(Candidate, i64)> = all.iter().filter(|(_, worth)| *worth == bound).copied().collect();
        all.retain(|(_, worth)| *worth > bound);
        let room = count - all.len();
        if tied.len() > room {
            let versions = snapshot.catalogue()?;
            let path = |candidate: Candidate| versions.get(&candidate.version()).map(|info| info.path.as_str());
            tied.sort_by(|(a, _), (b, _)| path(*a).cmp(&path(*b)).then(a.cmp(b)));
            tied.truncate(room);
        }
        all.append(&mut tied);
        Ok(all)
    }
}

impl Search<'_> {
    /// Whether the filters let a file pass.
    pub(super) fn accepts(&self, path: &str, language: &str) -> bool {
        self.language.is_none_or(|wanted| wanted == language) && self.paths.is_none_or(|accepts| accepts(path))
    }
}
