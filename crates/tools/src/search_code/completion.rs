//! Completion of names and paths: one row each, the text to insert first.

use codecompass_query::{Completion, complete};
use serde_json::{Value, json};

use super::SearchArgs;
use crate::call::QueryContext;
use codecompass_wire::ErrorData;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::MetadataText;
use codecompass_workspace::output::{Answer, OutputFormat, style};

/// Answers the call; `is_command` if the command line makes it, whose JSON is its own.
pub(super) fn answer(inquiry: &QueryContext<'_>, question: &SearchArgs, is_command: bool) -> Result<Answer, AppError> {
    if inquiry.form == OutputFormat::Json && !is_command {
        return Err(AppError::new(Code::InvalidInput, "`complete` is for text answers.")
            .hint("Leave it out, or start the server with --answers text.")
            .data(ErrorData::parameter("complete")));
    }
    let metadata = inquiry.metadata(&question.warnings);
    let found = match inquiry.snapshot() {
        Some(snapshot) => complete(snapshot, &question.query, question.limit)?,
        None => Vec::new(),
    };
    let code = u8::from(found.is_empty());
    if inquiry.form == OutputFormat::Json {
        let completions: Vec<Value> = found.iter().map(wire).collect();
        return Ok(Answer {
            text: String::new(),
            json: json!({ "completions": completions, "metadata": metadata }),
            code,
        });
    }
    let mut text = String::new();
    for one in &found {
        if text.len() > inquiry.max_bytes().saturating_sub(500) {
            break;
        }
        text += &row(one);
    }
    Ok(Answer { text: text + &metadata.notes(), json: Value::Null, code })
}

fn row(one: &Completion) -> String {
    let text = escape_control(&one.text);
    let Some(kind) = one.kind else { return format!("{}\tfile\n", style::path(&text)) };
    let path = style::path(&escape_control(&one.path));
    let more = if one.symbols > 1 { format!(" and {} more", one.symbols - 1) } else { String::new() };
    format!("{}\t{} {path}:{}{more}\n", style::name(&text), kind.as_str(), style::number(one.line))
}

fn wire(one: &Completion) -> Value {
    json!({
        "text": one.text,
        "kind": one.kind.map_or("file", |kind| kind.as_str()),
        "path": one.path,
        "line_start": one.line,
        "symbols": one.symbols,
    })
}
