//! Answers about several names: each is answered separately, and an error takes the position of its answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::words::Word;

/// The answer about one name, with those about further names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Batch<T> {
    /// The answer about the first name.
    #[serde(flatten)]
    pub first: T,
    /// The answers about the further names; the schema does not repeat what they are.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    #[serde(default = "Vec::<More<T>>::new", skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<More<T>>,
    /// The metadata of all of them.
    pub metadata: Metadata,
}

/// The answer about a further name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct More<T> {
    /// The name.
    pub asked: String,
    /// Its answer or error.
    #[serde(flatten)]
    pub outcome: Outcome<T>,
}

/// An answer, or an error in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Outcome<T> {
    /// The error.
    Failed {
        /// Its code and message.
        error: BatchError,
    },
    /// The answer.
    Answered(T),
}

/// An error about one of several names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchError {
    /// The code.
    pub code: Word,
    /// The message.
    pub message: String,
}
