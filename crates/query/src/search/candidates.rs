//! Candidates: everything that the words of a query match, before any file is read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{LineOwners, VersionId};
use codecompass_store::{
    FieldWeight, Result, Snapshot, TermGroup, TextField, TextHit, TextHits, TextResults, VersionInfo,
};

use super::evidence::{Candidate, CandidateLines, FileEvidence, RecordEvidence};
use super::exact::ExactMatches;
use super::frames::{self, FrameMatch};
use super::parsed_query::ParsedQuery;
use super::{QueryMode, SearchRequest, terms};

/// The weights of the text fields of a symbol. Its own lines already include its docs and its name once.
const FIELD_WEIGHTS: &[FieldWeight] = &[
    FieldWeight { field: TextField::Name, weight: 2.0, length_norm: 0.6 },
    FieldWeight { field: TextField::Doc, weight: 0.8, length_norm: 0.6 },
    FieldWeight { field: TextField::Own, weight: 1.0, length_norm: 0.9 },
];

/// The candidates of a query, with the evidence for each.
pub(super) struct Candidates {
    text: TextResults,
    shares: TermShares,
    /// Hashes of the names that match the query exactly.
    name_hashes: Vec<u32>,
    /// Sorted by version.
    files: Vec<(VersionId, FileEvidence)>,
    /// The literal matches.
    pub(super) exact: ExactMatches,
    /// The code that a stack trace names, innermost first.
    frames: Vec<FrameMatch>,
    exact_by_file: RefCell<HashMap<VersionId, Rc<CandidateLines>>>,
    exact_only: bool,
    with_files: bool,
    /// Whether the query is a path that some files have; then only these files are candidates.
    is_named: bool,
    nothing: FileEvidence,
}

impl Candidates {
    /// Looks up all words.
    pub(super) fn new(snapshot: &Snapshot, request: &SearchRequest<'_>, parsed: &ParsedQuery) -> Result<Self> {
        let text = snapshot.search_text(
            &terms::groups(snapshot, &[TextField::Own, TextField::Chunk], &parsed.words)?,
            FIELD_WEIGHTS,
        )?;
        let paths = snapshot.search(TextField::Path, &terms::groups(snapshot, &[TextField::Path], &parsed.words)?)?;
        let shares = TermShares::new(&text.symbols.rarity);
        let name_hashes = parsed.name_hashes();
        let mut files = join(&text, &paths, &files_by_name_words(snapshot, parsed)?, &shares);
        if request.language.is_some() || request.paths.is_some() {
            let versions = snapshot.versions_by_id()?;
            let accepts = |info: &Rc<VersionInfo>| request.accepts(&info.path, &info.language);
            files.retain(|(id, _)| versions.get(id).is_some_and(accepts));
        }
        for (version, file) in &mut files {
            file.may_be_unparsed = file.symbols.is_empty() && !snapshot.has_symbols(*version)?;
            let symbols = &text.symbols.hits[file.symbols.clone()];
            file.may_be_exact = symbols.iter().any(|hit| may_be_named(&name_hashes, hit));
        }
        let is_named = parsed.is_path && retain_typed_paths(snapshot, request, parsed, &mut files)?;
        let is_words = matches!(request.mode, QueryMode::Words);
        let has_text = files.iter().any(|(_, file)| !file.symbols.is_empty() || !file.chunks.is_empty());
        let exact = ExactMatches::find(snapshot, request, parsed, &text)?;
        if !is_words {
            files.retain(|(version, _)| exact.lines.contains_key(version));
        }
        let frames = frames::resolve(snapshot, request, &parsed.frames)?;
        let first_frame = |version: &VersionId| frames.iter().position(|frame| frame.candidate.version() == *version);
        for (version, file) in &mut files {
            file.has_text = exact.lines.contains_key(version);
            file.frame = first_frame(version).map_or(0.0, frame_score);
        }
        Ok(Self {
            exact,
            text,
            shares,
            name_hashes,
            files,
            exact_only: is_words && !is_named,
            with_files: is_words && (request.kinds.is_empty() || is_named) && (parsed.is_path || !has_text),
            is_named,
            exact_by_file: RefCell::default(),
            // A file that was not retained is a candidate only if a line of it matches literally or a trace names it.
            // It may have been dropped because it is not at the typed path, so its name may contain query words.
            nothing: FileEvidence {
                has_text: true,
                may_be_unparsed: true,
                name: 1.0,
                name_words: 1.0,
                frame: if frames.is_empty() { 0.0 } else { 1.0 },
                ..FileEvidence::default()
            },
            frames,
        })
    }

    /// The evidence for a file.
    pub(super) fn file(&self, version: VersionId) -> &FileEvidence {
        match self.files.binary_search_by_key(&version, |(id, _)| *id) {
            Ok(at) => &self.files[at].1,
            Err(_) => &self.nothing,
        }
    }

    /// All files with candidates, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = (VersionId, &FileEvidence)> {
        let worded = self.files.iter().filter(|(version, file)| self.has_candidates(*version, file));
        let worded = worded.map(|(version, file)| (*version, file));
        let is_new = |version: &VersionId| self.files.binary_search_by_key(version, |(id, _)| *id).is_err();
        let of_frames = self.frames.iter().map(|frame| frame.candidate.version());
        let mut others: Vec<VersionId> = self.exact.lines.keys().copied().chain(of_frames).filter(is_new).collect();
        others.sort_unstable();
        others.dedup();
        worded.chain(others.into_iter().map(|version| (version, &self.nothing)))
    }

    fn has_candidates(&self, version: VersionId, file: &FileEvidence) -> bool {
        self.exact_only && !(file.symbols.is_empty() && file.chunks.is_empty())
            || self.with_files && (file.path > 0.0 || self.is_named)
            || self.exact.lines.contains_key(&version)
            || self.is_in_trace(version)
    }

    fn is_in_trace(&self, version: VersionId) -> bool {
        self.frames.iter().any(|frame| frame.candidate.version() == version)
    }

    /// The score of a candidate that a stack trace names, 0 for others.
    fn frame_score(&self, candidate: Candidate) -> f64 {
        self.frames.iter().position(|frame| frame.candidate == candidate).map_or(0.0, frame_score)
    }

    /// The line that a stack trace names in a candidate.
    pub(super) fn frame_line(&self, candidate: Candidate) -> Option<u32> {
        self.frames.iter().find(|frame| frame.candidate == candidate)?.line
    }

    /// Returns the candidates of a file. Lines with a literal match represent the symbol or chunk that they belong to.
    pub(super) fn candidates(&self, snapshot: &Snapshot, version: VersionId) -> Result<Vec<Candidate>> {
        let file = self.file(version);
        let mut all = Vec::new();
        if self.exact_only {
            all.extend(
                self.text.symbols.hits[file.symbols.clone()].iter().map(|hit| Candidate::Symbol(version, hit.ordinal)),
            );
            all.extend(
                self.text.chunks.hits[file.chunks.clone()].iter().map(|hit| Candidate::Chunk(version, hit.ordinal)),
            );
        }
        if self.with_files && (file.path > 0.0 || self.is_named) {
            all.push(Candidate::File(version));
        }
        if self.exact.lines.contains_key(&version) {
            all.extend(self.exact_lines(snapshot, version)?.keys());
        }
        all.extend(self.frames.iter().map(|frame| frame.candidate).filter(|frame| frame.version() == version));
        if !self.exact.lines.is_empty() || !self.frames.is_empty() {
            all.sort_unstable();
            all.dedup();
        }
        Ok(all)
    }

    /// Returns the literally matching lines of a file by candidate. Each file is read once.
    pub(super) fn exact_lines(&self, snapshot: &Snapshot, version: VersionId) -> Result<Rc<CandidateLines>> {
        if let Some(known) = self.exact_by_file.borrow().get(&version) {
            return Ok(known.clone());
        }
        let mut found = CandidateLines::new();
        if let Some(lines) = self.exact.lines.get(&version) {
            let outline = snapshot.outline(version)?;
            let owners = LineOwners::new(&snapshot.text(version)?, &outline.symbols);
            for line in lines {
                if let Some(candidate) = Candidate::at_line(version, &outline, &owners, *line) {
                    found.entry(candidate).or_default().push(*line);
                }
            }
        }
        let found = Rc::new(found);
        self.exact_by_file.borrow_mut().insert(version, found.clone());
        Ok(found)
    }

    /// Whether something is a candidate.
    pub(super) fn contains(&self, snapshot: &Snapshot, candidate: Candidate) -> Result<bool> {
        Ok(self.candidates(snapshot, candidate.version())?.contains(&candidate))
    }

    /// The evidence for a candidate.
    pub(super) fn record_evidence(&self, candidate: Candidate) -> RecordEvidence {
        let file = self.file(candidate.version());
        let (found, range, ordinal) = match candidate {
            Candidate::Symbol(_, ordinal) => (&self.text.symbols, &file.symbols, ordinal),
            Candidate::Chunk(_, ordinal) => (&self.text.chunks, &file.chunks, ordinal),
            Candidate::File(_) => {
                return RecordEvidence { frame: self.frame_score(candidate), ..RecordEvidence::default() };
            }
        };
        let hits = &found.hits[range.clone()];
        let at = hits.binary_search_by_key(&ordinal, |hit| hit.ordinal).ok();
        let is_symbol = matches!(candidate, Candidate::Symbol(..));
        let mut signs = at.map_or_else(RecordEvidence::default, |at| self.evidence(&hits[at], found));
        signs.may_be_exact = is_symbol && at.is_some_and(|at| self.may_be_exact(&hits[at]));
        signs.may_have_text = file.has_text;
        signs.frame = self.frame_score(candidate);
        signs.payload = at.filter(|_| is_symbol).map(|at| hits[at].payload);
        signs
    }

    /// The evidence for all candidates of a file with matching words, and whether each is a symbol.
    pub(super) fn records_evidence(&self, version: VersionId) -> impl Iterator<Item = (RecordEvidence, bool)> {
        let file = self.file(version);
        let symbol = move |hit: &TextHit| RecordEvidence {
            may_be_exact: self.may_be_exact(hit),
            payload: Some(hit.payload),
            ..self.evidence(hit, &self.text.symbols)
        };
        let symbols = self.text.symbols.hits[file.symbols.clone()].iter().map(move |hit| (symbol(hit), true));
        let pieces = self.text.chunks.hits[file.chunks.clone()].iter();
        symbols.chain(pieces.map(|hit| (self.evidence(hit, &self.text.chunks), false)))
    }

    /// Whether a file has candidates without matching words.
    pub(super) fn has_other_candidates(&self, version: VersionId) -> bool {
        self.with_files || self.exact.lines.contains_key(&version) || self.is_in_trace(version)
    }

    /// Returns evidence that no candidate of a file exceeds.
    pub(super) fn best_record(&self, file: &FileEvidence) -> RecordEvidence {
        RecordEvidence {
            bm25: file.best,
            coverage: file.best_coverage,
            name_share: file.best_name,
            precision: 1.0,
            may_be_exact: file.may_be_exact,
            may_have_text: file.has_text,
            frame: file.frame,
            ..RecordEvidence::default()
        }
    }

    fn may_be_exact(&self, hit: &TextHit) -> bool {
        may_be_named(&self.name_hashes, hit)
    }

    fn evidence(&self, hit: &TextHit, found: &TextHits) -> RecordEvidence {
        RecordEvidence {
            bm25: bm25_share(hit, found),
            terms: hit.terms,
            name_share: if hit.in_name == 0 { 0.0 } else { self.share_of(hit.in_name) },
            precision: (f64::from(hit.in_name.count_ones()) / f64::from(hit.payload.name_words())).min(1.0),
            coverage: self.share_of(hit.terms),
            may_be_exact: false,
            may_have_text: false,
            frame: 0.0,
            payload: None,
        }
    }

    /// The share of the query's weight that these terms have.
    pub(super) fn share_of(&self, terms: u64) -> f64 {
        self.shares.share_of(terms)
    }

    /// The rarity of each query word in the view; 0 if it does not occur.
    pub(super) fn rarity(&self) -> &[f64] {
        &self.text.symbols.rarity
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
        let of_file = |(_, file): (VersionId, &FileEvidence)| {
            let text = if self.exact_only { file.symbols.len() + file.chunks.len() } else { 0 };
            text + usize::from(self.with_files && (file.path > 0.0 || self.is_named))
        };
        let worded: usize = self.files().map(of_file).sum();
        if self.exact_only || self.is_named { worded } else { self.exact.lines.values().map(Vec::len).sum() }
    }
}

/// Returns the score of a frame by its position. Frames differ by more than a repeated file costs, so they keep their
/// order.
fn frame_score(position: usize) -> f64 {
    1.0 - 0.05 * position as f64
}

/// Returns the BM25 score of a record relative to the ceiling.
fn bm25_share(hit: &TextHit, found: &TextHits) -> f64 {
    if found.ceiling > 0.0 { hit.score / found.ceiling } else { 0.0 }
}

fn may_be_named(hashes: &[u32], hit: &TextHit) -> bool {
    hashes.iter().any(|hash| hit.payload.may_be_named(*hash))
}

/// The share of the query's weight for sets of its terms, precomputed for every eight terms because it is needed for
/// every record.
struct TermShares {
    by_byte: Vec<[f64; 256]>,
}

impl TermShares {
    fn new(rarity: &[f64]) -> Self {
        let mass: f64 = rarity.iter().sum();
        let share = |rarity: &f64| if mass > 0.0 { rarity / mass } else { 0.0 };
        let of_byte = |eight: &[f64]| {
            let held = |byte: usize| eight.iter().enumerate().filter(move |(at, _)| byte >> at & 1 == 1);
            std::array::from_fn(|byte| held(byte).map(|(_, rarity)| share(rarity)).sum())
        };
        Self { by_byte: rarity.chunks(8).map(of_byte).collect() }
    }

    fn share_of(&self, terms: u64) -> f64 {
        let bytes = terms.to_le_bytes();
        self.by_byte.iter().zip(bytes).map(|(of_byte, byte)| of_byte[usize::from(byte)]).sum()
    }
}

/// Retains only the files that match the typed path, if there are any: those with that path, else those with that path
/// except for the extension, else those in that folder. If some of them have the line that was typed after the path,
/// only those. Returns whether any file matched.
fn retain_typed_paths(
    snapshot: &Snapshot,
    request: &SearchRequest<'_>,
    parsed: &ParsedQuery,
    files: &mut Vec<(VersionId, FileEvidence)>,
) -> Result<bool> {
    let lacks_line =
        |info: &VersionInfo| parsed.typed_line(&info.path).is_some_and(|line| line < 1 || line > info.lines);
    let rank = |info: &VersionInfo| Some((parsed.path_match(&info.path)?, lacks_line(info)));
    let accepted = snapshot.versions_by_id()?.iter().filter(|(_, info)| request.accepts(&info.path, &info.language));
    let ranked: Vec<_> = accepted.filter_map(|(id, info)| Some((rank(info)?, *id))).collect();
    let Some(best) = ranked.iter().map(|(rank, _)| *rank).min() else { return Ok(false) };
    let mut named: Vec<VersionId> = ranked.iter().filter(|(rank, _)| *rank == best).map(|(_, id)| *id).collect();
    named.sort_unstable();
    let mut known = std::mem::take(files).into_iter().peekable();
    for id in named {
        while known.next_if(|(version, _)| *version < id).is_some() {}
        let signs = known.next_if(|(version, _)| *version == id).map(|(_, signs)| signs);
        files.push((id, signs.unwrap_or(FileEvidence { may_be_unparsed: true, ..FileEvidence::default() })));
    }
    Ok(true)
}

/// Returns the files that may have a query word in their names, in order, with the words as bits; the lowest bit is set
/// for all of them.
fn files_by_name_words(snapshot: &Snapshot, parsed: &ParsedQuery) -> Result<TextHits> {
    let stems = parsed.stems.iter().map(String::as_str);
    let tokens = terms::path_words_with_stems(snapshot, stems, |word| parsed.file_name_word_score(word) > 0.0)?;
    let mut of_words = vec![Vec::new(); parsed.words.len()];
    for token in &tokens {
        let borne = parsed.name_terms(token);
        let of_words = of_words.iter_mut().enumerate().filter(|(at, _)| borne >> (*at).min(63) & 1 == 1);
        of_words.for_each(|(_, of_word)| of_word.push(token.clone()));
    }
    let groups = std::iter::once(tokens.into_iter().collect()).chain(of_words).map(TermGroup::any_of);
    snapshot.search(TextField::Path, &groups.collect::<Vec<_>>())
}

/// Returns every file with a matching record, in order, with the evidence of its records.
fn join(text: &TextResults, paths: &TextHits, named: &TextHits, shares: &TermShares) -> Vec<(VersionId, FileEvidence)> {
    let all = [&text.symbols, &text.chunks, &text.files, paths, named];
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
        let mut file = FileEvidence {
            name: f64::from(!name.is_empty()),
            name_words: shares.share_of(in_name),
            ..FileEvidence::default()
        };
        let mut terms = 0;
        for (found, range) in [(&text.symbols, &symbols), (&text.chunks, &pieces)] {
            for hit in &found.hits[range.clone()] {
                let bm25 = bm25_share(hit, found);
                terms |= hit.terms;
                file.best = file.best.max(bm25);
                file.best_coverage = file.best_coverage.max(shares.share_of(hit.terms));
                if hit.in_name != 0 {
                    file.best_name = file.best_name.max(shares.share_of(hit.in_name));
                }
                file.sum += bm25;
            }
        }
        file.text = text.files.hits[whole].last().map_or(0.0, |hit| bm25_share(hit, &text.files));
        file.path = paths.hits[path].last().map_or(0.0, |hit| bm25_share(hit, paths));
        file.coverage = shares.share_of(terms);
        files.push((version, FileEvidence { symbols, chunks: pieces, ..file }));
    }
    files
}

impl SearchRequest<'_> {
    /// Whether the filters accept a file.
    pub(super) fn accepts(&self, path: &str, language: &str) -> bool {
        self.language.is_none_or(|wanted| wanted == language) && self.paths.is_none_or(|accepts| accepts(path))
    }
}
