//! The metadata of every answer: what it was computed from, and how far it can be trusted.

use codecompass_store::SchemaStatus;
use serde_json::{Map, Value, json};

use crate::escape::shown;

/// The version of the protocol that all answers speak.
const PROTOCOL: &str = "1.0";

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    pub(crate) freshness: &'static str,
    pub(crate) indexing: &'static str,
    pub(crate) completeness: &'static str,
    pub(crate) ref_name: String,
    pub(crate) schema: &'static str,
    /// Whether the project is under version control.
    pub(crate) vcs: bool,
    pub(crate) indexed_commit: Option<String>,
    /// Where the source stands when that is not what is indexed.
    pub(crate) head_commit: Option<String>,
    /// How many files differ then.
    pub(crate) changed_files: Option<u64>,
    pub(crate) warnings: Vec<String>,
    /// How many symbols the file has that was asked about.
    pub(crate) symbol_count: Option<usize>,
    /// Where the next page of a list begins.
    pub(crate) next_cursor: Option<String>,
    /// Why each result stands where it stands, when that was asked for.
    pub(crate) ranking_reasons: Option<Vec<Value>>,
}

impl Metadata {
    /// Of a project about which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self {
            freshness: "stale",
            indexing: "not_indexed",
            completeness: "complete",
            ref_name: "live".into(),
            schema: SchemaStatus::NotIndexed.as_str(),
            vcs: false,
            indexed_commit: None,
            head_commit: None,
            changed_files: None,
            warnings: Vec::new(),
            symbol_count: None,
            next_cursor: None,
            ranking_reasons: None,
        }
    }

    /// The warnings for people, a line each.
    pub(crate) fn warnings_text(&self) -> String {
        self.warnings.iter().map(|warning| format!("warning: {}\n", shown(warning))).collect()
    }

    /// As it stands in an answer.
    pub(crate) fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("codecompass_protocol_version".into(), json!(PROTOCOL));
        if self.vcs {
            fields.insert("cruxe_protocol_version".into(), json!(PROTOCOL));
        }
        fields.insert("freshness_status".into(), json!(self.freshness));
        fields.insert("indexing_status".into(), json!(self.indexing));
        fields.insert("result_completeness".into(), json!(self.completeness));
        fields.insert("ref".into(), json!(self.ref_name));
        fields.insert("schema_status".into(), json!(self.schema));
        if let Some(commit) = &self.indexed_commit {
            fields.insert("indexed_commit".into(), json!(commit));
        }
        if let Some(commit) = &self.head_commit {
            fields.insert("head_commit".into(), json!(commit));
        }
        if let Some(count) = self.changed_files {
            fields.insert("changed_files".into(), json!(count));
        }
        if let Some(count) = self.symbol_count {
            fields.insert("symbol_count".into(), json!(count));
        }
        if let Some(cursor) = &self.next_cursor {
            fields.insert("next_cursor".into(), json!(cursor));
        }
        if let Some(reasons) = &self.ranking_reasons {
            fields.insert("ranking_reasons".into(), json!(reasons));
        }
        if !self.warnings.is_empty() {
            fields.insert("warnings".into(), json!(self.warnings));
        }
        Value::Object(fields)
    }
}
