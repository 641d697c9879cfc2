//! Visibility, normalised over languages.

use serde::{Deserialize, Serialize};

/// The visibility of a symbol in terms that are the same for every language. [`crate::Symbol`] also has the literal
/// text (`pub(crate)`, `export`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Visibility {
    /// Everyone.
    Public,
    /// The module, file or type alone.
    Private,
    /// The type and its subtypes.
    Protected,
    /// The package or assembly.
    Internal,
    /// The Rust crate, or a part of it.
    Crate,
}

impl Visibility {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Visibility::Public => "public",
            Visibility::Private => "private",
            Visibility::Protected => "protected",
            Visibility::Internal => "internal",
            Visibility::Crate => "crate",
        }
    }
}
