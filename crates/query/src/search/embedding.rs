//! Embedding re-ranking.
//!
//! Words select the candidates, and similarity reorders the best of them: the best hits by words get a similarity score
//! between the symbol's embedding and the query's, and are selected again. The number of re-ranked hits does not depend
//! on the requested count, so a longer list still starts with the shorter one. Similarity never reduces a score, so the
//! re-ranked hits stay before the rest.

use codecompass_embedding::{Embedding, MAX_SIMILARITY, MODEL, Passage};
use codecompass_model::SymbolKind;
use codecompass_store::{Result, Snapshot};

use super::candidates::Candidates;
use super::hit::SearchHit;
use super::parsed_query::ParsedQuery;
use super::{Intent, QueryMode, SearchRequest};
use crate::score::Feature;

/// The number of re-ranked hits. More of them cost time and gain nothing.
pub(super) const RERANK_DEPTH: usize = 40;

/// The minimum number of words. Fewer words are a name or a topic, for which lexical search is sufficient.
const MIN_WORDS: usize = 3;

/// If one symbol covers more than this share of the query's weight, the query is taken literally and similarity counts
/// half.
const LITERAL_COVERAGE: f64 = 0.75;

/// Returns the embedding of a query, if it is in natural language.
pub(super) fn embed_query(question: &SearchRequest<'_>, asked: &ParsedQuery) -> Option<Embedding> {
    let is_asked = question.use_embedding
        && matches!(question.mode, QueryMode::Words)
        && asked.intent == Intent::NaturalLanguage
        && !asked.wants_docs
        && question.query.split_whitespace().count() >= MIN_WORDS;
    if is_asked { MODEL.embed_query(question.query) } else { None }
}

/// Sets the similarity of each hit that is a symbol. Test blocks get none, and other test code only if the query asks
/// for tests, because tests are similar to the code they test.
pub(super) fn set_similarity(
    snapshot: &Snapshot,
    gathered: &Candidates,
    meant: &Embedding,
    places: &mut [SearchHit],
) -> Result<()> {
    let covered = |place: &SearchHit| gathered.record_evidence(place.candidate).coverage;
    let is_said = places.iter().any(|place| place.symbol().is_some() && covered(place) > LITERAL_COVERAGE);
    let share = if is_said { 0.5 } else { 1.0 };
    for place in places {
        let is_test = place.scores.value(Feature::Test) > 0.0;
        let Some(symbol) = place.symbol().filter(|symbol| symbol.kind != SymbolKind::Test && !is_test) else {
            continue;
        };
        let text = snapshot.text(place.version.id)?;
        let near = MODEL.embed_passage(&Passage::new(symbol, &text)).map_or(0, |told| told.similarity(meant));
        // A minor symbol has few words, and all of them are similar if one is: `const hover = @import("hover.zig")`.
        let own = share * (1.0 - place.scores.value(Feature::Minor));
        place.scores.set(Feature::Meaning, own * f64::from(near.max(0)) / f64::from(MAX_SIMILARITY));
    }
    Ok(())
}
