//! The vocabulary of the text index: the kinds of records, their text fields, and the flags of a file's text.

use crate::tokens::{has_odd, long_words};

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// Chunks of text outside symbols.
    Chunk,
    /// Symbols.
    Symbol,
    /// Files.
    File,
}

/// The number of record kinds.
pub(crate) const RECORD_KINDS: usize = 3;

/// The text fields of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextField {
    /// The name of a symbol.
    Name,
    /// The docs of a symbol.
    Doc,
    /// The lines that belong to a symbol and to no other, including its docs; its qualified name; the end of its path.
    Own,
    /// A chunk, and the end of its path.
    Chunk,
    /// The path of a file.
    Path,
}

impl TextField {
    /// Returns the kind of the records that have the field.
    pub(crate) const fn record(self) -> RecordKind {
        match self {
            TextField::Name | TextField::Doc | TextField::Own => RecordKind::Symbol,
            TextField::Chunk => RecordKind::Chunk,
            TextField::Path => RecordKind::File,
        }
    }
}

/// Whether a word is too long for the field of long words. Tantivy's limit is 64 KiB, and lower case may be longer.
pub(crate) fn is_huge(word: &str) -> bool {
    word.len() > 20_000
}

/// A flag of a file's record about its whole text: the reason why tokens alone do not determine its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFlag {
    /// It has a word that is too long even for the field of long words.
    Huge,
    /// It has a character that regular expressions may treat differently.
    OddCharacters,
}

impl TextFlag {
    /// Returns the flags of a text.
    pub(crate) fn from_text(text: &str) -> Vec<Self> {
        let huge = long_words(text).any(is_huge).then_some(Self::Huge);
        huge.into_iter().chain(has_odd(text).then_some(Self::OddCharacters)).collect()
    }

    /// Returns the term that finds it.
    pub(crate) const fn term(self) -> &'static str {
        match self {
            Self::Huge => "huge",
            Self::OddCharacters => "odd",
        }
    }
}
