//! Finds definitions by name.
//!
//! A name may be simple (`validate_token`), any suffix of a qualified name (`JwtValidator::validate_token`), the
//! complete qualified name, or a handle from an earlier answer (`sym_…`, `b3:…`). Every definition with the name is a
//! result; imports are not. If there is none, names that differ only in case match.

use std::collections::HashSet;
use std::rc::Rc;

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{Languages, SymbolKind, VersionId, Visibility};
use codecompass_store::{Result, Snapshot, StoreError, SymbolRow, VersionInfo};

use crate::SymbolHit;
use crate::overloads::{is_function, is_overload_signature};
use crate::score::{Feature, Scores};
use crate::search::features::{self, kind_wholeness};
use crate::search::generated::is_foreign_path;

/// A request for definitions.
#[derive(Clone, Debug)]
pub struct LocateRequest<'q> {
    /// The name or handle.
    pub name: &'q str,
    /// Provides facts about languages.
    pub languages: &'static dyn Languages,
    /// Restricts the results to these kinds; empty for all.
    pub kinds: &'q [SymbolKind],
    /// Restricts the results to this language.
    pub language: Option<&'q str>,
    /// The number of best results to skip because they were on earlier pages.
    pub offset: usize,
    /// The maximum number of results.
    pub limit: usize,
}

/// The definitions that were found.
#[derive(Clone, Debug)]
pub struct LocateResults {
    /// The hits, best first.
    pub hits: Vec<SymbolHit>,
    /// The number of hits without the limit.
    pub total: usize,
}

/// How the name must match.
#[derive(Clone, Copy)]
enum MatchMode {
    Handle,
    Exact,
    IgnoringCase,
}

/// Finds definitions by name.
pub fn locate(snapshot: &Snapshot, question: &LocateRequest<'_>) -> Result<LocateResults> {
    let name = question.name.strip_suffix("()").unwrap_or(question.name);
    let (mut rows, matching) = candidates(snapshot, name)?;
    rows.retain(|row| accepts_kind(question, row.kind));
    // Every symbol with a simple name is a result, and its row contains everything that determines its rank.
    let is_simple = matches!(matching, MatchMode::Exact) && segments(name).count() == 1;
    let (hits, total) = match is_simple {
        true => rank_simple_name(snapshot, question, rows)?,
        false => rank_qualified_name(snapshot, question, name, rows, matching)?,
    };
    let raw_bm25 = ceiling(snapshot, total);
    let mut hits: Vec<SymbolHit> = hits.into_iter().skip(question.offset).take(question.limit).collect();
    hits.iter_mut().for_each(|hit| hit.scores.raw_bm25 = raw_bm25);
    Ok(LocateResults { hits, total })
}

/// Returns the ranked symbols with a simple name, up to the end of the requested page, and their total number.
fn rank_simple_name(
    snapshot: &Snapshot,
    question: &LocateRequest<'_>,
    rows: Vec<SymbolRow>,
) -> Result<(Vec<SymbolHit>, usize)> {
    if rows.len() > BULK_LOOKUP_THRESHOLD {
        snapshot.versions_by_id()?;
    }
    let mut found: Vec<Candidate> = Vec::with_capacity(rows.len());
    for row in rows {
        let lost = || StoreError::Corrupt(format!("file version {} is not stored", row.version));
        let version = snapshot.version(row.version)?.ok_or_else(lost)?;
        if question.language.is_none_or(|language| language == version.language) {
            let scores = simple_name_scores(question, &row, &version.path);
            found.push(Candidate { total: scores.total_units(), scores, version, row, is_overload: false });
        }
    }
    mark_overloads(snapshot, &mut found)?;
    let total = found.len();
    let order = |a: &Candidate, b: &Candidate| {
        let place = |one: &Candidate| (one.is_overload, one.row.line, one.row.ordinal);
        b.total.cmp(&a.total).then_with(|| a.version.path.cmp(&b.version.path)).then_with(|| place(a).cmp(&place(b)))
    };
    let wanted = question.offset + question.limit;
    if wanted < found.len() {
        found.select_nth_unstable_by(wanted, order);
        found.truncate(wanted);
    }
    found.sort_unstable_by(order);
    let mut hits = Vec::with_capacity(found.len());
    for one in &found {
        let mut hit = SymbolHit::read(snapshot, &one.row)?;
        hit.scores = one.scores;
        hits.push(hit);
    }
    Ok((hits, total))
}

/// With more homonyms than this, all file versions are loaded at once.
const BULK_LOOKUP_THRESHOLD: usize = 64;

/// A symbol whose outline has not been read yet.
struct Candidate {
    row: SymbolRow,
    version: Rc<VersionInfo>,
    scores: Scores,
    total: i64,
    /// Whether it is the signature of a function whose definition is in the same file.
    is_overload: bool,
}

/// Marks the overload signatures among symbols with one name, which come after the definition.
fn mark_overloads(snapshot: &Snapshot, found: &mut [Candidate]) -> Result<()> {
    if found.len() > BULK_LOOKUP_THRESHOLD {
        return Ok(());
    }
    let functions: Vec<VersionId> =
        found.iter().filter(|one| is_function(one.row.kind)).map(|one| one.row.version).collect();
    for one in found.iter_mut().filter(|one| is_function(one.row.kind)) {
        let id = one.row.version;
        if functions.iter().filter(|known| **known == id).count() < 2 {
            continue;
        }
        let outline = snapshot.outline(id)?;
        one.is_overload = is_overload_signature(snapshot, id, &outline.symbols, one.row.ordinal)?;
    }
    Ok(())
}

/// The part of the penalty of generated files that applies to a name that is asked for: more than that of tests.
const FOREIGN_HOMONYM: f64 = 0.5;

/// Returns the scores of a symbol that has the requested simple name.
fn simple_name_scores(question: &LocateRequest<'_>, row: &SymbolRow, path: &str) -> Scores {
    let mut scores = Scores::default();
    for feature in [Feature::Bm25, Feature::ExactMatch, Feature::Definition] {
        scores.set(feature, 1.0);
    }
    scores.set(Feature::KindMatch, f64::from(!question.kinds.is_empty()));
    scores.set(Feature::Named, kind_wholeness(row.kind));
    scores.set(Feature::Public, f64::from(row.is_public));
    set_location_scores(&mut scores, question, path, row.in_test);
    demote_minor(&mut scores, question.kinds, row.kind);
    scores
}

/// Returns the ranked symbols that match a qualified name. The match is decided by qualified names, which requires
/// reading every candidate.
fn rank_qualified_name(
    snapshot: &Snapshot,
    question: &LocateRequest<'_>,
    name: &str,
    rows: Vec<SymbolRow>,
    matching: MatchMode,
) -> Result<(Vec<SymbolHit>, usize)> {
    let mut hits: Vec<SymbolHit> = Vec::new();
    for row in rows {
        let mut hit = SymbolHit::read(snapshot, &row)?;
        let is_meant = question.language.is_none_or(|language| language == hit.version.language);
        if let Some(scores) = score(question, name, &hit, matching).filter(|_| is_meant) {
            hit.scores = scores;
            hits.push(hit);
        }
    }
    let mut overloads = HashSet::new();
    for hit in hits.iter().take(BULK_LOOKUP_THRESHOLD).filter(|_| hits.len() > 1) {
        if is_overload_signature(snapshot, hit.version.id, hit.file_symbols(), hit.ordinal())? {
            overloads.insert(hit.symbol_at());
        }
    }
    hits.sort_by(|a, b| {
        let place = |hit: &SymbolHit| (overloads.contains(&hit.symbol_at()), hit.symbol().lines.start, hit.ordinal());
        (b.scores.total_units().cmp(&a.scores.total_units()))
            .then_with(|| a.version.path.cmp(&b.version.path))
            .then_with(|| place(a).cmp(&place(b)))
    });
    let total = hits.len();
    Ok((hits, total))
}

/// Removes everything that a test block or a landmark gains from its name, unless a kind filter is given: such symbols
/// are rarely the intended ones. Landmarks also get the `NotCode` penalty, which puts them below any code symbol with
/// the name.
fn demote_minor(scores: &mut Scores, asked: &[SymbolKind], kind: SymbolKind) {
    if kind.is_fallback() && asked.is_empty() {
        for feature in [Feature::ExactMatch, Feature::Definition, Feature::Named] {
            scores.set(feature, 0.0);
        }
        scores.set(Feature::NotCode, f64::from(kind.is_landmark()));
    }
}

fn set_location_scores(scores: &mut Scores, question: &LocateRequest<'_>, path: &str, in_test: bool) {
    let wants_tests = question.kinds.contains(&SymbolKind::Test);
    scores.set(Feature::Test, f64::from(!wants_tests && question.languages.is_test(path, in_test)));
    scores.set(Feature::Example, f64::from(features::is_example(path)));
    // Vendored and generated code ranks below own code of the name.
    let foreign = if is_foreign_path(path) { FOREIGN_HOMONYM } else { 0.0 };
    scores.set(Feature::Generated, foreign);
    scores.set(Feature::PassesOn, f64::from(features::is_reexport_or_stub(question.languages, path)));
}

fn accepts_kind(question: &LocateRequest<'_>, kind: SymbolKind) -> bool {
    match question.kinds {
        [] => kind != SymbolKind::Use,
        kinds => kinds.contains(&kind),
    }
}

fn candidates(snapshot: &Snapshot, name: &str) -> Result<(Vec<SymbolRow>, MatchMode)> {
    if let Some(id) = SymbolId::parse(name) {
        return Ok((snapshot.symbols_with_id(id)?, MatchMode::Handle));
    }
    if let Some(keys) = SymbolId::parse_short(name) {
        return Ok((snapshot.symbols_with_keys(keys)?, MatchMode::Handle));
    }
    if let Some(id) = StableId::parse(name) {
        return Ok((snapshot.symbols_with_stable_id(id)?, MatchMode::Handle));
    }
    let last = last_segment(name);
    let mut exact = snapshot.symbols_named(last)?;
    if last != name {
        exact.extend(snapshot.symbols_named(name)?);
    }
    let is_code = |row: &SymbolRow| !row.kind.is_fallback();
    if exact.iter().any(is_code) {
        return Ok((exact, MatchMode::Exact));
    }
    let like = snapshot.symbols_named_like(last)?;
    // A matching test title or landmark must not hide code that differs only in case.
    match exact.is_empty() || like.iter().any(is_code) {
        true => Ok((like, MatchMode::IgnoringCase)),
        false => Ok((exact, MatchMode::Exact)),
    }
}

pub(crate) fn last_segment(name: &str) -> &str {
    name.rsplit([':', '.']).next().filter(|last| !last.is_empty()).unwrap_or(name)
}

/// Scores how well a definition matches the name; `None` if it does not match. A handle identifies one symbol.
fn score(question: &LocateRequest<'_>, name: &str, hit: &SymbolHit, matching: MatchMode) -> Option<Scores> {
    let symbol = hit.symbol();
    let qualified = symbol.qualified_name.as_str();
    let named = match matching {
        MatchMode::Handle => 1.0,
        MatchMode::Exact if symbol.name == name || is_suffix(qualified, name) => kind_wholeness(symbol.kind),
        MatchMode::IgnoringCase if is_suffix(&qualified.to_lowercase(), &name.to_lowercase()) => {
            kind_wholeness(symbol.kind) / 2.0
        }
        _ => return None,
    };
    let asked = if matches!(matching, MatchMode::Handle) { qualified } else { name };
    let path = &hit.version.path;
    let mut scores = Scores::default();
    scores.set(Feature::Bm25, 1.0);
    scores.set(Feature::ExactMatch, f64::from(!matches!(matching, MatchMode::IgnoringCase)));
    // A simple name carries no information about the qualified name.
    let (given, all) = (segments(asked).count(), segments(qualified).count().max(1));
    scores.set(Feature::QualifiedName, if given > 1 { given as f64 / all as f64 } else { 0.0 });
    scores.set(Feature::Definition, 1.0);
    scores.set(Feature::KindMatch, f64::from(!question.kinds.is_empty()));
    scores.set(Feature::Named, named);
    scores.set(Feature::Public, f64::from(symbol.visibility == Some(Visibility::Public)));
    set_location_scores(&mut scores, question, path, symbol.in_test);
    if !matches!(matching, MatchMode::Handle) {
        demote_minor(&mut scores, question.kinds, symbol.kind);
    }
    Some(scores)
}

/// Returns the BM25 score of a record that consists only of the name, if `bearers` records have the name.
fn ceiling(snapshot: &Snapshot, bearers: usize) -> f64 {
    const K1: f64 = 1.2;
    let (count, bearers) = (snapshot.info().totals.symbol_docs as f64, bearers as f64);
    (1.0 + (count - bearers + 0.5).max(0.0) / (bearers + 0.5)).ln() * (K1 + 1.0)
}

/// Whether `name` is a suffix of `qualified` that starts at a segment boundary. `.` and `::` are equivalent, and a type
/// without arguments matches any arguments.
pub(crate) fn is_suffix(qualified: &str, name: &str) -> bool {
    let (mut whole, mut part) = (segments(qualified), segments(name));
    loop {
        match (whole.next(), part.next()) {
            (_, None) => return true,
            (Some(a), Some(b)) if a == b || without_arguments(a) == b => {}
            _ => return false,
        }
    }
}

fn without_arguments(segment: &str) -> &str {
    segment.split('<').next().unwrap_or(segment)
}

pub(crate) fn segments(name: &str) -> impl Iterator<Item = &str> {
    name.rsplit([':', '.']).filter(|segment| !segment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landmarks_rank_below_code() {
        let mut code = Scores::default();
        let far = [Feature::Test, Feature::Example, Feature::PassesOn];
        far.into_iter().for_each(|feature| code.set(feature, 1.0));
        let mut landmark = Scores::default();
        for feature in [Feature::ExactMatch, Feature::Definition, Feature::QualifiedName, Feature::Named] {
            landmark.set(feature, 1.0);
        }
        demote_minor(&mut landmark, &[], SymbolKind::Key);
        assert!(landmark.total_units() < code.total_units());
    }

    #[test]
    fn suffix_matches_whole_segments() {
        let table = [
            ("auth::jwt::Validator::check", "check", true),
            ("auth::jwt::Validator::check", "Validator::check", true),
            ("auth::jwt::Validator::check", "Validator.check", true),
            ("auth::jwt::Validator::check", "auth::jwt::Validator::check", true),
            ("auth::jwt::Validator::check", "alidator::check", false),
            ("auth::jwt::Validator::check", "x::auth::jwt::Validator::check", false),
            ("check", "Validator::check", false),
            ("task::Arc<Handle>::schedule", "Arc<Handle>::schedule", true),
            ("task::Arc<Handle>::schedule", "Arc::schedule", true),
            ("task::Arc<Handle>::schedule", "Arc<Other>::schedule", false),
        ];
        for (qualified, name, expected) in table {
            assert_eq!(is_suffix(qualified, name), expected, "{name} of {qualified}");
        }
    }
}
