//! Where is this defined?
//!
//! A name may be simple (`validate_token`), any suffix of a qualified name (`JwtValidator::validate_token`), the whole
//! of it, or a handle that an earlier answer gave (`sym_…`, `b3:…`). Every definition that bears the name is an
//! answer; imports are not. Without any, names that differ only in case are.

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{SymbolKind, Visibility};
use codecompass_store::{Result, Snapshot, SymbolRow};

use crate::SymbolHit;

/// The question.
#[derive(Clone, Debug)]
pub struct Locate<'q> {
    /// The name or handle.
    pub name: &'q str,
    /// Only these kinds; empty for all.
    pub kinds: &'q [SymbolKind],
    /// Only this language.
    pub language: Option<&'q str>,
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
    let (rows, matching) = candidates(snapshot, question.name)?;
    let mut hits = Vec::new();
    for row in rows.iter().filter(|row| wants(question, row.kind)) {
        let mut hit = SymbolHit::read(snapshot, row)?;
        if question.language.is_some_and(|language| language != hit.version.language) {
            continue;
        }
        if let Some(score) = score(question.name, &hit, matching) {
            hit.score = score;
            hits.push(hit);
        }
    }
    hits.sort_by(|a, b| {
        let place = |hit: &SymbolHit| (hit.version.path.clone(), hit.symbol().lines.start, hit.symbol().span.start);
        b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
    });
    let total = hits.len();
    hits.truncate(question.limit);
    Ok(Located { hits, total })
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

/// How well a definition bears the name; `None` when it does not. An `impl` block comes after the type it is of,
/// private after public.
fn score(name: &str, hit: &SymbolHit, matching: Match) -> Option<f64> {
    let symbol = hit.symbol();
    let qualified = symbol.qualified_name.as_str();
    let base = match matching {
        Match::Handle => return Some(1.0),
        Match::Exact if qualified == name => 1.0,
        Match::Exact if symbol.name == name || is_suffix(qualified, name) => 0.95,
        Match::IgnoringCase if is_suffix(&qualified.to_lowercase(), &name.to_lowercase()) => 0.6,
        _ => return None,
    };
    let impl_block = if symbol.kind == SymbolKind::Impl { 0.1 } else { 0.0 };
    let private = if symbol.visibility == Some(Visibility::Private) { 0.02 } else { 0.0 };
    Some(((base - impl_block - private) * 1000.0f64).round() / 1000.0)
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
