//! `search_code`: the places that answer a query.

use codecompass_model::ids::{ResultId, StableId, SymbolId};
use codecompass_query::{Found, Intent, Place, Search, search};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::measure::count_text;
use crate::metadata::Metadata;
use crate::output::Answer;
use crate::tools::input;

/// The longest snippet, in lines and in characters.
const SNIPPET_LINES: usize = 3;
const SNIPPET_CHARS: usize = 240;

/// What is asked, as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) query: String,
    pub(crate) language: Option<String>,
    pub(crate) limit: i64,
}

/// The input with nothing left to check.
pub(crate) struct Question {
    query: String,
    language: Option<String>,
    limit: usize,
    warnings: Vec<String>,
}

impl Input {
    /// Checks the input.
    pub(crate) fn check(self) -> Result<Question, AppError> {
        if self.query.trim().is_empty() {
            return Err(AppError::new(Code::InvalidInput, "`query` is empty: say what to look for."));
        }
        let language = input::language(self.language)?;
        let (limit, warnings) = input::limit(self.limit);
        Ok(Question { query: self.query, language, limit, warnings })
    }
}

/// Answers from a snapshot; without one, the answer is empty and the metadata says why.
pub(crate) fn answer(
    snapshot: Option<&Snapshot>,
    question: &Question,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let asked =
        Search { query: &question.query, language: question.language.as_deref(), kinds: &[], limit: question.limit };
    let found = match snapshot {
        Some(snapshot) => search(snapshot, &asked)?,
        None => Found { places: Vec::new(), total: 0, intent: Intent::of(&question.query) },
    };
    metadata.warnings.extend(question.warnings.iter().cloned());
    if found.places.len() < found.total {
        metadata.completeness = "truncated";
    }
    let mut results = Vec::with_capacity(found.places.len());
    for place in &found.places {
        let snippet = snapshot.map(|snapshot| place.snippet(snapshot, SNIPPET_LINES)).transpose()?;
        results.push((place, cut(&snippet.unwrap_or_default())));
    }
    Ok(Answer {
        text: text(question, &found, &results, snapshot, &metadata),
        json: json!({
            "results": results.iter().map(|(place, snippet)| result_json(place, snippet)).collect::<Vec<_>>(),
            "query_intent": found.intent.as_str(),
            "total_candidates": found.total,
            "suggested_next_actions": next_actions(&found, &metadata.ref_name),
            "metadata": metadata.to_json(),
        }),
        code: u8::from(found.places.is_empty()),
    })
}

fn result_json(place: &Place, snippet: &str) -> Value {
    let mut result = Map::new();
    let lines = place.chunk.lines;
    result.insert(
        "result_id".into(),
        json!(ResultId::of("snip", &place.version.path, lines.start, lines.end).to_string()),
    );
    result.insert("result_type".into(), json!("snippet"));
    if let Some(symbol) = place.symbol() {
        result.insert("symbol_id".into(), json!(SymbolId::of(&place.version.path, symbol).to_string()));
        result.insert("symbol_stable_id".into(), json!(StableId::of(&place.version.language, symbol).to_string()));
        result.insert("kind".into(), json!(symbol.kind.as_str()));
        result.insert("name".into(), json!(symbol.name));
        result.insert("qualified_name".into(), json!(symbol.qualified_name));
    }
    result.insert("path".into(), json!(place.version.path));
    result.insert("line_start".into(), json!(lines.start));
    result.insert("line_end".into(), json!(lines.end));
    result.insert("language".into(), json!(place.version.language));
    result.insert("score".into(), json!((place.contributions.confidence() * 1e4).round() / 1e4));
    result.insert("snippet".into(), json!(snippet));
    Value::Object(result)
}

/// At most three calls that can be sent as they are.
fn next_actions(found: &Found, ref_name: &str) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    for symbol in found.places.iter().filter_map(Place::symbol) {
        if !names.contains(&symbol.name.as_str()) && names.len() < 3 {
            names.push(&symbol.name);
        }
    }
    names.iter().map(|name| json!({ "tool": "locate_symbol", "name": name, "ref": ref_name })).collect()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SNIPPET_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn text(
    question: &Question,
    found: &Found,
    results: &[(&Place, String)],
    snapshot: Option<&Snapshot>,
    metadata: &Metadata,
) -> String {
    let mut text = String::new();
    for (place, snippet) in results {
        let name = place.symbol().map(|symbol| format!("  {} {}", symbol.kind, shown(&symbol.qualified_name)));
        let lines = place.chunk.lines;
        text += &format!("{}:{}-{}{}\n", shown(&place.version.path), lines.start, lines.end, name.unwrap_or_default());
        for line in snippet.lines() {
            text += &format!("    {}\n", shown(&line.replace('\t', "    ")));
        }
    }
    if results.is_empty() {
        let files = snapshot.map_or(0, |snapshot| snapshot.info().totals.files as u64);
        let (query, name) = (shown(&question.query), shown(&metadata.ref_name));
        text += &format!("Nothing in {} files of {name} holds any word of: {query}\n", count_text(files));
    } else if results.len() < found.total {
        text += &format!("{} of {} places; --limit shows more\n", results.len(), count_text(found.total as u64));
    }
    for warning in &metadata.warnings {
        text += &format!("warning: {}\n", shown(warning));
    }
    text
}
