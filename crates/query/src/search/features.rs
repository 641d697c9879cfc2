//! Computes the features of [`crate::score`] for search hits.
//!
//! Some are known for a file after term lookup, some for a record, some once the path is known, and the rest when the
//! symbol is read. Before that, each of the rest has a maximum, which gives the upper bounds that ranking uses.

use codecompass_model::{Symbol, SymbolKind, VersionId};
use codecompass_store::{Glance, VersionInfo};

use super::Intent;
use super::asked::{Asked, LEAST_JOINED, words_of};
use super::gather::Gathered;
use super::long::Frame;
use super::paths::{ends_like, file_stem, is_meant, shares_end};
pub(crate) use super::paths::{is_example, passes_on};
use super::place::Place;
use super::signs::{Candidate, FileSigns, RecordSigns};
use crate::score::{Feature, Scores};

/// The shares of a file's name and agreement scores that count for a symbol in it, because a symbol has evidence of its
/// own. Where there are no symbols, the file is most of the evidence.
const NAME_FOR_SYMBOLS: f64 = 0.35;
const AGREEMENT_FOR_SYMBOLS: f64 = 0.27;

/// The shares of its own coverage and of the file's text score that count for a chunk.
const COVERAGE_OF_PIECES: f64 = 0.5;
const TEXT_AROUND_PIECES: f64 = 0.5;

/// Scores a search hit, except for features that depend on other hits in the list. `unread` is the text of a chunk that
/// no grammar has parsed.
pub(super) fn score(asked: &Asked, place: &Place, gathered: &Gathered, unread: Option<&str>) -> Scores {
    let record = gathered.record(place.candidate);
    let is_symbol = matches!(place.candidate, Candidate::Symbol(..));
    let file = gathered.file(place.version.id);
    let mut scores = of_path(asked, gathered, &place.version, is_symbol);
    of_file(&mut scores, file, is_symbol);
    of_record(&mut scores, gathered, &record, is_symbol);
    scores.set(Feature::Literal, if place.exact_lines.is_empty() { 0.0 } else { gathered.exact.worth });
    // A landmark that encloses a chunk gives its location, but does not contribute to its score.
    if let Some(symbol) = place.symbol().filter(|_| !matches!(place.candidate, Candidate::Piece(..))) {
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
    let glance = Glance::of(symbol);
    let precision = record.precision * whole(glance);
    scores.set(Feature::ExactMatch, f64::from(is_exact));
    if is_exact && names_one(asked) {
        scores.set(Feature::Bm25, 1.0);
    }
    scores.set(Feature::QualifiedName, qualified(asked, gathered, symbol).min(record.coverage));
    scores.set(Feature::Definition, (precision * record.name_share).sqrt());
    scores.set(Feature::Named, if record.may_be_exact { is_named(asked, symbol) } else { 0.0 });
    scores.set(Feature::Frame, frames(asked, &place.version.path, symbol));
    of_glance(scores, asked, glance, is_exact);
}

/// Sets the features that are known from the symbol payload.
fn of_glance(scores: &mut Scores, asked: &Asked, glance: Glance, is_exact: bool) {
    scores.set(Feature::KindMatch, f64::from(suits(asked, glance)));
    scores.set(Feature::Public, f64::from(glance.is_public()));
    scores.set(Feature::Minor, if asked.kinds.is_empty() && !is_exact { minor(glance) } else { 0.0 });
    scores.set(Feature::Size, glance.size());
    if glance.in_test() && !asked.wants_tests {
        scores.set(Feature::Test, 1.0);
    }
}

fn of_whole_file(scores: &mut Scores, asked: &Asked, gathered: &Gathered, place: &Place, file: &FileSigns) {
    scores.set(Feature::Bm25, file.path);
    scores.raw_bm25 = file.path * gathered.ceiling();
    if asked.names_path(&place.version.path) {
        scores.set(Feature::ExactMatch, 1.0);
        scores.set(Feature::Named, 1.0);
    }
}

/// Returns the scores that depend on the path and the language only.
fn of_path(asked: &Asked, gathered: &Gathered, version: &VersionInfo, is_symbol: bool) -> Scores {
    let known = asked.seen.borrow().get(&version.id).copied();
    let mut scores = known.unwrap_or_else(|| {
        let (path, languages) = (version.path.as_str(), asked.languages);
        let stem = file_stem(languages, path);
        let mut scores = Scores::default();
        scores.set(Feature::FileName, words_of(stem, |word| asked.bears(word)));
        scores.set(Feature::FileNameWords, gathered.share_of(asked.terms_in(stem)));
        scores.set(Feature::PathAffinity, path_affinity(asked, path));
        scores.set(Feature::Test, f64::from(languages.is_test_path(path) && !asked.wants_tests));
        scores.set(Feature::Example, f64::from(is_example(path) && !asked.wants_examples));
        scores.set(Feature::NotCode, f64::from(!languages.is_code(&version.language) && !asked.wants_prose));
        scores.set(Feature::PassesOn, f64::from(passes_on(languages, path)));
        asked.seen.borrow_mut().insert(version.id, scores);
        scores
    });
    if is_symbol {
        scores.set(Feature::FileName, scores.value(Feature::FileName) * NAME_FOR_SYMBOLS);
    }
    let is_wanted = if asked.wants_docs { !asked.languages.is_code(&version.language) } else { is_symbol };
    scores.set(Feature::Form, f64::from(is_wanted));
    scores
}

/// Sets the features that the words of a file give to everything in it.
fn of_file(scores: &mut Scores, file: &FileSigns, is_symbol: bool) {
    let agreement = if file.sum > 0.0 { 1.0 - file.best / file.sum } else { 0.0 };
    let (around, together) = if is_symbol { (1.0, AGREEMENT_FOR_SYMBOLS) } else { (TEXT_AROUND_PIECES, 1.0) };
    scores.set(Feature::FileText, file.text * around);
    scores.set(Feature::PathWords, file.path);
    scores.set(Feature::FileCoverage, if is_symbol { 0.0 } else { file.coverage * file.coverage });
    scores.set(Feature::FileAgreement, agreement * file.coverage * together);
}

/// Sets the features from the record's own words.
fn of_record(scores: &mut Scores, gathered: &Gathered, record: &RecordSigns, is_symbol: bool) {
    let coverage = record.coverage * record.coverage;
    scores.raw_bm25 = record.bm25 * gathered.ceiling();
    scores.set(Feature::Bm25, record.bm25);
    scores.set(Feature::Coverage, if is_symbol { coverage } else { coverage * COVERAGE_OF_PIECES });
    scores.set(Feature::NameWords, record.name_share);
}

/// Sets the features from definitions in lines, for text without symbols.
fn of_lines(asked: &Asked, scores: &mut Scores, text: &str) {
    let (mut named, mut definition) = (0.0f64, 0.0f64);
    for name in text.lines().filter_map(|line| asked.languages.defined_name(line)) {
        if asked.typed.contains(name) {
            named = among_words(asked);
        }
        definition = definition.max(names_words(asked, name));
    }
    scores.set(Feature::Definition, definition);
    scores.set(Feature::Named, named);
}

/// Returns an upper bound for the total of anything in a file, in the units of [`Scores::total_units`], before its path
/// is known.
pub(super) fn upper_bound_of_file(asked: &Asked, gathered: &Gathered, file: &FileSigns) -> i64 {
    let best = gathered.best_record(file);
    let is_unread = file.may_be_unread;
    let bound = |is_symbol| {
        upper_bound_with(before_path(asked, file, is_symbol), asked, gathered, &best, (is_symbol, is_unread))
    };
    bound(true).max(bound(false))
}

/// Returns the same after reading each of its records. It is tighter, because no single record has the maximum of
/// everything.
pub(super) fn upper_bound_of_records(asked: &Asked, gathered: &Gathered, version: VersionId) -> i64 {
    let file = gathered.file(version);
    upper_bound_in(asked, gathered, version, |is_symbol| before_path(asked, file, is_symbol), file.may_be_unread)
}

/// Returns the same once the path is known.
pub(super) fn upper_bound_at_path(asked: &Asked, gathered: &Gathered, version: &VersionInfo) -> i64 {
    let at_path = |is_symbol| {
        let mut scores = of_path(asked, gathered, version, is_symbol);
        of_file(&mut scores, gathered.file(version.id), is_symbol);
        scores
    };
    upper_bound_in(asked, gathered, version.id, at_path, is_unread(asked, version))
}

/// Returns an upper bound for the total of one candidate.
pub(super) fn upper_bound_of(asked: &Asked, gathered: &Gathered, candidate: Candidate, version: &VersionInfo) -> i64 {
    let is_symbol = matches!(candidate, Candidate::Symbol(..));
    let mut scores = of_path(asked, gathered, version, is_symbol);
    of_file(&mut scores, gathered.file(version.id), is_symbol);
    upper_bound_with(scores, asked, gathered, &gathered.record(candidate), (is_symbol, is_unread(asked, version)))
}

/// Returns the scores of a file before its path is known: maxima for the path features, actual values for its words.
fn before_path(asked: &Asked, file: &FileSigns, is_symbol: bool) -> Scores {
    let mut scores = Scores::default();
    scores.set(Feature::FileName, if is_symbol { file.name * NAME_FOR_SYMBOLS } else { file.name });
    scores.set(Feature::FileNameWords, file.name_words);
    scores.set(Feature::Form, f64::from(is_symbol || asked.wants_docs));
    scores.set(Feature::PathAffinity, f64::from(!asked.paths.is_empty() || !asked.edited.is_empty()));
    of_file(&mut scores, file, is_symbol);
    scores
}

/// Returns an upper bound for any candidate of a file, given the file's scores for symbols and for chunks.
fn upper_bound_in(
    asked: &Asked,
    gathered: &Gathered,
    version: VersionId,
    of_file: impl Fn(bool) -> Scores,
    is_unread: bool,
) -> i64 {
    let bases = [of_file(false), of_file(true)];
    let bound = |record: &RecordSigns, is_symbol: bool| {
        upper_bound_with(bases[usize::from(is_symbol)], asked, gathered, record, (is_symbol, is_unread))
    };
    if gathered.has_other_candidates(version) {
        let best = gathered.best_record(gathered.file(version));
        return bound(&best, true).max(bound(&best, false));
    }
    gathered.records(version).map(|(record, is_symbol)| bound(&record, is_symbol)).max().unwrap_or(i64::MIN)
}

/// Whether the file is code that no grammar has parsed, so that its lines show what they define.
fn is_unread(asked: &Asked, version: &VersionInfo) -> bool {
    let is_read = version.symbols > 0 && asked.languages.has_grammar(&version.language);
    !is_read && asked.languages.is_code(&version.language)
}

/// Adds the maximum that a record with this evidence can have to the scores of its file.
fn upper_bound_with(
    mut scores: Scores,
    asked: &Asked,
    gathered: &Gathered,
    record: &RecordSigns,
    (is_symbol, is_unread): (bool, bool),
) -> i64 {
    of_record(&mut scores, gathered, record, is_symbol);
    let has_paths = !asked.paths.is_empty();
    let is_named = record.may_be_exact && names_one(asked);
    scores.set(Feature::Bm25, if gathered.with_files() || is_named { 1.0 } else { record.bm25 });
    scores.set(Feature::Literal, if record.may_have_text { gathered.exact.worth } else { 0.0 });
    scores.set(Feature::ExactMatch, f64::from(record.may_be_exact || has_paths));
    let mut is_whole = 1.0;
    // A requested line may be in a symbol.
    if is_symbol || has_paths {
        scores.set(Feature::QualifiedName, record.coverage);
        scores.set(Feature::Frame, f64::from(!asked.frames.is_empty()));
        match record.glance {
            Some(glance) => {
                of_glance(&mut scores, asked, glance, record.may_be_exact);
                is_whole = whole(glance);
            }
            None => {
                scores.set(Feature::KindMatch, f64::from(asked.intent == Intent::Symbol || !asked.kinds.is_empty()));
                scores.set(Feature::Public, 1.0);
                scores.set(Feature::Size, 1.0);
            }
        }
        scores.set(Feature::Definition, (record.precision * is_whole * record.name_share).sqrt());
    }
    if is_unread {
        scores.set(Feature::Definition, 1.0);
    }
    if has_paths || record.may_be_exact {
        scores.set(Feature::Named, if has_paths { 1.0 } else { is_whole });
    } else if is_unread && !asked.typed.is_empty() {
        scores.set(Feature::Named, among_words(asked));
    }
    scores.total_units()
}

/// Returns how close a path is to typed paths and to edited files.
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

/// Returns how well a symbol matches a stack frame: by a line in this file, or by the function name.
fn frames(asked: &Asked, path: &str, symbol: &Symbol) -> f64 {
    let worth = |frame: &Frame| {
        let is_here = frame.path.as_deref().is_some_and(|printed| is_meant(path, printed) || shares_end(path, printed));
        let has_line = frame.line.is_some_and(|line| (symbol.lines.start..=symbol.lines.end).contains(&line));
        let is_named = frame.name.as_deref() == Some(symbol.name.as_str());
        match (is_here, is_named, has_line) {
            (true, true, _) => 1.0,
            (true, false, true) => 0.7,
            // Another version of the file may have different line numbers.
            (false, true, _) if frame.path.is_none() => 0.5,
            _ => 0.0,
        }
    };
    asked.frames.iter().map(worth).fold(0.0, f64::max)
}

/// Returns how well a symbol matches a name that was typed as one; members and extensions count less.
fn is_named(asked: &Asked, symbol: &Symbol) -> f64 {
    if !asked.typed.contains(&symbol.name) && !is_proper(asked, symbol) || symbol.kind == SymbolKind::Test {
        return 0.0;
    }
    whole(Glance::of(symbol)) * among_words(asked)
}

/// Returns how completely a symbol is the thing that its name denotes: `mod x;` only declares that the module exists.
fn whole(glance: Glance) -> f64 {
    match glance.kind() {
        Some(SymbolKind::Module) if glance.is_one_line() => wholeness(SymbolKind::Use),
        Some(kind) => wholeness(kind),
        None => 1.0,
    }
}

/// Whether the query is a single name. All symbols with that name then match equally. Without this rule, short members
/// of a class would win by BM25 because they repeat its name more often for their length.
fn names_one(asked: &Asked) -> bool {
    asked.intent == Intent::Symbol && asked.typed.len() == 1
}

/// Among other words a name is only one hint.
fn among_words(asked: &Asked) -> f64 {
    if asked.intent == Intent::Symbol { 1.0 } else { 0.25 }
}

/// Returns how much a symbol of this kind is the thing itself, rather than a member or an extension of it.
pub(crate) fn wholeness(kind: SymbolKind) -> f64 {
    match kind {
        SymbolKind::Impl | SymbolKind::Use | SymbolKind::Prototype => 0.2,
        SymbolKind::Field | SymbolKind::Variant => 0.5,
        _ => 1.0,
    }
}

/// Returns how minor a symbol is: a member of another one, or a mere declaration.
fn minor(glance: Glance) -> f64 {
    match glance.kind() {
        Some(SymbolKind::Field | SymbolKind::Variant) => 1.0,
        Some(SymbolKind::Module) if glance.is_one_line() => 1.0,
        Some(SymbolKind::Impl | SymbolKind::Module | SymbolKind::Namespace) => 0.5,
        Some(SymbolKind::Var | SymbolKind::Const | SymbolKind::Static | SymbolKind::Property) => 0.5,
        _ => 0.0,
    }
}

/// Whether the name matches exactly. The title of a test is not a name.
fn is_exact(asked: &Asked, symbol: &Symbol) -> bool {
    if symbol.kind == SymbolKind::Test {
        return false;
    }
    let name = symbol.name.to_lowercase();
    asked.names.contains(&name) || (asked.joined.len() > LEAST_JOINED && name.replace('_', "") == asked.joined)
}

/// Whether a symbol is the type that a capitalised word names.
fn is_proper(asked: &Asked, symbol: &Symbol) -> bool {
    is_type(symbol.kind) && asked.proper.contains(&symbol.name)
}

fn is_type(kind: SymbolKind) -> bool {
    use SymbolKind as K;
    matches!(kind, K::Struct | K::Class | K::Enum | K::Trait | K::Interface | K::Type | K::Union)
}

/// Returns the share of a name's words that are in the query.
fn names_words(asked: &Asked, name: &str) -> f64 {
    words_of(name, |word| f64::from(asked.knows(word)))
}

/// Returns the share of the query's weight that a symbol's qualified name contains.
fn qualified(asked: &Asked, gathered: &Gathered, symbol: &Symbol) -> f64 {
    gathered.share_of(asked.terms_in(&symbol.qualified_name))
}

/// Whether the kind is the requested one or, for a single name, the one that its spelling suggests.
fn suits(asked: &Asked, glance: Glance) -> bool {
    let Some(kind) = glance.kind() else { return false };
    let is_type = is_type(kind);
    match asked.kinds.as_slice() {
        [] => asked.intent == Intent::Symbol && is_type == asked.capitalised,
        kinds => kinds.contains(&kind),
    }
}
