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
use codecompass_query::graph::ResolveCache;
use codecompass_store::{Snapshot, tokens};
use codecompass_wire::Named;
use codecompass_wire::commands::bench as wire;
use serde_json::Value;

use super::cores;
use crate::cli::Common;
use codecompass_tools::call::{QueryContext, SERVER_ANSWER_TIMEOUT};
use codecompass_tools::followups::OfferedTools;
use codecompass_tools::tool_spec::{Arguments, ToolSpec};
use codecompass_tools::{
    find_references, get_call_graph, get_code_context, get_file_outline, locate_symbol, search_code,
};
use codecompass_workspace::config::FreshnessPolicy;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::count_text;
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::{Answer, OutputFormat};
use codecompass_workspace::paths::PathResolver;
use codecompass_workspace::session::{Session, SyncRequest, VERSION_CACHE};
use codecompass_workspace::time_limit::TimeLimit;
use codecompass_workspace::views::{Access, Published};

/// How often a first query and a scan are timed.
const ROUNDS: usize = 7;

/// One kind of query.
struct QueryKind {
    name: &'static str,
    /// The warm-up queries, followed by the timed ones.
    queries: Vec<String>,
    ask: fn(&Session, &OpenIndex, &str) -> Result<Answer, AppError>,
}

/// The snapshot and its resolve cache, as a server keeps them.
struct OpenIndex {
    snapshot: Rc<Snapshot>,
    resolve_cache: Rc<ResolveCache>,
}

pub(super) fn measure(
    data: &Path,
    common: &Common,
    path: &Path,
    count: usize,
) -> Result<(String, wire::Queries), AppError> {
    let session = Session::open_in(data, &common.session_options(), Some(path))?;
    let target = session.target(None)?;
    session.sync(&target, SyncRequest::default())?;
    let opened = open(&session)?;
    let snapshot = &*opened.snapshot;
    let kinds = [
        QueryKind { name: "locate", queries: names(snapshot, 2 * count)?, ask: ask_locate },
        QueryKind { name: "search a name", queries: names(snapshot, 2 * count + 1)?, ask: ask_search },
        QueryKind { name: "search words", queries: phrases(snapshot, 2 * count)?, ask: ask_search },
        QueryKind { name: "literal text", queries: texts(snapshot, 2 * count)?, ask: ask_literal },
        QueryKind { name: "references", queries: names(snapshot, 2 * count)?, ask: ask_references },
        QueryKind { name: "calls, depth 2", queries: names(snapshot, 2 * count + 1)?, ask: ask_calls },
        QueryKind { name: "context", queries: phrases(snapshot, 2 * count)?, ask: ask_context },
        QueryKind { name: "completion", queries: beginnings(snapshot, 2 * count)?, ask: ask_completion },
        QueryKind { name: "outline", queries: paths(snapshot, 2 * count)?, ask: ask_outline },
    ];
    let totals = snapshot.info().totals;
    let mut text = format!(
        "{}: {} files, {} lines\n",
        escape_control(&session.root()),
        count_text(totals.files as u64),
        count_text(totals.lines as u64)
    );
    let mut measured = Vec::new();
    for kind in &kinds {
        let times = warm(&session, &opened, kind)?;
        text += &row(kind.name, &times);
        measured.push((kind.name.replace(' ', "_").into(), percentiles(&times)));
    }
    for (name, kind) in [("first search", &kinds[2]), ("first completion", &kinds[7])] {
        let first = first(&session, kind)?;
        text += &row(name, &first);
        measured.push((name.replace(' ', "_").into(), percentiles(&first)));
    }
    let scans = scans(&session, &kinds[3]);
    text += &row("scan of all files", &scans);
    measured.push(("scan".into(), percentiles(&scans)));
    let (files, lines) = (totals.files as u64, totals.lines as u64);
    Ok((text, wire::Queries { path: session.root(), files, lines, times: Named(measured) }))
}

fn open(session: &Session) -> Result<OpenIndex, AppError> {
    let access = Access { policy: Some(FreshnessPolicy::BestEffort), no_sync: true, ..Access::default() };
    let empty = || AppError::new(Code::InternalError, "There are no queries to run.");
    let published = Published::open(session, access)?;
    Ok(OpenIndex {
        snapshot: published.snapshot.ok_or_else(empty)?,
        resolve_cache: published.resolve_cache.ok_or_else(empty)?,
    })
}

fn ask_references(session: &Session, opened: &OpenIndex, name: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&find_references::TOOL, [("symbol_name", name.into())])?;
    or_empty(find_references::answer(
        &query_context(session, opened),
        &find_references::ReferencesArgs::parse(&arguments)?,
    ))
}

/// Imported names, and symbols of languages without rules, have no references: that is a valid answer.
fn or_empty(asked: Result<Answer, AppError>) -> Result<Answer, AppError> {
    match asked {
        Err(error) if matches!(error.code, Code::SymbolNotFound | Code::NoEdgesAvailable) => {
            Ok(Answer { text: String::new(), json: Value::Null, code: 1 })
        }
        asked => asked,
    }
}

fn ask_calls(session: &Session, opened: &OpenIndex, name: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&get_call_graph::TOOL, [("symbol_name", name.into()), ("depth", 2.into())])?;
    or_empty(get_call_graph::answer(
        &query_context(session, opened),
        &get_call_graph::CallGraphArgs::parse(&arguments, false)?,
    ))
}

/// The context of a query, as a server builds it.
fn query_context<'s>(session: &'s Session, opened: &OpenIndex) -> QueryContext<'s> {
    let published = Published {
        snapshot: Some(Rc::clone(&opened.snapshot)),
        resolve_cache: Some(Rc::clone(&opened.resolve_cache)),
        metadata: Metadata::unknown(),
    };
    let (paths, config) = (PathResolver::from_root(session), session.config.clone());
    let patience = TimeLimit::new(SERVER_ANSWER_TIMEOUT, &Arc::default());
    QueryContext {
        paths,
        config,
        published,
        form: OutputFormat::Json,
        time_limit: patience.clone(),
        scan_time_limit: patience,
        printer: None,
        offered: OfferedTools::default(),
        data: session.data_folder().to_owned(),
    }
}

fn arguments<const N: usize>(tool: &ToolSpec, values: [(&str, Value); N]) -> Result<Arguments, AppError> {
    Arguments::check(
        tool,
        OutputFormat::Json,
        values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    )
}

fn ask_context(session: &Session, opened: &OpenIndex, query: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&get_code_context::TOOL, [("query", query.into())])?;
    get_code_context::answer(&query_context(session, opened), &get_code_context::ContextArgs::parse(&arguments)?)
}

fn ask_outline(session: &Session, opened: &OpenIndex, path: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&get_file_outline::TOOL, [("path", path.into())])?;
    get_file_outline::answer(&query_context(session, opened), &get_file_outline::OutlineArgs::parse(&arguments))
}

fn ask_locate(session: &Session, opened: &OpenIndex, name: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&locate_symbol::TOOL, [("name", name.into())])?;
    locate_symbol::answer(&query_context(session, opened), &locate_symbol::LocateArgs::parse(&arguments)?)
}

fn ask_search(session: &Session, opened: &OpenIndex, query: &str) -> Result<Answer, AppError> {
    search(session, opened, [("query", query.into())])
}

fn ask_literal(session: &Session, opened: &OpenIndex, query: &str) -> Result<Answer, AppError> {
    search(session, opened, [("query", query.into()), ("mode", "literal".into())])
}

fn ask_completion(session: &Session, opened: &OpenIndex, typed: &str) -> Result<Answer, AppError> {
    let arguments = arguments(&search_code::TOOL, [("query", typed.into())])?;
    search_code::answer_completion(&query_context(session, opened), &search_code::SearchArgs::parse(&arguments)?, true)
}

fn search<const N: usize>(
    session: &Session,
    opened: &OpenIndex,
    values: [(&str, Value); N],
) -> Result<Answer, AppError> {
    let arguments = arguments(&search_code::TOOL, values)?;
    search_code::answer(&query_context(session, opened), &search_code::SearchArgs::parse(&arguments)?)
}

/// The times of the second half of the queries, after the first half warmed up the caches.
fn warm(session: &Session, opened: &OpenIndex, kind: &QueryKind) -> Result<Vec<Duration>, AppError> {
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

/// The times of a query with nothing open yet.
fn first(session: &Session, kind: &QueryKind) -> Result<Vec<Duration>, AppError> {
    let ask = |query: &String| -> Result<Duration, AppError> {
        VERSION_CACHE.clear();
        let began = Instant::now();
        let snapshot = open(session)?;
        (kind.ask)(session, &snapshot, query)?;
        Ok(began.elapsed())
    };
    sorted(kind.queries.iter().take(ROUNDS).map(ask).collect::<Result<_, _>>()?)
}

fn scans(session: &Session, kind: &QueryKind) -> Vec<Duration> {
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

/// What is typed for names: one to six letters of one, or the initials of its words.
fn beginnings(snapshot: &Snapshot, count: usize) -> Result<Vec<String>, AppError> {
    let mut typed = names(snapshot, count)?;
    for (number, name) in typed.iter_mut().enumerate() {
        *name = match number % 7 {
            0 => tokens(name).skip(1).filter_map(|word| word.chars().next()).collect(),
            letters => name.chars().take(letters).collect(),
        };
    }
    typed.retain(|typed| !typed.is_empty());
    Ok(typed)
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

fn percentile(times: &[Duration], share: f64) -> f64 {
    let place = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len()) - 1;
    (times[place].as_secs_f64() * 1e5).round() / 100.0
}

fn row(name: &str, times: &[Duration]) -> String {
    let (half, most, all) = (percentile(times, 0.5), percentile(times, 0.95), percentile(times, 1.0));
    format!("  {name:<18} p50 {half:>8.2} ms  p95 {most:>8.2} ms  max {all:>8.2} ms  ({} queries)\n", times.len())
}

fn percentiles(times: &[Duration]) -> wire::Times {
    wire::Times {
        p50_ms: percentile(times, 0.5),
        p95_ms: percentile(times, 0.95),
        max_ms: percentile(times, 1.0),
        queries: times.len(),
    }
}
