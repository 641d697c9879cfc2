//! Search: the right place first.
//!
//! Words are looked up in pieces of text, in symbols and in paths; what they find is joined to one list of **places**
//! (a symbol, a piece of text, or a file), each place is scored by [`features`], and the list is put in order. A score
//! is a sum of named contributions and nothing else, so its explanation is its computation.
//!
//! Reading a file's facts is what costs. So candidates are sorted by what their total can be at most, read in that
//! order, and reading ends when nothing unread can come into the list any more: a longer list begins with the shorter
//! one, whatever the limit.

mod definitions;
mod explain;
pub(crate) mod features;
mod gather;
mod intent;
mod names;
mod place;
mod terms;

use std::collections::{HashMap, HashSet};

use codecompass_model::{SymbolKind, VersionId};
use codecompass_store::{Result, Snapshot};

pub use explain::{Explained, Why, explain};
pub use intent::Intent;
pub use names::{identifiers, known_names, telling_words};
pub use place::{Place, What};

use crate::grep::Pattern;
use crate::score::{Feature, Scores};
use features::Asked;
use gather::{Candidate, Gathered};

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
        }
    }
}

/// Finds the places that answer a query.
pub fn search(snapshot: &Snapshot, question: &Search<'_>) -> Result<Found> {
    let asked = Asked::new(snapshot, question)?;
    let gathered = Gathered::new(snapshot, question, &asked)?;
    let wanted = (question.offset + question.limit).min(CLOSELY);
    let Ranked { mut places, is_all } = rank(snapshot, question, &asked, &gathered, wanted)?;
    let total = match question.kinds {
        [] => gathered.count(),
        _ => places.len(),
    };
    let has_more = wanted < CLOSELY && (!is_all || places.len() > wanted);
    places.truncate(wanted);
    let mut places: Vec<Place> = places.into_iter().skip(question.offset).collect();
    if question.kinds.is_empty() {
        places.iter_mut().try_for_each(|place| place.point_at_best_line(snapshot))?;
    }
    let is_exhaustive = gathered.exact.is_exhaustive;
    Ok(Found { places, total, has_more, intent: asked.intent, words: asked.texts(), is_exhaustive })
}

/// Places in order.
struct Ranked {
    places: Vec<Place>,
    /// Whether no candidate is left that was not looked at.
    is_all: bool,
}

/// The places in order, at least so many if there are so many, all of them right; more may follow.
fn rank(
    snapshot: &Snapshot,
    question: &Search<'_>,
    asked: &Asked,
    gathered: &Gathered,
    wanted: usize,
) -> Result<Ranked> {
    // A filter by kind can only be decided by a look, so all are looked at.
    let wanted = if question.kinds.is_empty() { wanted } else { CLOSELY };
    let candidates = gathered.candidates(snapshot, asked, CLOSELY)?;
    let mut places: Vec<Place> = Vec::new();
    let mut seen = HashSet::new();
    for (step, some) in candidates.chunks(STEP).enumerate() {
        for (candidate, _) in some {
            let place = look(snapshot, question, asked, gathered, *candidate)?;
            places.extend(place.filter(|place| seen.insert(place.candidate)));
        }
        let next = candidates.get((step + 1) * STEP).map(|(_, most)| *most);
        if let Some(most) = next
            && places.len() >= wanted
            && last_total(&places, wanted).is_some_and(|last| last > most)
        {
            return Ok(Ranked { places: in_order(places), is_all: false });
        }
    }
    Ok(Ranked { places: in_order(places), is_all: true })
}

/// The total of the last of so many places once they are in order, without putting them in order.
fn last_total(places: &[Place], wanted: usize) -> Option<i64> {
    let mut totals: Vec<(i64, VersionId, Option<u32>)> =
        places.iter().map(|place| (place.scores.total_units(), place.version.id, place.owner())).collect();
    totals.sort_unstable_by(|a, b| b.cmp(a));
    let mut seen = HashSet::new();
    totals.retain(|(_, version, owner)| owner.is_none_or(|owner| seen.insert((*version, owner))));
    let mut count: HashMap<VersionId, u32> = HashMap::new();
    for (total, version, _) in &mut totals {
        *total += repeats(count.entry(*version).or_default());
    }
    totals.sort_unstable_by(|a, b| b.cmp(a));
    totals.get(wanted.checked_sub(1)?).map(|(total, _, _)| *total)
}

/// What a further place of a file loses, in the units of totals; counts it.
fn repeats(earlier: &mut u32) -> i64 {
    let mut scores = Scores::default();
    scores.set(Feature::Repeat, repeat_value(*earlier));
    *earlier += 1;
    scores.total_units()
}

/// The feature for a place before which the list has so many of the same file.
fn repeat_value(earlier: u32) -> f64 {
    f64::from(earlier.min(4)) / 4.0
}

/// Puts places in order: by total, then path, then line; each symbol once; further pieces of one file step back.
fn in_order(mut places: Vec<Place>) -> Vec<Place> {
    sort(&mut places);
    let mut seen = HashSet::new();
    places.retain(|place| place.owner().is_none_or(|owner| seen.insert((place.version.id, owner))));
    let mut count: HashMap<VersionId, u32> = HashMap::new();
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
        true => Some(gathered.unread_text(snapshot, place.version.id)?),
        false => None,
    };
    let piece = text.as_deref().map(|text| place.chunk.span.text(text));
    place.scores = features::score(asked, &place, gathered, piece);
    Ok(Some(place))
}
