//! `get_call_graph`: the callers and callees of a symbol.

use codecompass_model::{SymbolAt, SymbolKind};
use codecompass_query::Policy;
use codecompass_query::graph::{CallEdge, CallGraph, Counts, Direction, Graph, Site, Unresolved};
use serde_json::{Value, json};

use super::call_text::Drawing;
use super::frame::{ALL, Arguments, Effect, FILE, Kind, NO_SYNC, REF, Tool, WORKSPACE, optional, required, schema};
use super::graph::{self, Around, Shown, with_graph};
use super::input::{self, Cursor};
use super::several::Several;
use super::shape::{self, CURSOR, FRESHNESS};
use super::test_code::{Last, TESTS, Tests};
use super::{names, rows};
use crate::call::Inquiry;
use crate::error::AppError;
use crate::metadata::{Completeness, Metadata};
use crate::output::{Answer, Form, plain};
use crate::paths::File;

/// The maximum number of symbols with one name in the given file that are all answered.
const SAME_FILE: usize = 8;

/// The maximum number of call lines kept per pair of symbols.
pub(super) const LINES: usize = 10;

/// The maximum depth.
const DEEPEST: i64 = 5;

pub(crate) const TOOL: Tool = Tool {
    name: "get_call_graph",
    title: "Call graph",
    description: "Callers and callees of a function or method, each with its call site, up to depth 5. Use it to see \
                  what a change affects, or how a function works. `path_to` finds a chain of calls to another symbol.",
    params: &[
        required("symbol_name", Kind::Text, "Name, end of a qualified name, path:line, or symbol_id")
            .brief("Name or path:line")
            .place("NAME"),
        names::ALSO,
        FILE,
        REF,
        optional("direction", Kind::Choice(&["callers", "callees", "both"], Some("both")), ""),
        optional("depth", Kind::Count(Some(1)), "1 to 5"),
        TESTS,
        optional("limit", Kind::Count(Some(20)), "Per direction, at most 200"),
        optional("list_unresolved", Kind::Flag(false), "Also unresolved calls, in it and of it, with the reason")
            .brief("")
            .flag("unresolved"),
        CURSOR,
        optional("path_to", Kind::Text, "Also a shortest chain of calls to this symbol")
            .brief("Chain of calls to this symbol")
            .flag("path-to"),
        ALL,
        optional("format", Kind::Choice(&["mermaid", "dot"], None), "Draw a graph instead: mermaid or dot")
            .on_the_command_line(),
        NO_SYNC,
        FRESHNESS,
        WORKSPACE,
    ],
    output: || {
        let edge = schema::object(
            &["confidence"],
            &["depth", "call_count", "call_lines_omitted"],
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
        let question = Question::of(&call.arguments, call.is_command())?;
        call.inquire(|inquiry| answer(inquiry, &question).map_err(|error| inquiry.explained(error)))
    },
};

/// The parsed arguments.
pub(crate) struct Question {
    name: String,
    also: Vec<String>,
    path: Option<String>,
    callers: bool,
    callees: bool,
    depth: u32,
    tests: Tests,
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

impl Question {
    /// Checks the arguments.
    pub(crate) fn of(arguments: &Arguments, is_command: bool) -> Result<Self, AppError> {
        let words = [("callers", (true, false)), ("callees", (false, true)), ("both", (true, true))];
        let direction = input::one_of("direction", arguments.text("direction").as_deref(), &words)?;
        let (callers, callees) = direction.unwrap_or((true, true));
        let (limit, mut warnings) = arguments.limit();
        let asked = arguments.count("depth");
        let depth = asked.clamp(1, DEEPEST);
        if depth != asked {
            warnings.push(format!("`depth` {asked} was changed to {depth}: the range is 1 to {DEEPEST}"));
        }
        Ok(Self {
            name: arguments.words("symbol_name"),
            also: arguments.list("also"),
            path: arguments.text("path"),
            callers,
            callees,
            depth: depth as u32,
            tests: Tests::of(arguments)?,
            limit,
            is_open: !arguments.is_given("limit") && !arguments.is_given("all"),
            cursor: arguments.text("cursor"),
            path_to: arguments.text("path_to"),
            list_unresolved: arguments.flag("list_unresolved"),
            drawing: input::one_of("format", arguments.text("format").as_deref(), Drawing::WORDS)?,
            is_command,
            warnings,
        })
    }
}

impl Question {
    /// Everything that determines the lists of a name.
    fn identity(&self, name: &str, file: Option<&File>, form: Form) -> String {
        let path = file.map(|file| &file.path);
        let Question { callers, callees, depth, .. } = self;
        let chosen = self.tests.identity();
        let form = if form == Form::Json { "" } else { " text" };
        format!("calls {name:?} {path:?} {callers} {callees} {depth}{chosen}{form}")
    }
}

/// Answers the request.
pub(crate) fn answer(inquiry: &Inquiry<'_>, question: &Question) -> Result<Answer, AppError> {
    let mut metadata = inquiry.metadata(&question.warnings);
    let memory = inquiry.memory().map_err(|error| error.about(metadata.clone()))?;
    with_graph(memory, &inquiry.patience, |graph| {
        let asked = Asked { inquiry, question, name: &question.name, cursor: question.cursor.as_deref() };
        let mut first = found(graph, &asked, &mut metadata)?;
        let code = u8::from(question.is_command && first.total == 0);
        let mut more = Vec::with_capacity(question.also.len());
        // A file may define the name several times. The answer then covers each definition, in short form.
        if question.path.is_some() && inquiry.form != Form::Json && !first.others.is_empty() {
            first.is_one_of_many = true;
            first.is_unknown = first.others.len() >= SAME_FILE;
            let others = if first.is_unknown { Vec::new() } else { std::mem::take(&mut first.others) };
            for other in others {
                let place = plain(&other.place());
                let asked = Asked { name: &place, cursor: None, ..asked };
                let part = found(graph, &asked, &mut Metadata::unknown());
                more.push((place.clone(), part.map(|part| Calls { is_one_of_many: true, ..part })));
            }
        }
        for name in &question.also {
            let part = found(graph, &Asked { name, cursor: None, ..asked }, &mut Metadata::unknown());
            more.push((name.clone(), part));
        }
        graph::finish(graph, &mut metadata)?;
        if let (Some(drawing), Form::Text(_)) = (question.drawing, inquiry.form) {
            return Ok(Answer { text: first.drawn(drawing), json: Value::Null, code });
        }
        Several { first, more, metadata, code }.told(inquiry.form)
    })
}

/// The lookup of one name.
#[derive(Clone, Copy)]
struct Asked<'a> {
    inquiry: &'a Inquiry<'a>,
    question: &'a Question,
    name: &'a str,
    cursor: Option<&'a str>,
}

/// The callers and callees of one symbol.
pub(super) struct Calls {
    pub(super) asked: String,
    pub(super) symbol: Shown,
    pub(super) callers: Option<Side>,
    pub(super) callees: Option<Side>,
    pub(super) total: usize,
    pub(super) is_cut: bool,
    pub(super) next: Option<String>,
    pub(super) by_limit: bool,
    pub(super) offset: usize,
    /// Unresolved calls in the symbol.
    pub(super) unresolved: Vec<Unresolved>,
    /// The number of calls in it that leave the repository.
    pub(super) outside: usize,
    /// The classification of all occurrences of its name.
    pub(super) counts: Option<Counts>,
    pub(super) unproved: Vec<Unproved>,
    pub(super) lists_unresolved: bool,
    pub(super) limit: usize,
    pub(super) path_to: Option<PathTo>,
    pub(super) others: Vec<Shown>,
    /// Other symbols with the name are in the given file; each gets one line.
    pub(super) is_one_of_many: bool,
    /// There are too many of them to show more than their locations.
    pub(super) is_unknown: bool,
    pub(super) room: usize,
}

/// One direction.
pub(super) struct Side {
    pub(super) edges: Vec<Edge>,
    /// Tests, which texts list after the other rows.
    pub(super) tests: Last<Edge>,
    /// The number of rows on all pages.
    pub(super) listed: usize,
}

/// A call with the symbol at its far end.
pub(super) struct Edge {
    pub(super) call: CallEdge,
    pub(super) far: Around,
    pub(super) via: Option<Shown>,
    /// The number of implementations of the callee.
    pub(super) implementations: usize,
}

/// A possible call of the symbol.
pub(super) struct Unproved {
    pub(super) site: Site,
    pub(super) from: Around,
}

/// A requested chain of calls.
pub(super) struct PathTo {
    pub(super) name: String,
    pub(super) chain: Vec<Shown>,
    pub(super) depth: u32,
}

fn found(graph: &Graph<'_>, asked: &Asked<'_>, metadata: &mut Metadata) -> Result<Calls, AppError> {
    let Asked { inquiry, question, name, .. } = *asked;
    let snapshot = graph.snapshot();
    let file = inquiry.paths.file_if_given(&[snapshot], question.path.as_deref())?;
    let handle = names::handle(snapshot, &inquiry.paths, name)?;
    let (target, others) = one_of(graph, &handle, file.as_ref(), inquiry.form)?;
    let symbol = Shown::of(graph, target)?;
    if !others.is_empty() && inquiry.form == Form::Json {
        metadata.warnings.push(graph::taken_warning(&symbol, name, others.len() + 1));
    }
    if !graph.knows(&symbol.file.language) {
        metadata.warnings.push(format!("calls of {} are not supported", symbol.file.language));
    }
    let side = |wanted: bool, direction| -> Result<CallGraph, AppError> {
        let mut calls = match wanted {
            true => graph.calls(target, direction, question.depth)?,
            false => CallGraph::default(),
        };
        calls.edges.retain(|edge| question.tests.lists(edge.is_test));
        Ok(calls)
    };
    let callers = side(question.callers, Direction::Callers)?;
    let callees = side(question.callees, Direction::Callees)?;
    let total = callers.edges.len() + callees.edges.len();
    let cursor = Cursor::of(Some(snapshot), &question.identity(name, file.as_ref(), inquiry.form));
    let offset = cursor.read(asked.cursor)?;
    let (mut above, mut below) =
        (paged(graph, asked, &callers.edges, offset)?, paged(graph, asked, &callees.edges, offset)?);
    let kept = fitting(inquiry, question, &above).min(fitting(inquiry, question, &below));
    above.edges.truncate(kept);
    below.edges.truncate(kept);
    let shown_count = above.edges.len().max(below.edges.len());
    let is_cut = offset + shown_count < above.listed.max(below.listed);
    let next = is_cut.then(|| cursor.write(offset + shown_count));
    if is_cut {
        metadata.next_cursor.clone_from(&next);
        metadata.completeness = Completeness::Truncated;
    }
    for edge in &mut below.edges {
        let is_open = |shown: &Shown| shown.is_abstract();
        if let (Some(at), Around::Symbol(shown)) = (edge.call.symbol, &edge.far)
            && inquiry.form != Form::Json
            && is_open(shown)
        {
            edge.implementations = graph.implementations(at).len();
        }
    }
    let unproved = callers.unproved.into_iter().map(|site| {
        let from = Around::of(graph, site.file.id, site.from)?;
        Ok(Unproved { site, from })
    });
    let path_to = question.path_to.as_ref().map(|end| chain(graph, target, end, inquiry.form)).transpose()?;
    if let Some(path) = path_to.as_ref().filter(|path| path.chain.is_empty()) {
        let what = format!("no chain to {} within {} calls", path.name, path.depth);
        metadata.warnings.push(format!("{what}; unresolved calls are not followed"));
    }
    let is_kin = |language: &str| graph.are_kin(language, &symbol.file.language);
    let counts = match question.callers {
        true => Some(graph.named(&symbol.symbol().name)?.account(target, symbol.symbol(), is_kin).1),
        false => None,
    };
    Ok(Calls {
        asked: name.to_owned(),
        outside: callees.outside,
        counts,
        symbol,
        callers: question.callers.then_some(above),
        callees: question.callees.then_some(below),
        total,
        is_cut,
        next,
        by_limit: kept >= question.limit,
        offset,
        unresolved: callees.unresolved,
        unproved: unproved.collect::<Result<_, AppError>>()?,
        lists_unresolved: question.list_unresolved,
        limit: question.limit,
        path_to,
        others: graph::others_of(graph, &others)?,
        is_one_of_many: false,
        is_unknown: false,
        room: inquiry.room(),
    })
}

/// The edges from an offset, up to the limit. In texts, tests come last, and many tests become a count.
fn paged(graph: &Graph<'_>, asked: &Asked<'_>, edges: &[CallEdge], offset: usize) -> Result<Side, AppError> {
    let question = asked.question;
    let is_split = asked.inquiry.form != Form::Json && question.tests == Tests::Open && question.drawing.is_none();
    let (of_tests, of_code): (Vec<&CallEdge>, Vec<&CallEdge>) = edges.iter().partition(|edge| is_split && edge.is_test);
    let page = of_code.iter().skip(offset).take(question.limit);
    let mut side = Side {
        edges: page.map(|edge| Edge::of(graph, edge)).collect::<Result<_, _>>()?,
        tests: Last::none(),
        listed: of_code.len(),
    };
    if asked.cursor.is_none() {
        let left = (!question.is_open).then(|| question.limit.saturating_sub(of_code.len()));
        side.tests = Last::of(of_tests, left, |edge| &edge.path).try_map(|edge| Edge::of(graph, edge))?;
    }
    Ok(side)
}

/// The number of edges of a side that fit. Both lists are cut at the same index, so one offset continues both.
fn fitting(inquiry: &Inquiry<'_>, question: &Question, side: &Side) -> usize {
    // Two directions share the size of an answer.
    let share = inquiry.room() / (1 + usize::from(question.callers && question.callees));
    let kept = match inquiry.form {
        Form::Json => shape::fitting(&side.edges.iter().map(Edge::json).collect::<Vec<_>>(), None, share),
        Form::Text(_) => rows::fitting(side.edges.iter().map(|edge| 60 + edge.call.path.len()), share / 4 * 3),
    };
    if kept < side.edges.len() { kept } else { usize::MAX }
}

fn chain(graph: &Graph<'_>, from: SymbolAt, name: &str, form: Form) -> Result<PathTo, AppError> {
    let (end, _) = one_of(graph, name, None, form)?;
    let chain = graph.path_between(from, end, DEEPEST as u32 * 2)?;
    let symbols = chain.symbols.iter().map(|at| Shown::of(graph, *at)).collect::<Result<_, _>>()?;
    Ok(PathTo { name: name.to_owned(), chain: symbols, depth: chain.depth })
}

impl Calls {
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
fn one_of(
    graph: &Graph<'_>,
    name: &str,
    file: Option<&File>,
    form: Form,
) -> Result<(SymbolAt, Vec<SymbolAt>), AppError> {
    // In text, callable symbols win over fields with the name; JSON considers all of them.
    let prefers = if form == Form::Json { |_| true } else { is_callable };
    names::meant(graph.snapshot(), name, file, Policy::MostUsed { graph, prefers })
}
