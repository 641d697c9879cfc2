//! The JSON schema of an answer, derived from its type.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The schema of an answer: without references, and without what is of no use to a client. Only the outermost object
/// names its required fields. An object inside a part of an answer is not described, unless it has `x-detail`, and all
/// answers have the same `metadata`: every client pays for the list of tools.
pub fn schema<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    let required = required_names(&schema);
    if let Some(metadata) = schema.get_mut("properties").and_then(|properties| properties.get_mut("metadata")) {
        *metadata = any_object();
    }
    let mut schema = plain(schema, 0);
    schema.insert("required".into(), Value::Array(required));
    schema
}

/// The required fields, without those that no client may rely on (`x-optional`).
fn required_names(schema: &Map<String, Value>) -> Vec<Value> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let is_optional = |name: &str| schema.get("properties").is_some_and(|all| all[name].get("x-optional").is_some());
    names.filter(|name| !name.as_str().is_some_and(is_optional)).cloned().collect()
}

fn any_object() -> Value {
    Value::Object(typed("object"))
}

fn typed(word: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), Value::from(word))])
}

/// A schema with the few keywords that answers need. `depth` is the number of enclosing objects.
fn plain(mut schema: Map<String, Value>, depth: usize) -> Map<String, Value> {
    let is_object = schema.get("type").is_some_and(|word| word == "object") && schema.contains_key("properties");
    let is_inner = depth > 1 && is_object && !schema.contains_key("x-detail");
    // A type inside itself is a reference.
    if schema.contains_key("$ref") || is_inner {
        return typed("object");
    }
    if let Some(words) = words(&schema) {
        return Map::from_iter([("enum".to_owned(), Value::Array(words))]);
    }
    if let Some(Value::Array(types)) = schema.get("type").filter(|_| !schema.contains_key("anyOf")) {
        let each = types.iter().filter_map(Value::as_str).map(|word| {
            let mut one = schema.clone();
            one.insert("type".into(), Value::from(word));
            if word == "null" { typed(word) } else { one }
        });
        let each: Vec<Value> = each.map(|one| Value::Object(plain(one, depth))).collect();
        return Map::from_iter([("anyOf".to_owned(), Value::Array(each))]);
    }
    let required = schema.get("required").cloned();
    let is_required = |name: &str| {
        required.as_ref().and_then(Value::as_array).is_some_and(|names| names.iter().any(|one| one == name))
    };
    schema.retain(|name, _| matches!(name.as_str(), "type" | "properties" | "items" | "anyOf"));
    for (name, value) in &mut schema {
        match (name.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                // A field that may be left out is never null.
                properties.iter_mut().filter(|(name, _)| !is_required(name)).for_each(|(_, value)| forbid_null(value));
                properties.values_mut().for_each(|value| make_plain(value, depth + 1));
            }
            ("items", value) => make_plain(value, depth),
            ("anyOf", Value::Array(each)) => {
                each.iter_mut().for_each(|value| make_plain(value, depth));
                each.dedup();
            }
            _ => {}
        }
    }
    schema
}

fn make_plain(value: &mut Value, depth: usize) {
    if let Value::Object(schema) = value {
        *schema = plain(std::mem::take(schema), depth);
    }
}

/// Removes the alternative of null.
fn forbid_null(value: &mut Value) {
    let Value::Object(schema) = value else { return };
    for name in ["type", "enum", "anyOf"] {
        let Some(Value::Array(each)) = schema.get_mut(name) else { continue };
        each.retain(|one| !one.is_null() && one != "null" && one.get("type").is_none_or(|word| word != "null"));
        if let (1, "type") = (each.len(), name) {
            let only = each.remove(0);
            schema.insert(name.to_owned(), only);
        } else if let (1, "anyOf") = (each.len(), name) {
            *value = each.remove(0);
            return;
        }
    }
}

/// The words of an enumeration.
fn words(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    if let Some(word) = schema.get("const") {
        return Some(vec![word.clone()]);
    }
    if let Some(Value::Array(words)) = schema.get("enum") {
        return Some(words.clone());
    }
    let each = schema.get("oneOf")?.as_array()?;
    let each = each.iter().map(|one| words(one.as_object()?));
    each.collect::<Option<Vec<_>>>().map(|each| each.concat())
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::json;

    use super::*;
    use crate::words::Freshness;

    #[derive(Serialize, JsonSchema)]
    struct Answer {
        word: Freshness,
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<u32>,
        null: Option<Part>,
        #[schemars(extend("x-optional" = true))]
        always: bool,
        parts: Vec<Part>,
        metadata: Part,
    }

    #[derive(Serialize, JsonSchema)]
    struct Part {
        inside: Vec<Part>,
        inner: Inner,
        #[schemars(extend("x-detail" = true))]
        detail: Inner,
    }

    #[derive(Serialize, JsonSchema)]
    struct Inner {
        number: f64,
    }

    #[test]
    fn schema_says_what_a_client_needs() {
        let object = json!({ "type": "object" });
        let part = json!({
            "type": "object",
            "properties": {
                "inside": { "type": "array", "items": object },
                "inner": object,
                "detail": { "type": "object", "properties": { "number": { "type": "number" } } },
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "word": { "enum": ["fresh", "stale", "syncing"] },
                "absent": { "type": "integer" },
                "null": { "anyOf": [part, { "type": "null" }] },
                "always": { "type": "boolean" },
                "parts": { "type": "array", "items": part },
                "metadata": object,
            },
            "required": ["word", "null", "parts", "metadata"],
        });
        assert_eq!(Value::Object(schema::<Answer>()), expected);
    }
}
