//! Prepares source text with a preprocessor for a grammar that parses it as written.
//!
//! A grammar parses each branch of `#if` as complete declarations or statements, and no macros. Where a branch opens a
//! brace that code after it closes, or a macro is one of the words of a declaration, the parser loses the rest of the
//! file. So such text is blanked before it is parsed, without moving a byte: `conditions` leaves one branch of such an
//! `#if`, and each language blanks the macros whose form it knows. What is blanked is still read: its words become
//! references (`Repair::words`), and a declaration begins at the macros before it (`Repair::starts`).

mod conditions;
mod edits;
mod tokens;

pub(crate) use conditions::{Branches, resolve_branches};
pub(crate) use edits::Edits;
pub(crate) use tokens::{Strings, Token, TokenKind, tokens};

use codecompass_model::{RefShape, Span};

/// A text that was rewritten for the parser.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repair {
    /// The text, as long as the original.
    pub(crate) text: String,
    /// The names in what was blanked, in order, and how each is used.
    pub(crate) words: Vec<(Span, RefShape)>,
    /// For each declaration after blanked macros: its first byte that is parsed, and its first byte.
    pub(crate) starts: Vec<(u32, u32)>,
}

impl From<String> for Repair {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}
