//! The crates of a view: their root files, and their names in code.

use std::collections::HashMap;

use codecompass_model::{VersionId, World};

use super::manifest::{self, Manifest, code_name};

/// All crates of a view.
#[derive(Default)]
pub(super) struct Crates {
    packages: Vec<Package>,
    /// The roots of libraries by their name in code.
    libraries: HashMap<String, VersionId>,
    /// The package that a root belongs to.
    roots: HashMap<VersionId, usize>,
}

struct Package {
    folder: String,
    manifest: Manifest,
}

/// Folders beside the package's manifest. Each of their files is a crate.
const TARGET_FOLDERS: [&str; 4] = ["src/bin", "tests", "examples", "benches"];

impl Crates {
    /// Reads every manifest of the view.
    pub(super) fn read(world: &dyn World) -> Self {
        let mut crates = Crates::default();
        for &id in world.files_named("Cargo.toml").iter() {
            let (Some(file), Some(text)) = (world.file(id), world.text(id)) else { continue };
            let manifest = manifest::read(&text);
            if !manifest.name.is_empty() {
                let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
                crates.add(world, folder, manifest);
            }
        }
        for &id in world.files_named("main.rs").iter() {
            let Some(file) = world.file(id) else { continue };
            let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(above, _)| above.to_owned());
            let above = folder(&folder(&file.path));
            let owner = TARGET_FOLDERS.iter().find_map(|target| {
                let package = above.strip_suffix(target)?.trim_end_matches('/');
                crates.packages.iter().position(|known| known.folder == package)
            });
            if let Some(package) = owner {
                crates.roots.entry(id).or_insert(package);
            }
        }
        crates
    }

    fn add(&mut self, world: &dyn World, folder: String, manifest: Manifest) {
        let package = self.packages.len();
        let at = |path: &str| world.file_at(&join(&folder, path));
        let library = match &manifest.lib_path {
            Some(path) => at(path),
            None => at("src/lib.rs"),
        };
        if let Some(root) = library {
            let name = code_name(manifest.lib_name.as_deref().unwrap_or(&manifest.name));
            self.libraries.entry(name).or_insert(root);
            self.roots.entry(root).or_insert(package);
        }
        let named = manifest.roots.iter().map(String::as_str).chain(["src/main.rs", "build.rs"]).filter_map(at);
        // `src/bin` is the folder of `bins`.
        let is_found = |target: &&&str| !manifest.named_targets.iter().any(|kind| kind.starts_with(last(target)));
        let usual =
            TARGET_FOLDERS.iter().filter(is_found).flat_map(|target| world.files_in(&join(&folder, target)).to_vec());
        for root in named.chain(usual.filter(|&id| is_rust(world, id))) {
            self.roots.entry(root).or_insert(package);
        }
        self.packages.push(Package { folder, manifest });
    }

    /// Returns whether a file is the root of a crate.
    pub(super) fn is_root(&self, file: VersionId) -> bool {
        self.roots.contains_key(&file)
    }

    /// Returns the root of the library that has this name in code of this crate.
    pub(super) fn library(&self, name: &str, from: VersionId) -> Option<VersionId> {
        let package = self.roots.get(&from).map(|&package| &self.packages[package]);
        let renamed = package.and_then(|package| package.manifest.renames.iter().find(|(alias, _)| alias == name));
        self.libraries.get(renamed.map_or(name, |(_, name)| name)).copied()
    }

    /// Returns whether paths in `use` begin at the root of this crate.
    pub(super) fn is_2015(&self, root: VersionId) -> bool {
        self.roots.get(&root).is_some_and(|&package| self.packages[package].manifest.is_2015)
    }

    /// Returns whether the crate with this root depends on another by this name.
    pub(super) fn depends(&self, root: VersionId, name: &str) -> bool {
        let package = self.roots.get(&root).map(|&package| &self.packages[package]);
        package.is_some_and(|package| package.manifest.dependencies.iter().any(|known| known == name))
    }

    /// Returns whether a feature of the crate with this root is on by default. Without a manifest, every feature is.
    pub(super) fn has_feature(&self, root: VersionId, feature: &str) -> bool {
        let package = self.roots.get(&root).map(|&package| &self.packages[package]);
        package.is_none_or(|package| package.manifest.defaults.iter().any(|name| name == feature))
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_rust(world: &dyn World, id: VersionId) -> bool {
    world.file(id).is_some_and(|file| file.path.ends_with(".rs"))
}

/// Returns a path below a folder, with `.` and `..` resolved.
pub(super) fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
