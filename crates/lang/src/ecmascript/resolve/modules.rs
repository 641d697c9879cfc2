//! Resolves module specifiers to files: relative paths, `paths` of a `tsconfig.json`, packages of the view.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{VersionId, World};

use super::json::Json;

/// The extensions to append to a specifier, in this order.
const EXTENSIONS: &[&str] =
    &["", ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.mts", ".d.cts", ".json", ".vue"];

/// Extensions of compiled files, with those of their sources.
const SOURCE_EXTENSIONS: &[(&str, &[&str])] = &[
    (".js", &[".ts", ".tsx", ".d.ts"]),
    (".jsx", &[".tsx"]),
    (".mjs", &[".mts", ".d.mts"]),
    (".cjs", &[".cts", ".d.cts"]),
];

/// Folders of compiled code; the sources are in `src` or beside it.
const OUTPUT_FOLDERS: &[&str] = &["dist", "lib", "build", "out", "esm", "cjs"];

/// The modules of a view.
pub(super) struct Modules<'w> {
    world: Rc<dyn World + 'w>,
    resolved: RefCell<HashMap<(String, String), Option<VersionId>>>,
    configs: OnceCell<Vec<Config>>,
    packages: OnceCell<Vec<Package>>,
}

/// The settings of a `tsconfig.json` that concern specifiers.
struct Config {
    folder: String,
    /// The folder that non-relative specifiers start from.
    base: Option<String>,
    /// Patterns and their target paths, from the root.
    paths: Vec<(String, Vec<String>)>,
}

/// A `package.json` with a name.
struct Package {
    folder: String,
    name: String,
    json: Json,
}

impl<'w> Modules<'w> {
    pub(super) fn new(world: Rc<dyn World + 'w>) -> Self {
        Modules { world, resolved: RefCell::default(), configs: OnceCell::new(), packages: OnceCell::new() }
    }

    /// Returns the file of a specifier in a file at this path; `None` if it is not in the view.
    pub(super) fn find(&self, path: &str, specifier: &str) -> Option<VersionId> {
        let folder = parent(path).to_owned();
        let key = (folder, specifier.to_owned());
        if let Some(found) = self.resolved.borrow().get(&key) {
            return *found;
        }
        let found = self.look_up(&key.0, specifier);
        self.resolved.borrow_mut().insert(key, found);
        found
    }

    /// Returns whether a specifier without a file in the view names an external package: it is no path, and no file of
    /// the view ends with its path after the first name, which may be an alias of any folder.
    pub(super) fn is_external_package(&self, specifier: &str) -> bool {
        if specifier.starts_with("node:") {
            return true;
        }
        if specifier.starts_with(['.', '/', '#', '~']) {
            return false;
        }
        let scope = usize::from(specifier.starts_with('@'));
        let tail: Vec<&str> = specifier.split('/').skip(1).collect();
        let Some(last) = tail.last().filter(|_| tail.len() > scope || scope == 1) else { return true };
        let stem = last.split('.').next().unwrap_or(last);
        let path = tail[..tail.len() - 1].iter().chain([&stem]).copied().collect::<Vec<_>>().join("/");
        let is_there = |name: String, path: &str| {
            let files = self.world.files_named(&name);
            let mut paths = files.iter().filter_map(|id| self.world.file(*id).map(|file| file.path.clone()));
            paths.any(|found| found.ends_with(&format!("/{path}")) || found == path)
        };
        !EXTENSIONS.iter().any(|ending| {
            is_there(format!("{stem}{ending}"), &format!("{path}{ending}"))
                || is_there(format!("index{ending}"), &format!("{path}/index{ending}"))
        })
    }

    fn look_up(&self, folder: &str, specifier: &str) -> Option<VersionId> {
        let specifier = specifier.split(['?', '!']).next().unwrap_or(specifier);
        if specifier.starts_with('.') {
            return self.module_at(&join(folder, specifier)?);
        }
        if specifier.starts_with('/') || specifier.starts_with("node:") || specifier.is_empty() {
            return None;
        }
        self.by_config(folder, specifier).or_else(|| self.by_package(folder, specifier))
    }

    /// Returns the file or folder module at a path without its extension.
    fn module_at(&self, path: &str) -> Option<VersionId> {
        self.file(path).or_else(|| self.main_of(path)).or_else(|| self.file(&below(path, "index")))
    }

    fn file(&self, path: &str) -> Option<VersionId> {
        let with = |ending: &&str| self.world.file_at(&format!("{path}{ending}"));
        if let Some(found) = EXTENSIONS.iter().find_map(with) {
            return Some(found);
        }
        SOURCE_EXTENSIONS.iter().find_map(|(ending, sources)| {
            let stem = path.strip_suffix(ending)?;
            sources.iter().find_map(|source| self.world.file_at(&format!("{stem}{source}")))
        })
    }

    /// Returns the main file of a folder with a `package.json`.
    fn main_of(&self, folder: &str) -> Option<VersionId> {
        let json = self.read(self.world.file_at(&below(folder, "package.json"))?)?;
        let main = ["types", "module", "main"].into_iter().find_map(|key| json.get(key)?.text())?;
        let path = join(folder, main)?;
        self.file(&path).or_else(|| self.file(&below(&path, "index")))
    }

    fn read(&self, file: VersionId) -> Option<Json> {
        self.world.text(file).map(|text| Json::read(&text))
    }

    fn by_config(&self, folder: &str, specifier: &str) -> Option<VersionId> {
        let configs = self.configs.get_or_init(|| self.configs());
        let around = configs.iter().filter(|config| is_in(folder, &config.folder));
        around.into_iter().find_map(|config| {
            let mapped =
                config.paths.iter().filter_map(|(pattern, targets)| Some((match_star(pattern, specifier)?, targets)));
            let by_path = mapped.flat_map(|(star, targets)| targets.iter().map(move |to| to.replacen('*', star, 1)));
            let by_base = config.base.iter().map(|base| below(base, specifier));
            by_path.chain(by_base).find_map(|path| self.module_at(&path))
        })
    }

    /// Returns all configs, the deepest folders first.
    fn configs(&self) -> Vec<Config> {
        let files = ["tsconfig.json", "jsconfig.json", "tsconfig.base.json"].map(|name| self.world.files_named(name));
        let mut configs: Vec<Config> =
            files.iter().flat_map(|list| list.iter()).filter_map(|&id| self.config(id)).collect();
        configs.sort_by_key(|config| std::cmp::Reverse(config.folder.len()));
        configs
    }

    fn config(&self, id: VersionId) -> Option<Config> {
        let own = self.world.file(id)?.path.clone();
        let (mut path, mut options) = (own.clone(), None);
        // The first config of the chain that defines paths applies.
        for _ in 0..4 {
            let json = self.read(self.world.file_at(&path)?)?;
            let found = json.get("compilerOptions");
            if found.is_some_and(|options| options.get("paths").or(options.get("baseUrl")).is_some()) {
                options = found.cloned();
                break;
            }
            let base = json.get("extends").and_then(|base| base.texts().first().map(|text| (*text).to_owned()))?;
            let next = join(parent(&path), &base).filter(|_| base.starts_with('.'))?;
            path = if next.ends_with(".json") { next } else { format!("{next}.json") };
        }
        let options = options?;
        let base = options.get("baseUrl").and_then(Json::text).and_then(|base| join(parent(&path), base));
        let from = base.clone().unwrap_or_else(|| parent(&path).to_owned());
        let paths = options.get("paths").map_or(&[][..], Json::entries).iter();
        let paths = paths.map(|(pattern, targets)| {
            (pattern.clone(), targets.texts().into_iter().filter_map(|target| join(&from, target)).collect())
        });
        let folder = parent(&own).to_owned();
        Some(Config { folder, base, paths: paths.collect() })
    }

    fn by_package(&self, folder: &str, specifier: &str) -> Option<VersionId> {
        let packages = self.packages.get_or_init(|| self.packages());
        if specifier.starts_with('#') {
            let package =
                packages.iter().filter(|package| is_in(folder, &package.folder)).max_by_key(|p| p.folder.len())?;
            return self.mapped(package, package.json.get("imports")?, specifier);
        }
        packages.iter().find_map(|package| {
            let rest = specifier.strip_prefix(package.name.as_str())?;
            match rest.strip_prefix('/') {
                Some(inside) => self.inside(package, inside),
                None if rest.is_empty() => self.entry(package),
                None => None,
            }
        })
    }

    fn packages(&self) -> Vec<Package> {
        let files = self.world.files_named("package.json");
        let read = |&id: &VersionId| {
            let json = self.read(id)?;
            let name = json.get("name").and_then(Json::text)?.to_owned();
            Some(Package { folder: parent(&self.world.file(id)?.path).to_owned(), name, json })
        };
        files.iter().filter_map(read).filter(|package| !package.name.is_empty()).collect()
    }

    /// Returns the entry file of a package.
    fn entry(&self, package: &Package) -> Option<VersionId> {
        let keys = ["source", "types", "typings", "module", "main"];
        let named =
            || keys.into_iter().filter_map(|key| package.json.get(key)?.text()).find_map(|to| self.target(package, to));
        let exported = package.json.get("exports").and_then(|exports| match exports.get(".") {
            Some(_) => self.mapped(package, exports, "."),
            None => exports.texts().into_iter().find_map(|to| self.target(package, to)),
        });
        exported.or_else(named).or_else(|| self.source(package, "index"))
    }

    fn inside(&self, package: &Package, path: &str) -> Option<VersionId> {
        let exported =
            package.json.get("exports").and_then(|exports| self.mapped(package, exports, &format!("./{path}")));
        exported.or_else(|| self.source(package, path))
    }

    /// Returns the target of a key in a map of exports or imports; patterns may contain one star.
    fn mapped(&self, package: &Package, map: &Json, key: &str) -> Option<VersionId> {
        let fitting = map.entries().iter().filter_map(|(pattern, to)| Some((match_star(pattern, key)?, to)));
        fitting
            .flat_map(|(star, to)| to.texts().into_iter().map(move |to| to.replacen('*', star, 1)))
            .find_map(|to| self.target(package, &to))
    }

    /// Returns the source of a package's target: that file, or the one it was compiled from.
    fn target(&self, package: &Package, to: &str) -> Option<VersionId> {
        let to = to.trim_start_matches("./");
        let direct = below(&package.folder, to);
        let is_compiled = OUTPUT_FOLDERS.contains(&to.split('/').next().unwrap_or(""));
        let found = self.world.file_at(&direct).filter(|_| !to.ends_with(".d.ts")).or_else(|| self.file(&direct));
        found.or_else(|| {
            let mut rest = to;
            while let Some((_, inner)) = rest.split_once('/').filter(|(first, _)| is_compiled && is_output(first)) {
                rest = inner;
            }
            let stem = [".d.ts", ".d.mts", ".d.cts"].iter().find_map(|ending| rest.strip_suffix(ending));
            let stem = stem.or_else(|| rest.rsplit_once('.').map(|(stem, _)| stem)).unwrap_or(rest);
            self.source(package, stem)
        })
    }

    fn source(&self, package: &Package, stem: &str) -> Option<VersionId> {
        let in_src = below(&package.folder, &below("src", stem));
        self.module_at(&in_src).or_else(|| self.module_at(&below(&package.folder, stem)))
    }
}

fn is_output(folder: &str) -> bool {
    OUTPUT_FOLDERS.contains(&folder) || folder == "types"
}

/// Returns the text that matches the star of a pattern; empty for a pattern without a star that equals the text.
fn match_star<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    match pattern.split_once('*') {
        Some((before, after)) => text.strip_prefix(before)?.strip_suffix(after),
        None => (pattern == text).then_some(""),
    }
}

/// Returns whether a folder is another one or inside it.
fn is_in(folder: &str, around: &str) -> bool {
    around.is_empty() || folder.strip_prefix(around).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the folder of a path.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn below(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// Joins a relative path to a folder; `None` if it leads out of the root.
fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
