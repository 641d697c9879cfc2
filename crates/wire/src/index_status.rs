//! The answer of `index_status`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::{ActiveJob, RecentJob};
use crate::metadata::Metadata;
use crate::named::Named;
use crate::words::{Indexing, SchemaStatus};

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The id of the project.
    pub project_id: String,
    /// The root of the workspace.
    pub repo_root: String,
    /// The indexing state of the ref.
    pub index_status: Indexing,
    /// Whether the stored data can be read.
    pub schema_status: SchemaStatus,
    /// The version of the schema that was found.
    #[schemars(extend("x-optional" = true))]
    pub current_schema_version: Option<i64>,
    /// The version of the schema that this program has.
    #[schemars(extend("x-optional" = true))]
    pub required_schema_version: i64,
    /// When the ref was last indexed.
    #[schemars(extend("x-optional" = true))]
    pub last_indexed_at: Option<String>,
    /// The ref.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// The number of its files.
    pub file_count: u64,
    /// The number of its symbols.
    pub symbol_count: u64,
    /// The numbers of skipped files by reason.
    #[schemars(extend("x-optional" = true))]
    pub skipped: Named<u64>,
    /// The size of the index of the project.
    #[schemars(extend("x-optional" = true))]
    pub index_bytes: u64,
    /// The unfinished job.
    pub active_job: Option<ActiveJob>,
    /// The last jobs that have ended.
    pub recent_jobs: Vec<RecentJob>,
    /// The metadata.
    pub metadata: Metadata,
}
