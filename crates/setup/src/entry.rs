//! Our entry in a client's file: its content, and its syntax in the file.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::clients::{ConfigFile, ENTRY_NAME, EntryFormat, Field, ListElement, Listing, Syntax};
use super::{jsonc, toml_list, toml_text, yaml_text};
use codecompass_workspace::config::AnswerFormat;
use codecompass_workspace::data_location;
use codecompass_workspace::launch::ServerCommand;

/// The parts of an entry that do not depend on the file.
pub struct EntryOptions<'a> {
    /// The path of this program.
    pub program: &'a Path,
    pub data: &'a Path,
    pub answers: AnswerFormat,
    pub tools: Option<&'a str>,
    /// Whether clients may run our tools without asking.
    pub trust: bool,
}

impl EntryOptions<'_> {
    /// The entry for a file of a client.
    pub(super) fn entry_for_file(&self, spot: &ConfigFile) -> Value {
        self.build_entry(spot.shape, spot.is_committed, spot.folder)
    }

    /// The entry to add manually.
    pub(super) fn manual_entry(&self, shape: &EntryFormat) -> Value {
        self.build_entry(shape, false, None)
    }

    fn build_entry(&self, shape: &EntryFormat, travels: bool, folder: Option<&str>) -> Value {
        let program = if travels { ENTRY_NAME.to_owned() } else { self.program.display().to_string() };
        let answers = self.answers.as_str();
        let mut arguments = vec!["serve-mcp", "--auto-index", "--answers", answers];
        arguments.extend(self.tools.into_iter().flat_map(|tools| ["--tools", tools]));
        arguments.extend(folder.into_iter().flat_map(|folder| ["--workspace", folder]));
        let data = json!({ data_location::VARIABLE: self.data.display().to_string() });
        let mut entry = Map::new();
        for field in shape.fields {
            let (name, value) = match *field {
                Field::Word(name, word) => (name, json!(word)),
                Field::Flag(name, flag) => (name, json!(flag)),
                Field::Number(name, number) => (name, json!(number)),
                Field::Command(name) => (name, json!(program)),
                Field::Arguments(name) => (name, json!(arguments)),
                Field::CommandLine(name) => {
                    let line: Vec<&str> = std::iter::once(program.as_str()).chain(arguments.iter().copied()).collect();
                    (name, json!(line))
                }
                Field::Variables(_) if travels => continue,
                Field::Variables(name) => (name, data.clone()),
                // A shared file must not decide this for others.
                Field::Trust(_) if travels || !self.trust => continue,
                Field::Trust(name) => (name, json!(true)),
                Field::Passed(..) if !travels => continue,
                Field::Passed(name, variables) => (name, json!(variables)),
            };
            entry.insert(name.to_owned(), value);
        }
        Value::Object(entry)
    }
}

/// Parses an entry, ours or another's; `None` if it starts no program.
pub fn parse_entry(shape: &EntryFormat, entry: &Value) -> Option<ServerCommand> {
    let (mut program, mut arguments, mut variables, mut passed) = (None, Vec::new(), Vec::new(), Vec::new());
    let words = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
    };
    for field in shape.fields {
        match *field {
            Field::Command(name) => program = entry.get(name).and_then(Value::as_str).map(str::to_owned),
            Field::Arguments(name) => arguments = entry.get(name).and_then(words).unwrap_or_default(),
            Field::CommandLine(name) => {
                let mut all = entry.get(name).and_then(words)?.into_iter();
                program = all.next();
                arguments = all.collect();
            }
            Field::Variables(name) => {
                let pairs = entry.get(name).and_then(Value::as_object).into_iter().flatten();
                variables =
                    pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
            }
            Field::Passed(name, _) => passed = entry.get(name).and_then(words).unwrap_or_default(),
            Field::Word(..) | Field::Flag(..) | Field::Number(..) | Field::Trust(_) => {}
        }
    }
    Some(ServerCommand { program: program?, arguments, variables, passed })
}

/// A file with only our entry, and with these settings.
pub(super) fn standalone_file(shape: &EntryFormat, entry: &Value, lists: &[ListElement]) -> String {
    match shape.syntax {
        Syntax::Json => {
            let mut whole = json!({ ENTRY_NAME: entry });
            for key in shape.servers.iter().rev() {
                whole = json!({ *key: whole });
            }
            jsonc::pretty(&whole, "", "  ", "\n") + "\n"
        }
        Syntax::Toml => {
            let table = match shape.listing {
                Listing::Keyed => toml_text::table(&entry_path(shape), entry, "\n"),
                Listing::Named(_) => toml_text::item(shape.servers, entry, "\n"),
            };
            lists.iter().fold(table, |text, list| text + "\n" + &toml_list::standalone(list, "\n"))
        }
        Syntax::Yaml => yaml_text::standalone(yaml_key(shape), shape.listing, entry),
    }
}

/// The only key around entries in YAML.
pub(super) fn yaml_key(shape: &EntryFormat) -> &'static str {
    shape.servers.first().copied().unwrap_or_default()
}

/// The keys that lead to our entry.
pub(super) fn entry_path(shape: &EntryFormat) -> Vec<&'static str> {
    shape.servers.iter().copied().chain([ENTRY_NAME]).collect()
}
