//! What lies in the data folder: a project for each repository or folder that was ever registered.

use std::fs;
use std::path::Path;

use codecompass_index::source::{SourceError, Workspace};
use codecompass_model::ids::project_id;
use codecompass_store::{Overview, ProjectDir};
use serde_json::{Value, json};

use crate::tools::index_status::time_text;

/// A project that has a folder there.
pub(crate) struct StoredProject {
    pub(crate) id: String,
    pub(crate) dir: ProjectDir,
    pub(crate) overview: Overview,
}

/// Every project, by the path of its first workspace. Folders that are none of ours are passed over.
pub(crate) fn all(data: &Path) -> Vec<StoredProject> {
    let entries = fs::read_dir(data.join("projects")).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let named = folders.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    let mut known: Vec<StoredProject> = named
        .filter(|(id, _)| is_id(id))
        .map(|(id, path)| {
            let dir = ProjectDir::new(path);
            StoredProject { id, overview: Overview::read(&dir), dir }
        })
        .collect();
    known.sort_by(|a, b| (&a.overview.workspaces, &a.id).cmp(&(&b.overview.workspaces, &b.id)));
    known
}

/// Whether a name is one that a project's folder can have.
fn is_id(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl StoredProject {
    /// Whether a workspace of it is gone: there is no such folder any more, or it belongs to another project now. What
    /// can not be looked at counts as there.
    pub(crate) fn is_workspace_gone(&self, root: &str) -> bool {
        match Workspace::locate(Path::new(root), None) {
            Ok(found) => {
                let id = project_id(found.project_key.as_os_str().as_encoded_bytes());
                found.root != Path::new(root) || id != self.id
            }
            Err(SourceError::MissingPath { .. } | SourceError::NotAFolder { .. }) => true,
            Err(_) => false,
        }
    }

    /// Whether all its workspaces are gone; nothing when none is known.
    pub(crate) fn are_all_workspaces_gone(&self) -> Option<bool> {
        let roots = &self.overview.workspaces;
        (!roots.is_empty()).then(|| roots.iter().all(|root| self.is_workspace_gone(root)))
    }

    /// As it stands in an answer.
    pub(crate) fn to_json(&self) -> Value {
        let workspace = |root: &String| json!({ "path": root, "gone": self.is_workspace_gone(root) });
        json!({
            "project_id": self.id,
            "workspaces": self.overview.workspaces.iter().map(workspace).collect::<Vec<_>>(),
            "gone": self.are_all_workspaces_gone(),
            "bytes": self.dir.total_disk_bytes(),
            "schema_status": self.overview.status.map(|status| status.as_str()),
            "last_indexed_at": self.overview.indexed_at.map(time_text),
            "last_used_at": self.overview.last_accessed_at.map(time_text),
        })
    }
}
