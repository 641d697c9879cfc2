//! The record of a change: how to undo it, and how to detect later changes of the file.
//!
//! It is never a copy of the file, which may contain tokens: it has the edits that undo ours, and fingerprints of the
//! text before and after. A record is written before the file. A run that is killed in between leaves a record of a
//! text that was never written; its fingerprint does not match the file.

use std::path::{Path, PathBuf};

use codecompass_model::ids::project_id;
use codecompass_store::private;
use serde_json::{Value, json};

use super::edit::{Edit, apply, fingerprint};
use super::file::{self, KillPoint};

/// The record of one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The real path of the file.
    pub(super) file: PathBuf,
    /// The fingerprint of the text before; `None` if there was no file.
    pub(super) fingerprint_before: Option<String>,
    /// The fingerprint of the text that we wrote.
    pub(super) fingerprint_after: String,
    /// The edits from the text that we wrote to the text before.
    pub(super) undo: Vec<Edit>,
    /// The folders that we created for it, the outermost first.
    pub(super) made: Vec<PathBuf>,
    /// The number of keys around our entry that we created, the innermost ones.
    pub(super) containers: usize,
}

fn folder(data: &Path) -> PathBuf {
    data.join("setup")
}

fn record_path(data: &Path, file: &Path) -> PathBuf {
    folder(data).join(format!("{}.json", project_id(file.as_os_str().as_encoded_bytes())))
}

impl Record {
    /// The records of a file: one, or two if a run was killed between saving the newer one and writing the file.
    pub(super) fn load(data: &Path, file: &Path) -> Vec<Self> {
        let text = std::fs::read_to_string(record_path(data, file)).unwrap_or_default();
        let list: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        list.iter().filter_map(Self::from_json).filter(|record| record.file == file).collect()
    }

    /// Saves the records of a file, readable by their owner only; an empty list removes them.
    pub(super) fn save(data: &Path, file: &Path, records: &[&Self], point: KillPoint<'_>) -> std::io::Result<()> {
        let place = record_path(data, file);
        if records.is_empty() {
            return file::remove(&place, &[folder(data)], point);
        }
        private::create_folder(&folder(data))?;
        let list: Value = records.iter().map(|record| record.to_json()).collect();
        file::write(&place, &list.to_string(), Some(0o600), point)
    }

    /// Whether a text is the one that we wrote.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.fingerprint_after == fingerprint(text)
    }

    /// The text before our change; `None` if there was no file. An error if the edits do not match the text.
    pub(super) fn undo(&self, text: &str) -> Result<Option<String>, String> {
        match self.fingerprint_before {
            None => Ok(None),
            Some(_) => apply(text, &self.undo)
                .map(Some)
                .ok_or_else(|| "the record of our change does not match the file".into()),
        }
    }

    /// The text that our content replaced, if any.
    pub(super) fn replaced_text(&self) -> Option<&str> {
        self.undo.iter().map(|edit| edit.inserted.as_str()).find(|text| !text.is_empty())
    }

    fn to_json(&self) -> Value {
        json!({
            "file": self.file.to_string_lossy(),
            "was": self.fingerprint_before,
            "is": self.fingerprint_after,
            "undo": self.undo.iter().map(Edit::to_json).collect::<Vec<_>>(),
            "made": self.made.iter().map(|folder| folder.to_string_lossy()).collect::<Vec<_>>(),
            "containers": self.containers,
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let paths = value.get("made")?.as_array()?.iter().map(|path| path.as_str().map(PathBuf::from));
        Some(Self {
            file: PathBuf::from(value.get("file")?.as_str()?),
            fingerprint_before: value.get("was")?.as_str().map(str::to_owned),
            fingerprint_after: value.get("is")?.as_str()?.to_owned(),
            undo: value.get("undo")?.as_array()?.iter().map(Edit::from_json).collect::<Option<_>>()?,
            made: paths.collect::<Option<_>>()?,
            // Older records have no number.
            containers: value
                .get("containers")
                .and_then(Value::as_u64)
                .and_then(|count| count.try_into().ok())
                .unwrap_or(0),
        })
    }
}
