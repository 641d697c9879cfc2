//! Symbol names in requests: resolves a name or location to a symbol, and builds the errors if that fails.

use codecompass_lang::REGISTRY;
use codecompass_model::SymbolAt;
use codecompass_model::ids::SymbolId;
use codecompass_query::graph::Graph;
use codecompass_query::{
    AmbiguityPolicy, LocateRequest, NameMatch, NameQuery, SymbolHit, locate, nearest_names, parse_location, symbol_at,
};
use codecompass_store::Snapshot;
use codecompass_wire::{Candidate, ErrorData};

use super::graph::GraphSymbol;
use super::tool_spec::{Param, ParamKind, optional};
use super::{notation, similar_paths};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::output::{OutputFormat, Reader};
use codecompass_workspace::paths::{Absence, PathResolver, ResolvedFile};

/// Further names for the same request.
pub(crate) const ALSO: Param =
    optional("also", ParamKind::List, "Further names, answered in the same call").brief("More names");

/// Normalizes a name for lookups. A location (`src/a.rs:308`, `src/a.rs:300-320`) becomes the id of the symbol declared
/// on its line, or else of the innermost enclosing symbol; other names stay unchanged.
pub(crate) fn normalize_name(snapshot: &Snapshot, paths: &PathResolver<'_>, name: &str) -> Result<String, AppError> {
    let name = name.trim();
    let place = if paths.is_forgiving() { notation::location(name) } else { name.into() };
    let Some((path, (line, end))) = parse_location(&place) else {
        return if paths.is_forgiving() { forgive_name(snapshot, paths, name) } else { Ok(name.to_owned()) };
    };
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

/// Replaces a name that no definition has by the id of the symbol that a re-export passes on under that name, and notes
/// through which import.
pub(crate) fn follow_reexports(
    graph: &Graph<'_>,
    name: String,
    warnings: &mut Vec<String>,
) -> Result<String, AppError> {
    if !name.contains(['.', ':']) {
        return Ok(name);
    }
    let asked = LocateRequest { name: &name, languages: REGISTRY, kinds: &[], language: None, offset: 0, limit: 1 };
    if locate(graph.snapshot(), &asked)?.total > 0 {
        return Ok(name);
    }
    let Some(found) = graph.public_name(&name)? else { return Ok(name) };
    let shown = GraphSymbol::load(graph, found.target)?;
    let own = &shown.symbol().qualified_name;
    warnings.push(format!("{} is {own}, re-exported at {}:{}", found.name, found.path, found.line));
    Ok(SymbolId::new(&shown.file.path, shown.symbol()).to_string())
}

/// A name in another notation: the id of the symbol in `src/a.rs:name`, else the name in a declaration or a call. A name
/// that some symbol has exactly is left alone.
fn forgive_name(snapshot: &Snapshot, paths: &PathResolver<'_>, name: &str) -> Result<String, AppError> {
    if let Some((path, inner)) = notation::file_and_name(name)
        && let Ok(file) = paths.resolve_file(&[snapshot], "symbol_name", path)
        && file.absence.is_none()
        && let Some(hit) = symbol_in_file(snapshot, &file.path, &notation::name(inner))?
    {
        return Ok(hit.id().to_string());
    }
    Ok(notation::name(name).into_owned())
}

/// The symbol of a file with this name.
pub(crate) fn symbol_in_file(snapshot: &Snapshot, path: &str, name: &str) -> Result<Option<Box<SymbolHit>>, AppError> {
    let wanted = NameQuery { name, languages: REGISTRY, language: None, path: Some(path) };
    Ok(match codecompass_query::resolve_name(snapshot, &wanted, AmbiguityPolicy::OneFile)? {
        NameMatch::Unique { symbol, .. } => Some(symbol),
        NameMatch::Ambiguous(_) | NameMatch::NotFound => None,
    })
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

/// The policy of a tool whose contract has an error for an ambiguous name: on the command line, a text is about the
/// best match and lists the others, as elsewhere.
pub(crate) fn single_symbol_policy<'g>(graph: &'g Graph<'g>, form: OutputFormat) -> AmbiguityPolicy<'g> {
    match form {
        OutputFormat::Text(Reader::Person) => AmbiguityPolicy::MostUsed { graph, prefers: |_| true },
        _ => AmbiguityPolicy::OneFile,
    }
}

/// The error for an unknown symbol, with similar names and the problem of the given file.
pub(crate) fn not_found(snapshot: &Snapshot, name: &str, file: Option<&ResolvedFile>) -> Result<AppError, AppError> {
    let near = nearest_names(snapshot, name, 3)?;
    let place = file.map(|file| format!(" in {}", file.path)).unwrap_or_default();
    let absence = file.and_then(|file| file.absence.as_ref());
    let why = absence.map(|absence| format!(": {}", absence.explanation_clause())).unwrap_or_default();
    let mut error = AppError::new(Code::SymbolNotFound, format!("No symbol {name:?}{place} is indexed{why}."));
    let files = match (file, absence) {
        (Some(file), Some(Absence::Unknown)) => similar_paths::similar_paths(snapshot, &file.path)?,
        _ => Vec::new(),
    };
    if let Some(hint) = similar_paths::did_you_mean(&files) {
        error = error.hint(hint);
    } else if !near.is_empty() {
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
