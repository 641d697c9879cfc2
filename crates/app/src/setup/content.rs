//! The content that we add to a file: an entry among others, a block of text, or a file of our own.
//!
//! Nothing here reads or writes files. An edit of an entry is returned only after parsing the text before and after it
//! has shown that nothing but our entry changes.

use serde_json::Value;

use super::clients::{EntryFormat, Syntax};
use super::edit::{Edit, apply};
use super::entry::{self, ENTRY_NAME};
use super::{block, jsonc, toml_text};

/// The content to install or remove.
pub(super) enum Content {
    Entry(&'static EntryFormat, Value),
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
            Content::Entry(shape, entry) => entry::standalone_file(shape, entry),
            Content::Block => block::block("\n"),
            Content::Skill => SKILL.to_owned(),
        }
    }

    /// Whether the text already has exactly this content.
    pub(super) fn is_present(&self, text: &str) -> Result<bool, EditError> {
        Ok(match self {
            Content::Entry(shape, wanted) => find_entry(shape, text)?.as_ref() == Some(wanted),
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
            Content::Entry(shape, _) => find_entry(shape, text)?
                .and_then(|value| entry::parse_entry(shape, &value))
                .is_some_and(|line| line.arguments.iter().any(|word| word == "serve-mcp")),
            Content::Block => block::find(text)?.is_some(),
            Content::Skill => text == SKILL,
        })
    }

    /// The edits that insert it, or replace the content under our name.
    pub(super) fn insert(&self, text: &str) -> Result<Vec<Edit>, EditError> {
        match self {
            Content::Entry(shape, wanted) => {
                let edits = match shape.syntax {
                    Syntax::Json => insert_json(shape, wanted, text)?,
                    _ => insert_toml(shape, wanted, text)?,
                };
                verify_edits(shape, text, Some(wanted), edits)
            }
            Content::Block => block::insert(text),
            Content::Skill => Err("another file has this name".into()),
        }
    }

    /// The edits that remove it or restore what it replaced; `None` if it is not there.
    pub(super) fn remove(&self, text: &str, before: Option<&str>) -> Result<Option<Vec<Edit>>, EditError> {
        match self {
            Content::Entry(shape, _) => {
                if find_entry(shape, text)?.is_none() {
                    return Ok(None);
                }
                if let Some(before) = before {
                    return restore_entry(shape, text, before).map(Some);
                }
                let edits = match shape.syntax {
                    Syntax::Json => remove_json(shape, text)?,
                    _ => toml_text::remove(text, &entry::entry_path(shape)).ok_or("our entry has an unusual format")?,
                };
                verify_edits(shape, text, None, edits).map(Some)
            }
            Content::Block => block::remove(text),
            Content::Skill if text == SKILL => Ok(Some(vec![Edit::remove(text, 0..text.len())])),
            Content::Skill => Err("it was edited since setup".into()),
        }
    }
}

/// The entry under our name.
pub(super) fn find_entry(shape: &EntryFormat, text: &str) -> Result<Option<Value>, EditError> {
    match shape.syntax {
        Syntax::Json => {
            let root = jsonc::parse(text).map_err(unreadable_error)?;
            let Some(servers) = jsonc::find(&root, shape.servers)? else { return Ok(None) };
            Ok(jsonc::member(servers, ENTRY_NAME)?.map(|member| member.value.value()))
        }
        _ => {
            let mut value = toml_to_json(&toml_text::parse(text).map_err(unreadable_error)?);
            for key in entry::entry_path(shape) {
                match value.get_mut(key) {
                    Some(inner) => value = inner.take(),
                    None => return Ok(None),
                }
            }
            Ok(Some(value))
        }
    }
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

/// Returns the edits if they change only our entry: afterwards it is `wanted`, or gone.
fn verify_edits(
    shape: &EntryFormat,
    text: &str,
    wanted: Option<&Value>,
    edits: Vec<Edit>,
) -> Result<Vec<Edit>, EditError> {
    let meaning = |text: &str| match shape.syntax {
        Syntax::Json => jsonc::parse(text).map(|root| root.value()),
        _ => toml_text::parse(text).map(|table| toml_to_json(&table)),
    };
    let before = meaning(text).map_err(unreadable_error)?;
    let after = apply(text, &edits).and_then(|text| meaning(&text).ok());
    let is_entry = |value: &Value| {
        let mut at = value;
        for key in entry::entry_path(shape) {
            match at.get(key) {
                Some(inner) => at = inner,
                None => return wanted.is_none(),
            }
        }
        Some(at) == wanted
    };
    match after {
        Some(after) if is_entry(&after) && without_entry(shape, after.clone()) == without_entry(shape, before) => {
            Ok(edits)
        }
        _ => Err("its format cannot be edited safely; add the entry that --print shows".into()),
    }
}

/// The value of a file without our entry, and without objects that are empty because of that.
fn without_entry(shape: &EntryFormat, mut value: Value) -> Value {
    let keys = entry::entry_path(shape);
    for depth in (1..=keys.len()).rev() {
        let mut at = Some(&mut value);
        for key in &keys[..depth - 1] {
            at = at.and_then(|inner| inner.get_mut(*key));
        }
        let Some(fields) = at.and_then(Value::as_object_mut) else { continue };
        let is_empty = fields.get(keys[depth - 1]).and_then(Value::as_object).is_some_and(|fields| fields.is_empty());
        if depth == keys.len() || is_empty {
            fields.shift_remove(keys[depth - 1]);
        }
    }
    value
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

fn remove_json(shape: &EntryFormat, text: &str) -> Result<Vec<Edit>, EditError> {
    let root = jsonc::parse(text).map_err(unreadable_error)?;
    let servers = jsonc::find(&root, shape.servers)?.ok_or("our entry is missing")?;
    Ok(jsonc::remove(text, servers, ENTRY_NAME))
}

/// Restores the entry that ours replaced, with its original text.
fn restore_entry(shape: &EntryFormat, text: &str, before: &str) -> Result<Vec<Edit>, EditError> {
    let edits = match shape.syntax {
        Syntax::Json => {
            let root = jsonc::parse(text).map_err(unreadable_error)?;
            let servers = jsonc::find(&root, shape.servers)?.ok_or("our entry is missing")?;
            let value = &jsonc::member(servers, ENTRY_NAME)?.ok_or("our entry is missing")?.value;
            let removed = text[value.start..value.end].to_owned();
            vec![Edit { at: value.start, removed, inserted: before.to_owned() }]
        }
        _ => {
            let mut edits =
                toml_text::remove(text, &entry::entry_path(shape)).ok_or("our entry has an unusual format")?;
            edits.iter_mut().for_each(|edit| edit.inserted = before.to_owned());
            edits
        }
    };
    let after = apply(text, &edits).ok_or("the record of our change does not match the file")?;
    let entry = find_entry(shape, &after)?;
    verify_edits(shape, text, entry.as_ref(), edits)
}

fn insert_toml(shape: &EntryFormat, wanted: &Value, text: &str) -> Result<Vec<Edit>, EditError> {
    let path = entry::entry_path(shape);
    match find_entry(shape, text)? {
        None => Ok(toml_text::insert(text, &path, wanted)),
        Some(_) => toml_text::replace(text, &path, wanted)
            .ok_or_else(|| "our entry has an unusual format; remove it first".into()),
    }
}
