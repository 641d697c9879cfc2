//! Results of `search_code` and `locate_symbol`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::symbol::SymbolWithLine;
use crate::words::Word;

/// A result. The level of detail decides which fields it has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultItem {
    /// The id of the result (`search_code`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_id: Option<String>,
    /// What it is: a symbol, a snippet or a file (`search_code`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_type: Option<Word>,
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    /// The kind of its symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Word>,
    /// The simple name of its symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The full name of its symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qualified_name: Option<String>,
    /// The id of its symbol at that path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
    /// The id of its symbol wherever it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_stable_id: Option<String>,
    /// The header of the symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The visibility of the symbol, normalised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Word>,
    /// The language of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Whether the file version is in the default branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_layer: Option<Word>,
    /// The score, from 0 to 1.
    pub score: f64,
    /// The matching lines (`search_code`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// The first lines of the symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_preview: Option<String>,
    /// The enclosing symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SymbolWithLine>,
    /// Symbols near it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_symbols: Vec<SymbolWithLine>,
}
