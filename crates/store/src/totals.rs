//! Totals over file versions, and the fingerprint of their content.

use codecompass_model::{BlobId, ids};

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
    /// Adds the totals of other versions, or subtracts them with the sign -1.
    pub(crate) fn add(&mut self, other: Totals, sign: i64) {
        self.files += sign * other.files;
        self.symbols += sign * other.symbols;
        self.lines += sign * other.lines;
        self.bytes += sign * other.bytes;
        self.piece_docs += sign * other.piece_docs;
        self.piece_tokens += sign * other.piece_tokens;
        self.symbol_docs += sign * other.symbol_docs;
        self.name_tokens += sign * other.name_tokens;
        self.doc_tokens += sign * other.doc_tokens;
        self.own_tokens += sign * other.own_tokens;
        self.file_tokens += sign * other.file_tokens;
        self.digest = self.digest.wrapping_add(other.digest.wrapping_mul(sign));
    }
}

/// The contribution of a version to the fingerprint of its views: everything that an answer from it depends on.
pub(crate) fn digest(path: &str, blob: &BlobId, facts_version: u32) -> i64 {
    ids::content_hash(&[path.as_bytes(), &[0], &blob.0, &facts_version.to_le_bytes()]) as i64
}
