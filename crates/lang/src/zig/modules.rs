//! Files as modules: the module name of a file, and the file that `@import` loads.

use codecompass_model::{VersionId, World};

/// Source folders; they are not part of module names.
const ROOTS: &[&str] = &["src", "lib"];

/// Modules that every program has and that are not files.
const BUILTIN_MODULES: &[&str] = &["std", "builtin", "root"];

/// Returns the file's part of qualified names.
pub(super) fn name(path: &str) -> String {
    let stem = path.strip_suffix(".zig").unwrap_or(path);
    let mut parts: Vec<&str> = stem.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if let Some(root) = parts.iter().rposition(|part| ROOTS.contains(part)).filter(|root| root + 1 < parts.len()) {
        parts.drain(..=root);
    }
    parts.join(".")
}

/// Returns the file at a path relative to the importing file, or the first file of a package.
pub(super) fn resolve_module(world: &dyn World, from: &str, module: &str) -> Vec<VersionId> {
    if module.ends_with(".zig") {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        return join(folder, module).and_then(|path| world.file_at(&path)).into_iter().collect();
    }
    if BUILTIN_MODULES.contains(&module) || module.contains(['.', '/']) {
        return Vec::new();
    }
    package(world, from, module).into_iter().collect()
}

/// Returns the first file of a package, by convention: `src/NAME.zig`, or `main.zig` and `root.zig` in a folder of its
/// name. Of several, the one whose path shares the longest prefix with the importing file's path.
fn package(world: &dyn World, from: &str, name: &str) -> Option<VersionId> {
    let own = format!("{name}.zig");
    let mut best: Option<(usize, String, VersionId)> = None;
    for file_name in [own.as_str(), "main.zig", "root.zig"] {
        for &id in world.files_named(file_name).iter() {
            let Some(file) = world.file(id) else { continue };
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let mut around = folder.rsplit('/').filter(|part| !ROOTS.contains(part));
            let is_named_so = around.next() == Some(name);
            let is_root = folder.is_empty() || ROOTS.contains(&folder);
            if !(is_named_so || file_name == own && is_root) || file.path == from {
                continue;
            }
            let common = file.path.bytes().zip(from.bytes()).take_while(|(a, b)| a == b).count();
            if best.as_ref().is_none_or(|(most, first, _)| common > *most || common == *most && file.path < *first) {
                best = Some((common, file.path.clone(), id));
            }
        }
    }
    best.map(|(.., id)| id)
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
    use super::{join, name};

    #[test]
    fn module_name_comes_from_path() {
        let cases = [
            ("src/net/http.zig", "net.http"),
            ("build.zig", "build"),
            ("src.zig", "src"),
            ("pkg/a/src/main.zig", "main"),
        ];
        for (path, module) in cases {
            assert_eq!(name(path), module, "{path}");
        }
        assert_eq!(join("src/net", "../a.zig").as_deref(), Some("src/a.zig"));
        assert_eq!(join("", "../a.zig"), None);
    }
}
