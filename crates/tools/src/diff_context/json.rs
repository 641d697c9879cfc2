//! Changes as they are on the wire.

use codecompass_index::source::{ChangeType, FileChange};
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_query::diff::{Facet, Pair, SymbolChange, SymbolSide, doc_changed, facets};
use codecompass_wire::diff_context as wire;

use crate::ref_compare::RefState;
use crate::shape;
use codecompass_workspace::error::AppError;

/// The maximum length of a signature, in characters: long enough to compare two of them.
const MAX_SIGNATURE_CHARS: usize = 400;

/// A changed file.
pub(super) fn file(file: &FileChange) -> wire::FileChange {
    let is_renamed = file.change_type() == ChangeType::Renamed;
    wire::FileChange {
        path: file.path.clone(),
        change_type: file.change_type().as_str().into(),
        old_path: file.old_path.clone().filter(|_| is_renamed),
    }
}

/// A changed symbol with both its sides.
pub(super) fn change(base: &RefState, head: &RefState, pair: &Pair<'_>) -> Result<wire::Change, AppError> {
    let latest = pair.latest();
    let change = pair.change().unwrap_or(SymbolChange::Modified);
    let changed = match (change, pair.before.zip(pair.after)) {
        (SymbolChange::Modified, Some((before, after))) => {
            let old = base.snapshot.text(before.file.version.id)?;
            let new = head.snapshot.text(after.file.version.id)?;
            let places = (before.ordinal, after.ordinal);
            let facets = facets(places, (&before.file.outline.symbols, &old), (&after.file.outline.symbols, &new));
            Some(facets.into_iter().map(changed_part).collect())
        }
        _ => None,
    };
    let lines = latest.symbol().lines;
    Ok(wire::Change {
        symbol: latest.symbol().name.clone(),
        change_type: change_type(change),
        changed,
        before: pair.before.as_ref().map(side),
        after: pair.after.as_ref().map(side),
        path: latest.path().to_owned(),
        lines: wire::Lines { start: lines.start, end: lines.end },
    })
}

/// The word for a change.
pub(super) fn change_type(change: SymbolChange) -> wire::ChangeType {
    match change {
        SymbolChange::Added => wire::ChangeType::Added,
        SymbolChange::Modified => wire::ChangeType::Modified,
        SymbolChange::Deleted => wire::ChangeType::Deleted,
    }
}

fn changed_part(facet: Facet) -> wire::ChangedPart {
    match facet {
        Facet::Signature => wire::ChangedPart::Signature,
        Facet::Body => wire::ChangedPart::Body,
        Facet::Attributes => wire::ChangedPart::Attributes,
        Facet::Doc => wire::ChangedPart::Doc,
    }
}

/// The symbols where only the docs differ.
pub(super) fn doc_only<'f>(base: &RefState, head: &RefState, pairs: &[Pair<'f>]) -> Result<Vec<Pair<'f>>, AppError> {
    let mut found = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.change().is_none()) {
        let Some((before, after)) = pair.before.zip(pair.after) else { continue };
        if before.symbol().doc.is_none() && after.symbol().doc.is_none() {
            continue;
        }
        let old = base.snapshot.text(before.file.version.id)?;
        let new = head.snapshot.text(after.file.version.id)?;
        if doc_changed((before.symbol(), &old), (after.symbol(), &new)) {
            found.push(*pair);
        }
    }
    Ok(found)
}

/// A symbol where only the docs differ.
pub(super) fn doc_change(pair: &Pair<'_>) -> wire::DocChange {
    let latest = pair.latest();
    let symbol = latest.symbol();
    wire::DocChange {
        symbol: symbol.name.clone(),
        qualified_name: symbol.qualified_name.clone(),
        kind: symbol.kind.as_str().into(),
        path: latest.path().to_owned(),
        line_start: symbol.lines.start,
    }
}

/// One side of a symbol.
fn side(entry: &SymbolSide<'_>) -> wire::SymbolSide {
    let symbol = entry.symbol();
    wire::SymbolSide {
        symbol_id: SymbolId::new(entry.path(), symbol).to_string(),
        symbol_stable_id: StableId::new(&entry.file.version.language, symbol).to_string(),
        kind: symbol.kind.as_str().into(),
        qualified_name: symbol.qualified_name.clone(),
        signature: shape::truncate(&symbol.signature, MAX_SIGNATURE_CHARS),
        path: entry.path().to_owned(),
        line_start: symbol.lines.start,
        line_end: symbol.lines.end,
    }
}
