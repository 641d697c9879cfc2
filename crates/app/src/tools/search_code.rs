//! `search_code`: the places that answer a query.

use codecompass_model::SymbolKind;
use codecompass_query::grep::{Pattern, Wanted};
use codecompass_query::{CLOSELY, Found, Intent, Mode, Place, Search, What, nearest_names, search};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::followups::{self, Before, Known};
use crate::config::Config;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::measure::count_text;
use crate::metadata::Metadata;
use crate::output::{Answer, style};
use crate::paths::Paths;
use crate::tools::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional, required, schema};
use crate::tools::input::{self, Cursor};
use crate::tools::path_filter::{self, PATH_FILTER, PathFilter};
use crate::tools::shape::{self, DetailLevel, Shape, ShapeInput};

pub(crate) const TOOL: Tool = Tool {
    name: "search_code",
    title: "Search code",
    description: "Find the places in this repository that answer a question in words, a name, a path (`jwt.rs:87`) \
                  or an error message, best first, as path and lines. Use it first, in place of grep; text in quotes \
                  is found exactly.",
    params: &[
        required("query", Kind::Text, "Words, a name, a path or a message"),
        REF,
        optional("language", Kind::Text, "Only this language, e.g. rust"),
        optional("limit", Kind::Count(Some(10)), "At most 200"),
        optional("kind", Kind::Text, "Only this kind: fn, class, struct, …"),
        PATH_FILTER,
        optional("mode", Kind::Choice(&["auto", "literal", "regex"], Some("auto")), ""),
        shape::DETAIL_LEVEL,
        shape::COMPACT,
        shape::FRESHNESS_POLICY,
        shape::EXPLAIN_LEVEL,
        shape::CURSOR,
        WORKSPACE,
    ],
    output: || {
        let result = schema::object(
            &[
                "result_id",
                "result_type",
                "path",
                "kind",
                "name",
                "qualified_name",
                "symbol_id",
                "symbol_stable_id",
                "signature",
                "visibility",
                "language",
                "source_layer",
                "snippet",
                "body_preview",
            ],
            &["line_start", "line_end"],
            &[("score", schema::number())],
        );
        json!({
            "results": schema::list(result),
            "query_intent": schema::one_of(&["symbol", "path", "error", "natural_language"]),
            "total_candidates": schema::count(),
            "suggested_next_actions": schema::list(schema::any_object()),
            "suggestions": schema::suggestions(),
        })
    },
    always: &["results", "query_intent", "total_candidates", "suggested_next_actions"],
    effect: Effect::Reads,
    first: true,
    call: |call| {
        let arguments = &call.arguments;
        let question = Input {
            query: arguments.words("query"),
            mode: arguments.text("mode"),
            language: arguments.text("language"),
            kind: arguments.text("kind"),
            path_filter: arguments.text("path_filter"),
            limit: arguments.count("limit"),
            cursor: arguments.text("cursor"),
            shape: ShapeInput::of(arguments),
            debug: call.server.options.debug,
        }
        .check()?;
        call.query(|session, published| {
            let paths = Paths::from_root(session);
            answer(published.snapshot.as_deref(), &question, &paths, &session.config, published.metadata)
        })
    },
};

/// The longest snippet, in lines and in characters.
const SNIPPET_LINES: usize = 2;
const SNIPPET_CHARS: usize = 120;

/// So many lines of a place are shown to people.
const SHOWN_LINES: usize = 3;

/// What is asked, as it came in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) query: String,
    pub(crate) mode: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) path_filter: Option<String>,
    pub(crate) limit: i64,
    pub(crate) cursor: Option<String>,
    pub(crate) shape: ShapeInput,
    pub(crate) debug: bool,
}

/// The input with nothing left to check.
pub(crate) struct Question {
    query: String,
    reading: Reading,
    language: Option<String>,
    kinds: &'static [SymbolKind],
    path_filter: Option<String>,
    limit: usize,
    cursor: Option<String>,
    shape: Shape,
    debug: bool,
    warnings: Vec<String>,
}

/// How the query is read.
#[derive(Clone, Debug)]
enum Reading {
    Words,
    Literal(Pattern),
    Regex(Pattern),
}

const MODES: &[(&str, Option<bool>)] = &[("auto", None), ("literal", Some(true)), ("regex", Some(false))];

impl Reading {
    fn of(mode: Option<&str>, query: &str) -> Result<Self, AppError> {
        let Some(literal) = input::one_of("mode", mode, MODES)?.flatten() else {
            return Ok(Reading::Words);
        };
        let pattern = Pattern::new(&Wanted { text: query, literal, ignore_case: false, word: false });
        let pattern = pattern.map_err(|error| {
            AppError::new(Code::InvalidInput, format!("`query` is no regular expression. {}", error.0))
                .hint("With `mode` \"literal\" it is taken as plain text.")
                .data(json!({ "parameter": "query" }))
        })?;
        Ok(if literal { Reading::Literal(pattern) } else { Reading::Regex(pattern) })
    }

    fn mode(&self) -> Mode<'_> {
        match self {
            Reading::Words => Mode::Words,
            Reading::Literal(pattern) => Mode::Literal(pattern),
            Reading::Regex(pattern) => Mode::Regex(pattern),
        }
    }

    fn as_str(&self) -> &'static str {
        match self {
            Reading::Words => "auto",
            Reading::Literal(_) => "literal",
            Reading::Regex(_) => "regex",
        }
    }
}

impl Input {
    /// Checks the input.
    pub(crate) fn check(self) -> Result<Question, AppError> {
        if self.query.trim().is_empty() {
            return Err(AppError::new(Code::InvalidInput, "`query` is empty: say what to look for."));
        }
        let (limit, warnings) = input::limit(self.limit);
        Ok(Question {
            reading: Reading::of(self.mode.as_deref(), &self.query)?,
            language: input::language(self.language)?,
            kinds: input::kinds(self.kind.as_deref())?,
            path_filter: self.path_filter,
            shape: self.shape.check()?,
            query: self.query,
            cursor: self.cursor,
            debug: self.debug,
            limit,
            warnings,
        })
    }
}

/// Answers from a snapshot; without one, the answer is empty and the metadata says why.
pub(crate) fn answer(
    snapshot: Option<&Snapshot>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let filter = question.filter(paths, snapshot).map_err(|error| error.about(metadata.clone()))?;
    let cursor = Cursor::of(snapshot, &question.identity(filter.as_ref()));
    let offset = cursor.read(question.cursor.as_deref()).map_err(|error| error.about(metadata.clone()))?;
    metadata.warnings.extend(question.warnings.iter().cloned());
    let Some(snapshot) = snapshot else {
        return Ok(empty(question, &Found::nothing(&question.query), Vec::new(), 0, metadata));
    };
    let accepts = filter.as_ref().map(|filter| |path: &str| filter.allows(path));
    let asked = Search {
        query: &question.query,
        mode: question.reading.mode(),
        language: question.language.as_deref(),
        paths: accepts.as_ref().map(|accepts| accepts as &dyn Fn(&str) -> bool),
        kinds: question.kinds,
        offset,
        limit: question.limit,
    };
    let mut found = search(snapshot, &asked)?;
    if found.is_quote_missing && !found.places.is_empty() {
        metadata.warnings.push("the quoted text stands nowhere as it is; these places hold words of it".into());
    }
    if found.places.is_empty() {
        let files = snapshot.info().totals.files as u64;
        let near = if matches!(question.reading, Reading::Words) { near(snapshot, &found)? } else { Vec::new() };
        let known = Known::of_words(snapshot, &question.query, &[])?;
        let mut answer = empty(question, &found, near, files, metadata);
        if matches!(question.reading, Reading::Words) {
            question.before(&found).add_to(&mut answer.json, known);
        }
        return Ok(answer);
    }
    let mut results = Vec::with_capacity(found.places.len());
    for place in &found.places {
        results.push(result_json(snapshot, question.shape, place)?);
    }
    let mut reasons = question.shape.reasons(config, found.places.iter().map(|place| &place.scores));
    let kept = shape::fitting(&results, reasons.as_deref(), config.max_response_bytes);
    let is_cut = kept < results.len();
    results.truncate(kept);
    reasons.iter_mut().for_each(|reasons| reasons.truncate(kept));
    found.places.truncate(kept);
    if found.has_more || is_cut {
        metadata.next_cursor = Some(cursor.write(offset + kept));
    }
    if found.has_more || is_cut || found.total > CLOSELY {
        metadata.completeness = "truncated";
    }
    if !found.is_exhaustive {
        metadata.warnings.push("more lines hold this text than are ranked: the first by path were taken".into());
    }
    metadata.ranking_reasons = reasons;
    let mut json = json!({
        "results": results,
        "query_intent": found.intent.as_str(),
        "total_candidates": found.total,
        "suggested_next_actions": next_actions(question, &found, &metadata.ref_name),
    });
    let best = found.places.iter().map(|place| place.scores.confidence()).fold(0.0, f64::max);
    if offset == 0 && best < followups::THRESHOLD {
        let known = Known::of_words(snapshot, &question.query, &found.places)?;
        question.before(&found).add_to(&mut json, known);
    }
    if question.debug {
        let hits = found.places.iter().filter(|place| place.symbol().is_some()).count();
        json["debug"] = json!({ "join_status": { "hits": hits, "misses": found.places.len() - hits } });
    }
    json["metadata"] = metadata.to_json();
    Ok(Answer { text: text(snapshot, question, &found, offset, &metadata)?, json, code: 0 })
}

impl Question {
    /// The question, for those who say what to ask next.
    fn before(&self, found: &Found) -> Before {
        let mut before = Before::of(TOOL.name, "query", &self.query);
        before.params.extend(self.language.iter().map(|language| ("language".to_owned(), json!(language))));
        before.intent = Some(found.intent.as_str().to_owned());
        before.language = found.places.first().map(|place| place.version.language.clone());
        before
    }

    /// The files that are meant, where not all are.
    fn filter(&self, paths: &Paths<'_>, snapshot: Option<&Snapshot>) -> Result<Option<PathFilter>, AppError> {
        let known = path_filter::Known::of(snapshot);
        self.path_filter.as_ref().map(|value| PathFilter::read(&[value], &paths.start, &known)).transpose()
    }

    /// Everything that decides the list.
    fn identity(&self, filter: Option<&PathFilter>) -> String {
        let paths = filter.map(PathFilter::identity);
        let mode = self.reading.as_str();
        format!("search {:?} {mode} {:?} {:?} {paths:?}", self.query, self.language, self.kinds)
    }
}

fn result_json(snapshot: &Snapshot, shape: Shape, place: &Place) -> Result<Value, AppError> {
    let mut result = Map::new();
    result.insert("result_id".into(), json!(place.result_id()));
    result.insert("result_type".into(), json!(place.what.as_str()));
    result.insert("path".into(), json!(place.version.path));
    result.insert("line_start".into(), json!(place.lines.start));
    result.insert("line_end".into(), json!(place.lines.end));
    if let Some(symbol) = place.symbol() {
        shape.insert_symbol(&mut result, &place.version, symbol);
        if place.what == What::Symbol {
            shape.insert_signature(&mut result, &place.version, symbol);
        }
    }
    shape.insert_standing(&mut result, snapshot, &place.version, &place.scores);
    if place.what != What::Symbol && shape.detail >= DetailLevel::Signature && !shape.compact {
        let lines = place.shown_lines(snapshot, SNIPPET_LINES)?;
        let snippet = lines.iter().map(|(_, line)| line.trim()).collect::<Vec<_>>().join("\n");
        result.insert("snippet".into(), json!(shape::cut(&snippet, SNIPPET_CHARS)));
    }
    if let Some(symbol) = place.symbol_place() {
        shape.insert_context(&mut result, snapshot, &place.version, symbol)?;
    }
    Ok(Value::Object(result))
}

/// Calls that can be sent as they are: the definition behind the best result and, for a question in words, the same
/// question without the words that say nothing.
fn next_actions(question: &Question, found: &Found, ref_name: &str) -> Vec<Value> {
    let best = found.places.iter().filter_map(Place::symbol).find(|symbol| symbol.kind.can_be_named());
    let mut actions: Vec<Value> = best
        .map(|symbol| json!({ "tool": "locate_symbol", "name": symbol.name, "ref": ref_name }))
        .into_iter()
        .collect();
    let telling = found.words.join(" ");
    if found.intent == Intent::NaturalLanguage
        && matches!(question.reading, Reading::Words)
        && telling != question.query
    {
        actions.push(json!({ "tool": "search_code", "query": telling, "ref": ref_name, "limit": 5 }));
    }
    actions
}

/// The names that are nearest to the words nobody has.
fn near(snapshot: &Snapshot, found: &Found) -> Result<Vec<String>, AppError> {
    const MOST: usize = 3;
    let mut names: Vec<String> = Vec::new();
    for word in &found.words {
        for name in nearest_names(snapshot, word, MOST)? {
            if names.len() < MOST && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// The answer without results: what was searched, and which names come near.
fn empty(question: &Question, found: &Found, near: Vec<String>, files: u64, metadata: Metadata) -> Answer {
    let actions: Vec<Value> =
        near.iter().map(|name| json!({ "tool": "locate_symbol", "name": name, "ref": metadata.ref_name })).collect();
    let (query, ref_name) = (shown(&question.query), shown(&metadata.ref_name));
    let what = match question.reading {
        Reading::Words => "holds any word of",
        Reading::Literal(_) => "holds the text",
        Reading::Regex(_) => "matches",
    };
    let plural = if files == 1 { "" } else { "s" };
    let mut text =
        format!("Nothing in {} file{plural} of {ref_name}{} {what}: {query}\n", count_text(files), filters(question));
    if !near.is_empty() {
        text += &format!("Nearest names: {}\n", shown(&near.join(", ")));
    }
    text += &metadata.warnings_text();
    let mut json = json!({
        "results": [],
        "query_intent": found.intent.as_str(),
        "total_candidates": 0,
        "suggested_next_actions": actions,
    });
    if !near.is_empty() {
        json["nearest_names"] = json!(near);
    }
    if question.debug {
        json["debug"] = json!({ "join_status": { "hits": 0, "misses": 0 } });
    }
    json["metadata"] = metadata.to_json();
    Answer { text, json, code: 1 }
}

/// The filters in words, so that an empty answer says what was looked through.
fn filters(question: &Question) -> String {
    let mut words: Vec<String> = question.kinds.iter().take(1).map(|kind| format!("kind {kind}")).collect();
    words.extend(question.language.clone());
    words.extend(question.path_filter.as_ref().map(|value| shown(value).into_owned()));
    if words.is_empty() { String::new() } else { format!(" (only {})", words.join(", ")) }
}

fn text(
    snapshot: &Snapshot,
    question: &Question,
    found: &Found,
    offset: usize,
    metadata: &Metadata,
) -> Result<String, AppError> {
    let mut text = String::new();
    for place in &found.places {
        text += &place_text(snapshot, question, place)?;
    }
    let seen = offset + found.places.len();
    if metadata.completeness == "truncated" {
        text += &format!("{} of {} places", count_text(seen as u64), count_text(found.total as u64));
        text += if metadata.next_cursor.is_some() { "; --limit or --all shows more\n" } else { "\n" };
    }
    Ok(text + &metadata.warnings_text())
}

fn place_text(snapshot: &Snapshot, question: &Question, place: &Place) -> Result<String, AppError> {
    let lines = place.shown_lines(snapshot, SHOWN_LINES)?;
    let line = match (place.what, lines.first()) {
        (What::Snippet, Some((line, _))) => *line,
        _ => place.lines.start,
    };
    let mut text = format!("{}:{}", style::path(&shown(&place.version.path)), style::number(line));
    if let Some(symbol) = place.symbol() {
        let (kind, name) = (symbol.kind.as_str(), shown(&symbol.qualified_name));
        text += &format!("  {} {}", style::dim(kind), style::name(&name));
    }
    text += "\n";
    let shape = question.shape;
    match shape.detail {
        DetailLevel::Location => {}
        _ if shape.compact => {}
        DetailLevel::Context if place.symbol().is_some() => text += &body_text(snapshot, place)?,
        _ => {
            for (_, line) in &lines {
                text += &format!("    {}\n", marked(place, &line.replace('\t', "    ")));
            }
        }
    }
    Ok(text + &shape.reasons_text(&place.scores))
}

/// The first lines of the symbol.
fn body_text(snapshot: &Snapshot, place: &Place) -> Result<String, AppError> {
    let Some(symbol) = place.symbol_place() else { return Ok(String::new()) };
    let detail = codecompass_query::detail(snapshot, &place.version, symbol)?;
    let lines = detail.iter().flat_map(|detail| detail.body_preview.lines());
    Ok(lines.map(|line| format!("    {}\n", shown(&line.replace('\t', "    ")))).collect())
}

/// A line with the words that were asked for marked.
fn marked(place: &Place, line: &str) -> String {
    let mut text = String::new();
    let mut from = 0;
    for range in place.matches(line) {
        text += &shown(&line[from..range.start]);
        text += &style::hit(&shown(&line[range.clone()]));
        from = range.end;
    }
    text + &shown(&line[from..])
}
