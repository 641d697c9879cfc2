//! Embedding re-ranking.
//!
//! Words select the candidates, and similarity reorders the best of them: the best hits by words get a similarity score
//! between the symbol's embedding and the query's, and are selected again. The number of re-ranked hits does not depend
//! on the requested count, so a longer list still starts with the shorter one. Neither feature reduces a score, so the
//! re-ranked hits stay before the rest.

use codecompass_embedding::{Embedding, MAX_MATCH, MAX_SIMILARITY, MODEL, Passage, WordMatcher};
use codecompass_model::SymbolKind;
use codecompass_store::{Result, Snapshot};

use super::candidates::Candidates;
use super::hit::SearchHit;
use super::parsed_query::ParsedQuery;
use super::{QueryMode, SearchRequest, terms};
use crate::encoder::{PassageKey, is_encoded, passage, passage_key};
use crate::score::Feature;

/// The number of re-ranked hits. From forty to eighty, right answers that words put far down come into view; beyond that
/// the list gains nothing, and every hit costs about forty microseconds.
pub(super) const RERANK_DEPTH: usize = 80;

/// The share of the similarity of tests that counts, because tests are similar to the code they test.
const TEST_SHARE: f64 = 0.5;

/// The share for text outside symbols: it has no name, and a symbol is the better answer if there is one.
const CHUNK_SHARE: f64 = 0.6;

/// The query as the model reads it.
pub(super) struct EmbeddedQuery {
    embedding: Embedding,
    words: Option<WordMatcher>,
}

/// Returns the query as the model reads it, if it is in natural language.
pub(super) fn embed_query(
    request: &SearchRequest<'_>,
    parsed: &ParsedQuery,
    candidates: &Candidates,
) -> Option<EmbeddedQuery> {
    let is_asked =
        request.use_embedding && matches!(request.mode, QueryMode::Words) && parsed.is_question && !parsed.wants_docs;
    let embedding = if is_asked { MODEL.embed_query(request.query)? } else { return None };
    // A word that the view does not contain is as rare as the rarest one; similar words may still match it.
    let rarest = candidates.rarity().iter().copied().fold(0.0, f64::max);
    let words =
        parsed.words.iter().zip(candidates.rarity()).filter(|(word, _)| word.is_typed() && !word.text.contains('_'));
    let factors = words.map(|(word, rarity)| {
        let rarity = if *rarity > 0.0 { *rarity } else { rarest };
        (word.text.as_str(), (rarity * word.weight * 1e3).round() as u32)
    });
    Some(EmbeddedQuery { embedding, words: WordMatcher::new(&MODEL, factors, terms::sameness) })
}

/// Sets the similarity and the match by word of each hit that is a symbol, and a share of both for text outside symbols.
/// Test blocks get none: their titles describe the code they test. Other test code, unless the query asks for tests,
/// gets a share of its own.
pub(super) fn set_similarity(snapshot: &Snapshot, embedded: &mut EmbeddedQuery, hits: &mut [SearchHit]) -> Result<()> {
    for hit in hits {
        let text = snapshot.text(hit.version.id)?;
        let path = MODEL.look_up([hit.version.path.as_str()]);
        let is_test = hit.scores.value(Feature::Test) > 0.0;
        let own = if is_test { TEST_SHARE } else { 1.0 };
        let (words, own) = match (hit.chunk_text(&text), hit.symbol()) {
            (Some(code), _) => (MODEL.passage_words(&Passage::of_text(code)), own * CHUNK_SHARE),
            // A minor symbol has few words, and all of them are similar if one is: `const hover = @import("hover.zig")`.
            (None, Some(symbol)) if symbol.kind != SymbolKind::Test => {
                let own = own * (1.0 - hit.scores.value(Feature::Minor));
                (MODEL.passage_words(&Passage::new(symbol, &text)), own)
            }
            _ => continue,
        };
        let near = MODEL.embed_words(&words).map_or(0, |own| own.similarity(&embedded.embedding));
        let matched = embedded.words.as_mut().map_or(0, |matcher| matcher.score(&words, &path));
        let scores = &mut hit.scores;
        scores.set(Feature::Meaning, own * f64::from(near.max(0)) / f64::from(MAX_SIMILARITY));
        scores.set(Feature::WordMatch, own * f64::from(matched) / f64::from(MAX_MATCH));
    }
    Ok(())
}

/// Sets the similarity by the user's encoder, for hits whose vectors are known.
pub(super) fn set_encoder_similarity(
    snapshot: &Snapshot,
    request: &SearchRequest<'_>,
    hits: &mut [SearchHit],
) -> Result<()> {
    let Some(encoder) = request.encoder else { return Ok(()) };
    let Some(embedded) = encoder.query_vector(request.query) else { return Ok(()) };
    let mut encoded = Vec::new();
    for (at, hit) in hits.iter().enumerate() {
        if let Some(symbol) = hit.symbol().filter(|symbol| is_encoded(symbol) && hit.scores.value(Feature::Test) <= 0.0)
        {
            let text = snapshot.text(hit.version.id)?;
            encoded.push((at, passage_key(&passage(symbol, &text))));
        }
    }
    let keys: Vec<PassageKey> = encoded.iter().map(|(_, key)| *key).collect();
    for ((at, _), vector) in encoded.iter().zip(encoder.passage_vectors(&keys)) {
        let near = vector.map_or(0.0, |vector| vector.similarity(&embedded));
        let own = 1.0 - hits[*at].scores.value(Feature::Minor);
        hits[*at].scores.set(Feature::Encoder, own * near);
    }
    Ok(())
}
