//! Numbers by name, in the order in which they were added.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;

use crate::words::Word;

/// Numbers by name, such as the factors of a score: new ones may be added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers(pub Vec<(Word, f64)>);

impl Numbers {
    /// Adds a number.
    pub fn add(&mut self, name: &'static str, value: f64) {
        self.0.push((Cow::Borrowed(name), value));
    }

    /// A number by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::deserialize(deserializer)?;
        let number = |(name, value): (String, serde_json::Value)| Some((Cow::Owned(name), value.as_f64()?));
        Ok(Self(map.into_iter().filter_map(number).collect()))
    }
}

impl JsonSchema for Numbers {
    fn schema_name() -> Cow<'static, str> {
        "Numbers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}
