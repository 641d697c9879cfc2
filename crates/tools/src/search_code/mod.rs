//! `search_code`: the locations that answer a query.

mod completion;
mod text;

pub use completion::answer as answer_completion;

use codecompass_lang::{REGISTRY, is_test_path};
use codecompass_model::SymbolKind;
use codecompass_query::encoder::Encoder;
use codecompass_query::grep::{self, Pattern, PatternOptions};
use codecompass_query::{
    HitKind, Intent, MAX_RESULTS, QueryMode, SearchHit, SearchRequest, SearchResults, nearest_names, search,
};
use codecompass_store::Snapshot;
use codecompass_wire::{ErrorData, ResultItem, fit_with_reasons, schema, search_code as wire};
use serde_json::Value;

use crate::bounds::MAX_QUERY;
use crate::call::QueryContext;
use crate::followups::{self, KnownSymbols, OfferedTools, PreviousCall};
use crate::input::{self, Cursor};
use crate::path_filter::{self, PATH_FILTER, PathFilter};
use crate::rows;
use crate::shape::{self, DetailLevel, ResultShape};
use crate::test_filter::{TESTS, TestFilter};
use crate::tool_spec::{
    ALL, Arguments, Effect, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required,
};
use codecompass_workspace::config::Config;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::count_text;
use codecompass_workspace::metadata::{Completeness, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat, Reader, Render};
use codecompass_workspace::paths::PathResolver;

pub const TOOL: ToolSpec = ToolSpec {
    name: "search_code",
    title: "Search code",
    description: "Find the places in this repository that answer a question in words, a name, a path (`jwt.rs:87`) \
                  or an error message, best first, as path and lines. Use it first, in place of grep; text in quotes \
                  is found exactly.",
    params: &[
        required("query", ParamKind::Text, "Words, a name, a path or a message")
            .brief("")
            .max_bytes(MAX_QUERY)
            .positional("QUERY"),
        REF,
        optional("language", ParamKind::Text, "Only this language, e.g. rust").brief("").flag("lang").alias("language"),
        optional("limit", ParamKind::Count(Some(10)), "At most 200"),
        optional("kind", ParamKind::Text, "Only this kind: fn, class, struct, …").brief("fn, class, struct, …"),
        PATH_FILTER,
        TESTS,
        optional("mode", ParamKind::Choice(&["auto", "literal", "regex"], Some("auto")), ""),
        shape::DETAIL_LEVEL,
        shape::COMPACT,
        shape::FRESHNESS_POLICY,
        shape::EXPLAIN_LEVEL,
        shape::CURSOR,
        ALL,
        NO_SYNC,
        optional(
            "complete",
            ParamKind::Flag(false),
            "Complete the query to names and paths: prefixes, or beginnings of words",
        )
        .text_only()
        .brief("Names and paths that begin with the query")
        .help("Complete the query to names and paths: `QuerySe`, `get_objec`, `HTTPResp`, `qs.filt`"),
        optional("index", ParamKind::Flag(false), "Index first if that was never done").cli_only(),
        optional("debug", ParamKind::Flag(false), "Add debugging details").cli_only(),
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: true,
    call: ToolCall::Anywhere(|call| {
        let mut question = SearchArgs::parse(&call.arguments)?;
        // A person reads "default: 10" in the help, and gets as many.
        question.is_open &= call.context.form != OutputFormat::Text(Reader::Person);
        question.debug |= call.is_debugging();
        match (call.arguments.flag("complete"), call.is_command() || call.context.by_page) {
            (true, has_json) => call.answer_as_published(|inquiry| answer_completion(inquiry, &question, has_json)),
            (false, _) => call.answer_query(|inquiry| answer(inquiry, &question)),
        }
    }),
};

/// The maximum size of a snippet, in lines and in characters.
const MAX_SNIPPET_LINES: usize = 2;
const MAX_SNIPPET_CHARS: usize = 120;

/// The maximum number of similar names that are suggested.
const MAX_SIMILAR_NAMES: usize = 3;

/// The parsed arguments.
pub struct SearchArgs {
    query: String,
    reading: QueryReading,
    language: Option<String>,
    kinds: &'static [SymbolKind],
    path_filter: Option<String>,
    tests: TestFilter,
    limit: usize,
    /// Whether the call sets no limit.
    is_open: bool,
    cursor: Option<String>,
    shape: ResultShape,
    debug: bool,
    warnings: Vec<String>,
}

/// How the query is read.
#[derive(Clone, Debug)]
enum QueryReading {
    Words,
    Literal(Pattern),
    Regex(Pattern),
}

const MODES: &[(&str, Option<bool>)] = &[("auto", None), ("literal", Some(true)), ("regex", Some(false))];

impl QueryReading {
    fn parse(mode: Option<&str>, query: &str) -> Result<Self, AppError> {
        let Some(literal) = input::one_of("mode", mode, MODES)?.flatten() else {
            return Ok(QueryReading::Words);
        };
        let pattern = Pattern::new(&PatternOptions { text: query, literal, ignore_case: false, word: false });
        let pattern = pattern.map_err(|error| {
            AppError::new(Code::InvalidInput, format!("`query` is no regular expression. {}", error.0))
                .hint("Set `mode` to \"literal\" to search for it as plain text.")
                .data(ErrorData::parameter("query"))
        })?;
        Ok(if literal { QueryReading::Literal(pattern) } else { QueryReading::Regex(pattern) })
    }

    fn mode(&self) -> QueryMode<'_> {
        match self {
            QueryReading::Words => QueryMode::Words,
            QueryReading::Literal(pattern) => QueryMode::Literal(pattern),
            QueryReading::Regex(pattern) => QueryMode::Regex(pattern),
        }
    }

    fn as_str(&self) -> &'static str {
        match self {
            QueryReading::Words => "auto",
            QueryReading::Literal(_) => "literal",
            QueryReading::Regex(_) => "regex",
        }
    }
}

impl SearchArgs {
    /// Checks the arguments.
    pub fn parse(arguments: &Arguments) -> Result<Self, AppError> {
        let query = arguments.required_text("query");
        if query.trim().is_empty() {
            return Err(AppError::new(Code::InvalidInput, "`query` is empty: say what to look for."));
        }
        let (limit, warnings) = arguments.limit();
        Ok(Self {
            reading: QueryReading::parse(arguments.text("mode").as_deref(), &query)?,
            language: input::language(arguments.text("language"))?,
            kinds: input::kinds(arguments.text("kind").as_deref())?,
            path_filter: arguments.text("path_filter"),
            tests: TestFilter::parse(arguments)?,
            shape: ResultShape::parse(arguments)?,
            cursor: arguments.text("cursor"),
            debug: arguments.is_given("debug"),
            is_open: !arguments.is_given("limit") && !arguments.is_given("all"),
            limit: limit.min(input::MAX_RESULTS as usize),
            query,
            warnings,
        })
    }
}

/// Answers the call; if nothing is published, the answer is empty and the metadata says why.
pub fn answer(inquiry: &QueryContext<'_>, question: &SearchArgs) -> Result<Answer, AppError> {
    let snapshot = inquiry.snapshot();
    let filter = question.filter(&inquiry.paths, snapshot).map_err(|error| inquiry.with_view_context(error))?;
    let cursor = Cursor::new(snapshot, &question.identity(filter.as_ref()));
    let offset = cursor.decode(question.cursor.as_deref()).map_err(|error| inquiry.with_view_context(error))?;
    let mut metadata = inquiry.metadata(&question.warnings);
    let offered = &inquiry.offered;
    let Some(snapshot) = snapshot else {
        let found = &SearchResults::empty(&question.query, REGISTRY);
        let empty = EmptySearchAnswer { question, found, near: Vec::new(), snapshot, metadata, offered };
        return Answer::render(inquiry.form, 1, empty);
    };
    let accepts = |path: &str| {
        filter.as_ref().is_none_or(|filter| filter.allows(path)) && question.tests.includes(is_test_path(path))
    };
    let is_filtered = filter.is_some() || question.tests.is_filtering();
    let encoder = inquiry.encoder(&mut metadata);
    let asked = SearchRequest {
        query: &question.query,
        languages: REGISTRY,
        mode: question.reading.mode(),
        language: question.language.as_deref(),
        paths: is_filtered.then_some(&accepts as &dyn Fn(&str) -> bool),
        kinds: question.kinds,
        offset,
        limit: question.limit,
        use_embedding: inquiry.config.embedding,
        encoder: encoder.as_deref().map(|encoder| encoder as &dyn Encoder),
        should_continue: &inquiry.scan_time_limit.should_continue(),
    };
    let found = search(snapshot, &asked)?;
    if found.timed_out {
        metadata.completeness = Completeness::Partial;
        let searched = match found.files_searched {
            Some((done, total)) => format!("{done} of {} searched (time limit)", rows::count(total, "file")),
            None => "not all files were searched (time limit)".into(),
        };
        let found = if found.hits.is_empty() { "nothing found yet: " } else { "" };
        metadata.warnings.push(format!("{found}{searched}; retry, or narrow `path_filter`"));
    }
    if found.is_quote_missing && !found.hits.is_empty() {
        metadata.warnings.push("no exact match for the quoted text; showing partial matches".into());
    }
    if found.hits.is_empty() {
        let near =
            if matches!(question.reading, QueryReading::Words) { similar_names(snapshot, &found)? } else { Vec::new() };
        let empty = EmptySearchAnswer { question, found: &found, near, snapshot: Some(snapshot), metadata, offered };
        return Answer::render(inquiry.form, 1, empty);
    }
    let (results, rows, missing) = (Vec::new(), Vec::new(), String::new());
    let mut hits = SearchAnswer { snapshot, question, results, rows, missing, offset, found, metadata, offered };
    let kept = match inquiry.form {
        OutputFormat::Json => hits.lay_out_json(&inquiry.config)?,
        OutputFormat::Text(reader) => hits.lay_out_text(inquiry.max_bytes(), reader)?,
    };
    let SearchAnswer { found, metadata, .. } = &mut hits;
    let is_cut = kept < found.hits.len();
    found.hits.truncate(kept);
    if found.has_more || is_cut {
        metadata.next_cursor = Some(cursor.encode(offset + kept));
    }
    if (found.has_more || is_cut || found.total > MAX_RESULTS) && !found.timed_out {
        metadata.completeness = Completeness::Truncated;
    }
    if !found.is_exhaustive {
        metadata.warnings.push("too many lines contain this text: only the first by path are ranked".into());
    }
    Answer::render(inquiry.form, 0, hits)
}

/// The answer with hits.
struct SearchAnswer<'h> {
    snapshot: &'h Snapshot,
    question: &'h SearchArgs,
    found: SearchResults,
    results: Vec<ResultItem>,
    rows: Vec<String>,
    /// A line that says that the name itself has no definition.
    missing: String,
    offset: usize,
    metadata: Metadata,
    offered: &'h OfferedTools,
}

impl SearchAnswer<'_> {
    /// Renders the results as JSON, and returns how many fit.
    fn lay_out_json(&mut self, config: &Config) -> Result<usize, AppError> {
        let Self { snapshot, question, found, .. } = self;
        let results = found.hits.iter().map(|place| result_item(snapshot, question.shape, place));
        self.results = results.collect::<Result<_, _>>()?;
        let mut reasons = question.shape.reasons(config, found.hits.iter().map(|place| &place.scores));
        let kept = fit_with_reasons(&self.results, reasons.as_deref(), config.max_response_bytes);
        self.results.truncate(kept);
        reasons.iter_mut().for_each(|reasons| reasons.truncate(kept));
        self.metadata.ranking_reasons = reasons;
        Ok(kept)
    }

    /// Renders the rows, and returns the number of hits they cover. A query that is the name of a symbol is answered
    /// with its definitions, unless more is requested.
    fn lay_out_text(&mut self, room: usize, reader: Reader) -> Result<usize, AppError> {
        let Self { snapshot, question, found, offset, .. } = self;
        let is_first = *offset == 0 && matches!(question.reading, QueryReading::Words);
        let named = match is_first && question.is_open {
            true => text::exact_definitions(&question.query, found),
            false => Vec::new(),
        };
        let is_folded = !named.is_empty();
        if is_first && found.intent == Intent::Symbol && text::exact_definitions(&question.query, found).is_empty() {
            self.missing = missing_note(snapshot, question)?;
        }
        let in_words = is_first && found.intent == Intent::NaturalLanguage;
        self.rows = match is_folded && question.shape.detail == DetailLevel::Signature {
            true => text::definitions(question.shape, &named),
            false => {
                let places: Vec<&SearchHit> = if is_folded { named } else { found.hits.iter().collect() };
                text::rows(snapshot, question.shape, &places, in_words, reader)?
            }
        };
        let kept = rows::fitting_count(self.rows.iter().map(String::len), room);
        let most = if in_words && reader == Reader::Agent && question.is_open { text::MAX_NAMED } else { usize::MAX };
        let kept = kept.min(most);
        self.rows.truncate(kept);
        Ok(if is_folded { found.hits.len() } else { kept })
    }
}

impl Render for SearchAnswer<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let Self { question, found, .. } = &self;
        let best = found.hits.iter().map(|place| place.scores.confidence()).fold(0.0, f64::max);
        let suggestions = match self.offset == 0 && best < followups::WEAK_SCORE {
            true => {
                let known = KnownSymbols::for_query(self.snapshot, &question.query, &found.hits)?;
                question.to_previous_call(found, self.offered).suggestions(&known)
            }
            false => None,
        };
        let hits = found.hits.iter().filter(|place| place.symbol().is_some()).count();
        Ok(wire::Answer {
            query_intent: intent(found.intent),
            total_candidates: found.total,
            suggested_next_actions: next_actions(question, found, &self.metadata.ref_name),
            nearest_names: Vec::new(),
            suggestions,
            debug: question.debug(hits, found.hits.len() - hits),
            results: self.results,
            metadata: self.metadata,
            last_suggestions: None,
        })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        let mut text: String = self.missing + &self.rows.concat();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let seen = self.offset + self.rows.len();
        // The total counts records, several of which may be one hit.
        let total = self.found.total.max(seen + usize::from(self.metadata.next_cursor.is_some()));
        let is_folded = self.rows.len() < self.found.hits.len();
        if seen < total {
            let limit = if is_folded { self.question.limit } else { 2 * self.question.limit };
            let how = match &self.metadata.next_cursor {
                Some(cursor) if !is_folded && (seen < self.question.limit || limit > input::MAX_RESULTS as usize) => {
                    reader.argument("cursor", cursor)
                }
                _ => reader.argument("limit", limit.min(total)),
            };
            let number = |count: usize| match reader {
                Reader::Person => count_text(count as u64),
                Reader::Agent => count.to_string(),
            };
            text += &match is_folded {
                true => format!("… {} more ({how})\n", number(total - seen)),
                false => format!("… {seen} of {} ({how})\n", number(total)),
            };
        }
        Ok(text + &self.metadata.notes())
    }
}

/// The answer without hits.
struct EmptySearchAnswer<'e> {
    question: &'e SearchArgs,
    found: &'e SearchResults,
    near: Vec<String>,
    snapshot: Option<&'e Snapshot>,
    metadata: Metadata,
    offered: &'e OfferedTools,
}

impl Render for EmptySearchAnswer<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let last_suggestions = match (&self.question.reading, self.snapshot) {
            (QueryReading::Words, Some(snapshot)) => {
                let known = KnownSymbols::for_query(snapshot, &self.question.query, &[])?;
                self.question.to_previous_call(self.found, self.offered).suggestions(&known)
            }
            _ => None,
        };
        Ok(wire::Answer {
            results: Vec::new(),
            query_intent: intent(self.found.intent),
            total_candidates: 0,
            suggested_next_actions: self.near.iter().map(|name| locate_action(name, &self.metadata.ref_name)).collect(),
            nearest_names: self.near,
            suggestions: None,
            debug: self.question.debug(0, 0),
            metadata: self.metadata,
            last_suggestions,
        })
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        if self.found.timed_out {
            // The warning says how far the search came; it did not find that there is nothing.
            return Ok(self.metadata.notes());
        }
        let files = self.snapshot.map_or(0, |snapshot| snapshot.info().totals.files);
        let (query, ref_name) = (escape_control(&self.question.query), escape_control(&self.metadata.ref_name));
        let what = match self.question.reading {
            QueryReading::Words => "contains any word of",
            QueryReading::Literal(_) => "contains the text",
            QueryReading::Regex(_) => "matches",
        };
        let plural = if files == 1 { "" } else { "s" };
        let (files, filters) = (count_text(files as u64), filters(self.question));
        let mut text = format!("Nothing in {files} file{plural} of {ref_name}{filters} {what}: {query}\n");
        if !self.near.is_empty() {
            text += &format!("Similar names: {}\n", escape_control(&self.near.join(", ")));
        }
        Ok(text + &self.metadata.notes())
    }
}

impl SearchArgs {
    /// The query, for the suggestion of follow-up calls.
    fn to_previous_call(&self, found: &SearchResults, offered: &OfferedTools) -> PreviousCall {
        let mut before = PreviousCall::new(TOOL.name, "query", &self.query, offered);
        before
            .params
            .extend(self.language.iter().map(|language| ("language".to_owned(), Value::from(language.as_str()))));
        before.intent = Some(found.intent.as_str().to_owned());
        before.language = found.hits.first().map(|place| place.version.language.clone());
        before
    }

    /// The debugging details, if they are requested.
    fn debug(&self, hits: usize, misses: usize) -> Option<wire::Debug> {
        self.debug.then_some(wire::Debug { join_status: wire::JoinStatus { hits, misses } })
    }

    /// The path filter, if there is one.
    fn filter(&self, paths: &PathResolver<'_>, snapshot: Option<&Snapshot>) -> Result<Option<PathFilter>, AppError> {
        let known = path_filter::KnownPaths::in_view(snapshot);
        self.path_filter.as_ref().map(|value| PathFilter::parse(&[value], &paths.base, &known)).transpose()
    }

    /// Everything that determines the list.
    fn identity(&self, filter: Option<&PathFilter>) -> String {
        let paths = filter.map(PathFilter::identity);
        let mode = self.reading.as_str();
        let tests = self.tests.identity();
        format!("search {:?} {mode} {:?} {:?} {paths:?}{tests}", self.query, self.language, self.kinds)
    }
}

fn intent(intent: Intent) -> wire::Intent {
    match intent {
        Intent::Symbol => wire::Intent::Symbol,
        Intent::Path => wire::Intent::Path,
        Intent::Error => wire::Intent::Error,
        Intent::NaturalLanguage => wire::Intent::NaturalLanguage,
    }
}

fn result_item(snapshot: &Snapshot, shape: ResultShape, place: &SearchHit) -> Result<ResultItem, AppError> {
    let mut result = ResultItem {
        result_id: Some(place.result_id()),
        result_type: Some(place.kind.as_str().into()),
        path: place.version.path.clone(),
        line_start: place.lines.start,
        line_end: place.lines.end,
        ..ResultItem::default()
    };
    if let Some(symbol) = place.symbol() {
        shape.add_symbol(&mut result, &place.version, symbol);
        if place.kind == HitKind::Symbol {
            shape.add_signature(&mut result, &place.version, symbol);
        }
    }
    shape.add_origin(&mut result, snapshot, &place.version, &place.scores);
    if place.kind != HitKind::Symbol && shape.detail >= DetailLevel::Signature && !shape.compact {
        let lines = place.matching_lines(snapshot, MAX_SNIPPET_LINES)?;
        let snippet = lines.iter().map(|(_, line)| line.trim()).collect::<Vec<_>>().join("\n");
        result.snippet = Some(shape::truncate(&snippet, MAX_SNIPPET_CHARS));
    }
    if let Some(symbol) = place.symbol_ordinal() {
        shape.add_context(&mut result, snapshot, &place.version, symbol)?;
    }
    Ok(result)
}

/// Calls that can be sent unchanged: the definition of the best result and, for a query in words, the same query
/// without its filler words.
fn next_actions(question: &SearchArgs, found: &SearchResults, ref_name: &str) -> Vec<wire::NextAction> {
    let best = found.hits.iter().filter_map(SearchHit::symbol).find(|symbol| symbol.kind.can_be_named());
    let mut actions = Vec::from_iter(best.map(|symbol| locate_action(&symbol.name, ref_name)));
    let telling = found.words.join(" ");
    if found.intent == Intent::NaturalLanguage
        && matches!(question.reading, QueryReading::Words)
        && telling != question.query
    {
        actions.push(wire::NextAction {
            tool: TOOL.name.to_owned(),
            name: None,
            query: Some(telling),
            ref_name: ref_name.to_owned(),
            limit: Some(5),
        });
    }
    actions
}

/// The call that locates a name.
fn locate_action(name: &str, ref_name: &str) -> wire::NextAction {
    wire::NextAction {
        tool: "locate_symbol".to_owned(),
        name: Some(name.to_owned()),
        query: None,
        ref_name: ref_name.to_owned(),
        limit: None,
    }
}

/// The line above results that only resemble the requested name.
fn missing_note(snapshot: &Snapshot, question: &SearchArgs) -> Result<String, AppError> {
    let name = question.query.trim().trim_end_matches("()");
    // A plain word is also a query in words.
    let has_hump = name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase);
    if !has_hump && !name.contains(['_', ':', '.', '#', '$']) {
        return Ok(String::new());
    }
    let wanted = PatternOptions { text: name, literal: true, ignore_case: false, word: true };
    let Ok(pattern) = Pattern::new(&wanted) else { return Ok(String::new()) };
    let is_mentioned = !grep::find(snapshot, &pattern, |_| true, Some(1))?.files.is_empty();
    let (name, filters) = (escape_control(name), filters(question));
    Ok(match is_mentioned {
        true => format!("no definition of {name}{filters}; best matches:\n"),
        false => {
            let near = nearest_names(snapshot, &name, MAX_SIMILAR_NAMES)?.join(", ");
            let near = if near.is_empty() { near } else { format!("; similar names: {}", escape_control(&near)) };
            format!("{name} not found{filters}{near}; best matches:\n")
        }
    })
}

/// The names most similar to the words that were not found.
fn similar_names(snapshot: &Snapshot, found: &SearchResults) -> Result<Vec<String>, AppError> {
    let mut names: Vec<String> = Vec::new();
    for word in &found.words {
        for name in nearest_names(snapshot, word, MAX_SIMILAR_NAMES)? {
            if names.len() < MAX_SIMILAR_NAMES && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// The filters in words, so that an empty answer says what was searched.
fn filters(question: &SearchArgs) -> String {
    let mut words: Vec<String> = question.kinds.iter().take(1).map(|kind| format!("kind {kind}")).collect();
    words.extend(question.language.clone());
    words.extend(question.path_filter.as_ref().map(|value| escape_control(value).into_owned()));
    if words.is_empty() { String::new() } else { format!(" (only {})", words.join(", ")) }
}
