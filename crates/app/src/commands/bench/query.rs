//! `codecompass bench query`: warm and first queries compared with a scan of the same files.
//!
//! The queries come from the repository itself: symbol names, words of these names and texts of lines, spread evenly
//! over the files. The time covers the whole answer, JSON included, without the check for changes. The scan is the
//! minimum work of a tool without an index: walk the tree, read each file, search for the bytes.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use codecompass_index::bench;
use codecompass_query::graph::Memory;
use codecompass_store::{Snapshot, tokens};
use serde_json::{Value, json};

use super::cores;
use crate::call::{Inquiry, SERVED};
use crate::cli::Common;
use crate::config::FreshnessPolicy;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::measure::count_text;
use crate::metadata::Metadata;
use crate::output::{Answer, Form};
use crate::paths::Paths;
use crate::patience::Patience;
use crate::session::{Request, Session};
use crate::tools::frame::{Arguments, Tool};
use crate::tools::{find_references, get_call_graph, get_code_context, get_file_outline, locate_symbol, search_code};
use crate::views::{Access, Published};

/// How often a first query and a scan are timed.
const ROUNDS: usize = 7;

/// One kind of query.
struct Kind {
    name: &'static str,
    /// The warm-up queries, followed by the timed ones.
    queries: Vec<String>,
    ask: fn(&Session, &Opened, &str) -> Result<Answer, AppError>,
}

/// The snapshot and its resolve cache, as a server keeps them.
struct Opened {
    snapshot: Rc<Snapshot>,
    memory: Rc<Memory>,
}

pub(super) fn measure(data: &Path, common: &Common, path: &Path, count: usize) -> Result<(String, Value), AppError> {
    let session = Session::open_in(data, common, Some(path))?;
    let target = session.target(None)?;
    session.sync(&target, Request::default())?;
    let opened = open(&session)?;
    let snapshot = &*opened.snapshot;
    let kinds = [
        Kind { name: "locate", queries: names(snapshot, 2 * count)?, ask: ask_locate },
        Kind { name: "search a name", queries: names(snapshot, 2 * count + 1)?, ask: ask_search },
        Kind { name: "search words", queries: phrases(snapshot, 2 * count)?, ask: ask_search },
        Kind { name: "literal text", queries: texts(snapshot, 2 * count)?, ask: ask_literal },
        Kind { name: "references", queries: names(snapshot, 2 * count)?, ask: ask_references },
        Kind { name: "calls, depth 2", queries: names(snapshot, 2 * count + 1)?, ask: ask_calls },
        Kind { name: "context", queries: phrases(snapshot, 2 * count)?, ask: ask_context },
        Kind { name: "outline", queries: paths(snapshot, 2 * count)?, ask: ask_outline },
    ];
    let totals = snapshot.info().totals;
    let mut text = format!(
        "{}: {} files, {} lines\n",
        shown(&session.root()),
        count_text(totals.files as u64),
        count_text(totals.lines as u64)
    );
    let mut report = serde_json::Map::new();
    report.insert("path".into(), json!(session.root()));
    report.insert("files".into(), json!(totals.files));
    report.insert("lines".into(), json!(totals.lines));
    for kind in &kinds {
        let times = warm(&session, &opened, kind)?;
        text += &row(kind.name, &times);
        report.insert(kind.name.replace(' ', "_"), spread(&times));
    }
    let first = first(&session, &kinds[2])?;
    text += &row("first search", &first);
    report.insert("first_search".into(), spread(&first));
    let scans = scans(&session, &kinds[3]);
    text += &row("scan of all files", &scans);
    report.insert("scan".into(), spread(&scans));
    Ok((text, Value::Object(report)))
}

fn open(session: &Session) -> Result<Opened, AppError> {
    let access = Access { policy: Some(FreshnessPolicy::BestEffort), no_sync: true, ..Access::default() };
    let empty = || AppError::new(Code::InternalError, "There are no queries to run.");
    let published = Published::open(session, access)?;
    Ok(Opened { snapshot: published.snapshot.ok_or_else(empty)?, memory: published.memory.ok_or_else(empty)? })
}

fn ask_references(session: &Session, opened: &Opened, name: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&find_references::TOOL, json!({ "symbol_name": name }))?;
    or_nothing(find_references::answer(&inquiry(session, opened), &find_references::Question::of(&arguments)?))
}

/// Imported names, and symbols of languages without rules, have no references: that is a valid answer.
fn or_nothing(asked: Result<Answer, AppError>) -> Result<Answer, AppError> {
    match asked {
        Err(error) if matches!(error.code, Code::SymbolNotFound | Code::NoEdgesAvailable) => {
            Ok(Answer { text: String::new(), json: Value::Null, code: 1 })
        }
        asked => asked,
    }
}

fn ask_calls(session: &Session, opened: &Opened, name: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&get_call_graph::TOOL, json!({ "symbol_name": name, "depth": 2 }))?;
    or_nothing(get_call_graph::answer(&inquiry(session, opened), &get_call_graph::Question::of(&arguments, false)?))
}

/// The context of a query, as a server builds it.
fn inquiry<'s>(session: &'s Session, opened: &Opened) -> Inquiry<'s> {
    let published = Published {
        snapshot: Some(Rc::clone(&opened.snapshot)),
        memory: Some(Rc::clone(&opened.memory)),
        metadata: Metadata::unknown(),
    };
    let (paths, config) = (Paths::from_root(session), session.config.clone());
    let patience = Patience::new(SERVED, &Arc::default());
    Inquiry { paths, config, published, form: Form::Json, patience, printer: None }
}

fn arguments(tool: &Tool, values: Value) -> Result<Arguments, AppError> {
    Arguments::check(tool, values.as_object().cloned().unwrap_or_default())
}

fn ask_context(session: &Session, opened: &Opened, query: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&get_code_context::TOOL, json!({ "query": query }))?;
    get_code_context::answer(&inquiry(session, opened), &get_code_context::Question::of(&arguments)?)
}

fn ask_outline(session: &Session, opened: &Opened, path: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&get_file_outline::TOOL, json!({ "path": path }))?;
    get_file_outline::answer(&inquiry(session, opened), &get_file_outline::Question::of(&arguments))
}

fn ask_locate(session: &Session, opened: &Opened, name: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&locate_symbol::TOOL, json!({ "name": name }))?;
    locate_symbol::answer(&inquiry(session, opened), &locate_symbol::Question::of(&arguments)?)
}

fn ask_search(session: &Session, opened: &Opened, query: &str) -> Result<Answer, AppError> {
    search(session, opened, json!({ "query": query }))
}

fn ask_literal(session: &Session, opened: &Opened, query: &str) -> Result<Answer, AppError> {
    search(session, opened, json!({ "query": query, "mode": "literal" }))
}

fn search(session: &Session, opened: &Opened, values: Value) -> Result<Answer, AppError> {
    let arguments = arguments(&search_code::TOOL, values)?;
    search_code::answer(&inquiry(session, opened), &search_code::Question::of(&arguments)?)
}

/// The times of the second half of the queries, after the first half warmed up the caches.
fn warm(session: &Session, opened: &Opened, kind: &Kind) -> Result<Vec<Duration>, AppError> {
    let (before, timed) = kind.queries.split_at(kind.queries.len() / 2);
    let ask = |query: &String| -> Result<Duration, AppError> {
        let began = Instant::now();
        let answer = (kind.ask)(session, opened, query)?;
        std::hint::black_box(answer.json.to_string());
        Ok(began.elapsed())
    };
    before.iter().try_for_each(|query| ask(query).map(drop))?;
    sorted(timed.iter().map(ask).collect::<Result<_, _>>()?)
}

/// The times of a search with nothing open yet.
fn first(session: &Session, kind: &Kind) -> Result<Vec<Duration>, AppError> {
    let ask = |query: &String| -> Result<Duration, AppError> {
        let began = Instant::now();
        let snapshot = open(session)?;
        (kind.ask)(session, &snapshot, query)?;
        Ok(began.elapsed())
    };
    sorted(kind.queries.iter().take(ROUNDS).map(ask).collect::<Result<_, _>>()?)
}

fn scans(session: &Session, kind: &Kind) -> Vec<Duration> {
    let scan = |query: &String| {
        let began = Instant::now();
        std::hint::black_box(bench::scan(&session.workspace.root, query.as_bytes(), cores()));
        began.elapsed()
    };
    let mut times: Vec<Duration> = kind.queries.iter().take(ROUNDS).map(scan).collect();
    times.sort();
    times
}

fn sorted(mut times: Vec<Duration>) -> Result<Vec<Duration>, AppError> {
    times.sort();
    match times.is_empty() {
        true => Err(AppError::new(Code::InvalidInput, "The repository is too small to make queries from.")),
        false => Ok(times),
    }
}

/// Names of symbols, spread over all files.
fn names(snapshot: &Snapshot, count: usize) -> Result<Vec<String>, AppError> {
    from_files(snapshot, count, |file| {
        let outline = snapshot.outline(file.id)?;
        let symbol = outline.symbols.get(outline.symbols.len() / 2);
        Ok(symbol.map(|symbol| symbol.name.clone()))
    })
}

fn paths(snapshot: &Snapshot, count: usize) -> Result<Vec<String>, AppError> {
    from_files(snapshot, count, |file| Ok((file.symbols > 0).then(|| file.path.clone())))
}

/// Queries in words: the words of a symbol name and of its file name.
fn phrases(snapshot: &Snapshot, count: usize) -> Result<Vec<String>, AppError> {
    from_files(snapshot, count, |file| {
        let outline = snapshot.outline(file.id)?;
        let Some(symbol) = outline.symbols.get(outline.symbols.len() / 3) else { return Ok(None) };
        let stem = file.path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
        let words: Vec<String> = tokens(&format!("{} {stem}", symbol.name)).map(str::to_lowercase).collect();
        Ok(Some(format!("where is the {} done", words.join(" "))))
    })
}

/// Parts of lines.
fn texts(snapshot: &Snapshot, count: usize) -> Result<Vec<String>, AppError> {
    from_files(snapshot, count, |file| {
        let text = snapshot.text(file.id)?;
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| line.len() >= 12).collect();
        let line = lines.get(lines.len() / 2).copied().unwrap_or_default();
        let start = line.char_indices().nth(2).map_or(0, |(at, _)| at);
        let piece: String = line[start..].chars().take(24).collect();
        Ok((piece.trim().len() >= 6).then_some(piece))
    })
}

fn from_files(
    snapshot: &Snapshot,
    count: usize,
    make: impl Fn(&codecompass_store::VersionInfo) -> Result<Option<String>, AppError>,
) -> Result<Vec<String>, AppError> {
    let files = snapshot.versions()?;
    let step = (files.len() / count.max(1)).max(1);
    let mut made: Vec<String> = Vec::new();
    for file in files.iter().step_by(step) {
        made.extend(make(file)?);
    }
    // Neighbouring queries are similar: the timed queries must not be those of the warm-up.
    let (even, odd): (Vec<_>, Vec<_>) = made.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    Ok(even.into_iter().chain(odd).map(|(_, query)| query).collect())
}

fn at(times: &[Duration], share: f64) -> f64 {
    let place = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len()) - 1;
    (times[place].as_secs_f64() * 1e5).round() / 100.0
}

fn row(name: &str, times: &[Duration]) -> String {
    let (half, most, all) = (at(times, 0.5), at(times, 0.95), at(times, 1.0));
    format!("  {name:<18} p50 {half:>8.2} ms  p95 {most:>8.2} ms  max {all:>8.2} ms  ({} queries)\n", times.len())
}

fn spread(times: &[Duration]) -> Value {
    json!({ "p50_ms": at(times, 0.5), "p95_ms": at(times, 0.95), "max_ms": at(times, 1.0), "queries": times.len() })
}
