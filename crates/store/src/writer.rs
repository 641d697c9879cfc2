//! The writer: reserves ids, stores new file versions in batches, publishes views.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use codecompass_model::{VersionId, ViewKey, ids};
use roaring::RoaringBitmap;
use rusqlite::{Connection, TransactionBehavior};

use crate::layout::Lock;
use crate::text::{TextIndex, TextWriter};
use crate::version::Documents;
use crate::views::{Bitmaps, ViewInfo, ViewUpdate};
use crate::{
    CachedStat, JobMode, JobProgress, JobStatus, NewVersion, ProjectDir, Result, StoreError, StoredVersion, codec,
    dedup, doctor, jobs, rows, schema, stat_cache, views,
};

/// Called right before each durable write with the name of the write. Tests end the process there.
pub type WritePoint = Arc<dyn Fn(&'static str) + Send + Sync>;

/// The limits of a writer's memory.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// Threads that build the text index.
    pub text_threads: usize,
    /// The arena of the text index, over all its threads.
    pub text_heap_bytes: usize,
    /// The size of a batch before it is written.
    pub batch_bytes: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { text_threads: 1, text_heap_bytes: 50 << 20, batch_bytes: 24 << 20 }
    }
}

/// Below this size a log is read faster than it is checkpointed.
const CHECKPOINT_LOG_BYTES: u64 = 2 << 20;

/// The maximum number of views of single commits, which are indexed on demand. The most recently used ones stay.
const MAX_COMMIT_VIEWS: i64 = 20;

/// The changes of one publish, applied atomically.
#[derive(Debug, Default)]
pub struct Publish {
    /// The requested view, whether it changes or not.
    pub used: Option<ViewKey>,
    /// The views that change.
    pub views: Vec<ViewUpdate>,
    /// The work tree that `seen` and `gone` refer to.
    pub root: String,
    /// Files that were read.
    pub seen: Vec<(String, CachedStat)>,
    /// Files that no longer exist.
    pub gone: Vec<String>,
    /// The number of files that differ from the published state before.
    pub changed_files: u64,
}

/// The writer of a store. There is at most one per project, over all processes.
pub struct Writer {
    dir: ProjectDir,
    epoch: PathBuf,
    connection: Connection,
    text: TextIndex,
    text_writer: Option<TextWriter>,
    batch: Vec<NewVersion>,
    batch_weight: usize,
    tuning: Tuning,
    point: Option<WritePoint>,
    has_published: bool,
    _lock: Lock,
}

/// The result of [`Writer::release_files`].
pub(crate) struct WriterParts {
    pub(crate) dir: ProjectDir,
    pub(crate) lock: Lock,
    pub(crate) tuning: Tuning,
    pub(crate) point: Option<WritePoint>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// The action for a store that is missing or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMissing {
    /// Return an error.
    Fail,
    /// Create a missing store.
    Create,
    /// Also replace a store that an older version of this program made.
    Upgrade,
    /// Also replace a store that cannot be read, and rebuild a corrupt text index.
    Replace,
}

impl Writer {
    /// Opens the store for writing. With `wait`, blocks until another writer is done; otherwise that is
    /// [`StoreError::Locked`].
    pub fn open(
        dir: &ProjectDir,
        missing: OnMissing,
        wait: bool,
        tuning: Tuning,
        point: Option<WritePoint>,
        now: i64,
    ) -> Result<Self> {
        if missing == OnMissing::Fail && !dir.is_registered() {
            return Err(StoreError::NotRegistered(dir.root().to_owned()));
        }
        let lock = dir.lock_for_writing(wait)?;
        Self::with_lock(dir, lock, missing, tuning, point, now)
    }

    /// Opens the store for a caller that holds the lock already.
    pub(crate) fn with_lock(
        dir: &ProjectDir,
        lock: Lock,
        missing: OnMissing,
        tuning: Tuning,
        point: Option<WritePoint>,
        now: i64,
    ) -> Result<Self> {
        let connection = match schema::open(dir) {
            Err(StoreError::NotRegistered(_)) if missing != OnMissing::Fail => new_epoch(dir, &point)?,
            Err(StoreError::Corrupt(_) | StoreError::ReindexRequired { .. }) if missing == OnMissing::Replace => {
                new_epoch(dir, &point)?
            }
            Err(error) if missing == OnMissing::Upgrade && error.is_outdated() => new_epoch(dir, &point)?,
            Ok(connection) if missing == OnMissing::Replace && doctor::check_database(&connection).is_err() => {
                drop(connection);
                new_epoch(dir, &point)?
            }
            opened => opened?,
        };
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        dir.sweep();
        let epoch = dir.epoch()?;
        let text = TextIndex::open_verified(&epoch.join("text"), dir.verified_files());
        let (text, rebuild) = match text {
            Ok(_) if missing == OnMissing::Replace && doctor::check_text(&epoch, &connection).is_err() => {
                (create_text_index(&epoch)?, true)
            }
            Ok(text) => {
                let lost = text.mark()? < schema::meta(&connection, "text_mark")?;
                (text, lost)
            }
            // Only corruption is repaired by a rebuild. A disk without space for a lock file is not corruption.
            Err(StoreError::DiskFull(path)) => return Err(StoreError::DiskFull(path)),
            Err(_) => (create_text_index(&epoch)?, true),
        };
        let mut writer = Self {
            dir: dir.clone(),
            epoch,
            connection,
            text,
            text_writer: None,
            batch: Vec::new(),
            batch_weight: 0,
            tuning,
            point,
            has_published: false,
            _lock: lock,
        };
        jobs::mark_interrupted(&writer.connection, now)?;
        writer.merge_duplicates()?;
        if rebuild {
            writer.rebuild_text()?;
        }
        Ok(writer)
    }

    /// Registers a workspace of the project.
    pub fn register(&mut self, root: &str, now: i64) -> Result<()> {
        self.reach_write_point("register");
        stat_cache::register(&self.connection, root, now).map(drop)
    }

    /// Returns every stored version of a path, newest first.
    pub fn versions_at_path(&self, path: &str) -> Result<Vec<StoredVersion>> {
        rows::versions_at_path(&self.connection, path)
    }

    /// Returns every stored version by path, newest first.
    pub fn versions_by_path(&self) -> Result<HashMap<String, Vec<StoredVersion>>> {
        rows::versions_by_path(&self.connection)
    }

    /// Returns a stored version.
    pub fn version_by_id(&self, id: VersionId) -> Result<Option<StoredVersion>> {
        rows::version_by_id(&self.connection, id)
    }

    /// Returns the paths of these versions.
    pub fn paths(&self, versions: &RoaringBitmap) -> Result<HashSet<String>> {
        let mut select = self.connection.prepare_cached("SELECT path FROM file_versions WHERE fv = ?1")?;
        versions.iter().map(|id| Ok(select.query_row([id], |row| row.get(0))?)).collect()
    }

    /// Whether anything is stored at all.
    pub fn is_empty(&self) -> Result<bool> {
        let mut select = self.connection.prepare_cached("SELECT NOT EXISTS (SELECT 1 FROM file_versions)")?;
        Ok(select.query_row([], |row| row.get(0))?)
    }

    /// Returns the metadata of a published view.
    pub fn view(&self, key: &ViewKey) -> Result<Option<ViewInfo>> {
        views::info(&self.connection, key)
    }

    /// Returns the bitmaps of a published view; empty ones if it is not published.
    pub fn bitmaps(&self, key: &ViewKey) -> Result<Bitmaps> {
        Ok(views::bitmaps(&self.connection, key)?.unwrap_or_default())
    }

    /// Returns the stat cache of a work tree.
    pub fn cached_stats(&self, root: &str) -> Result<HashMap<String, CachedStat>> {
        stat_cache::load(&self.connection, root)
    }

    /// Returns the stat cache entries of these files of a work tree.
    pub fn cached_stats_of(&self, root: &str, paths: &[String]) -> Result<HashMap<String, CachedStat>> {
        stat_cache::load_paths(&self.connection, root, paths)
    }

    /// Whether the stat cache has files below this path, which means that it was a folder.
    pub fn has_cached_below(&self, root: &str, path: &str) -> Result<bool> {
        stat_cache::has_below(&self.connection, root, path)
    }

    /// Starts a job and returns its id: the given one or a new one.
    pub fn start_job(
        &mut self,
        id: Option<&str>,
        view: &ViewKey,
        ref_name: &str,
        mode: JobMode,
        now: i64,
    ) -> Result<String> {
        let number = jobs::next_number(&self.connection)?.to_le_bytes();
        let process = std::process::id().to_le_bytes();
        let hash = ids::content_hash(&[&now.to_le_bytes(), &process, &number]);
        let id = id.map_or_else(|| format!("{:012x}", hash >> 16), str::to_owned);
        self.reach_write_point("start job");
        jobs::start(&self.connection, &id, view, ref_name, mode, now)?;
        Ok(id)
    }

    /// Records the progress of a job.
    pub fn report(&mut self, job: &str, status: JobStatus, progress: JobProgress) -> Result<()> {
        jobs::update(&self.connection, job, status, progress)
    }

    /// Ends a job without publishing.
    pub fn fail_job(&mut self, job: &str, error: &str, now: i64) -> Result<()> {
        jobs::end(&self.connection, job, JobStatus::Failed, None, Some(error), now)
    }

    /// Announces that everything will be stored again, even versions that exist.
    pub fn expect_duplicates(&mut self) -> Result<()> {
        self.reach_write_point("expect duplicates");
        dedup::expect_duplicates(&self.connection)
    }

    /// Makes all views hold the same version of duplicates if a full extraction was stored but never published.
    fn merge_duplicates(&mut self) -> Result<()> {
        if !dedup::may_have_duplicates(&self.connection)? {
            return Ok(());
        }
        self.reach_write_point("merge duplicates");
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let generation = schema::meta(&transaction, "generation")? + 1;
        if dedup::merge_duplicates(&transaction, generation)? {
            schema::set_meta(&transaction, "generation", generation)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Reserves `count` ids and returns the first. They are never handed out again, whatever happens next.
    pub fn reserve(&mut self, count: u32) -> Result<VersionId> {
        let first = self.next_version_id()?;
        let next = first as i64 + count as i64;
        if next > VersionId::MAX as i64 {
            return Err(StoreError::Corrupt("all file version ids are used up; index again with --force".into()));
        }
        self.reach_write_point("reserve ids");
        schema::set_meta(&self.connection, "next_fv", next)?;
        Ok(first)
    }

    /// Returns the first id that is not reserved.
    pub fn next_version_id(&self) -> Result<VersionId> {
        Ok(schema::meta(&self.connection, "next_fv")?.max(self.text.reserved()?) as VersionId)
    }

    /// Adds a version. It is invisible until a view that holds it is published.
    pub fn add(&mut self, mut version: NewVersion) -> Result<()> {
        if version.skip.is_none() {
            let documents = &mut version.documents;
            let whole = Documents {
                pieces: std::mem::take(&mut documents.pieces),
                symbols: std::mem::take(&mut documents.symbols),
                file: std::mem::take(&mut documents.file),
                marks: std::mem::take(&mut documents.marks),
                ..Documents::default()
            };
            version.counts = (whole.pieces.len() as i64, whole.symbols.len() as i64);
            self.text_writer()?.add(version.id, whole)?;
        }
        self.batch_weight += version.weight();
        self.batch.push(version);
        if self.batch_weight >= self.tuning.batch_bytes {
            self.flush()?;
        }
        Ok(())
    }

    /// Makes added versions durable: first the documents, then the rows.
    pub fn flush(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let mark = schema::meta(&self.connection, "text_mark")? + 1;
        let next = schema::meta(&self.connection, "next_fv")?;
        self.reach_write_point("commit text");
        if let Some(text) = &mut self.text_writer {
            text.commit(mark, next)?;
        }
        let mut batch = std::mem::take(&mut self.batch);
        self.batch_weight = 0;
        batch.sort_by_key(|version| version.id);
        self.reach_write_point("commit rows");
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        rows::insert(&transaction, &batch)?;
        if self.text_writer.is_some() {
            schema::set_meta(&transaction, "text_mark", mark)?;
        }
        transaction.commit()?;
        self.checkpoint();
        Ok(())
    }

    /// Publishes: afterwards readers see the new views or, if this fails, the old ones. Returns the generation.
    pub fn publish(&mut self, job: &str, publish: &Publish, now: i64) -> Result<i64> {
        self.flush()?;
        self.reach_write_point("publish");
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut generation = schema::meta(&transaction, "generation")?;
        if !publish.views.is_empty() {
            generation += 1;
            for view in &publish.views {
                views::publish(&transaction, view, generation, now)?;
            }
            schema::set_meta(&transaction, "generation", generation)?;
            if dedup::may_have_duplicates(&transaction)? {
                dedup::merge_duplicates(&transaction, generation)?;
            }
        }
        if let Some(used) = &publish.used {
            views::touch(&transaction, used, now)?;
        }
        views::evict_commit_views(&transaction, MAX_COMMIT_VIEWS)?;
        stat_cache::apply(&transaction, &publish.root, &publish.seen, &publish.gone, now)?;
        jobs::end(&transaction, job, JobStatus::Published, Some(publish.changed_files), None, now)?;
        transaction.commit()?;
        self.has_published |= !publish.views.is_empty();
        self.reach_write_point("published");
        Ok(generation)
    }

    /// Removes what a write left behind when the disk became full, because any further operation needs that space.
    pub fn discard_batch(&mut self) {
        self.batch.clear();
        self.batch_weight = 0;
        self.text_writer = None;
        // The next writer removes what cannot be removed now.
        let _ = self.text.sweep();
        self.checkpoint_log();
    }

    /// Recreates the documents of every version that has none, from stored text.
    fn rebuild_text(&mut self) -> Result<()> {
        let present = self.text.versions()?;
        let stored = stored_versions(&self.connection)?;
        for (id, path) in stored.into_iter().filter(|(id, _)| !present.contains(id)) {
            let (outline, text): (Vec<u8>, Vec<u8>) = self.connection.query_row(
                "SELECT outlines.body, texts.body FROM outlines JOIN texts USING (fv) WHERE fv = ?1",
                [id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let (outline, text) = (codec::decode_outline(&outline)?, codec::decode_text(&text)?);
            let documents = Documents::build(&path, &outline.symbols, &outline.chunks, &text);
            self.text_writer()?.add(id, documents)?;
        }
        let (mark, next) = (schema::meta(&self.connection, "text_mark")?, schema::meta(&self.connection, "next_fv")?);
        self.reach_write_point("commit rebuilt text");
        self.text_writer()?.commit(mark, next)
    }

    /// Returns the text writer, opened on first use.
    pub(crate) fn text_writer(&mut self) -> Result<&mut TextWriter> {
        if self.text_writer.is_none() {
            self.text_writer = Some(self.text.writer(self.tuning.text_threads, self.tuning.text_heap_bytes)?);
        }
        Ok(self.text_writer.as_mut().expect("because it was just opened"))
    }

    /// Takes the text writer, if it is open.
    pub(crate) fn take_text_writer(&mut self) -> Option<TextWriter> {
        self.text_writer.take()
    }

    /// Whether this writer has published a view.
    pub(crate) fn has_published(&self) -> bool {
        self.has_published
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(crate) fn text(&self) -> &TextIndex {
        &self.text
    }

    pub(crate) fn dir(&self) -> &ProjectDir {
        &self.dir
    }

    /// Returns the folder of the store in use.
    pub(crate) fn epoch(&self) -> &Path {
        &self.epoch
    }

    /// Closes all files and keeps the lock.
    pub(crate) fn into_lock(self) -> Lock {
        self._lock
    }

    /// Closes all files and keeps what is needed to open another writer.
    pub(crate) fn release_files(self) -> WriterParts {
        WriterParts { dir: self.dir, lock: self._lock, tuning: self.tuning, point: self.point }
    }

    /// Calls the write point right before a durable write.
    pub(crate) fn reach_write_point(&self, name: &'static str) {
        if let Some(point) = &self.point {
            point(name);
        }
    }

    /// Checkpoints a log that has grown.
    pub(crate) fn checkpoint(&self) {
        let log = self.epoch.join("store.db-wal");
        if !std::fs::metadata(log).is_ok_and(|log| log.len() < CHECKPOINT_LOG_BYTES) {
            self.checkpoint_log();
        }
    }

    /// Moves the log into the database without waiting for readers. Returns whether all of it is on disk now: until
    /// then, a power failure can undo the last transactions.
    pub(crate) fn checkpoint_log(&self) -> bool {
        let quick = self.connection.busy_timeout(Duration::ZERO);
        let busy = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        let _ = quick.and_then(|()| self.connection.busy_timeout(Duration::from_secs(20)));
        busy.is_ok_and(|busy| busy == 0)
    }
}

fn new_epoch(dir: &ProjectDir, point: &Option<WritePoint>) -> Result<Connection> {
    let at = |name| {
        if let Some(point) = point {
            point(name);
        }
    };
    at("create store");
    let epoch = dir.new_epoch()?;
    let connection = schema::create(&epoch)?;
    TextIndex::create(&epoch.join("text"))?;
    at("switch epoch");
    dir.switch_to(&epoch)?;
    Ok(connection)
}

fn create_text_index(epoch: &Path) -> Result<TextIndex> {
    let dir = epoch.join("text");
    if dir.exists() {
        std::fs::remove_dir_all(&dir).map_err(StoreError::io(&dir))?;
    }
    TextIndex::create(&dir)
}

fn stored_versions(connection: &Connection) -> Result<Vec<(VersionId, String)>> {
    let mut select = connection.prepare("SELECT fv, path FROM file_versions WHERE skip IS NULL ORDER BY fv")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
