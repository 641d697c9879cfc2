//! What the file system says about a file; the only place that asks in the words of one platform.

use std::fs::Metadata;

/// Enough of a file's stat data to tell that it has not changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileStat {
    /// In bytes.
    pub size: u64,
    /// Last change of the bytes, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the bytes or the inode, in nanoseconds since 1970; 0 where there is no such time.
    pub ctime_ns: i64,
    /// The inode; 0 where there is none.
    pub inode: u64,
}

impl FileStat {
    /// Reads the platform's metadata.
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            size: metadata.len(),
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// Reads the platform's metadata.
    #[cfg(not(unix))]
    pub fn of(metadata: &Metadata) -> Self {
        let mtime_ns = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |age| age.as_nanos() as i64);
        Self { size: metadata.len(), mtime_ns, ctime_ns: 0, inode: 0 }
    }
}
