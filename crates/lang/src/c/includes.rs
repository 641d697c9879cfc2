//! Resolves `#include` paths to files.

use codecompass_model::{VersionId, World};

/// Resolves an include path from another file: first relative to that file's folder, then to the file whose path has
/// this suffix and shares the longest prefix with the including file's path.
pub(crate) fn resolve_include(world: &dyn World, from: &str, path: &str) -> Vec<VersionId> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = join(folder, path);
    if let Some(found) = beside.as_deref().and_then(|beside| world.file_at(beside)) {
        return vec![found];
    }
    let path = path.trim_start_matches("../").trim_start_matches("./");
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut best: Option<(usize, String, VersionId)> = None;
    for &id in world.files_named(name).iter() {
        let Some(file) = world.file(id) else { continue };
        let ends = file.path == path || file.path.strip_suffix(path).is_some_and(|rest| rest.ends_with('/'));
        let common = file.path.bytes().zip(from.bytes()).take_while(|(a, b)| a == b).count();
        let is_better =
            best.as_ref().is_none_or(|(most, first, _)| common > *most || common == *most && file.path < *first);
        if ends && is_better {
            best = Some((common, file.path.clone(), id));
        }
    }
    best.map(|(.., id)| id).into_iter().collect()
}

/// Joins a path to a folder; `None` when the result is outside the view.
fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn joins_relative_path() {
        assert_eq!(join("src/net", "../a.h").as_deref(), Some("src/a.h"));
        assert_eq!(join("", "./a/b.h").as_deref(), Some("a/b.h"));
        assert_eq!(join("a", "../../b.h"), None);
    }
}
