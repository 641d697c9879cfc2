//! The content that we add to a file: an entry among others, a block of text, or a file of our own.
//!
//! Nothing here reads or writes files. An edit of an entry is returned only after parsing the text before and after it
//! has shown that nothing but our entry changes.

use serde_json::Value;

use super::clients::{Shape, Syntax};
use super::edit::{Edit, apply};
use super::entry::{self, NAME};
use super::{block, jsonc, toml_text};

/// The content to install or remove.
pub(super) enum Content {
    Entry(&'static Shape, Value),
    Block,
    Skill,
}

/// Why a text cannot be edited; the text stays unchanged.
pub(super) type Refused = String;

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
    pub(super) fn alone(&self) -> String {
        match self {
            Content::Entry(shape, entry) => entry::alone(shape, entry),
            Content::Block => block::block("\n"),
            Content::Skill => SKILL.to_owned(),
        }
    }

    /// Whether the text already has exactly this content.
    pub(super) fn is_in(&self, text: &str) -> Result<bool, Refused> {
        Ok(match self {
            Content::Entry(shape, wanted) => found(shape, text)?.as_ref() == Some(wanted),
            Content::Block => {
                let there = block::find(text)?;
                there.is_some_and(|range| text[range].lines().eq(block::block("\n").lines()))
            }
            Content::Skill => text == SKILL,
        })
    }

    /// Whether the content under our name looks like ours, if there is no record of it.
    pub(super) fn is_ours(&self, text: &str) -> Result<bool, Refused> {
        Ok(match self {
            Content::Entry(shape, _) => found(shape, text)?
                .and_then(|value| entry::line(shape, &value))
                .is_some_and(|line| line.arguments.iter().any(|word| word == "serve-mcp")),
            Content::Block => block::find(text)?.is_some(),
            Content::Skill => text == SKILL,
        })
    }

    /// The edits that insert it, or replace the content under our name.
    pub(super) fn put(&self, text: &str) -> Result<Vec<Edit>, Refused> {
        match self {
            Content::Entry(shape, wanted) => {
                let edits = match shape.syntax {
                    Syntax::Json => put_json(shape, wanted, text)?,
                    _ => put_toml(shape, wanted, text)?,
                };
                proved(shape, text, Some(wanted), edits)
            }
            Content::Block => block::put(text),
            Content::Skill => Err("another file has this name".into()),
        }
    }

    /// The edits that remove it or restore what it replaced; `None` if it is not there.
    pub(super) fn take(&self, text: &str, before: Option<&str>) -> Result<Option<Vec<Edit>>, Refused> {
        match self {
            Content::Entry(shape, _) => {
                if found(shape, text)?.is_none() {
                    return Ok(None);
                }
                if let Some(before) = before {
                    return put_back(shape, text, before).map(Some);
                }
                let edits = match shape.syntax {
                    Syntax::Json => take_json(shape, text)?,
                    _ => toml_text::remove(text, &entry::path(shape)).ok_or("our entry has an unusual format")?,
                };
                proved(shape, text, None, edits).map(Some)
            }
            Content::Block => block::remove(text),
            Content::Skill if text == SKILL => Ok(Some(vec![Edit::remove(text, 0..text.len())])),
            Content::Skill => Err("it was edited since setup".into()),
        }
    }
}

/// The entry under our name.
pub(super) fn found(shape: &Shape, text: &str) -> Result<Option<Value>, Refused> {
    match shape.syntax {
        Syntax::Json => {
            let root = jsonc::parse(text).map_err(unreadable)?;
            let Some(servers) = jsonc::find(&root, shape.servers)? else { return Ok(None) };
            Ok(jsonc::member(servers, NAME)?.map(|member| member.value.value()))
        }
        _ => {
            let mut value = json_of(&toml_text::parse(text).map_err(unreadable)?);
            for key in entry::path(shape) {
                match value.get_mut(key) {
                    Some(inner) => value = inner.take(),
                    None => return Ok(None),
                }
            }
            Ok(Some(value))
        }
    }
}

fn unreadable(what: String) -> Refused {
    format!("it cannot be read: {what}")
}

/// TOML values as JSON values, for comparison; dates become text.
fn json_of(table: &toml::Table) -> Value {
    fn value(from: &toml::Value) -> Value {
        match from {
            toml::Value::String(text) => Value::from(text.as_str()),
            toml::Value::Integer(number) => Value::from(*number),
            toml::Value::Float(number) => Value::from(*number),
            toml::Value::Boolean(flag) => Value::from(*flag),
            toml::Value::Datetime(date) => Value::from(date.to_string()),
            toml::Value::Array(items) => items.iter().map(value).collect(),
            toml::Value::Table(table) => json_of(table),
        }
    }
    Value::Object(table.iter().map(|(key, inner)| (key.clone(), value(inner))).collect())
}

/// Returns the edits if they change only our entry: afterwards it is `wanted`, or gone.
fn proved(shape: &Shape, text: &str, wanted: Option<&Value>, edits: Vec<Edit>) -> Result<Vec<Edit>, Refused> {
    let meaning = |text: &str| match shape.syntax {
        Syntax::Json => jsonc::parse(text).map(|root| root.value()),
        _ => toml_text::parse(text).map(|table| json_of(&table)),
    };
    let before = meaning(text).map_err(unreadable)?;
    let after = apply(text, &edits).and_then(|text| meaning(&text).ok());
    let is_entry = |value: &Value| {
        let mut at = value;
        for key in entry::path(shape) {
            match at.get(key) {
                Some(inner) => at = inner,
                None => return wanted.is_none(),
            }
        }
        Some(at) == wanted
    };
    match after {
        Some(after) if is_entry(&after) && without(shape, after.clone()) == without(shape, before) => Ok(edits),
        _ => Err("its format cannot be edited safely; add the entry that --print shows".into()),
    }
}

/// The value of a file without our entry, and without objects that are empty because of that.
fn without(shape: &Shape, mut value: Value) -> Value {
    let keys = entry::path(shape);
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

fn put_json(shape: &Shape, wanted: &Value, text: &str) -> Result<Vec<Edit>, Refused> {
    let root = jsonc::parse(text).map_err(unreadable)?;
    if let Some(servers) = jsonc::find(&root, shape.servers)? {
        return Ok(match jsonc::member(servers, NAME)? {
            Some(member) => jsonc::replace(text, member, wanted),
            None => jsonc::insert(text, servers, NAME, wanted),
        });
    }
    // The existing part of the key path; the entry brings the rest.
    let mut depth = shape.servers.len();
    while depth > 0 && jsonc::find(&root, &shape.servers[..depth])?.is_none() {
        depth -= 1;
    }
    let object = jsonc::find(&root, &shape.servers[..depth])?.ok_or("it is not an object")?;
    let mut value = serde_json::json!({ NAME: wanted });
    for key in shape.servers[depth + 1..].iter().rev() {
        value = serde_json::json!({ *key: value });
    }
    Ok(jsonc::insert(text, object, shape.servers[depth], &value))
}

fn take_json(shape: &Shape, text: &str) -> Result<Vec<Edit>, Refused> {
    let root = jsonc::parse(text).map_err(unreadable)?;
    let servers = jsonc::find(&root, shape.servers)?.ok_or("our entry is missing")?;
    Ok(jsonc::remove(text, servers, NAME))
}

/// Restores the entry that ours replaced, with its original text.
fn put_back(shape: &Shape, text: &str, before: &str) -> Result<Vec<Edit>, Refused> {
    let edits = match shape.syntax {
        Syntax::Json => {
            let root = jsonc::parse(text).map_err(unreadable)?;
            let servers = jsonc::find(&root, shape.servers)?.ok_or("our entry is missing")?;
            let value = &jsonc::member(servers, NAME)?.ok_or("our entry is missing")?.value;
            let removed = text[value.start..value.end].to_owned();
            vec![Edit { at: value.start, removed, inserted: before.to_owned() }]
        }
        _ => {
            let mut edits = toml_text::remove(text, &entry::path(shape)).ok_or("our entry has an unusual format")?;
            edits.iter_mut().for_each(|edit| edit.inserted = before.to_owned());
            edits
        }
    };
    let after = apply(text, &edits).ok_or("the record of our change does not match the file")?;
    let entry = found(shape, &after)?;
    proved(shape, text, entry.as_ref(), edits)
}

fn put_toml(shape: &Shape, wanted: &Value, text: &str) -> Result<Vec<Edit>, Refused> {
    let path = entry::path(shape);
    match found(shape, text)? {
        None => Ok(toml_text::insert(text, &path, wanted)),
        Some(_) => toml_text::replace(text, &path, wanted)
            .ok_or_else(|| "our entry has an unusual format; remove it first".into()),
    }
}
