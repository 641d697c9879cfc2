//! `get_symbol_hierarchy`: what stands around a symbol, or inside it.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{SymbolAt, SymbolKind, VersionId};
use codecompass_query::graph::{Graph, Memory};
use codecompass_query::{Locate, Outline, SymbolHit, locate};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::find_references::SERVED;
use super::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional, required, schema};
use super::graph::with_graph;
use super::trees::{self, Cut};
use super::{graph, input, shape};
use crate::config::Config;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::metadata::Metadata;
use crate::output::{Answer, style};
use crate::paths::{File, Paths};

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
            &["line_start", "line_end", "depth", "children_omitted"],
            &[("children", schema::list(schema::any_object()))],
        );
        json!({ "hierarchy": schema::list(node), "direction": schema::text(), "chain_length": schema::count() })
    },
    always: &["hierarchy", "direction", "chain_length"],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let arguments = &call.arguments;
        let question = Question {
            name: arguments.words("symbol_name"),
            path: arguments.text("path"),
            is_up: arguments.text("direction").as_deref() != Some("descendants"),
            patience: SERVED,
        };
        call.query(|session, published| {
            let paths = Paths::from_root(session);
            answer(published.memory.as_deref(), &question, &paths, &session.config, published.metadata)
        })
    },
};

/// What is asked.
pub(crate) struct Question {
    pub(crate) name: String,
    pub(crate) path: Option<String>,
    pub(crate) is_up: bool,
    pub(crate) patience: Duration,
}

/// Answers from a snapshot.
pub(crate) fn answer(
    memory: Option<&Memory>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let Some(memory) = memory else { return Err(AppError::index_not_ready().about(metadata)) };
    let snapshot = memory.snapshot();
    let file = paths.file_if_given(&[snapshot], question.path.as_deref());
    let hit = file
        .and_then(|file| one_symbol(snapshot, &question.name, file.as_ref()))
        .map_err(|error| error.about(metadata.clone()))?;
    let at = SymbolAt { file: hit.version.id, place: hit.place() };
    with_graph(memory, question.patience, |graph| {
        let mut outlines = Outlines { snapshot, read: HashMap::new() };
        let (hierarchy, length) = match question.is_up {
            true => chain(graph, &mut outlines, at)?,
            false => {
                let blocks = graph.blocks_of(at)?;
                trees_below(&mut outlines, at, blocks)?
            }
        };
        let direction = if question.is_up { "ancestors" } else { "descendants" };
        let Cut { trees: hierarchy, kept, total } = trees::cut(hierarchy, config.max_response_bytes);
        if kept < total {
            metadata.completeness = "truncated";
            metadata.warnings.push(format!(
                "the tree is too long for one answer: {kept} of {total} symbols are here, the outer ones first"
            ));
        }
        graph::finish(graph, &mut metadata)?;
        let mut text = String::new();
        match question.is_up {
            true => hierarchy.iter().rev().enumerate().for_each(|(level, node)| line(node, level, &mut text)),
            false => hierarchy.iter().for_each(|node| lines(node, &mut text)),
        }
        Ok(Answer {
            text: text + &metadata.warnings_text(),
            json: json!({
                "hierarchy": hierarchy,
                "direction": direction,
                "chain_length": length,
                "metadata": metadata.to_json(),
            }),
            code: 0,
        })
    })
}

/// The one symbol that a name means; an error that lists them when they stand in several files.
pub(crate) fn one_symbol(snapshot: &Snapshot, name: &str, file: Option<&File>) -> Result<SymbolHit, AppError> {
    let name = name.trim();
    if name.is_empty() {
        return Err(AppError::new(Code::InvalidInput, "`symbol_name` is empty: give the name of a symbol.")
            .data(json!({ "parameter": "symbol_name" })));
    }
    let asked = Locate { name, kinds: &[], language: None, offset: 0, limit: input::MOST as usize };
    let mut hits = locate(snapshot, &asked)?.hits;
    if let Some(file) = file {
        hits.retain(|hit| hit.version.path == file.path);
    }
    graph::retain_meant(&mut hits);
    let Some(first) = hits.first() else { return Err(graph::not_found(snapshot, name, file)?) };
    if hits.iter().any(|hit| hit.version.path != first.version.path) {
        return Err(ambiguous(name, &hits));
    }
    Ok(hits.swap_remove(0))
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

/// The outlines that were read.
struct Outlines<'s> {
    snapshot: &'s Snapshot,
    read: HashMap<VersionId, Rc<Outline>>,
}

impl Outlines<'_> {
    fn of(&mut self, id: VersionId) -> Result<Rc<Outline>, AppError> {
        if let Some(known) = self.read.get(&id) {
            return Ok(Rc::clone(known));
        }
        let lost = || AppError::new(Code::InternalError, "A file that was just found is not there.");
        let version = self.snapshot.version(id)?.ok_or_else(lost)?;
        let outline = Rc::new(Outline::of(self.snapshot, version)?);
        self.read.insert(id, Rc::clone(&outline));
        Ok(outline)
    }
}

/// A symbol and what stands around it, from the inside out; a method that stands apart goes on with its type.
fn chain(graph: &Graph<'_>, outlines: &mut Outlines<'_>, at: SymbolAt) -> Result<(Vec<Value>, usize), AppError> {
    let mut nodes = Vec::new();
    let mut next = Some(at);
    while let Some(at) = next {
        let outline = outlines.of(at.file)?;
        let around = outline.around(at.place);
        for place in &around {
            nodes.push(Value::Object(node(&outline, *place, nodes.len())));
        }
        let last = around.last().map(|place| SymbolAt { file: at.file, place: *place });
        next = last.and_then(|last| graph.owner_of(last));
    }
    let length = nodes.len();
    Ok((nodes, length))
}

/// A symbol with what stands inside it and what belongs to it though it stands elsewhere. The blocks of a type of Rust
/// stand beside its declaration, each a tree of its own, so that their functions are as deep as its fields.
fn trees_below(
    outlines: &mut Outlines<'_>,
    at: SymbolAt,
    blocks: Vec<SymbolAt>,
) -> Result<(Vec<Value>, usize), AppError> {
    let (mut beside, mut within) = (Vec::new(), Vec::new());
    for block in blocks {
        let is_impl = outlines.of(block.file)?.symbol(block.place).kind == SymbolKind::Impl;
        if is_impl { beside.push(block) } else { within.push(block) }
    }
    let mut count = 0;
    let mut trees = vec![tree(outlines, at, &within, 0, &mut count)?];
    for block in beside {
        trees.push(tree(outlines, block, &[], 0, &mut count)?);
    }
    Ok((trees, count))
}

/// A symbol with what stands inside it, and the parts that belong to it though they stand elsewhere.
fn tree(
    outlines: &mut Outlines<'_>,
    at: SymbolAt,
    blocks: &[SymbolAt],
    depth: usize,
    count: &mut usize,
) -> Result<Value, AppError> {
    *count += 1;
    let outline = outlines.of(at.file)?;
    let mut node = node(&outline, at.place, depth);
    let inside = outline.inside(at.place).iter().map(|place| SymbolAt { file: at.file, place: *place });
    let children: Vec<Value> = inside
        .chain(blocks.iter().copied())
        .map(|child| tree(outlines, child, &[], depth + 1, count))
        .collect::<Result<_, _>>()?;
    if !children.is_empty() {
        node.insert("children".into(), json!(children));
    }
    Ok(Value::Object(node))
}

fn line(node: &Value, level: usize, text: &mut String) {
    let word = |name: &str| shown(node[name].as_str().unwrap_or_default()).into_owned();
    let start = node["line_start"].as_u64().unwrap_or_default() as u32;
    let place = format!("{}:{}", style::path(&word("path")), style::number(start));
    *text += &format!("{}{}  {place}\n", "  ".repeat(level), shape::cut(&word("signature"), 160));
}

fn lines(node: &Value, text: &mut String) {
    line(node, node["depth"].as_u64().unwrap_or(0) as usize, text);
    node["children"].as_array().into_iter().flatten().for_each(|child| lines(child, text));
}
