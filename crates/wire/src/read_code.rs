//! The answer of `read_code`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::batch::BatchError;
use crate::find_references::Reference;
use crate::metadata::Metadata;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The items, in the order of the request.
    pub items: Vec<Item>,
    /// Whether an item is incomplete.
    pub truncated: bool,
    /// The metadata.
    pub metadata: Metadata,
}

/// An item: lines of a file, its outline, or an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// The request.
    pub asked: String,
    /// The path of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u32>,
    /// Its last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u32>,
    /// The simple name of its symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kind of its symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Word>,
    /// The id of its symbol at that path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
    /// The outline of a file that is too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outline: Option<String>,
    /// The lines with their numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The first line of the text, where it is not the first of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u32>,
    /// The lines outside tests that use its symbol, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callers: Option<Vec<Reference>>,
    /// The lines of tests that use its symbol, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<Vec<Reference>>,
    /// What the reader should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether it is incomplete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The error in place of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<BatchError>,
}
