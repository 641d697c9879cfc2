//! The answers of `codecompass index`, `sync` and `init`.

use serde::{Deserialize, Serialize};

use crate::job::{JobMode, JobStatus};
use crate::metadata::Metadata;
use crate::named::Named;

/// The answer of `index` and `sync`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The id of the job.
    pub job_id: String,
    /// Its state.
    pub status: JobStatus,
    /// Its scope.
    pub mode: JobMode,
    /// The number of files.
    pub file_count: u64,
    /// The number of changed files.
    pub changed_files: u64,
    /// The number of extracted files.
    pub extracted_files: u64,
    /// The number of symbols.
    pub symbol_count: u64,
    /// The number of lines.
    pub line_count: u64,
    /// The size of the source.
    pub source_bytes: u64,
    /// The numbers of skipped files by reason.
    pub skipped: Named<u64>,
    /// The size of the index.
    pub index_bytes: u64,
    /// The published generation.
    pub generation: i64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The metadata.
    pub metadata: Metadata,
}

/// The answer of `init`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Init {
    /// The id of the project.
    pub project_id: String,
    /// The root of the workspace.
    pub repo_root: String,
    /// Whether it is under version control.
    pub vcs_mode: bool,
    /// Whether it was not registered before.
    pub created: bool,
    /// The metadata.
    pub metadata: Metadata,
}
