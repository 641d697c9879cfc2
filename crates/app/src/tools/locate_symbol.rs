//! `locate_symbol`: where is this defined?

use codecompass_model::SymbolKind;
use codecompass_query::{Locate, Located, SymbolHit, locate};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::measure::count_text;
use crate::metadata::Metadata;
use crate::output::Answer;
use crate::tools::input;

/// What is asked, as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) limit: i64,
}

/// The input with nothing left to check.
pub(crate) struct Question {
    name: String,
    kinds: &'static [SymbolKind],
    language: Option<String>,
    limit: usize,
    warnings: Vec<String>,
}

impl Input {
    /// Checks the input; an error names the parameter and what is allowed.
    pub(crate) fn check(self) -> Result<Question, AppError> {
        let name = self.name.trim().to_owned();
        if name.is_empty() {
            return Err(AppError::new(Code::InvalidInput, "`name` is empty: give the name of a symbol."));
        }
        let kinds = match &self.kind {
            None => &[][..],
            Some(word) => SymbolKind::filter(word).ok_or_else(|| input::unknown("kind", word, kind_words()))?,
        };
        let language = input::language(self.language)?;
        let (limit, warnings) = input::limit(self.limit);
        Ok(Question { name, kinds, language, limit, warnings })
    }
}

fn kind_words() -> Vec<String> {
    SymbolKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect()
}

/// Answers from a snapshot; without one, the answer is empty and the metadata says why.
pub(crate) fn answer(
    snapshot: Option<&Snapshot>,
    question: Question,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let asked = Locate {
        name: &question.name,
        kinds: question.kinds,
        language: question.language.as_deref(),
        limit: question.limit,
    };
    let located = match snapshot {
        Some(snapshot) => locate(snapshot, &asked)?,
        None => Located { hits: Vec::new(), total: 0 },
    };
    metadata.warnings.extend(question.warnings.iter().cloned());
    if located.hits.len() < located.total {
        metadata.completeness = "truncated";
    }
    let results: Vec<Value> = located.hits.iter().map(result_json).collect();
    Ok(Answer {
        text: text(&question, &located, snapshot, &metadata),
        json: json!({
            "results": results,
            "total_candidates": located.total,
            "metadata": metadata.to_json(),
        }),
        code: u8::from(located.hits.is_empty()),
    })
}

/// The filters in words, so that an empty answer says what was looked for.
fn filters(question: &Question) -> String {
    let mut words: Vec<&str> = question.kinds.iter().map(|kind| kind.as_str()).collect();
    words.extend(question.language.as_deref());
    if words.is_empty() { String::new() } else { format!(" (only {})", words.join(", ")) }
}

fn result_json(hit: &SymbolHit) -> Value {
    let symbol = hit.symbol();
    let mut result = Map::new();
    result.insert("symbol_id".into(), json!(hit.id().to_string()));
    result.insert("symbol_stable_id".into(), json!(hit.stable_id().to_string()));
    result.insert("path".into(), json!(hit.version.path));
    result.insert("line_start".into(), json!(symbol.lines.start));
    result.insert("line_end".into(), json!(symbol.lines.end));
    result.insert("kind".into(), json!(symbol.kind.as_str()));
    result.insert("name".into(), json!(symbol.name));
    result.insert("qualified_name".into(), json!(symbol.qualified_name));
    result.insert("signature".into(), json!(symbol.signature));
    result.insert("language".into(), json!(hit.version.language));
    if let Some(visibility) = symbol.visibility {
        result.insert("visibility".into(), json!(visibility.as_str()));
    }
    result.insert("score".into(), json!(hit.score));
    Value::Object(result)
}

fn text(question: &Question, located: &Located, snapshot: Option<&Snapshot>, metadata: &Metadata) -> String {
    let mut text = String::new();
    for hit in &located.hits {
        let symbol = hit.symbol();
        text += &format!(
            "{}:{}  {} {}\n    {}\n",
            shown(&hit.version.path),
            symbol.lines.start,
            symbol.kind,
            shown(&symbol.qualified_name),
            shown(&symbol.signature),
        );
    }
    if located.hits.len() < located.total {
        text += &format!("{} of {}; --limit shows more\n", located.hits.len(), located.total);
    }
    if located.hits.is_empty() {
        let files = snapshot.map_or(0, |snapshot| snapshot.info().totals.files as u64);
        let plural = if files == 1 { "" } else { "s" };
        text += &format!(
            "No definition of {}{} in {} file{plural} of {}.\n",
            shown(&question.name),
            filters(question),
            count_text(files),
            shown(&metadata.ref_name)
        );
    }
    for warning in &metadata.warnings {
        text += &format!("warning: {}\n", shown(warning));
    }
    text
}
