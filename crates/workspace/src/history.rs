//! The history of calls: what agents asked the servers of this user, one JSON line per call in the data folder.
//!
//! The file is private, bounded and local. `history.enabled = false` turns it off; the text of answers is kept only with
//! `history.answers = true`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use codecompass_store::private;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::Config;
use crate::escape::truncate_to;

const FILE: &str = "history.jsonl";

/// Calls that no longer fit into the file; one generation is kept.
const OLDER_FILE: &str = "history.older.jsonl";

/// The maximum size of each of the two files, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The maximum length of a string argument and of an answer, in characters.
const MAX_ARGUMENT_CHARS: usize = 400;
const MAX_ANSWER_CHARS: usize = 20_000;

/// A call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// Milliseconds since 1970.
    pub time: i64,
    /// The name that the client gave itself.
    pub client: String,
    /// The workspace that answered, or several; if none was opened, the server's own.
    pub repository: String,
    /// The tool.
    pub tool: String,
    /// Its arguments; long strings are cut.
    pub arguments: Map<String, Value>,
    /// The time until the answer, in milliseconds.
    pub ms: f64,
    /// An upper estimate of the tokens of the answer.
    pub tokens: u64,
    /// Whether the answer has results; an error has none.
    pub found: bool,
    /// The text of the answer, if the user wants it to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// Where and what to record.
#[derive(Debug)]
pub struct History {
    data: PathBuf,
    with_answers: bool,
}

impl History {
    /// The history that the user's configuration asks for; `None` if it is turned off.
    pub fn open(data: &Path, config: &Config) -> Option<Self> {
        config.history.then(|| Self { data: data.to_owned(), with_answers: config.history_answers })
    }

    /// Appends a call. A failure is ignored: it is no reason to fail the call. Nothing is created before the data folder.
    pub fn record(&self, mut entry: HistoryEntry, answer: &str) {
        entry.arguments.values_mut().for_each(shorten);
        entry.answer = self.with_answers.then(|| truncate_to(answer, MAX_ANSWER_CHARS));
        let Ok(line) = serde_json::to_string(&entry) else { return };
        let file = self.data.join(FILE);
        if fs::metadata(&file).is_ok_and(|meta| meta.len() + line.len() as u64 > MAX_FILE_BYTES) {
            let _ = fs::rename(&file, self.data.join(OLDER_FILE));
        }
        if let Ok(mut file) = private::options().create(true).append(true).open(file) {
            // One write: lines of several servers do not mix.
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => *text = truncate_to(text, MAX_ARGUMENT_CHARS),
        Value::Array(items) => {
            items.truncate(32);
            items.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

/// The recorded calls, the last first. Lines that cannot be read are skipped.
pub fn entries(data: &Path, most: usize) -> Vec<HistoryEntry> {
    let mut found = Vec::new();
    for name in [FILE, OLDER_FILE] {
        let text = fs::read_to_string(data.join(name)).unwrap_or_default();
        let parsed = text.lines().rev().filter_map(|line| serde_json::from_str(line).ok());
        found.extend(parsed.take(most - found.len()));
    }
    found
}

/// Removes the recorded calls.
pub fn clear(data: &Path) -> std::io::Result<()> {
    for name in [FILE, OLDER_FILE] {
        match fs::remove_file(data.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: i64) -> HistoryEntry {
        let arguments = Map::from_iter([("query".to_owned(), Value::from("x".repeat(2000)))]);
        HistoryEntry {
            time: number,
            client: "test".into(),
            repository: "/r".into(),
            tool: "search_code".into(),
            arguments,
            ms: 1.5,
            tokens: 10,
            found: true,
            answer: None,
        }
    }

    #[test]
    fn history_is_bounded_and_the_last_call_comes_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let history = History { data: folder.path().to_owned(), with_answers: false };
        for number in 0..6000 {
            history.record(entry(number), "the answer");
        }
        let bytes: u64 = [FILE, OLDER_FILE]
            .iter()
            .map(|name| fs::metadata(folder.path().join(name)).expect("it exists").len())
            .sum();
        assert!(bytes <= 2 * MAX_FILE_BYTES, "{bytes}");
        let last = entries(folder.path(), 2);
        assert_eq!((last[0].time, last[1].time, last.len()), (5999, 5998, 2));
        assert_eq!(last[0].answer, None);
        assert!(
            last[0].arguments["query"].as_str().is_some_and(|query| query.chars().count() <= MAX_ARGUMENT_CHARS + 1)
        );
        clear(folder.path()).expect("they can be removed");
        assert_eq!(entries(folder.path(), 9), []);
    }
}
