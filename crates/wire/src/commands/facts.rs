//! The answer of `codecompass facts`.

use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::Word;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The files.
    pub files: Vec<FileFacts>,
    /// The metadata.
    pub metadata: Metadata,
}

/// The facts of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Its path.
    pub path: String,
    /// Its language.
    pub language: Word,
    /// The version of the extraction.
    pub facts_version: u32,
    /// Why an index would skip it.
    pub left_out: Option<Word>,
    /// The number of its lines.
    pub lines: u32,
    /// Its symbols.
    pub symbols: Vec<Symbol>,
    /// Its imports.
    pub imports: Vec<Import>,
    /// Its local names.
    pub bindings: Vec<Binding>,
    /// Its references.
    pub references: Vec<Reference>,
    /// Its text chunks outside symbols.
    pub chunks: Vec<Chunk>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Symbol {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The id of the symbol wherever it is.
    pub symbol_stable_id: String,
    /// The kind.
    pub kind: Word,
    /// The simple name.
    pub name: String,
    /// The full name.
    pub qualified_name: String,
    /// The id of the symbol that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_symbol_id: Option<String>,
    /// The trait that it implements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impl_trait: Option<String>,
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    /// The line of its name.
    pub name_line: u32,
    /// Its header.
    pub signature: String,
    /// Who may use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Word>,
    /// The same, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility_text: Option<String>,
    /// Its docs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The hash of its content.
    pub content_hash: String,
}

/// A reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The name.
    pub name: String,
    /// How it is written.
    pub shape: Word,
    /// What it is written on.
    pub qualifier: Option<String>,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// The symbol that contains it.
    #[serde(rename = "in")]
    pub container: Option<String>,
    /// The line of the local name that it refers to.
    pub local: Option<u32>,
}

/// A local name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: Word,
    /// Its type.
    pub annotation: Option<String>,
    /// Its value.
    pub value: Option<String>,
    /// The part of the value.
    pub part: String,
    /// Its line.
    pub line: u32,
    /// The symbol that contains it.
    #[serde(rename = "in")]
    pub container: Option<String>,
}

/// An import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// The module.
    pub module: String,
    /// The imported name.
    pub name: Option<String>,
    /// The name that it gets.
    pub alias: Option<String>,
    /// Whether it imports everything.
    pub glob: bool,
    /// Whether it is exported again.
    pub reexport: bool,
    /// How it is written.
    pub form: Word,
    /// Its line.
    pub line: u32,
}

/// A text chunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// The kind.
    pub kind: Word,
    /// Its first line.
    pub line: u32,
    /// How often it occurs.
    pub count: u32,
}
