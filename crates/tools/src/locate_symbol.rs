//! `locate_symbol`: the definitions of a name.

use codecompass_lang::REGISTRY;
use codecompass_model::SymbolKind;
use codecompass_query::{LocateRequest, SymbolHit, locate, nearest_names};
use codecompass_store::Snapshot;
use codecompass_wire::{ResultItem, Suggestion, fit_with_reasons, locate_symbol as wire, schema};

use super::batch::Batch;
use super::followups::{KnownSymbols, OfferedTools, PreviousCall};
use super::{rows, symbol_input};
use crate::call::QueryContext;
use crate::graph::with_graph;
use crate::input::{self, Cursor};
use crate::shape::{self, DetailLevel, ResultShape};
use crate::tool_spec::{
    ALL, Arguments, Effect, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required,
};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::count_text;
use codecompass_workspace::metadata::{Completeness, Metadata};
use codecompass_workspace::output::{Answer, OutputFormat, Reader, Render};

/// The maximum number of similar names in an empty answer.
const MAX_SUGGESTIONS: usize = 3;

pub const TOOL: ToolSpec = ToolSpec {
    name: "locate_symbol",
    title: "Locate a definition",
    description: "Where is this symbol defined? Exact path and lines with the signature, by name, by the end of a \
                  qualified name (`Parser::parse`) or by symbol_id. Use it whenever you know the name.",
    params: &[
        required("name", ParamKind::Text, "Name, end of a qualified name, path:line, or symbol_id").positional("NAME"),
        optional("kind", ParamKind::Text, "Only this kind: fn, struct, class, method, …"),
        shape::LANGUAGE,
        REF,
        optional("limit", ParamKind::Count(Some(10)), "At most 200"),
        symbol_input::ALSO,
        shape::DETAIL_LEVEL,
        shape::COMPACT,
        shape::FRESHNESS_POLICY,
        shape::EXPLAIN_LEVEL,
        shape::CURSOR,
        ALL,
        NO_SYNC,
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: true,
    call: ToolCall::Anywhere(|call| {
        let question = LocateArgs::parse(&call.arguments)?;
        call.answer_query(|inquiry| answer(inquiry, &question))
    }),
};

/// The parsed arguments.
pub struct LocateArgs {
    name: String,
    also: Vec<String>,
    kinds: &'static [SymbolKind],
    language: Option<String>,
    limit: usize,
    cursor: Option<String>,
    shape: ResultShape,
    warnings: Vec<String>,
}

impl LocateArgs {
    /// Checks the arguments; an error names the parameter and the allowed values.
    pub fn parse(arguments: &Arguments) -> Result<Self, AppError> {
        let name = arguments.required_text("name").trim().to_owned();
        if name.is_empty() {
            return Err(AppError::new(Code::InvalidInput, "`name` is empty: give the name of a symbol."));
        }
        let (limit, warnings) = arguments.limit();
        Ok(Self {
            name,
            also: arguments.list("also"),
            kinds: input::kinds(arguments.text("kind").as_deref())?,
            language: input::language(arguments.text("language"))?,
            limit: limit.min(input::MAX_RESULTS as usize),
            cursor: arguments.text("cursor"),
            shape: ResultShape::parse(arguments)?,
            warnings,
        })
    }
}

/// Answers the request. If nothing is published, the answer is empty and the metadata says why.
pub fn answer(inquiry: &QueryContext<'_>, question: &LocateArgs) -> Result<Answer, AppError> {
    let mut metadata = inquiry.metadata(&question.warnings);
    let first = locate_name(inquiry, question, &question.name, question.cursor.as_deref(), &mut metadata);
    let first = first.map_err(|error| inquiry.with_view_context(error))?;
    let code = u8::from(first.hits.is_empty());
    let more = question.also.iter().map(|name| {
        let part = locate_name(inquiry, question, name.trim(), None, &mut Metadata::unknown());
        (name.clone(), part)
    });
    let names = Batch { first, more: more.collect(), metadata };
    Answer::render(inquiry.form, code, LocateAnswer { names, offered: &inquiry.offered })
}

/// The definitions of all names.
struct LocateAnswer<'i> {
    names: Batch<NameDefinitions<'i>>,
    offered: &'i OfferedTools,
}

impl Render for LocateAnswer<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let suggestions = self.names.first.suggestions(self.offered)?;
        Ok(wire::Answer { names: self.names.wire()?, suggestions })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        self.names.text(reader)
    }
}

/// The definitions of one name.
struct NameDefinitions<'i> {
    snapshot: Option<&'i Snapshot>,
    question: &'i LocateArgs,
    name: String,
    hits: Vec<SymbolHit>,
    results: Vec<ResultItem>,
    offset: usize,
    total: usize,
    /// The cursor of the next page.
    next: Option<String>,
    /// Similar names.
    near: Vec<String>,
    ref_name: String,
}

fn locate_name<'i>(
    inquiry: &'i QueryContext<'_>,
    question: &'i LocateArgs,
    name: &str,
    cursor: Option<&str>,
    metadata: &mut Metadata,
) -> Result<NameDefinitions<'i>, AppError> {
    let snapshot = inquiry.snapshot();
    let identity = format!("locate {name:?} {:?} {:?}", question.kinds, question.language);
    let cursors = Cursor::new(snapshot, &identity);
    let offset = cursors.decode(cursor)?;
    let mut found = NameDefinitions {
        snapshot,
        question,
        name: name.to_owned(),
        hits: Vec::new(),
        results: Vec::new(),
        offset,
        total: 0,
        next: None,
        near: Vec::new(),
        ref_name: metadata.ref_name.clone(),
    };
    let Some(snapshot) = snapshot else { return Ok(found) };
    let handle = symbol_input::normalize_name(snapshot, &inquiry.paths, name)?;
    let asked = LocateRequest {
        name: &handle,
        languages: REGISTRY,
        kinds: question.kinds,
        language: question.language.as_deref(),
        offset,
        limit: question.limit,
    };
    let mut located = locate(snapshot, &asked)?;
    if located.total == 0 {
        let handle = with_graph(inquiry.resolve_cache()?, &inquiry.time_limit, |graph| {
            symbol_input::follow_reexports(graph, handle.clone(), &mut metadata.warnings)
        })?;
        located = locate(snapshot, &LocateRequest { name: &handle, ..asked })?;
    }
    (found.hits, found.total) = (located.hits, located.total);
    if found.hits.is_empty() {
        found.near = nearest_names(snapshot, name, MAX_SUGGESTIONS)?;
        return Ok(found);
    }
    if inquiry.form == OutputFormat::Json {
        let mut reasons = question.shape.reasons(&inquiry.config, found.hits.iter().map(|hit| &hit.scores));
        found.results =
            found.hits.iter().map(|hit| result_item(snapshot, question.shape, hit)).collect::<Result<_, _>>()?;
        let kept = fit_with_reasons(&found.results, reasons.as_deref(), inquiry.max_bytes());
        found.results.truncate(kept);
        reasons.iter_mut().for_each(|reasons| reasons.truncate(kept));
        found.hits.truncate(kept);
        metadata.ranking_reasons = reasons;
    } else {
        found.hits.truncate(rows::fitting_count(found.hits.iter().map(|hit| row(hit).len()), inquiry.max_bytes()));
    }
    if found.offset + found.hits.len() < found.total {
        metadata.completeness = Completeness::Truncated;
        metadata.next_cursor = Some(cursors.encode(found.offset + found.hits.len()));
        found.next = metadata.next_cursor.clone();
    }
    Ok(found)
}

fn row(hit: &SymbolHit) -> String {
    let symbol = hit.symbol();
    format!("{} {}\n", rows::location(&hit.version.path, symbol.lines), rows::header(symbol, rows::MAX_ROW_CHARS))
}

impl Render for NameDefinitions<'_> {
    type Wire = wire::Definitions;

    fn wire(self) -> Result<Self::Wire, AppError> {
        Ok(wire::Definitions { results: self.results, total_candidates: self.total, nearest_names: self.near })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        if self.hits.is_empty() {
            return Ok(self.empty_text());
        }
        let mut text = String::new();
        for hit in &self.hits {
            text += &row(hit);
            let shape = self.question.shape;
            if let (DetailLevel::Context, false, Some(snapshot)) = (shape.detail, shape.compact, self.snapshot) {
                text += &shape::preview(snapshot, &hit.version, hit.ordinal())?;
            }
            text += &shape.reasons_text(&hit.scores);
        }
        let seen = self.offset + self.hits.len();
        let by_limit = self.hits.len() == self.question.limit;
        let more = rows::Remainder { seen, total: self.total, what: "", by_limit, cursor: self.next.as_deref() };
        Ok(text + &more.text(reader))
    }
}

impl NameDefinitions<'_> {
    /// The suggested next calls, if there is no definition.
    fn suggestions(&self, offered: &OfferedTools) -> Result<Option<Vec<Suggestion>>, AppError> {
        let Some(snapshot) = self.snapshot.filter(|_| self.hits.is_empty()) else { return Ok(None) };
        let known = KnownSymbols::for_name(snapshot, REGISTRY, &self.name, &self.near)?;
        Ok(PreviousCall::new(TOOL.name, "name", &self.name, offered).suggestions(&known))
    }

    /// The answer without results: the request, and similar names.
    fn empty_text(&self) -> String {
        let files = self.snapshot.map_or(0, |snapshot| snapshot.info().totals.files);
        let mut words: Vec<&str> = self.question.kinds.iter().map(|kind| kind.as_str()).collect();
        words.extend(self.question.language.as_deref());
        let filters = if words.is_empty() { String::new() } else { format!(" (only {})", words.join(", ")) };
        let plural = if files == 1 { "" } else { "s" };
        let mut text = format!(
            "No definition of {}{filters} in {} file{plural} of {}.\n",
            escape_control(&self.name),
            count_text(files as u64),
            escape_control(&self.ref_name)
        );
        if !self.near.is_empty() {
            text += &format!("Similar names: {}\n", escape_control(&self.near.join(", ")));
        }
        text
    }
}

fn result_item(snapshot: &Snapshot, shape: ResultShape, hit: &SymbolHit) -> Result<ResultItem, AppError> {
    let symbol = hit.symbol();
    let mut result = ResultItem {
        path: hit.version.path.clone(),
        line_start: symbol.lines.start,
        line_end: symbol.lines.end,
        ..ResultItem::default()
    };
    shape.add_symbol(&mut result, &hit.version, symbol);
    shape.add_signature(&mut result, &hit.version, symbol);
    shape.add_origin(&mut result, snapshot, &hit.version, &hit.scores);
    shape.add_context(&mut result, snapshot, &hit.version, hit.ordinal())?;
    Ok(result)
}
