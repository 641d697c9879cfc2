//! Totals over file versions, and the fingerprint of their content.

use codecompass_model::{BlobId, ids};

/// The columns of a view's totals in SQL, in the order of [`Totals::values`].
pub(crate) const COLUMNS: &str = "file_count, symbol_count, line_count, byte_count, piece_docs, piece_tokens, \
    symbol_docs, name_tokens, doc_tokens, own_tokens, file_tokens, digest";

/// The number of [`COLUMNS`].
pub(crate) const COUNT: usize = 12;

/// Totals over the file versions of a view. They are exact; a publish adds and subtracts only what it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files.
    pub files: i64,
    /// Symbols.
    pub symbols: i64,
    /// Lines.
    pub lines: i64,
    /// Bytes.
    pub bytes: i64,
    /// Text chunks outside symbols.
    pub piece_docs: i64,
    /// Tokens in the chunks.
    pub piece_tokens: i64,
    /// Symbols in the text index.
    pub symbol_docs: i64,
    /// Tokens in the symbol names.
    pub name_tokens: i64,
    /// Tokens in the symbol docs.
    pub doc_tokens: i64,
    /// Tokens in the symbols' own lines.
    pub own_tokens: i64,
    /// Tokens in paths.
    pub file_tokens: i64,
    /// A fingerprint of the content, equal in every clone: a wrapping sum over path, blob and facts version of each
    /// file.
    pub digest: i64,
}

impl Totals {
    /// Returns the values of [`COLUMNS`].
    pub(crate) fn values(&self) -> [i64; COUNT] {
        [
            self.files,
            self.symbols,
            self.lines,
            self.bytes,
            self.piece_docs,
            self.piece_tokens,
            self.symbol_docs,
            self.name_tokens,
            self.doc_tokens,
            self.own_tokens,
            self.file_tokens,
            self.digest,
        ]
    }

    /// Creates totals from the values of [`COLUMNS`].
    pub(crate) fn from_values(values: [i64; COUNT]) -> Self {
        let [
            files,
            symbols,
            lines,
            bytes,
            piece_docs,
            piece_tokens,
            symbol_docs,
            name_tokens,
            doc_tokens,
            own_tokens,
            file_tokens,
            digest,
        ] = values;
        Self {
            files,
            symbols,
            lines,
            bytes,
            piece_docs,
            piece_tokens,
            symbol_docs,
            name_tokens,
            doc_tokens,
            own_tokens,
            file_tokens,
            digest,
        }
    }

    /// Adds the totals of other versions, or subtracts them with the sign -1. Every field wraps around; only the digest
    /// is large enough for that.
    pub(crate) fn add(&mut self, other: Totals, sign: i64) {
        let mut values = self.values();
        for (value, other) in values.iter_mut().zip(other.values()) {
            *value = value.wrapping_add(other.wrapping_mul(sign));
        }
        *self = Self::from_values(values);
    }
}

/// The contribution of a version to the fingerprint of its views: everything that an answer from it depends on.
pub(crate) fn digest(path: &str, blob: &BlobId, facts_version: u32) -> i64 {
    ids::content_hash(&[path.as_bytes(), &[0], &blob.0, &facts_version.to_le_bytes()]) as i64
}
