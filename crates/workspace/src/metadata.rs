//! The metadata of every answer as text.

pub use codecompass_wire::{Completeness, Freshness, Indexing, Metadata, Protocol, SchemaStatus};

use crate::escape::escape_control;

/// The warning about an empty index: for machines, and for readers of text, who may not have the tool that it names.
pub(crate) const NOT_INDEXED_WARNING: (&str, &str) = (
    "nothing is indexed yet; run `codecompass index`, or call index_repo",
    "nothing is indexed yet; run `codecompass index`",
);

/// Metadata as text.
pub trait MetadataText {
    /// The warnings for people, one line each.
    fn warnings_text(&self) -> String;

    /// The notes for readers of a text; empty if the answer is fresh and complete.
    fn notes(&self) -> String;
}

impl MetadataText for Metadata {
    fn warnings_text(&self) -> String {
        let told = |warning: &String| {
            if warning == NOT_INDEXED_WARNING.0 { NOT_INDEXED_WARNING.1.to_owned() } else { warning.clone() }
        };
        self.warnings.iter().map(|warning| format!("warning: {}\n", escape_control(&told(warning)))).collect()
    }

    fn notes(&self) -> String {
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
}

/// The word for the state of a store.
pub fn schema_status(status: codecompass_store::SchemaStatus) -> SchemaStatus {
    match status {
        codecompass_store::SchemaStatus::Compatible => SchemaStatus::Compatible,
        codecompass_store::SchemaStatus::NotIndexed => SchemaStatus::NotIndexed,
        codecompass_store::SchemaStatus::ReindexRequired { .. } => SchemaStatus::ReindexRequired,
        codecompass_store::SchemaStatus::CorruptManifest => SchemaStatus::CorruptManifest,
    }
}
