//! The question as far as ranking looks at it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use codecompass_model::{SymbolKind, VersionId};
use codecompass_store::{Result, Snapshot, tokens};

use super::intent::{path_alone, path_of, quoted};
use super::long::{self, Frame};
use super::paths::{is_meant, without_extension};
use super::terms::{self, Word};
use super::{Intent, Mode, Search};
use crate::score::Scores;

/// What the beginning of a word is worth in a file's name beside the word.
const BEGINNING: f64 = 0.8;

/// Longer names may be no words of the index.
const LONGEST_NAME: usize = 60;

/// More uncommitted edits than these say nothing about what somebody works on.
const MOST_EDITED: u64 = 200;

/// The question as far as features look at it.
pub(super) struct Asked {
    pub(super) intent: Intent,
    /// Whether a file or folder is all that is asked for. Beside other words a path is one hint of several.
    pub(super) is_path: bool,
    /// What is looked up.
    pub(super) words: Vec<Word>,
    /// Stems of the words.
    pub(super) stems: Rc<HashSet<String>>,
    /// Texts that are wanted as they are; the first that is found anywhere counts.
    pub(super) texts_to_try: Vec<Rc<str>>,
    /// What the paths of files are worth, once they were looked at.
    pub(super) seen: RefCell<HashMap<VersionId, Scores>>,
    /// Words that were typed as names in code, last segments, as they were typed: a word among words is none.
    pub(super) typed: HashSet<String>,
    /// The same in lower case.
    pub(super) names: HashSet<String>,
    /// All words in one, for names that are spelt apart.
    pub(super) joined: String,
    /// Paths that were typed, and the line that was typed after one.
    pub(super) paths: Vec<(String, Option<u32>)>,
    /// The places that a trace names.
    pub(super) frames: Vec<Frame>,
    /// Paths of files with uncommitted edits.
    pub(super) edited: HashSet<String>,
    pub(super) kinds: Vec<SymbolKind>,
    pub(super) capitalised: bool,
    pub(super) wants_tests: bool,
    pub(super) wants_examples: bool,
    pub(super) wants_prose: bool,
}

impl Asked {
    pub(super) fn new(snapshot: &Snapshot, question: &Search<'_>) -> Result<Self> {
        let mut edited = HashSet::new();
        let changed = snapshot.edited();
        if changed.len() <= MOST_EDITED {
            for id in changed {
                edited.extend(snapshot.version(id)?.map(|version| version.path.clone()));
            }
        }
        Ok(Self { edited, ..Self::of(question) })
    }

    /// What the question alone says.
    fn of(question: &Search<'_>) -> Self {
        let query = question.query;
        let intent = Intent::of(query);
        let alone = path_alone(query);
        let words = match (question.mode, alone) {
            (Mode::Regex(_), _) => Vec::new(),
            // Nearly every path has an extension that many have.
            (Mode::Words, Some(path)) => terms::words(without_extension(path)),
            (Mode::Words, None) if long::is_long(query) => long::telling(query),
            _ => terms::words(query),
        };
        let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.text.as_str()));
        let plain = words.iter().filter(|word| word.weight == 1.0);
        let is_name = |word: &&str| {
            let name = last_name(word);
            intent == Intent::Symbol
                || is_qualified(word)
                || name.contains('_')
                || name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase)
        };
        let frames = if matches!(question.mode, Mode::Words) { long::frames(query) } else { Vec::new() };
        let named = query.split_whitespace().filter(is_name).map(last_name);
        let named = named.chain(frames.iter().filter_map(|frame| frame.name.as_deref()));
        let typed: HashSet<String> = named.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Self {
            texts_to_try: if intent == Intent::Error { messages(query) } else { as_written(query) },
            names: typed.iter().map(|name| name.to_lowercase()).collect(),
            typed,
            joined: plain.map(|word| word.text.replace('_', "")).collect(),
            stems: Rc::new(words.iter().map(|word| terms::stem(&word.text).to_owned()).collect()),
            paths: query.split_whitespace().filter_map(path_of).map(|(path, line)| (path.to_owned(), line)).collect(),
            frames,
            edited: HashSet::new(),
            seen: RefCell::default(),
            kinds: question.kinds.to_vec(),
            capitalised: last_name(query).starts_with(char::is_uppercase),
            wants_tests: any(&["test", "tests", "testing", "spec", "unittest", "fixture", "mock"]),
            wants_examples: any(&["example", "examples", "demo", "sample", "benchmark", "bench"]),
            is_path: alone.is_some(),
            wants_prose: alone.is_some()
                || any(&["readme", "docs", "documentation", "changelog", "config", "license", "workflow", "ci"]),
            intent,
            words,
        }
    }

    /// The words one of which stands in the name of every symbol that is exactly what was asked for; `None` when words
    /// do not tell.
    pub(super) fn exact_words(&self, snapshot: &Snapshot) -> Result<Option<Vec<String>>> {
        let is_plain = |name: &String| {
            let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            is_word && name.len() <= LONGEST_NAME && !name.trim_matches('_').is_empty()
        };
        if !self.names.iter().all(is_plain) || !self.joined.is_ascii() || self.joined.len() > LONGEST_NAME / 2 {
            return Ok(None);
        }
        let mut words: Vec<String> = self.names.iter().map(|name| name.trim_matches('_').to_owned()).collect();
        if self.joined.len() > 3 {
            words.extend(terms::spellings(snapshot, &self.joined)?);
        }
        words.sort_unstable();
        words.dedup();
        Ok(Some(words))
    }

    /// The words as they are shown.
    pub(super) fn texts(&self) -> Vec<String> {
        self.words.iter().filter(|word| word.is_typed()).map(|word| word.text.clone()).collect()
    }

    /// The line that was typed after a path that ends like this one.
    pub(super) fn line_in(&self, path: &str) -> Option<u32> {
        self.paths.iter().find(|(typed, _)| is_meant(path, typed)).and_then(|(_, line)| *line)
    }

    /// Whether a line of a file is all that is asked for.
    pub(super) fn is_line(&self) -> bool {
        self.is_path && self.paths.iter().any(|(_, line)| line.is_some())
    }

    pub(super) fn knows(&self, word: &str) -> bool {
        self.stems.contains(terms::stem(word))
    }

    /// The terms that a name bears, a bit for each: as words, or as the beginning of one, because names are short.
    pub(super) fn terms_in(&self, name: &str) -> u64 {
        let words: Vec<String> = tokens(name).map(str::to_lowercase).collect();
        let stems: Vec<&str> = words.iter().map(|word| terms::stem(word)).collect();
        let bears = |word: &Word| {
            let asked = terms::stem(&word.text);
            stems.iter().any(|stem| *stem == asked || stem.len() >= 3 && asked.starts_with(stem))
        };
        let borne = self.words.iter().enumerate().filter(|(_, word)| bears(word));
        borne.fold(0, |mask, (at, _)| mask | 1 << at.min(63))
    }

    /// How well a word of a file's name is one of the question's: the word itself, two of them in one, or the beginning
    /// of one, because names of files are short (`auth`, `config`, `urlmap`).
    pub(super) fn bears(&self, word: &str) -> f64 {
        let stem = terms::stem(word);
        // Endings have no underscore, so of a word with one only a stem with one can be a part.
        let is_near =
            |asked: &String| asked.contains('_') && (word.contains(asked.as_str()) || asked.starts_with(stem));
        if word.contains('_') && !self.stems.iter().any(is_near) {
            return 0.0;
        }
        let in_two = |at: usize| word.is_char_boundary(at) && self.knows(&word[..at]) && self.knows(&word[at..]);
        // A stem is the beginning of its word.
        let begins = self.stems.iter().any(|asked| word.starts_with(asked.as_str()));
        if begins && (self.knows(word) || (2..word.len().saturating_sub(1)).any(in_two)) {
            1.0
        } else if stem.len() >= 3 && self.stems.iter().any(|asked| asked.starts_with(stem)) {
            BEGINNING
        } else {
            0.0
        }
    }
}

/// The texts that a message may be in the source: what it quotes, else all of it, else what stands behind the first
/// colon, where programs put the kind of error in front.
fn messages(query: &str) -> Vec<Rc<str>> {
    let query = query.trim();
    match quoted(query) {
        Some(quoted) => vec![Rc::from(quoted)],
        None => {
            let behind = query.split_once(": ").map(|(_, message)| message.trim()).filter(|message| message.len() >= 4);
            [Some(query), behind].into_iter().flatten().map(Rc::from).collect()
        }
    }
}

/// A query that is written like something in the source and not like a question: a flag, a key or a header
/// (`rules.max-concurrent`), or words with brackets among them.
fn as_written(query: &str) -> Vec<Rc<str>> {
    const LEAST: usize = 6;
    let query = query.trim();
    let is_word = !query.contains(char::is_whitespace);
    let is_key = is_word && query.trim_matches('-').contains('-');
    let is_code = !is_word && query.contains(['(', '[', '{', '<', '=', ';']);
    if query.len() >= LEAST && (is_key || is_code) { vec![Rc::from(query)] } else { Vec::new() }
}

/// `app.set`, `Router::new`, `parse()`.
fn is_qualified(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
    word.ends_with("()") || inner.contains('.') || inner.contains("::") || inner.contains('#')
}

fn last_name(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
    word.rsplit([':', '.', '#', '/']).next().unwrap_or(word)
}

/// How many different words of a line were asked for.
pub(super) fn known_words(stems: &HashSet<String>, line: &str) -> usize {
    let mut found: Vec<&String> = Vec::new();
    for word in tokens(line) {
        let known = match word.bytes().any(|byte| !byte.is_ascii() || byte.is_ascii_uppercase()) {
            true => stems.get(terms::stem(&word.to_lowercase())),
            false => stems.get(terms::stem(word)),
        };
        found.extend(known.filter(|known| !found.contains(known)));
    }
    found.len()
}

/// What the words of a name are worth in the mean.
pub(super) fn words_of(name: &str, worth: impl Fn(&str) -> f64) -> f64 {
    let all: Vec<String> = tokens(name).map(str::to_lowercase).collect();
    let parts = if all.len() > 1 { &all[1..] } else { &all[..] };
    if parts.is_empty() {
        return 0.0;
    }
    parts.iter().map(|part| worth(part)).sum::<f64>() / parts.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_short() {
        for (query, stem, worth) in [
            ("authentication of users", "auth", BEGINNING),
            ("URL path mapping", "urlmap", 1.0),
            ("thread pools", "ThreadPool", 1.0),
            ("thread pools", "thread_local", 0.5),
            ("thread pools", "th", 0.0),
            ("port", "report", 0.0),
        ] {
            let asked = Asked::of(&Search::new(query, 1));
            assert_eq!(words_of(stem, |word| asked.bears(word)), worth, "{query}: {stem}");
        }
    }

    #[test]
    fn names_are_told_from_words() {
        for (query, names) in [
            ("session", vec!["session"]),
            ("session management", vec![]),
            ("how app.set stores settings", vec!["set"]),
            ("Router::nest and parse() or read/write", vec!["nest", "parse"]),
            ("the from_str of IntoResponse over HTTP.", vec!["IntoResponse", "from_str"]),
        ] {
            let mut typed: Vec<String> = Asked::of(&Search::new(query, 1)).typed.into_iter().collect();
            typed.sort();
            assert_eq!(typed, names, "{query}");
        }
    }
}
