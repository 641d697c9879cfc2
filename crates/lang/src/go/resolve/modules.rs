//! Resolves import paths to folders: the modules of the view, by their `go.mod` files.

use std::collections::HashMap;

use codecompass_model::World;

/// The modules of a view.
pub(super) struct Modules {
    /// The folder of each module, by its path; a path that is declared twice keeps the first folder.
    folders: HashMap<String, String>,
}

impl Modules {
    /// Reads all `go.mod` files.
    pub(super) fn read(world: &dyn World) -> Self {
        let mut folders = HashMap::new();
        for &id in world.files_named("go.mod").iter() {
            let (Some(file), Some(text)) = (world.file(id), world.text(id)) else { continue };
            let Some(path) = module_path(&text) else { continue };
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            folders.entry(path.to_owned()).or_insert_with(|| folder.to_owned());
        }
        Self { folders }
    }

    /// Returns the folder of a package path, by the module with the longest matching path; `None` if no module of the
    /// view has it.
    pub(super) fn folder(&self, path: &str) -> Option<String> {
        let mut module = path;
        loop {
            if let Some(folder) = self.folders.get(module) {
                let rest = path[module.len()..].trim_start_matches('/');
                return Some(match (folder.is_empty(), rest.is_empty()) {
                    (true, _) => rest.to_owned(),
                    (_, true) => folder.clone(),
                    _ => format!("{folder}/{rest}"),
                });
            }
            (module, _) = module.rsplit_once('/')?;
        }
    }
}

/// Returns the path in the `module` line.
fn module_path(text: &str) -> Option<&str> {
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("module"))?;
    let path = line.split("//").next().unwrap_or(line).trim().trim_matches(['"', '`', '(', ')']);
    (!path.is_empty() && line.starts_with([' ', '\t'])).then_some(path.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_module_line() {
        let table = [
            ("module a.com/b\n\ngo 1.21\n", Some("a.com/b")),
            ("// a comment\nmodule \"a.com/b\" // why\n", Some("a.com/b")),
            ("go 1.21\n", None),
            ("modules\n", None),
        ];
        for (text, path) in table {
            assert_eq!(module_path(text), path, "{text}");
        }
    }

    #[test]
    fn longest_module_path_wins() {
        let pairs = [("a.com/b", ""), ("a.com/b/sub", "sub"), ("c.com", "staging/c")];
        let folders = pairs.iter().map(|(path, folder)| ((*path).to_owned(), (*folder).to_owned())).collect();
        let modules = Modules { folders };
        let table = [
            ("a.com/b", Some("")),
            ("a.com/b/x/y", Some("x/y")),
            ("a.com/b/sub/y", Some("sub/y")),
            ("c.com", Some("staging/c")),
            ("c.com/d", Some("staging/c/d")),
            ("a.com/bc", None),
            ("fmt", None),
        ];
        for (path, folder) in table {
            assert_eq!(modules.folder(path).as_deref(), folder, "{path}");
        }
    }
}
