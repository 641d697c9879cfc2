//! The answer of `locate_symbol`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::result_item::ResultItem;
use crate::suggestion::Suggestion;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The definitions of all names.
    #[serde(flatten)]
    pub names: Batch<Definitions>,
    /// Suggested next calls, if the first name has no definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<Suggestion>>,
}

/// The definitions of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Definitions {
    /// The definitions, best first.
    pub results: Vec<ResultItem>,
    /// The number of definitions before the limit.
    pub total_candidates: usize,
    /// Similar names, if there is no definition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest_names: Vec<String>,
}
