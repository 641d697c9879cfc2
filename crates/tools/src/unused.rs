//! The unused symbols of a file or folder, for `get_file_outline`.

use codecompass_model::ids::SymbolId;
use codecompass_model::{Symbol, SymbolKind};
use codecompass_query::graph::{Graph, UnusedReason};
use codecompass_wire::fit;
use codecompass_wire::get_file_outline as wire;
use serde_json::Value;

use super::graph::{GraphSymbol, with_graph};
use super::rows::{self, RowWriter};
use super::shape;
use crate::call::QueryContext;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Completeness, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat, style};

/// The maximum length of a header, in characters.
const MAX_HEADER_CHARS: usize = 90;

/// An unused symbol and the reason.
struct Unused {
    symbol: GraphSymbol,
    reason: UnusedReason,
}

/// The unused symbols of some files.
struct Found {
    symbols: Vec<Unused>,
    /// The number of files with code, and of those that were examined.
    files: usize,
    examined: usize,
}

/// Answers for a file, or as text for a folder; `None` if the view has neither.
pub(super) fn answer(
    inquiry: &QueryContext<'_>,
    path: &str,
    name: Option<&str>,
    metadata: &mut Metadata,
) -> Result<Option<Answer>, AppError> {
    let cache = inquiry.resolve_cache().map_err(|error| error.with_metadata(metadata.clone()))?;
    let is_json = inquiry.form == OutputFormat::Json;
    let found = with_graph(cache, &inquiry.time_limit, |graph| find(graph, path, name, !is_json))?;
    let Some(found) = found else { return Ok(None) };
    if found.examined < found.files {
        metadata.completeness = Completeness::Partial;
        let Found { examined, files, .. } = found;
        metadata.warnings.push(format!("examined {examined} of {files} files (time limit); ask for a smaller folder"));
    }
    if !is_json {
        let text = text(path, &found, inquiry.max_bytes()) + &metadata.notes();
        return Ok(Some(Answer { text, json: Value::Null, code: 0 }));
    }
    let entry = |one: &Unused| wire::OutlineSymbol {
        unused: Some(reason(&one.reason)),
        ..symbol_entry(&one.symbol.file.path, one.symbol.symbol())
    };
    let mut symbols: Vec<wire::OutlineSymbol> = found.symbols.iter().map(entry).collect();
    let kept = fit(&symbols, inquiry.max_bytes());
    if kept < symbols.len() {
        metadata.completeness = Completeness::Truncated;
        metadata.warnings.push(format!("{kept} of {} symbols are listed", symbols.len()));
        symbols.truncate(kept);
    }
    let version = inquiry.snapshot().map(|snapshot| snapshot.version_at(path)).transpose()?.flatten();
    let language = version.map(|version| version.language).unwrap_or_default();
    let answer = wire::Answer { file_path: path.to_owned(), language, symbols, metadata: metadata.clone() };
    Answer::from_wire(&answer, 0).map(Some)
}

/// Finds the unused symbols of a file, or of the files below a folder.
fn find(graph: &Graph<'_>, path: &str, name: Option<&str>, takes_folders: bool) -> Result<Option<Found>, AppError> {
    let snapshot = graph.snapshot();
    let folder = if path.is_empty() { String::new() } else { format!("{}/", path.trim_end_matches('/')) };
    let is_meant = |other: &str| other == path || takes_folders && other.starts_with(&folder);
    let mut files: Vec<_> =
        snapshot.versions_by_id()?.values().filter(|version| is_meant(&version.path)).cloned().collect();
    if files.is_empty() {
        return Ok(None);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let is_code = |path: &str, language: &str| graph.has_rules(language) && !graph.languages().is_test_path(path);
    files.retain(|version| version.symbols > 0 && is_code(&version.path, &version.language));
    let mut found = Found { symbols: Vec::new(), files: files.len(), examined: 0 };
    for version in &files {
        let Some(file) = graph.file(version.id) else { break };
        let (unused, is_complete) = graph.unused_in(&file, &snapshot.text(version.id)?)?;
        for one in unused {
            let symbol = GraphSymbol::load(graph, one.at)?;
            if name.is_none_or(|name| symbol.symbol().name.to_lowercase().contains(name)) {
                found.symbols.push(Unused { symbol, reason: one.reason });
            }
        }
        if !is_complete {
            break;
        }
        found.examined += 1;
    }
    Ok(Some(found))
}

/// The reason in words.
fn reason(reason: &UnusedReason) -> String {
    let UnusedReason { own, tests, elsewhere, is_public, has_bases } = *reason;
    let mut parts = Vec::new();
    match (tests, own) {
        (0, 0) if elsewhere == 0 => parts.push("its name occurs nowhere else".to_owned()),
        (0, 0) => parts.push("no reference".to_owned()),
        (0, _) => parts.push("only used by itself".to_owned()),
        _ => parts.push(format!("only used by {}", rows::count(tests, "test"))),
    }
    if elsewhere > 0 {
        parts.push(format!("{elsewhere} of the name mean other symbols"));
    }
    if has_bases {
        parts.push("its base type may register it".to_owned());
    }
    if is_public {
        parts.push("public, may be used elsewhere".to_owned());
    }
    parts.join("; ")
}

/// The text: what is private first, because nothing else can use it.
fn text(path: &str, found: &Found, room: usize) -> String {
    let mut sheet = RowWriter::new(room);
    let place = if path.is_empty() { "." } else { path };
    let (private, public): (Vec<&Unused>, Vec<&Unused>) = found.symbols.iter().partition(|one| !one.reason.is_public);
    let count = rows::count(found.symbols.len(), "unused symbol");
    sheet.line(&format!("{}: {count} in {}", style::path(&escape_control(place)), rows::count(found.examined, "file")));
    let mut shown = 0;
    'all: for (title, list) in [("private", &private), ("public, so other repositories may use them", &public)] {
        if list.is_empty() {
            continue;
        }
        sheet.end_file();
        sheet.line(title);
        for one in list {
            let symbol = one.symbol.symbol();
            // A header with several declarators may show the name of another one.
            let header = Some(rows::header(symbol, MAX_HEADER_CHARS)).filter(|header| header.contains(&symbol.name));
            let header = header.unwrap_or_else(|| escape_control(&rows::short_name(symbol)).into_owned());
            let why = reason(&UnusedReason { is_public: false, ..one.reason });
            let row = format!("{} {header}: {}", rows::lines_text(symbol.lines), style::dim(&why));
            if !sheet.row(&one.symbol.file.path, &row) {
                break 'all;
            }
            shown += 1;
        }
    }
    let mut text = sheet.finish();
    if shown < found.symbols.len() {
        text += &format!("… {shown} of {}; ask for a smaller folder\n", found.symbols.len());
    }
    text
}

/// A symbol without the symbols inside it.
pub(super) fn symbol_entry(path: &str, symbol: &Symbol) -> wire::OutlineSymbol {
    let signature = || shape::truncate(&symbol.signature, shape::MAX_SIGNATURE_CHARS);
    wire::OutlineSymbol {
        kind: symbol.kind.as_str().into(),
        name: symbol.name.clone(),
        line_start: symbol.lines.start,
        line_end: symbol.lines.end,
        visibility: symbol.visibility_text.clone(),
        signature: (symbol.kind != SymbolKind::Use).then(signature),
        symbol_id: SymbolId::new(path, symbol).to_string(),
        unused: None,
        children: Vec::new(),
        children_omitted: None,
    }
}
