//! Where is this defined?
//!
//! A name may be simple (`validate_token`), any suffix of a qualified name (`JwtValidator::validate_token`), the whole
//! of it, or a handle that an earlier answer gave (`sym_…`, `b3:…`). Every definition that bears the name is an
//! answer; imports are not. Without any, names that differ only in case are.

use std::rc::Rc;

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{Languages, SymbolKind, Visibility};
use codecompass_store::{Result, Snapshot, StoreError, SymbolRow, VersionInfo};

use crate::SymbolHit;
use crate::score::{Feature, Scores};
use crate::search::features::{self, wholeness};

/// The question.
#[derive(Clone, Debug)]
pub struct Locate<'q> {
    /// The name or handle.
    pub name: &'q str,
    /// Who knows the languages.
    pub languages: &'static dyn Languages,
    /// Only these kinds; empty for all.
    pub kinds: &'q [SymbolKind],
    /// Only this language.
    pub language: Option<&'q str>,
    /// So many of the best are left out: they were on earlier pages.
    pub offset: usize,
    /// At most so many.
    pub limit: usize,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Located {
    /// The best first.
    pub hits: Vec<SymbolHit>,
    /// How many there are without the limit.
    pub total: usize,
}

/// How the name is meant to match.
#[derive(Clone, Copy)]
enum Match {
    Handle,
    Exact,
    IgnoringCase,
}

/// Finds definitions by name.
pub fn locate(snapshot: &Snapshot, question: &Locate<'_>) -> Result<Located> {
    let name = question.name.strip_suffix("()").unwrap_or(question.name);
    let (mut rows, matching) = candidates(snapshot, name)?;
    rows.retain(|row| wants(question, row.kind));
    // Every bearer of a simple name is an answer, and its row tells all that puts it in order.
    let is_simple = matches!(matching, Match::Exact) && segments(name).count() == 1;
    let (hits, total) = match is_simple {
        true => first_of_simple(snapshot, question, rows)?,
        false => all_read(snapshot, question, name, rows, matching)?,
    };
    let raw_bm25 = ceiling(snapshot, total);
    let mut hits: Vec<SymbolHit> = hits.into_iter().skip(question.offset).take(question.limit).collect();
    hits.iter_mut().for_each(|hit| hit.scores.raw_bm25 = raw_bm25);
    Ok(Located { hits, total })
}

/// The bearers of a simple name in order, as far as they are wanted, and how many there are.
fn first_of_simple(
    snapshot: &Snapshot,
    question: &Locate<'_>,
    rows: Vec<SymbolRow>,
) -> Result<(Vec<SymbolHit>, usize)> {
    if rows.len() > MANY {
        snapshot.catalogue()?;
    }
    let mut found: Vec<Candidate> = Vec::with_capacity(rows.len());
    for row in rows {
        let lost = || StoreError::Corrupt(format!("file version {} is not stored", row.version));
        let version = snapshot.version(row.version)?.ok_or_else(lost)?;
        if question.language.is_none_or(|language| language == version.language) {
            let scores = simple_scores(question, &row, &version.path);
            found.push(Candidate { total: scores.total_units(), scores, version, row });
        }
    }
    let total = found.len();
    let order = |a: &Candidate, b: &Candidate| {
        let place = |one: &Candidate| (one.row.line, one.row.place);
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

/// From so many homonyms on, all files are looked up at once.
const MANY: usize = 64;

/// A symbol before its file's outline is read.
struct Candidate {
    row: SymbolRow,
    version: Rc<VersionInfo>,
    scores: Scores,
    total: i64,
}

/// The scores of a symbol that bears the simple name that was asked for.
fn simple_scores(question: &Locate<'_>, row: &SymbolRow, path: &str) -> Scores {
    let mut scores = Scores::default();
    for feature in [Feature::Bm25, Feature::ExactMatch, Feature::Definition] {
        scores.set(feature, 1.0);
    }
    scores.set(Feature::KindMatch, f64::from(!question.kinds.is_empty()));
    scores.set(Feature::Named, wholeness(row.kind));
    scores.set(Feature::Public, f64::from(row.is_public));
    of_place(&mut scores, question, path, row.in_test);
    step_back(&mut scores, question.kinds, row.kind);
    scores
}

/// The symbols that do bear the name, which only their qualified names tell, in order.
fn all_read(
    snapshot: &Snapshot,
    question: &Locate<'_>,
    name: &str,
    rows: Vec<SymbolRow>,
    matching: Match,
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
    hits.sort_by(|a, b| {
        let place = |hit: &SymbolHit| (hit.symbol().lines.start, hit.place());
        (b.scores.total_units().cmp(&a.scores.total_units()))
            .then_with(|| a.version.path.cmp(&b.version.path))
            .then_with(|| place(a).cmp(&place(b)))
    });
    let total = hits.len();
    Ok((hits, total))
}

/// A test block or a landmark is not what somebody means who types a name, unless such are asked for: all that a bearer of the
/// name gets for bearing it is taken back. No code that bears it is so far off that a landmark comes before it.
fn step_back(scores: &mut Scores, asked: &[SymbolKind], kind: SymbolKind) {
    if kind.steps_back() && asked.is_empty() {
        for feature in [Feature::ExactMatch, Feature::Definition, Feature::Named] {
            scores.set(feature, 0.0);
        }
        scores.set(Feature::NotCode, f64::from(kind.is_landmark()));
    }
}

fn of_place(scores: &mut Scores, question: &Locate<'_>, path: &str, in_test: bool) {
    let wants_tests = question.kinds.contains(&SymbolKind::Test);
    scores.set(Feature::Test, f64::from(!wants_tests && question.languages.is_test(path, in_test)));
    scores.set(Feature::Example, f64::from(features::is_example(path)));
    scores.set(Feature::PassesOn, f64::from(features::passes_on(question.languages, path)));
}

fn wants(question: &Locate<'_>, kind: SymbolKind) -> bool {
    match question.kinds {
        [] => kind != SymbolKind::Use,
        kinds => kinds.contains(&kind),
    }
}

fn candidates(snapshot: &Snapshot, name: &str) -> Result<(Vec<SymbolRow>, Match)> {
    if let Some(id) = SymbolId::parse(name) {
        return Ok((snapshot.symbols_with_id(id)?, Match::Handle));
    }
    if let Some(keys) = SymbolId::parse_short(name) {
        return Ok((snapshot.symbols_with_keys(keys)?, Match::Handle));
    }
    if let Some(id) = StableId::parse(name) {
        return Ok((snapshot.symbols_with_stable_id(id)?, Match::Handle));
    }
    let last = last_segment(name);
    let mut exact = snapshot.symbols_named(last)?;
    if last != name {
        exact.extend(snapshot.symbols_named(name)?);
    }
    let is_code = |row: &SymbolRow| !row.kind.steps_back();
    if exact.iter().any(is_code) {
        return Ok((exact, Match::Exact));
    }
    let like = snapshot.symbols_named_like(last)?;
    // The title of a test, or a landmark, does not keep code away that is spelt otherwise.
    match exact.is_empty() || like.iter().any(is_code) {
        true => Ok((like, Match::IgnoringCase)),
        false => Ok((exact, Match::Exact)),
    }
}

fn last_segment(name: &str) -> &str {
    name.rsplit([':', '.']).next().filter(|last| !last.is_empty()).unwrap_or(name)
}

/// How well a definition bears the name; `None` when it does not. Handles mean one symbol each.
fn score(question: &Locate<'_>, name: &str, hit: &SymbolHit, matching: Match) -> Option<Scores> {
    let symbol = hit.symbol();
    let qualified = symbol.qualified_name.as_str();
    let named = match matching {
        Match::Handle => 1.0,
        Match::Exact if symbol.name == name || is_suffix(qualified, name) => wholeness(symbol.kind),
        Match::IgnoringCase if is_suffix(&qualified.to_lowercase(), &name.to_lowercase()) => {
            wholeness(symbol.kind) / 2.0
        }
        _ => return None,
    };
    let asked = if matches!(matching, Match::Handle) { qualified } else { name };
    let path = &hit.version.path;
    let mut scores = Scores::default();
    scores.set(Feature::Bm25, 1.0);
    scores.set(Feature::ExactMatch, f64::from(!matches!(matching, Match::IgnoringCase)));
    // A simple name says nothing about the qualified one.
    let (given, all) = (segments(asked).count(), segments(qualified).count().max(1));
    scores.set(Feature::QualifiedName, if given > 1 { given as f64 / all as f64 } else { 0.0 });
    scores.set(Feature::Definition, 1.0);
    scores.set(Feature::KindMatch, f64::from(!question.kinds.is_empty()));
    scores.set(Feature::Named, named);
    scores.set(Feature::Public, f64::from(symbol.visibility == Some(Visibility::Public)));
    of_place(&mut scores, question, path, symbol.in_test);
    if !matches!(matching, Match::Handle) {
        step_back(&mut scores, question.kinds, symbol.kind);
    }
    Some(scores)
}

/// The BM25 score of a record that is nothing but the name, which so many records bear.
fn ceiling(snapshot: &Snapshot, bearers: usize) -> f64 {
    const K1: f64 = 1.2;
    let (count, bearers) = (snapshot.info().totals.symbol_docs as f64, bearers as f64);
    (1.0 + (count - bearers + 0.5).max(0.0) / (bearers + 0.5)).ln() * (K1 + 1.0)
}

/// Whether `name` is the end of `qualified`, from a border between segments on. `.` and `::` mean the same, and a type
/// without arguments is meant with any.
fn is_suffix(qualified: &str, name: &str) -> bool {
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

fn segments(name: &str) -> impl Iterator<Item = &str> {
    name.rsplit([':', '.']).filter(|segment| !segment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_landmark_comes_behind_the_last_of_code() {
        let mut code = Scores::default();
        let far = [Feature::Test, Feature::Example, Feature::PassesOn];
        far.into_iter().for_each(|feature| code.set(feature, 1.0));
        let mut landmark = Scores::default();
        for feature in [Feature::ExactMatch, Feature::Definition, Feature::QualifiedName, Feature::Named] {
            landmark.set(feature, 1.0);
        }
        step_back(&mut landmark, &[], SymbolKind::Key);
        assert!(landmark.total_units() < code.total_units());
    }

    #[test]
    fn a_suffix_ends_at_a_border() {
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
