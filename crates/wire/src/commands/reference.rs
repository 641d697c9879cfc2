//! The answers of the commands that describe the program: `codecompass languages`, `tools`, `completions` and `man`.

use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::Word;

/// The answer of `languages`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Languages {
    /// The languages.
    pub languages: Vec<Language>,
    /// The metadata.
    pub metadata: Metadata,
}

/// The support for a language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Language {
    /// Its name.
    pub name: Word,
    /// The extensions of its files.
    pub extensions: Vec<Word>,
    /// The names of its files.
    pub file_names: Vec<Word>,
    /// Whether symbols are extracted.
    pub symbols: bool,
    /// Whether references are extracted.
    pub references: bool,
    /// How references are resolved.
    pub resolution: Option<Word>,
    /// How well that works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Word>,
}

/// The answer of `tools`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tools<T> {
    /// The tools, as in `tools/list`.
    pub tools: Vec<T>,
    /// The metadata.
    pub metadata: Metadata,
}

/// A generated text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The metadata.
    pub metadata: Metadata,
}
