//! Symbols in answers: names, ids and places.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::Word;

/// The names and ids of a symbol and, where they are given, its path and lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolIdentity {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The id of the symbol wherever it is.
    pub symbol_stable_id: String,
    /// The simple name.
    pub name: String,
    /// The full name.
    pub qualified_name: String,
    /// The kind, such as `fn`.
    pub kind: Word,
    /// The path of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u32>,
    /// Its last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u32>,
}

/// A symbol by id, full name and place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SymbolSummary {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The full name.
    pub qualified_name: String,
    /// The kind.
    pub kind: Word,
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line: u32,
    /// The number of references to it, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<usize>,
    /// Whether it implements or extends the type that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Word>,
}

/// A symbol near a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SymbolWithLine {
    /// The kind.
    pub kind: Word,
    /// The simple name.
    pub name: String,
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line: u32,
}

/// A symbol by id and name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SymbolName {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The simple name.
    pub name: String,
}

/// The classification of all occurrences of a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Definitions of the symbol.
    pub definitions: usize,
    /// References that are proved to refer to it.
    pub proved: usize,
    /// References to other symbols.
    pub elsewhere: usize,
    /// References to symbols outside the repository.
    pub outside: usize,
    /// References that are not resolved.
    pub undecided: usize,
    /// Occurrences that were not classified; without them, the other counts add up to all in the code.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beyond: usize,
}

/// Whether a count is left out.
fn is_zero(count: &usize) -> bool {
    *count == 0
}
