//! One symbol in two refs, as JSON and as text.

use std::sync::Arc;

use codecompass_model::Symbol;
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_query::diff::{Facet, doc_changed, facets, own_lines};
use codecompass_query::line_diff::{Step, counts, diff_lines, unified};
use codecompass_wire::SymbolSummary;
use serde_json::{Map, Value, json};

use super::compare_symbol::{CompareArgs, SymbolVersion, SymbolVersions, inconsistent_index};
use super::ref_compare::RefState;
use super::rows;
use crate::error::AppError;
use crate::escape::escape_control;
use crate::metadata::{Metadata, MetadataText};
use crate::output::{Reader, Render, style};

/// The maximum length of a diff, in bytes.
const MAX_DIFF_BYTES: usize = 16 << 10;

/// The answer: both versions of the symbol and their differences.
pub(super) struct SymbolComparison<'c> {
    question: &'c CompareArgs,
    both: &'c SymbolVersions,
    status: Status,
    counts: Counts,
    doc_changed: Option<bool>,
    diff: Option<String>,
    is_diff_cut: bool,
    /// Other symbols with the same name.
    pub(super) others: Vec<SymbolSummary>,
    pub(super) metadata: Metadata,
}

/// The kind of change.
enum Status {
    Added,
    Deleted,
    Unchanged,
    Modified(Vec<Facet>),
}

/// The numbers of added and removed lines.
struct Counts {
    added: usize,
    removed: usize,
}

impl Status {
    fn from_versions(both: &SymbolVersions, old_text: &str, new_text: &str) -> Self {
        let (Some(before), Some(after)) = (&both.base, &both.head) else {
            return if both.base.is_none() { Status::Added } else { Status::Deleted };
        };
        if symbol(before).content_hash == symbol(after).content_hash {
            return Status::Unchanged;
        }
        let places = (before.1, after.1);
        let sides = ((&*before.0.outline.symbols, old_text), (&*after.0.outline.symbols, new_text));
        Status::Modified(facets(places, sides.0, sides.1))
    }

    fn as_str(&self) -> &'static str {
        match self {
            Status::Added => "added",
            Status::Deleted => "deleted",
            Status::Unchanged => "unchanged",
            Status::Modified(_) => "modified",
        }
    }

    fn has(&self, facet: Facet) -> bool {
        matches!(self, Status::Modified(parts) if parts.contains(&facet))
    }
}
fn symbol((file, place): &SymbolVersion) -> &Symbol {
    &file.outline.symbols[*place as usize]
}

fn text_of(state: &RefState, version: &Option<SymbolVersion>) -> Result<Arc<str>, AppError> {
    match version {
        Some((file, _)) => Ok(state.snapshot.text(file.version.id)?),
        None => Ok("".into()),
    }
}

fn lines<'t>(version: &Option<SymbolVersion>, text: &'t str) -> Vec<(u32, &'t str)> {
    version.as_ref().map_or_else(Vec::new, |(file, place)| own_lines(&file.outline.symbols, *place, text))
}

fn steps(old: &[(u32, &str)], new: &[(u32, &str)]) -> Vec<Step> {
    let old: Vec<&str> = old.iter().map(|(_, line)| *line).collect();
    let new: Vec<&str> = new.iter().map(|(_, line)| *line).collect();
    diff_lines(&old, &new)
}

fn version_json(version: &SymbolVersion) -> Value {
    let symbol = symbol(version);
    json!({
        "symbol_id": SymbolId::new(&version.0.version.path, symbol).to_string(),
        "signature": symbol.signature,
        "line_start": symbol.lines.start,
        "line_end": symbol.lines.end,
        "kind": symbol.kind.as_str(),
        "language": version.0.version.language,
        "qualified_name": symbol.qualified_name,
        "path": version.0.version.path,
    })
}

/// The number of bytes of a diff that fit, in whole lines.
fn fitting_bytes(diff: &str) -> usize {
    match diff.len() <= MAX_DIFF_BYTES {
        true => diff.len(),
        false => diff.as_bytes()[..MAX_DIFF_BYTES].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
    }
}

impl<'c> SymbolComparison<'c> {
    /// Compares the two versions.
    pub(super) fn new(
        question: &'c CompareArgs,
        base: &RefState,
        head: &RefState,
        both: &'c SymbolVersions,
    ) -> Result<Self, AppError> {
        let (old_text, new_text) = (text_of(base, &both.base)?, text_of(head, &both.head)?);
        let (old, new) = (lines(&both.base, &old_text), lines(&both.head, &new_text));
        let steps = steps(&old, &new);
        let (added, removed) = counts(&steps);
        let status = Status::from_versions(both, &old_text, &new_text);
        let sides = both.base.as_ref().zip(both.head.as_ref());
        let doc_changed =
            sides.map(|(before, after)| doc_changed((symbol(before), &old_text), (symbol(after), &new_text)));
        let mut compared = Self {
            question,
            both,
            counts: Counts { added, removed },
            doc_changed,
            diff: None,
            is_diff_cut: false,
            others: Vec::new(),
            metadata: Metadata::unknown(),
            status,
        };
        if question.with_diff && !compared.is_unchanged() {
            let diff = unified(&old, &new, &steps);
            let kept = fitting_bytes(&diff);
            compared.is_diff_cut = kept < diff.len();
            compared.diff = Some(diff[..kept].to_owned());
        }
        Ok(compared)
    }

    /// Whether the symbol itself is unchanged.
    pub(super) fn is_unchanged(&self) -> bool {
        matches!(self.status, Status::Unchanged)
    }

    /// The path of its file.
    pub(super) fn path(&self) -> &str {
        self.latest().map_or("", |(file, _)| file.version.path.as_str())
    }

    fn latest(&self) -> Option<&SymbolVersion> {
        self.both.head.as_ref().or(self.both.base.as_ref())
    }

    fn summary(&self) -> Value {
        let Counts { added, removed } = self.counts;
        match (&self.status, &self.both.base, &self.both.head) {
            (Status::Modified(parts), Some(before), Some(after)) => {
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
            (Status::Unchanged, ..) => json!({ "status": "unchanged" }),
            (status, ..) => json!({ "status": status.as_str(), "lines_added": added, "lines_removed": removed }),
        }
    }

    fn headline(&self, latest: &SymbolVersion) -> String {
        let mut told = vec![self.status.as_str().to_owned()];
        let facets = [(Facet::Signature, "signature"), (Facet::Body, "body"), (Facet::Attributes, "attributes")];
        told.extend(facets.iter().filter(|(facet, _)| self.status.has(*facet)).map(|(_, word)| (*word).to_owned()));
        let docs = if self.is_unchanged() { "except docs" } else { "docs" };
        told.extend(self.doc_changed.filter(|is_new| *is_new).map(|_| docs.to_owned()));
        if !self.is_unchanged() {
            told.push(format!("+{} -{} lines", self.counts.added, self.counts.removed));
        }
        format!("{}: {}\n", style::name(&escape_control(&rows::short_name(symbol(latest)))), told.join(", "))
    }
}

impl Render for SymbolComparison<'_> {
    type Wire = Value;

    fn wire(self) -> Result<Value, AppError> {
        let latest = self.latest().ok_or_else(inconsistent_index)?;
        let symbol = symbol(latest);
        let mut fields = Map::new();
        fields.insert("symbol".into(), json!(symbol.name));
        fields.insert("path".into(), json!(latest.0.version.path));
        fields.insert("symbol_stable_id".into(), json!(StableId::new(&latest.0.version.language, symbol).to_string()));
        fields.insert("base_ref".into(), json!(self.question.base));
        fields.insert("head_ref".into(), json!(self.question.head));
        fields.insert("base_version".into(), json!(self.both.base.as_ref().map(version_json)));
        fields.insert("head_version".into(), json!(self.both.head.as_ref().map(version_json)));
        fields.insert("diff_summary".into(), self.summary());
        if let Some(is_new) = self.doc_changed {
            fields.insert("doc_changed".into(), json!(is_new));
        }
        if self.is_diff_cut {
            fields.insert("diff_truncated".into(), json!(true));
        }
        if let Some(diff) = &self.diff {
            fields.insert("diff".into(), json!(diff));
        }
        if !self.others.is_empty() {
            fields.insert("other_matches".into(), json!(self.others));
        }
        fields.insert("metadata".into(), self.metadata.to_json());
        Ok(Value::Object(fields))
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        let mut text = self.headline(self.latest().ok_or_else(inconsistent_index)?);
        for (name, version) in [(&self.question.base, &self.both.base), (&self.question.head, &self.both.head)] {
            let place = match version {
                None => style::dim("missing"),
                Some(version) => rows::location(&version.0.version.path, symbol(version).lines),
            };
            text += &format!(" {} {place}\n", escape_control(name));
            if let Some(version) = version.as_ref().filter(|_| self.status.has(Facet::Signature)) {
                text += &format!("  {}\n", escape_control(&symbol(version).signature));
            }
        }
        for line in self.diff.as_deref().unwrap_or_default().lines() {
            let line = rows::exact(line);
            text += &match line.as_bytes().first() {
                Some(b'+') => style::added(&line),
                Some(b'-') => style::hit(&line),
                Some(b'@') => style::dim(&line),
                _ => line,
            };
            text.push('\n');
        }
        if self.is_diff_cut {
            text += "the rest of the diff is omitted\n";
        }
        Ok(text + &self.metadata.notes())
    }
}
