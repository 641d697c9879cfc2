//! What can go wrong with a source as a whole. A single file that can not be had is a skip, not an error.

use std::path::{Path, PathBuf};

/// The cause below an error of this module.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a source can not be listed or read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Nothing stands at the path.
    #[error("there is nothing at {}", path.display())]
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
    /// The file system's root or the home folder: never what is meant, and never ending.
    #[error("refusing to index all of {}: name a project folder in it", path.display())]
    RefusedRoot {
        /// The refused folder.
        path: PathBuf,
    },
    /// There is a git repository, but it can not be opened or read.
    #[error("the git repository at {} can not be read: {cause}", path.display())]
    Repository {
        /// Its git folder, or the `.git` that leads to it.
        path: PathBuf,
        /// What git's own structures said.
        #[source]
        cause: Cause,
    },
    /// A named pipe or a device lies where git has a file; whoever opens it may wait for ever.
    #[error("{} is not a regular file", path.display())]
    SpecialFile {
        /// The file.
        path: PathBuf,
    },
    /// The repository uses a folder that it may not use here.
    #[error("the git repository uses {}, which lies outside the allowed folders", path.display())]
    OutsideRoot {
        /// The folder.
        path: PathBuf,
    },
    /// The repository did not answer in time, or one that did not still keeps a thread busy.
    #[error("the git repository at {} did not answer within {seconds} seconds", path.display())]
    Stalled {
        /// The `.git` that leads to it.
        path: PathBuf,
        /// The time limit.
        seconds: u64,
    },
    /// The repository names its objects by another hash than SHA-1.
    #[error("the git repository at {} uses the object format {format}, only sha1 is supported", path.display())]
    UnsupportedObjectFormat {
        /// Its git folder.
        path: PathBuf,
        /// The format's name, from its configuration.
        format: String,
    },
    /// The repository keeps its references in another way than as files.
    #[error("the git repository at {} keeps references as {storage}, only files are supported", path.display())]
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
    /// git's index file can not be decoded.
    #[error("git's index at {} can not be read: {cause}", path.display())]
    Index {
        /// The index file.
        path: PathBuf,
        /// What the decoder said.
        #[source]
        cause: Cause,
    },
    /// No branch, tag or commit goes by this name.
    #[error("git knows no branch, tag or commit {name:?}")]
    UnknownRef {
        /// The name as it was given.
        name: String,
    },
    /// The name leads to a tree or blob.
    #[error("{name:?} is not a commit")]
    NotACommit {
        /// The name as it was given.
        name: String,
    },
    /// An object is not in this repository; partial clones leave objects out.
    #[error("git object {id} is not in this repository (a partial clone leaves objects out)")]
    MissingObject {
        /// The object's full id.
        id: String,
    },
    /// An object is there, but broken or of the wrong kind.
    #[error("git object {id} is damaged: {what}")]
    CorruptObject {
        /// The object's full id.
        id: String,
        /// What is wrong with it.
        what: String,
    },
    /// A listing would exceed a limit. No part of it is returned.
    #[error("the source has more than {limit} {what}, the maximum for one listing")]
    ListingTooLarge {
        /// What was counted.
        what: &'static str,
        /// The maximum.
        limit: u64,
    },
    /// A git object is larger than objects of its kind may be.
    #[error("git object {id} has {size} bytes, a {kind} has at most {limit}")]
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
    /// A pattern of the configuration is no gitignore pattern.
    #[error("the ignore pattern {pattern:?} is malformed: {what}")]
    BadPattern {
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it.
        what: String,
    },
    /// The file system refused.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        #[source]
        cause: std::io::Error,
    },
}

impl SourceError {
    /// An error about the repository as a whole.
    pub(super) fn repository(path: &Path, cause: impl Into<Cause>) -> Self {
        SourceError::Repository { path: path.to_owned(), cause: cause.into() }
    }

    /// An error of the file system.
    pub(super) fn io(path: &Path, cause: std::io::Error) -> Self {
        SourceError::Io { path: path.to_owned(), cause }
    }
}
