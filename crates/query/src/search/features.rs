//! Computes the features of [`crate::score`] for search hits.
//!
//! Some are known for a file after term lookup, some for a record, some once the path is known, and the rest when the
//! symbol is read. Before that, each of the rest has a maximum, which gives the upper bounds that ranking uses.

use codecompass_model::{Symbol, SymbolKind, VersionId};
use codecompass_store::{SymbolPayload, VersionInfo};

use super::Intent;
use super::candidates::Candidates;
use super::evidence::{Candidate, FileEvidence, RecordEvidence};
use super::generated::is_generated_path;
use super::hit::SearchHit;
use super::parsed_query::{MIN_JOINED_LEN, ParsedQuery, mean_word_score};
use super::paths::{ends_with_path, file_stem, is_in_docs, matches_typed_path, shares_file_and_folder};
pub(crate) use super::paths::{is_example, is_reexport_or_stub};
use super::trace::Frame;
use crate::score::{Feature, Scores};

/// The shares of a file's name and agreement scores that count for a symbol in it, because a symbol has evidence of its
/// own. Where there are no symbols, the file is most of the evidence.
const NAME_FOR_SYMBOLS: f64 = 0.35;
const AGREEMENT_FOR_SYMBOLS: f64 = 0.27;

/// The shares of its own coverage and of the file's text score that count for a chunk.
const CHUNK_COVERAGE: f64 = 0.5;
const CHUNK_FILE_TEXT: f64 = 0.5;

/// The share of the frame score for code that may be a frame: by its name alone, or further out.
const OTHER_FRAMES: f64 = 0.05;

/// The share of the penalty for generated files that remains for a symbol with the requested name: it is wanted, but
/// after one with that name that was written by hand.
const GENERATED_IF_EXACT: f64 = 0.1;

/// Scores a search hit, except for features that depend on other hits in the list. `unread` is the text of a chunk that
/// no grammar has parsed.
pub(super) fn score(parsed: &ParsedQuery, hit: &SearchHit, candidates: &Candidates, unread: Option<&str>) -> Scores {
    let record = candidates.record_evidence(hit.candidate);
    if record.frame > 0.0 {
        return frame_scores(record.frame);
    }
    let is_symbol = matches!(hit.candidate, Candidate::Symbol(..));
    let file = candidates.file(hit.version.id);
    let mut scores = path_scores(parsed, candidates, &hit.version, is_symbol);
    score_file_words(&mut scores, file, is_symbol);
    score_record(&mut scores, candidates, &record, is_symbol);
    scores.set(Feature::Literal, if hit.exact_lines.is_empty() { 0.0 } else { candidates.exact.score });
    // A landmark that encloses a chunk gives its location, but does not contribute to its score.
    if let Some(symbol) = hit.symbol().filter(|_| !matches!(hit.candidate, Candidate::Chunk(..))) {
        score_symbol(&mut scores, parsed, candidates, hit, symbol, &record);
    }
    if let Some(text) = unread {
        score_unparsed_lines(parsed, &mut scores, text);
    }
    if matches!(hit.candidate, Candidate::File(_)) {
        score_whole_file(&mut scores, parsed, candidates, hit, file);
    }
    scores
}

fn score_symbol(
    scores: &mut Scores,
    parsed: &ParsedQuery,
    candidates: &Candidates,
    hit: &SearchHit,
    symbol: &Symbol,
    record: &RecordEvidence,
) {
    let is_exact = record.may_be_exact && is_exact(parsed, symbol);
    let payload = SymbolPayload::from_symbol(symbol);
    let precision = record.precision * payload_wholeness(payload);
    scores.set(Feature::ExactMatch, f64::from(is_exact));
    relax_generated(scores, is_exact);
    if is_exact && is_single_name(parsed) {
        scores.set(Feature::Bm25, 1.0);
    }
    scores.set(Feature::QualifiedName, qualified_name_share(parsed, candidates, symbol).min(record.coverage));
    scores.set(Feature::Definition, (precision * record.name_share).sqrt());
    scores.set(Feature::Named, if record.may_be_exact { typed_name_match(parsed, symbol) } else { 0.0 });
    scores.set(Feature::Frame, OTHER_FRAMES * frame_match(parsed, &hit.version.path, symbol));
    score_payload(scores, parsed, payload, is_exact);
}

/// Sets the features that are known from the symbol payload.
fn score_payload(scores: &mut Scores, parsed: &ParsedQuery, payload: SymbolPayload, is_exact: bool) {
    scores.set(Feature::KindMatch, f64::from(kind_matches(parsed, payload)));
    scores.set(Feature::Public, f64::from(payload.is_public()));
    scores.set(Feature::Minor, if parsed.kinds.is_empty() && !is_exact { minor_symbol_penalty(payload) } else { 0.0 });
    let is_question = parsed.intent == Intent::NaturalLanguage && !parsed.wants_types && parsed.kinds.is_empty();
    scores.set(Feature::Declaration, if is_question && !is_exact { declaration_share(payload) } else { 0.0 });
    scores.set(Feature::Size, payload.size());
    if payload.in_test() && !parsed.wants_tests {
        scores.set(Feature::Test, 1.0);
    }
}

/// Marks a hit that was scored as a part of a generated file.
pub(super) fn set_generated(scores: &mut Scores) {
    scores.set(Feature::Generated, 1.0);
    relax_generated(scores, scores.value(Feature::ExactMatch) > 0.0);
}

/// Reduces the penalty for generated files if the hit has the requested name.
fn relax_generated(scores: &mut Scores, is_exact: bool) {
    if is_exact {
        scores.set(Feature::Generated, scores.value(Feature::Generated) * GENERATED_IF_EXACT);
    }
}

fn score_whole_file(
    scores: &mut Scores,
    parsed: &ParsedQuery,
    candidates: &Candidates,
    hit: &SearchHit,
    file: &FileEvidence,
) {
    scores.set(Feature::Bm25, file.path);
    scores.raw_bm25 = file.path * candidates.ceiling();
    if parsed.is_typed_path(&hit.version.path) {
        scores.set(Feature::ExactMatch, 1.0);
        scores.set(Feature::Named, 1.0);
    }
}

/// Returns the scores that depend on the path and the language only.
fn path_scores(parsed: &ParsedQuery, candidates: &Candidates, version: &VersionInfo, is_symbol: bool) -> Scores {
    let known = parsed.seen.borrow().get(&version.id).copied();
    let mut scores = known.unwrap_or_else(|| {
        let (path, languages) = (version.path.as_str(), parsed.languages);
        let stem = file_stem(languages, path);
        let mut scores = Scores::default();
        scores.set(Feature::FileName, mean_word_score(stem, |word| parsed.file_name_word_score(word)));
        scores.set(Feature::FileNameWords, candidates.share_of(parsed.name_terms(stem)));
        scores.set(Feature::PathAffinity, path_affinity(parsed, path));
        scores.set(Feature::Test, f64::from(languages.is_test_path(path) && !parsed.wants_tests));
        let is_code = languages.is_code(&version.language);
        let is_shown = is_example(path) || is_code && is_in_docs(path);
        scores.set(Feature::Example, f64::from(is_shown && !parsed.wants_examples));
        scores.set(Feature::NotCode, f64::from(!is_code && !parsed.wants_prose));
        scores.set(Feature::Generated, f64::from(is_generated_path(path)));
        scores.set(Feature::PassesOn, f64::from(is_reexport_or_stub(languages, path)));
        parsed.seen.borrow_mut().insert(version.id, scores);
        scores
    });
    if is_symbol {
        scores.set(Feature::FileName, scores.value(Feature::FileName) * NAME_FOR_SYMBOLS);
    }
    let is_wanted = if parsed.wants_docs { !parsed.languages.is_code(&version.language) } else { is_symbol };
    scores.set(Feature::Form, f64::from(is_wanted));
    scores
}

/// Sets the features that the words of a file give to everything in it.
fn score_file_words(scores: &mut Scores, file: &FileEvidence, is_symbol: bool) {
    let agreement = if file.sum > 0.0 { 1.0 - file.best / file.sum } else { 0.0 };
    let (around, together) = if is_symbol { (1.0, AGREEMENT_FOR_SYMBOLS) } else { (CHUNK_FILE_TEXT, 1.0) };
    scores.set(Feature::FileText, file.text * around);
    scores.set(Feature::PathWords, file.path);
    scores.set(Feature::FileCoverage, if is_symbol { 0.0 } else { file.coverage * file.coverage });
    scores.set(Feature::FileAgreement, agreement * file.coverage * together);
}

/// Sets the features from the record's own words.
fn score_record(scores: &mut Scores, candidates: &Candidates, record: &RecordEvidence, is_symbol: bool) {
    let coverage = record.coverage * record.coverage;
    scores.raw_bm25 = record.bm25 * candidates.ceiling();
    scores.set(Feature::Bm25, record.bm25);
    scores.set(Feature::Coverage, if is_symbol { coverage } else { coverage * CHUNK_COVERAGE });
    scores.set(Feature::NameWords, record.name_share);
}

/// Sets the features from definitions in lines, for text without symbols.
fn score_unparsed_lines(parsed: &ParsedQuery, scores: &mut Scores, text: &str) {
    let (mut named, mut definition) = (0.0f64, 0.0f64);
    for name in text.lines().filter_map(|line| parsed.languages.defined_name(line)) {
        if parsed.typed.contains(name) {
            named = name_hint_factor(parsed);
        }
        definition = definition.max(name_word_share(parsed, name));
    }
    scores.set(Feature::Definition, definition);
    scores.set(Feature::Named, named);
}

/// Returns an upper bound for the total of anything in a file, in the units of [`Scores::total_units`], before its path
/// is known.
pub(super) fn upper_bound_of_file(parsed: &ParsedQuery, candidates: &Candidates, file: &FileEvidence) -> i64 {
    let best = candidates.best_record(file);
    let is_unread = file.may_be_unparsed;
    let bound = |is_symbol| {
        upper_bound_with(scores_before_path(parsed, file, is_symbol), parsed, candidates, &best, (is_symbol, is_unread))
    };
    bound(true).max(bound(false))
}

/// Returns the same after reading each of its records. It is tighter, because no single record has the maximum of
/// everything.
pub(super) fn upper_bound_of_records(parsed: &ParsedQuery, candidates: &Candidates, version: VersionId) -> i64 {
    let file = candidates.file(version);
    upper_bound_in(
        parsed,
        candidates,
        version,
        |is_symbol| scores_before_path(parsed, file, is_symbol),
        file.may_be_unparsed,
    )
}

/// Returns the same once the path is known.
pub(super) fn upper_bound_at_path(parsed: &ParsedQuery, candidates: &Candidates, version: &VersionInfo) -> i64 {
    let at_path = |is_symbol| {
        let mut scores = path_scores(parsed, candidates, version, is_symbol);
        score_file_words(&mut scores, candidates.file(version.id), is_symbol);
        scores
    };
    upper_bound_in(parsed, candidates, version.id, at_path, is_unparsed(parsed, version))
}

/// Returns an upper bound for the total of one candidate.
pub(super) fn upper_bound_of_candidate(
    parsed: &ParsedQuery,
    candidates: &Candidates,
    candidate: Candidate,
    version: &VersionInfo,
) -> i64 {
    let is_symbol = matches!(candidate, Candidate::Symbol(..));
    let mut scores = path_scores(parsed, candidates, version, is_symbol);
    score_file_words(&mut scores, candidates.file(version.id), is_symbol);
    upper_bound_with(
        scores,
        parsed,
        candidates,
        &candidates.record_evidence(candidate),
        (is_symbol, is_unparsed(parsed, version)),
    )
}

/// Returns the scores of a file before its path is known: maxima for the path features, actual values for its words.
fn scores_before_path(parsed: &ParsedQuery, file: &FileEvidence, is_symbol: bool) -> Scores {
    let mut scores = Scores::default();
    scores.set(Feature::FileName, if is_symbol { file.name * NAME_FOR_SYMBOLS } else { file.name });
    scores.set(Feature::FileNameWords, file.name_words);
    scores.set(Feature::Form, f64::from(is_symbol || parsed.wants_docs));
    scores.set(Feature::PathAffinity, f64::from(!parsed.paths.is_empty() || !parsed.edited.is_empty()));
    score_file_words(&mut scores, file, is_symbol);
    scores
}

/// Returns an upper bound for any candidate of a file, given the file's scores for symbols and for chunks.
fn upper_bound_in(
    parsed: &ParsedQuery,
    candidates: &Candidates,
    version: VersionId,
    of_file: impl Fn(bool) -> Scores,
    is_unread: bool,
) -> i64 {
    let bases = [of_file(false), of_file(true)];
    let bound = |record: &RecordEvidence, is_symbol: bool| {
        upper_bound_with(bases[usize::from(is_symbol)], parsed, candidates, record, (is_symbol, is_unread))
    };
    if candidates.has_other_candidates(version) {
        let best = candidates.best_record(candidates.file(version));
        return bound(&best, true).max(bound(&best, false));
    }
    candidates.records_evidence(version).map(|(record, is_symbol)| bound(&record, is_symbol)).max().unwrap_or(i64::MIN)
}

/// Whether the file is code that no grammar has parsed, so that its lines show what they define.
fn is_unparsed(parsed: &ParsedQuery, version: &VersionInfo) -> bool {
    let is_read = version.symbols > 0 && parsed.languages.has_grammar(&version.language);
    !is_read && parsed.languages.is_code(&version.language)
}

/// Adds the maximum that a record with this evidence can have to the scores of its file.
fn upper_bound_with(
    mut scores: Scores,
    parsed: &ParsedQuery,
    candidates: &Candidates,
    record: &RecordEvidence,
    (is_symbol, is_unread): (bool, bool),
) -> i64 {
    score_record(&mut scores, candidates, record, is_symbol);
    let has_paths = !parsed.paths.is_empty();
    let is_named = record.may_be_exact && is_single_name(parsed);
    scores.set(Feature::Bm25, if candidates.with_files() || is_named { 1.0 } else { record.bm25 });
    scores.set(Feature::Literal, if record.may_have_text { candidates.exact.score } else { 0.0 });
    scores.set(Feature::ExactMatch, f64::from(record.may_be_exact || has_paths));
    relax_generated(&mut scores, record.may_be_exact);
    let mut is_whole = 1.0;
    // A requested line may be in a symbol.
    if is_symbol || has_paths {
        scores.set(Feature::QualifiedName, record.coverage);
        scores.set(Feature::Frame, if parsed.frames.is_empty() { 0.0 } else { OTHER_FRAMES });
        match record.payload {
            Some(payload) => {
                score_payload(&mut scores, parsed, payload, record.may_be_exact);
                is_whole = payload_wholeness(payload);
            }
            None => {
                scores.set(Feature::KindMatch, f64::from(parsed.intent == Intent::Symbol || !parsed.kinds.is_empty()));
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
    } else if is_unread && !parsed.typed.is_empty() {
        scores.set(Feature::Named, name_hint_factor(parsed));
    }
    match record.frame {
        0.0 => scores.total_units(),
        frame => scores.total_units().max(frame_scores(frame).total_units()),
    }
}

/// Returns the scores of code that a stack trace names. Its position in the trace alone decides: which words of the
/// report it contains says nothing more.
fn frame_scores(frame: f64) -> Scores {
    let mut scores = Scores::default();
    scores.set(Feature::Frame, frame);
    scores
}

/// Returns how close a path is to typed paths and to edited files.
fn path_affinity(parsed: &ParsedQuery, path: &str) -> f64 {
    fn folder(path: &str) -> &str {
        path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
    let own = folder(path);
    if parsed.paths.iter().any(|(typed, _)| matches_typed_path(path, typed) || ends_with_path(own, typed)) {
        1.0
    } else if parsed.paths.iter().any(|(typed, _)| !folder(typed).is_empty() && ends_with_path(own, folder(typed))) {
        0.5
    } else if parsed.edited.contains(path) {
        0.4
    } else if parsed.edited.iter().any(|edited| folder(edited) == own) {
        0.2
    } else {
        0.0
    }
}

/// Returns how well a symbol matches a stack frame: by a line in this file, or by the function name.
fn frame_match(parsed: &ParsedQuery, path: &str, symbol: &Symbol) -> f64 {
    let worth = |frame: &Frame| {
        let is_here = frame
            .path
            .as_deref()
            .is_some_and(|printed| matches_typed_path(path, printed) || shares_file_and_folder(path, printed));
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
    parsed.frames.iter().map(worth).fold(0.0, f64::max)
}

/// Returns how well a symbol matches a name that was typed as one; members and extensions count less.
fn typed_name_match(parsed: &ParsedQuery, symbol: &Symbol) -> f64 {
    if !parsed.typed.contains(&symbol.name) && !is_capitalised_type(parsed, symbol) || symbol.kind == SymbolKind::Test {
        return 0.0;
    }
    payload_wholeness(SymbolPayload::from_symbol(symbol)) * name_hint_factor(parsed)
}

/// Returns how completely a symbol is the thing that its name denotes: `mod x;` only declares that the module exists.
fn payload_wholeness(payload: SymbolPayload) -> f64 {
    match payload.kind() {
        Some(SymbolKind::Module) if payload.is_one_line() => kind_wholeness(SymbolKind::Use),
        Some(kind) => kind_wholeness(kind),
        None => 1.0,
    }
}

/// Whether the query is a single name. All symbols with that name then match equally. Without this rule, short members
/// of a class would win by BM25 because they repeat its name more often for their length.
fn is_single_name(parsed: &ParsedQuery) -> bool {
    parsed.intent == Intent::Symbol && parsed.typed.len() == 1
}

/// Among other words a name is only one hint.
fn name_hint_factor(parsed: &ParsedQuery) -> f64 {
    if parsed.intent == Intent::Symbol { 1.0 } else { 0.25 }
}

/// Returns how much a symbol of this kind is the thing itself, rather than a member or an extension of it.
pub(crate) fn kind_wholeness(kind: SymbolKind) -> f64 {
    match kind {
        SymbolKind::Impl | SymbolKind::Use | SymbolKind::Prototype => 0.2,
        SymbolKind::Field | SymbolKind::Variant => 0.5,
        _ => 1.0,
    }
}

/// Returns how minor a symbol is: a member of another one, or a mere declaration.
fn minor_symbol_penalty(payload: SymbolPayload) -> f64 {
    match payload.kind() {
        Some(SymbolKind::Field | SymbolKind::Variant) => 1.0,
        Some(SymbolKind::Module) if payload.is_one_line() => 1.0,
        Some(SymbolKind::Impl | SymbolKind::Module | SymbolKind::Namespace) => 0.5,
        Some(SymbolKind::Var | SymbolKind::Const | SymbolKind::Static | SymbolKind::Property) => 0.5,
        _ => 0.0,
    }
}

/// Returns how much a symbol declares rather than acts. A type has methods; an alias or a constant does nothing.
fn declaration_share(payload: SymbolPayload) -> f64 {
    use SymbolKind as K;
    match payload.kind() {
        Some(K::Struct | K::Class | K::Trait | K::Interface | K::Union) => 0.35,
        Some(K::Enum | K::Type | K::Macro | K::Var | K::Const | K::Static | K::Property | K::Field | K::Variant) => 1.0,
        _ => 0.0,
    }
}

/// Whether the name matches exactly. The title of a test is not a name.
fn is_exact(parsed: &ParsedQuery, symbol: &Symbol) -> bool {
    if symbol.kind == SymbolKind::Test {
        return false;
    }
    let name = symbol.name.to_lowercase();
    parsed.names.contains(&name) || (parsed.joined.len() > MIN_JOINED_LEN && name.replace('_', "") == parsed.joined)
}

/// Whether a symbol is the type that a capitalised word names.
fn is_capitalised_type(parsed: &ParsedQuery, symbol: &Symbol) -> bool {
    is_type(symbol.kind) && parsed.proper.contains(&symbol.name)
}

fn is_type(kind: SymbolKind) -> bool {
    use SymbolKind as K;
    matches!(kind, K::Struct | K::Class | K::Enum | K::Trait | K::Interface | K::Type | K::Union)
}

/// Returns the share of a name's words that are in the query.
fn name_word_share(parsed: &ParsedQuery, name: &str) -> f64 {
    mean_word_score(name, |word| f64::from(parsed.has_word(word)))
}

/// Returns the share of the query's weight that a symbol's qualified name contains.
fn qualified_name_share(parsed: &ParsedQuery, candidates: &Candidates, symbol: &Symbol) -> f64 {
    candidates.share_of(parsed.name_terms(&symbol.qualified_name))
}

/// Whether the kind is the requested one or, for a single name, the one that its spelling suggests.
fn kind_matches(parsed: &ParsedQuery, payload: SymbolPayload) -> bool {
    let Some(kind) = payload.kind() else { return false };
    let is_type = is_type(kind);
    match parsed.kinds.as_slice() {
        [] => parsed.intent == Intent::Symbol && is_type == parsed.capitalised,
        kinds => kinds.contains(&kind),
    }
}
