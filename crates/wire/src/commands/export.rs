//! The lines of `codecompass export`.

use serde::{Deserialize, Serialize};

use crate::words::Word;

/// A symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Symbol {
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    /// The kind.
    pub kind: Word,
    /// The simple name.
    pub name: String,
    /// The full name.
    pub qualified_name: String,
    /// The id of the symbol at its path.
    pub symbol_id: String,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The path of the file of the reference.
    pub from_path: String,
    /// The line of the function that contains it, or 0.
    pub from_line: u32,
    /// The path of the file of the symbol.
    pub to_path: String,
    /// The line of its name.
    pub to_line: u32,
    /// Its name.
    pub to_name: String,
    /// The line of the reference.
    pub site_line: u32,
    /// Its column.
    pub site_col: u32,
    /// The type of the edge.
    pub edge_type: Word,
    /// Whether it is proved.
    pub confidence: Word,
}

/// An unresolved reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unresolved {
    /// The path of its file.
    pub from_path: String,
    /// The line of the function that contains it, or 0.
    pub from_line: u32,
    /// Its line.
    pub site_line: u32,
    /// Its column.
    pub site_col: u32,
    /// The name.
    pub name: String,
    /// The number of symbols with the name.
    pub candidates: usize,
}
