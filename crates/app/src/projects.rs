//! The content of the data folder: one project for each registered repository or folder.

use std::fs;
use std::path::Path;

use codecompass_index::source::{SourceError, Workspace};
use codecompass_model::ids::project_id;
use codecompass_store::{Overview, ProjectDir};
use codecompass_wire::commands::projects as wire;

use codecompass_workspace::clock::time_text;
use codecompass_workspace::metadata::schema_status;

/// A project with a folder in the data folder.
pub(crate) struct StoredProject {
    pub(crate) id: String,
    pub(crate) dir: ProjectDir,
    pub(crate) overview: Overview,
}

/// All projects, by the path of their first workspace. Foreign folders are skipped.
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

/// Whether a name can be the folder name of a project.
fn is_id(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl StoredProject {
    /// Whether a workspace of the project is gone: the folder does not exist any more, or belongs to another project
    /// now. A folder that cannot be read counts as existing.
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

    /// Whether all its workspaces are gone; `None` if none is known.
    pub(crate) fn are_all_workspaces_gone(&self) -> Option<bool> {
        let roots = &self.overview.workspaces;
        (!roots.is_empty()).then(|| roots.iter().all(|root| self.is_workspace_gone(root)))
    }

    /// The project in an answer.
    pub(crate) fn wire(&self) -> wire::Project {
        let workspace = |root: &String| wire::Workspace { path: root.clone(), gone: self.is_workspace_gone(root) };
        wire::Project {
            project_id: self.id.clone(),
            workspaces: self.overview.workspaces.iter().map(workspace).collect(),
            gone: self.are_all_workspaces_gone(),
            bytes: self.dir.total_disk_bytes(),
            schema_status: self.overview.status.map(schema_status),
            last_indexed_at: self.overview.indexed_at.map(time_text),
            last_used_at: self.overview.last_accessed_at.map(time_text),
        }
    }
}
