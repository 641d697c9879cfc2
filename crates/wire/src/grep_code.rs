//! The answer of `grep_code`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The matching lines.
    pub results: Vec<MatchingLine>,
    /// The number of matching lines, if all files were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_matches: Option<usize>,
    /// The number of files with a match, if all files were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_matched: Option<usize>,
    /// The metadata.
    pub metadata: Metadata,
}

/// A matching line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchingLine {
    /// The path of its file.
    pub path: String,
    /// Its number.
    pub line: u32,
    /// The column of the first match, from 1.
    pub column: usize,
    /// The line.
    pub text: String,
    /// The kind of the enclosing symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Word>,
    /// The full name of the enclosing symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The id of the enclosing symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
}
