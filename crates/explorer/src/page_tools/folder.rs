//! The content of a folder: its folders with totals, its files, and the languages below it.

use std::collections::BTreeMap;

use codecompass_wire::pages::{Folder, FolderFile, FolderTotals};
use serde_json::{Map, Value};

use codecompass_tools::call::QueryContext;
use codecompass_tools::tool_spec::{Effect, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::MetadataText;
use codecompass_workspace::output::{Answer, OutputFormat};
use codecompass_workspace::paths::{check_length, normalize};

pub(crate) const TOOL: ToolSpec = ToolSpec {
    name: "folder",
    title: "Folder",
    description: "What is in a folder, for a page.",
    params: &[optional("path", ParamKind::Text, "The folder, from the root"), REF, WORKSPACE],
    output: Map::new,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let path = call.arguments.text("path").unwrap_or_default();
        call.answer_query(|inquiry| answer(inquiry, &path).map_err(|error| inquiry.with_view_context(error)))
    }),
};

fn answer(inquiry: &QueryContext<'_>, given: &str) -> Result<Answer, AppError> {
    let metadata = inquiry.metadata(&[]);
    let Some(snapshot) = inquiry.snapshot() else { return Err(AppError::index_not_ready().with_metadata(metadata)) };
    check_length("path", given)?;
    let path = normalize(given.trim_matches('/')).ok_or_else(|| missing(given))?;
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut folders: BTreeMap<&str, FolderTotals> = BTreeMap::new();
    let mut languages: BTreeMap<&str, FolderTotals> = BTreeMap::new();
    let mut files: BTreeMap<&str, FolderFile> = BTreeMap::new();
    for version in snapshot.versions_by_id()?.values() {
        let Some(rest) = version.path.strip_prefix(&prefix) else { continue };
        let is_edited = snapshot.edited().contains(version.id);
        let add = |sum: &mut FolderTotals| {
            sum.files += 1;
            sum.lines += u64::from(version.lines);
            sum.edited += u64::from(is_edited);
        };
        add(languages.entry(&version.language).or_insert_with(|| no_files(&version.language)));
        match rest.split_once('/') {
            Some((folder, _)) => add(folders.entry(folder).or_insert_with(|| no_files(folder))),
            None => {
                let (name, language) = (rest.to_owned(), version.language.clone());
                let (lines, symbols) = (version.lines, version.symbols);
                files.insert(rest, FolderFile { name, language, lines, symbols, is_edited });
            }
        }
    }
    if folders.is_empty() && files.is_empty() && !path.is_empty() {
        return Err(missing(&path));
    }
    if inquiry.form != OutputFormat::Json {
        let mut text = format!("{}/\n", escape_control(if path.is_empty() { "." } else { &path }));
        folders.iter().for_each(|(name, sum)| text += &format!("{}/ {} files\n", escape_control(name), sum.files));
        files.values().for_each(|file| text += &format!("{} {} lines\n", escape_control(&file.name), file.lines));
        return Ok(Answer { text: text + &metadata.notes(), json: Value::Null, code: 0 });
    }
    let mut languages: Vec<FolderTotals> = languages.into_values().collect();
    languages.sort_by(|one, other| (other.lines, &one.name).cmp(&(one.lines, &other.name)));
    let (folders, files) = (folders.into_values().collect(), files.into_values().collect());
    Answer::from_wire(&Folder { path, folders, files, languages, metadata }, 0)
}

fn no_files(name: &str) -> FolderTotals {
    FolderTotals { name: name.to_owned(), files: 0, lines: 0, edited: 0 }
}

fn missing(path: &str) -> AppError {
    AppError::new(Code::FileNotFound, format!("No folder {path:?} in this version of the code."))
}
