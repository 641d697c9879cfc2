//! The answer of `get_code_context`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::suggestion::Suggestion;
use crate::symbol::SymbolIdentity;
use crate::words::{Word, words};

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The code, best first.
    pub context_items: Vec<Item>,
    /// The tokens of the items, by the formula of the contract.
    pub estimated_tokens: u64,
    /// Whether something did not fit.
    pub truncated: bool,
    /// The metadata.
    pub metadata: ContextMetadata,
    /// Suggested next calls of an empty answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<Suggestion>>,
}

/// The metadata, with the state of the budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextMetadata {
    /// The metadata of every answer.
    #[serde(flatten)]
    pub base: Metadata,
    /// The number of items that were considered.
    pub total_candidates: usize,
    /// The number of items in the answer.
    pub returned: usize,
    /// How the budget was spent.
    pub strategy: Strategy,
    /// An upper estimate of the real tokens.
    pub token_upper_estimate: u64,
    /// The number of items that did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_candidates: Option<usize>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Word>,
}

words! {
    /// How a budget is spent.
    Strategy {
        /// Many symbols with signatures.
        Breadth = "breadth",
        /// Fewer symbols with bodies.
        Depth = "depth",
    }
}

/// Code that answers the query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// The symbol, or the module of its file.
    #[serde(flatten)]
    pub symbol: SymbolIdentity,
    /// Its header, or its first line.
    pub signature: String,
    /// The language of its file.
    pub language: String,
    /// The score, from 0 to 1.
    pub score: f64,
    /// The docs and attributes above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<String>,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}
