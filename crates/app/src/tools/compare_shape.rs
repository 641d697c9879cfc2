//! One symbol in two refs, as JSON and as text.

use std::sync::Arc;

use codecompass_model::Symbol;
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_query::diff::{Facet, doc_changed, facets, own_lines};
use codecompass_query::lines::{Step, counts, diff_lines, unified};
use serde_json::{Map, Value, json};

use super::compare_symbol::{Both, Question, Version, lost};
use super::versus::State;
use crate::error::AppError;
use crate::escape::shown;
use crate::output::style;

/// The longest diff, in bytes.
const DIFF: usize = 16 << 10;

pub(super) fn json(question: &Question, base: &State, head: &State, both: &Both) -> Result<Value, AppError> {
    let latest = both.head.as_ref().or(both.base.as_ref()).ok_or_else(lost)?;
    let symbol = symbol(latest);
    let (old_text, new_text) = (text_of(base, &both.base)?, text_of(head, &both.head)?);
    let (old, new) = (lines(&both.base, &old_text), lines(&both.head, &new_text));
    let steps = steps(&old, &new);
    let mut fields = Map::new();
    fields.insert("symbol".into(), json!(symbol.name));
    fields.insert("path".into(), json!(latest.0.version.path));
    fields.insert("symbol_stable_id".into(), json!(StableId::of(&latest.0.version.language, symbol).to_string()));
    fields.insert("base_ref".into(), json!(question.base));
    fields.insert("head_ref".into(), json!(question.head));
    fields.insert("base_version".into(), json!(both.base.as_ref().map(version_json)));
    fields.insert("head_version".into(), json!(both.head.as_ref().map(version_json)));
    let summary = summary(both, &old_text, &new_text, &steps);
    let is_unchanged = summary["status"] == "unchanged";
    fields.insert("diff_summary".into(), summary);
    if let (Some(before), Some(after)) = (&both.base, &both.head) {
        let is_new = doc_changed((self::symbol(before), &old_text), (self::symbol(after), &new_text));
        fields.insert("doc_changed".into(), json!(is_new));
    }
    if question.with_diff && !is_unchanged {
        let diff = unified(&old, &new, &steps);
        let kept = fitting(&diff);
        if kept < diff.len() {
            fields.insert("diff_truncated".into(), json!(true));
        }
        fields.insert("diff".into(), json!(&diff[..kept]));
    }
    Ok(Value::Object(fields))
}

/// What happened to it.
fn summary(both: &Both, old_text: &str, new_text: &str, steps: &[Step]) -> Value {
    let (added, removed) = counts(steps);
    let (Some(before), Some(after)) = (&both.base, &both.head) else {
        let status = if both.base.is_none() { "added" } else { "deleted" };
        return json!({ "status": status, "lines_added": added, "lines_removed": removed });
    };
    if symbol(before).content_hash == symbol(after).content_hash {
        return json!({ "status": "unchanged" });
    }
    let places = (before.1, after.1);
    let parts = facets(places, (&before.0.outline.symbols, old_text), (&after.0.outline.symbols, new_text));
    let mut summary = json!({
        "status": "modified",
        "signature_changed": parts.contains(&Facet::Signature),
        "body_changed": parts.contains(&Facet::Body),
        "lines_added": added,
        "lines_removed": removed,
        "line_range_shifted": symbol(before).lines != symbol(after).lines,
    });
    if parts.contains(&Facet::Attributes) {
        summary["attributes_changed"] = json!(true);
    }
    summary
}

fn symbol((file, place): &Version) -> &Symbol {
    &file.outline.symbols[*place as usize]
}

fn text_of(state: &State, version: &Option<Version>) -> Result<Arc<str>, AppError> {
    match version {
        Some((file, _)) => Ok(state.snapshot.text(file.version.id)?),
        None => Ok("".into()),
    }
}

fn lines<'t>(version: &Option<Version>, text: &'t str) -> Vec<(u32, &'t str)> {
    version.as_ref().map_or_else(Vec::new, |(file, place)| own_lines(&file.outline.symbols, *place, text))
}

fn steps(old: &[(u32, &str)], new: &[(u32, &str)]) -> Vec<Step> {
    let old: Vec<&str> = old.iter().map(|(_, line)| *line).collect();
    let new: Vec<&str> = new.iter().map(|(_, line)| *line).collect();
    diff_lines(&old, &new)
}

fn version_json(version: &Version) -> Value {
    let symbol = symbol(version);
    json!({
        "symbol_id": SymbolId::of(&version.0.version.path, symbol).to_string(),
        "signature": symbol.signature,
        "line_start": symbol.lines.start,
        "line_end": symbol.lines.end,
        "kind": symbol.kind.as_str(),
        "language": version.0.version.language,
        "qualified_name": symbol.qualified_name,
        "path": version.0.version.path,
    })
}

/// How many bytes of a diff fit, in whole lines.
fn fitting(diff: &str) -> usize {
    match diff.len() <= DIFF {
        true => diff.len(),
        false => diff.as_bytes()[..DIFF].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
    }
}

/// The lines of a version.
fn range(version: &Value) -> String {
    match version["line_start"] == version["line_end"] {
        true => version["line_start"].to_string(),
        false => format!("{}-{}", version["line_start"], version["line_end"]),
    }
}

/// For people.
pub(super) fn text(json: &Value) -> String {
    let word = |value: &Value| shown(value.as_str().unwrap_or_default()).into_owned();
    let latest = if json["head_version"].is_null() { &json["base_version"] } else { &json["head_version"] };
    let summary = &json["diff_summary"];
    let mut told = vec![word(&summary["status"])];
    for (key, part) in
        [("signature_changed", "signature"), ("body_changed", "body"), ("attributes_changed", "attributes")]
    {
        told.extend((summary[key] == true).then(|| part.to_owned()));
    }
    let docs = if summary["status"] == "unchanged" { "save its docs" } else { "docs" };
    told.extend((json["doc_changed"] == true).then(|| docs.to_owned()));
    if let (Some(added), Some(removed)) = (summary["lines_added"].as_u64(), summary["lines_removed"].as_u64()) {
        told.push(format!("+{added} -{removed} lines"));
    }
    let mut text = format!(
        "{} {}: {}\n",
        style::dim(&word(&latest["kind"])),
        style::name(&word(&latest["qualified_name"])),
        told.join(", ")
    );
    for (name, version) in [("base_ref", "base_version"), ("head_ref", "head_version")] {
        let version = &json[version];
        let place = match version.is_null() {
            true => style::dim("not there"),
            false => format!("{}:{}", style::path(&word(&version["path"])), range(version)),
        };
        text += &format!("  {}  {place}\n", word(&json[name]));
        if !version.is_null() && summary["signature_changed"] == true {
            text += &format!("      {}\n", word(&version["signature"]));
        }
    }
    for line in json["diff"].as_str().unwrap_or_default().lines() {
        let line = shown(&line.replace('\t', "    ")).into_owned();
        text += &match line.as_bytes().first() {
            Some(b'+') => style::added(&line),
            Some(b'-') => style::hit(&line),
            Some(b'@') => style::dim(&line),
            _ => line,
        };
        text.push('\n');
    }
    if json["diff_truncated"] == true {
        text += "the rest of the diff is left out\n";
    }
    text
}
