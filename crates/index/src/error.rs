//! Errors of the write path.

use codecompass_store::StoreError;

use crate::source::SourceError;

/// An error of the write path.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The source cannot be listed or read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store returned an error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A ref was requested, but the folder is not under version control.
    #[error("{0} is not in a git repository, so it has no ref but \"live\"")]
    NoVersionControl(String),
    /// A bare repository without commits.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// The system cannot start threads.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// The work tree cannot be watched.
    #[error("the work tree cannot be watched: {0}")]
    Watch(String),
    /// Other programs kept changing the work tree while it was read.
    #[error("git kept changing the work tree while it was read")]
    WorktreeUnstable,
    /// The caller cancelled the operation.
    #[error("cancelled")]
    Cancelled,
}
