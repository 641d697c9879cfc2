//! `search_code`: the places that answer a query.

use codecompass_lang::{REGISTRY, is_test_path};
use codecompass_model::SymbolKind;
use codecompass_query::grep::{Pattern, Wanted};
use codecompass_query::{CLOSELY, Found, Intent, Mode, Place, Search, What, nearest_names, search};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::followups::{self, Before, Known};
use super::test_code::{TESTS, Tests};
use super::{rows, search_text};
use crate::call::Inquiry;
use crate::config::Config;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::measure::count_text;
use crate::metadata::{Completeness, Metadata};
use crate::output::{Answer, Form, Reader, Told};
use crate::paths::Paths;
use crate::tools::bounds::MAX_QUERY;
use crate::tools::frame::{ALL, Arguments, Effect, Kind, NO_SYNC, REF, Tool, WORKSPACE, optional, required, schema};
use crate::tools::input::{self, Cursor};
use crate::tools::path_filter::{self, PATH_FILTER, PathFilter};
use crate::tools::shape::{self, DetailLevel, Shape};

pub(crate) const TOOL: Tool = Tool {
    name: "search_code",
    title: "Search code",
    description: "Find the places in this repository that answer a question in words, a name, a path (`jwt.rs:87`) \
                  or an error message, best first, as path and lines. Use it first, in place of grep; text in quotes \
                  is found exactly.",
    params: &[
        required("query", Kind::Text, "Words, a name, a path or a message").max_bytes(MAX_QUERY).place("QUERY"),
        REF,
        optional("language", Kind::Text, "Only this language, e.g. rust").brief("").flag("lang").alias("language"),
        optional("limit", Kind::Count(Some(10)), "At most 200"),
        optional("kind", Kind::Text, "Only this kind: fn, class, struct, …").brief("fn, class, struct, …"),
        PATH_FILTER,
        TESTS,
        optional("mode", Kind::Choice(&["auto", "literal", "regex"], Some("auto")), ""),
        shape::DETAIL_LEVEL,
        shape::COMPACT,
        shape::FRESHNESS_POLICY,
        shape::EXPLAIN_LEVEL,
        shape::CURSOR,
        ALL,
        NO_SYNC,
        optional("index", Kind::Flag(false), "Index first if that was never done").on_the_command_line(),
        optional("debug", Kind::Flag(false), "Add what is of use to those who work on this program")
            .on_the_command_line(),
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
        let mut question = Question::of(&call.arguments)?;
        question.debug |= call.served().is_ok_and(|served| served.server.options.debug);
        call.inquire(|inquiry| answer(inquiry, &question))
    },
};

/// The longest snippet, in lines and in characters.
const SNIPPET_LINES: usize = 2;
const SNIPPET_CHARS: usize = 120;

/// What is asked.
pub(crate) struct Question {
    query: String,
    reading: Reading,
    language: Option<String>,
    kinds: &'static [SymbolKind],
    path_filter: Option<String>,
    tests: Tests,
    limit: usize,
    /// Nobody said how many.
    is_open: bool,
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

impl Question {
    /// Checks the arguments.
    pub(crate) fn of(arguments: &Arguments) -> Result<Self, AppError> {
        let query = arguments.words("query");
        if query.trim().is_empty() {
            return Err(AppError::new(Code::InvalidInput, "`query` is empty: say what to look for."));
        }
        let (limit, warnings) = arguments.limit();
        Ok(Self {
            reading: Reading::of(arguments.text("mode").as_deref(), &query)?,
            language: input::language(arguments.text("language"))?,
            kinds: input::kinds(arguments.text("kind").as_deref())?,
            path_filter: arguments.text("path_filter"),
            tests: Tests::of(arguments)?,
            shape: Shape::of(arguments)?,
            cursor: arguments.text("cursor"),
            debug: arguments.is_given("debug"),
            is_open: !arguments.is_given("limit") && !arguments.is_given("all"),
            limit: limit.min(input::MOST as usize),
            query,
            warnings,
        })
    }
}

/// Answers; where nothing is published the answer is empty and the metadata says why.
pub(crate) fn answer(inquiry: &Inquiry<'_>, question: &Question) -> Result<Answer, AppError> {
    let snapshot = inquiry.snapshot();
    let filter = question.filter(&inquiry.paths, snapshot).map_err(|error| inquiry.explained(error))?;
    let cursor = Cursor::of(snapshot, &question.identity(filter.as_ref()));
    let offset = cursor.read(question.cursor.as_deref()).map_err(|error| inquiry.explained(error))?;
    let mut metadata = inquiry.metadata(&question.warnings);
    let Some(snapshot) = snapshot else {
        let found = &Found::nothing(&question.query, REGISTRY);
        let empty = Empty { question, found, near: Vec::new(), snapshot, metadata };
        return Answer::of(inquiry.form, 1, &empty);
    };
    let accepts = |path: &str| {
        filter.as_ref().is_none_or(|filter| filter.allows(path)) && question.tests.lists(is_test_path(path))
    };
    let is_filtered = filter.is_some() || question.tests.is_chosen();
    let asked = Search {
        query: &question.query,
        languages: REGISTRY,
        mode: question.reading.mode(),
        language: question.language.as_deref(),
        paths: is_filtered.then_some(&accepts as &dyn Fn(&str) -> bool),
        kinds: question.kinds,
        offset,
        limit: question.limit,
        by_meaning: inquiry.config.meaning,
        goes_on: &inquiry.patience.goes_on(),
    };
    let found = search(snapshot, &asked)?;
    if found.is_late {
        metadata.completeness = Completeness::Partial;
        metadata.warnings.push("not every file could be looked at in time; ask again, or narrow `path_filter`".into());
    }
    if found.is_quote_missing && !found.places.is_empty() {
        metadata.warnings.push("the quoted text stands nowhere as it is; these places hold words of it".into());
    }
    if found.places.is_empty() {
        let near = if matches!(question.reading, Reading::Words) { near(snapshot, &found)? } else { Vec::new() };
        let empty = Empty { question, found: &found, near, snapshot: Some(snapshot), metadata };
        return Answer::of(inquiry.form, 1, &empty);
    }
    let mut hits = Hits { snapshot, question, results: Vec::new(), rows: Vec::new(), offset, found, metadata };
    let kept = match inquiry.form {
        Form::Json => hits.lay_out_json(&inquiry.config)?,
        Form::Text(_) => hits.lay_out_text(inquiry.room())?,
    };
    let Hits { found, metadata, .. } = &mut hits;
    let is_cut = kept < found.places.len();
    found.places.truncate(kept);
    if found.has_more || is_cut {
        metadata.next_cursor = Some(cursor.write(offset + kept));
    }
    if (found.has_more || is_cut || found.total > CLOSELY) && !found.is_late {
        metadata.completeness = Completeness::Truncated;
    }
    if !found.is_exhaustive {
        metadata.warnings.push("more lines hold this text than are ranked: the first by path were taken".into());
    }
    Answer::of(inquiry.form, 0, &hits)
}

/// What was found.
struct Hits<'h> {
    snapshot: &'h Snapshot,
    question: &'h Question,
    found: Found,
    results: Vec<Value>,
    rows: Vec<String>,
    offset: usize,
    metadata: Metadata,
}

impl Hits<'_> {
    /// Makes the results, and tells how many fit.
    fn lay_out_json(&mut self, config: &Config) -> Result<usize, AppError> {
        let Self { snapshot, question, found, .. } = self;
        let results = found.places.iter().map(|place| result_json(snapshot, question.shape, place));
        self.results = results.collect::<Result<_, _>>()?;
        let mut reasons = question.shape.reasons(config, found.places.iter().map(|place| &place.scores));
        let kept = shape::fitting(&self.results, reasons.as_deref(), config.max_response_bytes);
        self.results.truncate(kept);
        reasons.iter_mut().for_each(|reasons| reasons.truncate(kept));
        self.metadata.ranking_reasons = reasons;
        Ok(kept)
    }

    /// Makes the rows, and tells how many places they go through. A name that somebody bears is answered by its
    /// definitions, unless more is asked for.
    fn lay_out_text(&mut self, room: usize) -> Result<usize, AppError> {
        let Self { snapshot, question, found, offset, .. } = self;
        let is_first = *offset == 0 && matches!(question.reading, Reading::Words);
        let named = match is_first && question.is_open {
            true => search_text::named(&question.query, found),
            false => Vec::new(),
        };
        let is_folded = !named.is_empty();
        let bodies = is_first && found.intent == Intent::NaturalLanguage;
        self.rows = match is_folded && question.shape.detail == DetailLevel::Signature {
            true => search_text::definitions(question.shape, &named),
            false => {
                let places: Vec<&Place> = if is_folded { named } else { found.places.iter().collect() };
                search_text::rows(snapshot, question.shape, &places, bodies)?
            }
        };
        let kept = rows::fitting(self.rows.iter().map(String::len), room);
        self.rows.truncate(kept);
        Ok(if is_folded { found.places.len() } else { kept })
    }
}

impl Told for Hits<'_> {
    fn json(&self) -> Result<Value, AppError> {
        let Self { question, found, .. } = self;
        let mut json = json!({
            "results": self.results,
            "query_intent": found.intent.as_str(),
            "total_candidates": found.total,
            "suggested_next_actions": next_actions(question, found, &self.metadata.ref_name),
        });
        let best = found.places.iter().map(|place| place.scores.confidence()).fold(0.0, f64::max);
        if self.offset == 0 && best < followups::THRESHOLD {
            let known = Known::of_words(self.snapshot, &question.query, &found.places)?;
            question.before(found).add_to(&mut json, known);
        }
        if question.debug {
            let hits = found.places.iter().filter(|place| place.symbol().is_some()).count();
            json["debug"] = json!({ "join_status": { "hits": hits, "misses": found.places.len() - hits } });
        }
        json["metadata"] = self.metadata.to_json();
        Ok(json)
    }

    fn text(&self, reader: Reader) -> Result<String, AppError> {
        let mut text: String = self.rows.concat();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let seen = self.offset + self.rows.len();
        // What matches is counted in pieces, of which several may be one place.
        let total = self.found.total.max(seen + usize::from(self.metadata.next_cursor.is_some()));
        let is_folded = self.rows.len() < self.found.places.len();
        if seen < total {
            let limit = if is_folded { self.question.limit } else { 2 * self.question.limit };
            let how = match &self.metadata.next_cursor {
                Some(cursor) if !is_folded && (seen < self.question.limit || limit > input::MOST as usize) => {
                    reader.argument("cursor", cursor)
                }
                _ => reader.argument("limit", limit.min(total)),
            };
            text += &match is_folded {
                true => format!("… {} more ({how})\n", total - seen),
                false => format!("… {seen} of {total} ({how})\n"),
            };
        }
        Ok(text + &self.metadata.notes())
    }
}

/// The answer without places.
struct Empty<'e> {
    question: &'e Question,
    found: &'e Found,
    near: Vec<String>,
    snapshot: Option<&'e Snapshot>,
    metadata: Metadata,
}

impl Told for Empty<'_> {
    fn json(&self) -> Result<Value, AppError> {
        let ref_name = &self.metadata.ref_name;
        let action = |name: &String| json!({ "tool": "locate_symbol", "name": name, "ref": ref_name });
        let mut json = json!({
            "results": [],
            "query_intent": self.found.intent.as_str(),
            "total_candidates": 0,
            "suggested_next_actions": self.near.iter().map(action).collect::<Vec<_>>(),
        });
        if !self.near.is_empty() {
            json["nearest_names"] = json!(self.near);
        }
        if self.question.debug {
            json["debug"] = json!({ "join_status": { "hits": 0, "misses": 0 } });
        }
        json["metadata"] = self.metadata.to_json();
        if let (Reading::Words, Some(snapshot)) = (&self.question.reading, self.snapshot) {
            let known = Known::of_words(snapshot, &self.question.query, &[])?;
            self.question.before(self.found).add_to(&mut json, known);
        }
        Ok(json)
    }

    fn text(&self, _: Reader) -> Result<String, AppError> {
        let files = self.snapshot.map_or(0, |snapshot| snapshot.info().totals.files);
        let (query, ref_name) = (shown(&self.question.query), shown(&self.metadata.ref_name));
        let what = match self.question.reading {
            Reading::Words => "holds any word of",
            Reading::Literal(_) => "holds the text",
            Reading::Regex(_) => "matches",
        };
        let plural = if files == 1 { "" } else { "s" };
        let (files, filters) = (count_text(files as u64), filters(self.question));
        let mut text = format!("Nothing in {files} file{plural} of {ref_name}{filters} {what}: {query}\n");
        if !self.near.is_empty() {
            text += &format!("Nearest names: {}\n", shown(&self.near.join(", ")));
        }
        Ok(text + &self.metadata.notes())
    }
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
        let tests = self.tests.identity();
        format!("search {:?} {mode} {:?} {:?} {paths:?}{tests}", self.query, self.language, self.kinds)
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

/// The filters in words, so that an empty answer says what was looked through.
fn filters(question: &Question) -> String {
    let mut words: Vec<String> = question.kinds.iter().take(1).map(|kind| format!("kind {kind}")).collect();
    words.extend(question.language.clone());
    words.extend(question.path_filter.as_ref().map(|value| shown(value).into_owned()));
    if words.is_empty() { String::new() } else { format!(" (only {})", words.join(", ")) }
}
