//! `locate_symbol`: the definitions of a name.

use codecompass_lang::REGISTRY;
use codecompass_model::SymbolKind;
use codecompass_query::{Locate, SymbolHit, locate, nearest_names};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::followups::{Before, Known};
use super::several::{Part, Several};
use super::{names, rows};
use crate::call::Inquiry;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::measure::count_text;
use crate::metadata::{Completeness, Metadata};
use crate::output::{Answer, Form, Reader};
use crate::tools::frame::{ALL, Arguments, Effect, Kind, NO_SYNC, REF, Tool, WORKSPACE, optional, required, schema};
use crate::tools::input::{self, Cursor};
use crate::tools::shape::{self, DetailLevel, Shape};

/// The maximum number of similar names in an empty answer.
const NEAR: usize = 3;

pub(crate) const TOOL: Tool = Tool {
    name: "locate_symbol",
    title: "Locate a definition",
    description: "Where is this symbol defined? Exact path and lines with the signature, by name, by the end of a \
                  qualified name (`Parser::parse`) or by symbol_id. Use it whenever you know the name.",
    params: &[
        required("name", Kind::Text, "Name, end of a qualified name, path:line, or symbol_id").place("NAME"),
        optional("kind", Kind::Text, "Only this kind: fn, struct, class, method, …"),
        shape::LANGUAGE,
        REF,
        optional("limit", Kind::Count(Some(10)), "At most 200"),
        names::ALSO,
        shape::DETAIL_LEVEL,
        shape::COMPACT,
        shape::FRESHNESS_POLICY,
        shape::EXPLAIN_LEVEL,
        shape::CURSOR,
        ALL,
        NO_SYNC,
        WORKSPACE,
    ],
    output: || {
        let result = schema::object(
            &[
                "symbol_id",
                "symbol_stable_id",
                "path",
                "kind",
                "name",
                "qualified_name",
                "signature",
                "language",
                "visibility",
                "source_layer",
                "body_preview",
            ],
            &["line_start", "line_end"],
            &[("score", schema::number())],
        );
        json!({
            "results": schema::list(result),
            "total_candidates": schema::count(),
            "suggestions": schema::suggestions(),
        })
    },
    always: &["results", "total_candidates"],
    effect: Effect::Reads,
    first: true,
    call: |call| {
        let question = Question::of(&call.arguments)?;
        call.inquire(|inquiry| answer(inquiry, &question))
    },
};

/// The parsed arguments.
pub(crate) struct Question {
    name: String,
    also: Vec<String>,
    kinds: &'static [SymbolKind],
    language: Option<String>,
    limit: usize,
    cursor: Option<String>,
    shape: Shape,
    warnings: Vec<String>,
}

impl Question {
    /// Checks the arguments; an error names the parameter and the allowed values.
    pub(crate) fn of(arguments: &Arguments) -> Result<Self, AppError> {
        let name = arguments.words("name").trim().to_owned();
        if name.is_empty() {
            return Err(AppError::new(Code::InvalidInput, "`name` is empty: give the name of a symbol."));
        }
        let (limit, warnings) = arguments.limit();
        Ok(Self {
            name,
            also: arguments.list("also"),
            kinds: input::kinds(arguments.text("kind").as_deref())?,
            language: input::language(arguments.text("language"))?,
            limit: limit.min(input::MOST as usize),
            cursor: arguments.text("cursor"),
            shape: Shape::of(arguments)?,
            warnings,
        })
    }
}

/// Answers the request. If nothing is published, the answer is empty and the metadata says why.
pub(crate) fn answer(inquiry: &Inquiry<'_>, question: &Question) -> Result<Answer, AppError> {
    let mut metadata = inquiry.metadata(&question.warnings);
    let first = located(inquiry, question, &question.name, question.cursor.as_deref(), &mut metadata);
    let first = first.map_err(|error| inquiry.explained(error))?;
    let code = u8::from(first.hits.is_empty());
    let more = question.also.iter().map(|name| {
        let part = located(inquiry, question, name.trim(), None, &mut Metadata::unknown());
        (name.clone(), part)
    });
    Several { first, more: more.collect(), metadata, code }.told(inquiry.form)
}

/// The definitions of one name.
struct Found<'i> {
    snapshot: Option<&'i Snapshot>,
    question: &'i Question,
    name: String,
    hits: Vec<SymbolHit>,
    results: Vec<Value>,
    offset: usize,
    total: usize,
    /// The cursor of the next page.
    next: Option<String>,
    near: Vec<String>,
    ref_name: String,
}

fn located<'i>(
    inquiry: &'i Inquiry<'_>,
    question: &'i Question,
    name: &str,
    cursor: Option<&str>,
    metadata: &mut Metadata,
) -> Result<Found<'i>, AppError> {
    let snapshot = inquiry.snapshot();
    let identity = format!("locate {name:?} {:?} {:?}", question.kinds, question.language);
    let cursors = Cursor::of(snapshot, &identity);
    let offset = cursors.read(cursor)?;
    let mut found = Found {
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
    let handle = names::handle(snapshot, &inquiry.paths, name)?;
    let asked = Locate {
        name: &handle,
        languages: REGISTRY,
        kinds: question.kinds,
        language: question.language.as_deref(),
        offset,
        limit: question.limit,
    };
    let located = locate(snapshot, &asked)?;
    (found.hits, found.total) = (located.hits, located.total);
    if found.hits.is_empty() {
        found.near = nearest_names(snapshot, name, NEAR)?;
        return Ok(found);
    }
    if inquiry.form == Form::Json {
        let mut reasons = question.shape.reasons(&inquiry.config, found.hits.iter().map(|hit| &hit.scores));
        found.results =
            found.hits.iter().map(|hit| result_json(snapshot, question.shape, hit)).collect::<Result<_, _>>()?;
        let kept = shape::fitting(&found.results, reasons.as_deref(), inquiry.room());
        found.results.truncate(kept);
        reasons.iter_mut().for_each(|reasons| reasons.truncate(kept));
        found.hits.truncate(kept);
        metadata.ranking_reasons = reasons;
    } else {
        found.hits.truncate(rows::fitting(found.hits.iter().map(|hit| row(hit).len()), inquiry.room()));
    }
    if found.offset + found.hits.len() < found.total {
        metadata.completeness = Completeness::Truncated;
        metadata.next_cursor = Some(cursors.write(found.offset + found.hits.len()));
        found.next = metadata.next_cursor.clone();
    }
    Ok(found)
}

fn row(hit: &SymbolHit) -> String {
    let symbol = hit.symbol();
    format!("{} {}\n", rows::place(&hit.version.path, symbol.lines), rows::header(symbol, rows::ROW))
}

impl Part for Found<'_> {
    fn json(&self) -> Result<Value, AppError> {
        let mut json = json!({ "results": self.results, "total_candidates": self.total });
        if !self.near.is_empty() {
            json["nearest_names"] = json!(self.near);
        }
        Ok(json)
    }

    fn finish(&self, json: &mut Value) -> Result<(), AppError> {
        if let (true, Some(snapshot)) = (self.hits.is_empty(), self.snapshot) {
            let known = Known::of_name(snapshot, &self.name, &self.near)?;
            Before::of(TOOL.name, "name", &self.name).add_to(json, known);
        }
        Ok(())
    }

    fn text(&self, reader: Reader) -> Result<String, AppError> {
        if self.hits.is_empty() {
            return Ok(self.nothing());
        }
        let mut text = String::new();
        for hit in &self.hits {
            text += &row(hit);
            let shape = self.question.shape;
            if let (DetailLevel::Context, false, Some(snapshot)) = (shape.detail, shape.compact, self.snapshot) {
                text += &shape::preview(snapshot, &hit.version, hit.place())?;
            }
            text += &shape.reasons_text(&hit.scores);
        }
        let seen = self.offset + self.hits.len();
        let by_limit = self.hits.len() == self.question.limit;
        let more = rows::More { seen, total: self.total, what: "", by_limit, cursor: self.next.as_deref() };
        Ok(text + &more.text(reader))
    }
}

impl Found<'_> {
    /// The answer without results: the request, and similar names.
    fn nothing(&self) -> String {
        let files = self.snapshot.map_or(0, |snapshot| snapshot.info().totals.files);
        let mut words: Vec<&str> = self.question.kinds.iter().map(|kind| kind.as_str()).collect();
        words.extend(self.question.language.as_deref());
        let filters = if words.is_empty() { String::new() } else { format!(" (only {})", words.join(", ")) };
        let plural = if files == 1 { "" } else { "s" };
        let mut text = format!(
            "No definition of {}{filters} in {} file{plural} of {}.\n",
            shown(&self.name),
            count_text(files as u64),
            shown(&self.ref_name)
        );
        if !self.near.is_empty() {
            text += &format!("Nearest names: {}\n", shown(&self.near.join(", ")));
        }
        text
    }
}

fn result_json(snapshot: &Snapshot, shape: Shape, hit: &SymbolHit) -> Result<Value, AppError> {
    let symbol = hit.symbol();
    let mut result = Map::new();
    result.insert("path".into(), json!(hit.version.path));
    result.insert("line_start".into(), json!(symbol.lines.start));
    result.insert("line_end".into(), json!(symbol.lines.end));
    shape.insert_symbol(&mut result, &hit.version, symbol);
    shape.insert_signature(&mut result, &hit.version, symbol);
    shape.insert_standing(&mut result, snapshot, &hit.version, &hit.scores);
    shape.insert_context(&mut result, snapshot, &hit.version, hit.place())?;
    Ok(Value::Object(result))
}
