//! The text of a symbol or of an excerpt of a file, with highlighting and links to definitions.

use codecompass_lang::{REGISTRY, highlight_while};
use codecompass_model::ids::SymbolId;
use codecompass_model::{Lines, Resolution, Symbol, SymbolKind};
use codecompass_query::graph::Graph;
use codecompass_query::{AmbiguityPolicy, NameMatch, NameQuery, leading_lines, nearest_names, resolve_name};
use codecompass_store::{Snapshot, VersionInfo};
use codecompass_wire::pages::{self, Source, SourceSymbol};
use codecompass_wire::{ErrorData, SymbolIdentity};
use serde_json::Map;
use std::time::Duration;

use codecompass_tools::call::QueryContext;
use codecompass_tools::graph::{identity, with_graph};
use codecompass_tools::tool_spec::{Arguments, Effect, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::output::Answer;
use codecompass_workspace::paths::Absence;

/// The maximum number of lines of a file on a page.
const MAX_LINES: u32 = 1500;

/// The maximum number of lines before the requested line.
const LINES_BEFORE: u32 = 500;

/// Time limit for resolving names; the remaining names stay plain text until the page is requested again.
const LINK_TIMEOUT: Duration = Duration::from_millis(60);

/// Time limit for parsing a file for highlighting; a file that exceeds it is not highlighted.
const HIGHLIGHT_TIMEOUT: Duration = Duration::from_millis(150);

/// The maximum number of other symbols with the same name that are listed.
pub(crate) const MAX_OTHERS: usize = 20;

pub(crate) const TOOL: ToolSpec = ToolSpec {
    name: "source",
    title: "Source",
    description: "The text of a symbol or a file for a page.",
    params: &[
        optional("name", ParamKind::Text, "A symbol: name, path:line or symbol_id"),
        optional("path", ParamKind::Text, "A file, or the file of the symbol"),
        optional("line", ParamKind::Count(None), "A line of the file"),
        REF,
        WORKSPACE,
    ],
    output: Map::new,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question = SourceArgs::parse(&call.arguments);
        call.answer_query(|inquiry| answer(inquiry, &question).map_err(|error| inquiry.with_view_context(error)))
    }),
};

struct SourceArgs {
    name: Option<String>,
    path: Option<String>,
    line: u32,
}

impl SourceArgs {
    fn parse(arguments: &Arguments) -> Self {
        let line = if arguments.is_given("line") { arguments.count("line") } else { 1 };
        Self {
            name: arguments.text("name"),
            path: arguments.text("path"),
            line: u32::try_from(line).unwrap_or(1).max(1),
        }
    }
}

/// The excerpt.
struct SourceExcerpt {
    version: VersionInfo,
    lines: Lines,
    /// The ordinal of the requested symbol.
    place: Option<u32>,
    others: Vec<SourceSymbol>,
}

fn answer(inquiry: &QueryContext<'_>, question: &SourceArgs) -> Result<Answer, AppError> {
    let metadata = inquiry.metadata(&[]);
    let Some(snapshot) = inquiry.snapshot() else { return Err(AppError::index_not_ready().with_metadata(metadata)) };
    let shown = match &question.name {
        Some(name) => symbol_excerpt(snapshot, name, question.path.as_deref())?,
        None => file_excerpt(inquiry, snapshot, question)?,
    };
    let version = &shown.version;
    let text = snapshot.text(version.id)?;
    let outline = snapshot.outline(version.id)?;
    let starts = line_starts(&text);
    let patience = inquiry.time_limit.at_most(HIGHLIGHT_TIMEOUT).deadline();
    let from = starts.get(shown.lines.start as usize - 1).copied().unwrap_or_default();
    let to = starts.get(shown.lines.end as usize).copied().unwrap_or(text.len());
    let colours = highlight_while(&version.path, text.as_bytes(), Some(&version.language), &|| !patience.is_over())
        .unwrap_or_default()
        .into_iter()
        .filter(|span| (span.end as usize) > from && (span.start as usize) < to)
        .map(|span| {
            let (start, end) = ((span.start as usize).max(from), (span.end as usize).min(to));
            (start - from, end - from, span.kind.name().into())
        })
        .collect();
    let symbols = &outline.symbols;
    let mut links = definition_links(symbols, version, shown.lines, shown.place);
    let (found, is_whole) = resolve_links(inquiry, version, &shown, &text, &starts)?;
    links.extend(found);
    links.retain(|link| link.start >= from && link.end <= to);
    links.sort_by_key(|link| (link.start, std::cmp::Reverse(link.end)));
    links.dedup_by(|later, earlier| later.start < earlier.end);
    let around = shown.place.map(|place| ancestors(symbols, version, place)).unwrap_or_default();
    let inside = shown.place.map(|place| children(symbols, version, place)).unwrap_or_default();
    let source = Source {
        total_lines: version.lines,
        first_line: shown.lines.start,
        last_line: shown.lines.end,
        is_edited: snapshot.edited().contains(version.id),
        symbol: shown.place.map(|place| source_symbol(version, &symbols[place as usize])),
        around,
        inside,
        text: text[from..to].to_owned(),
        colours,
        has_all_links: is_whole,
        links: links.into_iter().map(|link| link.wire(from)).collect(),
        metadata,
        path: shown.version.path,
        language: shown.version.language,
        others: shown.others,
    };
    Answer::from_wire(&source, 0)
}

/// The symbol with this name, with its docs and attributes.
fn symbol_excerpt(snapshot: &Snapshot, name: &str, path: Option<&str>) -> Result<SourceExcerpt, AppError> {
    let wanted = NameQuery { name, languages: REGISTRY, language: None, path };
    let NameMatch::Unique { symbol: hit, others, .. } =
        resolve_name(snapshot, &wanted, AmbiguityPolicy::First { others: MAX_OTHERS })?
    else {
        let near = nearest_names(snapshot, name, 5)?;
        let error = AppError::new(Code::SymbolNotFound, format!("No symbol {name:?} in this version of the code."));
        return Err(error.data(ErrorData::Name { nearest_names: near }));
    };
    let version = (*hit.version).clone();
    let found = hit.symbol();
    let text = snapshot.text(version.id)?;
    let start = leading_lines(&text, found).map_or(found.lines.start, |above| above.start);
    let end = found.lines.end.min(start.saturating_add(MAX_LINES));
    let outline = snapshot.outline(version.id)?;
    let place = outline
        .symbols
        .iter()
        .position(|one| one.span == found.span && one.kind == found.kind && one.name == found.name);
    let others = others.iter().map(|other| source_symbol(&other.version, other.symbol())).collect();
    Ok(SourceExcerpt { version, lines: Lines { start, end }, place: place.map(|place| place as u32), others })
}

/// An excerpt of a file.
fn file_excerpt(
    inquiry: &QueryContext<'_>,
    snapshot: &Snapshot,
    question: &SourceArgs,
) -> Result<SourceExcerpt, AppError> {
    let given = question.path.as_deref().unwrap_or_default();
    let file = inquiry.paths.resolve_file(&[snapshot], "path", given)?;
    let Some(version) = snapshot.version_at(&file.path)? else {
        let absence = file.absence.unwrap_or(Absence::Unknown);
        return Err(absence.error(&file.path, &inquiry.published.metadata.ref_name));
    };
    let last = version.lines.max(1);
    let start = if last <= MAX_LINES { 1 } else { question.line.min(last).saturating_sub(LINES_BEFORE).max(1) };
    let lines = Lines { start, end: last.min(start + MAX_LINES - 1) };
    Ok(SourceExcerpt { version, lines, place: None, others: Vec::new() })
}

/// A linked name, by its byte range in the file.
struct Link {
    start: usize,
    end: usize,
    id: String,
    about: String,
    is_definition: bool,
    is_guess: bool,
}

impl Link {
    fn wire(self, from: usize) -> pages::Link {
        let (start, end) = (self.start - from, self.end - from);
        match (self.is_definition, self.is_guess) {
            (true, _) => pages::Link::Marked(start, end, self.id, self.about, "definition".into()),
            (_, true) => pages::Link::Marked(start, end, self.id, self.about, "guess".into()),
            _ => pages::Link::Reference(start, end, self.id, self.about),
        }
    }
}

/// The names defined in these lines, except the symbol of the page itself.
fn definition_links(symbols: &[Symbol], version: &VersionInfo, lines: Lines, own: Option<u32>) -> Vec<Link> {
    let is_shown = |symbol: &Symbol| lines.start <= symbol.name_line && symbol.name_line <= lines.end;
    let can_be_opened =
        |symbol: &Symbol| symbol.kind != SymbolKind::Use && symbol.name_span.start < symbol.name_span.end;
    let shown = symbols
        .iter()
        .enumerate()
        .filter(|(at, symbol)| own != Some(*at as u32) && is_shown(symbol) && can_be_opened(symbol));
    let link = |(_, symbol): (usize, &Symbol)| Link {
        start: symbol.name_span.start as usize,
        end: symbol.name_span.end as usize,
        id: SymbolId::new(&version.path, symbol).to_string(),
        about: format!("{} {}", symbol.kind.as_str(), symbol.qualified_name),
        is_definition: true,
        is_guess: false,
    };
    shown.map(link).collect()
}

/// The resolved names in these lines, and whether the time sufficed for all of them.
fn resolve_links(
    inquiry: &QueryContext<'_>,
    version: &VersionInfo,
    shown: &SourceExcerpt,
    text: &str,
    starts: &[usize],
) -> Result<(Vec<Link>, bool), AppError> {
    let patience = inquiry.time_limit.at_most(LINK_TIMEOUT);
    let deadline = patience.deadline();
    with_graph(inquiry.resolve_cache()?, &patience, |graph| {
        let mut links = Vec::new();
        let Some(file) = graph.file(version.id).filter(|file| graph.has_rules(&file.language)) else {
            return Ok((links, true));
        };
        for (at, reference) in file.facts.references.iter().enumerate() {
            let is_shown = shown.lines.start <= reference.line && reference.line <= shown.lines.end;
            if !is_shown || !reference.is_name {
                continue;
            }
            if deadline.is_over() {
                return Ok((links, false));
            }
            let Some(name) = file.facts.names.get(reference.name as usize) else { continue };
            let start =
                starts.get(reference.line as usize - 1).copied().unwrap_or_default() + reference.column as usize;
            if !text.get(start..).is_some_and(|rest| rest.starts_with(name.as_str())) {
                continue;
            }
            if let Some(link) = link_to(graph, graph.resolve(&file, at as u32), start, start + name.len())? {
                links.push(link);
            }
        }
        Ok((links, true))
    })
}

fn link_to(graph: &Graph<'_>, meaning: Resolution, start: usize, end: usize) -> Result<Option<Link>, AppError> {
    let Resolution::Symbols { targets, confidence, .. } = meaning else { return Ok(None) };
    let Some(target) = targets.first() else { return Ok(None) };
    let Some(file) = graph.file(target.file) else { return Ok(None) };
    let Some(symbol) = file.facts.symbols.get(target.ordinal as usize) else { return Ok(None) };
    // The library's stubs are not files of the view.
    if graph.snapshot().version(target.file)?.is_none() {
        return Ok(None);
    }
    Ok(Some(Link {
        start,
        end,
        id: SymbolId::new(&file.path, symbol).to_string(),
        about: format!("{} {} · {}:{}", symbol.kind.as_str(), symbol.qualified_name, file.path, symbol.lines.start),
        is_definition: false,
        is_guess: confidence.as_str() != "static",
    }))
}

/// The enclosing symbols, the outermost first.
fn ancestors(symbols: &[Symbol], version: &VersionInfo, place: u32) -> Vec<SourceSymbol> {
    let mut chain = Vec::new();
    let mut at = symbols[place as usize].parent;
    while let Some(symbol) = at.and_then(|at| symbols.get(at as usize)) {
        chain.push(source_symbol(version, symbol));
        at = symbol.parent;
    }
    chain.reverse();
    chain
}

/// The direct members of a symbol.
fn children(symbols: &[Symbol], version: &VersionInfo, place: u32) -> Vec<SourceSymbol> {
    let is_inside = |symbol: &&Symbol| symbol.parent == Some(place) && symbol.kind != SymbolKind::Use;
    symbols.iter().filter(is_inside).map(|symbol| source_symbol(version, symbol)).collect()
}

fn source_symbol(version: &VersionInfo, symbol: &Symbol) -> SourceSymbol {
    let SymbolIdentity { symbol_id, symbol_stable_id, name, qualified_name, kind, .. } =
        identity(&version.path, &version.language, symbol);
    SourceSymbol {
        symbol_id,
        symbol_stable_id,
        name,
        qualified_name,
        kind,
        signature: symbol.signature.chars().take(400).collect(),
        path: version.path.clone(),
        line_start: symbol.lines.start,
        line_end: symbol.lines.end,
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(breaks).collect()
}
