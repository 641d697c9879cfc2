//! What makes a place the right one: the features of [`crate::score`], worked out.
//!
//! Some are known of a file once words were looked up, some of a record, some when the path is known, and the rest when the
//! symbol is read. Before it is read, each of the rest has a most it can be: that gives the bounds that ranking goes by.

use std::ops::Range;

use codecompass_model::{Symbol, SymbolKind, Visibility};
use codecompass_store::VersionInfo;

use super::asked::{Asked, words_of};
use super::gather::{Candidate, Gathered};
use super::long::Frame;
use super::paths::{ends_like, file_stem, is_code, is_meant, shares_end};
pub(crate) use super::paths::{is_example, is_test, passes_on};
use super::{Intent, Place, definitions};
use crate::score::{Feature, Scores};

/// What is known of a file once all words are looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct FileSigns {
    /// Where its symbols stand among those that hold a word.
    pub(super) symbols: Range<usize>,
    /// Where its pieces stand among those that hold one.
    pub(super) pieces: Range<usize>,
    /// The best of them and their sum, by BM25 over the ceiling.
    pub(super) best: f64,
    pub(super) sum: f64,
    /// BM25 of its whole text.
    pub(super) text: f64,
    /// BM25 of its path.
    pub(super) path: f64,
    /// Whether the file's name may bear a word, 0 or 1.
    pub(super) name: f64,
    /// The share of the words' weight that the file holds somewhere.
    pub(super) coverage: f64,
}

/// What is known of a record before its file is read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordSigns {
    /// BM25 over the ceiling.
    pub(super) bm25: f64,
    /// The terms that it holds.
    pub(super) terms: u64,
    /// Those in its name.
    pub(super) in_name: u64,
    /// The share of the question's weight that it holds.
    pub(super) coverage: f64,
    /// Whether its name may be exactly what was asked for.
    pub(super) may_be_exact: bool,
}

/// Of what a file tells, so much counts for a symbol in it: it speaks for itself. Where there are no symbols, the file is most
/// of what is known.
const NAME_FOR_SYMBOLS: f64 = 0.35;
const AGREEMENT_FOR_SYMBOLS: f64 = 0.27;

/// And so much counts for a piece of text of what it holds, and of the text around it.
const COVERAGE_OF_PIECES: f64 = 0.5;
const TEXT_AROUND_PIECES: f64 = 0.5;

/// A symbol of so many lines is as long as any.
const LONG: f64 = 400.0;

/// Scores a place; what depends on the other places of the list is left open. The text of a piece is given where no grammar
/// has read it.
pub(super) fn score(asked: &Asked, place: &Place, gathered: &Gathered, unread: Option<&str>) -> Scores {
    let record = gathered.record(place.candidate);
    let is_symbol = matches!(place.candidate, Candidate::Symbol(..));
    let file = gathered.file(place.version.id);
    let mut scores = of_path(asked, gathered, &place.version, is_symbol);
    of_file(&mut scores, file, is_symbol);
    of_record(&mut scores, gathered, &record, is_symbol);
    scores.set(Feature::Literal, if place.exact_lines.is_empty() { 0.0 } else { gathered.exact.worth });
    if let Some(symbol) = place.symbol() {
        of_symbol(&mut scores, asked, gathered, place, symbol, &record);
    }
    if let Some(text) = unread {
        of_lines(asked, &mut scores, text);
    }
    if matches!(place.candidate, Candidate::File(_)) {
        of_whole_file(&mut scores, asked, gathered, place, file);
    }
    scores
}

fn of_symbol(
    scores: &mut Scores,
    asked: &Asked,
    gathered: &Gathered,
    place: &Place,
    symbol: &Symbol,
    record: &RecordSigns,
) {
    let is_exact = record.may_be_exact && is_exact(asked, symbol);
    let precision = names_words(asked, &symbol.name) * whole(symbol);
    scores.set(Feature::ExactMatch, f64::from(is_exact));
    scores.set(Feature::QualifiedName, qualified(asked, gathered, symbol).min(record.coverage));
    scores.set(Feature::Definition, (precision * gathered.share_of(record.in_name)).sqrt());
    scores.set(Feature::KindMatch, f64::from(suits(asked, symbol)));
    scores.set(Feature::Named, if record.may_be_exact { is_named(asked, symbol) } else { 0.0 });
    scores.set(Feature::Public, f64::from(symbol.visibility == Some(Visibility::Public)));
    scores.set(Feature::Minor, if asked.kinds.is_empty() && !is_exact { minor(symbol) } else { 0.0 });
    scores.set(Feature::Size, f64::from(symbol.lines.end - symbol.lines.start + 1).ln() / LONG.ln());
    scores.set(Feature::Frame, frames(asked, &place.version.path, symbol));
    if place.is_in_tests() && !asked.wants_tests {
        scores.set(Feature::Test, 1.0);
    }
}

fn of_whole_file(scores: &mut Scores, asked: &Asked, gathered: &Gathered, place: &Place, file: &FileSigns) {
    scores.set(Feature::Bm25, file.path);
    scores.raw_bm25 = file.path * gathered.ceiling();
    if asked.paths.iter().any(|(typed, _)| is_meant(&place.version.path, typed)) {
        scores.set(Feature::ExactMatch, 1.0);
        scores.set(Feature::Named, 1.0);
    }
}

/// What a path and a language alone tell.
fn of_path(asked: &Asked, gathered: &Gathered, version: &VersionInfo, is_symbol: bool) -> Scores {
    let known = asked.seen.borrow().get(&version.id).copied();
    let mut scores = known.unwrap_or_else(|| {
        let (path, language) = (version.path.as_str(), version.language.as_str());
        let mut scores = Scores::default();
        scores.set(Feature::FileName, words_of(file_stem(path), |word| asked.bears(word)));
        scores.set(Feature::FileNameWords, gathered.share_of(asked.terms_in(file_stem(path))));
        scores.set(Feature::PathAffinity, path_affinity(asked, path));
        scores.set(Feature::Test, f64::from(is_test(path) && !asked.wants_tests));
        scores.set(Feature::Example, f64::from(is_example(path) && !asked.wants_examples));
        scores.set(Feature::NotCode, f64::from(!is_code(language) && !asked.wants_prose));
        scores.set(Feature::PassesOn, f64::from(passes_on(path)));
        asked.seen.borrow_mut().insert(version.id, scores);
        scores
    });
    if is_symbol {
        scores.set(Feature::FileName, scores.value(Feature::FileName) * NAME_FOR_SYMBOLS);
    }
    scores
}

/// What a file's words tell of all that is in it.
fn of_file(scores: &mut Scores, file: &FileSigns, is_symbol: bool) {
    let agreement = if file.sum > 0.0 { 1.0 - file.best / file.sum } else { 0.0 };
    let (around, together) = if is_symbol { (1.0, AGREEMENT_FOR_SYMBOLS) } else { (TEXT_AROUND_PIECES, 1.0) };
    scores.set(Feature::FileText, file.text * around);
    scores.set(Feature::PathWords, file.path);
    scores.set(Feature::FileCoverage, if is_symbol { 0.0 } else { file.coverage * file.coverage });
    scores.set(Feature::FileAgreement, agreement * file.coverage * together);
}

/// What a record's own words tell.
fn of_record(scores: &mut Scores, gathered: &Gathered, record: &RecordSigns, is_symbol: bool) {
    let coverage = record.coverage * record.coverage;
    scores.raw_bm25 = record.bm25 * gathered.ceiling();
    scores.set(Feature::Bm25, record.bm25);
    scores.set(Feature::Coverage, if is_symbol { coverage } else { coverage * COVERAGE_OF_PIECES });
    scores.set(Feature::NameWords, gathered.share_of(record.in_name));
    scores.set(Feature::Symbol, f64::from(is_symbol));
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

/// The highest total that anything in a file can have, in the units of [`Scores::total_units`], while not even its path
/// is known.
pub(super) fn most_of_file(asked: &Asked, gathered: &Gathered, file: &FileSigns) -> i64 {
    let best = gathered.best_record(file);
    let mut most = i64::MIN;
    for is_symbol in [true, false] {
        let mut scores = Scores::default();
        scores.set(Feature::FileName, if is_symbol { file.name * NAME_FOR_SYMBOLS } else { file.name });
        scores.set(Feature::FileNameWords, file.name);
        scores.set(Feature::PathAffinity, f64::from(!asked.paths.is_empty() || !asked.edited.is_empty()));
        of_file(&mut scores, file, is_symbol);
        most = most.max(most_with(scores, asked, gathered, &best, (is_symbol, true)));
    }
    most
}

/// The same once its path is known.
pub(super) fn most_at_path(asked: &Asked, gathered: &Gathered, version: &VersionInfo) -> i64 {
    let best = gathered.best_record(gathered.file(version.id));
    let most = |is_symbol| most_here(asked, gathered, version, &best, is_symbol);
    most(true).max(most(false))
}

/// The highest total that one candidate can have.
pub(super) fn most_of(asked: &Asked, gathered: &Gathered, candidate: Candidate, version: &VersionInfo) -> i64 {
    let is_symbol = matches!(candidate, Candidate::Symbol(..));
    most_here(asked, gathered, version, &gathered.record(candidate), is_symbol)
}

fn most_here(asked: &Asked, gathered: &Gathered, version: &VersionInfo, record: &RecordSigns, is_symbol: bool) -> i64 {
    // Where no grammar has read the code, its lines tell what they define.
    let is_unread = version.symbols == 0 && is_code(&version.language);
    let mut scores = of_path(asked, gathered, version, is_symbol);
    of_file(&mut scores, gathered.file(version.id), is_symbol);
    most_with(scores, asked, gathered, record, (is_symbol, is_unread))
}

/// Adds to what is known of a file the most that a record with these signs can have.
fn most_with(
    mut scores: Scores,
    asked: &Asked,
    gathered: &Gathered,
    record: &RecordSigns,
    (is_symbol, is_unread): (bool, bool),
) -> i64 {
    of_record(&mut scores, gathered, record, is_symbol);
    let has_paths = !asked.paths.is_empty();
    scores.set(Feature::Bm25, if gathered.with_files() { 1.0 } else { record.bm25 });
    scores.set(Feature::Literal, if gathered.has_exact() { gathered.exact.worth } else { 0.0 });
    scores.set(Feature::ExactMatch, f64::from(record.may_be_exact || has_paths));
    // A line that was asked for stands in a symbol.
    let is_symbol = is_symbol || has_paths;
    if is_symbol {
        scores.set(Feature::QualifiedName, record.coverage);
        scores.set(Feature::Definition, gathered.share_of(record.in_name).sqrt());
        scores.set(Feature::KindMatch, f64::from(asked.intent == Intent::Symbol || !asked.kinds.is_empty()));
        scores.set(Feature::Public, 1.0);
        scores.set(Feature::Size, 1.0);
        scores.set(Feature::Frame, f64::from(!asked.frames.is_empty()));
    }
    if is_unread {
        scores.set(Feature::Definition, 1.0);
    }
    if has_paths || record.may_be_exact {
        scores.set(Feature::Named, 1.0);
    } else if is_unread && !asked.typed.is_empty() {
        scores.set(Feature::Named, among_words(asked));
    }
    scores.total_units()
}

/// How near a path is to those that were typed and to those that are being edited.
fn path_affinity(asked: &Asked, path: &str) -> f64 {
    fn folder(path: &str) -> &str {
        path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
    let own = folder(path);
    if asked.paths.iter().any(|(typed, _)| is_meant(path, typed) || ends_like(own, typed)) {
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

/// Whether a trace passed through a symbol: by the line it names in this file, or by the function.
fn frames(asked: &Asked, path: &str, symbol: &Symbol) -> f64 {
    let worth = |frame: &Frame| {
        let is_here = frame.path.as_deref().is_some_and(|printed| is_meant(path, printed) || shares_end(path, printed));
        let has_line = frame.line.is_some_and(|line| (symbol.lines.start..=symbol.lines.end).contains(&line));
        let is_named = frame.name.as_deref() == Some(symbol.name.as_str());
        match (is_here, is_named, has_line) {
            (true, true, _) => 1.0,
            (true, false, true) => 0.7,
            // Another version of the file may have other lines.
            (false, true, _) if frame.path.is_none() => 0.5,
            _ => 0.0,
        }
    };
    asked.frames.iter().map(worth).fold(0.0, f64::max)
}

/// Whether a symbol bears a name that was typed as one, and is what it names rather than a part or an extension of it.
fn is_named(asked: &Asked, symbol: &Symbol) -> f64 {
    if !asked.typed.contains(&symbol.name) {
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

/// How little a symbol tells for itself: it is a part of another, or only says that something is there.
fn minor(symbol: &Symbol) -> f64 {
    match symbol.kind {
        SymbolKind::Field | SymbolKind::Variant => 1.0,
        SymbolKind::Impl | SymbolKind::Module | SymbolKind::Namespace => 0.5,
        SymbolKind::Var | SymbolKind::Const | SymbolKind::Static | SymbolKind::Property => 0.5,
        _ => 0.0,
    }
}

fn is_exact(asked: &Asked, symbol: &Symbol) -> bool {
    let name = symbol.name.to_lowercase();
    asked.names.contains(&name) || (asked.joined.len() > 3 && name.replace('_', "") == asked.joined)
}

/// The share of a name's words that were asked for.
fn names_words(asked: &Asked, name: &str) -> f64 {
    words_of(name, |word| f64::from(asked.knows(word)))
}

/// The share of the question's weight that a symbol's qualified name bears.
fn qualified(asked: &Asked, gathered: &Gathered, symbol: &Symbol) -> f64 {
    gathered.share_of(asked.terms_in(&symbol.qualified_name))
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
