//! `locate_symbol`: where is this defined?

use codecompass_model::SymbolKind;
use codecompass_query::{Locate, Located, SymbolHit, locate, nearest_names};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::followups::{Before, Known};
use crate::config::Config;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::measure::count_text;
use crate::metadata::Metadata;
use crate::output::{Answer, style};
use crate::tools::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional, required, schema};
use crate::tools::input::{self, Cursor};
use crate::tools::shape::{self, DetailLevel, Shape, ShapeInput};

pub(crate) const TOOL: Tool = Tool {
    name: "locate_symbol",
    title: "Locate a definition",
    description: "Where is this symbol defined? Exact path and lines with the signature, by name, by the end of a \
                  qualified name (`Parser::parse`) or by symbol_id. Use it whenever you know the name.",
    params: &[
        required("name", Kind::Text, "Name, end of a qualified name, or symbol_id"),
        optional("kind", Kind::Text, "Only this kind: fn, struct, class, method, …"),
        optional("language", Kind::Text, "Only this language"),
        REF,
        optional("limit", Kind::Count(Some(10)), "At most 200"),
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
        let arguments = &call.arguments;
        let question = Input {
            name: arguments.words("name"),
            kind: arguments.text("kind"),
            language: arguments.text("language"),
            limit: arguments.count("limit"),
            cursor: arguments.text("cursor"),
            shape: ShapeInput::of(arguments),
        }
        .check()?;
        call.query(|session, published| {
            answer(published.snapshot.as_deref(), &question, &session.config, published.metadata)
        })
    },
};

/// So many near names are offered.
const NEAR: usize = 3;

/// What is asked, as it came in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) limit: i64,
    pub(crate) cursor: Option<String>,
    pub(crate) shape: ShapeInput,
}

/// The input with nothing left to check.
pub(crate) struct Question {
    name: String,
    kinds: &'static [SymbolKind],
    language: Option<String>,
    limit: usize,
    cursor: Option<String>,
    shape: Shape,
    warnings: Vec<String>,
}

impl Input {
    /// Checks the input; an error names the parameter and what is allowed.
    pub(crate) fn check(self) -> Result<Question, AppError> {
        let name = self.name.trim().to_owned();
        if name.is_empty() {
            return Err(AppError::new(Code::InvalidInput, "`name` is empty: give the name of a symbol."));
        }
        let kinds = input::kinds(self.kind.as_deref())?;
        let language = input::language(self.language)?;
        let shape = self.shape.check()?;
        let (limit, warnings) = input::limit(self.limit);
        Ok(Question { name, kinds, language, limit, cursor: self.cursor, shape, warnings })
    }
}

/// Answers from a snapshot; without one, the answer is empty and the metadata says why.
pub(crate) fn answer(
    snapshot: Option<&Snapshot>,
    question: &Question,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let identity = format!("locate {:?} {:?} {:?}", question.name, question.kinds, question.language);
    let cursor = Cursor::of(snapshot, &identity);
    let offset = cursor.read(question.cursor.as_deref()).map_err(|error| error.about(metadata.clone()))?;
    metadata.warnings.extend(question.warnings.iter().cloned());
    let Some(snapshot) = snapshot else {
        return Ok(empty(question, Vec::new(), 0, &metadata));
    };
    let asked = Locate {
        name: &question.name,
        kinds: question.kinds,
        language: question.language.as_deref(),
        offset,
        limit: question.limit,
    };
    let mut located = locate(snapshot, &asked)?;
    if located.hits.is_empty() {
        let near = nearest_names(snapshot, &question.name, NEAR)?;
        let known = Known::of_name(snapshot, &question.name, &near)?;
        let mut answer = empty(question, near, snapshot.info().totals.files as u64, &metadata);
        Before::of(TOOL.name, "name", &question.name).add_to(&mut answer.json, known);
        return Ok(answer);
    }
    let mut results = Vec::with_capacity(located.hits.len());
    for hit in &located.hits {
        results.push(result_json(snapshot, question.shape, hit)?);
    }
    let mut reasons = question.shape.reasons(config, located.hits.iter().map(|hit| &hit.scores));
    let kept = shape::fitting(&results, reasons.as_deref(), config.max_response_bytes);
    results.truncate(kept);
    reasons.iter_mut().for_each(|reasons| reasons.truncate(kept));
    located.hits.truncate(kept);
    if offset + kept < located.total {
        metadata.completeness = "truncated";
        metadata.next_cursor = Some(cursor.write(offset + kept));
    }
    metadata.ranking_reasons = reasons;
    Ok(Answer {
        text: text(snapshot, question, &located, offset, &metadata)?,
        json: json!({
            "results": results,
            "total_candidates": located.total,
            "metadata": metadata.to_json(),
        }),
        code: 0,
    })
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

/// The answer without results: what was looked for, and which names come near.
fn empty(question: &Question, near: Vec<String>, files: u64, metadata: &Metadata) -> Answer {
    let mut words: Vec<&str> = question.kinds.iter().map(|kind| kind.as_str()).collect();
    words.extend(question.language.as_deref());
    let filters = if words.is_empty() { String::new() } else { format!(" (only {})", words.join(", ")) };
    let plural = if files == 1 { "" } else { "s" };
    let mut text = format!(
        "No definition of {}{filters} in {} file{plural} of {}.\n",
        shown(&question.name),
        count_text(files),
        shown(&metadata.ref_name)
    );
    if !near.is_empty() {
        text += &format!("Nearest names: {}\n", shown(&near.join(", ")));
    }
    text += &metadata.warnings_text();
    let mut json = json!({ "results": [], "total_candidates": 0 });
    if !near.is_empty() {
        json["nearest_names"] = json!(near);
    }
    json["metadata"] = metadata.to_json();
    Answer { text, json, code: 1 }
}

fn text(
    snapshot: &Snapshot,
    question: &Question,
    located: &Located,
    offset: usize,
    metadata: &Metadata,
) -> Result<String, AppError> {
    let mut text = String::new();
    for hit in &located.hits {
        let symbol = hit.symbol();
        text += &format!(
            "{}:{}  {} {}\n",
            style::path(&shown(&hit.version.path)),
            style::number(symbol.lines.start),
            style::dim(symbol.kind.as_str()),
            style::name(&shown(&symbol.qualified_name)),
        );
        match question.shape.detail {
            DetailLevel::Location => {}
            _ if question.shape.compact => {}
            DetailLevel::Context => {
                let detail = codecompass_query::detail(snapshot, &hit.version, hit.place())?;
                for line in detail.iter().flat_map(|detail| detail.body_preview.lines()) {
                    text += &format!("    {}\n", shown(&line.replace('\t', "    ")));
                }
            }
            DetailLevel::Signature => text += &format!("    {}\n", shown(&symbol.signature)),
        }
        text += &question.shape.reasons_text(&hit.scores);
    }
    let seen = offset + located.hits.len();
    if seen < located.total {
        text += &format!("{seen} of {}; --limit or --all shows more\n", located.total);
    }
    Ok(text + &metadata.warnings_text())
}
