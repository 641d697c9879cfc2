//! Completion of names and paths: one row each, the text to insert first.

use codecompass_lang::REGISTRY;
use codecompass_query::{Completion, complete};
use serde_json::Value;

use super::SearchArgs;
use crate::call::QueryContext;
use codecompass_wire::ErrorData;
use codecompass_wire::pages::{self, Completions};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::MetadataText;
use codecompass_workspace::output::{Answer, OutputFormat, style};

/// Answers the call. JSON is for commands and pages (`has_json`).
pub fn answer(inquiry: &QueryContext<'_>, question: &SearchArgs, has_json: bool) -> Result<Answer, AppError> {
    if inquiry.form == OutputFormat::Json && !has_json {
        return Err(AppError::new(Code::InvalidInput, "`complete` is for text answers.")
            .hint("Leave it out, or start the server with --answers text.")
            .data(ErrorData::parameter("complete")));
    }
    let metadata = inquiry.metadata(&question.warnings);
    let found = match inquiry.snapshot() {
        Some(snapshot) => complete(snapshot, REGISTRY, &question.query, question.limit)?,
        None => Vec::new(),
    };
    let code = u8::from(found.is_empty());
    if inquiry.form == OutputFormat::Json {
        let completions = found.into_iter().map(wire).collect();
        return Answer::from_wire(&Completions { completions, metadata }, code);
    }
    let mut text = String::new();
    for one in &found {
        if text.len() > inquiry.max_bytes().saturating_sub(500) {
            break;
        }
        text += &row(one);
    }
    Ok(Answer { text: text + &metadata.warnings_text(), json: Value::Null, code })
}

fn row(one: &Completion) -> String {
    let text = escape_control(&one.text);
    let Some(kind) = one.kind else { return format!("{}\tfile\n", style::path(&text)) };
    let path = style::path(&escape_control(&one.path));
    let more = if one.symbols > 1 { format!(" and {} more", one.symbols - 1) } else { String::new() };
    format!("{}\t{} {path}:{}{more}\n", style::name(&text), kind.as_str(), style::number(one.line))
}

fn wire(one: Completion) -> pages::Completion {
    pages::Completion {
        text: one.text,
        kind: one.kind.map_or("file", |kind| kind.as_str()).into(),
        path: one.path,
        line_start: one.line,
        symbols: one.symbols,
        result_id: one.id,
    }
}
