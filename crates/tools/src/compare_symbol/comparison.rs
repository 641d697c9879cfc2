//! One symbol in two refs, as JSON and as text.

use std::sync::Arc;

use codecompass_model::Symbol;
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_query::diff::{Facet, doc_changed, facets, own_lines};
use codecompass_query::line_diff::{Step, counts, diff_lines, unified};
use codecompass_wire::{SymbolSummary, compare_symbol as wire};

use super::{CompareArgs, SymbolVersion, SymbolVersions, inconsistent_index};
use crate::ref_compare::RefState;
use crate::rows;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Metadata, MetadataText};
use codecompass_workspace::output::{Reader, Render, style};

/// The number of unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

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
    /// The same as a line of a text.
    pub(super) others_text: String,
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
        let sides = ((&before.0.outline.symbols[..], old_text), (&after.0.outline.symbols[..], new_text));
        Status::Modified(facets(places, sides.0, sides.1))
    }

    fn wire(&self) -> wire::Status {
        match self {
            Status::Added => wire::Status::Added,
            Status::Deleted => wire::Status::Deleted,
            Status::Unchanged => wire::Status::Unchanged,
            Status::Modified(_) => wire::Status::Modified,
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

fn lines<'t>(version: &Option<SymbolVersion>, text: &'t str, with_members: bool) -> Vec<(u32, &'t str)> {
    match version {
        Some(version) if with_members => {
            let lines = symbol(version).lines;
            let all = text.lines().zip(1..).map(|(line, number)| (number, line.trim_end()));
            all.filter(|(number, _)| (lines.start..=lines.end).contains(number)).collect()
        }
        Some((file, place)) => own_lines(&file.outline.symbols, *place, text),
        None => Vec::new(),
    }
}

fn steps(old: &[(u32, &str)], new: &[(u32, &str)]) -> Vec<Step> {
    let old: Vec<&str> = old.iter().map(|(_, line)| *line).collect();
    let new: Vec<&str> = new.iter().map(|(_, line)| *line).collect();
    diff_lines(&old, &new)
}

fn version_wire(version: &SymbolVersion) -> wire::SymbolVersion {
    let symbol = symbol(version);
    wire::SymbolVersion {
        symbol_id: SymbolId::new(&version.0.version.path, symbol).to_string(),
        signature: symbol.signature.clone(),
        line_start: symbol.lines.start,
        line_end: symbol.lines.end,
        kind: symbol.kind.as_str().into(),
        language: version.0.version.language.clone(),
        qualified_name: symbol.qualified_name.clone(),
        path: version.0.version.path.clone(),
    }
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
        let with_members = question.with_members && both.inside > 0;
        let (old, new) = (lines(&both.base, &old_text, with_members), lines(&both.head, &new_text, with_members));
        let steps = steps(&old, &new);
        let (added, removed) = counts(&steps);
        let status = match Status::from_versions(both, &old_text, &new_text) {
            Status::Unchanged if with_members && added + removed > 0 => Status::Modified(vec![Facet::Body]),
            status => status,
        };
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
            others_text: String::new(),
            metadata: Metadata::unknown(),
            status,
        };
        if question.with_diff && !compared.is_unchanged() {
            let diff = unified(&old, &new, &steps, CONTEXT_LINES);
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

    fn summary(&self) -> wire::DiffSummary {
        let is_changed = !self.is_unchanged();
        let mut summary = wire::DiffSummary {
            status: self.status.wire(),
            signature_changed: None,
            body_changed: None,
            lines_added: is_changed.then_some(self.counts.added),
            lines_removed: is_changed.then_some(self.counts.removed),
            line_range_shifted: None,
            attributes_changed: self.status.has(Facet::Attributes),
        };
        if let (Status::Modified(_), Some(before), Some(after)) = (&self.status, &self.both.base, &self.both.head) {
            summary.signature_changed = Some(self.status.has(Facet::Signature));
            summary.body_changed = Some(self.status.has(Facet::Body));
            summary.line_range_shifted = Some(symbol(before).lines != symbol(after).lines);
        }
        summary
    }

    fn headline(&self, latest: &SymbolVersion) -> String {
        let mut parts = vec![self.status.wire().as_str().to_owned()];
        let facets = [(Facet::Signature, "signature"), (Facet::Body, "body"), (Facet::Attributes, "attributes")];
        parts.extend(facets.iter().filter(|(facet, _)| self.status.has(*facet)).map(|(_, word)| (*word).to_owned()));
        let docs = if self.is_unchanged() { "except docs" } else { "docs" };
        parts.extend(self.doc_changed.filter(|is_new| *is_new).map(|_| docs.to_owned()));
        if !self.is_unchanged() {
            parts.push(format!("+{} -{} lines", self.counts.added, self.counts.removed));
        }
        format!("{}: {}\n", style::name(&escape_control(&rows::short_name(symbol(latest)))), parts.join(", "))
    }
}

impl Render for SymbolComparison<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let latest = self.latest().ok_or_else(inconsistent_index)?;
        let symbol = symbol(latest);
        Ok(wire::Answer {
            symbol: symbol.name.clone(),
            path: latest.0.version.path.clone(),
            symbol_stable_id: StableId::new(&latest.0.version.language, symbol).to_string(),
            base_ref: self.question.base.clone(),
            head_ref: self.question.head.clone(),
            base_version: self.both.base.as_ref().map(version_wire),
            head_version: self.both.head.as_ref().map(version_wire),
            diff_summary: self.summary(),
            doc_changed: self.doc_changed,
            diff_truncated: self.is_diff_cut,
            diff: self.diff,
            other_matches: self.others,
            metadata: self.metadata,
        })
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
        Ok(text + &self.others_text + &self.metadata.notes())
    }
}
