//! Reading: an open store, and one generation of one of its views.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{FileFacts, VersionId, ViewKey};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, ToSql};

use crate::cache::{Decoded, Part, VersionCache, VersionKey};
use crate::layout::Lock;
use crate::records::RecordRows;
use crate::text::TextIndex;
use crate::text_loader::TextLoader;
use crate::text_reader::TextReader;
use crate::verified::VerifiedFiles;
use crate::views::{self, Bitmaps, ViewInfo};
use crate::{
    CachedStat, Job, JobStatus, Outline, ProjectDir, Result, StoreError, StoredVersion, SymbolRow, VersionInfo, codec,
    jobs, postings, rows, schema, stat_cache,
};

/// An open store: published views, jobs, registered workspaces.
#[derive(Debug)]
pub struct Store {
    dir: ProjectDir,
    epoch: PathBuf,
    connection: Connection,
}

impl Store {
    /// Opens the store of a project for reading.
    pub fn open(dir: &ProjectDir) -> Result<Self> {
        let epoch = dir.epoch()?;
        dir.check_noted_corruption(&epoch)?;
        let connection = schema::open_at(&epoch)?;
        Ok(Self { dir: dir.clone(), epoch, connection })
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Verifies the files of the text index on a thread of its own, unless this process did so before. Later reads find
    /// the work done or wait for the rest of it. A command lists the work tree meanwhile.
    pub fn verify_in_background(&self) {
        let (folder, examined) = (self.epoch.join("text"), Arc::clone(self.dir.verified_files()));
        if !examined.has_verified_in(&folder) {
            // Later readers find the same errors again, so neither an error nor a failed thread start matters here.
            let examine = move || drop(TextIndex::open_verified(&folder, &examined).and_then(|text| text.searcher()));
            let _ = std::thread::Builder::new().name("examine".into()).spawn(examine);
        }
    }

    /// Whether the project still uses this store: it was not replaced and is not known to be corrupt.
    pub fn is_current(&self) -> bool {
        self.dir.epoch().is_ok_and(|epoch| epoch == self.epoch && self.dir.check_noted_corruption(&epoch).is_ok())
    }

    /// Returns the number of symbols in these file versions.
    pub fn symbol_count(&self, versions: &RoaringBitmap) -> Result<u64> {
        let mut count = 0;
        rows::for_each_total(&self.connection, versions.iter(), |one| count += one.symbols)?;
        Ok(count as u64)
    }

    /// Returns every published view.
    pub fn views(&self) -> Result<Vec<ViewInfo>> {
        views::all(&self.connection)
    }

    /// Returns one published view.
    pub fn view(&self, key: &ViewKey) -> Result<Option<ViewInfo>> {
        views::info(&self.connection, key)
    }

    /// Returns the roots of all registered workspaces.
    pub fn workspaces(&self) -> Result<Vec<String>> {
        stat_cache::roots(&self.connection)
    }

    /// Returns the stat cache of a work tree.
    pub fn cached_stats(&self, root: &str) -> Result<HashMap<String, CachedStat>> {
        stat_cache::load(&self.connection, root)
    }

    /// Returns the stat cache entries of some files.
    pub fn cached_stats_of(&self, root: &str, paths: &[String]) -> Result<HashMap<String, CachedStat>> {
        stat_cache::load_paths(&self.connection, root, paths)
    }

    /// Returns a stored version.
    pub fn stored_version(&self, id: VersionId) -> Result<Option<StoredVersion>> {
        rows::version_by_id(&self.connection, id)
    }

    /// Records that a view was used, unless a write is in progress, which is not worth waiting for. Returns whether it
    /// did.
    pub fn touch(&self, key: &ViewKey, now: i64) -> Result<bool> {
        let Some(_lock) = self.dir.lock_if_free() else { return Ok(false) };
        if !self.is_current() {
            return Ok(false);
        }
        views::touch(&self.connection, key, now).map(|()| true)
    }

    /// Returns the number of the newest generation.
    pub fn generation(&self) -> Result<i64> {
        schema::meta(&self.connection, "generation")
    }

    /// Returns the newest jobs first. An active job without a running writer is reported as interrupted.
    pub fn jobs(&self, limit: usize) -> Result<Vec<Job>> {
        let mut jobs = jobs::recent(&self.connection, limit)?;
        if jobs.iter().any(|job| job.status.is_active()) && !self.dir.is_writing() {
            // The writer may have ended between the two reads; only jobs that are still active now were interrupted.
            jobs = jobs::recent(&self.connection, limit)?;
            for job in jobs.iter_mut().filter(|job| job.status.is_active()) {
                job.status = JobStatus::Interrupted;
            }
        }
        Ok(jobs)
    }

    /// Opens a snapshot of a view; [`StoreError::NoSuchView`] if it was never published.
    pub fn snapshot(&self, key: &ViewKey) -> Result<Snapshot> {
        Snapshot::open(&self.dir, key)
    }
}

/// One generation of one view. Later publications are not visible.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) connection: Connection,
    info: ViewInfo,
    members: RoaringBitmap,
    base: Option<RoaringBitmap>,
    edited: RoaringBitmap,
    pub(crate) cache: Arc<VersionCache>,
    pub(crate) epoch_key: u64,
    versions: RefCell<HashMap<VersionId, Rc<VersionInfo>>>,
    catalogue: OnceCell<HashMap<VersionId, Rc<VersionInfo>>>,
    epoch: PathBuf,
    verified: Arc<VerifiedFiles>,
    text: OnceCell<TextReader>,
    rows: OnceCell<RecordRows>,
    pub(crate) readers: RefCell<Vec<TextLoader>>,
    pub(crate) cancel: RefCell<Arc<AtomicBool>>,
    _reader: Option<Lock>,
}

/// The origin of a file version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The default branch has it.
    Base,
    /// Only another branch has it, or it is an uncommitted edit.
    Overlay,
}

impl Layer {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Layer::Base => "base",
            Layer::Overlay => "overlay",
        }
    }
}

/// The page cache of a snapshot. Decoded rows are cached elsewhere.
const PAGE_CACHE_KIB: u32 = 2048;

impl Snapshot {
    fn open(dir: &ProjectDir, key: &ViewKey) -> Result<Self> {
        let reader = dir.mark_reader();
        let epoch = dir.epoch()?;
        let connection = schema::open_at(&epoch)?;
        schema::limit_page_cache(&connection, PAGE_CACHE_KIB)?;
        connection.execute_batch("PRAGMA query_only = ON; BEGIN")?;
        let info = views::info(&connection, key)?.ok_or_else(|| StoreError::NoSuchView(key.encode()))?;
        let Bitmaps { members, edited, .. } = views::bitmaps(&connection, key)?.unwrap_or_default();
        Ok(Self {
            connection,
            info,
            members,
            base: None,
            edited,
            cache: Arc::clone(dir.cache()),
            epoch_key: dir.cache().epoch_key(&epoch),
            versions: RefCell::default(),
            catalogue: OnceCell::new(),
            epoch,
            verified: Arc::clone(dir.verified_files()),
            text: OnceCell::new(),
            rows: OnceCell::new(),
            readers: RefCell::default(),
            cancel: RefCell::default(),
            _reader: reader,
        })
    }

    /// Sets the cancel flag. While the flag is set, every read ends with [`StoreError::Cancelled`]. All scans read
    /// through here, so none continues for a request that was cancelled.
    pub fn set_cancel_flag(&self, stop: &Arc<AtomicBool>) {
        *self.cancel.borrow_mut() = Arc::clone(stop);
    }

    /// Fails if the request was cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        check_cancelled(&self.cancel.borrow())
    }

    /// Returns the text index, opened on first use: after the SQLite transaction, so that it holds all of the view.
    pub(crate) fn text_reader(&self) -> Result<&TextReader> {
        if self.text.get().is_none() {
            let index = TextIndex::open_verified(&self.epoch.join("text"), &self.verified)?;
            // An older copy of the text index, put in place of this one, lacks later commits.
            if index.mark()? < schema::meta(&self.connection, "text_mark")? {
                return Err(StoreError::Corrupt("text/meta.json is older than store.db".into()));
            }
            let reader = TextReader::open(&index)?;
            reader.expect_documents(&self.members, &self.info.totals)?;
            let _ = self.text.set(reader);
        }
        Ok(self.text.get().expect("because it was just opened"))
    }

    /// Returns the records of the view, laid out when words are first searched.
    pub(crate) fn rows(&self) -> Result<&RecordRows> {
        if self.rows.get().is_none() {
            let reader = self.text_reader()?;
            let rows = RecordRows::new(reader.searcher.segment_readers(), &reader.fields, &self.members)?;
            let _ = self.rows.set(rows);
        }
        Ok(self.rows.get().expect("because it was just built"))
    }

    /// Returns the folder it reads from.
    pub(crate) fn epoch(&self) -> &Path {
        &self.epoch
    }

    /// Returns the metadata of the view.
    pub fn info(&self) -> &ViewInfo {
        &self.info
    }

    /// Returns the file versions in the view.
    pub fn members(&self) -> &RoaringBitmap {
        &self.members
    }

    /// Returns a file version of this view.
    pub fn version(&self, id: VersionId) -> Result<Option<Rc<VersionInfo>>> {
        self.check_cancelled()?;
        let known = self.catalogue.get().and_then(|all| all.get(&id)).cloned();
        if let Some(known) = known.or_else(|| self.versions.borrow().get(&id).cloned()) {
            return Ok(Some(known));
        }
        if !self.members.contains(id) {
            return Ok(None);
        }
        let lost = || StoreError::Corrupt(format!("store.db: file version {id} is not stored"));
        let found = Rc::new(self.first_version("fv = ?1", &id)?.ok_or_else(lost)?);
        self.versions.borrow_mut().insert(id, found.clone());
        Ok(Some(found))
    }

    /// Returns the file version at a path.
    pub fn version_at(&self, path: &str) -> Result<Option<VersionInfo>> {
        self.first_version("path = ?1", &path)
    }

    fn first_version(&self, condition: &str, value: &dyn ToSql) -> Result<Option<VersionInfo>> {
        let sql = format!("{} WHERE {condition} AND skip IS NULL", rows::select_versions());
        let mut select = self.connection.prepare_cached(&sql)?;
        let mut found = select.query([value])?;
        while let Some(row) = found.next()? {
            if self.members.contains(row.get(0)?) {
                return rows::read_version(row).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns all facts of a version of this view.
    pub fn facts(&self, id: VersionId) -> Result<Arc<FileFacts>> {
        let key = self.cache_key(id)?;
        if let Some(Decoded::Facts(facts)) = key.and_then(|key| self.cache.get(key, Part::Facts)) {
            return Ok(facts);
        }
        let outline = self.outline(id)?;
        let facts = Arc::new(codec::decode_facts(&outline, &self.body("facts", id)?)?);
        if let Some(key) = key {
            self.cache.insert(key, Part::Facts, Decoded::Facts(Arc::clone(&facts)), facts.heap_bytes());
        }
        Ok(facts)
    }

    /// Returns the symbols and chunks of a version of this view.
    pub fn outline(&self, id: VersionId) -> Result<Arc<Outline>> {
        let key = self.cache_key(id)?;
        if let Some(Decoded::Outline(outline)) = key.and_then(|key| self.cache.get(key, Part::Outline)) {
            return Ok(outline);
        }
        let outline = Arc::new(codec::decode_outline(&self.body("outlines", id)?)?);
        if let Some(key) = key {
            self.cache.insert(key, Part::Outline, Decoded::Outline(Arc::clone(&outline)), outline.heap_bytes());
        }
        Ok(outline)
    }

    /// Returns the text of a version.
    pub fn text(&self, id: VersionId) -> Result<Arc<str>> {
        if let Some(text) = self.cached_text(id)? {
            return Ok(text);
        }
        let text: Arc<str> = codec::decode_text(&self.body("texts", id)?)?.into();
        self.cache_text(id, &text)?;
        Ok(text)
    }

    /// Returns the text of a version if it is cached.
    pub(crate) fn cached_text(&self, id: VersionId) -> Result<Option<Arc<str>>> {
        match self.cache_key(id)?.and_then(|key| self.cache.get(key, Part::Text)) {
            Some(Decoded::Text(text)) => Ok(Some(text)),
            _ => Ok(None),
        }
    }

    pub(crate) fn cache_text(&self, id: VersionId, text: &Arc<str>) -> Result<()> {
        if let Some(key) = self.cache_key(id)? {
            self.cache.insert(key, Part::Text, Decoded::Text(Arc::clone(text)), text.len());
        }
        Ok(())
    }

    /// Returns the key of a version of this view; fails if the request was cancelled.
    fn cache_key(&self, id: VersionId) -> Result<Option<VersionKey>> {
        Ok(self.version(id)?.map(|version| self.cache.key(self.epoch_key, &version)))
    }

    fn body(&self, table: &str, id: VersionId) -> Result<Vec<u8>> {
        self.check_cancelled()?;
        let mut select = self.connection.prepare_cached(&format!("SELECT body FROM {table} WHERE fv = ?1"))?;
        let body = select.query_row([id], |row| row.get(0)).optional()?;
        body.ok_or_else(|| StoreError::Corrupt(format!("store.db: file version {id} has no {table}")))
    }

    /// Returns the symbols with exactly this name.
    pub fn symbols_named(&self, name: &str) -> Result<Vec<SymbolRow>> {
        self.symbols("name = ?1 COLLATE NOCASE AND name = ?1", &name)
    }

    /// Returns the symbols with this id, normally one.
    pub fn symbols_with_id(&self, id: SymbolId) -> Result<Vec<SymbolRow>> {
        let found = self.symbols("symbol_key = ?1", &id.key())?;
        self.check_against_outlines(found, |info, symbol| SymbolId::new(&info.path, symbol) == id)
    }

    /// Returns the symbols with id keys in this range: the candidates for a shortened id.
    pub fn symbols_with_keys(&self, keys: std::ops::RangeInclusive<i64>) -> Result<Vec<SymbolRow>> {
        self.symbols(&format!("symbol_key BETWEEN {} AND ?1", keys.start()), keys.end())
    }

    /// Returns the symbols with this stable id: one for each homonym in other files.
    pub fn symbols_with_stable_id(&self, id: StableId) -> Result<Vec<SymbolRow>> {
        let found = self.symbols("stable_key = ?1", &id.key())?;
        self.check_against_outlines(found, |info, symbol| StableId::new(&info.language, symbol) == id)
    }

    /// Returns the symbols with this name, ignoring case.
    pub fn symbols_named_like(&self, name: &str) -> Result<Vec<SymbolRow>> {
        self.symbols("name = ?1 COLLATE NOCASE", &name)
    }

    /// Returns the symbol names, without imports and tests, that equal this one ignoring case; each once, in order.
    pub fn names_like(&self, name: &str) -> Result<BTreeSet<String>> {
        let mut select =
            self.connection.prepare_cached(&format!("{} WHERE name = ?1 COLLATE NOCASE", rows::SELECT_SYMBOLS))?;
        let mut found = select.query([name])?;
        let mut names = BTreeSet::new();
        while let Some(row) = found.next()? {
            self.check_cancelled()?;
            let symbol = rows::read_symbol(row)?;
            if self.members.contains(symbol.version) && symbol.kind.can_be_named() {
                names.insert(row.get(1)?);
            }
        }
        Ok(names)
    }

    fn symbols(&self, condition: &str, value: &dyn ToSql) -> Result<Vec<SymbolRow>> {
        let mut select = self.connection.prepare_cached(&format!("{} WHERE {condition}", rows::SELECT_SYMBOLS))?;
        let mut found = select.query([value])?;
        let mut symbols = Vec::new();
        while let Some(row) = found.next()? {
            self.check_cancelled()?;
            symbols.extend(Some(rows::read_symbol(row)?).filter(|symbol| self.members.contains(symbol.version)));
        }
        Ok(symbols)
    }

    fn check_against_outlines(
        &self,
        found: Vec<SymbolRow>,
        is_meant: impl Fn(&VersionInfo, &codecompass_model::Symbol) -> bool,
    ) -> Result<Vec<SymbolRow>> {
        let mut meant = Vec::new();
        for row in found {
            let outline = self.outline(row.version)?;
            let info = self.version(row.version)?;
            let symbol = outline.symbols.get(row.ordinal as usize);
            if info.zip(symbol).is_some_and(|(info, symbol)| is_meant(&info, symbol)) {
                meant.push(row);
            }
        }
        Ok(meant)
    }

    /// Returns the references with a name, by file version and index in its facts.
    pub fn references_named(&self, name: &str) -> Result<Vec<(VersionId, Vec<u32>)>> {
        let mut select =
            self.connection.prepare_cached("SELECT first_fv, list FROM name_refs WHERE name = ?1 ORDER BY first_fv")?;
        let mut found = select.query([name])?;
        let mut references = Vec::new();
        while let Some(row) = found.next()? {
            self.check_cancelled()?;
            let whole = postings::for_each_file(
                name,
                row.get(0)?,
                row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?,
                |version, places| {
                    if self.members.contains(version) {
                        references.push((version, places.to_vec()));
                    }
                },
            );
            if !whole {
                return Err(postings::corrupt_list(name));
            }
        }
        references.sort_unstable();
        Ok(references)
    }

    /// Returns the file versions of another view, at the same moment; `None` if it is not published.
    pub fn members_of(&self, key: &ViewKey) -> Result<Option<RoaringBitmap>> {
        Ok(views::bitmaps(&self.connection, key)?.map(|bitmaps| bitmaps.members))
    }

    /// Sets the base view for [`Snapshot::layer`].
    pub fn with_base(mut self, key: &ViewKey) -> Result<Self> {
        self.base = Some(self.members_of(key)?.unwrap_or_default());
        Ok(self)
    }

    /// Whether a file version is in the base view; `None` without a base view.
    pub fn layer(&self, id: VersionId) -> Option<Layer> {
        self.base.as_ref().map(|base| if base.contains(id) { Layer::Base } else { Layer::Overlay })
    }

    /// Returns the file versions of a work tree that its commit does not have; empty for other views.
    pub fn edited(&self) -> &RoaringBitmap {
        &self.edited
    }

    /// Returns every file version by its id. Read once per snapshot.
    pub fn versions_by_id(&self) -> Result<&HashMap<VersionId, Rc<VersionInfo>>> {
        if self.catalogue.get().is_none() {
            let mut select =
                self.connection.prepare_cached(&format!("{} WHERE skip IS NULL", rows::select_versions()))?;
            let mut found = select.query([])?;
            let mut all = HashMap::with_capacity(self.members.len() as usize);
            while let Some(row) = found.next()? {
                self.check_cancelled()?;
                let id = row.get(0)?;
                if self.members.contains(id) {
                    all.insert(id, Rc::new(rows::read_version(row)?));
                }
            }
            if all.len() as u64 != self.members.len() {
                return Err(StoreError::Corrupt("store.db: file versions of a view are not stored".into()));
            }
            let _ = self.catalogue.set(all);
        }
        Ok(self.catalogue.get().expect("because it was just read"))
    }

    /// Returns every file version, ordered by path.
    pub fn versions(&self) -> Result<Vec<Rc<VersionInfo>>> {
        let mut versions: Vec<Rc<VersionInfo>> = self.versions_by_id()?.values().cloned().collect();
        versions.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(versions)
    }
}

/// Fails if the cancel flag is set.
pub(crate) fn check_cancelled(stop: &AtomicBool) -> Result<()> {
    if stop.load(Ordering::Relaxed) { Err(StoreError::Cancelled) } else { Ok(()) }
}
