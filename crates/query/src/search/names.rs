//! Names in a query: the identifiers that its words may form, and those that are defined.

use codecompass_model::SymbolKind;
use codecompass_store::{Result, Snapshot, tokens};

use super::SearchHit;
use super::terms::{self, STOP_WORDS};

/// Returns the salient words of a query, in order.
pub fn salient_words(query: &str) -> Vec<String> {
    let words = terms::words(query);
    words.into_iter().filter(|word| word.is_typed()).map(|word| word.text).collect()
}

/// Returns the identifiers that a query may contain: words written as identifiers, and adjacent words joined, first
/// with the stem of the second word (`rate limiting`: `rate_limit`, `rate_limiting`).
pub fn candidate_identifiers(query: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.');
    let pieces = query.split(|c: char| !is_part(c)).map(|piece| piece.trim_matches([':', '.']));
    let is_written = |piece: &&str| {
        let inner = piece.char_indices().nth(1).map_or("", |(at, _)| &piece[at..]);
        piece.contains(['_', ':', '.']) || inner.chars().any(char::is_uppercase)
    };
    let pieces: Vec<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
    pieces.iter().filter(|piece| is_written(piece)).for_each(|piece| add((*piece).to_owned()));
    let words: Vec<String> = pieces.iter().map(|piece| piece.to_lowercase()).collect();
    let is_telling = |word: &String| word.chars().all(char::is_alphanumeric) && !STOP_WORDS.contains(&word.as_str());
    for pair in words.windows(2).filter(|pair| pair.iter().all(is_telling)) {
        add(format!("{}_{}", pair[0], terms::stem(&pair[1])));
        add(format!("{}_{}", pair[0], pair[1]));
    }
    found
}

/// Returns names that are defined in the view: identifiers of the query, and names of symbols among its hits that
/// consist of its words or share two of them.
pub fn defined_names(
    snapshot: &Snapshot,
    query: &str,
    answers: &[SearchHit],
    most: usize,
) -> Result<Vec<(String, SymbolKind)>> {
    let mut known: Vec<(String, SymbolKind)> = Vec::new();
    for name in candidate_identifiers(query) {
        let last = name.rsplit([':', '.']).next().unwrap_or(&name);
        let rows = snapshot.symbols_named(last)?;
        if let Some(row) = rows.iter().find(|row| row.kind.can_be_named()) {
            known.push((name, row.kind));
        }
    }
    let words = salient_words(query);
    let stems: Vec<&str> = words.iter().map(|word| terms::stem(word)).collect();
    for symbol in answers.iter().filter_map(SearchHit::symbol) {
        let mut parts = tokens(&symbol.name).map(str::to_lowercase);
        let whole = parts.next().unwrap_or_default();
        let rest: Vec<String> = parts.collect();
        let parts = if rest.is_empty() { vec![whole] } else { rest };
        let shared = parts.iter().filter(|part| stems.contains(&terms::stem(part))).count();
        let is_meant = shared == parts.len() || shared >= 2;
        if is_meant && symbol.kind.can_be_named() && !known.iter().any(|(name, _)| *name == symbol.name) {
            known.push((symbol.name.clone(), symbol.kind));
        }
    }
    known.truncate(most);
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_written_or_joined_from_words() {
        let table: [(&str, &[&str]); 4] = [
            ("where is rate limiting implemented", &["rate_limit", "rate_limiting"]),
            ("how does JwtValidator check a token", &["JwtValidator"]),
            ("auth::validate_token fails", &["auth::validate_token"]),
            ("what is the", &[]),
        ];
        for (query, expected) in table {
            let found = candidate_identifiers(query);
            for name in expected {
                assert!(found.contains(&(*name).to_owned()), "{query}: {found:?}");
            }
            assert!(!expected.is_empty() || found.is_empty(), "{query}: {found:?}");
        }
    }
}
