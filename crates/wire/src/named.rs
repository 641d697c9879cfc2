//! Values by name, in the order in which they were added.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::words::Word;

/// Values by name, where the names are data: an object whose fields no type lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(Word, T)>);

/// Numbers by name, such as the factors of a score.
pub type Numbers = Named<f64>;

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Named<T> {
    /// Adds a value.
    pub fn add(&mut self, name: impl Into<Word>, value: T) {
        self.0.push((name.into(), value));
    }

    /// A value by its name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl<T> FromIterator<(Word, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (Word, T)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
    type Value = Named<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
        let mut values = Named::default();
        while let Some((name, value)) = map.next_entry::<String, T>()? {
            values.add(name, value);
        }
        Ok(values)
    }
}

impl<T> JsonSchema for Named<T> {
    fn schema_name() -> Cow<'static, str> {
        "Named".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}
