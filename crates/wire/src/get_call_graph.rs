//! The answer of `get_call_graph`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::suggestion::Suggestion;
use crate::symbol::{Counts, SymbolIdentity, SymbolName, SymbolSummary};
use crate::words::Word;

/// The answer.
pub type Answer = Batch<Calls>;

/// The callers and callees of one symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calls {
    /// The symbol.
    pub symbol: SymbolIdentity,
    /// Its callers.
    pub callers: Vec<Call>,
    /// Its callees.
    pub callees: Vec<Call>,
    /// The number of both before the limit.
    pub total_edges: usize,
    /// Whether a list was cut.
    pub truncated: bool,
    /// The number of unresolved calls in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unresolved_calls: Option<usize>,
    /// The number of calls in it that leave the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_calls: Option<usize>,
    /// The number of unresolved calls that may call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unproved_callers: Option<usize>,
    /// The classification of all occurrences of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// The unresolved calls in it, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unresolved: Option<Vec<UnresolvedCall>>,
    /// The unresolved calls that may call it, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unproved: Option<Vec<UnprovedCall>>,
    /// A shortest chain of calls to the requested symbol; empty if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_to: Option<Vec<SymbolIdentity>>,
    /// The steps of the chain, from 1, that are unresolved calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_to_possible: Option<Vec<usize>>,
    /// The symbols at which resolution ended, beyond depth 1 or in the search for a chain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended_at: Vec<FrontierSymbol>,
    /// How far the search for a chain went, if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_to_depth: Option<u32>,
    /// Suggested next calls, if there is no edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<Suggestion>>,
    /// Other symbols with the name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_matches: Vec<SymbolSummary>,
}

/// A symbol at which resolution ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrontierSymbol {
    /// The symbol.
    pub symbol: SymbolIdentity,
    /// The number of its unresolved calls, or of the unresolved calls of its name.
    pub unresolved_calls: usize,
}

/// A call, or several between the same two symbols.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The symbol at the far end.
    pub symbol: SymbolIdentity,
    /// The place of the first call.
    pub call_site: CallSite,
    /// Whether it is proved.
    pub confidence: Word,
    /// The distance from the requested symbol.
    pub depth: u32,
    /// The number of calls, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_count: Option<usize>,
    /// Their lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_lines: Option<Vec<u32>>,
    /// The number of lines that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_lines_omitted: Option<usize>,
    /// Whether the caller is a test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_test: bool,
    /// The nearer symbol of a call beyond depth 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<SymbolName>,
}

/// The place of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallSite {
    /// The path of its file.
    pub file: String,
    /// Its line.
    pub line: u32,
}

/// An unresolved call in the symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnresolvedCall {
    /// The called name.
    pub name: String,
    /// Its line.
    pub line: u32,
    /// Why it is unresolved.
    pub reason: Word,
}

/// An unresolved call that may call the symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnprovedCall {
    /// The symbol that contains it.
    pub from_symbol: SymbolIdentity,
    /// Its place.
    pub call_site: CallSite,
    /// Why it is unresolved.
    pub reason: String,
}
