//! The answer of `list_refs`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The number of refs.
    pub total_refs: usize,
    /// The refs.
    pub refs: Vec<RefState>,
    /// Whether the project is under version control.
    pub vcs_mode: bool,
    /// The metadata.
    pub metadata: Metadata,
}

/// An indexed ref.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefState {
    /// Its name.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// Whether it is the default branch.
    pub is_default: bool,
    /// The commit that is indexed.
    pub last_indexed_commit: Option<String>,
    /// The merge base with the default branch.
    pub merge_base_commit: Option<String>,
    /// The number of files, or of those that it adds to the merge base.
    pub file_count: u64,
    /// The number of symbols, or of those that it adds to the merge base.
    pub symbol_count: u64,
    /// Whether the indexed commit is the current one.
    pub status: Word,
    /// When it was last used.
    pub last_accessed_at: String,
    /// The number of commits that the default branch lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// The number of commits of the default branch that it lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
}
