//! A snapshot as the rules of a language see it.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use codecompass_model::{SourceFile, SymbolAt, SymbolKind, VersionId, World};
use codecompass_store::{Result, Snapshot, StoreError, VersionInfo};

use super::Memory;

/// See the module. An error of the store is kept and told by [`SnapshotWorld::failure`]; until then, whatever could not be
/// read is not there.
pub struct SnapshotWorld<'s> {
    snapshot: &'s Snapshot,
    shelf: &'s Shelf,
    failure: RefCell<Option<StoreError>>,
}

/// What was read of a snapshot so far. It outlives the worlds that fill it.
#[derive(Default)]
pub(super) struct Shelf {
    files: RefCell<HashMap<VersionId, Option<Rc<SourceFile>>>>,
    texts: RefCell<HashMap<VersionId, Option<Rc<str>>>>,
    symbols: RefCell<HashMap<String, Rc<[SymbolAt]>>>,
    layout: OnceCell<Layout>,
}

impl Shelf {
    /// Lets go of the files if there are more than so many; whether it did.
    pub(super) fn forget_over(&self, files: usize) -> bool {
        let is_much = self.files.borrow().len() > files;
        if is_much {
            self.files.borrow_mut().clear();
            self.texts.borrow_mut().clear();
            self.symbols.borrow_mut().clear();
        }
        is_much
    }
}

/// Where the files stand.
#[derive(Default)]
struct Layout {
    by_path: BTreeMap<String, VersionId>,
    by_folder: HashMap<String, Rc<[VersionId]>>,
    by_name: HashMap<String, Rc<[VersionId]>>,
}

impl<'s> SnapshotWorld<'s> {
    /// The world of a snapshot, with what was read of it before.
    pub fn new(snapshot: &'s Snapshot, memory: &'s Memory) -> Self {
        Self { snapshot, shelf: &memory.shelf, failure: RefCell::default() }
    }

    /// The snapshot itself.
    pub fn snapshot(&self) -> &'s Snapshot {
        self.snapshot
    }

    /// The first error of the store that was met.
    pub fn failure(&self) -> Result<()> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn tried<T>(&self, outcome: Result<T>) -> Option<T> {
        outcome.map_err(|error| *self.failure.borrow_mut() = Some(error)).ok()
    }

    fn read(&self, id: VersionId) -> Option<Rc<SourceFile>> {
        let version = self.tried(self.snapshot.version(id))??;
        let facts = self.tried(self.snapshot.facts(id))?;
        let VersionInfo { path, language, .. } = &*version;
        Some(Rc::new(SourceFile { id, path: path.clone(), language: language.clone(), facts: Rc::new(facts) }))
    }

    fn layout(&self) -> &Layout {
        self.shelf.layout.get_or_init(|| {
            let Some(catalogue) = self.tried(self.snapshot.catalogue()) else { return Layout::default() };
            let by_path: BTreeMap<String, VersionId> =
                catalogue.values().map(|version| (version.path.clone(), version.id)).collect();
            let mut folders: HashMap<&str, Vec<VersionId>> = HashMap::new();
            let mut names: HashMap<&str, Vec<VersionId>> = HashMap::new();
            for (path, id) in &by_path {
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                folders.entry(folder).or_default().push(*id);
                names.entry(name).or_default().push(*id);
            }
            let kept = |map: HashMap<&str, Vec<VersionId>>| {
                map.into_iter().map(|(key, ids)| (key.to_owned(), ids.into())).collect()
            };
            let (by_folder, by_name) = (kept(folders), kept(names));
            Layout { by_path, by_folder, by_name }
        })
    }
}

impl World for SnapshotWorld<'_> {
    fn file(&self, id: VersionId) -> Option<Rc<SourceFile>> {
        if let Some(known) = self.shelf.files.borrow().get(&id) {
            return known.clone();
        }
        let file = self.read(id);
        self.shelf.files.borrow_mut().insert(id, file.clone());
        file
    }

    fn file_at(&self, path: &str) -> Option<VersionId> {
        self.layout().by_path.get(path).copied()
    }

    fn files_in(&self, folder: &str) -> Rc<[VersionId]> {
        self.layout().by_folder.get(folder).cloned().unwrap_or_else(|| Rc::from([]))
    }

    fn files_named(&self, name: &str) -> Rc<[VersionId]> {
        self.layout().by_name.get(name).cloned().unwrap_or_else(|| Rc::from([]))
    }

    fn text(&self, id: VersionId) -> Option<Rc<str>> {
        if let Some(known) = self.shelf.texts.borrow().get(&id) {
            return known.clone();
        }
        let text = self.tried(self.snapshot.text(id)).map(|text| Rc::from(&*text));
        self.shelf.texts.borrow_mut().insert(id, text.clone());
        text
    }

    fn symbols_named(&self, name: &str) -> Rc<[SymbolAt]> {
        if let Some(known) = self.shelf.symbols.borrow().get(name) {
            return known.clone();
        }
        let rows = self.tried(self.snapshot.symbols_named(name)).unwrap_or_default();
        let mut found: Vec<(String, SymbolAt)> = Vec::with_capacity(rows.len());
        for row in rows.into_iter().filter(|row| row.kind != SymbolKind::Use) {
            if let Some(version) = self.tried(self.snapshot.version(row.version)).flatten() {
                found.push((version.path.clone(), SymbolAt { file: row.version, place: row.place }));
            }
        }
        found.sort();
        let found: Rc<[SymbolAt]> = found.into_iter().map(|(_, at)| at).collect();
        self.shelf.symbols.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }
}
