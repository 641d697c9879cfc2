//! What can go wrong with a store, and nothing about what to do: the edge adds that.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::OpenDirectoryError::{DoesNotExist, NotADirectory};
use tantivy::directory::error::OpenReadError;

use crate::full;

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
    /// The store can not be read.
    #[error("the index is damaged: {0}")]
    Corrupt(String),
    /// There is no room for what was to be written, which says nothing about what is there.
    #[error("the disk is full: there is no room for more{}", at(.0))]
    DiskFull(PathBuf),
    /// Another process is writing.
    #[error("another process is writing this index")]
    Locked,
    /// Nobody wants the answer any more.
    #[error("the question was given up")]
    Stopped,
    /// The view was never published.
    #[error("nothing is published for {0}")]
    NoSuchView(String),
    /// There is nothing in the store that could be exported.
    #[error("nothing is published that could be exported")]
    NothingToExport,
    /// The file that was to be written is there already.
    #[error("{0} is there already")]
    FileExists(PathBuf),
    /// The file is no archive that can be imported.
    #[error("the archive is refused: {0}")]
    Archive(String),
    /// The archive was written by another version of this program.
    #[error("the archive has {what} version {found}, this program needs {required}")]
    ArchiveVersion {
        /// What is versioned: the format of archives, or the schema of the index in it.
        what: &'static str,
        /// The version found.
        found: i64,
        /// The version this program reads and writes.
        required: i64,
    },
    /// SQLite said no.
    #[error("the index database failed: {0}")]
    Sqlite(rusqlite::Error),
    /// Tantivy said no.
    #[error("the text index failed: {0}")]
    Text(tantivy::TantivyError),
    /// A file could not be read or written.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl StoreError {
    /// Whether this is a store that an older version of this program made.
    pub const fn is_outdated(&self) -> bool {
        matches!(self, Self::ReindexRequired { found, required } if *found < *required)
    }

    /// What is damaged, in few words; of another error, all of it.
    pub fn damage(&self) -> String {
        match self {
            Self::Corrupt(what) => what.clone(),
            other => other.to_string(),
        }
    }

    /// Wraps an I/O error with the path it happened on.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| match full::is_full(&source) {
            true => Self::DiskFull(path),
            false => Self::Io { path, source },
        }
    }
}

/// Where that was, if it is known.
fn at(path: &Path) -> String {
    if path.as_os_str().is_empty() { String::new() } else { format!(" at {}", path.display()) }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match () {
            // A disk without room is no damage, whatever else the error looks like.
            () if full::is_told_by_sqlite(&error) => Self::DiskFull(PathBuf::new()),
            () if is_damage(&error) => Self::Corrupt(format!("store.db: {error}")),
            () => Self::Sqlite(error),
        }
    }
}

/// Whether an error of SQLite comes of wrong bytes, and not of what the system would not do. Every statement is ours and fits
/// the tables that we made: a statement that does not, a value of another type, or two rows with the same key are damage.
fn is_damage(error: &rusqlite::Error) -> bool {
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
        if full::is_told_by(&error) {
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
