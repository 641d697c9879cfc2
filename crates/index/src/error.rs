//! What can go wrong on the write path.

use codecompass_store::StoreError;

use crate::source::SourceError;

/// An error of the write path.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The source can not be listed or read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store said no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A ref was asked for, and the folder is under no version control.
    #[error("{0} is not in a git repository, so it has no ref but \"live\"")]
    NoVersionControl(String),
    /// A bare repository without a single commit.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// The system gives no threads.
    #[error("no threads can be started: {0}")]
    Threads(String),
    /// The work tree can not be watched.
    #[error("it can not be watched: {0}")]
    Watch(String),
    /// A work tree that other programs kept moving while it was read.
    #[error("the work tree was moved to other commits again and again while it was read")]
    WorktreeUnstable,
    /// The caller asked to stop.
    #[error("stopped on request")]
    Cancelled,
}
