//! Search: ranks symbols, chunks of text and files for a query.
//!
//! Words are looked up in symbols, in chunks of text outside symbols, and in paths. Each symbol is scored by its own
//! name, docs and lines only. Its file adds further evidence. The result is one list of **hits** (a symbol, a chunk of
//! text, or a file), each scored by [`features`]. A score is a sum of named contributions and nothing else, so its
//! explanation is its computation.
//!
//! The steps depend on each other in one direction: [`evidence`] has the values that are passed on, [`parsed_query`] is
//! the query, [`frames`] finds the code that a stack trace names, [`exact`] finds literal text, [`candidates`] looks up
//! words and fills the evidence, [`hit`] reads candidates, and [`features`] scores them. Each module uses only the modules before it; the selection of hits, in
//! this module, uses all of them.
//!
//! Reading outlines is the main cost. So hits are selected [best first](mod@best_first) by upper bounds of their
//! scores, and only candidates that may enter the list are read.

mod best_first;
mod candidates;
mod embedding;
mod evidence;
mod exact;
mod explain;
pub(crate) mod features;
mod frames;
pub(crate) mod generated;
mod hit;
mod intent;
mod messages;
mod names;
mod parsed_query;
mod paths;
mod quoted;
mod report;
mod synonyms;
mod terms;
mod trace;

use std::cmp::Ordering;
use std::collections::HashMap;

use codecompass_model::{Languages, SymbolKind, VersionId};
use codecompass_store::{Result, Snapshot, StoreError};

pub use explain::{Explanation, MissReason, explain};
pub(crate) use hit::StemPrefixes;
pub use hit::{HitKind, SearchHit};
pub use intent::Intent;
pub use names::{candidate_identifiers, defined_names, salient_words};

use crate::encoder::Encoder;
use crate::grep::Pattern;
use crate::score::{Feature, Scores};
use best_first::{Choice, Opened, best_first};
use candidates::Candidates;
use evidence::Candidate;
use parsed_query::ParsedQuery;
use quoted::Quoted;

/// The maximum length of a result list.
pub const MAX_RESULTS: usize = 400;

/// The repetition penalty of a file stops growing at this number of hits.
const MAX_REPEATS: usize = 6;

/// How the query is interpreted.
#[derive(Clone, Copy, Debug, Default)]
pub enum QueryMode<'q> {
    /// As words; quoted texts and messages also match literally.
    #[default]
    Words,
    /// Literally: only hits that contain exactly this text.
    Literal(&'q Pattern),
    /// As a regular expression.
    Regex(&'q Pattern),
}

/// A search request.
#[derive(Clone, Copy)]
pub struct SearchRequest<'q> {
    /// The query text.
    pub query: &'q str,
    /// Provides facts about languages.
    pub languages: &'static dyn Languages,
    /// How the query is interpreted.
    pub mode: QueryMode<'q>,
    /// Restricts the results to this language.
    pub language: Option<&'q str>,
    /// Restricts the results to files whose path this function accepts.
    pub paths: Option<&'q dyn Fn(&str) -> bool>,
    /// Restricts the results to symbols of these kinds; empty for everything.
    pub kinds: &'q [SymbolKind],
    /// The number of best hits to skip because they were on earlier pages.
    pub offset: usize,
    /// The maximum number of hits.
    pub limit: usize,
    /// Whether embedding re-ranking is enabled.
    pub use_embedding: bool,
    /// The encoder of the user, if one is configured.
    pub encoder: Option<&'q dyn Encoder>,
    /// Whether a search through texts for literal matches should continue.
    pub should_continue: &'q (dyn Fn() -> bool + Sync),
}

impl<'q> SearchRequest<'q> {
    /// Creates a request for words without filters.
    pub fn new(query: &'q str, languages: &'static dyn Languages, limit: usize) -> Self {
        let (mode, paths, goes_on) = (QueryMode::Words, None, &|| true);
        Self {
            query,
            languages,
            mode,
            language: None,
            paths,
            kinds: &[],
            offset: 0,
            limit,
            use_embedding: true,
            encoder: None,
            should_continue: goes_on,
        }
    }
}

impl std::fmt::Debug for SearchRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").field("query", &self.query).field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// The results of a search.
#[derive(Clone, Debug)]
pub struct SearchResults {
    /// The hits, best first.
    pub hits: Vec<SearchHit>,
    /// The number of matching hits; exact if all of them are listed.
    pub total: usize,
    /// Whether the list continues after these hits.
    pub has_more: bool,
    /// The intent of the query.
    pub intent: Intent,
    /// The words that were looked up.
    pub words: Vec<String>,
    /// Whether all lines with the literal text were found; else only the first ones by path.
    pub is_exhaustive: bool,
    /// Whether the time limit was reached before all texts were searched for literal matches.
    pub timed_out: bool,
    /// The number of files searched to the end by then, and of those to search, if known.
    pub files_searched: Option<(usize, usize)>,
    /// Whether the query is a quoted text without an exact match, so that these hits only contain words of it.
    pub is_quote_missing: bool,
}

impl SearchResults {
    /// Creates the result for an empty index.
    pub fn empty(query: &str, languages: &dyn Languages) -> Self {
        Self {
            hits: Vec::new(),
            total: 0,
            has_more: false,
            intent: Intent::classify(query, languages),
            words: Vec::new(),
            is_exhaustive: true,
            timed_out: false,
            files_searched: None,
            is_quote_missing: false,
        }
    }
}

/// Finds the hits for a query.
pub fn search(snapshot: &Snapshot, request: &SearchRequest<'_>) -> Result<SearchResults> {
    match Quoted::parse(request) {
        None => search_unquoted(snapshot, request),
        Some(quoted) if quoted.occurs_anywhere(snapshot, request)? => {
            let found = search_unquoted(snapshot, &quoted.to_request(request))?;
            Ok(SearchResults { intent: Intent::classify(request.query, request.languages), ..found })
        }
        Some(_) => Ok(SearchResults { is_quote_missing: true, ..search_unquoted(snapshot, request)? }),
    }
}

fn search_unquoted(snapshot: &Snapshot, request: &SearchRequest<'_>) -> Result<SearchResults> {
    let parsed = ParsedQuery::new(snapshot, request)?;
    let candidates = Candidates::new(snapshot, request, &parsed)?;
    let wanted = (request.offset + request.limit).min(MAX_RESULTS);
    let mut hits = rank(snapshot, request, &parsed, &candidates, wanted + 1)?;
    let is_whole = hits.len() <= wanted;
    let total = if is_whole { hits.len() } else { candidates.count().max(hits.len()) };
    let has_more = wanted < MAX_RESULTS && !is_whole;
    hits.truncate(wanted);
    let hits: Vec<SearchHit> = hits.into_iter().skip(request.offset).collect();
    let (is_exhaustive, is_late) = (candidates.exact.is_exhaustive, candidates.exact.timed_out);
    let (intent, words) = (parsed.intent, parsed.word_texts());
    Ok(SearchResults {
        hits,
        total,
        has_more,
        intent,
        words,
        is_exhaustive,
        timed_out: is_late,
        files_searched: candidates.exact.files_searched,
        is_quote_missing: false,
    })
}

/// Returns the best hits in order, at most `count`: by words, and for natural language also by embedding similarity.
fn rank(
    snapshot: &Snapshot,
    request: &SearchRequest<'_>,
    parsed: &ParsedQuery,
    candidates: &Candidates,
    count: usize,
) -> Result<Vec<SearchHit>> {
    let mut ranking = Ranking { snapshot, request, parsed, candidates, files: HashMap::new() };
    let files = candidates.files();
    let roots =
        files.map(|(version, file)| (Node::File(version), features::upper_bound_of_file(parsed, candidates, file)));
    let Some(mut embedded) = embedding::embed_query(request, parsed, candidates) else {
        return ranking.best(roots.collect(), count);
    };
    let mut by_words = ranking.best(roots.collect(), count.max(embedding::RERANK_DEPTH))?;
    let rest = by_words.split_off(by_words.len().min(embedding::RERANK_DEPTH));
    embedding::set_similarity(snapshot, &mut embedded, &mut by_words)?;
    embedding::set_encoder_similarity(snapshot, request, &mut by_words)?;
    let weighed = by_words.into_iter().map(|mut hit| {
        hit.scores.set(Feature::Repeat, 0.0);
        let total = hit.scores.total_units();
        (Node::Reranked(Box::new(hit)), total)
    });
    ranking.files.clear();
    let mut list = ranking.best(weighed.collect(), count)?;
    list.extend(rest);
    list.truncate(count);
    Ok(list)
}

/// The state of the selection.
struct Ranking<'r> {
    snapshot: &'r Snapshot,
    request: &'r SearchRequest<'r>,
    parsed: &'r ParsedQuery,
    candidates: &'r Candidates,
    /// For each file, the number of taken hits and the terms that they contain.
    files: HashMap<VersionId, (usize, u64)>,
}

/// An item that has not been read yet.
enum Node {
    /// A file for which only the maxima over its records are known.
    File(VersionId),
    /// A file whose records were examined.
    OpenedFile(VersionId),
    /// A file whose path is known.
    FoundFile(VersionId),
    /// A candidate with its upper bound, and the loss by taken hits of its file that was known when it was added.
    Candidate(Candidate, i64, i64),
    /// A hit that was read and re-ranked.
    Reranked(Box<SearchHit>),
}

/// A hit, ordered by path and line among equal scores.
struct OrderedHit(Box<SearchHit>);

impl Choice for Ranking<'_> {
    type Node = Node;
    type Place = OrderedHit;
    type Error = StoreError;

    fn open(&mut self, node: Node) -> Result<Vec<Opened<Node, OrderedHit>>> {
        match node {
            Node::File(id) => {
                let bound = features::upper_bound_of_records(self.parsed, self.candidates, id);
                Ok(vec![Opened::Node(Node::OpenedFile(id), bound)])
            }
            Node::OpenedFile(id) => {
                let bound = features::upper_bound_at_path(self.parsed, self.candidates, &*self.version(id)?);
                Ok(vec![Opened::Node(Node::FoundFile(id), bound)])
            }
            Node::FoundFile(id) => {
                let version = self.version(id)?;
                let bound =
                    |candidate| features::upper_bound_of_candidate(self.parsed, self.candidates, candidate, &version);
                let opened = |candidate| {
                    let bound = bound(candidate);
                    Opened::Node(Node::Candidate(candidate, bound, 0), bound)
                };
                Ok(self.candidates.candidates(self.snapshot, id)?.into_iter().map(opened).collect())
            }
            Node::Candidate(candidate, bound, loss) => {
                // Reading is the main cost. Hits of its file that were taken in the meantime may have made it
                // unreachable, so the loss is checked first; it is computed from the same terms as that of the hit.
                let terms = self.candidates.record_evidence(candidate).terms;
                let lost = repetition_units(self.repetition(candidate.version(), terms));
                if lost < loss {
                    return Ok(vec![Opened::Node(Node::Candidate(candidate, bound, lost), bound + lost)]);
                }
                let hit = read_candidate(self.snapshot, self.request, self.parsed, self.candidates, candidate)?;
                debug_assert!(hit.as_ref().is_none_or(|hit| hit.scores.total_units() <= bound), "{hit:?} {bound}");
                Ok(hit.into_iter().map(|hit| Opened::Place(OrderedHit(Box::new(hit)))).collect())
            }
            Node::Reranked(hit) => Ok(vec![Opened::Place(OrderedHit(hit))]),
        }
    }

    fn score(&self, OrderedHit(hit): &OrderedHit) -> i64 {
        hit.scores.total_units() + repetition_units(self.repetition(hit.version.id, hit.terms))
    }

    fn take(&mut self, OrderedHit(hit): &mut OrderedHit) {
        hit.scores.set(Feature::Repeat, self.repetition(hit.version.id, hit.terms));
        let (count, terms) = self.files.entry(hit.version.id).or_default();
        *count += 1;
        *terms |= hit.terms;
    }
}

impl Ranking<'_> {
    fn best(&mut self, roots: Vec<(Node, i64)>, count: usize) -> Result<Vec<SearchHit>> {
        let list = best_first(self, roots, count)?;
        Ok(list.into_iter().map(|OrderedHit(hit)| *hit).collect())
    }

    fn version(&self, id: VersionId) -> Result<std::rc::Rc<codecompass_store::VersionInfo>> {
        let lost = || StoreError::Corrupt(format!("file version {id} is not stored"));
        self.snapshot.version(id)?.ok_or_else(lost)
    }

    /// Returns how much a hit with these terms repeats the taken hits of its file. It grows with their number, slowly at
    /// first, and falls with the weight of the words that they lack. Both only increase the value as more hits are taken.
    fn repetition(&self, version: VersionId, own: u64) -> f64 {
        let Some((count, terms)) = self.files.get(&version) else { return 0.0 };
        let new = self.candidates.share_of(own & !terms);
        ((*count).min(MAX_REPEATS) as f64 / MAX_REPEATS as f64).powi(2) * (1.0 - new)
    }
}

/// The contribution of a repetition to the total.
fn repetition_units(repetition: f64) -> i64 {
    let mut scores = Scores::default();
    scores.set(Feature::Repeat, repetition);
    scores.total_units()
}

impl Ord for OrderedHit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.sort_key().cmp(&other.0.sort_key())
    }
}

impl PartialOrd for OrderedHit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OrderedHit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OrderedHit {}

/// Reads a candidate and scores it; `None` if a filter excludes it.
fn read_candidate(
    snapshot: &Snapshot,
    request: &SearchRequest<'_>,
    parsed: &ParsedQuery,
    candidates: &Candidates,
    candidate: Candidate,
) -> Result<Option<SearchHit>> {
    let Some(mut hit) = SearchHit::read(snapshot, request, parsed, candidates, candidate)? else {
        return Ok(None);
    };
    let text = match hit.may_be_unparsed(request.languages) {
        true => Some(snapshot.text(hit.version.id)?),
        false => None,
    };
    let is_code = request.languages.is_code(&hit.version.language);
    let piece = text.as_deref().filter(|_| is_code).and_then(|text| hit.unparsed_text(text));
    hit.scores = features::score(parsed, &hit, candidates, piece);
    if parsed.is_question && is_generated(snapshot, parsed, hit.version.id)? {
        features::set_generated(&mut hit.scores);
    }
    Ok(Some(hit))
}

/// Whether the text of a file says that it is generated. Only questions pay for reading it: names are matched exactly.
fn is_generated(snapshot: &Snapshot, parsed: &ParsedQuery, version: VersionId) -> Result<bool> {
    if let Some(known) = parsed.generated.borrow().get(&version) {
        return Ok(*known);
    }
    let found = generated::is_generated_text(&snapshot.text(version)?);
    parsed.generated.borrow_mut().insert(version, found);
    Ok(found)
}
