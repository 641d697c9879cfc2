//! `codecompass history`: what agents asked the servers of this user.

use serde_json::{Value, json};

use crate::cli::HistoryArgs;
use codecompass_workspace::clock::{time_for, time_text};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::{escape_control, truncate_to};
use codecompass_workspace::history::{self, HistoryEntry};
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::{Answer, Reader, style};
use codecompass_workspace::session::data_folder;

/// The maximum length of the arguments in a row, in characters.
const MAX_ARGUMENT_CHARS: usize = 90;

pub(crate) fn run(args: &HistoryArgs) -> Result<Answer, AppError> {
    let data = data_folder()?;
    if args.clear {
        history::clear(&data)
            .map_err(|error| AppError::new(Code::InternalError, format!("The history cannot be removed: {error}.")))?;
        let json = json!({ "cleared": true, "metadata": Metadata::unknown() });
        return Ok(Answer { text: "The history was removed.\n".into(), json, code: 0 });
    }
    let entries = history::entries(&data, args.limit.max(1));
    let code = u8::from(entries.is_empty());
    // The last call is the last line, as in a shell's history.
    let mut text: String = entries.iter().rev().map(row).collect();
    if entries.is_empty() {
        text = "No agent has asked anything yet, or `history.enabled` is false.\n".into();
    }
    let calls: Vec<Value> = entries.iter().map(wire).collect();
    Ok(Answer { text, json: json!({ "calls": calls, "metadata": Metadata::unknown() }), code })
}

fn row(entry: &HistoryEntry) -> String {
    let arguments: Vec<String> =
        entry.arguments.iter().map(|(name, value)| format!("{name}={}", short(value))).collect();
    let found = if entry.found { "found" } else { "not found" };
    let mut text = format!(
        "{} {} {} {} {} {:.0} ms, {} tokens, {found}\n",
        style::dim(&time_for(Reader::Person, entry.time)),
        escape_control(&entry.client),
        style::path(&escape_control(&entry.repository)),
        style::name(&escape_control(&entry.tool)),
        escape_control(&truncate_to(&arguments.join(" "), MAX_ARGUMENT_CHARS)),
        entry.ms,
        entry.tokens,
    );
    for line in entry.answer.iter().flat_map(|answer| answer.lines()) {
        text += &format!("    {}\n", escape_control(line));
    }
    text
}

fn short(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("{text:?}"))
}

fn wire(entry: &HistoryEntry) -> Value {
    let mut value = serde_json::to_value(entry).unwrap_or_default();
    value["time"] = json!(time_text(entry.time));
    value
}
