//! The content of a folder: its folders with totals, its files, and the languages below it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::call::QueryContext;
use crate::error::{AppError, Code};
use crate::escape::escape_control;
use crate::metadata::MetadataText;
use crate::output::{Answer, OutputFormat};
use crate::paths::{check_length, normalize};
use crate::tools::tool_spec::{Effect, Output, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional};

pub(crate) const TOOL: ToolSpec = ToolSpec {
    name: "folder",
    title: "Folder",
    description: "What is in a folder, for a page.",
    params: &[optional("path", ParamKind::Text, "The folder, from the root"), REF, WORKSPACE],
    output: Output::Typed(Map::new),
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let path = call.arguments.text("path").unwrap_or_default();
        call.answer_query(|inquiry| answer(inquiry, &path).map_err(|error| inquiry.with_view_context(error)))
    }),
};

/// Totals over files.
#[derive(Clone, Copy, Default)]
struct FolderTotals {
    files: u64,
    lines: u64,
    edited: u64,
}

fn answer(inquiry: &QueryContext<'_>, given: &str) -> Result<Answer, AppError> {
    let metadata = inquiry.metadata(&[]);
    let Some(snapshot) = inquiry.snapshot() else { return Err(AppError::index_not_ready().with_metadata(metadata)) };
    check_length("path", given)?;
    let path = normalize(given.trim_matches('/')).ok_or_else(|| missing(given))?;
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut folders: BTreeMap<&str, FolderTotals> = BTreeMap::new();
    let mut languages: BTreeMap<&str, FolderTotals> = BTreeMap::new();
    let mut files: BTreeMap<&str, Value> = BTreeMap::new();
    for version in snapshot.versions_by_id()?.values() {
        let Some(rest) = version.path.strip_prefix(&prefix) else { continue };
        let is_edited = snapshot.edited().contains(version.id);
        let add = |sum: &mut FolderTotals| {
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
    if inquiry.form != OutputFormat::Json {
        let mut text = format!("{}/\n", escape_control(if path.is_empty() { "." } else { &path }));
        folders.iter().for_each(|(name, sum)| text += &format!("{}/ {} files\n", escape_control(name), sum.files));
        let name = |file: &Value| escape_control(file["name"].as_str().unwrap_or_default()).into_owned();
        files.values().for_each(|file| text += &format!("{} {} lines\n", name(file), file["lines"]));
        return Ok(Answer { text: text + &metadata.notes(), json: Value::Null, code: 0 });
    }
    let sum = |name: &str, sum: &FolderTotals| json!({ "name": name, "files": sum.files, "lines": sum.lines, "edited": sum.edited });
    let mut languages: Vec<(&str, FolderTotals)> = languages.into_iter().collect();
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
    AppError::new(Code::FileNotFound, format!("No folder {path:?} in this version of the code."))
}
