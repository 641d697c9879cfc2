//! Where is this defined?
//!
//! A name may be simple (`validate_token`), any suffix of a qualified name (`JwtValidator::validate_token`), the whole
//! of it, or a handle that an earlier answer gave (`sym_…`, `b3:…`). Every definition that bears the name is an
//! answer; imports are not. Without any, names that differ only in case are.

use std::cmp::Reverse;

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{SymbolKind, Visibility};
use codecompass_store::{Result, Snapshot, StoreError, SymbolRow, VersionInfo};

use crate::SymbolHit;
use crate::score::{Feature, Scores};
use crate::search::features::{self, wholeness};

/// The question.
#[derive(Clone, Debug)]
pub struct Locate<'q> {
    /// The name or handle.
    pub name: &'q str,
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
    let (rows, matching) = candidates(snapshot, name)?;
    let mut rows: Vec<Candidate> = rows
        .into_iter()
        .filter(|row| wants(question, row.kind))
        .map(|row| Candidate::of(snapshot, question, row))
        .collect::<Result<_>>()?;
    rows.retain(|row| question.language.is_none_or(|language| language == row.version.language));
    let order = |row: &Candidate| (Reverse(row.most), row.version.path.clone(), row.row.place);
    rows.sort_by_cached_key(order);
    let wanted = question.offset + question.limit;
    // Every bearer of a simple name is an answer, so those that can not come into the list need not be read.
    let is_simple = matches!(matching, Match::Exact) && segments(name).count() == 1;
    let mut hits: Vec<SymbolHit> = Vec::new();
    let mut unread = 0;
    for (at, row) in rows.iter().enumerate() {
        if is_simple && at % STEP == 0 && is_settled(&hits, wanted, row.most) {
            unread = rows.len() - at;
            break;
        }
        let mut hit = SymbolHit::read(snapshot, &row.row)?;
        if let Some(scores) = score(question, name, &hit, matching) {
            hit.scores = scores;
            hits.push(hit);
        }
    }
    let total = hits.len() + unread;
    let raw = ceiling(snapshot, total);
    for hit in &mut hits {
        hit.scores.raw_bm25 = raw;
    }
    hits.sort_by(|a, b| {
        let place = |hit: &SymbolHit| (hit.version.path.clone(), hit.symbol().lines.start, hit.symbol().span.start);
        b.scores.total_units().cmp(&a.scores.total_units()).then_with(|| place(a).cmp(&place(b)))
    });
    let hits = hits.into_iter().skip(question.offset).take(question.limit).collect();
    Ok(Located { hits, total })
}

/// So many files are read between two looks at whether that is enough.
const STEP: usize = 16;

/// A symbol before its file's facts are read.
struct Candidate {
    row: SymbolRow,
    version: VersionInfo,
    /// The highest total it can have.
    most: i64,
}

impl Candidate {
    fn of(snapshot: &Snapshot, question: &Locate<'_>, row: SymbolRow) -> Result<Self> {
        let lost = || StoreError::Corrupt(format!("file version {} is not stored", row.version));
        let version = snapshot.version(row.version)?.ok_or_else(lost)?;
        let mut scores = Scores::default();
        for feature in [Feature::Bm25, Feature::ExactMatch, Feature::Definition, Feature::Public] {
            scores.set(feature, 1.0);
        }
        scores.set(Feature::KindMatch, f64::from(!question.kinds.is_empty()));
        scores.set(Feature::Named, wholeness(row.kind));
        of_path(&mut scores, &version.path);
        Ok(Self { most: scores.total_units(), row, version })
    }
}

/// Whether so many of the hits are as good as anything that is still to come, which comes later by path.
fn is_settled(hits: &[SymbolHit], wanted: usize, most: i64) -> bool {
    hits.iter().filter(|hit| hit.scores.total_units() >= most).count() >= wanted
}

fn of_path(scores: &mut Scores, path: &str) {
    scores.set(Feature::Test, f64::from(features::is_test(path)));
    scores.set(Feature::Example, f64::from(features::is_example(path)));
    scores.set(Feature::PassesOn, f64::from(features::passes_on(path)));
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
    if !exact.is_empty() {
        return Ok((exact, Match::Exact));
    }
    Ok((snapshot.symbols_named_like(last)?, Match::IgnoringCase))
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
    of_path(&mut scores, path);
    Some(scores)
}

/// The BM25 score of a record that is nothing but the name, which so many records bear.
fn ceiling(snapshot: &Snapshot, bearers: usize) -> f64 {
    const K1: f64 = 1.2;
    let (count, bearers) = (snapshot.info().totals.symbol_docs as f64, bearers as f64);
    (1.0 + (count - bearers + 0.5).max(0.0) / (bearers + 0.5)).ln() * (K1 + 1.0)
}

/// Whether `name` is the end of `qualified`, from a border between segments on. `.` and `::` mean the same.
fn is_suffix(qualified: &str, name: &str) -> bool {
    let (mut whole, mut part) = (segments(qualified), segments(name));
    loop {
        match (whole.next(), part.next()) {
            (_, None) => return true,
            (Some(a), Some(b)) if a == b => {}
            _ => return false,
        }
    }
}

fn segments(name: &str) -> impl Iterator<Item = &str> {
    name.rsplit([':', '.']).filter(|segment| !segment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ];
        for (qualified, name, expected) in table {
            assert_eq!(is_suffix(qualified, name), expected, "{name} of {qualified}");
        }
    }
}
