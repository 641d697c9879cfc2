//! The changed lines of bodies, in a diff that is short enough to show all of them.
//!
//! A reviewer of a small change reads every line of it, so the answer has them and needs no second call. A larger
//! change lists names, and a filter by path or a symbol makes it small.

use std::collections::HashMap;

use codecompass_model::SymbolAt;
use codecompass_query::diff::{Pair, Severity, SymbolChange, SymbolSide, own_lines};
use codecompass_query::line_diff::{diff_lines, unified};
use codecompass_store::Snapshot;

use super::RefPair;
use crate::rows;
use codecompass_workspace::error::AppError;
use codecompass_workspace::output::style;

/// The maximum size of all changed lines, in bytes.
const MAX_BYTES: usize = 6 << 10;

/// The number of unchanged lines around a change.
const CONTEXT_LINES: usize = 1;

/// Whether only the body of a symbol changed.
pub(super) fn is_body_change(pair: &Pair<'_>) -> bool {
    pair.change() == Some(SymbolChange::Modified) && pair.severity() == Severity::None
}

/// Returns the changed lines of each body, below its row; nothing if they are too long together.
pub(super) fn body_lines(sides: &RefPair, page: &[Pair<'_>]) -> Result<HashMap<SymbolAt, String>, AppError> {
    let mut found = HashMap::new();
    let mut bytes = 0;
    for pair in page.iter().filter(|pair| is_body_change(pair)) {
        let (Some(before), Some(after)) = (pair.before, pair.after) else { continue };
        let lines = changed_lines((before, &sides.base.snapshot), (after, &sides.head.snapshot))?;
        bytes += lines.len();
        if bytes > MAX_BYTES {
            return Ok(HashMap::new());
        }
        found.insert(after.at(), lines);
    }
    Ok(found)
}

fn changed_lines(
    (before, base): (SymbolSide<'_>, &Snapshot),
    (after, head): (SymbolSide<'_>, &Snapshot),
) -> Result<String, AppError> {
    let (old_text, new_text) = (base.text(before.file.version.id)?, head.text(after.file.version.id)?);
    let old = own_lines(&before.file.outline.symbols, before.ordinal, &old_text);
    let new = own_lines(&after.file.outline.symbols, after.ordinal, &new_text);
    let old_lines: Vec<&str> = old.iter().map(|(_, line)| *line).collect();
    let new_lines: Vec<&str> = new.iter().map(|(_, line)| *line).collect();
    let steps = diff_lines(&old_lines, &new_lines);
    let mut rows = String::new();
    for line in unified(&old, &new, &steps, CONTEXT_LINES).lines() {
        let line = rows::exact(line);
        let line = match line.as_bytes().first() {
            Some(b'+') => style::added(&line),
            Some(b'-') => style::hit(&line),
            Some(b'@') => style::dim(&line),
            _ => line,
        };
        rows += &format!("\n  {line}");
    }
    Ok(rows)
}
