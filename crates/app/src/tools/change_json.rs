//! Changes as JSON.

use codecompass_index::source::{ChangeType, FileChange};
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_query::diff::{Pair, SymbolChange, SymbolSide, doc_changed, facets};
use serde_json::{Map, Value, json};

use super::ref_compare::RefState;
use super::shape;
use crate::error::AppError;

/// The maximum length of a signature, in characters: long enough to compare two of them.
const MAX_SIGNATURE_CHARS: usize = 400;

/// A changed file.
pub(super) fn file(file: &FileChange) -> Value {
    let mut fields = Map::new();
    fields.insert("path".into(), json!(file.path));
    fields.insert("change_type".into(), json!(file.change_type().as_str()));
    if file.change_type() == ChangeType::Renamed {
        fields.insert("old_path".into(), json!(file.old_path));
    }
    Value::Object(fields)
}

/// A changed symbol with both its sides.
pub(super) fn change(base: &RefState, head: &RefState, pair: &Pair<'_>) -> Result<Value, AppError> {
    let latest = pair.latest();
    let change = pair.change().unwrap_or(SymbolChange::Modified);
    let mut fields = Map::new();
    fields.insert("symbol".into(), json!(latest.symbol().name));
    fields.insert("change_type".into(), json!(change.as_str()));
    if let (SymbolChange::Modified, Some((before, after))) = (change, pair.before.zip(pair.after)) {
        let old = base.snapshot.text(before.file.version.id)?;
        let new = head.snapshot.text(after.file.version.id)?;
        let places = (before.ordinal, after.ordinal);
        let facets = facets(places, (&before.file.outline.symbols, &old), (&after.file.outline.symbols, &new));
        fields.insert("changed".into(), json!(facets.iter().map(|facet| facet.as_str()).collect::<Vec<_>>()));
    }
    fields.insert("before".into(), json!(pair.before.as_ref().map(side_json)));
    fields.insert("after".into(), json!(pair.after.as_ref().map(side_json)));
    fields.insert("path".into(), json!(latest.path()));
    let lines = latest.symbol().lines;
    fields.insert("lines".into(), json!({ "start": lines.start, "end": lines.end }));
    Ok(Value::Object(fields))
}

/// The symbols where only the docs differ.
pub(super) fn doc_only<'f>(base: &RefState, head: &RefState, pairs: &[Pair<'f>]) -> Result<Vec<Pair<'f>>, AppError> {
    let mut found = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.change().is_none()) {
        let Some((before, after)) = pair.before.zip(pair.after) else { continue };
        if before.symbol().doc.is_none() && after.symbol().doc.is_none() {
            continue;
        }
        let old = base.snapshot.text(before.file.version.id)?;
        let new = head.snapshot.text(after.file.version.id)?;
        if doc_changed((before.symbol(), &old), (after.symbol(), &new)) {
            found.push(*pair);
        }
    }
    Ok(found)
}

/// A symbol summary.
pub(super) fn summary_json(pair: &Pair<'_>) -> Value {
    let latest = pair.latest();
    json!({
        "symbol": latest.symbol().name,
        "qualified_name": latest.symbol().qualified_name,
        "kind": latest.symbol().kind.as_str(),
        "path": latest.path(),
        "line_start": latest.symbol().lines.start,
    })
}

/// One side of a symbol.
fn side_json(entry: &SymbolSide<'_>) -> Map<String, Value> {
    let symbol = entry.symbol();
    let language = &entry.file.version.language;
    let mut fields = Map::new();
    fields.insert("symbol_id".into(), json!(SymbolId::new(entry.path(), symbol).to_string()));
    fields.insert("symbol_stable_id".into(), json!(StableId::new(language, symbol).to_string()));
    fields.insert("kind".into(), json!(symbol.kind.as_str()));
    fields.insert("qualified_name".into(), json!(symbol.qualified_name));
    fields.insert("signature".into(), json!(shape::truncate(&symbol.signature, MAX_SIGNATURE_CHARS)));
    fields.insert("path".into(), json!(entry.path()));
    fields.insert("line_start".into(), json!(symbol.lines.start));
    fields.insert("line_end".into(), json!(symbol.lines.end));
    fields
}
