//! The answer of `get_file_outline`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::size::Tree;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The path of the file.
    pub file_path: String,
    /// Its language.
    pub language: String,
    /// Its symbols.
    pub symbols: Vec<OutlineSymbol>,
    /// The metadata.
    pub metadata: Metadata,
}

/// A symbol of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutlineSymbol {
    /// The kind.
    pub kind: Word,
    /// The simple name.
    pub name: String,
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    /// Its visibility as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
    /// Its header; imports have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// Why it is believed to be unused, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unused: Option<String>,
    /// The symbols inside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<OutlineSymbol>,
    /// The number of symbols inside it that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children_omitted: Option<usize>,
}

impl Tree for OutlineSymbol {
    fn children(&mut self) -> &mut Vec<Self> {
        &mut self.children
    }

    fn omit(&mut self, count: usize) {
        self.children_omitted = Some(count);
    }
}
