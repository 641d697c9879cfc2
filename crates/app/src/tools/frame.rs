//! The frame of a tool: what `tools/list`, the reference page and the argument check are all made from.
//!
//! A tool is one file with a `TOOL` and one line in [`TOOLS`](super::TOOLS). Its parameters are a table; from it come
//! the input schema and [`Arguments`], so that what is promised and what is checked can not drift apart.

use serde_json::{Map, Value, json};

use crate::error::{AppError, Code};
use crate::output::Answer;
use crate::server::Call;

/// See the module.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// For an agent that has to pick a tool: what it answers, and when to take it.
    pub(crate) description: &'static str,
    pub(crate) params: &'static [Param],
    /// The properties of an answer, `metadata` aside, as a JSON schema. All of those named in `always` are in every
    /// answer.
    pub(crate) output: fn() -> Value,
    pub(crate) always: &'static [&'static str],
    pub(crate) effect: Effect,
    /// One of the few tools that an agent needs first.
    pub(crate) first: bool,
    pub(crate) call: fn(&mut Call<'_>) -> Result<Answer, AppError>,
}

/// What a call changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// The index, never the user's files; twice is as good as once.
    Indexes,
    /// What later calls of this connection mean.
    Switches,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) about: &'static str,
    /// The error of a value that is not allowed.
    pub(crate) code: Code,
}

/// The type of a parameter, with its default where it has one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Flag(bool),
    Count(Option<i64>),
    Share(f64),
    Choice(&'static [&'static str], Option<&'static str>),
    Object,
    /// Strings.
    List,
}

/// A parameter that must be given.
pub(crate) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Param {
    Param { name, kind, required: true, about, code: Code::InvalidInput }
}

/// A parameter that may be left out.
pub(crate) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Param {
    Param { name, kind, required: false, about, code: Code::InvalidInput }
}

/// Which branch an answer is about; most tools take it.
pub(crate) const REF: Param = optional("ref", Kind::Text, "Branch, tag or commit. Default: what is checked out");

/// Which repository is asked; every tool takes it.
pub(crate) const WORKSPACE: Param = optional("workspace", Kind::Text, "Repository path. Default: the server's");

impl Tool {
    /// The schema of the arguments.
    pub(crate) fn input_schema(&self) -> Map<String, Value> {
        let properties: Map<String, Value> =
            self.params.iter().map(|param| (param.name.to_owned(), param.schema())).collect();
        let required: Vec<&str> = self.params.iter().filter(|param| param.required).map(|param| param.name).collect();
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        schema.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        schema.insert("additionalProperties".into(), json!(false));
        schema
    }

    /// The schema of an answer.
    pub(crate) fn output_schema(&self) -> Map<String, Value> {
        let mut properties = (self.output)();
        properties["metadata"] = json!({ "type": "object" });
        let mut always = self.always.to_vec();
        always.push("metadata");
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        schema.insert("properties".into(), properties);
        schema.insert("required".into(), json!(always));
        schema
    }
}

impl Param {
    /// With an error of its own for a value that is not allowed.
    pub(crate) const fn or(self, code: Code) -> Self {
        Param { code, ..self }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Flag(default) => json!({ "type": "boolean", "default": default }),
            Kind::Count(default) => json!({ "type": "integer", "default": default }),
            Kind::Share(default) => json!({ "type": "number", "default": default }),
            Kind::Choice(words, default) => json!({ "type": "string", "enum": words, "default": default }),
            Kind::Object => json!({ "type": "object" }),
            Kind::List => json!({ "type": "array", "items": { "type": "string" } }),
        };
        if let Some(fields) = schema.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
            if !self.about.is_empty() {
                fields.insert("description".into(), json!(self.about));
            }
        }
        schema
    }

    fn accepts(&self, value: &Value) -> bool {
        match self.kind {
            Kind::Text => value.is_string(),
            Kind::Choice(words, _) => value.as_str().is_some_and(|word| words.contains(&word)),
            Kind::Flag(_) => value.is_boolean(),
            Kind::Count(_) => whole(value).is_some(),
            Kind::Share(_) => value.is_number(),
            Kind::Object => value.is_object(),
            Kind::List => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        }
    }

    /// What is allowed, in words.
    fn expected(&self) -> String {
        match self.kind {
            Kind::Text => "a string".into(),
            Kind::Flag(_) => "true or false".into(),
            Kind::Count(_) => "a whole number".into(),
            Kind::Share(_) => "a number".into(),
            Kind::Choice(words, _) => format!("one of {}", words.join(", ")),
            Kind::Object => "an object".into(),
            Kind::List => "a list of strings".into(),
        }
    }

    fn invalid(&self, problem: &str) -> AppError {
        let allowed = match self.kind {
            Kind::Choice(words, _) => json!(words),
            _ => json!(self.expected()),
        };
        AppError::new(self.code, format!("`{}` {problem}: it must be {}.", self.name, self.expected()))
            .data(json!({ "parameter": self.name, "allowed": allowed }))
    }
}

/// A whole number, also when a client wrote it with a fraction of nothing; one that is too large is the largest.
fn whole(value: &Value) -> Option<i64> {
    let from_float = |number: f64| (number.fract() == 0.0).then_some(number as i64);
    value.as_i64().or_else(|| value.as_f64().and_then(from_float))
}

/// Arguments that fit the table of their tool. An absent one and `null` are the same.
#[derive(Debug)]
pub(crate) struct Arguments {
    params: &'static [Param],
    values: Map<String, Value>,
}

impl Arguments {
    /// Checks them.
    pub(crate) fn check(tool: &Tool, mut values: Map<String, Value>) -> Result<Self, AppError> {
        values.retain(|_, value| !value.is_null());
        for (name, value) in &values {
            match tool.params.iter().find(|param| param.name == name) {
                None => return Err(unknown(tool, name)),
                Some(param) if !param.accepts(value) => {
                    return Err(param.invalid(&format!("is {}", shortened(value))));
                }
                Some(_) => {}
            }
        }
        match tool.params.iter().find(|param| param.required && !values.contains_key(param.name)) {
            Some(param) => Err(param.invalid("is missing")),
            None => Ok(Self { params: tool.params, values }),
        }
    }

    /// A string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let given = self.values.get(name).and_then(Value::as_str);
        let default = match self.kind(name) {
            Kind::Choice(_, default) => default,
            _ => None,
        };
        given.or(default).map(str::to_owned)
    }

    /// A string that is required, or empty.
    pub(crate) fn words(&self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// A flag.
    pub(crate) fn flag(&self, name: &str) -> bool {
        let default = matches!(self.kind(name), Kind::Flag(true));
        self.values.get(name).and_then(Value::as_bool).unwrap_or(default)
    }

    /// A number.
    pub(crate) fn count(&self, name: &str) -> i64 {
        let default = match self.kind(name) {
            Kind::Count(default) => default.unwrap_or_default(),
            _ => 0,
        };
        self.values.get(name).and_then(whole).unwrap_or(default)
    }

    /// A number with a fraction.
    pub(crate) fn share(&self, name: &str) -> f64 {
        let default = match self.kind(name) {
            Kind::Share(default) => default,
            _ => 0.0,
        };
        self.values.get(name).and_then(Value::as_f64).unwrap_or(default)
    }

    /// An object.
    pub(crate) fn object(&self, name: &str) -> Map<String, Value> {
        self.values.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// A list of strings; empty when it was left out.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let items = self.values.get(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Whether the tool takes such an argument at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.params.iter().any(|param| param.name == name)
    }

    fn kind(&self, name: &str) -> Kind {
        let param = self.params.iter().find(|param| param.name == name);
        debug_assert!(param.is_some(), "no parameter {name}");
        param.map_or(Kind::Text, |param| param.kind)
    }
}

fn unknown(tool: &Tool, name: &str) -> AppError {
    let known: Vec<&str> = tool.params.iter().map(|param| param.name).collect();
    AppError::new(
        Code::InvalidInput,
        format!("`{name}` is no parameter of {}. It takes: {}.", tool.name, known.join(", ")),
    )
    .data(json!({ "parameter": name, "allowed": known }))
}

fn shortened(value: &Value) -> String {
    super::shape::cut(&value.to_string(), 60)
}

/// Pieces of output schemas.
pub(crate) mod schema {
    use serde_json::{Map, Value, json};

    /// A string.
    pub(crate) fn text() -> Value {
        json!({ "type": "string" })
    }

    /// A string or null.
    pub(crate) fn text_or_null() -> Value {
        json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })
    }

    /// A whole number.
    pub(crate) fn count() -> Value {
        json!({ "type": "integer" })
    }

    /// A whole number or null.
    pub(crate) fn count_or_null() -> Value {
        json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] })
    }

    /// A number.
    pub(crate) fn number() -> Value {
        json!({ "type": "number" })
    }

    /// True or false.
    pub(crate) fn flag() -> Value {
        json!({ "type": "boolean" })
    }

    /// An object about which no more is said.
    pub(crate) fn any_object() -> Value {
        json!({ "type": "object" })
    }

    /// Calls worth making next.
    pub(crate) fn suggestions() -> Value {
        list(object(&["tool", "reason"], &[], &[("params", any_object())]))
    }

    /// An object or null.
    pub(crate) fn object_or_null() -> Value {
        json!({ "anyOf": [{ "type": "object" }, { "type": "null" }] })
    }

    /// A list.
    pub(crate) fn list(items: Value) -> Value {
        json!({ "type": "array", "items": items })
    }

    /// An object; its strings and whole numbers are given by name.
    pub(crate) fn object(texts: &[&str], counts: &[&str], more: &[(&str, Value)]) -> Value {
        let mut properties: Map<String, Value> = Map::new();
        properties.extend(texts.iter().map(|name| ((*name).to_owned(), text())));
        properties.extend(counts.iter().map(|name| ((*name).to_owned(), count())));
        properties.extend(more.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())));
        json!({ "type": "object", "properties": properties })
    }

    /// One of these words.
    pub(crate) fn one_of(words: &[&str]) -> Value {
        json!({ "enum": words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::TOOLS;

    fn check(tool: &str, arguments: Value) -> Result<Arguments, AppError> {
        let tool = TOOLS.iter().find(|known| known.name == tool).expect("there is such a tool");
        Arguments::check(tool, arguments.as_object().cloned().expect("an object"))
    }

    #[test]
    fn wrong_arguments_name_the_parameter_and_what_is_allowed() {
        let table = [
            (json!({}), "query", "a string"),
            (json!({ "query": 3 }), "query", "a string"),
            (json!({ "query": "x", "limit": "ten" }), "limit", "a whole number"),
            (json!({ "query": "x", "limit": 1.5 }), "limit", "a whole number"),
            (json!({ "query": "x", "compact": "yes" }), "compact", "true or false"),
            (json!({ "query": "x", "detail_level": "all" }), "detail_level", "location, signature, context"),
            (json!({ "query": "x", "colour": 1 }), "colour", "query"),
        ];
        for (arguments, parameter, allowed) in table {
            let error = check("search_code", arguments.clone()).expect_err("it is wrong");
            assert_eq!(error.code, Code::InvalidInput);
            assert!(error.message.contains(&format!("`{parameter}`")), "{}", error.message);
            assert!(error.message.contains(allowed), "{}", error.message);
            assert_eq!(error.more.data["parameter"], parameter);
        }
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        let arguments = check("search_code", json!({ "query": "x", "ref": null, "limit": 7.0 })).expect("valid");
        assert_eq!(arguments.count("limit"), 7);
        for (asked, expected) in [(json!(u64::MAX), i64::MAX), (json!(-1e30), i64::MIN)] {
            let arguments = check("search_code", json!({ "query": "x", "limit": asked })).expect("valid");
            assert_eq!(arguments.count("limit"), expected);
        }
        assert_eq!(arguments.text("ref"), None);
        let arguments = check("search_code", json!({ "query": "x" })).expect("valid");
        assert_eq!((arguments.count("limit"), arguments.flag("compact")), (10, false));
        assert_eq!(arguments.text("detail_level").as_deref(), Some("signature"));
    }

    #[test]
    fn every_tool_takes_a_workspace_and_nothing_unknown() {
        for tool in TOOLS {
            assert!(tool.params.iter().any(|param| param.name == "workspace"), "{}", tool.name);
            assert_eq!(tool.input_schema()["additionalProperties"], json!(false));
            let output = tool.output_schema();
            for name in tool.always {
                assert!(output["properties"].get(name).is_some(), "{}: {name} has no schema", tool.name);
            }
        }
    }
}
