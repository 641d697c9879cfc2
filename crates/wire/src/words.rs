//! Words with a fixed meaning.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A word of a set that another crate defines, such as the kinds of symbols.
pub type Word = Cow<'static, str>;

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }
    };
}
pub(crate) use words;

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

words! {
    /// Whether the stored data can be read.
    SchemaStatus {
        /// It can, and something is published.
        Compatible = "compatible",
        /// It can, and nothing is published yet.
        NotIndexed = "not_indexed",
        /// It was written by another version of the schema.
        ReindexRequired = "reindex_required",
        /// It cannot.
        CorruptManifest = "corrupt_manifest",
    }
}

words! {
    /// The version of the protocol.
    Protocol {
        /// The only one.
        V1 = "1.0",
    }
}
