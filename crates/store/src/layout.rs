//! The directory layout of a project, and its locks.
//!
//! ```text
//! PROJECT/current        names the epoch in use, replaced atomically
//! PROJECT/epoch-N/       store.db (SQLite) and text/ (Tantivy)
//! PROJECT/write.lock     held by the one writer
//! PROJECT/readers.lock   shared by open snapshots; garbage is collected when it is free
//! ```
//!
//! A store that cannot be read is never repaired in place. A new epoch is built beside it and `current` is switched, so
//! that readers of the old epoch are not disturbed and no open file is deleted.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cache::VersionCache;
use crate::verified::VerifiedFiles;
use crate::{Result, StoreError, private};

/// A process that checks for a writer holds the lock for an instant, so a writer tries more than once.
const LOCK_ATTEMPTS: usize = 5;
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(1);

/// The folder of one project.
#[derive(Clone, Debug)]
pub struct ProjectDir {
    root: PathBuf,
    /// The verified files and the recorded corruption of the project; clones of this value share them.
    verified: Arc<VerifiedFiles>,
    cache: Arc<VersionCache>,
}

/// A lock that is held while this value exists.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl ProjectDir {
    /// Names the folder; nothing is read or created.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), verified: Arc::default(), cache: Arc::default() }
    }

    /// Uses this cache of decoded file versions instead of one of its own.
    pub fn with_cache(self, cache: &Arc<VersionCache>) -> Self {
        Self { cache: Arc::clone(cache), ..self }
    }

    pub(crate) fn cache(&self) -> &Arc<VersionCache> {
        &self.cache
    }

    pub(crate) fn verified_files(&self) -> &Arc<VerifiedFiles> {
        &self.verified
    }

    /// Records that the store in use is corrupt. Opening it through this value or a clone fails until it is replaced.
    pub fn note_corruption(&self, what: &str) {
        if let Ok(epoch) = self.epoch() {
            self.verified.note_corruption(&epoch, what);
        }
    }

    /// Fails if corruption was recorded for the store in use and that store is still the same.
    pub(crate) fn check_noted_corruption(&self, epoch: &Path) -> Result<()> {
        self.verified.corruption(epoch).map_or(Ok(()), |what| Err(StoreError::Corrupt(what)))
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a store was ever created here.
    pub fn is_registered(&self) -> bool {
        self.root.join("current").is_file()
    }

    /// The size of the current epoch on disk, in bytes.
    pub fn disk_bytes(&self) -> u64 {
        self.epoch().map(|epoch| bytes_below(&epoch)).unwrap_or(0)
    }

    /// The size of the whole folder on disk, in bytes.
    pub fn total_disk_bytes(&self) -> u64 {
        bytes_below(&self.root)
    }

    /// Whether some process holds the write lock right now.
    pub fn is_writing(&self) -> bool {
        match File::open(self.root.join("write.lock")) {
            Ok(file) => matches!(file.try_lock(), Err(TryLockError::WouldBlock)),
            Err(_) => false,
        }
    }

    pub(crate) fn epoch(&self) -> Result<PathBuf> {
        let pointer = self.root.join("current");
        let name = match fs::read(&pointer) {
            Ok(name) => String::from_utf8_lossy(&name).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::NotRegistered(self.root.clone()));
            }
            Err(error) => return Err(StoreError::io(pointer)(error)),
        };
        match name.trim().strip_prefix("epoch-").map(str::parse::<u32>) {
            Some(Ok(number)) => Ok(self.epoch_dir(number)),
            _ => Err(StoreError::Corrupt("current names no epoch".into())),
        }
    }

    /// Creates a folder for the next epoch; it is not in use before [`Self::switch_to`].
    pub(crate) fn new_epoch(&self) -> Result<PathBuf> {
        create_private(&self.root)?;
        let last = self.epochs().into_iter().map(|(number, _)| number).max().unwrap_or(0);
        let dir = self.epoch_dir(last + 1);
        create_private(&dir)?;
        Ok(dir)
    }

    pub(crate) fn switch_to(&self, epoch: &Path) -> Result<()> {
        let name = epoch.file_name().unwrap_or_default();
        let fresh = self.root.join("current.new");
        private::write(&fresh, name.as_encoded_bytes()).map_err(StoreError::io(&fresh))?;
        sync_to_disk(&fresh)?;
        let pointer = self.root.join("current");
        fs::rename(&fresh, &pointer).map_err(StoreError::io(pointer))?;
        // The new name must be on disk before the old epoch is deleted. Where folders cannot be synced, this is the
        // best possible.
        let _ = File::open(&self.root).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Removes epochs that are not in use: unfinished ones, and replaced ones without readers. Returns whether none is
    /// left; the next writer removes what could not be removed now. The caller must hold the write lock.
    pub(crate) fn sweep(&self) -> bool {
        let Ok(current) = self.epoch() else { return true };
        let unused: Vec<PathBuf> =
            self.epochs().into_iter().map(|(_, dir)| dir).filter(|dir| *dir != current).collect();
        // A snapshot opens some of its files late, so its epoch must stay until the snapshot is closed.
        let alone = if unused.is_empty() { None } else { self.lock_without_readers() };
        unused.iter().all(|dir| alone.is_some() && fs::remove_dir_all(dir).is_ok())
    }

    /// Acquires the write lock; [`StoreError::Locked`] if another process or thread has it and `wait` is false.
    pub(crate) fn lock_for_writing(&self, wait: bool) -> Result<Lock> {
        let path = self.root.join("write.lock");
        loop {
            create_private(&self.root)?;
            let file = open_lock(&path)?;
            acquire(&file, &path, wait)?;
            // Removing a project deletes its lock file as well, so the lock that was acquired may belong to a deleted
            // file.
            if is_same_file(&file, &path) {
                return Ok(Lock { _file: file });
            }
        }
    }

    /// Acquires the write lock if it is free at this moment.
    pub(crate) fn lock_if_free(&self) -> Option<Lock> {
        let file = open_lock(&self.root.join("write.lock")).ok()?;
        file.try_lock().ok().map(|()| Lock { _file: file })
    }

    /// Acquires the shared lock of a reader. It fails only while garbage is collected, which is harmless: a reader that
    /// starts then sees a generation that garbage collection leaves intact.
    pub(crate) fn mark_reader(&self) -> Option<Lock> {
        let file = open_lock(&self.root.join("readers.lock")).ok()?;
        file.try_lock_shared().ok().map(|()| Lock { _file: file })
    }

    /// Acquires the readers' lock exclusively, which succeeds if no snapshot is open in any process.
    pub(crate) fn lock_without_readers(&self) -> Option<Lock> {
        let file = open_lock(&self.root.join("readers.lock")).ok()?;
        file.try_lock().ok().map(|()| Lock { _file: file })
    }

    fn epoch_dir(&self, number: u32) -> PathBuf {
        self.root.join(format!("epoch-{number}"))
    }

    fn epochs(&self) -> Vec<(u32, PathBuf)> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let number = entry.file_name().to_str()?.strip_prefix("epoch-")?.parse().ok()?;
                Some((number, entry.path()))
            })
            .collect()
    }
}

/// The folder of an epoch that is being built. It is deleted with this value unless [`Scratch::keep`] is called.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: Option<PathBuf>,
}

impl Scratch {
    /// Creates the folder of a new epoch. The caller must hold the write lock.
    pub(crate) fn new(dir: &ProjectDir) -> Result<Self> {
        Ok(Self { path: Some(dir.new_epoch()?) })
    }

    pub(crate) fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    /// Keeps the folder.
    pub(crate) fn keep(mut self) {
        self.path = None;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The next writer sweeps what cannot be removed.
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Creates a folder that only its owner can read, because it will hold the text of the user's files.
fn create_private(dir: &Path) -> Result<()> {
    private::create_folder(dir).map_err(StoreError::io(dir))
}

fn acquire(file: &File, path: &Path, wait: bool) -> Result<()> {
    if wait {
        return file.lock().map_err(StoreError::io(path));
    }
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_RETRY_DELAY),
            Err(TryLockError::Error(error)) => return Err(StoreError::io(path)(error)),
        }
    }
    Err(StoreError::Locked)
}

/// Whether an open file is still the file at this path. Where this cannot be determined, the answer is yes.
#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |meta: fs::Metadata| (meta.dev(), meta.ino());
    match (file.metadata(), path.metadata()) {
        (Ok(open), Ok(named)) => id(open) == id(named),
        (_, Err(error)) => error.kind() != std::io::ErrorKind::NotFound,
        (Err(_), _) => true,
    }
}

#[cfg(not(unix))]
fn is_same_file(_file: &File, _path: &Path) -> bool {
    true
}

/// Waits until the bytes of a file are on disk. Windows requires write access to the file for this.
pub(crate) fn sync_to_disk(path: &Path) -> Result<()> {
    OpenOptions::new().write(true).open(path).and_then(|file| file.sync_all()).map_err(StoreError::io(path))
}

fn open_lock(path: &Path) -> Result<File> {
    private::options().read(true).write(true).create(true).truncate(false).open(path).map_err(StoreError::io(path))
}

fn bytes_below(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => bytes_below(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
