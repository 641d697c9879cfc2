//! Resolves dotted paths to files.
//!
//! A module is identified by its path without the extension: `src/requests` for a package, `src/requests/utils` for a
//! file in it.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use codecompass_model::{VersionId, World};

use super::builtins::is_standard;
use crate::interner::FastMap;

/// The resolved modules by folder and dotted name.
type ResolvedModules = FastMap<(String, String), Option<Rc<str>>>;

/// The modules of a view.
pub(super) struct Modules<'w> {
    world: Rc<dyn World + 'w>,
    packages: OnceCell<Packages>,
    files: RefCell<FastMap<String, Rc<[VersionId]>>>,
    resolved: RefCell<ResolvedModules>,
}

/// The packages of a view.
struct Packages {
    /// The folders that contain top-level packages.
    roots: BTreeSet<String>,
    /// The folders above packages, and the packages.
    folders: BTreeSet<String>,
}

impl<'w> Modules<'w> {
    pub(super) fn new(world: Rc<dyn World + 'w>) -> Self {
        Self { world, packages: OnceCell::new(), files: RefCell::default(), resolved: RefCell::default() }
    }

    /// Returns the files of a module: none for a namespace.
    pub(super) fn files(&self, stem: &str) -> Rc<[VersionId]> {
        if let Some(known) = self.files.borrow().get(stem) {
            return known.clone();
        }
        let candidates =
            [join(stem, "__init__.py"), format!("{stem}.py"), join(stem, "__init__.pyi"), format!("{stem}.pyi")];
        let files: Rc<[VersionId]> = candidates.iter().filter_map(|path| self.world.file_at(path)).collect();
        self.files.borrow_mut().insert(stem.to_owned(), files.clone());
        files
    }

    /// Returns a module inside a package, regardless of the package's own names.
    pub(super) fn submodule(&self, stem: &str, name: &str) -> Option<Rc<str>> {
        let inner = join(stem, name);
        let is_there = !self.files(&inner).is_empty() || self.is_namespace(&inner);
        is_there.then(|| Rc::from(inner))
    }

    /// Returns the module of an import path in a file.
    pub(super) fn find(&self, from: &str, module: &str) -> Option<Rc<str>> {
        let folder = parent(from);
        let key = (folder.to_owned(), module.to_owned());
        if let Some(known) = self.resolved.borrow().get(&key) {
            return known.clone();
        }
        let found = if module.starts_with('.') { self.relative(folder, module) } else { self.absolute(folder, module) };
        self.resolved.borrow_mut().insert(key, found.clone());
        found
    }

    fn relative(&self, folder: &str, module: &str) -> Option<Rc<str>> {
        let path = module.trim_start_matches('.');
        let mut folder = folder;
        for _ in 1..module.len() - path.len() {
            if folder.is_empty() {
                return None;
            }
            folder = parent(folder);
        }
        if path.is_empty() {
            return Some(Rc::from(folder));
        }
        let stem = join(folder, &path.replace('.', "/"));
        let is_there = !self.files(&stem).is_empty() || self.is_namespace(&stem);
        is_there.then(|| Rc::from(stem))
    }

    fn absolute(&self, folder: &str, module: &str) -> Option<Rc<str>> {
        let first = module.split('.').next().unwrap_or(module);
        let path = module.replace('.', "/");
        let roots = self.roots(folder, is_standard(first));
        let stems: Vec<String> = roots.iter().map(|root| join(root, &path)).collect();
        let is_file = |stem: &&String| !self.files(stem).is_empty();
        // A folder with any Python file counts as a namespace only under roots that Python certainly searches.
        let found = stems.iter().find(is_file).or_else(|| {
            let mut namespaces = stems.iter().take(3).filter(|_| !is_standard(first));
            namespaces.find(|stem| self.is_namespace(stem))
        });
        found.map(|stem| Rc::from(stem.as_str()))
    }

    /// Returns the roots of a file's imports: its own root, the repository root, `src`, then all package roots.
    fn roots(&self, folder: &str, is_standard: bool) -> Vec<String> {
        let mut own = folder;
        while self.is_package(own) && !own.is_empty() {
            own = parent(own);
        }
        // A file with the name of a standard library module is rarely the intended target of its neighbours' imports.
        let mut roots: Vec<String> = Vec::new();
        let mut add = |root: &str| {
            if !roots.iter().any(|known| known == root) {
                roots.push(root.to_owned());
            }
        };
        if is_standard {
            add("");
            add("src");
            return roots;
        }
        add(own);
        add("");
        add("src");
        let mut above = own;
        while !above.is_empty() {
            above = parent(above);
            add(above);
        }
        let mut others: Vec<&String> = self.packages().roots.iter().collect();
        others.sort_by_key(|root| std::cmp::Reverse(shared_folders(root, folder)));
        others.into_iter().for_each(|root| add(root));
        add(folder);
        roots
    }

    fn is_package(&self, folder: &str) -> bool {
        ["__init__.py", "__init__.pyi"].iter().any(|file| self.world.file_at(&join(folder, file)).is_some())
    }

    fn is_namespace(&self, folder: &str) -> bool {
        let is_python = |id: &VersionId| self.world.file(*id).is_some_and(|file| file.language == "python");
        self.packages().folders.contains(folder) || self.world.files_in(folder).iter().any(is_python)
    }

    fn packages(&self) -> &Packages {
        self.packages.get_or_init(|| {
            let mut all = BTreeSet::new();
            for name in ["__init__.py", "__init__.pyi"] {
                let files = self.world.files_named(name);
                let paths = files.iter().filter_map(|id| self.world.file(*id));
                all.extend(paths.map(|file| parent(&file.path).to_owned()));
            }
            let mut folders = all.clone();
            for package in &all {
                let mut above = parent(package);
                while !above.is_empty() && folders.insert(above.to_owned()) {
                    above = parent(above);
                }
            }
            let tops = all.iter().map(|package| parent(package)).filter(|above| !all.contains(*above));
            Packages { roots: tops.map(str::to_owned).collect(), folders }
        })
    }
}

/// Returns the number of leading folders that two paths share.
fn shared_folders(one: &str, other: &str) -> usize {
    one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other && !one.is_empty()).count()
}

/// Returns the folder of a path; empty at the root.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
