//! The spec of a tool: the source of `tools/list`, the reference page and the argument check.
//!
//! A tool is one file with a `TOOL` and one line in [`TOOLS`](crate::TOOLS). Its parameters are a table; the input
//! schema, [`Arguments`] and the options of the tool's command (in `app`) are derived from it, so the documented
//! and the checked parameters cannot diverge.

use codecompass_wire::{Allowed, ErrorData};
use serde_json::{Map, Value};

use super::bounds;
use super::host::Host;
use crate::call::Call;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::output::{Answer, OutputFormat};

/// The definition of a tool.
pub struct ToolSpec {
    pub name: &'static str,
    pub title: &'static str,
    /// For an agent that chooses a tool: what it answers, and when to use it.
    pub description: &'static str,
    pub params: &'static [Param],
    /// The JSON schema of an answer.
    pub output: fn() -> Map<String, Value>,
    pub effect: Effect,
    /// One of the few tools that an agent needs first.
    pub first: bool,
    pub call: ToolCall,
}

/// A function that answers a call.
pub type ToolFn = fn(&mut Call<'_>) -> Result<Answer, AppError>;

/// How a tool is called.
#[derive(Clone, Copy)]
pub enum ToolCall {
    /// By a server or by a command.
    Anywhere(ToolFn),
    /// By a server only.
    OnServer(fn(&mut Call<'_>, &dyn Host) -> Result<Answer, AppError>),
}

/// What a call changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// The index, never the user's files; idempotent.
    Indexes,
    /// The default ref of later calls of this connection.
    Switches,
}

/// A parameter.
#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub kind: ParamKind,
    pub required: bool,
    pub about: &'static str,
    /// The error code for an invalid value.
    pub code: Code,
    /// Whether clients, the command line or both may set it.
    pub side: ParamSide,
    /// Whether it affects text answers; otherwise it is left out of the schema there, but still accepted.
    pub(crate) in_text: bool,
    /// The same for JSON answers.
    pub(crate) in_json: bool,
    /// A shorter description in the schema for text answers.
    pub(crate) brief: Option<&'static str>,
    /// How the command line spells it.
    pub flag: Flag,
    /// The maximum length of a string or of each string of a list, in bytes.
    pub max_bytes: usize,
}

/// Whether clients, the command line or both may set a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamSide {
    Both,
    /// Clients of the server.
    Wire,
    /// The command line.
    Command,
}

/// How the command line spells a parameter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flag {
    /// Replaces the parameter's name.
    pub long: Option<&'static str>,
    pub short: Option<char>,
    pub alias: Option<&'static str>,
    /// It is a positional argument.
    pub is_positional: bool,
    /// The placeholder of its value in the help.
    pub value: Option<&'static str>,
    /// Replaces the description of the schema.
    pub about: Option<&'static str>,
    /// The value of an option without one; an explicit value then follows `=`.
    pub value_when_bare: Option<&'static str>,
    /// The parameter that it conflicts with.
    pub conflicts_with: Option<&'static str>,
    /// Required on the wire only.
    pub is_optional: bool,
}

/// The type of a parameter, with its default where it has one.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
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
pub const fn required(name: &'static str, kind: ParamKind, about: &'static str) -> Param {
    param(name, kind, true, about)
}

/// A parameter that may be left out.
pub const fn optional(name: &'static str, kind: ParamKind, about: &'static str) -> Param {
    param(name, kind, false, about)
}

const fn param(name: &'static str, kind: ParamKind, required: bool, about: &'static str) -> Param {
    let flag = Flag {
        long: None,
        short: None,
        alias: None,
        is_positional: false,
        value: None,
        about: None,
        value_when_bare: None,
        conflicts_with: None,
        is_optional: false,
    };
    Param {
        name,
        kind,
        required,
        about,
        code: Code::InvalidInput,
        side: ParamSide::Both,
        in_text: true,
        in_json: true,
        brief: None,
        flag,
        max_bytes: bounds::MAX_TEXT,
    }
}

/// The ref of an answer; most tools have it.
pub const REF: Param = optional("ref", ParamKind::Text, "Branch, tag or commit. Default: what is checked out")
    .brief("Branch, tag or commit");

/// Answers from the published index; commands have it.
pub(crate) const NO_SYNC: Param =
    optional("no_sync", ParamKind::Flag(false), "Answer from the published index, without syncing first")
        .cli_only()
        .flag("no-sync");

/// Removes the limit; commands have it.
pub const ALL: Param = optional("all", ParamKind::Flag(false), "No limit").cli_only().conflicts_with("limit");

/// The file of a symbol if its name is ambiguous; most tools about a symbol have it.
pub const FILE: Param = optional("path", ParamKind::Text, "File of the definition, if the name is ambiguous")
    .brief("Its file, if the name is ambiguous")
    .flag("in")
    .value("FILE");

/// The repository of the call; every tool has it.
pub const WORKSPACE: Param =
    optional("workspace", ParamKind::Text, "Repository path. Default: the server's").server_only().brief("");

impl ToolSpec {
    /// The parameters that clients may set and that affect answers of this format.
    fn offered(&self, form: OutputFormat) -> impl Iterator<Item = &'static Param> {
        let is_offered = move |param: &&Param| {
            let affects = if form == OutputFormat::Json { param.in_json } else { param.in_text };
            param.is_for(ParamSide::Wire) && affects
        };
        self.params.iter().filter(is_offered)
    }

    /// The schema of the arguments.
    pub fn input_schema(&self, form: OutputFormat) -> Map<String, Value> {
        let properties: Map<String, Value> =
            self.offered(form).map(|param| (param.name.to_owned(), param.schema(form))).collect();
        let required: Vec<&str> = self.offered(form).filter(|param| param.required).map(|param| param.name).collect();
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        if form == OutputFormat::Json {
            schema.insert("additionalProperties".into(), false.into());
        }
        schema
    }

    /// The schema of an answer.
    pub fn output_schema(&self) -> Map<String, Value> {
        (self.output)()
    }
}

impl Param {
    /// Sets the error code for an invalid value.
    pub(crate) const fn with_error_code(self, code: Code) -> Self {
        Param { code, ..self }
    }

    /// Sets the maximum length.
    pub const fn max_bytes(self, max_bytes: usize) -> Self {
        Param { max_bytes, ..self }
    }

    /// Makes it available to clients of the server only.
    pub(crate) const fn server_only(self) -> Self {
        Param { side: ParamSide::Wire, ..self }
    }

    /// Makes it available to the command line only.
    pub(crate) const fn cli_only(self) -> Self {
        Param { side: ParamSide::Command, ..self }
    }

    /// Marks it as without effect in text answers.
    pub(crate) const fn json_only(self) -> Self {
        Param { in_text: false, ..self }
    }

    /// Marks it as without effect in JSON answers.
    pub(crate) const fn text_only(self) -> Self {
        Param { in_json: false, ..self }
    }

    /// Sets a shorter description for text answers.
    pub(crate) const fn brief(self, about: &'static str) -> Self {
        Param { brief: Some(about), ..self }
    }

    /// Makes it a positional argument of the command line, with this name in the help.
    pub const fn positional(self, value: &'static str) -> Self {
        Param { flag: Flag { is_positional: true, value: Some(value), ..self.flag }, ..self }
    }

    /// The same, and it is optional there.
    pub(crate) const fn optional_positional(self, value: &'static str) -> Self {
        Param { flag: Flag { is_positional: true, value: Some(value), is_optional: true, ..self.flag }, ..self }
    }

    /// Sets its option name on the command line.
    pub const fn flag(self, long: &'static str) -> Self {
        Param { flag: Flag { long: Some(long), ..self.flag }, ..self }
    }

    /// Sets its short option.
    pub const fn short(self, short: char) -> Self {
        Param { flag: Flag { short: Some(short), ..self.flag }, ..self }
    }

    /// Sets a further option name.
    pub const fn alias(self, alias: &'static str) -> Self {
        Param { flag: Flag { alias: Some(alias), ..self.flag }, ..self }
    }

    /// Sets the placeholder of its value in the help.
    pub const fn value(self, value: &'static str) -> Self {
        Param { flag: Flag { value: Some(value), ..self.flag }, ..self }
    }

    /// Sets the description in the help, if that of the schema does not fit.
    pub const fn help(self, about: &'static str) -> Self {
        Param { flag: Flag { about: Some(about), ..self.flag }, ..self }
    }

    /// Sets its value on the command line if none is given.
    pub const fn value_when_bare(self, word: &'static str) -> Self {
        Param { flag: Flag { value_when_bare: Some(word), ..self.flag }, ..self }
    }

    /// Declares a conflict with another parameter.
    pub const fn conflicts_with(self, other: &'static str) -> Self {
        Param { flag: Flag { conflicts_with: Some(other), ..self.flag }, ..self }
    }

    /// Whether it may be set on this side.
    pub fn is_for(&self, side: ParamSide) -> bool {
        self.side == ParamSide::Both || self.side == side
    }

    /// Whether it is required on this side.
    fn is_required(&self, side: ParamSide) -> bool {
        self.required && self.is_for(side) && !(side == ParamSide::Command && self.flag.is_optional)
    }

    fn schema(&self, form: OutputFormat) -> Value {
        let is_brief = form != OutputFormat::Json;
        let about = if is_brief { self.brief.unwrap_or(self.about) } else { self.about };
        let (type_name, default) = match self.kind {
            ParamKind::Text => ("string", None),
            ParamKind::Flag(default) => ("boolean", Some(default.into()).filter(|_| default || !is_brief)),
            ParamKind::Count(default) => ("integer", default.map(Value::from)),
            ParamKind::Share(default) => ("number", Some(default.into())),
            ParamKind::Choice(_, default) => ("string", default.map(Value::from)),
            ParamKind::Object => ("object", None),
            ParamKind::List => ("array", None),
        };
        let mut schema = Map::from_iter([("type".to_owned(), Value::from(type_name))]);
        if let ParamKind::Choice(words, _) = self.kind {
            schema.insert("enum".into(), words.into());
        }
        if let ParamKind::List = self.kind {
            schema.insert("items".into(), Map::from_iter([("type".to_owned(), Value::from("string"))]).into());
        }
        schema.extend(default.map(|default| ("default".to_owned(), default)));
        if !about.is_empty() {
            schema.insert("description".into(), about.into());
        }
        schema.into()
    }

    fn accepts(&self, value: &Value) -> bool {
        match self.kind {
            ParamKind::Text => value.is_string(),
            ParamKind::Choice(words, _) => value.as_str().is_some_and(|word| words.contains(&word)),
            ParamKind::Flag(_) => value.is_boolean(),
            ParamKind::Count(_) => as_integer(value).is_some(),
            ParamKind::Share(_) => value.is_number(),
            ParamKind::Object => value.is_object(),
            ParamKind::List => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        }
    }

    /// The allowed values, in words.
    fn expected(&self) -> String {
        match self.kind {
            ParamKind::Text => "a string".into(),
            ParamKind::Flag(_) => "true or false".into(),
            ParamKind::Count(_) => "a whole number".into(),
            ParamKind::Share(_) => "a number".into(),
            ParamKind::Choice(words, _) => format!("one of {}", words.join(", ")),
            ParamKind::Object => "an object".into(),
            ParamKind::List => "a list of strings".into(),
        }
    }

    fn invalid(&self, problem: &str) -> AppError {
        let allowed = match self.kind {
            ParamKind::Choice(words, _) => Allowed::List(words.iter().map(|word| (*word).to_owned()).collect()),
            _ => Allowed::Text(self.expected()),
        };
        AppError::new(self.code, format!("`{}` {problem}: it must be {}.", self.name, self.expected()))
            .data(ErrorData::not_allowed(self.name, allowed))
    }
}

/// A whole number, also if a client wrote it with a zero fraction; a number that is too large is the maximum.
fn as_integer(value: &Value) -> Option<i64> {
    let from_float = |number: f64| (number.fract() == 0.0).then_some(number as i64);
    value.as_i64().or_else(|| value.as_f64().and_then(from_float))
}

/// Arguments that match the table of their tool. An absent argument equals `null`.
#[derive(Clone, Debug)]
pub struct Arguments {
    params: &'static [Param],
    values: Map<String, Value>,
}

impl Arguments {
    /// Checks the arguments of a client that gets answers of this format. Errors name the parameters that it is offered.
    pub fn check(tool: &ToolSpec, form: OutputFormat, values: Map<String, Value>) -> Result<Self, AppError> {
        Self::check_on(ParamSide::Wire, form, tool, values)
    }

    /// Checks the arguments of a command.
    pub fn check_command(tool: &ToolSpec, values: Map<String, Value>) -> Result<Self, AppError> {
        Self::check_on(ParamSide::Command, OutputFormat::Json, tool, values)
    }

    fn check_on(
        side: ParamSide,
        form: OutputFormat,
        tool: &ToolSpec,
        mut values: Map<String, Value>,
    ) -> Result<Self, AppError> {
        values.retain(|_, value| !value.is_null());
        for (name, value) in &values {
            match tool.params.iter().find(|param| param.name == name && param.is_for(side)) {
                None => return Err(unknown_argument(tool, form, name)),
                Some(param) if !param.accepts(value) => {
                    return Err(param.invalid(&format!("is {}", short_value(value))));
                }
                Some(param) => bounds::check(param, value, side)?,
            }
        }
        match tool.params.iter().find(|param| param.is_required(side) && !values.contains_key(param.name)) {
            Some(param) => Err(param.invalid("is missing")),
            None => Ok(Self { params: tool.params, values }),
        }
    }

    /// A string.
    pub fn text(&self, name: &str) -> Option<String> {
        let given = self.values.get(name).and_then(Value::as_str);
        let default = match self.kind(name) {
            ParamKind::Choice(_, default) => default,
            _ => None,
        };
        given.or(default).map(str::to_owned)
    }

    /// A string, also for a parameter that only some tools have.
    pub fn text_if_known(&self, name: &str) -> Option<String> {
        self.has(name).then(|| self.text(name)).flatten()
    }

    /// A required string; empty if missing.
    pub(crate) fn required_text(&self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// A flag.
    pub fn flag(&self, name: &str) -> bool {
        let default = matches!(self.kind(name), ParamKind::Flag(true));
        self.values.get(name).and_then(Value::as_bool).unwrap_or(default)
    }

    /// A number.
    pub fn count(&self, name: &str) -> i64 {
        let default = match self.kind(name) {
            ParamKind::Count(default) => default.unwrap_or_default(),
            _ => 0,
        };
        self.values.get(name).and_then(as_integer).unwrap_or(default)
    }

    /// A fractional number.
    pub fn share(&self, name: &str) -> f64 {
        let default = match self.kind(name) {
            ParamKind::Share(default) => default,
            _ => 0.0,
        };
        self.values.get(name).and_then(Value::as_f64).unwrap_or(default)
    }

    /// The requested number of items, and a warning if it was clamped.
    pub fn limit(&self) -> (usize, Vec<String>) {
        match self.is_given("all") {
            true => (usize::MAX, Vec::new()),
            false => super::input::limit(self.count("limit")),
        }
    }

    /// All given values.
    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.values()
    }

    /// An object.
    pub fn object(&self, name: &str) -> Map<String, Value> {
        self.values.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// Whether it was given.
    pub fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// A list of strings; empty if missing.
    pub fn list(&self, name: &str) -> Vec<String> {
        let items = self.values.get(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Whether the tool has this parameter.
    pub fn has(&self, name: &str) -> bool {
        self.params.iter().any(|param| param.name == name)
    }

    fn kind(&self, name: &str) -> ParamKind {
        let param = self.params.iter().find(|param| param.name == name);
        debug_assert!(param.is_some(), "no parameter {name}");
        param.map_or(ParamKind::Text, |param| param.kind)
    }
}

fn unknown_argument(tool: &ToolSpec, form: OutputFormat, name: &str) -> AppError {
    let name = codecompass_workspace::escape::truncate_to(name, 60);
    let known: Vec<&str> = tool.offered(form).map(|param| param.name).collect();
    AppError::new(
        Code::InvalidInput,
        format!("`{name}` is no parameter of {}. It takes: {}.", tool.name, known.join(", ")),
    )
    .data(ErrorData::not_allowed(name, Allowed::List(known.into_iter().map(str::to_owned).collect())))
}

fn short_value(value: &Value) -> String {
    codecompass_workspace::escape::truncate_to(&value.to_string(), 60)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::TOOLS;

    fn check(tool: &str, arguments: Value) -> Result<Arguments, AppError> {
        let tool = TOOLS.iter().find(|known| known.name == tool).expect("there is such a tool");
        Arguments::check(tool, OutputFormat::Json, arguments.as_object().cloned().expect("an object"))
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
            let ErrorData::Argument(wrong) = &error.details.data else { panic!("{error:?}") };
            assert_eq!(wrong.parameter, parameter);
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

    /// Whether a schema demands everything that another demands. The order of names has no meaning.
    fn implies(strict: &Value, loose: &Value) -> bool {
        match (strict, loose) {
            (Value::Object(strict), Value::Object(loose)) => {
                loose.iter().all(|(name, loose)| strict.get(name).is_some_and(|strict| implies(strict, loose)))
            }
            (Value::Array(strict), Value::Array(loose)) => {
                strict.len() == loose.len()
                    && loose.iter().all(|loose| strict.iter().any(|strict| implies(strict, loose)))
            }
            (strict, loose) => strict == loose,
        }
    }

    /// The file has the schemas as they were when they were written by hand.
    #[test]
    fn output_schemas_demand_what_they_always_did() {
        let before: Map<String, Value> =
            serde_json::from_str(include_str!("../../tests/output_schemas.json")).expect("the file is valid");
        assert_eq!(before.len(), TOOLS.len());
        for tool in TOOLS {
            let now = Value::Object(tool.output_schema());
            assert!(implies(&now, &before[tool.name]), "{}: {now:#}\n{:#}", tool.name, before[tool.name]);
            assert!(!implies(&json!({ "type": "object" }), &before[tool.name]), "the test can fail");
        }
    }

    #[test]
    fn every_tool_takes_a_workspace_and_nothing_unknown() {
        for tool in TOOLS {
            assert!(tool.params.iter().any(|param| param.name == "workspace"), "{}", tool.name);
            assert_eq!(tool.input_schema(OutputFormat::Json)["additionalProperties"], json!(false));
            let output = tool.output_schema();
            for name in output["required"].as_array().expect("a list") {
                let name = name.as_str().expect("a name");
                assert!(output["properties"].get(name).is_some(), "{}: {name} has no schema", tool.name);
            }
        }
    }
}
