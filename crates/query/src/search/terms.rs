//! Converts a query into terms: words, parts of identifiers, inflections and synonyms.
//!
//! Terms are built, never parsed: no input is a syntax error. The text index stores words as written; that `rendering`
//! also matches `render` is decided here, by looking up words with the same prefix.

use std::collections::{BTreeSet, HashSet};

use super::synonyms;
use codecompass_store::{PrefixDecision, Result, Snapshot, TermGroup, TextField, tokens};

/// The maximum number of words in a query; further words are ignored.
const MAX_QUERY_WORDS: usize = 24;

/// The weight of a part of an identifier, relative to the whole.
const PART_WEIGHT: f64 = 0.6;

/// The weight of two joined words, relative to a single one.
const COMPOUND_WEIGHT: f64 = 0.5;

/// The minimum length of stems that match even if they differ slightly.
const FUZZY_STEM_LEN: usize = 6;

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

/// Endings, longest first, each with the minimum number of letters before it; those in `s` are listed separately.
const ENDINGS: &[(&str, usize)] = &[
    ("ization", 3),
    ("ation", 4),
    ("ator", 4),
    ("ition", 4),
    ("ment", 4),
    ("ing", 3),
    ("izer", 4),
    ("ized", 4),
    ("ize", 4),
    ("ated", 4),
    ("ate", 4),
    ("er", 3),
    ("or", 4),
    ("ied", 3),
    ("ed", 3),
    ("ion", 4),
    ("able", 4),
    ("ible", 4),
    ("ly", 4),
    ("e", 3),
    ("y", 3),
];
const ENDINGS_IN_S: &[(&str, usize)] = &[
    ("izations", 3),
    ("ations", 4),
    ("ators", 4),
    ("itions", 4),
    ("ments", 4),
    ("ings", 3),
    ("izers", 4),
    ("izes", 4),
    ("ates", 4),
    ("ers", 3),
    ("ors", 4),
    ("ies", 3),
    ("es", 3),
    ("ions", 4),
    ("s", 3),
];

/// One word of the query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QueryWord {
    /// In lower case.
    pub(super) text: String,
    /// The weight of a match.
    pub(super) weight: f64,
    /// The length of its stem.
    pub(super) stem: usize,
    /// Whether inflections of the word also match.
    pub(super) is_prose: bool,
}

impl QueryWord {
    fn new(text: String, weight: f64, is_prose: bool) -> Self {
        Self { stem: stem(&text).len(), text, weight, is_prose }
    }

    /// Whether it was typed, as a word or as a part of one.
    pub(super) fn is_typed(&self) -> bool {
        self.weight > COMPOUND_WEIGHT
    }
}

/// Returns the words of a query, each once, in order. Stop words are dropped unless there is nothing else.
pub(super) fn words(query: &str) -> Vec<QueryWord> {
    let all = split(query);
    let telling: Vec<QueryWord> =
        all.iter().filter(|word| !STOP_WORDS.contains(&word.text.as_str())).cloned().collect();
    let mut words = if telling.is_empty() { all } else { telling };
    for text in compounds(query) {
        if words.iter().all(|word| word.text != text) {
            words.push(QueryWord::new(text, COMPOUND_WEIGHT, false));
        }
    }
    words.truncate(MAX_QUERY_WORDS);
    words
}

/// Returns adjacent words joined: a `thread pool` may be a `ThreadPool` or a `threadpool` in code.
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

fn split(query: &str) -> Vec<QueryWord> {
    let mut seen = HashSet::new();
    let mut words = Vec::new();
    for piece in query.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        let mut parts = tokens(piece).map(str::to_lowercase);
        let Some(whole) = parts.next() else { continue };
        let rest: Vec<String> = parts.collect();
        let is_plain = rest.is_empty();
        let found = std::iter::once((whole, 1.0)).chain(rest.into_iter().map(|part| (part, PART_WEIGHT)));
        for (text, weight) in found {
            if seen.insert(text.clone()) {
                words.push(QueryWord::new(text, weight, is_plain));
            }
        }
    }
    words
}

/// Returns the words in paths that share a prefix with one of these stems and pass the test, each once, in order.
pub(super) fn path_words_with_stems<'s>(
    snapshot: &Snapshot,
    stems: impl Iterator<Item = &'s str>,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<BTreeSet<String>> {
    const MIN_STEM_LEN: usize = 3;
    let begin = |stem: &'s str| &stem[..stem.char_indices().nth(MIN_STEM_LEN).map_or(stem.len(), |(at, _)| at)];
    let mut words = BTreeSet::new();
    for prefix in stems.map(begin).collect::<BTreeSet<&str>>() {
        let fit = |word: &str| if is_wanted(word) { PrefixDecision::Accept } else { PrefixDecision::Reject };
        words.extend(snapshot.words_with_prefix(TextField::Path, prefix, fit)?);
    }
    Ok(words)
}

/// Converts the words to term groups, each with its inflections in these text fields.
pub(super) fn groups(snapshot: &Snapshot, parts: &[TextField], words: &[QueryWord]) -> Result<Vec<TermGroup>> {
    words.iter().map(|word| group(snapshot, parts, word)).collect()
}

fn group(snapshot: &Snapshot, parts: &[TextField], word: &QueryWord) -> Result<TermGroup> {
    let mut group = TermGroup { tokens: vec![word.text.clone()], weight: word.weight, ..TermGroup::default() };
    let stem = &word.text[..word.stem];
    if word.is_prose && stem.len() >= 3 && word.text.is_ascii() {
        let root = if stem.len() < FUZZY_STEM_LEN { stem } else { &stem[..stem.len() - 1] };
        let mut forms = BTreeSet::new();
        for part in parts {
            forms.extend(snapshot.words_with_prefix(*part, root, |other| prefix_decision(other, &word.text, stem))?);
        }
        forms.extend(synonyms::abbreviations(&word.text).iter().map(|form| (*form).to_owned()));
        let alike: BTreeSet<&str> =
            synonyms::synonyms(&word.text).iter().copied().filter(|other| !forms.contains(*other)).collect();
        group.synonyms = alike.into_iter().map(str::to_owned).collect();
        group.inflections = forms.into_iter().collect();
    }
    Ok(group)
}

/// Whether another word is an inflection of this one. Identifiers are indexed as words too, so many words start with a
/// short stem.
fn prefix_decision(other: &str, word: &str, stem: &str) -> PrefixDecision {
    if let Some(at) = other.bytes().position(|byte| !byte.is_ascii_alphabetic()) {
        return PrefixDecision::RejectPrefix(at + 1);
    }
    let tail = other.strip_prefix(stem).filter(|tail| stem.len() < FUZZY_STEM_LEN && !tail.is_empty());
    let no_form = tail.and_then(|tail| (1..=tail.len().min(3)).find(|&end| !may_begin_ending(&tail[..end], stem, 2)));
    match no_form {
        Some(end) => PrefixDecision::RejectPrefix(stem.len() + end),
        None if other != word && is_inflection(other, stem) => PrefixDecision::Accept,
        None => PrefixDecision::Reject,
    }
}

/// Whether an inflection of the stem may continue like this: up to `endings` endings, possibly after a doubled letter.
fn may_begin_ending(tail: &str, stem: &str, endings: usize) -> bool {
    let is_doubled = |tail: &str| tail.as_bytes().first() == stem.as_bytes().last();
    let ends = |ending: &&str| {
        ending.starts_with(tail)
            || endings > 1 && tail.strip_prefix(*ending).is_some_and(|rest| may_begin_ending(rest, ending, endings - 1))
    };
    tail.is_empty()
        || ENDINGS.iter().chain(ENDINGS_IN_S).map(|(ending, _)| ending).any(ends)
        || is_doubled(tail) && may_begin_ending(&tail[1..], "", endings)
}

/// Whether a word has this stem, or one that is one or two letters longer or shorter (`config` and `configur`).
fn is_inflection(other: &str, stem_of_word: &str) -> bool {
    if !other.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let stem_of_other = stem(other);
    let (short, long) = match stem_of_other.len() < stem_of_word.len() {
        true => (stem_of_other, stem_of_word),
        false => (stem_of_word, stem_of_other),
    };
    short == long || short.len() >= FUZZY_STEM_LEN && long.starts_with(short) && long.len() - short.len() <= 2
}

/// Returns how well another word is the same as a query word, out of 128: an inflection completely, an abbreviation
/// nearly.
pub(super) fn sameness(word: &str, other: &str) -> u8 {
    if word == other {
        return 128;
    }
    if is_inflection(other, stem(word)) {
        return 128;
    }
    if synonyms::abbreviations(word).contains(&other) { 115 } else { 0 }
}

/// Returns the word without its endings (`rendering`, `render`, `rend`). The stemmer is light on purpose:
/// [`is_inflection`] matches stems that were cut too little.
pub(super) fn stem(word: &str) -> &str {
    without_ending(without_ending(word))
}

fn without_ending(word: &str) -> &str {
    if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word;
    }
    let fits = |(ending, least): &&(&str, usize)| word.len() >= ending.len() + least && word.ends_with(ending);
    let endings = match word.as_bytes().last() {
        Some(b's') => ENDINGS_IN_S,
        Some(b'n' | b'r' | b't' | b'g' | b'd' | b'e' | b'y') => ENDINGS,
        _ => &[],
    };
    let cut = endings.iter().find(fits).map_or(word, |(ending, _)| &word[..word.len() - ending.len()]);
    let bytes = cut.as_bytes();
    // In `running` and `planned` the doubled letter belongs to the ending. Equal bytes may also be the middle of a character.
    match bytes {
        [.., a, b] if cut.len() < word.len() && cut.len() > 3 && a == b && a.is_ascii() => match a {
            b'l' | b's' | b'e' | b'o' => cut,
            _ => &cut[..cut.len() - 1],
        },
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
    fn stems_end_at_characters() {
        assert_eq!(stem("running"), "run");
        // The last two bytes of the character are equal.
        for word in ["0\u{5082}ing", "ab\u{5082}ed", "\u{5082}\u{5082}s"] {
            assert!(word.starts_with(stem(word)), "{word}");
        }
    }

    #[test]
    fn stop_words_are_dropped_and_identifiers_split() {
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
    fn inflections_are_distinguished_from_other_words() {
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
            assert_eq!(is_inflection(other, stem(word)), same, "{word} and {other}: {} {}", stem(word), stem(other));
        }
    }

    #[test]
    fn rejected_prefixes_have_no_inflections() {
        const WORDS: &str = "test tests tested tester testers testing testings testament testable testcase test_case \
            testcases tes run runs runner runners running runnable run_all runtime rate rates rated rater rating ratings \
            ration rational config configs configure configurer configuration configurations configurable configfile \
            parse parsed parser parsers parsing parse_args parseable render renders rendered renderer rendering \
            renderings rendition validate validated validates validation validations validator validators validly \
            plan plans planned planner planners planning plane planet stop stopped stopper stopping stopword";
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        for word in &words {
            let stem = stem(word);
            let forms: Vec<&&str> = words.iter().filter(|other| *other != word && is_inflection(other, stem)).collect();
            for other in words.iter().filter(|other| other.starts_with(&stem[..stem.len() - 1])) {
                match prefix_decision(other, word, stem) {
                    PrefixDecision::Accept => assert!(forms.contains(&other), "{other} is not an inflection of {word}"),
                    PrefixDecision::Reject => assert!(!forms.contains(&other), "{other} is an inflection of {word}"),
                    PrefixDecision::RejectPrefix(bytes) => {
                        let lost = forms.iter().find(|form| form.starts_with(&other[..bytes]));
                        assert_eq!(lost, None, "{other} hides an inflection of {word}");
                    }
                }
            }
        }
    }
}
