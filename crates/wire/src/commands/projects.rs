//! The answers of `codecompass projects` and `forget`.

use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::SchemaStatus;

/// The answer of `projects`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The folder of all data.
    pub data_folder: String,
    /// The number of projects.
    pub total_projects: usize,
    /// Their size.
    pub total_bytes: u64,
    /// The projects.
    pub projects: Vec<Project>,
    /// The metadata.
    pub metadata: Metadata,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// Its id.
    pub project_id: String,
    /// Its workspaces.
    pub workspaces: Vec<Workspace>,
    /// Whether all of them are gone, if any is known.
    pub gone: Option<bool>,
    /// Its size.
    pub bytes: u64,
    /// Whether the stored data can be read, if that is known.
    pub schema_status: Option<SchemaStatus>,
    /// When it was last indexed.
    pub last_indexed_at: Option<String>,
    /// When it was last used.
    pub last_used_at: Option<String>,
}

/// A workspace of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workspace {
    /// Its root.
    pub path: String,
    /// Whether it is gone.
    pub gone: bool,
}

/// The answer of `forget`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forget {
    /// The id of the project.
    pub project_id: String,
    /// The roots of its workspaces.
    pub workspaces: Vec<String>,
    /// Whether all of them are gone, if any is known.
    pub gone: Option<bool>,
    /// The size that was freed.
    pub bytes_freed: u64,
    /// The folder of its managed worktrees, which are kept.
    pub managed_worktrees: Option<String>,
    /// The metadata.
    pub metadata: Metadata,
}
