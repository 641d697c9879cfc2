//! Details of a symbol: its first lines, its parent, and the symbols it uses.

use std::collections::HashSet;

use codecompass_model::{FileFacts, RefShape, Reference, Symbol, SymbolKind};
use codecompass_store::{Result, Snapshot, VersionInfo};

use crate::SymbolHit;

/// The maximum number of lines in a body preview.
const MAX_PREVIEW_LINES: usize = 12;

/// The maximum number of related symbols.
const MAX_RELATED: usize = 5;

/// Details of one symbol.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The first lines of the symbol.
    pub body_preview: String,
    /// The enclosing symbol.
    pub parent: Option<SymbolSummary>,
    /// The symbols that it uses, types first.
    pub related: Vec<SymbolSummary>,
}

/// A one-line summary of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolSummary {
    /// The kind.
    pub kind: SymbolKind,
    /// The name.
    pub name: String,
    /// The path of the file.
    pub path: String,
    /// The line on which it starts.
    pub line: u32,
}

impl SymbolSummary {
    fn new(path: &str, symbol: &Symbol) -> Self {
        Self { kind: symbol.kind, name: symbol.name.clone(), path: path.to_owned(), line: symbol.lines.start }
    }
}

/// Returns the details of a symbol of a file.
pub fn detail(snapshot: &Snapshot, version: &VersionInfo, place: u32) -> Result<Option<Detail>> {
    let facts = &snapshot.facts(version.id)?;
    let Some(symbol) = facts.symbols.get(place as usize) else {
        return Ok(None);
    };
    let text = snapshot.text(version.id)?;
    let parent = symbol.parent.and_then(|parent| facts.symbols.get(parent as usize));
    Ok(Some(Detail {
        body_preview: preview(symbol.span.text(&text), indent(&text, symbol)),
        parent: parent.map(|parent| SymbolSummary::new(&version.path, parent)),
        related: related(snapshot, version, facts, place)?,
    }))
}

/// Returns the indentation of the line on which a symbol starts.
fn indent<'t>(text: &'t str, symbol: &Symbol) -> &'t str {
    let before = text.get(..symbol.span.start as usize).unwrap_or("");
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    &line[..line.len() - line.trim_start().len()]
}

/// Returns the first lines without the indentation of the symbol. If lines are omitted, the last line states how many.
fn preview(body: &str, indent: &str) -> String {
    let lines: Vec<&str> = body.lines().map(|line| line.strip_prefix(indent).unwrap_or(line).trim_end()).collect();
    if lines.len() <= MAX_PREVIEW_LINES {
        return lines.join("\n");
    }
    let left = lines.len() - (MAX_PREVIEW_LINES - 1);
    format!("{}\n… {left} more lines", lines[..MAX_PREVIEW_LINES - 1].join("\n"))
}

/// Returns the symbols that this symbol names, types before calls, each in source order. A name counts only if it is
/// defined in the same file or exactly once in the view.
fn related(snapshot: &Snapshot, version: &VersionInfo, facts: &FileFacts, place: u32) -> Result<Vec<SymbolSummary>> {
    let is_type = |shape: RefShape| {
        matches!(shape, RefShape::Type | RefShape::Extends | RefShape::Implements | RefShape::Construct)
    };
    let is_call = |shape: RefShape| matches!(shape, RefShape::Call | RefShape::PathCall | RefShape::SelfCall);
    let is_use = |found: &&Reference| found.shape.is_use() && found.binding.is_none();
    let mine = facts.references.iter().filter(is_use).filter(|found| is_inside(facts, found.symbol, place));
    let named = |wanted: &dyn Fn(RefShape) -> bool| {
        mine.clone().filter(|found| wanted(found.shape)).map(|found| found.name).collect::<Vec<u32>>()
    };
    let mut seen = HashSet::from([facts.symbols[place as usize].name.as_str()]);
    let mut related = Vec::new();
    for name in named(&is_type).into_iter().chain(named(&is_call)) {
        let Some(name) = facts.names.get(name as usize).filter(|name| seen.insert(name)) else { continue };
        related.extend(only_definition(snapshot, version, facts, name)?);
        if related.len() == MAX_RELATED {
            break;
        }
    }
    Ok(related)
}

fn is_inside(facts: &FileFacts, symbol: Option<u32>, place: u32) -> bool {
    let mut at = symbol;
    while let Some(symbol) = at {
        if symbol == place {
            return true;
        }
        at = facts.symbols.get(symbol as usize).and_then(|symbol| symbol.parent);
    }
    false
}

fn only_definition(
    snapshot: &Snapshot,
    version: &VersionInfo,
    facts: &FileFacts,
    name: &str,
) -> Result<Option<SymbolSummary>> {
    let defines = |kind: SymbolKind| kind.can_be_named() && !matches!(kind, SymbolKind::Impl | SymbolKind::Field);
    if let Some(symbol) = facts.symbols.iter().find(|symbol| symbol.name == name && defines(symbol.kind)) {
        return Ok(Some(SymbolSummary::new(&version.path, symbol)));
    }
    let rows = snapshot.symbols_named(name)?;
    let mut rows = rows.iter().filter(|row| defines(row.kind));
    match (rows.next(), rows.next()) {
        (Some(row), None) => {
            let hit = SymbolHit::read(snapshot, row)?;
            let same_language = hit.version.language == version.language;
            Ok(same_language.then(|| SymbolSummary::new(&hit.version.path, hit.symbol())))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preview_is_truncated_with_a_note() {
        assert_eq!(preview("fn a() {\n        b();\n    }", "    "), "fn a() {\n    b();\n}");
        let long: String = (0..30).map(|n| format!("line {n}\n")).collect();
        let short = preview(&long, "");
        assert_eq!(short.lines().count(), MAX_PREVIEW_LINES);
        assert!(short.ends_with("line 10\n… 19 more lines"), "{short}");
    }
}
