//! The answer of `compare_symbol_between_commits`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::symbol::SymbolSummary;
use crate::words::{Word, words};

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The simple name.
    pub symbol: String,
    /// The path of its file.
    pub path: String,
    /// The id of the symbol wherever it is.
    pub symbol_stable_id: String,
    /// The base.
    #[schemars(extend("x-optional" = true))]
    pub base_ref: String,
    /// The head.
    #[schemars(extend("x-optional" = true))]
    pub head_ref: String,
    /// The symbol in the base.
    pub base_version: Option<SymbolVersion>,
    /// The symbol in the head.
    pub head_version: Option<SymbolVersion>,
    /// The differences.
    pub diff_summary: DiffSummary,
    /// Whether the docs differ, if there are two versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_changed: Option<bool>,
    /// Whether the diff was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diff_truncated: bool,
    /// The diff, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Other symbols with the name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_matches: Vec<SymbolSummary>,
    /// The metadata.
    pub metadata: Metadata,
}

/// One version of the symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SymbolVersion {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// Its header.
    pub signature: String,
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    /// The kind.
    pub kind: Word,
    /// The language of its file.
    pub language: String,
    /// The full name.
    pub qualified_name: String,
    /// The path of its file.
    pub path: String,
}

words! {
    /// What happened to the symbol.
    Status {
        /// It is new.
        Added = "added",
        /// It is gone.
        Deleted = "deleted",
        /// It differs.
        Modified = "modified",
        /// It is the same.
        Unchanged = "unchanged",
    }
}

/// The differences between the two versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffSummary {
    /// What happened to the symbol.
    pub status: Status,
    /// Whether its header differs, if it was modified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_changed: Option<bool>,
    /// Whether its body differs, if it was modified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_changed: Option<bool>,
    /// The number of added lines, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_added: Option<usize>,
    /// The number of removed lines, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_removed: Option<usize>,
    /// Whether it is on other lines, if it was modified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_range_shifted: Option<bool>,
    /// Whether its attributes differ.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attributes_changed: bool,
}
