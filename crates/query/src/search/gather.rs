//! Everything that the words of a question find, before any file is read.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{Owners, VersionId};
use codecompass_store::{
    Outline, Part, PartWeight, Result, Snapshot, TermGroup, TextEverywhere, TextHit, TextHits, VersionInfo,
};

use super::asked::Asked;
use super::exact::Exact;
use super::features::{FileSigns, RecordSigns};
use super::{Mode, Search, terms};

/// What words in each part of a symbol are worth. Its own lines have its docs and its name in them once already.
const PARTS: &[PartWeight] = &[
    PartWeight { part: Part::Name, worth: 2.0, length: 0.3 },
    PartWeight { part: Part::Doc, worth: 0.6, length: 0.3 },
    PartWeight { part: Part::Own, worth: 1.0, length: 0.75 },
];

/// Something that may be a place of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Candidate {
    /// A symbol, by its place among the file's symbols.
    Symbol(VersionId, u32),
    /// A piece of a file outside symbols, by its place among the file's pieces.
    Piece(VersionId, u32),
    /// A file as a whole.
    File(VersionId),
}

impl Candidate {
    pub(super) fn version(self) -> VersionId {
        match self {
            Candidate::Symbol(version, _) | Candidate::Piece(version, _) | Candidate::File(version) => version,
        }
    }

    /// What a line of a file belongs to; nothing for a blank line between symbols.
    pub(super) fn at(version: VersionId, outline: &Outline, owners: &Owners, line: u32) -> Option<Self> {
        if let Some(owner) = owners.of(line) {
            return Some(Candidate::Symbol(version, owner));
        }
        let holds = |chunk: &codecompass_model::Chunk| (chunk.lines.start..=chunk.lines.end).contains(&line);
        outline.chunks.iter().position(holds).map(|piece| Candidate::Piece(version, piece as u32))
    }
}

/// See the module.
pub(super) struct Gathered {
    text: TextEverywhere,
    /// The weight of all terms.
    mass: f64,
    /// The symbols that may be exactly what was asked for, in order; `None` when any may.
    exact_symbols: Option<Vec<(VersionId, u32)>>,
    /// In order.
    files: Vec<(VersionId, FileSigns)>,
    /// What is wanted as it is.
    pub(super) exact: Exact,
    with_text: bool,
    with_files: bool,
    /// Whether a line is asked for that some files have, which are then all that is looked at.
    is_line: bool,
    nothing: FileSigns,
}

impl Gathered {
    /// Looks all words up.
    pub(super) fn new(snapshot: &Snapshot, question: &Search<'_>, asked: &Asked) -> Result<Self> {
        let text = snapshot.search_text(&terms::groups(snapshot, &[Part::Own, Part::Piece], &asked.words)?, PARTS)?;
        let paths = snapshot.search(Part::Path, &terms::groups(snapshot, &[Part::Path], &asked.words)?)?;
        let mut files = join(&text, &paths, &files_named(snapshot, asked)?);
        if question.language.is_some() || question.paths.is_some() {
            let versions = snapshot.catalogue()?;
            let accepts = |info: &Rc<VersionInfo>| question.accepts(&info.path, &info.language);
            files.retain(|(id, _)| versions.get(id).is_some_and(accepts));
        }
        let is_line = asked.is_line() && only_at_line(snapshot, question, asked, &mut files)?;
        let is_words = matches!(question.mode, Mode::Words);
        let has_text = files.iter().any(|(_, file)| !file.symbols.is_empty() || !file.pieces.is_empty());
        Ok(Self {
            mass: text.symbols.rarity.iter().sum(),
            exact: Exact::find(snapshot, question, asked, &text)?,
            text,
            exact_symbols: exact_symbols(snapshot, asked)?,
            files,
            with_text: is_words && !is_line,
            with_files: is_words && (question.kinds.is_empty() || is_line) && (asked.is_path || !has_text),
            is_line,
            nothing: FileSigns::default(),
        })
    }

    /// What is known of a file.
    pub(super) fn file(&self, version: VersionId) -> &FileSigns {
        match self.files.binary_search_by_key(&version, |(id, _)| *id) {
            Ok(at) => &self.files[at].1,
            Err(_) => &self.nothing,
        }
    }

    /// Every file with candidates, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = (VersionId, &FileSigns)> {
        let worded = self.files.iter().filter(|(version, file)| self.has_candidates(*version, file));
        let worded = worded.map(|(version, file)| (*version, file));
        let is_new = |version: &VersionId| self.files.binary_search_by_key(version, |(id, _)| *id).is_err();
        let others = self.exact.lines.keys().copied().filter(is_new);
        worded.chain(others.map(|version| (version, &self.nothing)))
    }

    fn has_candidates(&self, version: VersionId, file: &FileSigns) -> bool {
        self.with_text && !(file.symbols.is_empty() && file.pieces.is_empty())
            || self.with_files && (file.path > 0.0 || self.is_line)
            || self.exact.lines.contains_key(&version)
    }

    /// The candidates of a file. Lines that hold a wanted text stand for what they belong to.
    pub(super) fn candidates(&self, snapshot: &Snapshot, version: VersionId) -> Result<Vec<Candidate>> {
        let file = self.file(version);
        let mut all = Vec::new();
        if self.with_text {
            all.extend(
                self.text.symbols.hits[file.symbols.clone()].iter().map(|hit| Candidate::Symbol(version, hit.place)),
            );
            all.extend(
                self.text.pieces.hits[file.pieces.clone()].iter().map(|hit| Candidate::Piece(version, hit.place)),
            );
        }
        if self.with_files && (file.path > 0.0 || self.is_line) {
            all.push(Candidate::File(version));
        }
        if let Some(lines) = self.exact.lines.get(&version) {
            let outline = snapshot.outline(version)?;
            let owners = Owners::new(&*snapshot.text(version)?, &outline.symbols);
            all.extend(lines.iter().filter_map(|line| Candidate::at(version, &outline, &owners, *line)));
            all.sort_unstable();
            all.dedup();
        }
        Ok(all)
    }

    /// Whether something is a candidate.
    pub(super) fn holds(&self, snapshot: &Snapshot, candidate: Candidate) -> Result<bool> {
        Ok(self.candidates(snapshot, candidate.version())?.contains(&candidate))
    }

    /// What is known of a candidate.
    pub(super) fn record(&self, candidate: Candidate) -> RecordSigns {
        let file = self.file(candidate.version());
        let (found, range, place) = match candidate {
            Candidate::Symbol(_, place) => (&self.text.symbols, &file.symbols, place),
            Candidate::Piece(_, place) => (&self.text.pieces, &file.pieces, place),
            Candidate::File(_) => return RecordSigns::default(),
        };
        let hits = &found.hits[range.clone()];
        let at = hits.binary_search_by_key(&place, |hit| hit.place).ok();
        let mut signs = at.map_or_else(RecordSigns::default, |at| self.signs(&hits[at], found));
        signs.may_be_exact =
            matches!(candidate, Candidate::Symbol(..)) && self.may_be_exact(candidate.version(), place);
        signs
    }

    /// What no candidate of a file has more of.
    pub(super) fn best_record(&self, file: &FileSigns) -> RecordSigns {
        let mut best = RecordSigns { bm25: file.best, coverage: file.coverage, ..RecordSigns::default() };
        let symbols = &self.text.symbols.hits[file.symbols.clone()];
        for hit in symbols {
            best.in_name |= hit.in_name;
        }
        let version = symbols.first().map(|hit| hit.version);
        best.may_be_exact = match (&self.exact_symbols, version) {
            (None, _) => true,
            (Some(exact), Some(version)) => exact.binary_search_by(|(id, _)| id.cmp(&version)).is_ok(),
            (Some(_), None) => false,
        };
        best
    }

    fn may_be_exact(&self, version: VersionId, place: u32) -> bool {
        self.exact_symbols.as_ref().is_none_or(|symbols| symbols.binary_search(&(version, place)).is_ok())
    }

    fn signs(&self, hit: &TextHit, found: &TextHits) -> RecordSigns {
        RecordSigns {
            bm25: share(hit, found),
            terms: hit.terms,
            in_name: hit.in_name,
            coverage: self.share_of(hit.terms),
            may_be_exact: false,
        }
    }

    /// The share of the question's weight that these terms have.
    pub(super) fn share_of(&self, terms: u64) -> f64 {
        share_of(&self.text.symbols.rarity, self.mass, terms)
    }

    /// The highest score a record could have.
    pub(super) fn ceiling(&self) -> f64 {
        self.text.symbols.ceiling
    }

    /// Whether any line holds a wanted text.
    pub(super) fn has_exact(&self) -> bool {
        !self.exact.lines.is_empty()
    }

    /// Whether files as a whole are candidates.
    pub(super) fn with_files(&self) -> bool {
        self.with_files
    }

    /// How many candidates there are; those that share a line of a wanted text may be counted twice.
    pub(super) fn count(&self) -> usize {
        let of_file = |(_, file): (VersionId, &FileSigns)| {
            let text = if self.with_text { file.symbols.len() + file.pieces.len() } else { 0 };
            text + usize::from(self.with_files && (file.path > 0.0 || self.is_line))
        };
        let worded: usize = self.files().map(of_file).sum();
        if self.with_text || self.is_line { worded } else { self.exact.lines.values().map(Vec::len).sum() }
    }
}

/// BM25 of a record over its ceiling.
fn share(hit: &TextHit, found: &TextHits) -> f64 {
    if found.ceiling > 0.0 { hit.score / found.ceiling } else { 0.0 }
}

fn share_of(rarity: &[f64], mass: f64, terms: u64) -> f64 {
    let held = rarity.iter().enumerate().filter(|(at, _)| terms >> (*at).min(63) & 1 == 1);
    if mass > 0.0 { held.map(|(_, rarity)| rarity).sum::<f64>() / mass } else { 0.0 }
}

/// Leaves only the files whose path is the one that was typed and that have the line, if there are any.
fn only_at_line(
    snapshot: &Snapshot,
    question: &Search<'_>,
    asked: &Asked,
    files: &mut Vec<(VersionId, FileSigns)>,
) -> Result<bool> {
    let has_line = |info: &VersionInfo| {
        question.accepts(&info.path, &info.language)
            && asked.line_in(&info.path).is_some_and(|line| (1..=info.lines).contains(&line))
    };
    let meant = snapshot.catalogue()?.iter().filter(|(_, info)| has_line(info)).map(|(id, _)| *id);
    let mut meant: Vec<VersionId> = meant.collect();
    meant.sort_unstable();
    if meant.is_empty() {
        return Ok(false);
    }
    let mut known = std::mem::take(files).into_iter().peekable();
    for id in meant {
        while known.next_if(|(version, _)| *version < id).is_some() {}
        let signs = known.next_if(|(version, _)| *version == id).map(|(_, signs)| signs);
        files.push((id, signs.unwrap_or_default()));
    }
    Ok(true)
}

/// The files that may have a word in their names, in order.
fn files_named(snapshot: &Snapshot, asked: &Asked) -> Result<TextHits> {
    let stems = asked.stems.iter().map(String::as_str);
    let tokens = terms::beginnings(snapshot, stems, |word| asked.bears(word) > 0.0)?;
    snapshot.search(Part::Path, &[TermGroup { tokens: tokens.into_iter().collect(), weight: 1.0 }])
}

fn exact_symbols(snapshot: &Snapshot, asked: &Asked) -> Result<Option<Vec<(VersionId, u32)>>> {
    let Some(tokens) = asked.exact_words(snapshot)? else { return Ok(None) };
    let found = snapshot.search(Part::Name, &[TermGroup { tokens, weight: 1.0 }])?;
    Ok(Some(found.hits.iter().map(|hit| (hit.version, hit.place)).collect()))
}

/// Every file that any of the records is of, in order, with what they tell of it.
fn join(text: &TextEverywhere, paths: &TextHits, named: &TextHits) -> Vec<(VersionId, FileSigns)> {
    let all = [&text.symbols, &text.pieces, &text.files, paths, named];
    let mut at = [0; 5];
    let mut files = Vec::new();
    let mass: f64 = text.symbols.rarity.iter().sum();
    while let Some(version) = (0..all.len()).filter_map(|of| Some(all[of].hits.get(at[of])?.version)).min() {
        let [symbols, pieces, whole, path, name] = std::array::from_fn(|of| {
            let hits = &all[of].hits[at[of]..];
            let count = hits.iter().take_while(|hit| hit.version == version).count();
            at[of] += count;
            at[of] - count..at[of]
        });
        let mut file = FileSigns { name: f64::from(!name.is_empty()), ..FileSigns::default() };
        let mut terms = 0;
        for (found, range) in [(&text.symbols, &symbols), (&text.pieces, &pieces)] {
            for hit in &found.hits[range.clone()] {
                let bm25 = share(hit, found);
                terms |= hit.terms;
                file.best = file.best.max(bm25);
                file.sum += bm25;
            }
        }
        file.text = text.files.hits[whole].last().map_or(0.0, |hit| share(hit, &text.files));
        file.path = paths.hits[path].last().map_or(0.0, |hit| share(hit, paths));
        file.coverage = share_of(&text.symbols.rarity, mass, terms);
        files.push((version, FileSigns { symbols, pieces, ..file }));
    }
    files
}

impl Search<'_> {
    /// Whether the filters let a file pass.
    pub(super) fn accepts(&self, path: &str, language: &str) -> bool {
        self.language.is_none_or(|wanted| wanted == language) && self.paths.is_none_or(|accepts| accepts(path))
    }
}

/// Per file, the lines that hold something.
pub(super) type LinesOfFiles = HashMap<VersionId, Vec<u32>>;
