//! The answers of the commands about stored views: `codecompass state` and `prune-overlays`.

use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::Word;

/// The answer of `state export`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Export {
    /// The written file.
    pub path: String,
    /// Its size.
    pub archive_bytes: u64,
    /// Its unpacked size.
    pub unpacked_bytes: u64,
    /// The version of its format.
    pub format_version: i64,
    /// The version of the schema.
    pub schema_version: i64,
    /// The exported generation.
    pub generation: i64,
    /// The number of file versions.
    pub file_versions: u64,
    /// The views.
    pub refs: Vec<View>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The metadata.
    pub metadata: Metadata,
}

/// The answer of `state import`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// The file.
    pub path: String,
    /// The id of the project.
    pub project_id: String,
    /// The root of the workspace.
    pub repo_root: String,
    /// Whether there was no index before.
    pub created: bool,
    /// The size of the file.
    pub archive_bytes: u64,
    /// Its unpacked size.
    pub unpacked_bytes: u64,
    /// The views.
    pub refs: Vec<View>,
    /// The view that the work tree starts from.
    pub worktree_starts_from: Option<String>,
    /// The index that was replaced.
    pub replaced: Option<Replaced>,
    /// The command that completes it.
    pub next: Word,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The metadata.
    pub metadata: Metadata,
}

/// An index that was replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replaced {
    /// Its views.
    pub refs: Vec<View>,
    /// Whether its space is free.
    pub space_freed: bool,
}

/// A view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Its ref, commit or folder.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// Which of them it is.
    pub kind: Word,
    /// The commit that is indexed.
    pub last_indexed_commit: Option<String>,
    /// The number of files.
    pub file_count: u64,
    /// The number of symbols.
    pub symbol_count: u64,
}

/// The answer of `prune-overlays`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prune {
    /// Whether nothing was removed.
    pub dry_run: bool,
    /// The age from which views are removed.
    pub older_than_days: u32,
    /// The removed views.
    pub pruned: Vec<PrunedView>,
    /// The number of views that stay.
    pub kept: usize,
    /// The size before.
    pub bytes_before: u64,
    /// What was removed.
    #[serde(flatten)]
    pub removed: Option<Removed>,
    /// The metadata.
    pub metadata: Metadata,
}

/// What was removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Removed {
    /// The number of file versions.
    pub removed_file_versions: u64,
    /// The size after.
    pub bytes_after: u64,
    /// The size that was freed.
    pub bytes_freed: u64,
    /// Whether the space is free.
    pub space_freed: bool,
}

/// A removed view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrunedView {
    /// Its ref, commit or folder.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// Which of them it is.
    pub kind: Word,
    /// Why it is removed.
    pub reason: Option<Word>,
    /// When it was last used.
    pub last_accessed_at: String,
    /// The number of files.
    pub file_count: u64,
}
