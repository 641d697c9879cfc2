//! What a question means, beside the words it has.
//!
//! Words choose, meaning orders: the best places by words are weighed once more by how near the symbol's meaning is to the
//! question's, and chosen again. How many are weighed does not depend on how many are wanted, so a longer list still
//! begins with the shorter one. What meaning adds is never negative, so those that were weighed stay before the rest.

use codecompass_meaning::{MODEL, MOST_SIMILAR, Passage, Vector};
use codecompass_model::SymbolKind;
use codecompass_store::{Result, Snapshot};

use super::asked::Asked;
use super::gather::Gathered;
use super::place::Place;
use super::{Intent, Mode, Search};
use crate::score::Feature;

/// So many places are weighed: more cost time and gain nothing.
pub(super) const DEPTH: usize = 40;

/// Fewer words are a name or a topic, which words find.
const LEAST_WORDS: usize = 3;

/// When one symbol holds so much of the question's weight, its words were meant, and meaning counts half.
const SAID: f64 = 0.75;

/// What a question means, if it is one in somebody's own words.
pub(super) fn of_question(question: &Search<'_>, asked: &Asked) -> Option<Vector> {
    let is_asked = question.by_meaning
        && matches!(question.mode, Mode::Words)
        && asked.intent == Intent::NaturalLanguage
        && !asked.wants_docs
        && question.query.split_whitespace().count() >= LEAST_WORDS;
    if is_asked { MODEL.question(question.query) } else { None }
}

/// Sets the feature of each place that is a symbol; tests mean what they test, so they have none unless they are asked for.
pub(super) fn weigh(snapshot: &Snapshot, gathered: &Gathered, meant: &Vector, places: &mut [Place]) -> Result<()> {
    let covered = |place: &Place| gathered.record(place.candidate).coverage;
    let is_said = places.iter().any(|place| place.symbol().is_some() && covered(place) > SAID);
    let share = if is_said { 0.5 } else { 1.0 };
    for place in places {
        let is_test = place.scores.value(Feature::Test) > 0.0;
        let Some(symbol) = place.symbol().filter(|symbol| symbol.kind != SymbolKind::Test && !is_test) else {
            continue;
        };
        let text = snapshot.text(place.version.id)?;
        let near = MODEL.passage(&Passage::of(symbol, &text)).map_or(0, |told| told.similarity(meant));
        // What tells little for itself has few words, all of them near when one is: `const hover = @import("hover.zig")`.
        let own = share * (1.0 - place.scores.value(Feature::Minor));
        place.scores.set(Feature::Meaning, own * f64::from(near.max(0)) / f64::from(MOST_SIMILAR));
    }
    Ok(())
}
