//! The answer of `health_check`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::ActiveJob;
use crate::metadata::Metadata;
use crate::words::{Freshness, Indexing, SchemaStatus, Word, words};

words! {
    /// The state of the server.
    Status {
        /// It answers.
        Ready = "ready",
        /// It is opening the indexes.
        Warming = "warming",
        /// A job runs.
        Indexing = "indexing",
        /// A project cannot be read.
        Error = "error",
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The state of the server.
    pub status: Status,
    /// The version of the program.
    pub version: Word,
    /// How long the server has been running.
    pub uptime_seconds: u64,
    /// Whether the text index can be read.
    pub tantivy_ok: bool,
    /// Whether the database can be read.
    pub sqlite_ok: bool,
    /// The grammars.
    pub grammars: Grammars,
    /// The level of support per language.
    #[schemars(extend("x-optional" = true))]
    pub language_support: LanguageSupport,
    /// The unfinished job.
    pub active_job: Option<ActiveJob>,
    /// The jobs that were interrupted since the last success.
    pub interrupted_recovery_report: Option<RecoveryReport>,
    /// The indexes that are kept open.
    pub workspace_warmset: Warmset,
    /// Whether they are open.
    pub prewarm_status: Word,
    /// The checks at the start.
    pub startup_checks: StartupChecks,
    /// The projects.
    pub projects: Vec<ProjectState>,
    /// The metadata.
    pub metadata: Metadata,
}

/// The grammars by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grammars {
    /// Those that work.
    pub available: Vec<Word>,
    /// Those that do not.
    pub missing: Vec<Word>,
}

/// The level of support per language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanguageSupport {
    /// The languages with references and calls.
    pub references_and_calls: Vec<Word>,
    /// The languages with text search only.
    pub text_only: Word,
}

/// The jobs that were interrupted since the last success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecoveryReport {
    /// Always true.
    pub detected: bool,
    /// Their number.
    pub interrupted_jobs: usize,
    /// When the last one was interrupted.
    pub last_interrupted_at: String,
    /// The tool that repairs it.
    pub recommended_action: Word,
}

/// The indexes that are kept open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warmset {
    /// Whether they are opened at the start.
    pub enabled: bool,
    /// Their maximum number.
    pub capacity: usize,
    /// The workspaces.
    pub members: Vec<String>,
}

/// The checks at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartupChecks {
    /// The check of the index.
    pub index: IndexCheck,
}

/// The check of an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexCheck {
    /// Whether the stored data can be read.
    pub status: SchemaStatus,
    /// The version of the schema that was found.
    pub current_schema_version: Option<i64>,
    /// The version of the schema that this program has.
    pub required_schema_version: i64,
    /// What to do.
    pub message: Option<Word>,
}

/// The state of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectState {
    /// Its id.
    pub project_id: String,
    /// The root of its workspace.
    pub repo_root: String,
    /// The indexing state of its work tree.
    pub index_status: Indexing,
    /// Whether the stored data can be read.
    pub schema_status: SchemaStatus,
    /// The version of the schema that was found.
    pub current_schema_version: Option<i64>,
    /// The version of the schema that this program has.
    pub required_schema_version: i64,
    /// How the indexed state compares with the work tree.
    pub freshness_status: Freshness,
    /// When the work tree was last indexed.
    pub last_indexed_at: Option<String>,
    /// The checked-out ref.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// The number of files.
    pub file_count: u64,
    /// The number of symbols.
    pub symbol_count: u64,
}
