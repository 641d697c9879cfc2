//! The tracked files of a work tree, from git's index.
//!
//! The index is sorted by path, so everything below a folder is one range of it. A walk narrows the range as it
//! descends, and finds a file by bisection in the range: no map is built.

use std::ops::Range;
use std::path::Path;

use codecompass_model::BlobId;
use gix::index::entry::{Flags, Mode};
use gix::index::{Entry, File};

use super::{FileStat, SourceError};

/// The tracked files; none in a plain folder or before the first `git add`.
pub(super) struct TrackedFiles {
    index: Option<File>,
}

/// The range of the index below one folder.
#[derive(Clone)]
pub(super) struct IndexRange {
    entries: Range<usize>,
    /// Length of the folder's path with its closing slash, which is a prefix of all these entries.
    prefix: usize,
}

impl IndexRange {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl TrackedFiles {
    /// Creates an empty index.
    pub(super) fn empty() -> Self {
        Self { index: None }
    }

    /// Reads the index file. Like git, this does not verify its checksum.
    pub(super) fn read(path: &Path) -> Result<Self, SourceError> {
        let damaged = |cause| SourceError::Index { path: path.to_owned(), cause };
        match path.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::empty());
            }
            Err(error) => return Err(SourceError::io(path, error)),
            Ok(metadata) if !metadata.is_file() => return Err(SourceError::SpecialFile { path: path.to_owned() }),
            Ok(metadata) if metadata.len() == 0 => return Err(damaged("the file is empty".into())),
            Ok(_) => {}
        }
        let options = gix::index::decode::Options::default();
        let index = File::at(path, gix::hash::Kind::Sha1, true, options).map_err(|error| damaged(error.into()))?;
        Ok(Self { index: Some(index) })
    }

    /// Returns the range of all tracked files.
    pub(super) fn all(&self) -> IndexRange {
        IndexRange { entries: 0..self.index.as_ref().map_or(0, |index| index.entries().len()), prefix: 0 }
    }

    /// Returns the range of tracked files below this sub-folder.
    pub(super) fn subfolder(&self, folder: &IndexRange, name: &str) -> IndexRange {
        let prefix = folder.prefix + name.len() + 1;
        let after = |last: char| {
            let bound = format!("{name}{last}");
            self.lower_bound(folder, bound.as_bytes())
        };
        // '0' is the character after '/'.
        if folder.is_empty() {
            IndexRange { entries: 0..0, prefix }
        } else {
            IndexRange { entries: after('/')..after('0'), prefix }
        }
    }

    /// Returns the entries of this file: one, or several during a merge conflict.
    fn entries_at(&self, folder: &IndexRange, name: &str) -> &[Entry] {
        let Some(index) = &self.index else { return &[] };
        if folder.is_empty() {
            return &[];
        }
        let start = self.lower_bound(folder, name.as_bytes());
        let rest = &index.entries()[start..folder.entries.end.max(start)];
        let end = rest.iter().take_while(|entry| suffix(index, entry, folder.prefix) == name.as_bytes()).count();
        &rest[..end]
    }

    /// Returns the tracked state of this name in this folder.
    pub(super) fn look_up(&self, folder: &IndexRange, name: &str) -> TrackedState<'_> {
        match self.entries_at(folder, name) {
            [] => TrackedState::Untracked,
            entries if entries.iter().any(|entry| entry.mode.is_submodule()) => TrackedState::Submodule,
            [entry] => TrackedState::File(entry),
            _ => TrackedState::Conflict,
        }
    }

    /// Returns the blob of an entry, if the stat data prove that the file still has its bytes.
    pub(super) fn unchanged_blob(&self, entry: &Entry, stat: &FileStat) -> Option<BlobId> {
        let written = self.index.as_ref()?.timestamp();
        let odd = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE | Flags::INTENT_TO_ADD;
        let proven = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE)
            && entry.stage_raw() == 0
            && !entry.flags.intersects(odd)
            && entry.stat.size == stat.size as u32
            && same_time(entry.stat.mtime, stat.mtime_ns)
            && (is_unset(entry.stat.ctime) || same_time(entry.stat.ctime, stat.ctime_ns))
            && (entry.stat.ino == 0 || stat.inode == 0 || entry.stat.ino == stat.inode as u32)
            && is_older(entry.stat.mtime, written.unix_seconds(), written.nanoseconds());
        proven.then(|| BlobId::from_bytes(entry.id.as_slice()))?
    }

    fn lower_bound(&self, folder: &IndexRange, name: &[u8]) -> usize {
        let Some(index) = &self.index else { return 0 };
        let entries = &index.entries()[folder.entries.clone()];
        folder.entries.start + entries.partition_point(|entry| suffix(index, entry, folder.prefix) < name)
    }
}

/// The state of a name in the index.
pub(super) enum TrackedState<'a> {
    Untracked,
    File(&'a Entry),
    Conflict,
    Submodule,
}

impl TrackedState<'_> {
    pub(super) fn is_tracked(&self) -> bool {
        !matches!(self, TrackedState::Untracked)
    }
}

fn suffix<'a>(index: &'a File, entry: &Entry, prefix: usize) -> &'a [u8] {
    let path: &[u8] = entry.path(index);
    path.get(prefix..).unwrap_or_default()
}

type Time = gix::index::entry::stat::Time;

fn is_unset(time: Time) -> bool {
    time.secs == 0 && time.nsecs == 0
}

/// Compares the time with git's form: the low bits of the seconds, and nanoseconds if the writer of the index had them.
fn same_time(time: Time, nanoseconds: i64) -> bool {
    let seconds = nanoseconds.div_euclid(1_000_000_000) as u32;
    let rest = nanoseconds.rem_euclid(1_000_000_000) as u32;
    time.secs == seconds && (time.nsecs == 0 || time.nsecs == rest)
}

/// Whether a file was last written before the index; if not, it may have changed again within the same clock tick.
fn is_older(time: Time, index_seconds: i64, index_nanoseconds: u32) -> bool {
    let seconds = i64::from(time.secs);
    seconds < index_seconds || (time.nsecs != 0 && seconds == index_seconds && time.nsecs < index_nanoseconds)
}
