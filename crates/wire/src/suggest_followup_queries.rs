//! The answer of `suggest_followup_queries`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::suggestion::Suggestion;
use crate::words::{Word, words};

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The suggested calls.
    pub suggestions: Vec<Suggestion>,
    /// How the previous call was judged.
    pub analysis: Analysis,
    /// The metadata.
    pub metadata: Metadata,
}

/// How the previous call was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    /// Whether its results are good.
    pub previous_confidence: Confidence,
    /// The best score of its results.
    pub top_score: f64,
    /// Scores below it are weak.
    pub threshold: f64,
    /// The names that the suggestions are made of.
    pub extracted_identifiers: Vec<String>,
    /// Why there are no suggestions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Word>,
}

words! {
    /// Whether results are good.
    Confidence {
        /// They are.
        High = "high",
        /// They are weak, or there are none.
        Low = "low",
    }
}
