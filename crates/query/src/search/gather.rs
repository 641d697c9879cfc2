//! Everything that the words of a question find, before any file is read.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use codecompass_model::{Lines, VersionId};
use codecompass_store::{Record, Result, Snapshot, StoreError, TermGroup, TextHits, VersionInfo};

use super::features::{Asked, FileSigns};
use super::{Intent, Mode, Search, features, terms};
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

/// A table by file version. There may be one entry per file for each query, and version ids are small numbers that
/// nobody chooses, so hashing them well is not worth its time.
pub(super) type ByVersion<T> = HashMap<VersionId, T, BuildHasherDefault<Plain>>;

/// Spreads a number over 64 bits.
#[derive(Default)]
pub(super) struct Plain(u64);

impl Hasher for Plain {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

/// See the module.
pub(super) struct Gathered {
    /// BM25 of pieces over its ceiling, in order of file version and place.
    pub(super) pieces: Vec<((VersionId, u32), f64)>,
    /// Per file: BM25 of its symbols over the ceiling.
    pub(super) symbols: ByVersion<Vec<(u32, f64)>>,
    pub(super) files: ByVersion<FileSigns>,
    /// The highest score a piece could have.
    pub(super) ceiling: f64,
    /// What is wanted as it is.
    pub(super) exact: Exact,
    /// Texts of files that no grammar has read.
    unread: RefCell<HashMap<VersionId, Rc<str>>>,
    with_pieces: bool,
    with_files: bool,
}

impl Gathered {
    /// Looks all words up.
    pub(super) fn new(snapshot: &Snapshot, question: &Search<'_>, asked: &Asked) -> Result<Self> {
        let find = |record| snapshot.search(record, &terms::groups(snapshot, record, &asked.words)?);
        let (chunks, symbols, files) = (find(Record::Chunk)?, find(Record::Symbol)?, find(Record::File)?);
        let mut gathered = Self::join(&chunks, &symbols, &files);
        gathered.mark_names(snapshot, asked)?;
        gathered.filter(snapshot, question)?;
        gathered.exact = Exact::find(snapshot, question, asked)?;
        gathered.with_pieces = matches!(question.mode, Mode::Words);
        gathered.with_files = gathered.with_pieces && (asked.intent == Intent::Path || gathered.pieces.is_empty());
        Ok(gathered)
    }

    fn join(chunks: &TextHits, symbols: &TextHits, files: &TextHits) -> Self {
        let share = |score: f64, found: &TextHits| if found.ceiling > 0.0 { score / found.ceiling } else { 0.0 };
        let mut gathered = Self {
            pieces: Vec::with_capacity(chunks.hits.len()),
            symbols: ByVersion::default(),
            files: ByVersion::default(),
            ceiling: chunks.ceiling,
            exact: Exact::default(),
            unread: RefCell::default(),
            with_pieces: true,
            with_files: false,
        };
        for hit in &chunks.hits {
            let bm25 = share(hit.score, chunks);
            gathered.pieces.push(((hit.version, hit.place), bm25));
            let file = gathered.files.entry(hit.version).or_default();
            file.terms |= hit.terms;
            file.best_chunk = file.best_chunk.max(bm25);
            file.chunk_sum += bm25;
        }
        for hit in &symbols.hits {
            gathered.symbols.entry(hit.version).or_default().push((hit.place, share(hit.score, symbols)));
            let file = gathered.files.entry(hit.version).or_default();
            file.best_symbol = file.best_symbol.max(share(hit.score, symbols));
        }
        for hit in &files.hits {
            gathered.files.entry(hit.version).or_default().path = share(hit.score, files);
        }
        let weight: f64 = chunks.rarity.iter().sum();
        for file in gathered.files.values_mut() {
            let held = chunks.rarity.iter().enumerate().filter(|(at, _)| file.terms >> (*at).min(63) & 1 == 1);
            file.coverage = if weight > 0.0 { held.map(|(_, rarity)| rarity).sum::<f64>() / weight } else { 0.0 };
        }
        gathered
    }

    /// Notes which files may have a word in their names.
    fn mark_names(&mut self, snapshot: &Snapshot, asked: &Asked) -> Result<()> {
        let begin_alike = terms::beginnings(snapshot, asked.stems.iter().map(String::as_str))?;
        let tokens: Vec<String> = begin_alike.into_iter().filter(|word| asked.bears(word) > 0.0).collect();
        for hit in snapshot.search(Record::File, &[TermGroup { tokens, weight: 1.0 }])?.hits {
            self.files.entry(hit.version).or_default().name = 1.0;
        }
        Ok(())
    }

    /// Drops the files that the question does not want.
    fn filter(&mut self, snapshot: &Snapshot, question: &Search<'_>) -> Result<()> {
        if question.language.is_none() && question.paths.is_none() {
            return Ok(());
        }
        let versions = snapshot.catalogue()?;
        let wanted = |id: &VersionId| versions.get(id).is_some_and(|info| question.accepts(&info.path, &info.language));
        self.files.retain(|version, _| wanted(version));
        self.pieces.retain(|((version, _), _)| self.files.contains_key(version));
        Ok(())
    }

    /// The text of a file that no grammar has read.
    pub(super) fn unread_text(&self, snapshot: &Snapshot, id: VersionId) -> Result<Rc<str>> {
        if let Some(text) = self.unread.borrow().get(&id) {
            return Ok(text.clone());
        }
        let text: Rc<str> = snapshot.text(id)?.into();
        self.unread.borrow_mut().insert(id, text.clone());
        Ok(text)
    }

    /// How many candidates there are.
    pub(super) fn count(&self) -> usize {
        let lines: usize = self.exact.lines.values().map(Vec::len).sum();
        let pieces = if self.with_pieces { self.pieces.len() } else { lines };
        pieces + if self.with_files { self.path_matches().count() } else { 0 }
    }

    /// BM25 of a piece over its ceiling; nothing when it holds no word.
    pub(super) fn bm25(&self, version: VersionId, piece: u32) -> Option<f64> {
        let at = self.pieces.binary_search_by_key(&(version, piece), |(key, _)| *key).ok()?;
        Some(self.pieces[at].1)
    }

    /// Whether a piece is a candidate.
    pub(super) fn holds(&self, candidate: Candidate) -> bool {
        match candidate {
            Candidate::Piece(version, piece) => self.with_pieces && self.bm25(version, piece).is_some(),
            Candidate::Line(version, line) => self.exact.lines.get(&version).is_some_and(|lines| lines.contains(&line)),
            Candidate::File(version) => self.with_files && self.files.contains_key(&version),
        }
    }

    fn path_matches(&self) -> impl Iterator<Item = VersionId> {
        self.files.iter().filter(|(_, file)| file.path > 0.0).map(|(version, _)| *version)
    }

    /// The candidates that look best, at most so many, with the highest total each can have: the highest first.
    pub(super) fn candidates(&self, snapshot: &Snapshot, asked: &Asked, count: usize) -> Result<Vec<(Candidate, i64)>> {
        let mut all: Vec<(Candidate, i64)> = Vec::with_capacity(self.pieces.len());
        let mut file = (VersionId::MAX, 0);
        for &((version, piece), bm25) in self.pieces.iter().filter(|_| self.with_pieces) {
            if file.0 != version {
                file = (version, features::estimate(self, Candidate::File(version)));
            }
            all.push((Candidate::Piece(version, piece), file.1 + features::units(bm25)));
        }
        let worth = |candidate| (candidate, features::estimate(self, candidate));
        for (&version, lines) in &self.exact.lines {
            all.extend(lines.iter().map(|&line| worth(Candidate::Line(version, line))));
        }
        for version in self.path_matches().filter(|_| self.with_files) {
            let (candidate, worth) = worth(Candidate::File(version));
            all.push((candidate, worth + features::units(self.files[&version].path)));
        }
        if all.len() > count {
            let (_, &mut (_, last), _) = all.select_nth_unstable_by_key(count - 1, |(_, worth)| Reverse(*worth));
            keep_first(snapshot, &mut all, last, count)?;
        }
        for (candidate, worth) in &mut all {
            let lost = || StoreError::Corrupt(format!("file version {} is not stored", candidate.version()));
            let version = snapshot.version(candidate.version())?.ok_or_else(lost)?;
            *worth = features::most(asked, self, *candidate, &version);
        }
        all.sort_unstable_by_key(|(_, most)| Reverse(*most));
        Ok(all)
    }
}

/// Keeps what is above a worth, and of what is at it the first by path and place, up to a number: version ids tell
/// nothing but the order in which a store came to know files.
fn keep_first(snapshot: &Snapshot, all: &mut Vec<(Candidate, i64)>, bound: i64, count: usize) -> Result<()> {
    let mut tied: Vec<(Candidate, i64)> = all.iter().filter(|(_, most)| *most == bound).copied().collect();
    all.retain(|(_, most)| *most > bound);
    let room = count - all.len();
    if tied.len() > room {
        let versions = snapshot.catalogue()?;
        let path = |candidate: Candidate| versions.get(&candidate.version()).map(|info| info.path.as_str());
        tied.sort_by(|(a, _), (b, _)| path(*a).cmp(&path(*b)).then(a.cmp(b)));
        tied.truncate(room);
    }
    all.append(&mut tied);
    Ok(())
}

impl Search<'_> {
    /// Whether the filters let a file pass.
    pub(super) fn accepts(&self, path: &str, language: &str) -> bool {
        self.language.is_none_or(|wanted| wanted == language) && self.paths.is_none_or(|accepts| accepts(path))
    }
}
