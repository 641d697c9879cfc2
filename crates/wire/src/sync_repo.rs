//! The answer of `sync_repo`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::{JobMode, JobStatus};
use crate::metadata::Metadata;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The id of the job.
    pub job_id: String,
    /// Its state.
    pub status: JobStatus,
    /// Its scope.
    pub mode: JobMode,
    /// The number of changed files, once the job is done.
    pub changed_files: Option<u64>,
    /// The metadata.
    pub metadata: Metadata,
}
