//! Errors of a source as a whole. A single file that cannot be read is a skip, not an error.

use std::path::{Path, PathBuf};

/// The cause of an error of this module.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The reason why a source cannot be listed or read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The path does not exist.
    #[error("the path {} does not exist", path.display())]
    MissingPath {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The path names a file.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The file system's root or the home folder: never intended, and too large to index.
    #[error("refusing to index all of {}: name a project folder in it", path.display())]
    RefusedRoot {
        /// The refused folder.
        path: PathBuf,
    },
    /// There is a git repository, but it cannot be opened or read.
    #[error("cannot read the git repository at {}: {cause}", path.display())]
    Repository {
        /// Its git folder, or the `.git` that leads to it.
        path: PathBuf,
        /// The error of the git library.
        #[source]
        cause: Cause,
    },
    /// A named pipe or a device is in place of a file of git; opening it may block for ever.
    #[error("{} is not a regular file", path.display())]
    SpecialFile {
        /// The file.
        path: PathBuf,
    },
    /// The repository uses a folder outside the allowed folders.
    #[error("the git repository uses {}, which lies outside the allowed folders", path.display())]
    OutsideRoot {
        /// The folder.
        path: PathBuf,
    },
    /// The repository did not respond in time, or a stalled one still keeps a thread busy.
    #[error("the git repository at {} did not answer within {seconds} seconds", path.display())]
    Stalled {
        /// The `.git` that leads to it.
        path: PathBuf,
        /// The time limit.
        seconds: u64,
    },
    /// The repository uses another object hash than SHA-1.
    #[error("the git repository at {} uses the object format {format}; only sha1 is supported", path.display())]
    UnsupportedObjectFormat {
        /// Its git folder.
        path: PathBuf,
        /// The format's name, from its configuration.
        format: String,
    },
    /// The repository does not store its references as files.
    #[error("the git repository at {} stores references as {storage}; only files are supported", path.display())]
    UnsupportedRefStorage {
        /// Its git folder.
        path: PathBuf,
        /// The storage's name, from its configuration.
        storage: String,
    },
    /// A bare repository has no work tree to list.
    #[error("the git repository at {} is bare: it has no work tree", path.display())]
    NoWorkTree {
        /// Its git folder.
        path: PathBuf,
    },
    /// git's index file cannot be decoded.
    #[error("cannot read git's index at {}: {cause}", path.display())]
    Index {
        /// The index file.
        path: PathBuf,
        /// The decoder's error.
        #[source]
        cause: Cause,
    },
    /// No branch, tag or commit has this name.
    #[error("git knows no branch, tag or commit {name:?}")]
    UnknownRef {
        /// The name as it was given.
        name: String,
    },
    /// The name resolves to a tree or blob.
    #[error("{name:?} is not a commit")]
    NotACommit {
        /// The name as it was given.
        name: String,
    },
    /// The object is not in this repository; partial clones omit objects.
    #[error("git object {id} is not in this repository (partial clones omit objects)")]
    MissingObject {
        /// The object's full id.
        id: String,
    },
    /// The object exists, but is corrupt or of the wrong kind.
    #[error("git object {id} is corrupt: {what}")]
    CorruptObject {
        /// The object's full id.
        id: String,
        /// The problem.
        what: String,
    },
    /// A listing would exceed a limit. No part of it is returned.
    #[error("the source has more than {limit} {what}, the maximum for one listing")]
    ListingTooLarge {
        /// The kind of items that were counted.
        what: &'static str,
        /// The maximum.
        limit: u64,
    },
    /// A git object exceeds the size limit of its kind.
    #[error("git object {id} has {size} bytes; the maximum for a {kind} is {limit}")]
    ObjectTooLarge {
        /// The object's full id.
        id: String,
        /// Tree, commit or blob.
        kind: String,
        /// Its size in bytes.
        size: u64,
        /// The maximum.
        limit: u64,
    },
    /// A pattern of the configuration is not a valid gitignore pattern.
    #[error("the ignore pattern {pattern:?} is malformed: {what}")]
    BadPattern {
        /// The pattern as it was given.
        pattern: String,
        /// The problem.
        what: String,
    },
    /// The file system returned an error.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error.
        #[source]
        cause: std::io::Error,
    },
}

impl SourceError {
    /// Creates an error about the repository as a whole.
    pub(super) fn repository(path: &Path, cause: impl Into<Cause>) -> Self {
        SourceError::Repository { path: path.to_owned(), cause: cause.into() }
    }

    /// Creates a file-system error.
    pub(super) fn io(path: &Path, cause: std::io::Error) -> Self {
        SourceError::Io { path: path.to_owned(), cause }
    }
}
