//! Names as they come in: a symbol may be named by the place where it stands.

use codecompass_model::ids::SymbolId;
use codecompass_model::{Symbol, SymbolKind};
use codecompass_query::place_of;
use codecompass_store::Snapshot;
use serde_json::json;

use super::frame::{Kind, Param, optional};
use crate::error::{AppError, Code};
use crate::paths::Paths;

/// Further names for the same question.
pub(crate) const ALSO: Param =
    optional("also", Kind::List, "Further names, answered in the same call").brief("More names");

/// The name that look-ups take: a place (`src/a.rs:308`, `src/a.rs:300-320`) becomes the id of the symbol that is
/// declared on its line, else of the innermost around it; anything else stays what it is.
pub(crate) fn handle(snapshot: &Snapshot, paths: &Paths<'_>, name: &str) -> Result<String, AppError> {
    let name = name.trim();
    let Some((path, (line, end))) = place_of(name) else { return Ok(name.to_owned()) };
    let file = paths.file(&[snapshot], "symbol_name", path)?;
    let missing = |why: String| {
        AppError::new(Code::SymbolNotFound, format!("No symbol stands at {}:{line}: {why}.", file.path))
            .data(json!({ "symbol_name": name, "path": file.path, "nearest_names": [] }))
    };
    let Some(version) = snapshot.version_at(&file.path)? else {
        let why = file.absence.as_ref().map(|absence| absence.clause());
        return Err(missing(why.unwrap_or_else(|| "no such file is in the index for this ref".into())));
    };
    if line == 0 || line > version.lines.max(1) {
        return Err(missing(format!("the file has {} lines", version.lines)));
    }
    let outline = snapshot.outline(version.id)?;
    match at_line(&outline.symbols, line, end) {
        Some(symbol) => Ok(SymbolId::of(&file.path, symbol).to_string()),
        None => Err(missing("the line is at the level of the file".into())),
    }
}

/// The symbol declared on a line, else the innermost around it. Of several on one line the outermost is meant, or the one
/// that ends where the range ends.
pub(crate) fn at_line(symbols: &[Symbol], line: u32, end: Option<u32>) -> Option<&Symbol> {
    let defined = || symbols.iter().filter(|symbol| symbol.kind != SymbolKind::Use);
    let is_declared = |symbol: &&Symbol| symbol.lines.start == line || symbol.name_line == line;
    let is_range = |symbol: &&Symbol| is_declared(symbol) && end.is_some_and(|end| symbol.lines.end == end);
    let is_around = |symbol: &&Symbol| (symbol.lines.start..=symbol.lines.end).contains(&line);
    defined().find(is_range).or_else(|| defined().find(is_declared)).or_else(|| defined().rfind(is_around))
}
