//! Modules: the module name of a file, and the file that `require` loads.

use codecompass_model::{VersionId, World};

/// Folders in which modules are looked up; they are not part of module names.
const ROOTS: &[&str] = &["src", "lua", "lib"];

/// Returns the file's part of qualified names.
pub(super) fn name(path: &str) -> String {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let mut parts: Vec<&str> = folders.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if let Some(root) = parts.iter().rposition(|part| ROOTS.contains(part)) {
        parts.drain(..=root);
    }
    if stem != "init" {
        parts.push(stem);
    }
    parts.join(".")
}

/// Returns the file of a module: its path has the module as a suffix and shares the longest prefix with the loading
/// file's path.
pub(super) fn resolve_module(world: &dyn World, from: &str, module: &str) -> Vec<VersionId> {
    let path = module.replace('.', "/");
    let last = path.rsplit('/').next().unwrap_or(&path);
    let mut best: Option<(usize, String, VersionId)> = None;
    for (name, whole) in
        [(format!("{last}.lua"), format!("{path}.lua")), ("init.lua".to_owned(), format!("{path}/init.lua"))]
    {
        for &id in world.files_named(&name).iter() {
            let Some(file) = world.file(id) else { continue };
            let ends = file.path == whole || file.path.strip_suffix(&whole).is_some_and(|rest| is_root(world, rest));
            let common = file.path.bytes().zip(from.bytes()).take_while(|(a, b)| a == b).count();
            let is_better = best
                .as_ref()
                .is_none_or(|(most, first, _)| common > *most || common == *most && file.path.len() < first.len());
            if ends && is_better {
                best = Some((common, file.path.clone(), id));
            }
        }
    }
    best.map(|(.., id)| id).into_iter().collect()
}

/// Whether modules may be loaded by their paths from a folder: the folder ends with a slash and is not itself part of a
/// module.
fn is_root(world: &dyn World, folder: &str) -> bool {
    let Some(mut folder) = folder.strip_suffix('/') else { return false };
    loop {
        if world.file_at(&format!("{folder}/init.lua")).is_some() {
            return false;
        }
        match folder.rsplit_once('/') {
            Some((around, _)) => folder = around,
            None => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn module_name_comes_from_path() {
        let cases = [
            ("lua/telescope/actions/init.lua", "telescope.actions"),
            ("src/luarocks/fs.lua", "luarocks.fs"),
            ("spec/a_spec.lua", "spec.a_spec"),
            ("init.lua", ""),
        ];
        for (path, module) in cases {
            assert_eq!(name(path), module, "{path}");
        }
    }
}
