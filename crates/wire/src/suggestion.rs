//! Suggested next calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A suggested next call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suggestion {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments.
    pub params: Map<String, Value>,
    /// Why the call may help.
    pub reason: String,
}
