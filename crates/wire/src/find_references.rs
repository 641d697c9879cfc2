//! The answer of `find_references`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::suggestion::Suggestion;
use crate::symbol::{Counts, SymbolIdentity, SymbolSummary};
use crate::words::Word;

/// The answer.
pub type Answer = Batch<References>;

/// The references to one symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct References {
    /// The symbol.
    pub symbol: SymbolIdentity,
    /// The references, the confirmed ones first.
    pub references: Vec<Reference>,
    /// Their number before the limit.
    pub total_references: usize,
    /// The classification of all occurrences of the name.
    pub counts: Counts,
    /// Calls of a declaration that it implements, or of its implementations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<DispatchReference>,
    /// Their number before the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_through: Option<usize>,
    /// The number of other files that contain the word.
    #[schemars(extend("x-optional" = true))]
    pub text_files: usize,
    /// Their lines, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Vec<TextLine>>,
    /// The implementations of the symbol.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implementations: Vec<SymbolSummary>,
    /// Suggested next calls, if there is no reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<Suggestion>>,
    /// Other symbols with the name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_matches: Vec<SymbolSummary>,
}

/// A reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// The path of its file.
    pub path: String,
    /// Its line.
    pub line_start: u32,
    /// Its column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What the reference does.
    pub edge_type: Word,
    /// Whether it is proved.
    pub confidence: Word,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the file version is in the default branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_layer: Option<Word>,
    /// The line of source.
    pub context: String,
    /// The enclosing symbol.
    pub from_symbol: SymbolIdentity,
}

/// A call of a declaration that the symbol implements, or of an implementation of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchReference {
    /// The call.
    #[serde(flatten)]
    pub reference: Reference,
    /// The relation of the callee to the symbol.
    pub link: Word,
    /// The callee.
    pub symbol: SymbolIdentity,
}

/// A line that contains the name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextLine {
    /// The path of its file.
    pub path: String,
    /// Its number.
    pub line_start: u32,
    /// Its text.
    pub context: String,
}
