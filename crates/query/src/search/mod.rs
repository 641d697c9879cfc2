//! Search: the right place first.
//!
//! Words are looked up in pieces of text, in symbols and in paths; what they find is joined to one list of **places**
//! (a symbol, a piece of text, or a file), each place is scored by [`features`], and the list is put in order. A score
//! is a sum of named contributions and nothing else, so its explanation is its computation.
//!
//! Reading outlines is what costs. So candidates are sorted by what their total can be at most, read in that
//! order, and reading ends when nothing unread can change the list any more: a longer list begins with the shorter
//! one, whatever the limit.

mod definitions;
mod explain;
pub(crate) mod features;
mod gather;
mod intent;
mod names;
mod place;
mod quoted;
mod terms;

use std::collections::{HashMap, HashSet};

use codecompass_model::{SymbolKind, VersionId};
use codecompass_store::{Result, Snapshot};

pub use explain::{Explained, Why, explain};
pub use intent::Intent;
pub use names::{identifiers, known_names, telling_words};
pub(crate) use place::Beginnings;
pub use place::{Place, What};

use crate::grep::Pattern;
use crate::score::{Feature, Scores};
use features::Asked;
use gather::{Candidate, Gathered};
use quoted::Quoted;

/// At most so many places are looked at closely, and no list is longer.
pub const CLOSELY: usize = 400;

/// So many are looked at between two looks at whether that is enough.
const STEP: usize = 24;

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
}

impl<'q> Search<'q> {
    /// A question for words without any filter.
    pub fn new(query: &'q str, limit: usize) -> Self {
        Self { query, mode: Mode::Words, language: None, paths: None, kinds: &[], offset: 0, limit }
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
    /// How many pieces and files match. Some may be of one symbol, which is listed once.
    pub total: usize,
    /// Whether the list goes on after these places.
    pub has_more: bool,
    /// What the query looks like.
    pub intent: Intent,
    /// The words of the query that were looked for.
    pub words: Vec<String>,
    /// Whether every line that holds the wanted text was found; else only the first ones by path.
    pub is_exhaustive: bool,
    /// The query is a quoted text that stands nowhere as it is, so that these places only hold words of it.
    pub is_quote_missing: bool,
}

impl Found {
    /// Nothing, because nothing is indexed.
    pub fn nothing(query: &str) -> Self {
        Self {
            places: Vec::new(),
            total: 0,
            has_more: false,
            intent: Intent::of(query),
            words: Vec::new(),
            is_exhaustive: true,
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
            Ok(Found { intent: Intent::of(question.query), ..found })
        }
        Some(_) => Ok(Found { is_quote_missing: true, ..search_as(snapshot, question)? }),
    }
}

fn search_as(snapshot: &Snapshot, question: &Search<'_>) -> Result<Found> {
    let asked = Asked::new(snapshot, question)?;
    let gathered = Gathered::new(snapshot, question, &asked)?;
    let wanted = (question.offset + question.limit).min(CLOSELY);
    let mut places = rank(snapshot, question, &asked, &gathered, wanted)?;
    let total = match question.kinds {
        [] => gathered.count(),
        _ => places.len(),
    };
    let has_more = wanted < CLOSELY && places.len() > wanted;
    places.truncate(wanted);
    let mut places: Vec<Place> = places.into_iter().skip(question.offset).collect();
    if question.kinds.is_empty() {
        places.iter_mut().try_for_each(|place| place.point_at_best_line(snapshot))?;
    }
    let is_exhaustive = gathered.exact.is_exhaustive;
    let (intent, words) = (asked.intent, asked.texts());
    Ok(Found { places, total, has_more, intent, words, is_exhaustive, is_quote_missing: false })
}

/// The places in order, one more than wanted if there are so many, the wanted ones all right; more may follow.
fn rank(
    snapshot: &Snapshot,
    question: &Search<'_>,
    asked: &Asked,
    gathered: &Gathered,
    wanted: usize,
) -> Result<Vec<Place>> {
    // A filter by kind can only be decided by a look, so all are looked at.
    let wanted = if question.kinds.is_empty() { wanted } else { CLOSELY };
    let mut unread = gathered.candidates(snapshot, asked, CLOSELY)?;
    let mut places: Vec<Place> = Vec::new();
    let mut seen = HashSet::new();
    loop {
        let standing = Standing::of(&places, wanted);
        let may_count = |candidate: &(Candidate, i64)| standing.as_ref().is_none_or(|list| list.may_change(candidate));
        let mut room = STEP;
        let next: Vec<(Candidate, i64)> = unread
            .extract_if(.., |candidate| {
                let is_next = room > 0 && may_count(candidate);
                room -= usize::from(is_next);
                is_next
            })
            .collect();
        if next.is_empty() {
            return Ok(in_order(places));
        }
        for (candidate, _) in next {
            let place = look(snapshot, question, asked, gathered, candidate)?;
            places.extend(place.filter(|place| seen.insert(place.candidate)));
        }
    }
}

/// How a list of wanted length stands, to tell whether a place that was not looked at can change it.
struct Standing {
    /// The total of the last wanted place.
    last: i64,
    /// For each file, the totals of its places before any steps back, the highest first, and how many are in the list.
    files: HashMap<VersionId, (Vec<i64>, usize)>,
}

impl Standing {
    /// `None` while there are not more places than wanted.
    fn of(places: &[Place], wanted: usize) -> Option<Self> {
        let mut totals: Vec<(i64, VersionId, Option<u32>)> =
            places.iter().map(|place| (place.scores.total_units(), place.version.id, place.owner())).collect();
        totals.sort_unstable_by(|a, b| b.cmp(a));
        let mut seen = HashSet::new();
        totals.retain(|(_, version, owner)| owner.is_none_or(|owner| seen.insert((*version, owner))));
        if wanted == 0 || totals.len() <= wanted {
            return None;
        }
        let mut files: HashMap<VersionId, (Vec<i64>, usize)> = HashMap::new();
        let mut finals: Vec<(i64, VersionId)> = Vec::with_capacity(totals.len());
        for (total, version, _) in &totals {
            let (earlier, _) = files.entry(*version).or_default();
            finals.push((total + repeats(earlier.len()), *version));
            earlier.push(*total);
        }
        finals.sort_unstable_by(|a, b| b.cmp(a));
        let last = finals[wanted - 1].0;
        for (_, version) in finals.iter().take_while(|(total, _)| *total >= last) {
            files.entry(*version).or_default().1 += 1;
        }
        Some(Self { last, files })
    }

    /// Whether a candidate with this highest total may come into the list, or make a place of its file step back that
    /// is in it. It steps back itself behind all places of its file that are at least as good.
    fn may_change(&self, (candidate, most): &(Candidate, i64)) -> bool {
        let Some((totals, listed)) = self.files.get(&candidate.version()) else { return *most >= self.last };
        let before = totals.partition_point(|total| total >= most);
        before < *listed || most + repeats(before) >= self.last
    }
}

/// What a place loses before which the list has so many of the same file, in the units of totals.
fn repeats(earlier: usize) -> i64 {
    let mut scores = Scores::default();
    scores.set(Feature::Repeat, repeat_value(earlier));
    scores.total_units()
}

/// The feature for such a place.
fn repeat_value(earlier: usize) -> f64 {
    earlier.min(4) as f64 / 4.0
}

/// Puts places in order: by total, then path, then line; each symbol once; further pieces of one file step back.
fn in_order(mut places: Vec<Place>) -> Vec<Place> {
    sort(&mut places);
    let mut seen = HashSet::new();
    places.retain(|place| place.owner().is_none_or(|owner| seen.insert((place.version.id, owner))));
    let mut count: HashMap<VersionId, usize> = HashMap::new();
    for place in &mut places {
        let earlier = count.entry(place.version.id).or_default();
        place.scores.set(Feature::Repeat, repeat_value(*earlier));
        *earlier += 1;
    }
    sort(&mut places);
    places
}

fn sort(places: &mut [Place]) {
    places.sort_by(|a, b| {
        b.scores
            .total_units()
            .cmp(&a.scores.total_units())
            .then_with(|| a.version.path.cmp(&b.version.path))
            .then_with(|| (a.lines.start, a.lines.end).cmp(&(b.lines.start, b.lines.end)))
    });
}

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
    let text = match place.is_unread() {
        true => Some(snapshot.text(place.version.id)?),
        false => None,
    };
    let piece = text.as_deref().map(|text| place.chunk.span.text(text));
    place.scores = features::score(asked, &place, gathered, piece);
    Ok(Some(place))
}
