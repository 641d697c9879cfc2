//! The answer of `switch_ref`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The default ref of later calls.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// The default ref before.
    pub previous_ref: String,
    /// The folder with the files of the ref.
    #[schemars(extend("x-optional" = true))]
    pub worktree_path: Option<String>,
    /// Whether the indexed commit is the current one.
    pub status: Word,
    /// The commit that is indexed.
    pub last_indexed_commit: Option<String>,
    /// The metadata.
    pub metadata: Metadata,
}
