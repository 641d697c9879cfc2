//! What is kept of a change: how to take it back, and by what to know whether anybody touched the file since.
//!
//! Never a copy of the file, which may hold tokens: the edits that undo ours, and a fingerprint of the text before and
//! after. A record is written before the file is. Whoever is killed between the two has a record of a text that never
//! came to be, and the fingerprint tells.

use std::path::{Path, PathBuf};

use codecompass_model::ids::project_id;
use codecompass_store::private;
use serde_json::{Value, json};

use super::edit::{Edit, apply, fingerprint};
use super::file::{self, KillPoint};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The real path of the file.
    pub(super) file: PathBuf,
    /// The fingerprint of what was there; nothing when the file was not.
    pub(super) fingerprint_before: Option<String>,
    /// The fingerprint of what we wrote.
    pub(super) fingerprint_after: String,
    /// From what we wrote to what was there.
    pub(super) undo: Vec<Edit>,
    /// The folders that we made for it, the outermost first.
    pub(super) made: Vec<PathBuf>,
}

fn folder(data: &Path) -> PathBuf {
    data.join("setup")
}

fn record_path(data: &Path, file: &Path) -> PathBuf {
    folder(data).join(format!("{}.json", project_id(file.as_os_str().as_encoded_bytes())))
}

impl Record {
    /// The records of a file: one, or two when somebody was killed between keeping the newer one and writing the file.
    pub(super) fn load(data: &Path, file: &Path) -> Vec<Self> {
        let text = std::fs::read_to_string(record_path(data, file)).unwrap_or_default();
        let list: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        list.iter().filter_map(Self::from_json).filter(|record| record.file == file).collect()
    }

    /// Keeps records of a file, readable by their owner only; none drops them.
    pub(super) fn save(data: &Path, file: &Path, records: &[&Self], point: KillPoint<'_>) -> std::io::Result<()> {
        let place = record_path(data, file);
        if records.is_empty() {
            return file::remove(&place, &[folder(data)], point);
        }
        private::create_folder(&folder(data))?;
        let list: Value = records.iter().map(|record| record.to_json()).collect();
        file::write(&place, &list.to_string(), Some(0o600), point)
    }

    /// Whether a text is what we wrote.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.fingerprint_after == fingerprint(text)
    }

    /// What was there before what we wrote; nothing when nothing was. An error when the text is not what we wrote.
    pub(super) fn undo(&self, text: &str) -> Result<Option<String>, String> {
        match self.fingerprint_before {
            None => Ok(None),
            Some(_) => apply(text, &self.undo).map(Some).ok_or_else(|| "the record of our change does not fit".into()),
        }
    }

    /// What stood in the place of ours, where something did.
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
        })
    }
}
