//! A query as terms: words, parts of identifiers, and the words that mean the same.
//!
//! Terms are built, never parsed: there is no input that is a syntax error. The text index keeps words as they are
//! written; that `rendering` also means `render` is decided here, by looking up what begins alike.

use std::collections::{BTreeSet, HashSet};

use codecompass_store::{Record, Result, Snapshot, TermGroup, tokens};

/// More words than a question has; the rest is not looked at.
const MOST: usize = 24;

/// What a part of an identifier is worth beside the whole of it.
const PART: f64 = 0.6;

/// What two words in one are worth beside each of them.
const COMPOUND: f64 = 0.5;

pub(super) const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "all",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "between",
    "by",
    "can",
    "code",
    "do",
    "does",
    "done",
    "each",
    "find",
    "for",
    "from",
    "get",
    "gets",
    "happen",
    "happens",
    "has",
    "have",
    "how",
    "i",
    "if",
    "in",
    "implement",
    "implementation",
    "implemented",
    "implements",
    "into",
    "is",
    "it",
    "its",
    "logic",
    "made",
    "make",
    "me",
    "my",
    "of",
    "on",
    "or",
    "place",
    "s",
    "should",
    "show",
    "so",
    "some",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "to",
    "used",
    "uses",
    "using",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "work",
    "works",
    "you",
];

/// One word of the query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    /// In lower case.
    pub(super) text: String,
    /// What a match is worth.
    pub(super) weight: f64,
    /// Whether other forms of the word count, too.
    pub(super) is_prose: bool,
}

impl Word {
    /// Whether it was typed: as a word, or as a part of one.
    pub(super) fn is_typed(&self) -> bool {
        self.weight > COMPOUND
    }
}

/// The words of a query, each once, in order. Stop words are left out unless there is nothing else.
pub(super) fn words(query: &str) -> Vec<Word> {
    let all = split(query);
    let telling: Vec<Word> = all.iter().filter(|word| !STOP_WORDS.contains(&word.text.as_str())).cloned().collect();
    let mut words = if telling.is_empty() { all } else { telling };
    for text in compounds(query) {
        if words.iter().all(|word| word.text != text) {
            words.push(Word { text, weight: COMPOUND, is_prose: false });
        }
    }
    words.truncate(MOST);
    words
}

/// Words that stand side by side, as one: a `thread pool` may be a `ThreadPool` or a `threadpool` in code.
fn compounds(query: &str) -> Vec<String> {
    let pieces: Vec<String> = query
        .split(|c: char| c.is_whitespace() || c == '-')
        .filter(|piece| !piece.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_word = |piece: &String| {
        piece.len() >= 2 && piece.chars().all(char::is_alphanumeric) && !STOP_WORDS.contains(&piece.as_str())
    };
    pieces.windows(2).filter(|pair| pair.iter().all(is_word)).map(|pair| pair.concat()).collect()
}

fn split(query: &str) -> Vec<Word> {
    let mut seen = HashSet::new();
    let mut words = Vec::new();
    for piece in query.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        let mut parts = tokens(piece).map(str::to_lowercase);
        let Some(whole) = parts.next() else { continue };
        let rest: Vec<String> = parts.collect();
        let is_plain = rest.is_empty();
        let found = std::iter::once((whole, 1.0)).chain(rest.into_iter().map(|part| (part, PART)));
        for (text, weight) in found {
            if seen.insert(text.clone()) {
                words.push(Word { text, weight, is_prose: is_plain });
            }
        }
    }
    words
}

/// The words in paths that may stand for one of these stems in a file's name: those that begin like one.
pub(super) fn beginnings<'s>(snapshot: &Snapshot, stems: impl Iterator<Item = &'s str>) -> Result<BTreeSet<String>> {
    const LETTERS: usize = 3;
    let mut words = BTreeSet::new();
    for stem in stems {
        let end = stem.char_indices().nth(LETTERS).map_or(stem.len(), |(at, _)| at);
        words.extend(snapshot.words_with_prefix(Record::File, &stem[..end])?);
    }
    Ok(words)
}

/// The words as terms for one type of record.
pub(super) fn groups(snapshot: &Snapshot, record: Record, words: &[Word]) -> Result<Vec<TermGroup>> {
    words.iter().map(|word| group(snapshot, record, word)).collect()
}

fn group(snapshot: &Snapshot, record: Record, word: &Word) -> Result<TermGroup> {
    let mut tokens = vec![word.text.clone()];
    let stem = stem(&word.text);
    if word.is_prose && stem.len() >= 3 && word.text.is_ascii() {
        let root = &stem[..stem.len().min(stem.len().max(5) - 1)];
        let alike = snapshot.words_with_prefix(record, root)?;
        tokens.extend(alike.into_iter().filter(|other| *other != word.text && is_form_of(other, stem)));
    }
    Ok(TermGroup { tokens, weight: word.weight })
}

/// Whether a word has this stem, or one that is one or two letters longer or shorter (`config` and `configur`).
fn is_form_of(other: &str, stem_of_word: &str) -> bool {
    if !other.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let stem_of_other = stem(other);
    let (short, long) = match stem_of_other.len() < stem_of_word.len() {
        true => (stem_of_other, stem_of_word),
        false => (stem_of_word, stem_of_other),
    };
    short == long || short.len() >= 6 && long.starts_with(short) && long.len() - short.len() <= 2
}

/// The word without its endings (`rendering`, `render`, `rend`). Light on purpose: what is cut too little is caught by
/// [`is_form_of`].
pub(super) fn stem(word: &str) -> &str {
    without_ending(without_ending(word))
}

fn without_ending(word: &str) -> &str {
    const ENDINGS: &[(&str, usize)] = &[
        ("izations", 3),
        ("ization", 3),
        ("ations", 4),
        ("ation", 4),
        ("ators", 4),
        ("ator", 4),
        ("itions", 4),
        ("ition", 4),
        ("ments", 4),
        ("ment", 4),
        ("ings", 3),
        ("ing", 3),
        ("izers", 4),
        ("izer", 4),
        ("ized", 4),
        ("izes", 4),
        ("ize", 4),
        ("ated", 4),
        ("ates", 4),
        ("ate", 4),
        ("ers", 3),
        ("er", 3),
        ("ors", 4),
        ("or", 4),
        ("ies", 3),
        ("ied", 3),
        ("ed", 3),
        ("es", 3),
        ("ions", 4),
        ("ion", 4),
        ("able", 4),
        ("ible", 4),
        ("ly", 4),
        ("s", 3),
        ("e", 3),
        ("y", 3),
    ];
    if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word;
    }
    let fits = |(ending, least): &&(&str, usize)| word.ends_with(ending) && word.len() >= ending.len() + least;
    let cut = ENDINGS.iter().find(fits).map_or(word, |(ending, _)| &word[..word.len() - ending.len()]);
    let bytes = cut.as_bytes();
    // `running`, `planned`: the doubled letter belongs to the ending.
    match bytes {
        [.., a, b] if cut.len() < word.len() && cut.len() > 3 && a == b && !matches!(a, b'l' | b's' | b'e' | b'o') => {
            &cut[..cut.len() - 1]
        }
        _ => cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(query: &str) -> Vec<String> {
        words(query).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn questions_lose_their_stop_words_and_identifiers_their_borders() {
        assert_eq!(texts("where is rate limiting implemented"), ["rate", "limiting", "ratelimiting"]);
        assert_eq!(
            texts("url-encoded forms of a body"),
            ["url", "encoded", "forms", "body", "urlencoded", "encodedforms"]
        );
        assert_eq!(texts("HTTPServer"), ["httpserver", "http", "server"]);
        assert_eq!(texts("auth::jwt::x"), ["auth", "jwt", "x"]);
        assert_eq!(texts("where's it"), ["where", "s", "it"]);
        assert_eq!(texts("🦀 ( \""), Vec::<String>::new());
    }

    #[test]
    fn forms_of_a_word_are_told_from_other_words() {
        for (word, other, same) in [
            ("rendering", "render", true),
            ("rendering", "renderer", true),
            ("routes", "router", true),
            ("configuration", "config", true),
            ("validation", "validate", true),
            ("parsing", "parser", true),
            ("sessions", "session", true),
            ("running", "runner", true),
            ("registration", "register", true),
            ("registered", "registry", true),
            ("class", "classify", false),
            ("token", "tokio", false),
            ("port", "report", false),
            ("state", "static", false),
        ] {
            assert_eq!(is_form_of(other, stem(word)), same, "{word} and {other}: {} {}", stem(word), stem(other));
        }
    }
}
