//! The answer of `find_related_symbols`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::symbol::SymbolIdentity;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The requested symbol.
    pub anchor: Anchor,
    /// The symbols related to it.
    pub related: Vec<Related>,
    /// The scope that was searched.
    pub scope_used: Word,
    /// The number of related symbols before the limit.
    pub total_found: usize,
    /// The metadata.
    pub metadata: Metadata,
}

/// The requested symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The id of the symbol wherever it is.
    pub symbol_stable_id: String,
    /// The simple name.
    pub name: String,
    /// The kind.
    pub kind: Word,
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line_start: u32,
}

/// A related symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Related {
    /// The symbol.
    #[serde(flatten)]
    pub symbol: SymbolIdentity,
    /// Its header.
    pub signature: String,
    /// Where it is, relative to the requested symbol.
    pub relation: Word,
    /// Whether it uses the symbol, or is used by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Word>,
    /// The language of its file.
    pub language: String,
}
