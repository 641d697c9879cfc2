//! What makes a place the right one: the features of [`crate::score`], worked out.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use codecompass_model::{Symbol, SymbolKind, VersionId, Visibility, is_test_path};
use codecompass_store::{Result, Snapshot, VersionInfo, tokens};

use super::gather::{Candidate, Gathered};
use super::intent::{path_alone, path_of, quoted};
use super::terms::{self, Word};
use super::{Intent, Mode, Place, Search, definitions};
use crate::score::{Feature, Scores, UNIT};

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
    seen: RefCell<HashMap<VersionId, Scores>>,
    /// Words that were typed as names in code, last segments, as they were typed: a word among words is none.
    typed: HashSet<String>,
    /// The same in lower case.
    names: HashSet<String>,
    /// All words in one, for names that are spelt apart.
    joined: String,
    /// Paths that were typed, and the line that was typed after one.
    paths: Vec<(String, Option<u32>)>,
    /// Paths of files with uncommitted edits.
    edited: HashSet<String>,
    kinds: Vec<SymbolKind>,
    capitalised: bool,
    wants_tests: bool,
    wants_examples: bool,
    wants_prose: bool,
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
        let named = query.split_whitespace().filter(is_name).map(last_name);
        let typed: HashSet<String> = named.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Self {
            texts_to_try: if intent == Intent::Error { messages(query) } else { as_written(query) },
            names: typed.iter().map(|name| name.to_lowercase()).collect(),
            typed,
            joined: plain.map(|word| word.text.replace('_', "")).collect(),
            stems: Rc::new(words.iter().map(|word| terms::stem(&word.text).to_owned()).collect()),
            paths: query.split_whitespace().filter_map(path_of).map(|(path, line)| (path.to_owned(), line)).collect(),
            edited: HashSet::new(),
            seen: RefCell::default(),
            kinds: question.kinds.to_vec(),
            capitalised: last_name(query).starts_with(char::is_uppercase),
            wants_tests: question.kinds.contains(&SymbolKind::Test)
                || any(&["test", "tests", "testing", "spec", "unittest", "fixture", "mock"]),
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
        self.paths.iter().find(|(typed, _)| ends_like(path, typed)).and_then(|(_, line)| *line)
    }

    fn knows(&self, word: &str) -> bool {
        self.stems.contains(terms::stem(word))
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

/// A path without what stands after the last dot of its last part.
fn without_extension(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((stem, extension)) if !extension.contains('/') && !stem.is_empty() && !stem.ends_with('/') => stem,
        _ => path,
    }
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

/// What is known of a file once all words are looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct FileSigns {
    /// Where its pieces stand among those that hold a word.
    pub(super) pieces: Range<usize>,
    /// Where its symbols stand among those that bear one.
    pub(super) symbols: Range<usize>,
    pub(super) terms: u64,
    pub(super) best_chunk: f64,
    pub(super) chunk_sum: f64,
    pub(super) best_symbol: f64,
    pub(super) path: f64,
    /// Whether the file's name may bear a word, 0 or 1.
    pub(super) name: f64,
    /// The share of the words' weight that the file holds somewhere.
    pub(super) coverage: f64,
}

/// Scores a place; what depends on the other places of the list is left open. The text of the piece is given where no
/// grammar has read it.
pub(super) fn score(asked: &Asked, place: &Place, gathered: &Gathered, unread: Option<&str>) -> Scores {
    let path = place.version.path.as_str();
    // As a symbol, a test block steps back; what is left is the piece of text.
    let symbol = place.symbol().filter(|symbol| symbol.kind != SymbolKind::Test || asked.kinds.contains(&symbol.kind));
    let defined = symbol.filter(|_| place.defines());
    let unknown = FileSigns::default();
    let file = gathered.file(place.version.id).unwrap_or(&unknown);
    let mut scores = known(of_path(asked, &place.version), gathered, file, place.candidate);
    scores.set(Feature::Literal, f64::from(!place.exact_lines.is_empty()));
    scores.set(Feature::ExactMatch, f64::from(symbol.is_some_and(|symbol| is_exact(asked, symbol))));
    scores.set(Feature::QualifiedName, place.symbol_score);
    let definition = |symbol: &Symbol| names_words(asked, &symbol.name) * whole(symbol);
    scores.set(Feature::Definition, defined.map_or(0.0, definition));
    scores.set(Feature::KindMatch, f64::from(symbol.is_some_and(|symbol| suits(asked, symbol))));
    scores.set(Feature::Named, defined.map_or(0.0, |symbol| is_named(asked, symbol)));
    scores.set(Feature::Public, f64::from(defined.is_some_and(|symbol| symbol.visibility == Some(Visibility::Public))));
    if place.symbol().is_some_and(|symbol| symbol.in_test) && !asked.wants_tests {
        scores.set(Feature::Test, 1.0);
    }
    if let Some(text) = unread {
        of_lines(asked, &mut scores, text);
    }
    if matches!(place.candidate, Candidate::File(_)) && asked.paths.iter().any(|(typed, _)| ends_like(path, typed)) {
        scores.set(Feature::ExactMatch, 1.0);
        scores.set(Feature::Named, 1.0);
    }
    scores
}

/// What a path and a language alone tell.
fn of_path(asked: &Asked, version: &VersionInfo) -> Scores {
    if let Some(scores) = asked.seen.borrow().get(&version.id) {
        return *scores;
    }
    let (path, language) = (version.path.as_str(), version.language.as_str());
    let mut scores = Scores::default();
    scores.set(Feature::FileName, words_of(file_stem(path), |word| asked.bears(word)));
    scores.set(Feature::PathAffinity, path_affinity(asked, path));
    scores.set(Feature::Test, f64::from(is_test_path(path) && !asked.wants_tests));
    scores.set(Feature::Example, f64::from(is_example(path) && !asked.wants_examples));
    scores.set(Feature::NotCode, f64::from(!is_code(language) && !asked.wants_prose));
    scores.set(Feature::PassesOn, f64::from(passes_on(path)));
    asked.seen.borrow_mut().insert(version.id, scores);
    scores
}

/// What lines define where there are no symbols to tell.
fn of_lines(asked: &Asked, scores: &mut Scores, text: &str) {
    let (mut named, mut definition) = (0.0f64, 0.0f64);
    for name in text.lines().filter_map(definitions::defined_name) {
        if asked.typed.contains(name) {
            named = among_words(asked);
        }
        definition = definition.max(names_words(asked, name));
    }
    scores.set(Feature::Definition, definition);
    scores.set(Feature::Named, named);
}

/// What is known of a candidate before its file is read, added to what is known of its path.
fn known(mut scores: Scores, gathered: &Gathered, file: &FileSigns, candidate: Candidate) -> Scores {
    let bm25 = match candidate {
        Candidate::Piece(version, piece) => gathered.bm25(version, piece).unwrap_or_default(),
        Candidate::Line(..) => file.best_chunk,
        Candidate::File(_) => file.path,
    };
    let agreement = if file.chunk_sum > 0.0 { 1.0 - file.best_chunk / file.chunk_sum } else { 0.0 };
    scores.raw_bm25 = bm25 * gathered.ceiling();
    scores.set(Feature::Bm25, bm25);
    scores.set(Feature::PathWords, file.path);
    scores.set(Feature::FileCoverage, file.coverage * file.coverage);
    scores.set(Feature::FileAgreement, agreement * file.coverage);
    scores
}

/// How good a candidate looks before its file's path and facts are known, in the units of [`Scores::total_units`]: of a
/// piece, what its file adds to its BM25.
pub(super) fn estimate(gathered: &Gathered, file: &FileSigns, candidate: Candidate) -> i64 {
    let mut scores = known(Scores::default(), gathered, file, candidate);
    if matches!(candidate, Candidate::File(_)) {
        scores.set(Feature::Bm25, 0.0);
    }
    scores.set(Feature::Literal, f64::from(matches!(candidate, Candidate::Line(..))));
    scores.set(Feature::FileName, file.name);
    scores.set(Feature::Named, file.best_symbol / 2.0);
    scores.total_units()
}

/// BM25 in the same units.
pub(super) fn units(bm25: f64) -> i64 {
    (bm25.clamp(0.0, 1.0) * Feature::Bm25.weight() * UNIT) as i64
}

/// The highest total that a candidate can have, in the same units.
pub(super) fn most(asked: &Asked, gathered: &Gathered, candidate: Candidate, version: &VersionInfo) -> i64 {
    let unknown = FileSigns::default();
    let file = gathered.file(version.id).unwrap_or(&unknown);
    let mut scores = known(of_path(asked, version), gathered, file, candidate);
    scores.set(Feature::Literal, f64::from(gathered.exact.lines.contains_key(&candidate.version())));
    // Where no grammar has read the code, its lines tell what they define.
    let is_unread = version.symbols == 0 && is_code(&version.language);
    let may_be_exact = !asked.paths.is_empty() || gathered.may_be_exact(version.id);
    if !asked.paths.is_empty() {
        scores.set(Feature::Named, 1.0);
    } else if !asked.typed.is_empty() && (may_be_exact || is_unread) {
        scores.set(Feature::Named, among_words(asked));
    }
    scores.set(Feature::ExactMatch, f64::from(may_be_exact));
    scores.set(Feature::Definition, f64::from(is_unread || version.symbols > 0));
    scores.set(Feature::QualifiedName, file.best_symbol);
    scores.set(Feature::KindMatch, f64::from(asked.intent == Intent::Symbol || !asked.kinds.is_empty()));
    scores.set(Feature::Public, 1.0);
    scores.total_units()
}

/// How near a path is to those that were typed and to those that are being edited.
fn path_affinity(asked: &Asked, path: &str) -> f64 {
    fn folder(path: &str) -> &str {
        path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
    let own = folder(path);
    if asked.paths.iter().any(|(typed, _)| ends_like(path, typed) || ends_like(own, typed)) {
        1.0
    } else if asked.paths.iter().any(|(typed, _)| !folder(typed).is_empty() && ends_like(own, folder(typed))) {
        0.5
    } else if asked.edited.contains(path) {
        0.4
    } else if asked.edited.iter().any(|edited| folder(edited) == own) {
        0.2
    } else {
        0.0
    }
}

/// Whether a path ends with another one, at a border between folders.
fn ends_like(path: &str, end: &str) -> bool {
    let end = end.trim_matches('/');
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')) && !end.is_empty()
}

/// Languages that are prose, data or configuration.
pub(super) fn is_code(language: &str) -> bool {
    const OTHER: &[&str] = &[
        "text",
        "markdown",
        "json",
        "yaml",
        "toml",
        "xml",
        "html",
        "css",
        "ini",
        "csv",
        "rst",
        "restructuredtext",
        "lock",
        "svg",
    ];
    !OTHER.contains(&language)
}

/// Whether a symbol bears a name that was typed as one, and is what it names rather than a part or an extension of it.
fn is_named(asked: &Asked, symbol: &Symbol) -> f64 {
    if !asked.typed.contains(&symbol.name) || symbol.kind == SymbolKind::Test {
        return 0.0;
    }
    whole(symbol) * among_words(asked)
}

/// How much a symbol is what its name means: `mod x;` only says that there is one.
fn whole(symbol: &Symbol) -> f64 {
    match symbol.kind {
        SymbolKind::Module if symbol.lines.start == symbol.lines.end => wholeness(SymbolKind::Use),
        kind => wholeness(kind),
    }
}

/// Among other words a name is one hint of several.
fn among_words(asked: &Asked) -> f64 {
    if asked.intent == Intent::Symbol { 1.0 } else { 0.25 }
}

/// How much a symbol of this kind is what its name means, rather than a part or an extension of it.
pub(crate) fn wholeness(kind: SymbolKind) -> f64 {
    match kind {
        SymbolKind::Impl | SymbolKind::Use => 0.2,
        SymbolKind::Field | SymbolKind::Variant => 0.5,
        _ => 1.0,
    }
}

/// A title is no name, and no word of the index tells which files have it.
fn is_exact(asked: &Asked, symbol: &Symbol) -> bool {
    if symbol.kind == SymbolKind::Test {
        return false;
    }
    let name = symbol.name.to_lowercase();
    asked.names.contains(&name) || (asked.joined.len() > 3 && name.replace('_', "") == asked.joined)
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

/// The share of a name's words that were asked for.
fn names_words(asked: &Asked, name: &str) -> f64 {
    words_of(name, |word| f64::from(asked.knows(word)))
}

/// What the words of a name are worth in the mean.
fn words_of(name: &str, worth: impl Fn(&str) -> f64) -> f64 {
    let all: Vec<String> = tokens(name).map(str::to_lowercase).collect();
    let parts = if all.len() > 1 { &all[1..] } else { &all[..] };
    if parts.is_empty() {
        return 0.0;
    }
    parts.iter().map(|part| worth(part)).sum::<f64>() / parts.len() as f64
}

/// Whether the kind is the one that was asked for or, for a single name, that its spelling suggests.
fn suits(asked: &Asked, symbol: &Symbol) -> bool {
    use SymbolKind as K;
    let is_type = matches!(symbol.kind, K::Struct | K::Class | K::Enum | K::Trait | K::Interface | K::Type | K::Union);
    match asked.kinds.as_slice() {
        [] => asked.intent == Intent::Symbol && is_type == asked.capitalised,
        kinds => kinds.contains(&symbol.kind),
    }
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
    match stem {
        // Files that are named for their folder.
        "mod" | "lib" | "main" | "index" | "init" | "__init__" => path.rsplit('/').nth(1).unwrap_or(stem),
        _ => stem,
    }
}

fn folders_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether a folder bears one of the names, whatever its case.
fn lies_in(folders: &str, names: &[&str]) -> bool {
    folders.split('/').any(|folder| names.iter().any(|name| folder.eq_ignore_ascii_case(name)))
}

/// Whether a path is that of an example, a benchmark or a fixture.
pub(crate) fn is_example(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "example",
        "examples",
        "_examples",
        "benches",
        "benchmark",
        "benchmarks",
        "demo",
        "demos",
        "fixtures",
        "samples",
    ];
    lies_in(folders_and_name(path).0, NAMES)
}

/// Whether a path is that of a file that mostly passes on what stands elsewhere, or of a stub.
pub(crate) fn passes_on(path: &str) -> bool {
    let (folders, file) = folders_and_name(path);
    let ends = |end: &str| {
        let at = file.len().checked_sub(end.len());
        at.and_then(|at| file.get(at..)).is_some_and(|found| found.eq_ignore_ascii_case(end))
    };
    file.eq_ignore_ascii_case("__init__.py")
        || ends(".pyi")
        || ends(".d.ts")
        || lies_in(folders, &["compat", "deprecated", "legacy"])
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

    #[test]
    fn paths_end_alike_at_borders_only() {
        for (path, end, expected) in [
            ("src/auth/jwt.rs", "jwt.rs", true),
            ("src/auth/jwt.rs", "auth/jwt.rs", true),
            ("src/auth/jwt.rs", "wt.rs", false),
            ("jwt.rs", "jwt.rs", true),
            ("jwt.rs", "/", false),
        ] {
            assert_eq!(ends_like(path, end), expected, "{path} {end}");
        }
    }
}
