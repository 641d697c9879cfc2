//! `get_symbol_hierarchy`: the symbols that enclose a symbol, or those inside it.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{SymbolAt, SymbolKind, VersionId};
use codecompass_query::Outline;
use codecompass_query::graph::Graph;
use codecompass_store::Snapshot;
use codecompass_wire::get_symbol_hierarchy::{self as wire, HierarchySymbol};
use codecompass_wire::{Tree, schema};
use serde_json::Value;

use super::graph::with_graph;
use super::tool_spec::{Arguments, Effect, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required};
use super::{graph, rows, shape, symbol_input};
use crate::call::QueryContext;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Completeness, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat};

pub const TOOL: ToolSpec = ToolSpec {
    name: "get_symbol_hierarchy",
    title: "Hierarchy of a symbol",
    description: "Traverse the parent chain (ancestors) or child tree (descendants) of a symbol: method -> class -> \
                  module.",
    params: &[
        required("symbol_name", ParamKind::Text, "Name, end of a qualified name, path:line, or symbol_id")
            .positional("NAME"),
        optional("path", ParamKind::Text, "File, when several define the name (else ambiguous_symbol)").flag("in"),
        REF,
        optional("direction", ParamKind::Choice(&["ancestors", "descendants"], Some("ancestors")), ""),
        NO_SYNC,
        shape::FRESHNESS,
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question = HierarchyArgs::parse(&call.arguments);
        call.answer_query(|inquiry| answer(inquiry, &question).map_err(|error| inquiry.with_view_context(error)))
    }),
};

/// The parsed arguments.
struct HierarchyArgs {
    name: String,
    path: Option<String>,
    is_up: bool,
}

impl HierarchyArgs {
    fn parse(arguments: &Arguments) -> Self {
        Self {
            name: arguments.required_text("symbol_name"),
            path: arguments.text("path"),
            is_up: arguments.text("direction").as_deref() != Some("descendants"),
        }
    }
}

/// Answers the request.
fn answer(inquiry: &QueryContext<'_>, question: &HierarchyArgs) -> Result<Answer, AppError> {
    let memory = inquiry.resolve_cache()?;
    let snapshot = memory.snapshot();
    let file = inquiry.paths.resolve_optional_file(&[snapshot], question.path.as_deref())?;
    let name = symbol_input::normalize_name(snapshot, &inquiry.paths, &question.name)?;
    with_graph(memory, &inquiry.time_limit, |graph| {
        let policy = symbol_input::single_symbol_policy(graph, inquiry.form);
        let (at, others) = symbol_input::resolve_symbol(snapshot, &name, file.as_ref(), policy)?;
        let others = graph::others_text(&graph::load_others(graph, &others)?);
        let mut outlines = OutlineCache { snapshot, read: HashMap::new() };
        let hierarchy = match question.is_up {
            true => chain(graph, &mut outlines, at)?,
            false => {
                let blocks = graph.out_of_line_members(at)?;
                trees_below(&mut outlines, at, blocks)?
            }
        };
        let mut told = Hierarchy { nodes: hierarchy, is_up: question.is_up, others, metadata: inquiry.metadata(&[]) };
        graph::note_incomplete(graph, &mut told.metadata, false)?;
        told.render(inquiry)
    })
}

/// A symbol in the tree.
struct Node {
    outline: Rc<Outline>,
    place: u32,
    depth: usize,
    children: Vec<Node>,
}

/// The answer: a chain from the inside out, or trees.
struct Hierarchy {
    nodes: Vec<Node>,
    is_up: bool,
    /// A line with the other symbols that have the name, in a text.
    others: String,
    metadata: Metadata,
}

impl Hierarchy {
    fn render(mut self, inquiry: &QueryContext<'_>) -> Result<Answer, AppError> {
        if inquiry.form != OutputFormat::Json {
            let (text, kept, total) = self.text(inquiry.max_bytes());
            let cut = if kept < total { format!("… {kept} of {total} symbols\n") } else { String::new() };
            return Ok(Answer {
                text: text + &cut + &self.others + &self.metadata.notes(),
                json: Value::Null,
                code: 0,
            });
        }
        let length = self.nodes.iter().map(Node::count).sum::<usize>();
        let direction = if self.is_up { "ancestors" } else { "descendants" };
        let mut hierarchy = self.nodes.iter().map(Node::wire).collect();
        let (kept, total) = HierarchySymbol::cut_to_size(&mut hierarchy, inquiry.max_bytes());
        if kept < total {
            self.metadata.completeness = Completeness::Truncated;
            self.metadata
                .warnings
                .push(format!("the tree is too long for one answer: {kept} of {total} symbols, outer ones first"));
        }
        let (direction, metadata) = (direction.into(), self.metadata);
        Answer::from_wire(&wire::Answer { hierarchy, direction, chain_length: length, metadata }, 0)
    }

    fn text(&self, room: usize) -> (String, usize, usize) {
        let mut rows = Vec::new();
        match self.is_up {
            true => self.nodes.iter().rev().enumerate().for_each(|(level, node)| rows.push(node.row(level))),
            false => self.nodes.iter().for_each(|node| node.rows(&mut rows)),
        }
        let mut sheet = rows::RowWriter::new(room);
        let kept = rows.iter().take_while(|row| sheet.line(row)).count();
        (sheet.finish(), kept, rows.len())
    }
}

impl Node {
    fn count(&self) -> usize {
        1 + self.children.iter().map(Node::count).sum::<usize>()
    }

    fn row(&self, level: usize) -> String {
        let symbol = self.outline.symbol(self.place);
        let header = escape_control(&shape::truncate(&symbol.signature, rows::MAX_ROW_CHARS)).into_owned();
        format!("{}{} {header}", " ".repeat(level), rows::location(&self.outline.version.path, symbol.lines))
    }

    fn rows(&self, rows: &mut Vec<String>) {
        rows.push(self.row(self.depth));
        self.children.iter().for_each(|child| child.rows(rows));
    }

    fn wire(&self) -> HierarchySymbol {
        let symbol = self.outline.symbol(self.place);
        let version = &self.outline.version;
        HierarchySymbol {
            symbol_id: SymbolId::new(&version.path, symbol).to_string(),
            symbol_stable_id: StableId::new(&version.language, symbol).to_string(),
            name: symbol.name.clone(),
            kind: symbol.kind.as_str().into(),
            qualified_name: symbol.qualified_name.clone(),
            path: version.path.clone(),
            line_start: symbol.lines.start,
            line_end: symbol.lines.end,
            signature: shape::truncate(&symbol.signature, shape::MAX_SIGNATURE_CHARS),
            depth: self.depth,
            children: self.children.iter().map(Node::wire).collect(),
            children_omitted: None,
        }
    }
}

/// The outlines read by this request.
struct OutlineCache<'s> {
    snapshot: &'s Snapshot,
    read: HashMap<VersionId, Rc<Outline>>,
}

impl OutlineCache<'_> {
    fn get(&mut self, id: VersionId) -> Result<Rc<Outline>, AppError> {
        if let Some(known) = self.read.get(&id) {
            return Ok(Rc::clone(known));
        }
        let lost = || AppError::inconsistent_index("a file");
        let version = self.snapshot.version(id)?.ok_or_else(lost)?;
        let outline = Rc::new(Outline::from_version(self.snapshot, version)?);
        self.read.insert(id, Rc::clone(&outline));
        Ok(outline)
    }
}

/// A symbol and its enclosing symbols, from the inside out; an out-of-line method continues with its type.
fn chain(graph: &Graph<'_>, outlines: &mut OutlineCache<'_>, at: SymbolAt) -> Result<Vec<Node>, AppError> {
    let mut nodes = Vec::new();
    let mut next = Some(at);
    while let Some(at) = next {
        let outline = outlines.get(at.file)?;
        let around = outline.with_ancestors(at.ordinal);
        for place in &around {
            let depth = nodes.len();
            nodes.push(Node { outline: Rc::clone(&outline), place: *place, depth, children: Vec::new() });
        }
        let last = around.last().map(|place| SymbolAt { file: at.file, ordinal: *place });
        next = last.and_then(|last| graph.owner_of_member(last));
    }
    Ok(nodes)
}

/// A symbol with its members, including out-of-line members. The `impl` blocks of a Rust type are siblings of its
/// declaration, each a tree of its own, so their functions have the same depth as its fields.
fn trees_below(outlines: &mut OutlineCache<'_>, at: SymbolAt, blocks: Vec<SymbolAt>) -> Result<Vec<Node>, AppError> {
    let (mut beside, mut within) = (Vec::new(), Vec::new());
    for block in blocks {
        let is_impl = outlines.get(block.file)?.symbol(block.ordinal).kind == SymbolKind::Impl;
        if is_impl { beside.push(block) } else { within.push(block) }
    }
    let mut trees = vec![tree(outlines, at, &within, 0)?];
    for block in beside {
        trees.push(tree(outlines, block, &[], 0)?);
    }
    Ok(trees)
}

/// A symbol with the symbols inside it and its out-of-line members.
fn tree(outlines: &mut OutlineCache<'_>, at: SymbolAt, blocks: &[SymbolAt], depth: usize) -> Result<Node, AppError> {
    let outline = outlines.get(at.file)?;
    let inside = outline.children_of(at.ordinal).iter().map(|place| SymbolAt { file: at.file, ordinal: *place });
    let children = inside
        .chain(blocks.iter().copied())
        .map(|child| tree(outlines, child, &[], depth + 1))
        .collect::<Result<_, _>>()?;
    Ok(Node { outline, place: at.ordinal, depth, children })
}
