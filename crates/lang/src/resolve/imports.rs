//! Which import a name belongs to that stands in an import statement, and as which part of it.

use codecompass_model::{FileFacts, Import, Reference};

/// A name in an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The name that is imported, or the one it gets here: whom the import means. By its index in the facts.
    Whole(u32),
    /// So many names of the module's path, this one the last of them.
    Path(u32, usize),
}

/// The part that a name is. Of several imports with that name the nearest counts: a statement over several lines has its
/// path on the first.
pub(crate) fn part(facts: &FileFacts, reference: &Reference) -> Option<Part> {
    let name = facts.names.get(reference.name as usize)?;
    let parts = facts.imports.iter().enumerate().filter_map(|(at, import)| {
        let part = part_of(import, at as u32, name)?;
        let distance = import.line.abs_diff(reference.line);
        Some((distance, matches!(part, Part::Path(..)), at, part))
    });
    parts.min_by_key(|&(distance, is_path, at, _)| (distance, is_path, at)).map(|(.., part)| part)
}

fn part_of(import: &Import, at: u32, name: &str) -> Option<Part> {
    if import.name.as_deref() == Some(name) || import.alias.as_deref() == Some(name) {
        return Some(Part::Whole(at));
    }
    segments(import).iter().position(|segment| *segment == name).map(|place| Part::Path(at, place + 1))
}

/// The names of a module's path.
pub(crate) fn segments(import: &Import) -> Vec<&str> {
    let module = import.module.trim_start_matches('.');
    let separator = ["::", "\\"].into_iter().find(|separator| module.contains(separator)).unwrap_or(".");
    module.split(separator).collect()
}
