//! The text index's folder as Tantivy sees it, which may be one that nobody here can write to.
//!
//! Tantivy takes a lock before it opens segments, so that a writer does not remove them meanwhile. Where not even a lock
//! file can be made there is no writer on this side either, and the index is read without: an index that was made by
//! somebody else, or lies on a read-only file system, can still be asked.
//!
//! Its lock against a second writer is not taken at all: the store's own write lock is held by then. A process that is being
//! started by another thread holds copies of all open files for a moment, so a lock that was just let go may still be busy.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, INDEX_WRITER_LOCK, Lock, META_LOCK, MmapDirectory,
    TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use crate::full::is_full;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct TextFolder {
    folder: MmapDirectory,
    /// Set once there was no room for a write. Tantivy's threads keep the reason why they ended to themselves.
    lacked_room: Arc<AtomicBool>,
}

impl TextFolder {
    pub(crate) fn open(dir: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self { folder: MmapDirectory::open(dir)?, lacked_room: Arc::default() })
    }

    /// Whether there was no room for a write.
    pub(crate) fn lacked_room(&self) -> &Arc<AtomicBool> {
        &self.lacked_room
    }
}

/// A file that is being written.
struct Noting {
    file: Box<dyn TerminatingWrite + Send + Sync>,
    lacked_room: Arc<AtomicBool>,
}

fn noted<T>(lacked_room: &AtomicBool, outcome: io::Result<T>) -> io::Result<T> {
    if outcome.as_ref().is_err_and(is_full) {
        lacked_room.store(true, Ordering::Relaxed);
    }
    outcome
}

impl Write for Noting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        noted(&self.lacked_room, self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        noted(&self.lacked_room, self.file.flush())
    }
}

impl TerminatingWrite for Noting {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        noted(&self.lacked_room, self.file.terminate_ref(token))
    }
}

impl Directory for TextFolder {
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        if lock.filepath == INDEX_WRITER_LOCK.filepath {
            return Ok(DirectoryLock::from(Box::new(())));
        }
        match self.folder.acquire_lock(lock) {
            Err(LockError::IoError(error))
                if lock.filepath == META_LOCK.filepath && (is_read_only(&error) || is_full(&error)) =>
            {
                Ok(DirectoryLock::from(Box::new(())))
            }
            outcome => outcome,
        }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.folder.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.folder.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.folder.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let opened = self.folder.open_write(path);
        if let Err(OpenWriteError::IoError { io_error, .. }) = &opened
            && is_full(io_error)
        {
            self.lacked_room.store(true, Ordering::Relaxed);
        }
        let unbuffered = opened?.into_inner();
        let file = unbuffered.map_err(|error| OpenWriteError::wrap_io_error(error.into_error(), path.to_owned()))?;
        Ok(BufWriter::new(Box::new(Noting { file, lacked_room: Arc::clone(&self.lacked_room) })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.folder.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        noted(&self.lacked_room, self.folder.atomic_write(path, data))
    }

    fn sync_directory(&self) -> io::Result<()> {
        noted(&self.lacked_room, self.folder.sync_directory())
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.folder.watch(callback)
    }
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}
