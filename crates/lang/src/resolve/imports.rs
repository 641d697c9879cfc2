//! Finds the import, and the part of it, that a name in an import statement belongs to.

use codecompass_model::{FileFacts, Import, Reference};

/// A name in an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImportName {
    /// The imported name or its alias, which resolves to the target of the import; the index of the import in the
    /// facts.
    Imported(u32),
    /// A segment of the module's path: the index of the import, and the number of segments up to and including this
    /// one.
    PathSegment(u32, usize),
}

/// Returns the part of an import that a name is. Of several imports with that name the nearest wins: a statement over
/// several lines has its path on the first.
pub(crate) fn import_name_at(facts: &FileFacts, reference: &Reference) -> Option<ImportName> {
    let name = facts.names.get(reference.name as usize)?;
    let parts = facts.imports.iter().enumerate().filter_map(|(at, import)| {
        let part = import_name_in(import, at as u32, name)?;
        let distance = import.line.abs_diff(reference.line);
        Some((distance, matches!(part, ImportName::PathSegment(..)), at, part))
    });
    parts.min_by_key(|&(distance, is_path, at, _)| (distance, is_path, at)).map(|(.., part)| part)
}

fn import_name_in(import: &Import, at: u32, name: &str) -> Option<ImportName> {
    if import.name.as_deref() == Some(name) || import.alias.as_deref() == Some(name) {
        return Some(ImportName::Imported(at));
    }
    segments(import).iter().position(|segment| *segment == name).map(|place| ImportName::PathSegment(at, place + 1))
}

/// Returns the segments of a module's path.
pub(crate) fn segments(import: &Import) -> Vec<&str> {
    let module = import.module.trim_start_matches('.');
    let separator = ["::", "\\"].into_iter().find(|separator| module.contains(separator)).unwrap_or(".");
    module.split(separator).collect()
}
