//! The stat data of a file; the only module that reads it in platform-specific ways.

use std::fs::Metadata;

/// The stat data needed to detect that a file has not changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileStat {
    /// In bytes.
    pub size: u64,
    /// Last change of the bytes, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the bytes or the inode, in nanoseconds since 1970. On Windows, the creation time, as in git.
    pub ctime_ns: i64,
    /// The inode; 0 where there is none.
    pub inode: u64,
}

/// Windows counts in tenths of a microsecond, from 1601.
#[cfg(windows)]
const TICKS_BEFORE_1970: i64 = 116_444_736_000_000_000;

impl FileStat {
    /// Reads the platform's metadata.
    #[cfg(unix)]
    pub fn from_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            size: metadata.len(),
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// Reads the result of a system call relative to a folder.
    #[cfg(unix)]
    #[allow(clippy::unnecessary_cast, reason = "the types of the fields differ between systems")]
    pub(super) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            size: stat.st_size as u64,
            mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            inode: stat.st_ino as u64,
        }
    }

    /// Reads the platform's metadata.
    #[cfg(windows)]
    pub fn from_metadata(metadata: &Metadata) -> Self {
        use std::os::windows::fs::MetadataExt;
        let nanoseconds = |ticks: u64| (ticks as i64).saturating_sub(TICKS_BEFORE_1970).saturating_mul(100);
        Self {
            size: metadata.len(),
            mtime_ns: nanoseconds(metadata.last_write_time()),
            ctime_ns: nanoseconds(metadata.creation_time()),
            inode: 0,
        }
    }
}
