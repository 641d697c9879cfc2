//! Resolves `require` and `require_relative` to files.

use codecompass_model::{VersionId, World};

/// Returns the file that a name loads. A name with a leading dot is relative to the loading file. Any other name is
/// looked up in a searched folder; of several files whose paths have this suffix, the one that shares the longest
/// prefix with the loading file is chosen.
pub(super) fn resolve_require(world: &dyn World, from: &str, module: &str) -> Vec<VersionId> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_relative = module.starts_with('.');
    let whole = if is_relative { join_path(folder, module) } else { module.to_owned() };
    let whole = if whole.ends_with(".rb") { whole } else { whole + ".rb" };
    let name = whole.rsplit('/').next().unwrap_or(&whole);
    let mut best: Option<(usize, usize, VersionId)> = None;
    for &id in world.files_named(name).iter() {
        let Some(file) = world.file(id) else { continue };
        let is_one = match is_relative {
            true => file.path == whole,
            false => file.path == whole || file.path.strip_suffix(&whole).is_some_and(|rest| rest.ends_with('/')),
        };
        let common = file.path.bytes().zip(from.bytes()).take_while(|(a, b)| a == b).count();
        let is_better =
            best.is_none_or(|(most, length, _)| common > most || common == most && file.path.len() < length);
        if is_one && is_better {
            best = Some((common, file.path.len(), id));
        }
    }
    best.map(|(.., id)| id).into_iter().collect()
}

/// Joins a path to a folder.
fn join_path(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    #[test]
    fn joins_relative_path() {
        assert_eq!(super::join_path("lib/a", "./b/c"), "lib/a/b/c");
        assert_eq!(super::join_path("lib/a", "./../b"), "lib/b");
        assert_eq!(super::join_path("", "./../../b"), "b");
    }
}
