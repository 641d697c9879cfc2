//! The answer of `explain_ranking`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::named::{Named, Numbers};
use crate::words::{Word, words};

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The query.
    pub query: String,
    /// The result.
    pub result: ExplainedResult,
    /// Its position, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// The contributions to its total, and the total.
    pub scoring: Numbers,
    /// The reason for each contribution.
    pub scoring_details: Named<String>,
    /// The metadata.
    pub metadata: Metadata,
}

/// A result that is explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainedResult {
    /// The id of the result.
    pub result_id: String,
    /// What it is: a symbol, a snippet or a file.
    pub result_type: Word,
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
    /// Whether the file version is in the default branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_layer: Option<Word>,
    /// The score, from 0 to 1.
    pub score: f64,
}

words! {
    /// Why a location is no result.
    Reason {
        /// The file is not indexed.
        FileNotIndexed = "file_not_indexed",
        /// The file is shorter.
        LineOutOfRange = "line_out_of_range",
        /// A filter excludes it.
        Filtered = "filtered",
        /// It has no word of the query.
        NoMatchingTerm = "no_matching_term",
        /// Others are better.
        RankedLower = "ranked_lower",
    }
}

/// Why a location is no result, with what that reason needs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Absence {
    /// The reason.
    pub reason: Reason,
    /// The reason in words.
    pub explanation: String,
    /// The number of lines of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// The filter that excludes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Word>,
    /// What it is instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The words that it does not contain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terms: Option<Vec<String>>,
    /// Its rank, for a result beyond the limit.
    #[serde(flatten)]
    pub ranked: Option<Ranked>,
    /// Why the file is not indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Word>,
}

/// The rank of a result beyond the limit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ranked {
    /// Its position; null beyond the maximum length of a list.
    pub rank: Option<usize>,
    /// The total of the last result shown.
    pub needed: f64,
    /// The contributions to its total, and the total.
    pub scoring: Numbers,
}
