//! The metadata of every answer: its source and how reliable it is.

use codecompass_store::SchemaStatus;
use serde_json::{Map, Value, json};

use crate::escape::escape_control;

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// The word on the wire.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }
    };
}

words! {
    /// How the indexed state compares with its source.
    Freshness {
        /// They were compared and are equal.
        Fresh = "fresh",
        /// The index is behind.
        Stale = "stale",
        /// The index is behind and is being synced.
        Syncing = "syncing",
    }
}

words! {
    /// The indexing state of a view.
    Indexing {
        /// It was never indexed.
        NotIndexed = "not_indexed",
        /// The first index is being built.
        Running = "indexing",
        /// There is a published index.
        Ready = "ready",
        /// The first index failed.
        Failed = "failed",
    }
}

words! {
    /// Whether an answer is complete.
    Completeness {
        /// It is.
        Complete = "complete",
        /// Not everything could be read, or a budget left something out.
        Partial = "partial",
        /// A limit, or the maximum size of an answer, cut it.
        Truncated = "truncated",
    }
}

/// The protocol version of all answers.
const PROTOCOL: &str = "1.0";

/// The warning about an empty index: for machines, and for readers of text, who may not have the tool that it names.
pub(crate) const NOT_INDEXED_WARNING: (&str, &str) = (
    "nothing is indexed yet; run `codecompass index`, or call index_repo",
    "nothing is indexed yet; run `codecompass index`",
);

/// The metadata of one answer.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    pub(crate) freshness: Freshness,
    pub(crate) indexing: Indexing,
    pub(crate) completeness: Completeness,
    pub(crate) ref_name: String,
    pub(crate) schema: &'static str,
    /// Whether the project is under version control.
    pub(crate) vcs: bool,
    pub(crate) indexed_commit: Option<String>,
    /// The commit of the source if it is not the indexed one.
    pub(crate) head_commit: Option<String>,
    /// The number of files that differ in that case.
    pub(crate) changed_files: Option<u64>,
    pub(crate) warnings: Vec<String>,
    /// The number of symbols in the requested file.
    pub(crate) symbol_count: Option<usize>,
    /// The start of the next page of a list.
    pub(crate) next_cursor: Option<String>,
    /// The reason for the rank of each result, if requested.
    pub(crate) ranking_reasons: Option<Vec<Value>>,
}

impl Metadata {
    /// The metadata of an unknown project.
    pub(crate) fn unknown() -> Self {
        Self {
            freshness: Freshness::Stale,
            indexing: Indexing::NotIndexed,
            completeness: Completeness::Complete,
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

    /// The warnings for people, one line each.
    pub(crate) fn warnings_text(&self) -> String {
        let told = |warning: &String| {
            if warning == NOT_INDEXED_WARNING.0 { NOT_INDEXED_WARNING.1.to_owned() } else { warning.clone() }
        };
        self.warnings.iter().map(|warning| format!("warning: {}\n", escape_control(&told(warning)))).collect()
    }

    /// The notes for readers of a text; empty if the answer is fresh and complete.
    pub(crate) fn notes(&self) -> String {
        let files = |count: u64| format!("{count} changed file{}", if count == 1 { "" } else { "s" });
        let mut text = match (self.freshness, self.indexing) {
            (Freshness::Fresh, _) | (_, Indexing::NotIndexed | Indexing::Running | Indexing::Failed) => String::new(),
            (freshness, Indexing::Ready) => {
                let changed = self.changed_files.filter(|count| *count > 0);
                let changed = changed.map(|count| format!(", without {}", files(count))).unwrap_or_default();
                format!(
                    "{}: this is {} as it was indexed{changed}\n",
                    freshness.as_str(),
                    escape_control(&self.ref_name)
                )
            }
        };
        text += &self.warnings_text();
        text
    }

    /// The JSON in an answer.
    pub(crate) fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("codecompass_protocol_version".into(), json!(PROTOCOL));
        if self.vcs {
            fields.insert("cruxe_protocol_version".into(), json!(PROTOCOL));
        }
        fields.insert("freshness_status".into(), json!(self.freshness.as_str()));
        fields.insert("indexing_status".into(), json!(self.indexing.as_str()));
        fields.insert("result_completeness".into(), json!(self.completeness.as_str()));
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
