//! Candidates: everything that the words of a query match, before any file is read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{Owners, VersionId};
use codecompass_store::{
    Part, PartWeight, Result, Snapshot, TermGroup, TextEverywhere, TextHit, TextHits, VersionInfo,
};

use super::asked::Asked;
use super::exact::Exact;
use super::signs::{Candidate, FileSigns, LinesOfCandidates, RecordSigns};
use super::{Mode, Search, terms};

/// The weights of the text fields of a symbol. Its own lines already include its docs and its name once.
const PARTS: &[PartWeight] = &[
    PartWeight { part: Part::Name, worth: 2.0, length: 0.6 },
    PartWeight { part: Part::Doc, worth: 0.8, length: 0.6 },
    PartWeight { part: Part::Own, worth: 1.0, length: 0.9 },
];

/// The candidates of a query, with the evidence for each.
pub(super) struct Gathered {
    text: TextEverywhere,
    shares: Shares,
    /// Hashes of the names that match the query exactly.
    name_hashes: Vec<u32>,
    /// Sorted by version.
    files: Vec<(VersionId, FileSigns)>,
    /// The literal matches.
    pub(super) exact: Exact,
    exact_of_files: RefCell<HashMap<VersionId, Rc<LinesOfCandidates>>>,
    with_text: bool,
    with_files: bool,
    /// Whether the query is a path that some files have; then only these files are candidates.
    is_named: bool,
    nothing: FileSigns,
}

impl Gathered {
    /// Looks up all words.
    pub(super) fn new(snapshot: &Snapshot, question: &Search<'_>, asked: &Asked) -> Result<Self> {
        let text = snapshot.search_text(&terms::groups(snapshot, &[Part::Own, Part::Piece], &asked.words)?, PARTS)?;
        let paths = snapshot.search(Part::Path, &terms::groups(snapshot, &[Part::Path], &asked.words)?)?;
        let shares = Shares::new(&text.symbols.rarity);
        let name_hashes = asked.name_hashes();
        let mut files = join(&text, &paths, &files_named(snapshot, asked)?, &shares);
        if question.language.is_some() || question.paths.is_some() {
            let versions = snapshot.catalogue()?;
            let accepts = |info: &Rc<VersionInfo>| question.accepts(&info.path, &info.language);
            files.retain(|(id, _)| versions.get(id).is_some_and(accepts));
        }
        for (version, file) in &mut files {
            file.may_be_unread = file.symbols.is_empty() && !snapshot.has_symbols(*version)?;
            let symbols = &text.symbols.hits[file.symbols.clone()];
            file.may_be_exact = symbols.iter().any(|hit| may_be_named(&name_hashes, hit));
        }
        let is_named = asked.is_path && only_meant(snapshot, question, asked, &mut files)?;
        let is_words = matches!(question.mode, Mode::Words);
        let has_text = files.iter().any(|(_, file)| !file.symbols.is_empty() || !file.pieces.is_empty());
        let exact = Exact::find(snapshot, question, asked, &text)?;
        if !is_words {
            files.retain(|(version, _)| exact.lines.contains_key(version));
        }
        files.iter_mut().for_each(|(version, file)| file.has_text = exact.lines.contains_key(version));
        Ok(Self {
            exact,
            text,
            shares,
            name_hashes,
            files,
            with_text: is_words && !is_named,
            with_files: is_words && (question.kinds.is_empty() || is_named) && (asked.is_path || !has_text),
            is_named,
            exact_of_files: RefCell::default(),
            // A file without matching words is a candidate only if a line of it matches literally.
            nothing: FileSigns { has_text: true, may_be_unread: true, ..FileSigns::default() },
        })
    }

    /// The evidence for a file.
    pub(super) fn file(&self, version: VersionId) -> &FileSigns {
        match self.files.binary_search_by_key(&version, |(id, _)| *id) {
            Ok(at) => &self.files[at].1,
            Err(_) => &self.nothing,
        }
    }

    /// All files with candidates, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = (VersionId, &FileSigns)> {
        let worded = self.files.iter().filter(|(version, file)| self.has_candidates(*version, file));
        let worded = worded.map(|(version, file)| (*version, file));
        let is_new = |version: &VersionId| self.files.binary_search_by_key(version, |(id, _)| *id).is_err();
        let others = self.exact.lines.keys().copied().filter(is_new);
        worded.chain(others.map(|version| (version, &self.nothing)))
    }

    fn has_candidates(&self, version: VersionId, file: &FileSigns) -> bool {
        self.with_text && !(file.symbols.is_empty() && file.pieces.is_empty())
            || self.with_files && (file.path > 0.0 || self.is_named)
            || self.exact.lines.contains_key(&version)
    }

    /// Returns the candidates of a file. Lines with a literal match represent the symbol or chunk that they belong to.
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
        if self.with_files && (file.path > 0.0 || self.is_named) {
            all.push(Candidate::File(version));
        }
        if self.exact.lines.contains_key(&version) {
            all.extend(self.exact_lines(snapshot, version)?.keys());
            all.sort_unstable();
            all.dedup();
        }
        Ok(all)
    }

    /// Returns the literally matching lines of a file by candidate. Each file is read once.
    pub(super) fn exact_lines(&self, snapshot: &Snapshot, version: VersionId) -> Result<Rc<LinesOfCandidates>> {
        if let Some(known) = self.exact_of_files.borrow().get(&version) {
            return Ok(known.clone());
        }
        let mut found = LinesOfCandidates::new();
        if let Some(lines) = self.exact.lines.get(&version) {
            let outline = snapshot.outline(version)?;
            let owners = Owners::new(&snapshot.text(version)?, &outline.symbols);
            for line in lines {
                if let Some(candidate) = Candidate::at(version, &outline, &owners, *line) {
                    found.entry(candidate).or_default().push(*line);
                }
            }
        }
        let found = Rc::new(found);
        self.exact_of_files.borrow_mut().insert(version, found.clone());
        Ok(found)
    }

    /// Whether something is a candidate.
    pub(super) fn holds(&self, snapshot: &Snapshot, candidate: Candidate) -> Result<bool> {
        Ok(self.candidates(snapshot, candidate.version())?.contains(&candidate))
    }

    /// The evidence for a candidate.
    pub(super) fn record(&self, candidate: Candidate) -> RecordSigns {
        let file = self.file(candidate.version());
        let (found, range, place) = match candidate {
            Candidate::Symbol(_, place) => (&self.text.symbols, &file.symbols, place),
            Candidate::Piece(_, place) => (&self.text.pieces, &file.pieces, place),
            Candidate::File(_) => return RecordSigns::default(),
        };
        let hits = &found.hits[range.clone()];
        let at = hits.binary_search_by_key(&place, |hit| hit.place).ok();
        let is_symbol = matches!(candidate, Candidate::Symbol(..));
        let mut signs = at.map_or_else(RecordSigns::default, |at| self.signs(&hits[at], found));
        signs.may_be_exact = is_symbol && at.is_some_and(|at| self.may_be_exact(&hits[at]));
        signs.may_have_text = file.has_text;
        signs.glance = at.filter(|_| is_symbol).map(|at| hits[at].glance);
        signs
    }

    /// The evidence for all candidates of a file with matching words, and whether each is a symbol.
    pub(super) fn records(&self, version: VersionId) -> impl Iterator<Item = (RecordSigns, bool)> {
        let file = self.file(version);
        let symbol = move |hit: &TextHit| RecordSigns {
            may_be_exact: self.may_be_exact(hit),
            glance: Some(hit.glance),
            ..self.signs(hit, &self.text.symbols)
        };
        let symbols = self.text.symbols.hits[file.symbols.clone()].iter().map(move |hit| (symbol(hit), true));
        let pieces = self.text.pieces.hits[file.pieces.clone()].iter();
        symbols.chain(pieces.map(|hit| (self.signs(hit, &self.text.pieces), false)))
    }

    /// Whether a file has candidates without matching words.
    pub(super) fn has_other_candidates(&self, version: VersionId) -> bool {
        self.with_files || self.exact.lines.contains_key(&version)
    }

    /// Returns evidence that no candidate of a file exceeds.
    pub(super) fn best_record(&self, file: &FileSigns) -> RecordSigns {
        RecordSigns {
            bm25: file.best,
            coverage: file.best_coverage,
            name_share: file.best_name,
            precision: 1.0,
            may_be_exact: file.may_be_exact,
            may_have_text: file.has_text,
            ..RecordSigns::default()
        }
    }

    fn may_be_exact(&self, hit: &TextHit) -> bool {
        may_be_named(&self.name_hashes, hit)
    }

    fn signs(&self, hit: &TextHit, found: &TextHits) -> RecordSigns {
        RecordSigns {
            bm25: share(hit, found),
            terms: hit.terms,
            name_share: if hit.in_name == 0 { 0.0 } else { self.share_of(hit.in_name) },
            precision: (f64::from(hit.in_name.count_ones()) / f64::from(hit.glance.name_words())).min(1.0),
            coverage: self.share_of(hit.terms),
            may_be_exact: false,
            may_have_text: false,
            glance: None,
        }
    }

    /// The share of the query's weight that these terms have.
    pub(super) fn share_of(&self, terms: u64) -> f64 {
        self.shares.of(terms)
    }

    /// The highest score that a record could have.
    pub(super) fn ceiling(&self) -> f64 {
        self.text.symbols.ceiling
    }

    /// Whether whole files are candidates.
    pub(super) fn with_files(&self) -> bool {
        self.with_files
    }

    /// Returns the number of candidates; those that share a literally matching line may be counted twice.
    pub(super) fn count(&self) -> usize {
        let of_file = |(_, file): (VersionId, &FileSigns)| {
            let text = if self.with_text { file.symbols.len() + file.pieces.len() } else { 0 };
            text + usize::from(self.with_files && (file.path > 0.0 || self.is_named))
        };
        let worded: usize = self.files().map(of_file).sum();
        if self.with_text || self.is_named { worded } else { self.exact.lines.values().map(Vec::len).sum() }
    }
}

/// Returns the BM25 score of a record relative to the ceiling.
fn share(hit: &TextHit, found: &TextHits) -> f64 {
    if found.ceiling > 0.0 { hit.score / found.ceiling } else { 0.0 }
}

fn may_be_named(hashes: &[u32], hit: &TextHit) -> bool {
    hashes.iter().any(|hash| hit.glance.may_be_named(*hash))
}

/// The share of the query's weight for sets of its terms, precomputed for every eight terms because it is needed for
/// every record.
struct Shares {
    of_bytes: Vec<[f64; 256]>,
}

impl Shares {
    fn new(rarity: &[f64]) -> Self {
        let mass: f64 = rarity.iter().sum();
        let share = |rarity: &f64| if mass > 0.0 { rarity / mass } else { 0.0 };
        let of_byte = |eight: &[f64]| {
            let held = |byte: usize| eight.iter().enumerate().filter(move |(at, _)| byte >> at & 1 == 1);
            std::array::from_fn(|byte| held(byte).map(|(_, rarity)| share(rarity)).sum())
        };
        Self { of_bytes: rarity.chunks(8).map(of_byte).collect() }
    }

    fn of(&self, terms: u64) -> f64 {
        let bytes = terms.to_le_bytes();
        self.of_bytes.iter().zip(bytes).map(|(of_byte, byte)| of_byte[usize::from(byte)]).sum()
    }
}

/// Retains only the files that match the typed path, if there are any: those with that path, else those with that path
/// except for the extension, else those in that folder. If some of them have the line that was typed after the path,
/// only those. Returns whether any file matched.
fn only_meant(
    snapshot: &Snapshot,
    question: &Search<'_>,
    asked: &Asked,
    files: &mut Vec<(VersionId, FileSigns)>,
) -> Result<bool> {
    let lacks_line = |info: &VersionInfo| asked.line_in(&info.path).is_some_and(|line| line < 1 || line > info.lines);
    let rank = |info: &VersionInfo| Some((asked.named_as(&info.path)?, lacks_line(info)));
    let accepted = snapshot.catalogue()?.iter().filter(|(_, info)| question.accepts(&info.path, &info.language));
    let ranked: Vec<_> = accepted.filter_map(|(id, info)| Some((rank(info)?, *id))).collect();
    let Some(best) = ranked.iter().map(|(rank, _)| *rank).min() else { return Ok(false) };
    let mut meant: Vec<VersionId> = ranked.iter().filter(|(rank, _)| *rank == best).map(|(_, id)| *id).collect();
    meant.sort_unstable();
    let mut known = std::mem::take(files).into_iter().peekable();
    for id in meant {
        while known.next_if(|(version, _)| *version < id).is_some() {}
        let signs = known.next_if(|(version, _)| *version == id).map(|(_, signs)| signs);
        files.push((id, signs.unwrap_or(FileSigns { may_be_unread: true, ..FileSigns::default() })));
    }
    Ok(true)
}

/// Returns the files that may have a query word in their names, in order, with the words as bits; the lowest bit is set
/// for all of them.
fn files_named(snapshot: &Snapshot, asked: &Asked) -> Result<TextHits> {
    let stems = asked.stems.iter().map(String::as_str);
    let tokens = terms::beginnings(snapshot, stems, |word| asked.bears(word) > 0.0)?;
    let mut of_words = vec![Vec::new(); asked.words.len()];
    for token in &tokens {
        let borne = asked.terms_in(token);
        let of_words = of_words.iter_mut().enumerate().filter(|(at, _)| borne >> (*at).min(63) & 1 == 1);
        of_words.for_each(|(_, of_word)| of_word.push(token.clone()));
    }
    let groups = std::iter::once(tokens.into_iter().collect()).chain(of_words).map(TermGroup::any_of);
    snapshot.search(Part::Path, &groups.collect::<Vec<_>>())
}

/// Returns every file with a matching record, in order, with the evidence of its records.
fn join(text: &TextEverywhere, paths: &TextHits, named: &TextHits, shares: &Shares) -> Vec<(VersionId, FileSigns)> {
    let all = [&text.symbols, &text.pieces, &text.files, paths, named];
    let mut at = [0; 5];
    let mut files = Vec::new();
    while let Some(version) = (0..all.len()).filter_map(|of| Some(all[of].hits.get(at[of])?.version)).min() {
        let [symbols, pieces, whole, path, name] = std::array::from_fn(|of| {
            let hits = &all[of].hits[at[of]..];
            let count = hits.iter().take_while(|hit| hit.version == version).count();
            at[of] += count;
            at[of] - count..at[of]
        });
        let in_name = named.hits[name.clone()].last().map_or(0, |hit| hit.terms >> 1);
        let mut file =
            FileSigns { name: f64::from(!name.is_empty()), name_words: shares.of(in_name), ..FileSigns::default() };
        let mut terms = 0;
        for (found, range) in [(&text.symbols, &symbols), (&text.pieces, &pieces)] {
            for hit in &found.hits[range.clone()] {
                let bm25 = share(hit, found);
                terms |= hit.terms;
                file.best = file.best.max(bm25);
                file.best_coverage = file.best_coverage.max(shares.of(hit.terms));
                if hit.in_name != 0 {
                    file.best_name = file.best_name.max(shares.of(hit.in_name));
                }
                file.sum += bm25;
            }
        }
        file.text = text.files.hits[whole].last().map_or(0.0, |hit| share(hit, &text.files));
        file.path = paths.hits[path].last().map_or(0.0, |hit| share(hit, paths));
        file.coverage = shares.of(terms);
        files.push((version, FileSigns { symbols, pieces, ..file }));
    }
    files
}

impl Search<'_> {
    /// Whether the filters accept a file.
    pub(super) fn accepts(&self, path: &str, language: &str) -> bool {
        self.language.is_none_or(|wanted| wanted == language) && self.paths.is_none_or(|accepts| accepts(path))
    }
}
