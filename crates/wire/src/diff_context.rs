//! The answer of `diff_context`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::get_call_graph::CallSite;
use crate::metadata::Metadata;
use crate::symbol::SymbolIdentity;
use crate::words::{Word, words};

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The base.
    pub base_ref: String,
    /// The head.
    pub head_ref: String,
    /// Their merge base, which the head is compared with.
    pub merge_base_commit: String,
    /// The number of changed files.
    pub affected_files: usize,
    /// The changed files.
    pub file_changes: Vec<FileChange>,
    /// The changed symbols.
    pub changes: Vec<Change>,
    /// The number of changed symbols before the limit.
    pub total_changes: usize,
    /// The number of symbols where only the docs changed.
    pub doc_only_changes: usize,
    /// The number of unchanged symbols that were moved.
    pub moved_symbols: usize,
    /// The symbols where only the docs changed, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_changes: Option<Vec<DocChange>>,
    /// The callers of changed symbols, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affected_callers: Option<Vec<AffectedCaller>>,
    /// The calls that changed symbols gained, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges_added: Option<Vec<CallChange>>,
    /// The calls that changed symbols lost, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges_removed: Option<Vec<CallChange>>,
    /// The metadata.
    pub metadata: Metadata,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileChange {
    /// Its path, or its last one.
    pub path: String,
    /// What happened to it.
    pub change_type: Word,
    /// Its path before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
}

words! {
    /// What happened to a symbol.
    ChangeType {
        /// It is new.
        Added = "added",
        /// It differs.
        Modified = "modified",
        /// It is gone.
        Deleted = "deleted",
    }
}

words! {
    /// A part of a symbol that changed.
    ChangedPart {
        /// Its header.
        Signature = "signature",
        /// Its body.
        Body = "body",
        /// Its attributes.
        Attributes = "attributes",
        /// Its docs.
        Doc = "doc",
    }
}

/// A changed symbol with both its sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The simple name.
    pub symbol: String,
    /// What happened to it.
    pub change_type: ChangeType,
    /// The parts that differ, if it was modified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Vec<ChangedPart>>,
    /// The symbol in the base.
    pub before: Option<SymbolSide>,
    /// The symbol in the head.
    pub after: Option<SymbolSide>,
    /// The path of its file.
    pub path: String,
    /// Its lines.
    #[schemars(extend("x-detail" = true))]
    pub lines: Lines,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// The first.
    pub start: u32,
    /// The last.
    pub end: u32,
}

/// One side of a changed symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SymbolSide {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The id of the symbol wherever it is.
    pub symbol_stable_id: String,
    /// The kind.
    pub kind: Word,
    /// The full name.
    pub qualified_name: String,
    /// Its header.
    pub signature: String,
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
}

/// A symbol where only the docs changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocChange {
    /// The simple name.
    pub symbol: String,
    /// The full name.
    pub qualified_name: String,
    /// The kind.
    pub kind: Word,
    /// The path of its file.
    pub path: String,
    /// Its first line.
    pub line_start: u32,
}

/// A symbol at one end of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolMention {
    /// The id of the symbol at its path.
    pub symbol_id: String,
    /// The full name.
    pub qualified_name: String,
    /// The kind.
    pub kind: Word,
    /// The path of its file.
    pub path: String,
}

/// The code that calls a changed symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CallerSymbol {
    /// The file itself.
    Module(SymbolIdentity),
    /// A symbol.
    Symbol(SymbolMention),
}

/// A changed symbol that is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedCallee {
    /// The symbol, in its current or last version.
    #[serde(flatten)]
    pub symbol: SymbolMention,
    /// What happened to it.
    pub change_type: ChangeType,
    /// Whether its header differs.
    pub signature_changed: bool,
}

/// A caller of a changed symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AffectedCaller {
    /// The caller.
    pub from: CallerSymbol,
    /// The changed symbol.
    pub to: ChangedCallee,
    /// The place of the call.
    pub call_site: CallSite,
    /// Whether it is proved.
    pub confidence: Word,
    /// Whether the caller changed, too.
    pub is_changed: bool,
    /// Whether the caller is a test.
    pub is_test: bool,
}

/// An added or removed call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallChange {
    /// The caller.
    pub from: SymbolMention,
    /// The callee.
    pub to: SymbolMention,
    /// The place of the call.
    pub call_site: CallSite,
    /// Whether it is proved.
    pub confidence: Word,
}
