//! What is in a folder: its folders with what is in them, its files, and the languages below it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::call::Inquiry;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::output::{Answer, Form};
use crate::paths::{check_length, settled};
use crate::tools::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional};

pub(crate) const TOOL: Tool = Tool {
    name: "folder",
    title: "Folder",
    description: "What is in a folder, for a page.",
    params: &[optional("path", Kind::Text, "The folder, from the root"), REF, WORKSPACE],
    output: || json!({}),
    always: &[],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let path = call.arguments.text("path").unwrap_or_default();
        call.inquire(|inquiry| answer(inquiry, &path).map_err(|error| inquiry.explained(error)))
    },
};

/// Sums over files.
#[derive(Clone, Copy, Default)]
struct Sum {
    files: u64,
    lines: u64,
    edited: u64,
}

fn answer(inquiry: &Inquiry<'_>, given: &str) -> Result<Answer, AppError> {
    let metadata = inquiry.metadata(&[]);
    let Some(snapshot) = inquiry.snapshot() else { return Err(AppError::index_not_ready().about(metadata)) };
    check_length("path", given)?;
    let path = settled(given.trim_matches('/')).ok_or_else(|| missing(given))?;
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut folders: BTreeMap<&str, Sum> = BTreeMap::new();
    let mut languages: BTreeMap<&str, Sum> = BTreeMap::new();
    let mut files: BTreeMap<&str, Value> = BTreeMap::new();
    for version in snapshot.catalogue()?.values() {
        let Some(rest) = version.path.strip_prefix(&prefix) else { continue };
        let is_edited = snapshot.edited().contains(version.id);
        let add = |sum: &mut Sum| {
            sum.files += 1;
            sum.lines += u64::from(version.lines);
            sum.edited += u64::from(is_edited);
        };
        add(languages.entry(&version.language).or_default());
        match rest.split_once('/') {
            Some((folder, _)) => add(folders.entry(folder).or_default()),
            None => drop(files.insert(
                rest,
                json!({
                    "name": rest, "language": version.language, "lines": version.lines,
                    "symbols": version.symbols, "is_edited": is_edited,
                }),
            )),
        }
    }
    if folders.is_empty() && files.is_empty() && !path.is_empty() {
        return Err(missing(&path));
    }
    if inquiry.form != Form::Json {
        let mut text = format!("{}/\n", shown(if path.is_empty() { "." } else { &path }));
        folders.iter().for_each(|(name, sum)| text += &format!("{}/ {} files\n", shown(name), sum.files));
        let name = |file: &Value| shown(file["name"].as_str().unwrap_or_default()).into_owned();
        files.values().for_each(|file| text += &format!("{} {} lines\n", name(file), file["lines"]));
        return Ok(Answer { text: text + &metadata.notes(), json: Value::Null, code: 0 });
    }
    let sum =
        |name: &str, sum: &Sum| json!({ "name": name, "files": sum.files, "lines": sum.lines, "edited": sum.edited });
    let mut languages: Vec<(&str, Sum)> = languages.into_iter().collect();
    languages.sort_by_key(|(name, sum)| (std::cmp::Reverse(sum.lines), *name));
    let json = json!({
        "path": path,
        "folders": folders.iter().map(|(name, of)| sum(name, of)).collect::<Vec<_>>(),
        "files": files.into_values().collect::<Vec<_>>(),
        "languages": languages.iter().map(|(name, of)| sum(name, of)).collect::<Vec<_>>(),
        "metadata": metadata.to_json(),
    });
    Ok(Answer { text: String::new(), json, code: 0 })
}

fn missing(path: &str) -> AppError {
    AppError::new(Code::FileNotFound, format!("No folder {path:?} is in this state of the code."))
}
