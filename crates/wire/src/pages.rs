//! The answers of tools that only pages have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::Word;

/// The text of a symbol or of a part of a file, with highlighting and links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The path of the file.
    pub path: String,
    /// Its language.
    pub language: String,
    /// The number of its lines.
    pub total_lines: u32,
    /// The first line of the text.
    pub first_line: u32,
    /// The last line of the text.
    pub last_line: u32,
    /// Whether it has uncommitted edits.
    pub is_edited: bool,
    /// The requested symbol.
    pub symbol: Option<SourceSymbol>,
    /// The enclosing symbols, the outermost first.
    pub around: Vec<SourceSymbol>,
    /// The direct members.
    pub inside: Vec<SourceSymbol>,
    /// Other symbols with the name.
    pub others: Vec<SourceSymbol>,
    /// The text.
    pub text: String,
    /// The highlighted ranges: start, end and kind.
    pub colours: Vec<(usize, usize, Word)>,
    /// Whether all names were resolved.
    pub has_all_links: bool,
    /// The linked ranges.
    pub links: Vec<Link>,
    /// The metadata.
    pub metadata: Metadata,
}

/// A symbol with its header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceSymbol {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The id of the symbol wherever it is.
    pub symbol_stable_id: String,
    /// The simple name.
    pub name: String,
    /// The full name.
    pub qualified_name: String,
    /// The kind.
    pub kind: Word,
    /// Its header.
    pub signature: String,
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
}

/// A linked range: start, end, the id of the symbol, a description, and what kind of link it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Link {
    /// A reference.
    Reference(usize, usize, String, String),
    /// A definition (`definition`), or an unconfirmed reference (`guess`).
    Marked(usize, usize, String, String, Word),
}

/// The names and paths that continue what was typed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Completions {
    /// The completions, the best first.
    pub completions: Vec<Completion>,
    /// The metadata.
    pub metadata: Metadata,
}

/// A name or path that continues what was typed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// The name, with its owner if one was typed, or the path of a file.
    pub text: String,
    /// The kind of the symbol, or `file`.
    pub kind: Word,
    /// The file of the best symbol with this name, or the file itself.
    pub path: String,
    /// The first line of that symbol.
    pub line_start: u32,
    /// The number of symbols with this name.
    pub symbols: usize,
    /// The handle of that symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_id: Option<String>,
}

/// The content of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    /// Its path.
    pub path: String,
    /// The folders in it.
    pub folders: Vec<FolderTotals>,
    /// The files in it.
    pub files: Vec<FolderFile>,
    /// The languages below it.
    pub languages: Vec<FolderTotals>,
    /// The metadata.
    pub metadata: Metadata,
}

/// Totals over the files of a folder or a language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FolderTotals {
    /// The name of the folder or language.
    pub name: String,
    /// The number of files.
    pub files: u64,
    /// The number of lines.
    pub lines: u64,
    /// The number of files with uncommitted edits.
    pub edited: u64,
}

/// A file of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FolderFile {
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// The number of its lines.
    pub lines: u32,
    /// The number of its symbols.
    pub symbols: u32,
    /// Whether it has uncommitted edits.
    pub is_edited: bool,
}

/// The state of the index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexState {
    /// The root of the workspace.
    pub root: String,
    /// The shown view, if one is published.
    pub state: Option<ViewState>,
    /// The metadata.
    pub metadata: Metadata,
    /// The available refs and work trees, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<Choices>,
}

/// The shown view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewState {
    /// A checksum of its content.
    pub digest: String,
    /// The number of files with uncommitted edits.
    pub edited: u64,
    /// The number of files.
    pub files: i64,
}

/// The available refs and work trees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    /// The branches.
    pub branches: Vec<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The work trees.
    pub trees: Vec<WorkTree>,
    /// The branch that is checked out.
    pub checked_out: Option<String>,
    /// The default branch.
    pub default: Option<String>,
}

/// A work tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkTree {
    /// Its path.
    pub path: String,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Whether it is the workspace of the request.
    pub is_this: bool,
}
