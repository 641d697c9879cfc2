//! `get_symbol_hierarchy`: what stands around a symbol, or inside it.

use codecompass_model::SymbolKind;
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_query::{Locate, Outline, SymbolHit, locate, nearest_names};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional, required, schema};
use super::{input, shape};
use crate::error::{AppError, Code};
use crate::metadata::Metadata;
use crate::output::Answer;

pub(crate) const TOOL: Tool = Tool {
    name: "get_symbol_hierarchy",
    title: "Hierarchy of a symbol",
    description: "Traverse the parent chain (ancestors) or child tree (descendants) of a symbol: method -> class -> \
                  module.",
    params: &[
        required("symbol_name", Kind::Text, "Name, end of a qualified name, or symbol_id"),
        optional("path", Kind::Text, "File, when several define the name (else ambiguous_symbol)"),
        REF,
        optional("direction", Kind::Choice(&["ancestors", "descendants"], Some("ancestors")), ""),
        WORKSPACE,
    ],
    output: || {
        let node = schema::object(
            &["symbol_id", "symbol_stable_id", "name", "kind", "qualified_name", "path", "signature"],
            &["line_start", "line_end", "depth"],
            &[("children", schema::list(schema::any_object()))],
        );
        json!({ "hierarchy": schema::list(node), "direction": schema::text(), "chain_length": schema::count() })
    },
    always: &["hierarchy", "direction", "chain_length"],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let (name, path) = (call.arguments.words("symbol_name"), call.arguments.text("path"));
        let is_up = call.arguments.text("direction").as_deref() != Some("descendants");
        call.query(|_, published| {
            answer(published.snapshot.as_deref(), &name, path.as_deref(), is_up, published.metadata)
        })
    },
};

fn answer(
    snapshot: Option<&Snapshot>,
    name: &str,
    path: Option<&str>,
    is_up: bool,
    metadata: Metadata,
) -> Result<Answer, AppError> {
    let Some(snapshot) = snapshot else {
        return Err(AppError::index_not_ready().about(metadata));
    };
    let hit = one_symbol(snapshot, name, path).map_err(|error| error.about(metadata.clone()))?;
    let place = hit.place();
    let outline = Outline::of(snapshot, hit.version.clone())?;
    let (hierarchy, length): (Vec<Value>, usize) = match is_up {
        true => {
            let chain = outline.around(place);
            let nodes = chain.iter().enumerate().map(|(depth, place)| Value::Object(node(&outline, *place, depth)));
            (nodes.collect(), chain.len())
        }
        false => {
            let mut count = 0;
            let root = tree(&outline, place, 0, &mut count);
            (vec![root], count)
        }
    };
    let direction = if is_up { "ancestors" } else { "descendants" };
    Ok(Answer {
        text: String::new(),
        json: json!({
            "hierarchy": hierarchy,
            "direction": direction,
            "chain_length": length,
            "metadata": metadata.to_json(),
        }),
        code: 0,
    })
}

/// The one symbol that a name means; an error that lists them when they stand in several files.
pub(crate) fn one_symbol(snapshot: &Snapshot, name: &str, path: Option<&str>) -> Result<SymbolHit, AppError> {
    let name = name.trim();
    if name.is_empty() {
        return Err(AppError::new(Code::InvalidInput, "`symbol_name` is empty: give the name of a symbol.")
            .data(json!({ "parameter": "symbol_name" })));
    }
    let asked = Locate { name, kinds: &[], language: None, offset: 0, limit: input::MOST as usize };
    let mut hits = locate(snapshot, &asked)?.hits;
    if let Some(path) = path.map(|path| path.trim().trim_start_matches("./")) {
        hits.retain(|hit| hit.version.path == path);
    }
    let Some(first) = hits.first() else { return Err(not_found(snapshot, name, path)?) };
    if hits.iter().any(|hit| hit.version.path != first.version.path) {
        return Err(ambiguous(name, &hits));
    }
    Ok(hits.swap_remove(0))
}

fn not_found(snapshot: &Snapshot, name: &str, path: Option<&str>) -> Result<AppError, AppError> {
    let near = nearest_names(snapshot, name, 3)?;
    let place = path.map(|path| format!(" in {path}")).unwrap_or_default();
    let mut error = AppError::new(Code::SymbolNotFound, format!("No symbol {name:?}{place} is indexed."));
    if !near.is_empty() {
        error = error.hint(format!("Nearest names: {}.", near.join(", ")));
    }
    Ok(error.data(json!({ "symbol_name": name, "path": path, "nearest_names": near })))
}

fn ambiguous(name: &str, hits: &[SymbolHit]) -> AppError {
    const MOST: usize = 20;
    let candidate = |hit: &SymbolHit| {
        let symbol = hit.symbol();
        json!({
            "symbol_id": hit.id().to_string(),
            "path": hit.version.path,
            "line": symbol.lines.start,
            "kind": symbol.kind.as_str(),
            "qualified_name": symbol.qualified_name,
        })
    };
    let candidates: Vec<Value> = hits.iter().take(MOST).map(candidate).collect();
    let message = format!("{} symbols are called {name:?}, in several files.", hits.len());
    AppError::new(Code::AmbiguousSymbol, message)
        .hint("Give `path`, or one of the candidates' `symbol_id` as the name.")
        .data(json!({ "symbol_name": name, "candidates": candidates, "total_candidates": hits.len() }))
}

fn node(outline: &Outline, place: u32, depth: usize) -> Map<String, Value> {
    let symbol = outline.symbol(place);
    let version = &outline.version;
    let mut node = Map::new();
    node.insert("symbol_id".into(), json!(SymbolId::of(&version.path, symbol).to_string()));
    node.insert("symbol_stable_id".into(), json!(StableId::of(&version.language, symbol).to_string()));
    node.insert("name".into(), json!(symbol.name));
    node.insert("kind".into(), json!(symbol.kind.as_str()));
    node.insert("qualified_name".into(), json!(symbol.qualified_name));
    node.insert("path".into(), json!(version.path));
    node.insert("line_start".into(), json!(symbol.lines.start));
    node.insert("line_end".into(), json!(symbol.lines.end));
    node.insert("signature".into(), json!(shape::cut(&symbol.signature, shape::SIGNATURE)));
    node.insert("depth".into(), json!(depth));
    node
}

fn tree(outline: &Outline, place: u32, depth: usize, count: &mut usize) -> Value {
    *count += 1;
    let mut node = node(outline, place, depth);
    let mut inside = outline.inside(place).to_vec();
    // What is implemented for a type stands in blocks beside it.
    let symbol = outline.symbol(place);
    if depth == 0 && symbol.kind != SymbolKind::Impl {
        let is_of_it = |other: &&u32| {
            let other = outline.symbol(**other);
            other.kind == SymbolKind::Impl && other.qualified_name == symbol.qualified_name
        };
        inside.extend(
            outline
                .around(place)
                .get(1)
                .map_or(outline.top(), |parent| outline.inside(*parent))
                .iter()
                .filter(is_of_it),
        );
    }
    let children: Vec<Value> = inside.iter().map(|child| tree(outline, *child, depth + 1, count)).collect();
    if !children.is_empty() {
        node.insert("children".into(), json!(children));
    }
    Value::Object(node)
}
