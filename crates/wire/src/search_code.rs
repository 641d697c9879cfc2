//! The answer of `search_code`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::result_item::ResultItem;
use crate::suggestion::Suggestion;
use crate::words::words;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The results, best first.
    pub results: Vec<ResultItem>,
    /// How the query was understood.
    pub query_intent: Intent,
    /// The number of matches before the limit.
    pub total_candidates: usize,
    /// Calls that can be sent unchanged.
    pub suggested_next_actions: Vec<NextAction>,
    /// Similar names, if nothing was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest_names: Vec<String>,
    /// Suggested next calls of a weak answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<Suggestion>>,
    /// Debugging details.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug: Option<Debug>,
    /// The metadata.
    pub metadata: Metadata,
    /// Suggested next calls of an empty answer, which have them at the end.
    #[serde(rename = "suggestions", skip_serializing_if = "Option::is_none", skip_deserializing)]
    #[schemars(skip)]
    pub last_suggestions: Option<Vec<Suggestion>>,
}

words! {
    /// How a query was understood.
    Intent {
        /// The name of a symbol.
        Symbol = "symbol",
        /// A path.
        Path = "path",
        /// An error message or a trace.
        Error = "error",
        /// A question in words.
        NaturalLanguage = "natural_language",
    }
}

/// A call that can be sent unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextAction {
    /// The name of the tool.
    pub tool: String,
    /// The name to locate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The query to search for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The ref.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// The number of results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Debugging details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Debug {
    /// How many results have a symbol.
    pub join_status: JoinStatus,
}

/// How many results have a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinStatus {
    /// Results with a symbol.
    pub hits: usize,
    /// Results without.
    pub misses: usize,
}
