//! A full disk, as the system, SQLite and Tantivy report it. It is never corruption: stored data is intact, and the
//! unfinished write is not visible.

use std::io::{Error, ErrorKind};

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenWriteError};

/// Whether the disk or the user's quota is full.
pub(crate) fn is_disk_full(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Whether SQLite ran out of space: in the database, in its log, or in the memory that its readers share, also a file.
pub(crate) fn is_sqlite_disk_full(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
        || extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// Whether Tantivy reports a full disk. Errors of its threads arrive as text.
pub(crate) fn is_tantivy_disk_full(error: &TantivyError) -> bool {
    let found = match error {
        TantivyError::IoError(error) => error,
        TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => io_error,
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => io_error,
        TantivyError::LockFailure(LockError::IoError(error), _) => error,
        TantivyError::InternalError(text) | TantivyError::ErrorInThread(text) | TantivyError::SystemError(text) => {
            let is_code = |code: i32| text.contains(&Error::from_raw_os_error(code).to_string());
            return DISK_FULL_CODES.iter().any(|code| is_code(*code)) || text.contains("StorageFull");
        }
        _ => return false,
    };
    is_disk_full(found)
}

/// `ENOSPC` and `EDQUOT`.
#[cfg(target_os = "linux")]
const DISK_FULL_CODES: &[i32] = &[28, 122];
#[cfg(all(unix, not(target_os = "linux")))]
const DISK_FULL_CODES: &[i32] = &[28, 69];
/// `ERROR_DISK_FULL` and `ERROR_HANDLE_DISK_FULL`.
#[cfg(not(unix))]
const DISK_FULL_CODES: &[i32] = &[112, 39];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::StoreError;

    fn disk_full_error() -> Error {
        Error::from_raw_os_error(DISK_FULL_CODES[0])
    }

    #[test]
    fn disk_full_errors_are_recognised() {
        let io_error = Arc::new(disk_full_error());
        let full = [
            TantivyError::IoError(Arc::clone(&io_error)),
            TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath: "x.idx".into() }),
            TantivyError::InternalError(disk_full_error().to_string()),
            TantivyError::ErrorInThread(format!("IoError({:?})", disk_full_error())),
        ];
        for error in full {
            let told = error.to_string();
            assert!(matches!(StoreError::from(error), StoreError::DiskFull(_)), "{told}");
        }
        assert!(matches!(StoreError::io("x")(disk_full_error()), StoreError::DiskFull(_)));
        let other = [
            TantivyError::IoError(Arc::new(Error::from(ErrorKind::PermissionDenied))),
            TantivyError::ErrorInThread("panicked".into()),
            TantivyError::Poisoned,
        ];
        for error in other {
            let told = error.to_string();
            assert!(matches!(StoreError::from(error), StoreError::Text(_)), "{told}");
        }
        assert!(matches!(StoreError::io("x")(Error::from(ErrorKind::NotFound)), StoreError::Io { .. }));
    }

    #[test]
    fn full_database_is_not_corrupt() {
        let connection = rusqlite::Connection::open_in_memory().expect("because a database can be created");
        connection.execute_batch("CREATE TABLE t (x); PRAGMA max_page_count = 3").expect("because it fits");
        let error = connection
            .execute("INSERT INTO t VALUES (zeroblob(100000))", [])
            .expect_err("because the database is full");
        assert!(matches!(StoreError::from(error), StoreError::DiskFull(_)));
    }
}
