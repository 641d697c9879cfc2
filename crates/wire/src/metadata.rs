//! The metadata of every answer: its source and how reliable it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::Numbers;
use crate::words::{Completeness, Freshness, Indexing, Protocol, SchemaStatus};

/// The metadata of one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    /// The protocol version.
    #[serde(rename = "codecompass_protocol_version")]
    pub protocol: Protocol,
    /// The same, if the project is under version control.
    #[serde(rename = "cruxe_protocol_version", skip_serializing_if = "Option::is_none")]
    pub vcs_protocol: Option<Protocol>,
    /// How the indexed state compares with its source.
    #[serde(rename = "freshness_status")]
    pub freshness: Freshness,
    /// The indexing state of the view.
    #[serde(rename = "indexing_status")]
    pub indexing: Indexing,
    /// Whether the answer is complete.
    #[serde(rename = "result_completeness")]
    pub completeness: Completeness,
    /// The ref that was answered for.
    #[serde(rename = "ref")]
    pub ref_name: String,
    /// Whether the stored data can be read.
    #[serde(rename = "schema_status")]
    pub schema: SchemaStatus,
    /// The commit that is indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_commit: Option<String>,
    /// The commit of the source if it is not the indexed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_commit: Option<String>,
    /// The number of files that differ in that case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_files: Option<u64>,
    /// The number of symbols in the requested file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_count: Option<usize>,
    /// The start of the next page of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The reason for the rank of each result, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking_reasons: Option<Vec<RankingReasons>>,
    /// What the reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Metadata {
    /// The metadata of an unknown project.
    pub fn unknown() -> Self {
        Self {
            protocol: Protocol::V1,
            vcs_protocol: None,
            freshness: Freshness::Stale,
            indexing: Indexing::NotIndexed,
            completeness: Completeness::Complete,
            ref_name: "live".into(),
            schema: SchemaStatus::NotIndexed,
            indexed_commit: None,
            head_commit: None,
            changed_files: None,
            symbol_count: None,
            next_cursor: None,
            ranking_reasons: None,
            warnings: Vec::new(),
        }
    }
}

/// The reasons for the rank of one result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankingReasons {
    /// Its index in the list.
    pub result_index: usize,
    /// The factors by name.
    #[serde(flatten)]
    pub factors: Numbers,
    /// The score.
    pub final_score: f64,
}
