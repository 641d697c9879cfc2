//! Jobs in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// The state of a job.
    JobStatus {
        /// It waits for its turn.
        Queued = "queued",
        /// It is indexing.
        Running = "running",
        /// Its result is being checked.
        Validating = "validating",
        /// It is done.
        Published = "published",
        /// An error ended it.
        Failed = "failed",
        /// Its process ended early.
        Interrupted = "interrupted",
    }
}

words! {
    /// The scope of a job.
    JobMode {
        /// All files.
        Full = "full",
        /// Changed files.
        Incremental = "incremental",
    }
}

/// An unfinished job with its counters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActiveJob {
    /// Its id.
    pub job_id: String,
    /// The id of its project.
    pub project_id: String,
    /// The ref that it indexes.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// Its scope.
    pub mode: JobMode,
    /// Its state.
    pub status: JobStatus,
    /// The number of changed files, once it is known.
    pub changed_files: Option<u64>,
    /// The number of files that were read.
    pub files_scanned: u64,
    /// The number of files that were indexed.
    pub files_indexed: u64,
    /// The number of symbols that were extracted.
    pub symbols_extracted: u64,
    /// The share of files that are done, in percent.
    pub estimated_completion_pct: f64,
    /// When it started.
    pub started_at: String,
}

/// A job that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecentJob {
    /// Its id.
    pub job_id: String,
    /// The ref that it indexed.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// Its scope.
    pub mode: JobMode,
    /// Its result.
    pub status: JobStatus,
    /// The number of changed files, if it got that far.
    pub changed_files: Option<u64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<i64>,
    /// When it was created.
    pub created_at: String,
    /// The error that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
