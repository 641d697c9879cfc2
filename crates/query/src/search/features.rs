//! What makes a place the right one: the features of [`crate::score`], worked out.
//!
//! Some are known of a file once words were looked up, some of a record, some when the path is known, and the rest when the
//! symbol is read. Before it is read, each of the rest has a most it can be: that gives the bounds that ranking goes by.

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

/// Of what a file tells, so much counts for a symbol in it: it speaks for itself. Where there are no symbols, the file is most
/// of what is known.
const NAME_FOR_SYMBOLS: f64 = 0.35;
const AGREEMENT_FOR_SYMBOLS: f64 = 0.27;

/// And so much counts for a piece of text of what it holds, and of the text around it.
const COVERAGE_OF_PIECES: f64 = 0.5;
const TEXT_AROUND_PIECES: f64 = 0.5;

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
    // A landmark around a piece says where that stands, and is nothing that it scores by.
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

/// What a glance at a symbol tells.
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

/// What a path and a language alone tell.
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
    scores.set(Feature::NameWords, record.name_share);
}

/// What lines define where there are no symbols to tell.
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

/// The highest total that anything in a file can have, in the units of [`Scores::total_units`], while not even its path
/// is known.
pub(super) fn upper_bound_of_file(asked: &Asked, gathered: &Gathered, file: &FileSigns) -> i64 {
    let best = gathered.best_record(file);
    let is_unread = file.may_be_unread;
    let bound = |is_symbol| {
        upper_bound_with(before_path(asked, file, is_symbol), asked, gathered, &best, (is_symbol, is_unread))
    };
    bound(true).max(bound(false))
}

/// The same, after a look at each of its records: what one has and what another has are not had by one.
pub(super) fn upper_bound_of_records(asked: &Asked, gathered: &Gathered, version: VersionId) -> i64 {
    let file = gathered.file(version);
    upper_bound_in(asked, gathered, version, |is_symbol| before_path(asked, file, is_symbol), file.may_be_unread)
}

/// The same once its path is known.
pub(super) fn upper_bound_at_path(asked: &Asked, gathered: &Gathered, version: &VersionInfo) -> i64 {
    let at_path = |is_symbol| {
        let mut scores = of_path(asked, gathered, version, is_symbol);
        of_file(&mut scores, gathered.file(version.id), is_symbol);
        scores
    };
    upper_bound_in(asked, gathered, version.id, at_path, is_unread(asked, version))
}

/// The highest total that one candidate can have.
pub(super) fn upper_bound_of(asked: &Asked, gathered: &Gathered, candidate: Candidate, version: &VersionInfo) -> i64 {
    let is_symbol = matches!(candidate, Candidate::Symbol(..));
    let mut scores = of_path(asked, gathered, version, is_symbol);
    of_file(&mut scores, gathered.file(version.id), is_symbol);
    upper_bound_with(scores, asked, gathered, &gathered.record(candidate), (is_symbol, is_unread(asked, version)))
}

/// The most that a file's path can add, and what its words do.
fn before_path(asked: &Asked, file: &FileSigns, is_symbol: bool) -> Scores {
    let mut scores = Scores::default();
    scores.set(Feature::FileName, if is_symbol { file.name * NAME_FOR_SYMBOLS } else { file.name });
    scores.set(Feature::FileNameWords, file.name_words);
    scores.set(Feature::Form, f64::from(is_symbol || asked.wants_docs));
    scores.set(Feature::PathAffinity, f64::from(!asked.paths.is_empty() || !asked.edited.is_empty()));
    of_file(&mut scores, file, is_symbol);
    scores
}

/// The most that any candidate of a file can have, given what the file adds to symbols and to pieces.
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

/// Whether no grammar has read the code, so that its lines tell what they define.
fn is_unread(asked: &Asked, version: &VersionInfo) -> bool {
    let is_read = version.symbols > 0 && asked.languages.has_grammar(&version.language);
    !is_read && asked.languages.is_code(&version.language)
}

/// Adds to what is known of a file the most that a record with these signs can have.
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
    // A line that was asked for stands in a symbol.
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
    if !asked.typed.contains(&symbol.name) && !is_proper(asked, symbol) || symbol.kind == SymbolKind::Test {
        return 0.0;
    }
    whole(Glance::of(symbol)) * among_words(asked)
}

/// How much a symbol is what its name means: `mod x;` only says that there is one.
fn whole(glance: Glance) -> f64 {
    match glance.kind() {
        Some(SymbolKind::Module) if glance.is_one_line() => wholeness(SymbolKind::Use),
        Some(kind) => wholeness(kind),
        None => 1.0,
    }
}

/// Whether the question is one name. All that bear it bear it equally: of the parts of a class the short ones repeat its name
/// more often for their length, and are not meant the more.
fn names_one(asked: &Asked) -> bool {
    asked.intent == Intent::Symbol && asked.typed.len() == 1
}

/// Among other words a name is one hint of several.
fn among_words(asked: &Asked) -> f64 {
    if asked.intent == Intent::Symbol { 1.0 } else { 0.25 }
}

/// How much a symbol of this kind is what its name means, rather than a part or an extension of it.
pub(crate) fn wholeness(kind: SymbolKind) -> f64 {
    match kind {
        SymbolKind::Impl | SymbolKind::Use | SymbolKind::Prototype => 0.2,
        SymbolKind::Field | SymbolKind::Variant => 0.5,
        _ => 1.0,
    }
}

/// How little a symbol tells for itself: it is a part of another, or only says that something is there.
fn minor(glance: Glance) -> f64 {
    match glance.kind() {
        Some(SymbolKind::Field | SymbolKind::Variant) => 1.0,
        Some(SymbolKind::Module) if glance.is_one_line() => 1.0,
        Some(SymbolKind::Impl | SymbolKind::Module | SymbolKind::Namespace) => 0.5,
        Some(SymbolKind::Var | SymbolKind::Const | SymbolKind::Static | SymbolKind::Property) => 0.5,
        _ => 0.0,
    }
}

/// A title is no name.
fn is_exact(asked: &Asked, symbol: &Symbol) -> bool {
    if symbol.kind == SymbolKind::Test {
        return false;
    }
    let name = symbol.name.to_lowercase();
    asked.names.contains(&name) || (asked.joined.len() > LEAST_JOINED && name.replace('_', "") == asked.joined)
}

/// Whether a symbol is the type that a word with a capital letter names.
fn is_proper(asked: &Asked, symbol: &Symbol) -> bool {
    is_type(symbol.kind) && asked.proper.contains(&symbol.name)
}

fn is_type(kind: SymbolKind) -> bool {
    use SymbolKind as K;
    matches!(kind, K::Struct | K::Class | K::Enum | K::Trait | K::Interface | K::Type | K::Union)
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
fn suits(asked: &Asked, glance: Glance) -> bool {
    let Some(kind) = glance.kind() else { return false };
    let is_type = is_type(kind);
    match asked.kinds.as_slice() {
        [] => asked.intent == Intent::Symbol && is_type == asked.capitalised,
        kinds => kinds.contains(&kind),
    }
}
