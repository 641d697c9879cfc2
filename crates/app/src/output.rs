//! Where answers go: standard output, and nowhere else.

use std::io::{IsTerminal, Write};

use serde_json::Value;

use crate::error::AppError;
use crate::escape;

/// An answer in both shapes; the command line picks one.
pub(crate) struct Answer {
    /// For people.
    pub(crate) text: String,
    /// For machines.
    pub(crate) json: Value,
    /// The exit code.
    pub(crate) code: u8,
}

/// Prints an answer and gives the exit code.
pub(crate) fn print(answer: &Answer, as_json: bool) -> u8 {
    let text = if as_json { json_text(&answer.json) } else { answer.text.clone() };
    write_out(&text);
    answer.code
}

/// Prints an error: JSON to standard output for machines, else a message and a hint to standard error.
pub(crate) fn print_error(error: &AppError, as_json: bool) -> u8 {
    if as_json {
        write_out(&json_text(&error_json(error)));
    } else {
        complain(&format!("error: {}", escape::shown(&error.message)));
        if let Some(hint) = &error.more.hint {
            complain(&format!("hint: {}", escape::shown(hint)));
        }
    }
    error.exit_code()
}

/// The envelope of a failed call.
pub(crate) fn error_json(error: &AppError) -> Value {
    let mut message = error.message.clone();
    if let Some(hint) = &error.more.hint {
        message = format!("{message} {hint}");
    }
    serde_json::json!({
        "error": { "code": error.code.as_str(), "message": message, "data": error.more.data },
        "metadata": error.more.metadata.to_json(),
    })
}

/// A line on standard error.
pub(crate) fn complain(line: &str) {
    // Nobody listens there any more: that is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Whether standard error is a terminal.
pub(crate) fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

fn json_text(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    escape::json(&text).into_owned()
}

fn write_out(text: &str) {
    let mut out = std::io::stdout().lock();
    let ending = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    // A closed pipe means that the reader has seen enough.
    let _ = write!(out, "{text}{ending}").and_then(|()| out.flush());
}
