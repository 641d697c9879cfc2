//! Search: the right place first.
//!
//! Words are looked up in symbols, in pieces of text outside symbols, and in paths. Each symbol is a unit of its own: its name,
//! its docs and its own lines speak for it and for no other. What its file tells is added to that as evidence. So there
//! is one list of **places** (a symbol, a piece of text, or a file), each scored by [`features`], and a score is a sum of named
//! contributions and nothing else, so its explanation is its computation.
//!
//! The steps use each other in one direction: [`signs`] are the values that are passed on, [`asked`] is the question,
//! [`exact`] finds texts as they are written, [`gather`] looks words up and fills the signs, [`place`] reads what may answer,
//! and [`features`] weighs it. Each knows those before it and none after it; what chooses between places, here, knows all.
//!
//! Reading outlines is what costs. So places are chosen [best first](mod@best_first), by what each can have at most, and only
//! what may come into the list is read.

mod asked;
mod best_first;
mod exact;
mod explain;
pub(crate) mod features;
mod gather;
mod intent;
mod long;
mod meaning;
mod messages;
mod names;
mod paths;
mod place;
mod quoted;
mod signs;
mod synonyms;
mod terms;

use std::cmp::Ordering;
use std::collections::HashMap;

use codecompass_model::{Languages, SymbolKind, VersionId};
use codecompass_store::{Result, Snapshot, StoreError};

pub use explain::{Explained, Why, explain};
pub use intent::Intent;
pub use names::{identifiers, known_names, telling_words};
pub(crate) use place::Beginnings;
pub use place::{Place, What};

use crate::grep::Pattern;
use crate::score::{Feature, Scores};
use asked::Asked;
use best_first::{Choice, Opened, best_first};
use gather::Gathered;
use quoted::Quoted;
use signs::Candidate;

/// No list is longer.
pub const CLOSELY: usize = 400;

/// So many places of a file are as many as any.
const MANY: usize = 6;

/// How the query is to be read.
#[derive(Clone, Copy, Debug, Default)]
pub enum Mode<'q> {
    /// As words; what stands in quotes, and messages, also as they are.
    #[default]
    Words,
    /// As it is: only places that hold exactly this text.
    Literal(&'q Pattern),
    /// As a regular expression.
    Regex(&'q Pattern),
}

/// The question.
#[derive(Clone, Copy)]
pub struct Search<'q> {
    /// What was typed.
    pub query: &'q str,
    /// Who knows the languages.
    pub languages: &'static dyn Languages,
    /// How it is meant.
    pub mode: Mode<'q>,
    /// Only this language.
    pub language: Option<&'q str>,
    /// Only files whose path this accepts.
    pub paths: Option<&'q dyn Fn(&str) -> bool>,
    /// Only symbols of these kinds; empty for everything.
    pub kinds: &'q [SymbolKind],
    /// So many of the best are left out: they were on earlier pages.
    pub offset: usize,
    /// At most so many.
    pub limit: usize,
    /// Whether what a question means counts beside its words.
    pub by_meaning: bool,
    /// Whether texts are still looked through for what is wanted as it is.
    pub goes_on: &'q (dyn Fn() -> bool + Sync),
}

impl<'q> Search<'q> {
    /// A question for words without any filter.
    pub fn new(query: &'q str, languages: &'static dyn Languages, limit: usize) -> Self {
        let (mode, paths, goes_on) = (Mode::Words, None, &|| true);
        Self { query, languages, mode, language: None, paths, kinds: &[], offset: 0, limit, by_meaning: true, goes_on }
    }
}

impl std::fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").field("query", &self.query).field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Found {
    /// The best first.
    pub places: Vec<Place>,
    /// How many places match: when all are listed, as many as that.
    pub total: usize,
    /// Whether the list goes on after these places.
    pub has_more: bool,
    /// What the query looks like.
    pub intent: Intent,
    /// The words of the query that were looked for.
    pub words: Vec<String>,
    /// Whether every line that holds the wanted text was found; else only the first ones by path.
    pub is_exhaustive: bool,
    /// Whether time was up before all texts were looked through for what is wanted as it is.
    pub is_late: bool,
    /// The query is a quoted text that stands nowhere as it is, so that these places only hold words of it.
    pub is_quote_missing: bool,
}

impl Found {
    /// Nothing, because nothing is indexed.
    pub fn nothing(query: &str, languages: &dyn Languages) -> Self {
        Self {
            places: Vec::new(),
            total: 0,
            has_more: false,
            intent: Intent::of(query, languages),
            words: Vec::new(),
            is_exhaustive: true,
            is_late: false,
            is_quote_missing: false,
        }
    }
}

/// Finds the places that answer a query.
pub fn search(snapshot: &Snapshot, question: &Search<'_>) -> Result<Found> {
    match Quoted::of(question) {
        None => search_as(snapshot, question),
        Some(quoted) if quoted.is_anywhere(snapshot, question)? => {
            let found = search_as(snapshot, &quoted.question(question))?;
            Ok(Found { intent: Intent::of(question.query, question.languages), ..found })
        }
        Some(_) => Ok(Found { is_quote_missing: true, ..search_as(snapshot, question)? }),
    }
}

fn search_as(snapshot: &Snapshot, question: &Search<'_>) -> Result<Found> {
    let asked = Asked::new(snapshot, question)?;
    let gathered = Gathered::new(snapshot, question, &asked)?;
    let wanted = (question.offset + question.limit).min(CLOSELY);
    let mut places = rank(snapshot, question, &asked, &gathered, wanted + 1)?;
    let is_whole = places.len() <= wanted;
    let total = if is_whole { places.len() } else { gathered.count().max(places.len()) };
    let has_more = wanted < CLOSELY && !is_whole;
    places.truncate(wanted);
    let places: Vec<Place> = places.into_iter().skip(question.offset).collect();
    let (is_exhaustive, is_late) = (gathered.exact.is_exhaustive, gathered.exact.is_late);
    let (intent, words) = (asked.intent, asked.texts());
    Ok(Found { places, total, has_more, intent, words, is_exhaustive, is_late, is_quote_missing: false })
}

/// The best places in order, at most so many: by words, and of a question in somebody's own words by meaning as well.
fn rank(
    snapshot: &Snapshot,
    question: &Search<'_>,
    asked: &Asked,
    gathered: &Gathered,
    count: usize,
) -> Result<Vec<Place>> {
    let mut ranking = Ranking { snapshot, question, asked, gathered, files: HashMap::new() };
    let files = gathered.files();
    let roots =
        files.map(|(version, file)| (Node::File(version), features::upper_bound_of_file(asked, gathered, file)));
    let Some(meant) = meaning::of_question(question, asked) else { return ranking.best(roots.collect(), count) };
    let mut by_words = ranking.best(roots.collect(), count.max(meaning::DEPTH))?;
    let rest = by_words.split_off(by_words.len().min(meaning::DEPTH));
    meaning::weigh(snapshot, gathered, &meant, &mut by_words)?;
    let weighed = by_words.into_iter().map(|mut place| {
        place.scores.set(Feature::Repeat, 0.0);
        let total = place.scores.total_units();
        (Node::Weighed(Box::new(place)), total)
    });
    ranking.files.clear();
    let mut list = ranking.best(weighed.collect(), count)?;
    list.extend(rest);
    list.truncate(count);
    Ok(list)
}

/// What is chosen from.
struct Ranking<'r> {
    snapshot: &'r Snapshot,
    question: &'r Search<'r>,
    asked: &'r Asked,
    gathered: &'r Gathered,
    /// Of each file, how many places were taken, and the terms that they hold.
    files: HashMap<VersionId, (usize, u64)>,
}

/// What is not read yet.
enum Node {
    /// A file of which only the best of its records is known.
    File(VersionId),
    /// One whose records were looked at.
    Opened(VersionId),
    /// One whose path is known.
    Found(VersionId),
    /// What may be a place, and the bound it lies under.
    Candidate(Candidate, i64),
    /// A place that was read before.
    Weighed(Box<Place>),
}

/// A place that comes before others of the same worth by path and line.
struct InOrder(Box<Place>);

impl Choice for Ranking<'_> {
    type Node = Node;
    type Place = InOrder;
    type Error = StoreError;

    fn open(&mut self, node: Node) -> Result<Vec<Opened<Node, InOrder>>> {
        match node {
            Node::File(id) => {
                let bound = features::upper_bound_of_records(self.asked, self.gathered, id);
                Ok(vec![Opened::Node(Node::Opened(id), bound)])
            }
            Node::Opened(id) => {
                let bound = features::upper_bound_at_path(self.asked, self.gathered, &*self.version(id)?);
                Ok(vec![Opened::Node(Node::Found(id), bound)])
            }
            Node::Found(id) => {
                let version = self.version(id)?;
                let bound = |candidate| features::upper_bound_of(self.asked, self.gathered, candidate, &version);
                let opened = |candidate| {
                    let bound = bound(candidate);
                    Opened::Node(Node::Candidate(candidate, bound), bound)
                };
                Ok(self.gathered.candidates(self.snapshot, id)?.into_iter().map(opened).collect())
            }
            Node::Candidate(candidate, bound) => {
                let place = look(self.snapshot, self.question, self.asked, self.gathered, candidate)?;
                debug_assert!(
                    place.as_ref().is_none_or(|place| place.scores.total_units() <= bound),
                    "{place:?} {bound}"
                );
                Ok(place.into_iter().map(|place| Opened::Place(InOrder(Box::new(place)))).collect())
            }
            Node::Weighed(place) => Ok(vec![Opened::Place(InOrder(place))]),
        }
    }

    fn worth(&self, InOrder(place): &InOrder) -> i64 {
        let mut scores = Scores::default();
        scores.set(Feature::Repeat, self.repeats(place));
        place.scores.total_units() + scores.total_units()
    }

    fn take(&mut self, InOrder(place): &mut InOrder) {
        place.scores.set(Feature::Repeat, self.repeats(place));
        let (count, terms) = self.files.entry(place.version.id).or_default();
        *count += 1;
        *terms |= place.terms;
    }
}

impl Ranking<'_> {
    fn best(&mut self, roots: Vec<(Node, i64)>, count: usize) -> Result<Vec<Place>> {
        let list = best_first(self, roots, count)?;
        Ok(list.into_iter().map(|InOrder(place)| *place).collect())
    }

    fn version(&self, id: VersionId) -> Result<std::rc::Rc<codecompass_store::VersionInfo>> {
        let lost = || StoreError::Corrupt(format!("file version {id} is not stored"));
        self.snapshot.version(id)?.ok_or_else(lost)
    }

    /// How much a place only repeats what places of its file have shown: it grows with their number, slowly at first, and falls
    /// with the weight of the words that they lack. Both can only make it more as more are taken.
    fn repeats(&self, place: &Place) -> f64 {
        let Some((count, terms)) = self.files.get(&place.version.id) else { return 0.0 };
        let new = self.gathered.share_of(place.terms & !terms);
        ((*count).min(MANY) as f64 / MANY as f64).powi(2) * (1.0 - new)
    }
}

impl Ord for InOrder {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.order().cmp(&other.0.order())
    }
}

impl PartialOrd for InOrder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for InOrder {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for InOrder {}

/// Reads a candidate and scores it; `None` when a filter keeps it out.
fn look(
    snapshot: &Snapshot,
    question: &Search<'_>,
    asked: &Asked,
    gathered: &Gathered,
    candidate: Candidate,
) -> Result<Option<Place>> {
    let Some(mut place) = Place::read(snapshot, question, asked, gathered, candidate)? else {
        return Ok(None);
    };
    let text = match place.may_be_unread(question.languages) {
        true => Some(snapshot.text(place.version.id)?),
        false => None,
    };
    let is_code = question.languages.is_code(&place.version.language);
    let piece = text.as_deref().filter(|_| is_code).and_then(|text| place.unread(text));
    place.scores = features::score(asked, &place, gathered, piece);
    Ok(Some(place))
}
