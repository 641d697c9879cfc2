//! The answers of `codecompass config`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::named::Named;
use crate::words::Word;

/// The answer of `config show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Show {
    /// The settings by key.
    pub config: Named<Setting>,
    /// The folder of all data.
    pub data_folder: String,
    /// The metadata.
    pub metadata: Metadata,
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Its value.
    pub value: SettingValue,
    /// Where it is set.
    pub source: String,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SettingValue {
    /// A switch; null if it is not set.
    Flag(Option<bool>),
    /// A number.
    Count(u64),
    /// A word.
    Word(Word),
    /// A list of patterns.
    List(Vec<String>),
    /// Values by pattern.
    Map(BTreeMap<String, String>),
}

/// The answer of `config path`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// The user's file.
    pub config_file: String,
    /// The repository's file.
    pub repository_config_file: Option<String>,
    /// The folder of all data.
    pub data_folder: String,
    /// The metadata.
    pub metadata: Metadata,
}
