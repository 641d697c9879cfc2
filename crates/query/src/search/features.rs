//! What makes a place the right one: named features, their weights, and nothing else.
//!
//! Each feature is a number from 0 to 1 and each weight says what it is worth at most; a total is their sum of products.
//! The five weights of the contract are its upper ends. The others were set on a development set of questions over real
//! repositories, coarsely, because what is fitted to single questions does not hold for the next ones.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use codecompass_model::{Symbol, SymbolKind};
use codecompass_store::tokens;

use super::terms::{self, Word};
use super::{Intent, Place};

/// What each feature is worth at most. Negative ones only take away.
mod weight {
    /// The words of the question in the piece, by BM25 over the highest score there could be.
    pub(super) const BM25: f64 = 1.0;
    /// The symbol bears exactly the name that was asked for.
    pub(super) const EXACT_MATCH: f64 = 0.2;
    /// The words in the symbol's qualified name.
    pub(super) const QUALIFIED_NAME: f64 = 0.1;
    /// The words in the path.
    pub(super) const PATH_AFFINITY: f64 = 0.1;
    /// The piece defines what the words name.
    pub(super) const DEFINITION: f64 = 0.15;
    /// The symbol is of the kind that the spelling suggests.
    pub(super) const KIND_MATCH: f64 = 0.05;
    /// The piece defines a name that was typed as one.
    pub(super) const NAMED: f64 = 0.8;
    /// The words in the file's own name.
    pub(super) const FILE_NAME: f64 = 0.5;
    /// All words together somewhere in the file.
    pub(super) const FILE_COVERAGE: f64 = 0.3;
    /// Several pieces of the file match.
    pub(super) const FILE_AGREEMENT: f64 = 0.3;
    /// Tests, when nobody asked for tests.
    pub(super) const TEST: f64 = -0.5;
    /// Examples, benchmarks, fixtures.
    pub(super) const EXAMPLE: f64 = -0.4;
    /// Prose, data and configuration, when the question is about code.
    pub(super) const NOT_CODE: f64 = -0.5;
    /// Files that mostly pass on what stands elsewhere, and stubs.
    pub(super) const PASSES_ON: f64 = -0.1;
    /// Each further piece of a file that is in the list already.
    pub(super) const REPEAT: f64 = -0.2;
}

/// What each feature adds to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contributions {
    /// See the weights above; all of them are parts of one sum.
    pub bm25: f64,
    /// The exact name.
    pub exact_match: f64,
    /// The qualified name.
    pub qualified_name: f64,
    /// The path.
    pub path_affinity: f64,
    /// The definition.
    pub definition_boost: f64,
    /// The kind.
    pub kind_match: f64,
    /// The definition of a name that was typed.
    pub named_definition: f64,
    /// The file's own name.
    pub file_name: f64,
    /// All words in the file.
    pub file_coverage: f64,
    /// Many pieces of the file.
    pub file_agreement: f64,
    /// Tests, examples, prose, stubs: taken away.
    pub demotion: f64,
    /// Further pieces of one file: taken away.
    pub repeats: f64,
}

impl Contributions {
    /// The sum, in the order of the fields.
    pub fn total(&self) -> f64 {
        self.bm25
            + self.exact_match
            + self.qualified_name
            + self.path_affinity
            + self.definition_boost
            + self.kind_match
            + self.named_definition
            + self.file_name
            + self.file_coverage
            + self.file_agreement
            + self.demotion
            + self.repeats
    }

    /// The total as a number from 0 to 1 that grows with it; a total of a half is a half.
    pub fn confidence(&self) -> f64 {
        let total = self.total().max(0.0);
        total / (total + 0.5)
    }
}

/// The features themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reasons {
    /// 1 when the symbol bears exactly the name that was asked for.
    pub exact_match: f64,
    /// How well the qualified name bears the words.
    pub qualified_name: f64,
    /// How well the path bears them.
    pub path_affinity: f64,
    /// How much of a definition of the words the piece is.
    pub definition: f64,
    /// Whether the kind is the one the spelling suggests.
    pub kind_match: f64,
    /// BM25 as it is.
    pub raw_bm25: f64,
}

/// The question as far as features look at it.
pub(super) struct Asked {
    /// Names that were typed, last segments, in lower case.
    names: HashSet<String>,
    /// Those of them that are spelt like names in code, as they were typed.
    typed: HashSet<String>,
    /// All words in one, for names that are spelt apart.
    joined: String,
    /// Stems of the words.
    pub(super) stems: Rc<HashSet<String>>,
    intent: Intent,
    capitalised: bool,
    wants_tests: bool,
    wants_examples: bool,
    wants_prose: bool,
}

impl Asked {
    pub(super) fn new(query: &str, intent: Intent, words: &[Word]) -> Self {
        let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.text.as_str()));
        let names = query.split_whitespace().map(last_name).filter(|name| !name.is_empty());
        let plain = words.iter().filter(|word| word.weight == 1.0);
        let is_name = |name: &&str| {
            intent == Intent::Symbol
                || name.contains('_')
                || name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase)
        };
        Self {
            typed: names.clone().filter(is_name).map(str::to_owned).collect(),
            names: names.map(|name| name.to_lowercase()).collect(),
            joined: plain.map(|word| word.text.replace('_', "")).collect(),
            stems: Rc::new(words.iter().map(|word| terms::stem(&word.text).to_owned()).collect()),
            intent,
            capitalised: last_name(query).starts_with(char::is_uppercase),
            wants_tests: any(&["test", "tests", "testing", "spec", "unittest", "fixture", "mock"]),
            wants_examples: any(&["example", "examples", "demo", "sample", "benchmark", "bench"]),
            wants_prose: intent == Intent::Path
                || any(&["readme", "docs", "documentation", "changelog", "config", "license", "workflow", "ci"]),
        }
    }

    fn knows(&self, word: &str) -> bool {
        self.stems.contains(terms::stem(word))
    }
}

fn last_name(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
    word.rsplit([':', '.', '#', '/']).next().unwrap_or(word)
}

/// What is known of a file once all words are looked up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileSigns {
    pub(super) terms: u64,
    pub(super) best_chunk: f64,
    pub(super) chunk_sum: f64,
    pub(super) best_symbol: f64,
    pub(super) path: f64,
    /// The share of the words' weight that the file holds somewhere.
    pub(super) coverage: f64,
}

/// What is known of a place.
pub(super) struct PlaceSigns<'p> {
    pub(super) path: &'p str,
    pub(super) symbol: Option<&'p Symbol>,
    pub(super) defined_here: bool,
    pub(super) bm25: f64,
    pub(super) raw_bm25: f64,
    pub(super) symbol_score: f64,
    pub(super) file: &'p FileSigns,
    pub(super) is_code: bool,
}

/// Scores a place.
pub(super) fn score(asked: &Asked, signs: &PlaceSigns<'_>) -> (Contributions, Reasons) {
    let reasons = Reasons {
        exact_match: f64::from(signs.symbol.is_some_and(|symbol| is_exact(asked, symbol))),
        qualified_name: signs.symbol_score,
        path_affinity: signs.file.path,
        definition: signs.symbol.filter(|_| signs.defined_here).map_or(0.0, |symbol| names_words(asked, &symbol.name)),
        kind_match: f64::from(
            asked.intent == Intent::Symbol && signs.symbol.is_some_and(|symbol| suits(asked, symbol)),
        ),
        raw_bm25: signs.raw_bm25,
    };
    let stem = file_stem(signs.path);
    let agreement = if signs.file.chunk_sum > 0.0 { 1.0 - signs.file.best_chunk / signs.file.chunk_sum } else { 0.0 };
    let contributions = Contributions {
        bm25: weight::BM25 * signs.bm25,
        exact_match: weight::EXACT_MATCH * reasons.exact_match,
        qualified_name: weight::QUALIFIED_NAME * reasons.qualified_name,
        path_affinity: weight::PATH_AFFINITY * reasons.path_affinity,
        definition_boost: weight::DEFINITION * reasons.definition,
        kind_match: weight::KIND_MATCH * reasons.kind_match,
        named_definition: weight::NAMED
            * signs.symbol.filter(|_| signs.defined_here).map_or(0.0, |symbol| is_named(asked, symbol)),
        file_name: weight::FILE_NAME * names_words(asked, stem),
        file_coverage: weight::FILE_COVERAGE * signs.file.coverage * signs.file.coverage,
        file_agreement: weight::FILE_AGREEMENT * agreement * signs.file.coverage,
        demotion: demotion(asked, signs),
        repeats: 0.0,
    };
    (contributions, reasons)
}

/// Whether a symbol bears a name that was typed as one, and is what it names rather than a part or an extension of it.
fn is_named(asked: &Asked, symbol: &Symbol) -> f64 {
    if !asked.typed.contains(&symbol.name) {
        return 0.0;
    }
    let whole = match symbol.kind {
        SymbolKind::Impl | SymbolKind::Use => 0.2,
        SymbolKind::Field | SymbolKind::Variant => 0.5,
        _ => 1.0,
    };
    // Among other words a name is one hint of several.
    if asked.intent == Intent::Symbol { whole } else { whole / 4.0 }
}

fn is_exact(asked: &Asked, symbol: &Symbol) -> bool {
    let name = symbol.name.to_lowercase();
    asked.names.contains(&name) || (asked.joined.len() > 3 && name.replace('_', "") == asked.joined)
}

/// How many different words of a line were asked for.
pub(super) fn known_words(stems: &HashSet<String>, line: &str) -> usize {
    let words: HashSet<String> = tokens(line).map(|word| terms::stem(&word.to_lowercase()).to_owned()).collect();
    words.intersection(stems).count()
}

/// The share of a name's words that were asked for.
fn names_words(asked: &Asked, name: &str) -> f64 {
    let all: Vec<String> = tokens(name).map(str::to_lowercase).collect();
    let parts = if all.len() > 1 { &all[1..] } else { &all[..] };
    if parts.is_empty() {
        return 0.0;
    }
    parts.iter().filter(|part| asked.knows(part)).count() as f64 / parts.len() as f64
}

fn suits(asked: &Asked, symbol: &Symbol) -> bool {
    use SymbolKind as K;
    let is_type = matches!(symbol.kind, K::Struct | K::Class | K::Enum | K::Trait | K::Interface | K::Type | K::Union);
    is_type == asked.capitalised
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
    match stem {
        // Files that are named for their folder.
        "mod" | "lib" | "main" | "index" | "__init__" => path.rsplit('/').nth(1).unwrap_or(stem),
        _ => stem,
    }
}

fn demotion(asked: &Asked, signs: &PlaceSigns<'_>) -> f64 {
    let lower = signs.path.to_lowercase();
    let folders: Vec<&str> = lower.split('/').collect();
    let has = |names: &[&str]| folders.iter().rev().skip(1).any(|folder| names.contains(folder));
    let file = folders.last().copied().unwrap_or("");
    let is_test = has(&["test", "tests", "testing", "__tests__", "spec", "specs", "testdata", "test_utils", "e2e"])
        || file.starts_with("test_")
        || file.contains("_test.")
        || file.contains(".test.")
        || file.contains(".spec.")
        || file.contains("_spec.")
        || file.starts_with("conftest");
    let is_example = has(&[
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
    ]);
    let passes_on = file == "__init__.py"
        || file.ends_with(".pyi")
        || file.ends_with(".d.ts")
        || has(&["compat", "deprecated", "legacy"]);
    let mut demotion = 0.0;
    if is_test && !asked.wants_tests {
        demotion += weight::TEST;
    }
    if is_example && !asked.wants_examples {
        demotion += weight::EXAMPLE;
    }
    if !signs.is_code && !asked.wants_prose {
        demotion += weight::NOT_CODE;
    }
    if passes_on {
        demotion += weight::PASSES_ON;
    }
    demotion
}

/// Puts places in order: by total, then path, then line; further pieces of one file step back.
pub(super) fn rank(places: &mut [Place]) {
    sort(places);
    let mut seen: HashMap<u32, u32> = HashMap::new();
    for place in places.iter_mut() {
        let before = seen.entry(place.version.id).or_default();
        place.contributions.repeats = weight::REPEAT * f64::from((*before).min(4));
        *before += 1;
    }
    sort(places);
}

fn sort(places: &mut [Place]) {
    places.sort_by(|a, b| {
        let place = |place: &Place| (place.version.path.clone(), place.chunk.lines.start);
        b.total().total_cmp(&a.total()).then_with(|| place(a).cmp(&place(b)))
    });
}
