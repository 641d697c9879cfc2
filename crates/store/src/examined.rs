//! What a process has found out about the files of a store: which ones are sound, and that something is damaged.
//!
//! A segment of the text index is written once, under a name of its own, and ends in a checksum. So it is checked when this
//! process first opens it, and not again for as long as it is the same file; a commit adds a few files to those that are
//! known. Damage that was met is kept, too: what is told once is told by every later question, until the store is another one.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Examined {
    sound: Mutex<HashSet<Stamp>>,
    damage: Mutex<Option<Damage>>,
}

/// A file, and which one it is: one that was written over or replaced is another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Stamp {
    path: PathBuf,
    is: Option<Identity>,
}

#[derive(Debug)]
struct Damage {
    /// The list of segments of the store that it was met in: a store that was built anew has another one.
    store: Stamp,
    what: String,
}

impl Examined {
    /// Whether a file is sound, by `check` when it is seen for the first time. Others wait meanwhile, so that nothing is
    /// checked twice; and nobody reads a file before that, because what damaged bytes make a reader do knows no bounds.
    pub(crate) fn is_sound<E>(&self, path: &Path, check: impl FnOnce() -> Result<bool, E>) -> Result<bool, E> {
        let stamp = Stamp::of(path);
        let mut sound = lock(&self.sound);
        let is_sound = sound.contains(&stamp) || check()?;
        if is_sound && stamp.is.is_some() {
            sound.insert(stamp);
        }
        Ok(is_sound)
    }

    /// Whether a file of this folder was checked before.
    pub(crate) fn knows(&self, folder: &Path) -> bool {
        lock(&self.sound).iter().any(|stamp| stamp.path.starts_with(folder))
    }

    /// Notes what is damaged in a store.
    pub(crate) fn note(&self, epoch: &Path, what: &str) {
        *lock(&self.damage) = Some(Damage { store: Stamp::of_store(epoch), what: what.to_owned() });
    }

    /// What was found to be damaged in a store, if it is still the one in which that was found.
    pub(crate) fn damage(&self, epoch: &Path) -> Option<String> {
        let damage = lock(&self.damage);
        let found = damage.as_ref().filter(|damage| damage.store == Stamp::of_store(epoch));
        found.map(|damage| damage.what.clone())
    }
}

impl Stamp {
    fn of(path: &Path) -> Self {
        let is = std::fs::metadata(path).ok().map(|meta| identity(&meta));
        Self { path: path.to_owned(), is }
    }

    fn of_store(epoch: &Path) -> Self {
        Self::of(&epoch.join("text").join(crate::text::META))
    }
}

/// Number, size, and the time of the last change of any kind.
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
    fn a_sound_file_is_checked_once_and_again_when_it_is_another() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("one.idx");
        fs::write(&file, "whole").expect("it can be written");
        let (examined, checks) = (Examined::default(), Cell::new(0));
        let look = |verdict: bool| {
            let check = || {
                checks.set(checks.get() + 1);
                Ok::<_, ()>(verdict)
            };
            examined.is_sound(&file, check)
        };
        assert!(!examined.knows(folder.path()));
        assert_eq!(look(false), Ok(false));
        assert_eq!((look(true), look(true)), (Ok(true), Ok(true)));
        assert_eq!(checks.get(), 2, "what is damaged is looked at again, what is sound is not");
        assert!(examined.knows(folder.path()));
        fs::write(&file, "another").expect("it can be written");
        assert_eq!(look(false), Ok(false));
    }

    #[test]
    fn damage_is_remembered_until_the_store_is_built_anew() {
        let epoch = tempfile::tempdir().expect("a folder can be made");
        fs::create_dir(epoch.path().join("text")).expect("it can be made");
        let list = epoch.path().join("text").join(crate::text::META);
        fs::write(&list, "segments").expect("it can be written");
        let examined = Examined::default();
        assert_eq!(examined.damage(epoch.path()), None);
        examined.note(epoch.path(), "a byte");
        assert_eq!(examined.damage(epoch.path()).as_deref(), Some("a byte"));
        assert_eq!(examined.damage(Path::new("elsewhere")), None);
        fs::write(&list, "new segments").expect("it can be written");
        assert_eq!(examined.damage(epoch.path()), None);
    }
}
