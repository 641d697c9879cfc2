//! The content that we add to a file: an entry among others, a block of text, or a file of our own.
//!
//! Nothing here reads or writes files. An edit of an entry is returned only after parsing the text before and after it
//! has shown that nothing but our entry changes.

use serde_json::{Map, Value};

use super::clients::ENTRY_NAME;
use super::clients::{EntryFormat, ListElement, Listing, Syntax};
use super::edit::{Edit, apply};
use super::entry;
use super::{block, jsonc, toml_list, toml_text, yaml_text};

/// The content to install or remove.
pub(super) enum Content {
    /// An entry, and settings beside it.
    Entry {
        shape: &'static EntryFormat,
        value: Value,
        lists: &'static [ListElement],
    },
    Block,
    Skill,
}

/// Why a text cannot be edited; the text stays unchanged.
pub(super) type EditError = String;

const SKILL: &str = "\
---
name: codecompass
description: Find code, definitions, references, callers and what a branch changes in this repository, as exact path:line \
answers. Use before grep or before reading files to find your way.
---

The MCP server `codecompass` has this repository indexed, uncommitted edits included.

- Words, a name, a path, an error message: `search_code`. Exact text or a regular expression: `grep_code`.
- The text of symbols, of `path:line` or of a file: `read_code`, several at once. What is in a file: `get_file_outline`.
- Who refers to a symbol: `find_references`. Who calls it, or whom it calls: `get_call_graph`.
- What a branch, a commit or your edits change, by symbol: `diff_context`.

`path:line` works wherever a name does, and `ref` asks about any branch, tag or commit. Without the server, the same
questions are commands: `codecompass search`, `grep`, `read`, `references`, `callers`, `outline`, `diff`.
";

impl Content {
    /// A file with only this content.
    pub(super) fn standalone_file(&self) -> String {
        match self {
            Content::Entry { shape, value, lists } => entry::standalone_file(shape, value, lists),
            Content::Block => block::block("\n"),
            Content::Skill => SKILL.to_owned(),
        }
    }

    /// Whether the text already has exactly this content.
    pub(super) fn is_present(&self, text: &str) -> Result<bool, EditError> {
        Ok(match self {
            Content::Entry { shape, value, .. } => {
                find_entry(shape, text)?.as_ref() == Some(value) && self.insert(text)?.is_empty()
            }
            Content::Block => {
                let there = block::find(text)?;
                there.is_some_and(|range| text[range].lines().eq(block::block("\n").lines()))
            }
            Content::Skill => text == SKILL,
        })
    }

    /// Whether the content under our name looks like ours, if there is no record of it.
    pub(super) fn is_ours(&self, text: &str) -> Result<bool, EditError> {
        Ok(match self {
            Content::Entry { shape, .. } => find_entry(shape, text)?
                .and_then(|value| entry::parse_entry(shape, &value))
                .is_some_and(|line| line.arguments.iter().any(|word| word == "serve-mcp")),
            Content::Block => block::find(text)?.is_some(),
            Content::Skill => text == SKILL,
        })
    }

    /// The edits that insert it, or replace the content under our name. Settings beside the entry are left out if the
    /// file has something else in their place.
    pub(super) fn insert(&self, text: &str) -> Result<Vec<Edit>, EditError> {
        match self {
            Content::Entry { shape, value, lists } => {
                let entry = match find_entry(shape, text)? {
                    Some(there) if there == *value => Vec::new(),
                    _ => insert_entry(shape, value, text)?,
                };
                let is_at_end = entry.iter().any(|edit| edit.at == text.len());
                let settings = lists.iter().filter_map(|list| toml_list::insert(text, list, is_at_end)).flatten();
                let all = ordered(entry.iter().cloned().chain(settings));
                let outcome = verify_edits(shape, text, Some(value), all);
                outcome.or_else(|_| verify_edits(shape, text, Some(value), entry))
            }
            Content::Block => block::insert(text),
            Content::Skill => Err("another file has this name".into()),
        }
    }

    /// The edits that remove it or restore what it replaced; `None` if it is not there. Of the keys around the entry,
    /// that many were created by us, and are removed if nothing else is in them.
    pub(super) fn remove(
        &self,
        text: &str,
        before: Option<&str>,
        containers: usize,
    ) -> Result<Option<Vec<Edit>>, EditError> {
        match self {
            Content::Entry { shape, .. } => {
                let settings: Vec<Edit> = shape.lists.iter().flat_map(|list| toml_list::remove(text, list)).collect();
                let is_there = find_entry(shape, text)?.is_some();
                let entry = match before {
                    _ if !is_there && settings.is_empty() => return Ok(None),
                    _ if !is_there => Vec::new(),
                    Some(before) => restore_entry(shape, text, before)?,
                    None => remove_entry(shape, text, containers)?,
                };
                let edits = ordered(entry.into_iter().chain(settings));
                let after = apply(text, &edits).ok_or("the record of our change does not match the file")?;
                let left = find_entry(shape, &after)?;
                verify_edits(shape, text, left.as_ref().filter(|_| before.is_some()), edits).map(Some)
            }
            Content::Block => block::remove(text),
            Content::Skill if text == SKILL => Ok(Some(vec![Edit::remove(text, 0..text.len())])),
            Content::Skill => Err("it was edited since setup".into()),
        }
    }

    /// The number of keys around the entry that the text does not have yet.
    pub(super) fn missing_containers(&self, text: Option<&str>) -> usize {
        let Content::Entry { shape, .. } = self else { return 0 };
        let value = text.and_then(|text| meaning(shape, text).ok()).unwrap_or_default();
        let mut at = Some(&value);
        let there = shape.servers.iter().take_while(|key| {
            at = at.and_then(|value| value.get(*key));
            at.is_some()
        });
        shape.servers.len() - there.count()
    }

    /// Whether a file with this text has no content at all.
    pub(super) fn is_empty_file(&self, text: &str) -> bool {
        match self {
            Content::Entry { shape, .. } => {
                meaning(shape, text).is_ok_and(|value| value.is_null() || value.as_object().is_some_and(Map::is_empty))
                    && text.trim_matches(|char: char| char.is_whitespace() || "{}".contains(char)).is_empty()
            }
            Content::Block | Content::Skill => text.trim().is_empty(),
        }
    }

    /// A note about a setting that the text does not have, and that cannot be inserted.
    pub(super) fn unmet(&self, text: &str) -> Option<String> {
        let Content::Entry { lists, .. } = self else { return None };
        let list = lists.iter().find(|list| !toml_list::contains(text, list))?;
        let reason = "the file has another setting in its place, which setup does not change";
        Some(format!("{}, but {reason}. To add it, {}.", list.purpose, list.by_hand))
    }
}

/// Edits in the order of the text.
fn ordered(edits: impl Iterator<Item = Edit>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = edits.collect();
    edits.sort_by_key(|edit| edit.at);
    edits
}

/// The entry under our name.
pub(super) fn find_entry(shape: &EntryFormat, text: &str) -> Result<Option<Value>, EditError> {
    match shape.syntax {
        Syntax::Json => {
            let root = jsonc::parse(text).map_err(unreadable_error)?;
            let Some(servers) = jsonc::find(&root, shape.servers)? else { return Ok(None) };
            Ok(jsonc::member(servers, ENTRY_NAME)?.map(|member| member.value.value()))
        }
        _ => Ok(locate(shape, &meaning(shape, text)?).cloned()),
    }
}

/// Our entry in the value of a file.
fn locate<'v>(shape: &EntryFormat, value: &'v Value) -> Option<&'v Value> {
    let servers = shape.servers.iter().try_fold(value, |at, key| at.get(*key))?;
    match shape.listing {
        Listing::Keyed => servers.get(ENTRY_NAME),
        Listing::Named(field) => servers.as_array()?.iter().find(|item| is_named(item, field)),
    }
}

fn is_named(item: &Value, field: &str) -> bool {
    item.get(field).and_then(Value::as_str) == Some(ENTRY_NAME)
}

/// The value of a whole file.
fn meaning(shape: &EntryFormat, text: &str) -> Result<Value, EditError> {
    let value = match shape.syntax {
        Syntax::Json => jsonc::parse(text).map(|root| root.value()),
        Syntax::Toml => toml_text::parse(text).map(|table| toml_to_json(&table)),
        Syntax::Yaml => yaml_text::parse(text),
    };
    value.map_err(unreadable_error)
}

fn unreadable_error(what: String) -> EditError {
    format!("it cannot be read: {what}")
}

/// TOML values as JSON values, for comparison; dates become text.
pub(super) fn toml_to_json(table: &toml::Table) -> Value {
    fn value(from: &toml::Value) -> Value {
        match from {
            toml::Value::String(text) => Value::from(text.as_str()),
            toml::Value::Integer(number) => Value::from(*number),
            toml::Value::Float(number) => Value::from(*number),
            toml::Value::Boolean(flag) => Value::from(*flag),
            toml::Value::Datetime(date) => Value::from(date.to_string()),
            toml::Value::Array(items) => items.iter().map(value).collect(),
            toml::Value::Table(table) => toml_to_json(table),
        }
    }
    Value::Object(table.iter().map(|(key, inner)| (key.clone(), value(inner))).collect())
}

/// Returns the edits if they change only our entry and settings: afterwards the entry is `wanted`, or gone.
fn verify_edits(
    shape: &EntryFormat,
    text: &str,
    wanted: Option<&Value>,
    edits: Vec<Edit>,
) -> Result<Vec<Edit>, EditError> {
    let before = meaning(shape, text)?;
    let after = apply(text, &edits).and_then(|text| meaning(shape, &text).ok());
    match after {
        Some(after)
            if locate(shape, &after) == wanted && without_ours(shape, after.clone()) == without_ours(shape, before) =>
        {
            Ok(edits)
        }
        _ => Err("its format cannot be edited safely; add the entry that --print shows".into()),
    }
}

/// The value of a file without our entry and settings, and without containers that are empty because of that.
fn without_ours(shape: &EntryFormat, mut value: Value) -> Value {
    match (shape.listing, walk(&mut value, shape.servers)) {
        (Listing::Keyed, Some(Value::Object(servers))) => drop(servers.shift_remove(ENTRY_NAME)),
        (Listing::Named(field), Some(Value::Array(servers))) => servers.retain(|item| !is_named(item, field)),
        _ => {}
    }
    prune(&mut value, shape.servers);
    for list in shape.lists {
        if let Some(words) = walk(&mut value, list.path).and_then(Value::as_array_mut) {
            words.retain(|word| word != list.element);
        }
        prune(&mut value, list.path);
    }
    value
}

/// The value at these keys.
fn walk<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |at, key| at.get_mut(*key))
}

/// Removes the value at these keys if it is empty, and then what contained it.
fn prune(value: &mut Value, path: &[&str]) {
    let Some((key, parents)) = path.split_last() else { return };
    if let Some(fields) = walk(value, parents).and_then(Value::as_object_mut) {
        let is_empty = |value: &Value| match value {
            Value::Object(fields) => fields.is_empty(),
            Value::Array(items) => items.is_empty(),
            value => value.is_null(),
        };
        if fields.get(*key).is_some_and(is_empty) {
            fields.shift_remove(*key);
        }
    }
    prune(value, parents);
}

const UNUSUAL: &str = "our entry has an unusual format; remove it first";

fn insert_entry(shape: &EntryFormat, wanted: &Value, text: &str) -> Result<Vec<Edit>, EditError> {
    let is_there = find_entry(shape, text)?.is_some();
    match shape.syntax {
        Syntax::Json => insert_json(shape, wanted, text),
        Syntax::Toml => insert_toml(shape, wanted, text, is_there).ok_or_else(|| UNUSUAL.into()),
        Syntax::Yaml => {
            let key = entry::yaml_key(shape);
            let edits = match is_there {
                true => yaml_text::replace(text, key, shape.listing, wanted),
                false => yaml_text::insert(text, key, shape.listing, wanted),
            };
            edits.map_err(unreadable_error)?.ok_or_else(|| {
                format!("`{key}` is not in block style there, so it is not edited; add the entry that --print shows")
            })
        }
    }
}

fn remove_entry(shape: &EntryFormat, text: &str, containers: usize) -> Result<Vec<Edit>, EditError> {
    let edits = match shape.syntax {
        Syntax::Json => return remove_json(shape, text, containers),
        Syntax::Toml => remove_toml(shape, text),
        Syntax::Yaml => {
            yaml_text::remove(text, entry::yaml_key(shape), shape.listing, containers > 0).map_err(unreadable_error)?
        }
    };
    edits.ok_or_else(|| "our entry has an unusual format".into())
}

fn insert_json(shape: &EntryFormat, wanted: &Value, text: &str) -> Result<Vec<Edit>, EditError> {
    let root = jsonc::parse(text).map_err(unreadable_error)?;
    if let Some(servers) = jsonc::find(&root, shape.servers)? {
        return Ok(match jsonc::member(servers, ENTRY_NAME)? {
            Some(member) => jsonc::replace(text, member, wanted),
            None => jsonc::insert(text, servers, ENTRY_NAME, wanted),
        });
    }
    // The existing part of the key path; the entry brings the rest.
    let mut depth = shape.servers.len();
    while depth > 0 && jsonc::find(&root, &shape.servers[..depth])?.is_none() {
        depth -= 1;
    }
    let object = jsonc::find(&root, &shape.servers[..depth])?.ok_or("it is not an object")?;
    let mut value = serde_json::json!({ ENTRY_NAME: wanted });
    for key in shape.servers[depth + 1..].iter().rev() {
        value = serde_json::json!({ *key: value });
    }
    Ok(jsonc::insert(text, object, shape.servers[depth], &value))
}

fn remove_json(shape: &EntryFormat, text: &str, containers: usize) -> Result<Vec<Edit>, EditError> {
    let root = jsonc::parse(text).map_err(unreadable_error)?;
    let path = entry::entry_path(shape);
    let mut depth = shape.servers.len();
    let mut object = jsonc::find(&root, &path[..depth])?.ok_or("our entry is missing")?;
    // The outermost container that we created and that has nothing but our entry goes with it.
    while depth + containers > shape.servers.len() && object.members().is_some_and(|members| members.len() == 1) {
        depth -= 1;
        object = jsonc::find(&root, &path[..depth])?.ok_or("our entry is missing")?;
    }
    Ok(jsonc::remove(text, object, path[depth]))
}

/// Restores the entry that ours replaced, with its original text.
fn restore_entry(shape: &EntryFormat, text: &str, before: &str) -> Result<Vec<Edit>, EditError> {
    match shape.syntax {
        Syntax::Json => {
            let root = jsonc::parse(text).map_err(unreadable_error)?;
            let servers = jsonc::find(&root, shape.servers)?.ok_or("our entry is missing")?;
            let value = &jsonc::member(servers, ENTRY_NAME)?.ok_or("our entry is missing")?.value;
            let removed = text[value.start..value.end].to_owned();
            Ok(vec![Edit { at: value.start, removed, inserted: before.to_owned() }])
        }
        Syntax::Toml => {
            let mut edits = remove_entry(shape, text, 0)?;
            edits.iter_mut().for_each(|edit| edit.inserted = before.to_owned());
            Ok(edits)
        }
        // An empty list or map was replaced, not an entry.
        Syntax::Yaml if !before.contains(ENTRY_NAME) => remove_entry(shape, text, 0),
        Syntax::Yaml => yaml_text::restore(text, entry::yaml_key(shape), shape.listing, before)
            .map_err(unreadable_error)?
            .ok_or_else(|| UNUSUAL.into()),
    }
}

fn insert_toml(shape: &EntryFormat, wanted: &Value, text: &str, is_there: bool) -> Option<Vec<Edit>> {
    match (shape.listing, is_there) {
        (Listing::Keyed, false) => Some(toml_text::insert(text, &entry::entry_path(shape), wanted)),
        (Listing::Keyed, true) => toml_text::replace(text, &entry::entry_path(shape), wanted),
        (Listing::Named(_), _) if toml_list::is_inline(text, shape.servers) => {
            toml_list::insert_table(text, shape.servers, wanted)
        }
        (Listing::Named(_), false) => Some(toml_text::insert_item(text, shape.servers, wanted)),
        (Listing::Named(field), true) => toml_text::replace_item(text, shape.servers, field, wanted),
    }
}

fn remove_toml(shape: &EntryFormat, text: &str) -> Option<Vec<Edit>> {
    match shape.listing {
        Listing::Keyed => toml_text::remove(text, &entry::entry_path(shape)),
        Listing::Named(_) if toml_list::is_inline(text, shape.servers) => toml_list::remove_table(text, shape.servers),
        Listing::Named(field) => toml_text::remove_item(text, shape.servers, field),
    }
}
