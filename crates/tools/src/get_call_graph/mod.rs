//! `get_call_graph`: the callers and callees of a symbol.

mod json;
mod text;

use codecompass_model::{SymbolAt, SymbolKind};
use codecompass_query::AmbiguityPolicy;
use codecompass_query::graph::{
    CallEdge, CallGraph, Counts, Direction, FrontierSymbol, Graph, ScanProgress, Site, UnresolvedCall,
};
use codecompass_wire::{fit, get_call_graph as wire, schema};
use serde_json::Value;

use crate::batch::{self, Batch};
use crate::call::QueryContext;
use crate::followups::{OfferedTools, PreviousCall};
use crate::graph::{self, EnclosingScope, GraphSymbol, with_graph};
use crate::input::{self, Cursor};
use crate::shape::{CURSOR, FRESHNESS};
use crate::test_filter::{FoldedTests, TESTS, TestFilter};
use crate::tool_spec::{
    ALL, Arguments, Effect, FILE, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required,
};
use crate::{rows, symbol_input};
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Completeness, Metadata};
use codecompass_workspace::output::{Answer, OutputFormat, strip_style};
use codecompass_workspace::paths::ResolvedFile;
use text::Drawing;

/// The maximum number of symbols with one name in the given file that are all answered.
const MAX_SAME_FILE: usize = 8;

/// The maximum number of call lines kept per pair of symbols.
pub(super) const MAX_CALL_LINES: usize = 10;

/// The maximum depth.
const MAX_DEPTH: i64 = 5;

pub const TOOL: ToolSpec = ToolSpec {
    name: "get_call_graph",
    title: "Call graph",
    description: "Callers and callees of a function or method, each with its call site, up to depth 5. Use it to see \
                  what a change affects, or how a function works. `path_to` finds a chain of calls to another symbol.",
    params: &[
        required("symbol_name", ParamKind::Text, "Name, end of a qualified name, path:line, or symbol_id")
            .brief("Name or path:line")
            .positional("NAME"),
        symbol_input::ALSO,
        FILE,
        REF,
        optional("direction", ParamKind::Choice(&["callers", "callees", "both"], Some("both")), ""),
        optional("depth", ParamKind::Count(Some(1)), "1 to 5"),
        TESTS,
        optional("limit", ParamKind::Count(Some(20)), "Per direction, at most 200"),
        optional("list_unresolved", ParamKind::Flag(false), "Also unresolved calls, in it and of it, with the reason")
            .brief("")
            .flag("unresolved"),
        CURSOR,
        optional("path_to", ParamKind::Text, "Also a shortest chain of calls to this symbol")
            .brief("Chain of calls to this symbol")
            .flag("path-to"),
        ALL,
        optional("format", ParamKind::Choice(&["mermaid", "dot"], None), "Draw a graph instead: mermaid or dot")
            .cli_only(),
        NO_SYNC,
        FRESHNESS,
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question = CallGraphArgs::parse(&call.arguments, call.is_command())?;
        call.answer_query(|inquiry| answer(inquiry, &question).map_err(|error| inquiry.with_view_context(error)))
    }),
};

/// The parsed arguments.
pub struct CallGraphArgs {
    name: String,
    also: Vec<String>,
    path: Option<String>,
    callers: bool,
    callees: bool,
    depth: u32,
    tests: TestFilter,
    limit: usize,
    /// No limit was given.
    is_open: bool,
    cursor: Option<String>,
    path_to: Option<String>,
    list_unresolved: bool,
    drawing: Option<Drawing>,
    /// Whether an empty list sets the exit code.
    is_command: bool,
    warnings: Vec<String>,
}

impl CallGraphArgs {
    /// Checks the arguments.
    pub fn parse(arguments: &Arguments, is_command: bool) -> Result<Self, AppError> {
        let words = [("callers", (true, false)), ("callees", (false, true)), ("both", (true, true))];
        let direction = input::one_of("direction", arguments.text("direction").as_deref(), &words)?;
        let (callers, callees) = direction.unwrap_or((true, true));
        let (limit, mut warnings) = arguments.limit();
        let asked = arguments.count("depth");
        let depth = asked.clamp(1, MAX_DEPTH);
        if depth != asked {
            warnings.push(format!("`depth` {asked} was changed to {depth}: the range is 1 to {MAX_DEPTH}"));
        }
        Ok(Self {
            name: arguments.required_text("symbol_name"),
            also: arguments.list("also"),
            path: arguments.text("path"),
            callers,
            callees,
            depth: depth as u32,
            tests: TestFilter::parse(arguments)?,
            limit,
            is_open: !arguments.is_given("limit") && !arguments.is_given("all"),
            cursor: arguments.text("cursor"),
            path_to: arguments.text("path_to"),
            list_unresolved: arguments.flag("list_unresolved"),
            drawing: input::one_of("format", arguments.text("format").as_deref(), Drawing::NAMES)?,
            is_command,
            warnings,
        })
    }
}

impl CallGraphArgs {
    /// Everything that determines the lists of a name.
    fn identity(&self, name: &str, file: Option<&ResolvedFile>, form: OutputFormat) -> String {
        let path = file.map(|file| &file.path);
        let CallGraphArgs { callers, callees, depth, .. } = self;
        let chosen = self.tests.identity();
        let form = if form == OutputFormat::Json { "" } else { " text" };
        let followed = if self.list_unresolved && self.depth > 1 { " possible" } else { "" };
        format!("calls {name:?} {path:?} {callers} {callees} {depth}{followed}{chosen}{form}")
    }
}

/// Answers the request.
pub fn answer(inquiry: &QueryContext<'_>, question: &CallGraphArgs) -> Result<Answer, AppError> {
    let mut metadata = inquiry.metadata(&question.warnings);
    let memory = inquiry.resolve_cache().map_err(|error| error.with_metadata(metadata.clone()))?;
    with_graph(memory, &inquiry.time_limit, |graph| {
        let asked = NameLookup {
            context: inquiry,
            args: question,
            name: &question.name,
            cursor: question.cursor.as_deref(),
            offered: &inquiry.offered,
        };
        let further = NameLookup { cursor: None, offered: &OfferedTools::default(), ..asked };
        let mut first = collect_calls(graph, &asked, &mut metadata)?;
        let has_path = first.path_to.as_ref().is_some_and(|path| !path.chain.is_empty());
        let code = u8::from(question.is_command && first.total == 0 && first.values.is_empty() && !has_path);
        let mut more = Vec::with_capacity(question.also.len());
        // A file may define the name several times. The answer then covers each definition, in short form.
        if question.path.is_some() && inquiry.form != OutputFormat::Json && !first.others.is_empty() {
            first.is_one_of_many = true;
            first.is_unknown = first.others.len() >= MAX_SAME_FILE;
            let others = if first.is_unknown { Vec::new() } else { std::mem::take(&mut first.others) };
            for other in others {
                let place = strip_style(&other.location());
                let asked = NameLookup { name: &place, ..further };
                match collect_calls(graph, &asked, &mut Metadata::unknown()) {
                    Ok(part) => first.variants.push(part),
                    error => more.push((place.clone(), error)),
                }
            }
        }
        for name in &question.also {
            let mut noted = Metadata::unknown();
            more.push((name.clone(), collect_calls(graph, &NameLookup { name, ..further }, &mut noted)));
            batch::add_warnings(&mut metadata, name, noted);
        }
        let answered = more.iter().filter_map(|(_, part)| part.as_ref().ok());
        let is_in_text = std::iter::once(&first).chain(answered).any(Calls::is_incomplete);
        graph::note_incomplete(graph, &mut metadata, is_in_text && inquiry.form != OutputFormat::Json)?;
        if let (Some(drawing), OutputFormat::Text(_)) = (question.drawing, inquiry.form) {
            return Ok(Answer { text: first.draw(drawing), json: Value::Null, code });
        }
        Answer::render(inquiry.form, code, Batch { first, more, metadata })
    })
}

/// The lookup of one name.
#[derive(Clone, Copy)]
struct NameLookup<'a> {
    context: &'a QueryContext<'a>,
    args: &'a CallGraphArgs,
    name: &'a str,
    cursor: Option<&'a str>,
    /// The tools that may be suggested.
    offered: &'a OfferedTools,
}

/// The callers and callees of one symbol.
pub(super) struct Calls {
    /// The request, for suggestions.
    pub(super) previous: PreviousCall,
    pub(super) symbol: GraphSymbol,
    pub(super) callers: Option<CallList>,
    pub(super) callees: Option<CallList>,
    /// Whether the time was up before all callers, or all callees, were found.
    pub(super) are_callers_cut: bool,
    pub(super) are_callees_cut: bool,
    /// How far the scan for direct callers came, if it is incomplete.
    pub(super) progress: Option<ScanProgress>,
    pub(super) total: usize,
    pub(super) is_cut: bool,
    pub(super) next: Option<String>,
    pub(super) by_limit: bool,
    pub(super) offset: usize,
    /// Unresolved calls in the symbol.
    pub(super) unresolved: Vec<UnresolvedCall>,
    /// The number of calls in it that leave the repository.
    pub(super) external: usize,
    /// The classification of all occurrences of its name.
    pub(super) counts: Option<Counts>,
    pub(super) possible: Vec<PossibleCall>,
    /// The sites that pass or register the function.
    pub(super) values: Vec<PossibleCall>,
    pub(super) lists_unresolved: bool,
    pub(super) limit: usize,
    pub(super) path_to: Option<PathTo>,
    /// The symbols at which callers, and callees, ended before the depth, with their unresolved calls.
    pub(super) frontier: [Vec<(GraphSymbol, usize)>; 2],
    pub(super) others: Vec<GraphSymbol>,
    /// Other symbols with the name are in the given file; each gets one line.
    pub(super) is_one_of_many: bool,
    pub(super) variants: Vec<Calls>,
    /// There are too many of them to show more than their locations.
    pub(super) is_unknown: bool,
    pub(super) room: usize,
}

/// One direction.
pub(super) struct CallList {
    pub(super) edges: Vec<CallRow>,
    /// Tests, which texts list after the other rows.
    pub(super) tests: FoldedTests<CallRow>,
    /// The number of rows on all pages.
    pub(super) listed: usize,
}

/// A call with the symbol at its far end.
pub(super) struct CallRow {
    pub(super) call: CallEdge,
    pub(super) far: EnclosingScope,
    pub(super) via: Option<GraphSymbol>,
    /// The number of implementations of the callee.
    pub(super) implementations: usize,
}

/// A possible call of the symbol, or a use of it as a value.
pub(super) struct PossibleCall {
    pub(super) site: Site,
    pub(super) from: EnclosingScope,
}

/// A requested chain of calls.
pub(super) struct PathTo {
    pub(super) name: String,
    pub(super) chain: Vec<GraphSymbol>,
    pub(super) depth: u32,
    /// For each step of the chain, whether it is only possible.
    pub(super) possible: Vec<bool>,
    /// Without a chain, the symbols at which resolution ended, with their unresolved calls.
    pub(super) frontier: Vec<(GraphSymbol, usize)>,
    /// Whether all possible calls were followed, too.
    pub(super) is_exhaustive: bool,
    /// Whether the time was up before a chain was found.
    pub(super) is_cut: bool,
}

fn collect_calls(graph: &Graph<'_>, asked: &NameLookup<'_>, metadata: &mut Metadata) -> Result<Calls, AppError> {
    let NameLookup { context: inquiry, args: question, name, .. } = *asked;
    let snapshot = graph.snapshot();
    let file = inquiry.paths.resolve_optional_file(&[snapshot], question.path.as_deref())?;
    let handle = symbol_input::normalize_name(snapshot, &inquiry.paths, name)?;
    let handle = symbol_input::follow_reexports(graph, handle, &mut metadata.warnings)?;
    let (target, others) = resolve_symbol(graph, &handle, file.as_ref(), inquiry.form)?;
    let symbol = GraphSymbol::load(graph, target)?;
    if !others.is_empty() && inquiry.form == OutputFormat::Json {
        metadata.warnings.push(graph::chosen_warning(&symbol, name, others.len() + 1));
    }
    if !graph.has_rules(&symbol.file.language) {
        metadata.warnings.push(format!("calls of {} are not supported", symbol.file.language));
    }
    let side = |wanted: bool, direction| -> Result<CallGraph, AppError> {
        let mut calls = match wanted {
            true => graph.calls(target, direction, question.depth, question.list_unresolved)?,
            false => CallGraph::default(),
        };
        calls.edges.retain(|edge| question.tests.includes(edge.is_test));
        Ok(calls)
    };
    // In text, a chain of calls is the whole answer.
    let is_only_path = question.path_to.is_some() && inquiry.form != OutputFormat::Json && question.drawing.is_none();
    let (wants_callers, wants_callees) = (question.callers && !is_only_path, question.callees && !is_only_path);
    // Callees cost little, so callers, which may need all of the time, come last.
    let callees = side(wants_callees, Direction::Callees)?;
    let are_callees_cut = graph.is_cut();
    let callers = side(wants_callers, Direction::Callers)?;
    let are_callers_cut = graph.is_cut();
    let total = callers.edges.len() + callees.edges.len();
    let cursor = Cursor::new(Some(snapshot), &question.identity(name, file.as_ref(), inquiry.form));
    let offset = cursor.decode(asked.cursor)?;
    let (mut above, mut below) =
        (page_of_calls(graph, asked, &callers.edges, offset)?, page_of_calls(graph, asked, &callees.edges, offset)?);
    let kept = fitting_count(inquiry, question, &above).min(fitting_count(inquiry, question, &below));
    above.edges.truncate(kept);
    below.edges.truncate(kept);
    let shown_count = above.edges.len().max(below.edges.len());
    let is_cut = offset + shown_count < above.listed.max(below.listed);
    let next = is_cut.then(|| cursor.encode(offset + shown_count));
    if is_cut {
        metadata.next_cursor.clone_from(&next);
        metadata.completeness = Completeness::Truncated;
    }
    for edge in &mut below.edges {
        let is_open = |shown: &GraphSymbol| shown.is_abstract();
        if let (Some(at), EnclosingScope::Symbol(shown)) = (edge.call.symbol, &edge.far)
            && inquiry.form != OutputFormat::Json
            && is_open(shown)
        {
            edge.implementations = graph.implementations(at).len();
        }
    }
    let frontier = [load_frontier(graph, &callers.frontier)?, load_frontier(graph, &callees.frontier)?];
    let with_scope = |site: Site| -> Result<PossibleCall, AppError> {
        let from = EnclosingScope::load(graph, site.file.id, site.from)?;
        Ok(PossibleCall { site, from })
    };
    let unproved = callers.unproved.into_iter().map(with_scope);
    let values = callers.values.into_iter().filter(|site| question.tests.includes(site.in_test)).map(with_scope);
    let path_to = question.path_to.as_ref().map(|end| find_chain(graph, target, end, inquiry)).transpose()?;
    if let Some(path) = path_to.as_ref().filter(|path| path.chain.is_empty() && !is_only_path) {
        metadata.warnings.push(path.why_missing());
    }
    let is_kin = |language: &str| graph.can_interop(language, &symbol.file.language);
    let found = match wants_callers {
        true => Some(graph.references_to_name(&symbol.symbol().name)?),
        false => None,
    };
    let progress = found.as_ref().and_then(|found| found.progress());
    let counts = found.map(|found| found.classify(graph, target, symbol.symbol(), is_kin).1);
    if inquiry.form == OutputFormat::Json && (are_callers_cut || are_callees_cut) {
        let examined = progress.map_or("not all symbols examined, ask again for the rest".into(), graph::progress_text);
        metadata.warnings.push(format!("at least {} (time limit): {examined}", rows::count(total, "edge")));
    }
    Ok(Calls {
        previous: PreviousCall::new(TOOL.name, "symbol_name", name, asked.offered),
        external: callees.outside,
        counts,
        symbol,
        callers: wants_callers.then_some(above),
        callees: wants_callees.then_some(below),
        are_callers_cut,
        are_callees_cut,
        progress,
        total,
        is_cut,
        next,
        by_limit: kept >= question.limit,
        offset,
        unresolved: callees.unresolved,
        possible: unproved.collect::<Result<_, AppError>>()?,
        values: values.collect::<Result<_, AppError>>()?,
        lists_unresolved: question.list_unresolved,
        limit: question.limit,
        path_to,
        frontier,
        others: graph::load_others(graph, &others)?,
        is_one_of_many: false,
        variants: Vec::new(),
        is_unknown: false,
        room: inquiry.max_bytes(),
    })
}

/// The edges from an offset, up to the limit. In texts, tests come last, and many tests become a count.
fn page_of_calls(
    graph: &Graph<'_>,
    asked: &NameLookup<'_>,
    edges: &[CallEdge],
    offset: usize,
) -> Result<CallList, AppError> {
    let question = asked.args;
    let is_split =
        asked.context.form != OutputFormat::Json && question.tests == TestFilter::Unset && question.drawing.is_none();
    let (of_tests, of_code): (Vec<&CallEdge>, Vec<&CallEdge>) = edges.iter().partition(|edge| is_split && edge.is_test);
    let page = of_code.iter().skip(offset).take(question.limit);
    let mut side = CallList {
        edges: page.map(|edge| CallRow::new(graph, edge)).collect::<Result<_, _>>()?,
        tests: FoldedTests::empty(),
        listed: of_code.len(),
    };
    if asked.cursor.is_none() {
        let left = (!question.is_open).then(|| question.limit.saturating_sub(of_code.len()));
        side.tests = FoldedTests::fold(of_tests, left, |edge| &edge.path).try_map(|edge| CallRow::new(graph, edge))?;
    }
    Ok(side)
}

/// The number of edges of a side that fit. Both lists are cut at the same index, so one offset continues both.
fn fitting_count(inquiry: &QueryContext<'_>, question: &CallGraphArgs, side: &CallList) -> usize {
    // Two directions share the size of an answer.
    let share = inquiry.max_bytes() / (1 + usize::from(question.callers && question.callees));
    let kept = match inquiry.form {
        OutputFormat::Json => fit(&side.edges.iter().map(CallRow::wire).collect::<Vec<_>>(), share),
        OutputFormat::Text(_) => {
            rows::fitting_count(side.edges.iter().map(|edge| 60 + edge.call.path.len()), share / 4 * 3)
        }
    };
    if kept < side.edges.len() { kept } else { usize::MAX }
}

fn find_chain(graph: &Graph<'_>, from: SymbolAt, name: &str, inquiry: &QueryContext<'_>) -> Result<PathTo, AppError> {
    let handle = symbol_input::normalize_name(graph.snapshot(), &inquiry.paths, name)?;
    let (end, _) = resolve_symbol(graph, &handle, None, inquiry.form)?;
    let chain = graph.path_between(from, end, MAX_DEPTH as u32 * 2)?;
    let symbols = chain.symbols.iter().map(|at| GraphSymbol::load(graph, *at)).collect::<Result<_, _>>()?;
    Ok(PathTo {
        name: name.to_owned(),
        chain: symbols,
        depth: chain.depth,
        possible: chain.possible,
        frontier: load_frontier(graph, &chain.frontier)?,
        is_exhaustive: chain.is_exhaustive,
        is_cut: graph.is_cut(),
    })
}

/// The symbols at which resolution ended, those with the most unresolved calls first.
fn load_frontier(graph: &Graph<'_>, frontier: &[FrontierSymbol]) -> Result<Vec<(GraphSymbol, usize)>, AppError> {
    let mut all: Vec<(GraphSymbol, usize)> = Vec::with_capacity(frontier.len());
    for one in frontier {
        all.push((GraphSymbol::load(graph, one.symbol)?, one.calls));
    }
    all.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    Ok(all)
}

/// The maximum number of symbols that are named where resolution ended.
const MAX_FRONTIER: usize = 5;

/// Names the symbols at which resolution ended.
pub(super) fn frontier_text(frontier: &[(GraphSymbol, usize)]) -> String {
    let shown = frontier.iter().take(MAX_FRONTIER).map(|(symbol, calls)| {
        format!("{} {} ({calls})", escape_control(&symbol.short_name()), strip_style(&symbol.location()))
    });
    let more = match frontier.len().saturating_sub(MAX_FRONTIER) {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

impl PathTo {
    /// Says why there is no chain.
    pub(super) fn why_missing(&self) -> String {
        let what = format!("no chain to {} within {} calls", escape_control(&self.name), self.depth);
        match (self.frontier.is_empty(), self.is_exhaustive) {
            (true, _) => what,
            (false, true) => format!("{what}, nor through possible calls"),
            (false, false) => format!(
                "no proved chain to {} within {} calls; resolution ended in {}",
                escape_control(&self.name),
                self.depth,
                frontier_text(&self.frontier)
            ),
        }
    }
}

impl Calls {
    /// Whether the time was up before everything was found.
    fn is_incomplete(&self) -> bool {
        self.are_callers_cut || self.are_callees_cut || self.path_to.as_ref().is_some_and(|path| path.is_cut)
    }

    /// The unresolved calls in the symbol.
    pub(super) fn unresolved(&self) -> impl Iterator<Item = (u32, &str, &'static str)> {
        self.unresolved.iter().map(|call| (call.line, call.name.as_str(), call.why))
    }
}

/// Whether a symbol of this kind can have callers or callees.
fn is_callable(kind: SymbolKind) -> bool {
    use SymbolKind::{Const, Field, Property, Variant};
    !matches!(kind, Const | Field | Property | Variant)
}

/// Resolves a name to a symbol and the others with the name.
fn resolve_symbol(
    graph: &Graph<'_>,
    name: &str,
    file: Option<&ResolvedFile>,
    form: OutputFormat,
) -> Result<(SymbolAt, Vec<SymbolAt>), AppError> {
    // In text, callable symbols win over fields with the name; JSON considers all of them.
    let prefers = if form == OutputFormat::Json { |_| true } else { is_callable };
    symbol_input::resolve_symbol(graph.snapshot(), name, file, AmbiguityPolicy::MostUsed { graph, prefers })
}
