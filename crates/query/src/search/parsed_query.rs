//! The parsed query: everything about a query that ranking uses.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use codecompass_model::{Languages, SymbolKind, VersionId};
use codecompass_store::{Result, Snapshot, SymbolPayload, tokens};

use super::intent::{path_alone, quoted_text, typed_paths};
use super::paths::{ends_with_path, is_under_folder, matches_typed_path, without_extension};
use super::report;
use super::terms::{self, QueryWord};
use super::trace::{self, Frame};
use super::{Intent, QueryMode, SearchRequest};
use crate::score::Scores;

/// The score of a stem prefix in a file's name, relative to the complete word.
const PREFIX_WEIGHT: f64 = 0.8;

/// The maximum length of joined words: longer ones are not one name that is spelt apart.
const MAX_JOINED_LEN: usize = 30;

/// Joined words must be longer than this to count as one name.
pub(super) const MIN_JOINED_LEN: usize = 3;

/// With more uncommitted edits than this, the edited files say nothing about the current work.
const MAX_EDITED_FILES: u64 = 200;

/// The maximum number of names and of paths that are looked for. Each is compared with every result, and a pasted text may
/// hold thousands.
const MAX_TYPED: usize = 128;

/// The minimum number of words of a question. Fewer words are a name or a topic, for which lexical search is sufficient.
const MIN_QUESTION_WORDS: usize = 3;

/// The query as the features use it.
pub(super) struct ParsedQuery {
    pub(super) languages: &'static dyn Languages,
    pub(super) intent: Intent,
    /// Whether the query is in natural language and has enough words to be understood.
    pub(super) is_question: bool,
    /// Whether the query asks for a file or folder and nothing else. Among other words a path is only one hint.
    pub(super) is_path: bool,
    /// The words to look up.
    pub(super) words: Vec<QueryWord>,
    /// The stems of the words.
    pub(super) stems: Rc<HashSet<String>>,
    /// Texts to search for literally; the first one that occurs anywhere counts.
    pub(super) texts_to_try: Vec<Rc<str>>,
    /// Cached path scores by file.
    pub(super) seen: RefCell<HashMap<VersionId, Scores>>,
    /// Which files were generated, according to their texts.
    pub(super) generated: RefCell<HashMap<VersionId, bool>>,
    /// Words that were typed as names in code, last segments only, in their original spelling. A plain word among
    /// others is not a name.
    pub(super) typed: HashSet<String>,
    /// Capitalised words inside a sentence: they may be names of types only.
    pub(super) proper: HashSet<String>,
    /// The typed names in lower case.
    pub(super) names: HashSet<String>,
    /// All words joined, for names that are spelt apart; empty if that is longer than names are.
    pub(super) joined: String,
    /// Paths in the query, each with the line number after it.
    pub(super) paths: Vec<(String, Option<u32>)>,
    /// The locations that a stack trace or a sentence names, innermost first.
    pub(super) frames: Vec<Frame>,
    /// Paths of files with uncommitted edits.
    pub(super) edited: HashSet<String>,
    pub(super) kinds: Vec<SymbolKind>,
    pub(super) capitalised: bool,
    pub(super) wants_tests: bool,
    pub(super) wants_examples: bool,
    /// The query asks for a declaration and not for behaviour.
    pub(super) wants_types: bool,
    /// Prose, data and configuration count like code.
    pub(super) wants_prose: bool,
    /// Prose is preferred to code.
    pub(super) wants_docs: bool,
}

/// How a typed path matches a file, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathMatch {
    /// The file's own path, or its end.
    File,
    /// The same without the extension.
    Stem,
    /// A folder that contains the file.
    Folder,
}

impl ParsedQuery {
    pub(super) fn new(snapshot: &Snapshot, request: &SearchRequest<'_>) -> Result<Self> {
        let mut edited = HashSet::new();
        let changed = snapshot.edited();
        if changed.len() <= MAX_EDITED_FILES {
            for id in changed {
                edited.extend(snapshot.version(id)?.map(|version| version.path.clone()));
            }
        }
        Ok(Self { edited, ..Self::parse(request) })
    }

    /// Parses the query without data of the snapshot.
    fn parse(request: &SearchRequest<'_>) -> Self {
        let (query, languages) = (request.query, request.languages);
        let alone = path_alone(query, languages);
        let frames = match request.mode {
            QueryMode::Words if alone.is_none() => trace::parse(query, languages),
            _ => Vec::new(),
        };
        let is_trace = !frames.is_empty() && trace::is_trace(query, languages);
        let intent = match Intent::classify(query, languages) {
            Intent::NaturalLanguage if is_trace => Intent::Error,
            // Similarity must not reorder the locations that a sentence names: `a.cs(12,5)` and `b.cs(3,1)`.
            Intent::NaturalLanguage if !frames.is_empty() => Intent::Path,
            intent => intent,
        };
        let words = match (request.mode, alone) {
            (QueryMode::Regex(_), _) => Vec::new(),
            // A literal query has no inflections.
            (QueryMode::Literal(_), _) => {
                terms::words(query).into_iter().map(|word| QueryWord { is_prose: false, ..word }).collect()
            }
            // The extension is dropped, because many paths share it.
            (QueryMode::Words, Some(path)) => terms::words(without_extension(path)),
            (QueryMode::Words, None) if is_trace || report::is_report(query) => report::report_words(query, languages),
            _ => terms::words(query),
        };
        let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.text.as_str()));
        let wants_docs = any(&["readme", "docs", "documentation", "changelog", "license", "tutorial"]);
        let plain = words.iter().filter(|word| word.weight == 1.0);
        let joined: String = plain.map(|word| word.text.replace('_', "")).collect();
        let is_name = |word: &&str| {
            let name = last_name(word);
            intent == Intent::Symbol
                || is_qualified(word)
                || name.contains('_')
                || name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase)
        };
        let named = query.split_whitespace().filter(is_name).map(last_name);
        let named = frames.iter().filter_map(|frame| frame.name.as_deref()).chain(named);
        let typed: HashSet<String> = named.filter(|name| !name.is_empty()).take(MAX_TYPED).map(str::to_owned).collect();
        let is_sentence = matches!(request.mode, QueryMode::Words)
            && intent != Intent::Symbol
            && !is_trace
            && !report::is_report(query);
        let proper = if is_sentence { proper_names(query).take(MAX_TYPED).collect() } else { HashSet::new() };
        Self {
            proper,
            texts_to_try: match intent {
                Intent::Error if is_trace => trace::message(query).into_iter().map(Rc::from).collect(),
                Intent::Error => quoted_messages(query),
                _ => source_literals(query),
            },
            names: typed.iter().map(|name| name.to_lowercase()).collect(),
            typed,
            joined: Some(joined).filter(|joined| joined.len() <= MAX_JOINED_LEN).unwrap_or_default(),
            stems: Rc::new(words.iter().map(|word| word.text[..word.stem].to_owned()).collect()),
            paths: typed_paths(query, languages).take(MAX_TYPED).map(|(path, line)| (path.to_owned(), line)).collect(),
            frames,
            edited: HashSet::new(),
            seen: RefCell::default(),
            generated: RefCell::default(),
            is_question: intent == Intent::NaturalLanguage && query.split_whitespace().count() >= MIN_QUESTION_WORDS,
            kinds: request.kinds.to_vec(),
            capitalised: last_name(query).starts_with(char::is_uppercase),
            wants_tests: request.kinds.contains(&SymbolKind::Test)
                || any(&["test", "tests", "testing", "spec", "unittest", "fixture", "mock"]),
            wants_types: any(&[
                "class",
                "classes",
                "constant",
                "constants",
                "enum",
                "enums",
                "interface",
                "interfaces",
                "struct",
                "structs",
                "structure",
                "trait",
                "traits",
                "type",
                "types",
            ]),
            wants_examples: any(&["example", "examples", "demo", "sample", "benchmark", "bench"]),
            languages,
            is_path: alone.is_some(),
            wants_prose: alone.is_some() || wants_docs || any(&["config", "workflow", "ci"]),
            wants_docs,
            intent,
            words,
        }
    }

    /// Hashes of the names that match the query exactly.
    pub(super) fn name_hashes(&self) -> Vec<u32> {
        let joined = Some(&self.joined).filter(|joined| joined.len() > MIN_JOINED_LEN);
        let proper = self.proper.iter().map(|name| SymbolPayload::name_hash(&name.to_lowercase()));
        self.names.iter().chain(joined).map(|name| SymbolPayload::name_hash(name)).chain(proper).collect()
    }

    /// The words as they are shown to users.
    pub(super) fn word_texts(&self) -> Vec<String> {
        self.words.iter().filter(|word| word.is_typed()).map(|word| word.text.clone()).collect()
    }

    /// The line number that was typed after a path that matches this one.
    pub(super) fn typed_line(&self, path: &str) -> Option<u32> {
        self.paths.iter().find(|(typed, _)| matches_typed_path(path, typed)).and_then(|(_, line)| *line)
    }

    /// Whether a path was typed, with or without its extension.
    pub(super) fn is_typed_path(&self, path: &str) -> bool {
        matches!(self.path_match(path), Some(PathMatch::File | PathMatch::Stem))
    }

    /// How a typed path matches this one.
    pub(super) fn path_match(&self, path: &str) -> Option<PathMatch> {
        let of = |typed: &String| {
            let has_folder = typed.trim_matches('/').contains('/') || typed.ends_with('/');
            match () {
                _ if matches_typed_path(path, typed) => Some(PathMatch::File),
                _ if has_folder && ends_with_path(without_extension(path), typed) => Some(PathMatch::Stem),
                _ if has_folder && is_under_folder(path, typed) => Some(PathMatch::Folder),
                _ => None,
            }
        };
        self.paths.iter().filter_map(|(typed, _)| of(typed)).min()
    }

    pub(super) fn has_word(&self, word: &str) -> bool {
        self.stems.contains(terms::stem(word))
    }

    /// Returns the query words in a name as a bit set. A name may contain the word or a prefix of it, because names
    /// abbreviate.
    pub(super) fn name_terms(&self, name: &str) -> u64 {
        let mut borne = 0;
        for word in tokens(name) {
            let word = lower(word);
            let stem = terms::stem(&word);
            let bears = |parsed: &str| stem == parsed || stem.len() >= 3 && parsed.starts_with(stem);
            for (at, parsed) in self.words.iter().enumerate() {
                if bears(&parsed.text[..parsed.stem]) {
                    borne |= 1 << at.min(63);
                }
            }
        }
        borne
    }

    /// Scores a word of a file's name: it may be a query word, two of them joined, or a prefix of one, because file
    /// names are short (`auth`, `config`, `urlmap`).
    pub(super) fn file_name_word_score(&self, word: &str) -> f64 {
        let stem = terms::stem(word);
        // Endings contain no underscore, so a word with one can only match a stem with one.
        let is_near =
            |parsed: &String| parsed.contains('_') && (word.contains(parsed.as_str()) || parsed.starts_with(stem));
        if word.contains('_') && !self.stems.iter().any(is_near) {
            return 0.0;
        }
        let in_two = |at: usize| word.is_char_boundary(at) && self.has_word(&word[..at]) && self.has_word(&word[at..]);
        // A stem is a prefix of its word.
        let begins = self.stems.iter().any(|parsed| word.starts_with(parsed.as_str()));
        if begins && (self.has_word(word) || (2..word.len().saturating_sub(1)).any(in_two)) {
            1.0
        } else if stem.len() >= 3 && self.stems.iter().any(|parsed| parsed.starts_with(stem)) {
            PREFIX_WEIGHT
        } else {
            0.0
        }
    }
}

/// Returns the literal texts that an error message may have in the source: its quoted part, else the whole message,
/// else the part after the first colon, because programs print the kind of error before it.
fn quoted_messages(query: &str) -> Vec<Rc<str>> {
    let query = query.trim();
    match quoted_text(query) {
        Some(quoted) => vec![Rc::from(quoted)],
        None => {
            let behind = query.split_once(": ").map(|(_, message)| message.trim()).filter(|message| message.len() >= 4);
            [Some(query), behind].into_iter().flatten().map(Rc::from).collect()
        }
    }
}

/// Returns the query as a literal text if it looks like source code and not like a question: a flag, a key or a header
/// (`rules.max-concurrent`), or words with brackets.
fn source_literals(query: &str) -> Vec<Rc<str>> {
    const MIN_LITERAL_LEN: usize = 6;
    let query = query.trim();
    let is_word = !query.contains(char::is_whitespace);
    let is_key = is_word && query.trim_matches('-').contains('-');
    let is_code = !is_word && query.contains(['(', '[', '{', '<', '=', ';']);
    if query.len() >= MIN_LITERAL_LEN && (is_key || is_code) { vec![Rc::from(query)] } else { Vec::new() }
}

/// Matches `app.set`, `Router::new`, `parse()`.
fn is_qualified(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
    word.ends_with("()") || inner.contains('.') || inner.contains("::") || inner.contains('#')
}

fn last_name(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
    word.rsplit([':', '.', '#', '/']).next().unwrap_or(word)
}

/// Returns the number of distinct query words in a line.
pub(super) fn count_query_words(stems: &HashSet<String>, line: &str) -> usize {
    let mut found: Vec<&String> = Vec::new();
    for word in tokens(line) {
        let known = stems.get(terms::stem(&lower(word)));
        found.extend(known.filter(|known| !found.contains(known)));
    }
    found.len()
}

/// Returns a word in lower case.
fn lower(word: &str) -> Cow<'_, str> {
    match word.bytes().any(|byte| !byte.is_ascii() || byte.is_ascii_uppercase()) {
        true => Cow::Owned(word.to_lowercase()),
        false => Cow::Borrowed(word),
    }
}

/// Returns the mean score of the words in a name.
pub(super) fn mean_word_score(name: &str, worth: impl Fn(&str) -> f64) -> f64 {
    let all: Vec<String> = tokens(name).map(str::to_lowercase).collect();
    let parts = if all.len() > 1 { &all[1..] } else { &all[..] };
    if parts.is_empty() {
        return 0.0;
    }
    parts.iter().map(|part| worth(part)).sum::<f64>() / parts.len() as f64
}

/// Returns the capitalised words of a query that do not start a sentence: `how Foldable traverses`.
fn proper_names(query: &str) -> impl Iterator<Item = String> + '_ {
    const MIN_PROPER_NAME_LEN: usize = 4;
    let words = query.split_whitespace();
    let inside = words.clone().zip(words.skip(1)).filter(|(before, _)| !before.ends_with(['.', '?', '!', ':']));
    let is_one = |word: &&str| {
        let mut letters = word.chars();
        word.len() >= MIN_PROPER_NAME_LEN
            && letters.next().is_some_and(char::is_uppercase)
            && letters.all(char::is_lowercase)
    };
    inside.map(|(_, word)| word.trim_matches(|c: char| !c.is_alphanumeric())).filter(is_one).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_match_abbreviated_words() {
        for (query, stem, worth) in [
            ("authentication of users", "auth", PREFIX_WEIGHT),
            ("URL path mapping", "urlmap", 1.0),
            ("thread pools", "ThreadPool", 1.0),
            ("thread pools", "thread_local", 0.5),
            ("thread pools", "th", 0.0),
            ("port", "report", 0.0),
        ] {
            let parsed = ParsedQuery::parse(&SearchRequest::new(query, codecompass_lang::REGISTRY, 1));
            assert_eq!(mean_word_score(stem, |word| parsed.file_name_word_score(word)), worth, "{query}: {stem}");
        }
    }

    #[test]
    fn capitalised_words_may_name_types() {
        for (query, names) in [
            ("how Foldable traverses a container", vec!["Foldable"]),
            ("Foldable traverses", vec![]),
            ("it fails. Then nothing", vec![]),
            ("encode JSON as SQL in Op", vec![]),
            ("the \"Transaction\", and Session's", vec!["Transaction"]),
            ("Foldable", vec![]),
        ] {
            let parsed = ParsedQuery::parse(&SearchRequest::new(query, codecompass_lang::REGISTRY, 1));
            let mut proper: Vec<&str> = parsed.proper.iter().map(String::as_str).collect();
            proper.sort_unstable();
            assert_eq!(proper, names, "{query}");
        }
    }

    #[test]
    fn names_are_distinguished_from_words() {
        for (query, names) in [
            ("session", vec!["session"]),
            ("session management", vec![]),
            ("how app.set stores settings", vec!["set"]),
            ("Router::nest and parse() or read/write", vec!["nest", "parse"]),
            ("the from_str of IntoResponse over HTTP.", vec!["IntoResponse", "from_str"]),
        ] {
            let mut typed: Vec<String> = ParsedQuery::parse(&SearchRequest::new(query, codecompass_lang::REGISTRY, 1))
                .typed
                .into_iter()
                .collect();
            typed.sort();
            assert_eq!(typed, names, "{query}");
        }
    }
}
