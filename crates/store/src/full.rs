//! A full disk, as the system, SQLite and Tantivy report it. It is never corruption: stored data is intact, and the
//! unfinished write is not visible.

use std::io::{Error, ErrorKind};

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenWriteError};

/// Whether the disk or the user's quota is full.
pub(crate) fn is_full(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Whether SQLite ran out of space: in the database, in its log, or in the memory that its readers share, also a file.
pub(crate) fn is_told_by_sqlite(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
        || extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// Whether Tantivy reports a full disk. Errors of its threads arrive as text.
pub(crate) fn is_told_by(error: &TantivyError) -> bool {
    let found = match error {
        TantivyError::IoError(error) => error,
        TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => io_error,
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => io_error,
        TantivyError::LockFailure(LockError::IoError(error), _) => error,
        TantivyError::InternalError(text) | TantivyError::ErrorInThread(text) | TantivyError::SystemError(text) => {
            let is_code = |code: i32| text.contains(&Error::from_raw_os_error(code).to_string());
            return CODES.iter().any(|code| is_code(*code)) || text.contains("StorageFull");
        }
        _ => return false,
    };
    is_full(found)
}

/// `ENOSPC` and `EDQUOT`.
#[cfg(target_os = "linux")]
const CODES: &[i32] = &[28, 122];
#[cfg(all(unix, not(target_os = "linux")))]
const CODES: &[i32] = &[28, 69];
/// `ERROR_DISK_FULL` and `ERROR_HANDLE_DISK_FULL`.
#[cfg(not(unix))]
const CODES: &[i32] = &[112, 39];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::StoreError;

    fn no_room() -> Error {
        Error::from_raw_os_error(CODES[0])
    }

    #[test]
    fn a_full_disk_is_told_from_everything_else() {
        let io_error = Arc::new(no_room());
        let full = [
            TantivyError::IoError(Arc::clone(&io_error)),
            TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath: "x.idx".into() }),
            TantivyError::InternalError(no_room().to_string()),
            TantivyError::ErrorInThread(format!("IoError({:?})", no_room())),
        ];
        for error in full {
            let told = error.to_string();
            assert!(matches!(StoreError::from(error), StoreError::DiskFull(_)), "{told}");
        }
        assert!(matches!(StoreError::io("x")(no_room()), StoreError::DiskFull(_)));
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
    fn a_database_without_room_is_not_a_damaged_one() {
        let connection = rusqlite::Connection::open_in_memory().expect("because a database can be created");
        connection.execute_batch("CREATE TABLE t (x); PRAGMA max_page_count = 3").expect("because it fits");
        let error = connection
            .execute("INSERT INTO t VALUES (zeroblob(100000))", [])
            .expect_err("because the database is full");
        assert!(matches!(StoreError::from(error), StoreError::DiskFull(_)));
    }
}
