//! Errors of the store. They say what failed; the application adds what to do about it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::OpenDirectoryError::{DoesNotExist, NotADirectory};
use tantivy::directory::error::OpenReadError;

use crate::disk_full;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no store in this folder.
    #[error("no index is registered in {0}")]
    NotRegistered(PathBuf),
    /// The store was written by another version of the schema.
    #[error("the index has schema version {found}, this program needs {required}")]
    ReindexRequired {
        /// The version found.
        found: i64,
        /// The version this program reads and writes.
        required: i64,
    },
    /// The store cannot be read.
    #[error("the index is corrupt: {0}")]
    Corrupt(String),
    /// The disk is full. This says nothing about the data that is already there.
    #[error("the disk is full{}", location_suffix(.0))]
    DiskFull(PathBuf),
    /// Another process is writing.
    #[error("another process is writing this index")]
    Locked,
    /// The cancel flag was set.
    #[error("the request was cancelled")]
    Cancelled,
    /// The view was never published.
    #[error("nothing is published for {0}")]
    NoSuchView(String),
    /// The store has nothing to export.
    #[error("nothing is published to export")]
    NothingToExport,
    /// The output file exists already.
    #[error("{0} already exists")]
    FileExists(PathBuf),
    /// The file is not an archive that can be imported.
    #[error("the archive was refused: {0}")]
    Archive(String),
    /// The archive was written by another version of this program.
    #[error("the archive has {what} version {found}, this program needs {required}")]
    ArchiveVersion {
        /// The versioned item: the archive format, or the schema of the index in it.
        what: &'static str,
        /// The version found.
        found: i64,
        /// The version this program reads and writes.
        required: i64,
    },
    /// An error of SQLite.
    #[error("the index database failed: {0}")]
    Sqlite(rusqlite::Error),
    /// An error of Tantivy.
    #[error("the text index failed: {0}")]
    Text(tantivy::TantivyError),
    /// A file could not be read or written.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

impl StoreError {
    /// Whether an older version of this program made the store.
    pub const fn is_outdated(&self) -> bool {
        matches!(self, Self::ReindexRequired { found, required } if *found < *required)
    }

    /// Describes the corruption in a few words; any other error completely.
    pub fn corruption(&self) -> String {
        match self {
            Self::Corrupt(what) => what.clone(),
            other => other.to_string(),
        }
    }

    /// Wraps an I/O error with the path at which it occurred.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| match disk_full::is_disk_full(&source) {
            true => Self::DiskFull(path),
            false => Self::Io { path, source },
        }
    }
}

/// Formats the location of an error, if it is known.
fn location_suffix(path: &Path) -> String {
    if path.as_os_str().is_empty() { String::new() } else { format!(" at {}", path.display()) }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match () {
            // A full disk is not corruption, even if the error looks like it.
            () if disk_full::is_sqlite_disk_full(&error) => Self::DiskFull(PathBuf::new()),
            () if is_corruption(&error) => Self::Corrupt(format!("store.db: {error}")),
            () => Self::Sqlite(error),
        }
    }
}

/// Whether an SQLite error is caused by wrong bytes, and not by the operating system. Every statement is ours and fits
/// the tables that we made. A statement that does not fit, a value of another type, or two rows with the same key are
/// therefore corruption.
fn is_corruption(error: &rusqlite::Error) -> bool {
    use rusqlite::{Error, ErrorCode, ffi};
    match error {
        Error::SqliteFailure(failure, _) | Error::SqlInputError { error: failure, .. } => {
            let wrong = matches!(
                failure.code,
                ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::TypeMismatch
                    | ErrorCode::TooBig
            );
            wrong || matches!(failure.extended_code, ffi::SQLITE_ERROR | ffi::SQLITE_IOERR_SHORT_READ)
        }
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::Utf8Error(..)
        | Error::QueryReturnedNoRows => true,
        _ => false,
    }
}

impl From<TantivyError> for StoreError {
    fn from(error: TantivyError) -> Self {
        if disk_full::is_tantivy_disk_full(&error) {
            return Self::DiskFull(PathBuf::new());
        }
        let unreadable = |io: &std::io::Error| {
            matches!(io.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::NotFound)
        };
        let named = |path: &Path, what: &dyn std::fmt::Display| Self::Corrupt(format!("text/{}{what}", path.display()));
        match &error {
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(path)) => named(path, &" is missing"),
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath }) if unreadable(io_error) => {
                named(filepath, &format_args!(": {io_error}"))
            }
            TantivyError::IoError(io) if unreadable(io) => Self::Corrupt(format!("text: {io}")),
            TantivyError::OpenDirectoryError(DoesNotExist(_) | NotADirectory(_)) => {
                Self::Corrupt("text is missing".into())
            }
            TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_))
            | TantivyError::DataCorruption(_)
            | TantivyError::IncompatibleIndex(_)
            | TantivyError::SchemaError(_)
            | TantivyError::FieldNotFound(_) => Self::Corrupt(format!("text: {error}")),
            _ => Self::Text(error),
        }
    }
}
