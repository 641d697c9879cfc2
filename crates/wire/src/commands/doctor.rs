//! The answers of `codecompass doctor`.

use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Whether all checks passed.
    pub ok: bool,
    /// The checks.
    pub checks: Vec<Check>,
    /// The metadata.
    pub metadata: Metadata,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked.
    pub name: Word,
    /// Whether it passed.
    pub ok: bool,
    /// `ok`, `note` or `problem`.
    pub level: Word,
    /// What was found.
    pub message: String,
    /// What to do.
    pub mend: Option<String>,
}

/// The answer about a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// Its path.
    pub path: String,
    /// Whether it is indexed.
    pub indexed: bool,
    /// Why it is skipped.
    pub left_out: Option<Word>,
    /// The same in words.
    pub message: Option<String>,
    /// The metadata.
    pub metadata: Metadata,
}
