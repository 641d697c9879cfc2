//! `get_call_graph`: who calls a symbol, and whom it calls.

use std::time::Duration;

use codecompass_model::SymbolAt;
use codecompass_query::graph::{CallEdge, CallGraph, Direction, Graph, Memory, Site};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::find_references::SERVED;
use super::followups::{Before, Known};
use super::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional, required, schema};
use super::graph::{self, Shown, with_graph};
use super::input::{self, Cursor};
use super::shape::{self, CURSOR};
use crate::config::Config;
use crate::error::AppError;
use crate::escape::shown;
use crate::metadata::Metadata;
use crate::output::{Answer, style};
use crate::paths::{File, Paths};

/// The greatest depth.
const DEEPEST: i64 = 5;

pub(crate) const TOOL: Tool = Tool {
    name: "get_call_graph",
    title: "Call graph",
    description: "Callers and callees of a function or method, each with its call site, up to depth 5. Use it to see \
                  what a change affects, or how a function works. `path_to` asks for a chain of calls to another symbol.",
    params: &[
        required("symbol_name", Kind::Text, "Name, end of a qualified name, or symbol_id"),
        optional("path", Kind::Text, "File of the definition, when several bear the name"),
        REF,
        optional("direction", Kind::Choice(&["callers", "callees", "both"], Some("both")), ""),
        optional("depth", Kind::Count(Some(1)), "1 to 5"),
        optional("limit", Kind::Count(Some(20)), "Per direction, at most 200"),
        optional(
            "list_unresolved",
            Kind::Flag(false),
            "Also the calls nobody can bind, in it and of it, with the reason",
        ),
        CURSOR,
        optional("path_to", Kind::Text, "Also a shortest chain of calls from here to this symbol"),
        WORKSPACE,
    ],
    output: || {
        let edge = schema::object(
            &["confidence"],
            &["depth", "call_count"],
            &[
                ("symbol", schema::any_object()),
                ("call_site", schema::any_object()),
                ("call_lines", schema::list(schema::count())),
                ("via", schema::any_object()),
                ("is_test", schema::flag()),
            ],
        );
        json!({
            "symbol": schema::any_object(),
            "callers": schema::list(edge.clone()),
            "callees": schema::list(edge),
            "total_edges": schema::count(),
            "truncated": schema::flag(),
            "unresolved_calls": schema::count(),
            "outside_calls": schema::count(),
            "counts": graph::counts_schema(),
            "unresolved": schema::list(schema::any_object()),
            "unproved_callers": schema::count(),
            "unproved": schema::list(schema::any_object()),
            "path_to": schema::list(schema::any_object()),
            "path_to_depth": schema::count(),
            "other_matches": schema::list(schema::any_object()),
            "suggestions": schema::suggestions(),
        })
    },
    always: &["symbol", "callers", "callees", "total_edges", "truncated"],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let arguments = &call.arguments;
        let input = Input {
            name: arguments.words("symbol_name"),
            path: arguments.text("path"),
            direction: arguments.text("direction"),
            depth: arguments.count("depth"),
            limit: arguments.count("limit"),
            cursor: arguments.text("cursor"),
            path_to: arguments.text("path_to"),
            list_unresolved: arguments.flag("list_unresolved"),
            patience: SERVED,
        };
        let question = input.check()?;
        call.query(|session, published| {
            let paths = Paths::from_root(session);
            answer(published.memory.as_deref(), &question, &paths, &session.config, published.metadata)
        })
    },
};

/// What is asked, as it came in.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) path: Option<String>,
    pub(crate) direction: Option<String>,
    pub(crate) depth: i64,
    pub(crate) limit: i64,
    pub(crate) cursor: Option<String>,
    pub(crate) path_to: Option<String>,
    pub(crate) list_unresolved: bool,
    pub(crate) patience: Duration,
}

/// The input with nothing left to check.
pub(crate) struct Question {
    name: String,
    path: Option<String>,
    callers: bool,
    callees: bool,
    depth: u32,
    pub(crate) limit: usize,
    cursor: Option<String>,
    path_to: Option<String>,
    list_unresolved: bool,
    patience: Duration,
    warnings: Vec<String>,
}

impl Input {
    /// Checks the input.
    pub(crate) fn check(self) -> Result<Question, AppError> {
        let words = [("callers", (true, false)), ("callees", (false, true)), ("both", (true, true))];
        let (callers, callees) = input::one_of("direction", self.direction.as_deref(), &words)?.unwrap_or((true, true));
        let (limit, mut warnings) = input::limit(self.limit);
        let depth = self.depth.clamp(1, DEEPEST);
        if depth != self.depth {
            warnings.push(format!("`depth` {} was changed to {depth}: it goes from 1 to {DEEPEST}", self.depth));
        }
        let Input { name, path, cursor, path_to, list_unresolved, patience, .. } = self;
        Ok(Question {
            name,
            path,
            callers,
            callees,
            depth: depth as u32,
            limit,
            cursor,
            path_to,
            list_unresolved,
            patience,
            warnings,
        })
    }
}

impl Question {
    /// Everything that decides the lists.
    fn identity(&self, file: Option<&File>) -> String {
        let path = file.map(|file| &file.path);
        let Question { name, callers, callees, depth, .. } = self;
        format!("calls {name:?} {path:?} {callers} {callees} {depth}")
    }
}

/// Answers from a snapshot.
pub(crate) fn answer(
    memory: Option<&Memory>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    metadata.warnings.extend(question.warnings.iter().cloned());
    let Some(memory) = memory else { return Err(AppError::index_not_ready().about(metadata)) };
    let about = metadata.clone();
    let asked = with_graph(memory, question.patience, |graph| found(graph, question, paths, config, metadata));
    asked.map_err(|error| if error.more.metadata.is_some() { error } else { error.about(about) })
}

fn found(
    graph: &Graph<'_>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let snapshot = graph.snapshot();
    let file = paths.file_if_given(&[snapshot], question.path.as_deref())?;
    let (target, others) = one_of(graph, snapshot, &question.name, file.as_ref())?;
    let symbol = Shown::of(graph, target)?;
    if !others.is_empty() {
        metadata.warnings.push(graph::taken_warning(&symbol, &question.name, others.len() + 1));
    }
    if !graph.knows(&symbol.file.language) {
        metadata.warnings.push(format!("{} has no rules for calls: nothing is known", symbol.file.language));
    }
    let side = |wanted: bool, direction| match wanted {
        true => graph.calls(target, direction, question.depth).map_err(AppError::from),
        false => Ok(CallGraph::default()),
    };
    let callers = side(question.callers, Direction::Callers)?;
    let callees = side(question.callees, Direction::Callees)?;
    let total = callers.edges.len() + callees.edges.len();
    let cursor = Cursor::of(Some(snapshot), &question.identity(file.as_ref()));
    let offset = cursor.read(question.cursor.as_deref())?;
    let (above, below) = page(graph, [&callers.edges, &callees.edges], question, offset, config.max_response_bytes)?;
    let next = offset + above.len().max(below.len());
    let is_cut = next < callers.edges.len().max(callees.edges.len());
    if is_cut {
        metadata.next_cursor = Some(cursor.write(next));
        metadata.completeness = "truncated";
    }
    let left = is_cut.then_some(total);
    let mut json = json!({
        "symbol": symbol.located(),
        "callers": above,
        "callees": below,
        "total_edges": total,
        "truncated": is_cut,
    });
    if question.callees {
        json["unresolved_calls"] = json!(callees.unresolved.len());
        json["outside_calls"] = json!(callees.outside);
    }
    if question.callers {
        json["unproved_callers"] = json!(callers.unproved.len());
        let found = graph.named(&symbol.symbol().name)?;
        let is_kin = |language: &str| graph.are_kin(language, &symbol.file.language);
        json["counts"] = graph::counts_json(&found.account(target, symbol.symbol(), is_kin).1);
    }
    if question.list_unresolved {
        let unresolved = callees.unresolved.iter().take(question.limit);
        let listed = unresolved.map(|call| json!({ "name": call.name, "line": call.line, "reason": call.why }));
        json["unresolved"] = json!(listed.collect::<Vec<_>>());
        let unproved = callers.unproved.iter().take(question.limit);
        json["unproved"] = json!(unproved.map(|site| unproved_json(graph, site)).collect::<Result<Vec<_>, _>>()?);
    }
    if let Some(path_to) = &question.path_to {
        let (end, _) = one_of(graph, snapshot, path_to, None)?;
        let chain = graph.path_between(target, end, DEEPEST as u32 * 2)?;
        let symbols = chain.symbols.iter().map(|at| Ok(Shown::of(graph, *at)?.located()));
        json["path_to"] = json!(symbols.collect::<Result<Vec<_>, AppError>>()?);
        if chain.symbols.is_empty() {
            json["path_to_depth"] = json!(chain.depth);
            let what = format!("no chain of calls leads to {path_to} within {} calls", chain.depth);
            metadata.warnings.push(format!("{what}, as far as calls could be resolved"));
        }
    }
    if total == 0 {
        Before::of(TOOL.name, "symbol_name", &question.name).add_to(&mut json, Known::default());
    }
    if !others.is_empty() {
        json["other_matches"] = json!(graph::others_json(graph, &others)?);
    }
    graph::finish(graph, &mut metadata)?;
    let text = text(&symbol, &above, &below, left)
        + &unproved_text(callers.unproved.len(), &question.name)
        + &metadata.warnings_text();
    json["metadata"] = metadata.to_json();
    Ok(Answer { text, json, code: 0 })
}

/// The edges of both directions from an offset on: as many of each as are asked for and fit. Both lists are cut at one
/// place, so that one offset tells where each goes on.
fn page(
    graph: &Graph<'_>,
    sides: [&[CallEdge]; 2],
    question: &Question,
    offset: usize,
    most_bytes: usize,
) -> Result<(Vec<Value>, Vec<Value>), AppError> {
    let list = |edges: &[CallEdge]| {
        let edges = edges.iter().skip(offset).take(question.limit);
        edges.map(|edge| edge_json(graph, edge)).collect::<Result<Vec<_>, _>>()
    };
    let (mut above, mut below) = (list(sides[0])?, list(sides[1])?);
    // Two directions share what an answer can hold.
    let share = most_bytes / (1 + usize::from(question.callers && question.callees));
    let fitting = |edges: &[Value]| {
        let kept = shape::fitting(edges, None, share);
        if kept < edges.len() { kept } else { usize::MAX }
    };
    let kept = fitting(&above).min(fitting(&below));
    above.truncate(kept);
    below.truncate(kept);
    Ok((above, below))
}

/// The symbol that a name means, and the others that bear it.
pub(crate) fn one_of(
    graph: &Graph<'_>,
    snapshot: &Snapshot,
    name: &str,
    file: Option<&File>,
) -> Result<(SymbolAt, Vec<SymbolAt>), AppError> {
    let candidates = graph::candidates(snapshot, name, file)?;
    if let [only] = candidates[..] {
        return Ok((only, Vec::new()));
    }
    let simple = Shown::of(graph, candidates[0])?.symbol().name.clone();
    let found = graph.named(&simple)?;
    let meant = graph.meant(&found, &candidates);
    let target = meant.first().copied().unwrap_or(candidates[0]);
    Ok((target, meant.into_iter().skip(1).collect()))
}

fn edge_json(graph: &Graph<'_>, edge: &CallEdge) -> Result<Value, AppError> {
    let located = |at: SymbolAt| Shown::of(graph, at).map(|shown| shown.located());
    let symbol = match edge.symbol {
        Some(at) => located(at)?,
        None => graph::module_of(graph, edge.file)?,
    };
    let mut fields = Map::new();
    fields.insert("symbol".into(), Value::Object(symbol));
    fields.insert("call_site".into(), json!({ "file": edge.path, "line": edge.line }));
    fields.insert("confidence".into(), json!(edge.confidence.as_str()));
    fields.insert("depth".into(), json!(edge.depth));
    if edge.sites > 1 {
        fields.insert("call_count".into(), json!(edge.sites));
        fields.insert("call_lines".into(), json!(edge.lines));
    }
    if edge.is_test {
        fields.insert("is_test".into(), json!(true));
    }
    if let Some(via) = edge.via {
        let shown = Shown::of(graph, via)?;
        let fields_of_via = shown.identity();
        fields.insert("via".into(), json!({ "symbol_id": fields_of_via["symbol_id"], "name": fields_of_via["name"] }));
    }
    Ok(Value::Object(fields))
}

/// A call that may be one of the symbol.
fn unproved_json(graph: &Graph<'_>, site: &Site) -> Result<Value, AppError> {
    let from = match site.from {
        Some(place) => Shown::of(graph, SymbolAt { file: site.file.id, place })?.identity(),
        None => graph::module_of(graph, site.file.id)?,
    };
    let call_site = json!({ "file": site.file.path, "line": site.line });
    Ok(json!({ "from_symbol": from, "call_site": call_site, "reason": graph::reason(site) }))
}

/// What the list of callers does not tell.
fn unproved_text(count: usize, name: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!("1 call bears the name, and nobody can bind it: `references {}` shows it\n", shown(name)),
        _ => {
            format!("{count} calls bear the name, and nobody can bind them: `references {}` shows them\n", shown(name))
        }
    }
}

fn text(symbol: &Shown, callers: &[Value], callees: &[Value], total: Option<usize>) -> String {
    let mut text = format!(
        "{}:{}  {} {}\n",
        style::path(&shown(&symbol.file.path)),
        style::number(symbol.symbol().lines.start),
        style::dim(symbol.symbol().kind.as_str()),
        style::name(&shown(&symbol.symbol().qualified_name)),
    );
    for (title, edges) in [("called by", callers), ("calls", callees)] {
        for (number, edge) in edges.iter().enumerate() {
            if number == 0 {
                text += &format!("  {title}\n");
            }
            let depth = edge["depth"].as_u64().unwrap_or(1) as usize;
            let guess = if edge["confidence"] == "heuristic" { " ?" } else { "" };
            // Further away it is the symbol above, and needs no word.
            let via = edge["via"]["name"].as_str().filter(|_| depth == 1);
            let via = via.map_or(String::new(), |via| format!(" via {}", shown(via)));
            text += &format!(
                "  {}{}{guess}{via}  {}:{}\n",
                "  ".repeat(depth),
                style::name(&shown(edge["symbol"]["qualified_name"].as_str().unwrap_or_default())),
                style::path(&shown(edge["call_site"]["file"].as_str().unwrap_or_default())),
                edge["call_site"]["line"],
            );
        }
    }
    let seen = callers.len() + callees.len();
    match total {
        Some(total) => text + &format!("{seen} of {total} edges; --limit or --all shows more\n"),
        None if seen == 0 => text + "  no calls\n",
        None => text,
    }
}
