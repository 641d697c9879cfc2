//! Verified files: the integrity of a store's files, as far as this process has checked it.
//!
//! A segment of the text index is written once, under a name of its own, and ends in a checksum. It is verified when
//! this process first opens it, and not again while it is the same file; a commit adds a few files to the verified
//! ones. Corruption is remembered as well: every later request reports it until the store is replaced.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The file of a text index with Tantivy's list of segments. Every commit replaces it.
pub(crate) const META: &str = "meta.json";

/// The files that this process has verified, and the corruption that it has met.
#[derive(Debug, Default)]
pub(crate) struct VerifiedFiles {
    verified: Mutex<HashSet<FileIdentity>>,
    corruption: Mutex<Option<Corruption>>,
}

/// A file and its identity. An overwritten or replaced file has another identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FileIdentity {
    path: PathBuf,
    identity: Option<Identity>,
}

#[derive(Debug)]
struct Corruption {
    /// The segment list of the corrupt store. A rebuilt store has another one.
    store: FileIdentity,
    what: String,
}

impl VerifiedFiles {
    /// Whether a file is intact. The first call for a file runs `check`, and other threads wait for it, so that nothing
    /// is checked twice. No thread reads a file before that, because the effect of corrupt bytes on a reader is
    /// unbounded.
    pub(crate) fn is_verified<E>(&self, path: &Path, check: impl FnOnce() -> Result<bool, E>) -> Result<bool, E> {
        let stamp = FileIdentity::for_path(path);
        let mut sound = lock(&self.verified);
        let is_sound = sound.contains(&stamp) || check()?;
        if is_sound && stamp.identity.is_some() {
            sound.insert(stamp);
        }
        Ok(is_sound)
    }

    /// Whether a file of this folder was verified before.
    pub(crate) fn has_verified_in(&self, folder: &Path) -> bool {
        lock(&self.verified).iter().any(|stamp| stamp.path.starts_with(folder))
    }

    /// Records the corruption of a store.
    pub(crate) fn note_corruption(&self, epoch: &Path, what: &str) {
        *lock(&self.corruption) = Some(Corruption { store: FileIdentity::for_store(epoch), what: what.to_owned() });
    }

    /// Returns the recorded corruption of a store, if the store is still the same.
    pub(crate) fn corruption(&self, epoch: &Path) -> Option<String> {
        let damage = lock(&self.corruption);
        let found = damage.as_ref().filter(|damage| damage.store == FileIdentity::for_store(epoch));
        found.map(|damage| damage.what.clone())
    }
}

impl FileIdentity {
    fn for_path(path: &Path) -> Self {
        let is = std::fs::metadata(path).ok().map(|meta| identity(&meta));
        Self { path: path.to_owned(), identity: is }
    }

    fn for_store(epoch: &Path) -> Self {
        Self::for_path(&epoch.join("text").join(META))
    }
}

/// Inode number, size, and time of the last status change.
#[cfg(unix)]
type Identity = (u64, u64, i64, i64);

#[cfg(unix)]
fn identity(meta: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec())
}

#[cfg(not(unix))]
type Identity = (u64, Option<std::time::Duration>);

#[cfg(not(unix))]
fn identity(meta: &Metadata) -> Identity {
    let modified = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    (meta.len(), modified)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::*;

    #[test]
    fn file_is_verified_once_until_replaced() {
        let folder = tempfile::tempdir().expect("because a folder can be created");
        let file = folder.path().join("one.idx");
        fs::write(&file, "whole").expect("because it can be written");
        let (examined, checks) = (VerifiedFiles::default(), Cell::new(0));
        let look = |verdict: bool| {
            let check = || {
                checks.set(checks.get() + 1);
                Ok::<_, ()>(verdict)
            };
            examined.is_verified(&file, check)
        };
        assert!(!examined.has_verified_in(folder.path()));
        assert_eq!(look(false), Ok(false));
        assert_eq!((look(true), look(true)), (Ok(true), Ok(true)));
        assert_eq!(checks.get(), 2, "corrupt files are checked again, intact ones are not");
        assert!(examined.has_verified_in(folder.path()));
        fs::write(&file, "another").expect("because it can be written");
        assert_eq!(look(false), Ok(false));
    }

    #[test]
    fn corruption_is_remembered_until_rebuild() {
        let epoch = tempfile::tempdir().expect("because a folder can be created");
        fs::create_dir(epoch.path().join("text")).expect("because it can be created");
        let list = epoch.path().join("text").join(META);
        fs::write(&list, "segments").expect("because it can be written");
        let examined = VerifiedFiles::default();
        assert_eq!(examined.corruption(epoch.path()), None);
        examined.note_corruption(epoch.path(), "a byte");
        assert_eq!(examined.corruption(epoch.path()).as_deref(), Some("a byte"));
        assert_eq!(examined.corruption(Path::new("elsewhere")), None);
        fs::write(&list, "new segments").expect("because it can be written");
        assert_eq!(examined.corruption(epoch.path()), None);
    }
}
