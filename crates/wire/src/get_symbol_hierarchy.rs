//! The answer of `get_symbol_hierarchy`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::size::Tree;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The symbol and its ancestors, or the trees of its descendants.
    pub hierarchy: Vec<HierarchySymbol>,
    /// `ancestors` or `descendants`.
    pub direction: Word,
    /// The number of symbols.
    pub chain_length: usize,
    /// The metadata.
    pub metadata: Metadata,
}

/// A symbol of the hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HierarchySymbol {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The id of the symbol wherever it is.
    pub symbol_stable_id: String,
    /// The simple name.
    pub name: String,
    /// The kind.
    pub kind: Word,
    /// The full name.
    pub qualified_name: String,
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    /// Its header.
    pub signature: String,
    /// The distance from the requested symbol.
    pub depth: usize,
    /// The symbols inside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<HierarchySymbol>,
    /// The number of symbols inside it that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children_omitted: Option<usize>,
}

impl Tree for HierarchySymbol {
    fn children(&mut self) -> &mut Vec<Self> {
        &mut self.children
    }

    fn omit(&mut self, count: usize) {
        self.children_omitted = Some(count);
    }
}
