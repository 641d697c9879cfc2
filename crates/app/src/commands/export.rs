//! `codecompass export`: every edge or symbol as JSON lines, for external checks.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use codecompass_model::ids::SymbolId;
use codecompass_model::{SourceFile, SymbolAt, SymbolKind};
use codecompass_query::graph::{Graph, ResolveCache, enclosing_named_function};
use codecompass_store::Snapshot;
use codecompass_wire::commands::export as wire;
use serde::Serialize;

use crate::cli::{Common, ExportArgs, ExportKind};
use codecompass_tools::{graph, input};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::output::{self, Answer};
use codecompass_workspace::session::Session;
use codecompass_workspace::time_limit::TimeLimit;
use codecompass_workspace::views::Published;

/// Long enough for any repository.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

pub(crate) fn run(common: &Common, args: &ExportArgs) -> Result<Answer, AppError> {
    input::one_of("format", Some(&args.format), &[("jsonl", ())])?;
    let access = args.access.to_access()?;
    let session = Session::open(&common.session_options(), args.path.as_deref())?;
    let published = Published::open(&session, access)?;
    let Some(memory) = published.resolve_cache.as_deref() else {
        return Err(AppError::index_not_ready().with_metadata(published.metadata));
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let written = match args.what {
        ExportKind::Symbols if args.undecided => {
            return Err(AppError::new(Code::InvalidInput, "--undecided applies to edges, not to symbols."));
        }
        ExportKind::Symbols => write_symbols(memory.snapshot(), &mut out),
        ExportKind::Edges => write_edges(memory, args.undecided, &mut out),
    };
    if written? {
        is_reader_open(out.flush())?;
    }
    Ok(Answer { text: String::new(), json: serde_json::Value::Null, code: 0 })
}

/// Whether the reader is still there. A reader that has enough closes the pipe, which is not a failure.
fn is_reader_open(written: std::io::Result<()>) -> Result<bool, AppError> {
    match written.map_err(|error| output::write_error(&error)) {
        Ok(()) => Ok(true),
        Err(None) => Ok(false),
        Err(Some(error)) => Err(error),
    }
}

fn line(out: &mut impl Write, value: &impl Serialize) -> Result<bool, AppError> {
    let written = serde_json::to_writer(&mut *out, value).map_err(std::io::Error::from);
    is_reader_open(written.and_then(|()| writeln!(out)))
}

/// Writes all symbols, while the reader is there.
fn write_symbols(snapshot: &Snapshot, out: &mut impl Write) -> Result<bool, AppError> {
    for version in snapshot.versions()? {
        for symbol in snapshot.outline(version.id)?.symbols.iter() {
            let value = wire::Symbol {
                path: version.path.clone(),
                line_start: symbol.lines.start,
                line_end: symbol.lines.end,
                kind: symbol.kind.as_str().into(),
                name: symbol.name.clone(),
                qualified_name: symbol.qualified_name.clone(),
                symbol_id: SymbolId::new(&version.path, symbol).to_string(),
            };
            if !line(out, &value)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Writes the edges file by file and evicts the cache now and then: all of it would not fit into memory.
fn write_edges(memory: &ResolveCache, undecided: bool, out: &mut impl Write) -> Result<bool, AppError> {
    graph::with_graph(memory, &TimeLimit::new(EXPORT_TIMEOUT, &Arc::default()), |graph| {
        for version in memory.snapshot().versions()? {
            graph.evict();
            let Some(file) = graph.file(version.id) else { continue };
            if !graph.has_rules(&file.language) {
                continue;
            }
            if undecided {
                if !write_unresolved(graph, &file, out)? {
                    return Ok(false);
                }
                continue;
            }
            for edge in graph.edges_in(&file)? {
                let to = symbol_location(graph, edge.target)?;
                let value = wire::Edge {
                    from_path: file.path.clone(),
                    from_line: enclosing_function_line(&file, edge.from),
                    to_path: to.0,
                    to_line: to.1,
                    to_name: to.2,
                    site_line: edge.line,
                    site_col: edge.column + 1,
                    edge_type: edge.kind.as_str().into(),
                    confidence: edge.confidence.as_str().into(),
                };
                if !line(out, &value)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    })
}

/// Writes the unresolved references of a file.
fn write_unresolved(graph: &Graph<'_>, file: &SourceFile, out: &mut impl Write) -> Result<bool, AppError> {
    for place in graph.unresolved_in(file)? {
        let value = wire::Unresolved {
            from_path: file.path.clone(),
            from_line: enclosing_function_line(file, place.from),
            site_line: place.line,
            site_col: place.column + 1,
            name: place.name,
            candidates: place.candidates,
        };
        if !line(out, &value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The path, the line of the name and the name of a symbol.
fn symbol_location(graph: &Graph<'_>, at: SymbolAt) -> Result<(String, u32, String), AppError> {
    let lost = || AppError::inconsistent_index("a symbol");
    let file = graph.file(at.file).ok_or_else(lost)?;
    let symbol = file.facts.symbols.get(at.ordinal as usize).ok_or_else(lost)?;
    Ok((file.path.clone(), symbol.name_line.max(symbol.lines.start), symbol.name.clone()))
}

/// The line of the enclosing function, 0 at file level. Test blocks are not functions here, as for a compiler.
fn enclosing_function_line(file: &SourceFile, from: Option<u32>) -> u32 {
    let is_code = |place: &u32| file.facts.symbols[*place as usize].kind != SymbolKind::Use;
    let around = enclosing_named_function(&file.facts.symbols, from).filter(is_code);
    around.map_or(0, |place| {
        let symbol = &file.facts.symbols[place as usize];
        symbol.name_line.max(symbol.lines.start)
    })
}
