//! Reads small untrusted files without ever waiting for a writer.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Reads a regular file of at most `limit` bytes; `None` if it does not exist. Links are followed.
///
/// A named pipe would block an ordinary `open` until some process writes to it, so the file is opened without blocking
/// and its type is checked on the open descriptor. A larger file is an error of kind `InvalidData`.
pub fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let file = match open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    if file.take(limit + 1).read_to_end(&mut bytes)? as u64 > limit {
        return Err(Error::new(ErrorKind::InvalidData, format!("larger than {limit} bytes")));
    }
    Ok(Some(bytes))
}

fn open(path: &Path) -> Result<File> {
    // Opening a device can have side effects.
    if !path.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    options.open(path)
}
