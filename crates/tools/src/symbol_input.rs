//! Symbol names in requests: resolves a name or location to a symbol, and builds the errors if that fails.

use codecompass_lang::REGISTRY;
use codecompass_model::SymbolAt;
use codecompass_model::ids::SymbolId;
use codecompass_query::{AmbiguityPolicy, NameMatch, NameQuery, SymbolHit, nearest_names, parse_location, symbol_at};
use codecompass_store::Snapshot;
use codecompass_wire::{Candidate, ErrorData};

use super::tool_spec::{Param, ParamKind, optional};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::paths::{Absence, PathResolver, ResolvedFile};

/// Further names for the same request.
pub(crate) const ALSO: Param =
    optional("also", ParamKind::List, "Further names, answered in the same call").brief("More names");

/// Normalizes a name for lookups. A location (`src/a.rs:308`, `src/a.rs:300-320`) becomes the id of the symbol declared
/// on its line, or else of the innermost enclosing symbol; other names stay unchanged.
pub(crate) fn normalize_name(snapshot: &Snapshot, paths: &PathResolver<'_>, name: &str) -> Result<String, AppError> {
    let name = name.trim();
    let Some((path, (line, end))) = parse_location(name) else { return Ok(name.to_owned()) };
    let file = paths.resolve_file(&[snapshot], "symbol_name", path)?;
    let missing = |why: String| {
        AppError::new(Code::SymbolNotFound, format!("No symbol at {}:{line}: {why}.", file.path)).data(
            ErrorData::Symbol {
                symbol_name: name.to_owned(),
                path: Some(file.path.clone()),
                nearest_names: Vec::new(),
                left_out: None,
            },
        )
    };
    let Some(version) = snapshot.version_at(&file.path)? else {
        let why = file.absence.as_ref().map(|absence| absence.explanation_clause());
        return Err(missing(why.unwrap_or_else(|| "the file is not in the index for this ref".into())));
    };
    if line == 0 || line > version.lines.max(1) {
        return Err(missing(format!("the file has {} lines", version.lines)));
    }
    let outline = snapshot.outline(version.id)?;
    match symbol_at(&outline.symbols, line, end) {
        Some(at) => Ok(SymbolId::new(&file.path, &outline.symbols[at as usize]).to_string()),
        None => Err(missing("the line is at file level".into())),
    }
}

/// Resolves a name to a symbol and the others with the name, by the tool's policy. The error suggests names if none
/// matches, and lists candidates if the policy chooses none.
pub(crate) fn resolve_symbol(
    snapshot: &Snapshot,
    name: &str,
    file: Option<&ResolvedFile>,
    policy: AmbiguityPolicy<'_>,
) -> Result<(SymbolAt, Vec<SymbolAt>), AppError> {
    let name = name.trim();
    if name.is_empty() {
        return Err(AppError::new(Code::InvalidInput, "`symbol_name` is empty: give the name of a symbol.")
            .data(ErrorData::parameter("symbol_name")));
    }
    let path = file.map(|file| file.path.as_str());
    match codecompass_query::resolve_name(
        snapshot,
        &NameQuery { name, languages: REGISTRY, language: None, path },
        policy,
    )? {
        NameMatch::Unique { symbol, others, .. } => {
            Ok((symbol.symbol_at(), others.iter().map(SymbolHit::symbol_at).collect()))
        }
        NameMatch::Ambiguous(hits) => Err(ambiguous(name, &hits)),
        NameMatch::NotFound => Err(not_found(snapshot, name, file)?),
    }
}

/// The error for an unknown symbol, with similar names and the problem of the given file.
pub(crate) fn not_found(snapshot: &Snapshot, name: &str, file: Option<&ResolvedFile>) -> Result<AppError, AppError> {
    let near = nearest_names(snapshot, name, 3)?;
    let place = file.map(|file| format!(" in {}", file.path)).unwrap_or_default();
    let absence = file.and_then(|file| file.absence.as_ref());
    let why = absence.map(|absence| format!(": {}", absence.explanation_clause())).unwrap_or_default();
    let mut error = AppError::new(Code::SymbolNotFound, format!("No symbol {name:?}{place} is indexed{why}."));
    if !near.is_empty() {
        error = error.hint(format!("Similar names: {}.", near.join(", ")));
    }
    Ok(error.data(ErrorData::Symbol {
        symbol_name: name.to_owned(),
        path: file.map(|file| file.path.clone()),
        nearest_names: near,
        left_out: absence.and_then(Absence::skip_reason).map(Into::into),
    }))
}

/// The error for a name defined in several files, if the answer can cover only one symbol.
fn ambiguous(name: &str, hits: &[SymbolHit]) -> AppError {
    const MAX_CANDIDATES: usize = 20;
    let candidate = |hit: &SymbolHit| {
        let symbol = hit.symbol();
        Candidate {
            symbol_id: hit.id().to_string(),
            path: hit.version.path.clone(),
            line: symbol.lines.start,
            kind: symbol.kind.as_str().into(),
            qualified_name: symbol.qualified_name.clone(),
        }
    };
    let message = format!("{} symbols are called {name:?}, in several files.", hits.len());
    AppError::new(Code::AmbiguousSymbol, message)
        .hint("Give `path`, or the path:line or symbol_id of a candidate as the name.")
        .data(ErrorData::Ambiguous {
            symbol_name: name.to_owned(),
            candidates: hits.iter().take(MAX_CANDIDATES).map(candidate).collect(),
            total_candidates: hits.len(),
        })
}
