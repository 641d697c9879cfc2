//! A snapshot as the `World` that the resolvers of languages query.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::{SourceFile, SymbolAt, VersionId, World};
use codecompass_store::{Result, Snapshot, StoreError, VersionInfo};

/// The `World` of a snapshot. Loaded files are cached. [`SnapshotWorld::failure`] returns store errors; data that could
/// not be read is treated as missing until then.
pub(super) struct SnapshotWorld {
    snapshot: Rc<Snapshot>,
    files: RefCell<HashMap<VersionId, Option<Rc<SourceFile>>>>,
    symbols: RefCell<HashMap<String, Rc<[SymbolAt]>>>,
    layout: OnceCell<Layout>,
    /// The size of the loaded files.
    loaded_bytes: Cell<usize>,
    failure: RefCell<Option<StoreError>>,
}

/// The files by path, folder and name.
#[derive(Default)]
struct Layout {
    /// Ordered by path.
    by_path: Vec<Rc<VersionInfo>>,
    by_folder: HashMap<String, Rc<[VersionId]>>,
    by_name: HashMap<String, Rc<[VersionId]>>,
}

impl SnapshotWorld {
    pub(super) fn new(snapshot: Rc<Snapshot>) -> Self {
        Self {
            snapshot,
            files: RefCell::default(),
            symbols: RefCell::default(),
            layout: OnceCell::new(),
            loaded_bytes: Cell::default(),
            failure: RefCell::default(),
        }
    }

    /// The snapshot itself.
    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The size of the loaded files in bytes.
    pub(super) fn loaded_bytes(&self) -> usize {
        self.loaded_bytes.get()
    }

    /// Evicts all files.
    pub(super) fn evict(&self) {
        self.loaded_bytes.set(0);
        self.files.borrow_mut().clear();
        self.symbols.borrow_mut().clear();
    }

    /// Takes the first store error that occurred.
    pub(super) fn failure(&self) -> Option<StoreError> {
        self.failure.borrow_mut().take()
    }

    fn record_error<T>(&self, outcome: Result<T>) -> Option<T> {
        let keep = |error| {
            self.failure.borrow_mut().get_or_insert(error);
        };
        outcome.map_err(keep).ok()
    }

    fn read(&self, id: VersionId) -> Option<Rc<SourceFile>> {
        let version = self.record_error(self.snapshot.version(id))??;
        let facts = self.record_error(self.snapshot.facts(id))?;
        let VersionInfo { path, language, .. } = &*version;
        self.loaded_bytes.set(self.loaded_bytes.get() + facts.heap_bytes() + facts.symbols_heap_bytes());
        Some(Rc::new(SourceFile { id, path: path.clone(), language: language.clone(), facts }))
    }

    fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| {
            let Some(catalogue) = self.record_error(self.snapshot.versions_by_id()) else { return Layout::default() };
            let mut by_path: Vec<Rc<VersionInfo>> = catalogue.values().cloned().collect();
            by_path.sort_by(|a, b| a.path.cmp(&b.path));
            let mut folders: HashMap<&str, Vec<VersionId>> = HashMap::new();
            let mut names: HashMap<&str, Vec<VersionId>> = HashMap::new();
            for version in &by_path {
                let (folder, name) = version.path.rsplit_once('/').unwrap_or(("", &version.path));
                folders.entry(folder).or_default().push(version.id);
                names.entry(name).or_default().push(version.id);
            }
            let kept = |map: HashMap<&str, Vec<VersionId>>| {
                map.into_iter().map(|(key, ids)| (key.to_owned(), ids.into())).collect()
            };
            let (by_folder, by_name) = (kept(folders), kept(names));
            Layout { by_path, by_folder, by_name }
        })
    }
}

impl World for SnapshotWorld {
    fn file(&self, id: VersionId) -> Option<Rc<SourceFile>> {
        if let Some(known) = self.files.borrow().get(&id) {
            return known.clone();
        }
        let file = self.read(id);
        self.files.borrow_mut().insert(id, file.clone());
        file
    }

    fn file_at(&self, path: &str) -> Option<VersionId> {
        let by_path = &self.layout().by_path;
        by_path.binary_search_by(|version| version.path.as_str().cmp(path)).ok().map(|at| by_path[at].id)
    }

    fn files_in(&self, folder: &str) -> Rc<[VersionId]> {
        self.layout().by_folder.get(folder).cloned().unwrap_or_else(|| Rc::from([]))
    }

    fn files_named(&self, name: &str) -> Rc<[VersionId]> {
        self.layout().by_name.get(name).cloned().unwrap_or_else(|| Rc::from([]))
    }

    fn text(&self, id: VersionId) -> Option<Arc<str>> {
        self.record_error(self.snapshot.text(id))
    }

    fn symbols_named(&self, name: &str) -> Rc<[SymbolAt]> {
        if let Some(known) = self.symbols.borrow().get(name) {
            return known.clone();
        }
        let rows = self.record_error(self.snapshot.symbols_named(name)).unwrap_or_default();
        let mut found: Vec<(String, SymbolAt)> = Vec::with_capacity(rows.len());
        for row in rows.into_iter().filter(|row| row.kind.can_be_named()) {
            if let Some(version) = self.record_error(self.snapshot.version(row.version)).flatten() {
                found.push((version.path.clone(), SymbolAt { file: row.version, ordinal: row.ordinal }));
            }
        }
        found.sort();
        let found: Rc<[SymbolAt]> = found.into_iter().map(|(_, at)| at).collect();
        self.symbols.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    fn files_naming(&self, name: &str) -> Rc<[VersionId]> {
        let found = self.record_error(self.snapshot.references_named(name)).unwrap_or_default();
        let path =
            |id: VersionId| self.record_error(self.snapshot.version(id)).flatten().map(|version| version.path.clone());
        let mut found: Vec<(Option<String>, VersionId)> = found.into_iter().map(|(id, _)| (path(id), id)).collect();
        found.sort();
        found.into_iter().map(|(_, id)| id).collect()
    }
}
