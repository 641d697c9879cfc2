//! Sources of texts: git objects and work trees, listed and read under one set of rules.
//!
//! This module alone answers four questions:
//! - *Which* folder or repository does a path name? ([`Workspace`])
//! - *What files* does it contain? ([`list_worktree`], [`stat_paths`], [`Repo::list_commit`])
//! - *What are the bytes*? ([`BlobReader`], [`blob_id`], [`content_skip_reason`])
//! - *Which files differ*? ([`Repo::tree_changes`], [`with_edits`], [`with_renames`])
//!
//! A listing is cheap: it never opens a source file, it only reads names, rules and stat data. Everything it skips is
//! counted with its reason ([`Skips`]); [`PathStatus`] reports the reason for a single path.
//!
//! # The law
//! A clean checkout and its commit list the same paths with the same blobs. Therefore both use one rule engine
//! (`rules.rs`, which documents the order of the rules), fed from files or from blobs, and `.gitignore` applies to
//! untracked files only.
//!
//! # What is absent
//! No program is ever started: not `git`, and no hook, filter, textconv or file-system monitor that a repository's
//! configuration may name. A repository's configuration cannot redirect the listing to another folder either: the work
//! tree is the folder in which `.git` was found. Nothing here writes, except [`Repo::write_files`] into a folder of
//! ours. Apart from the user's global git excludes, which the `ignore` crate looks up, nothing depends on the
//! environment.
//!
//! # Known limits
//! - End-of-line conversion and filters are not applied: a file that matches git's index is named by git's blob (see
//!   [`ContentSource::File`]), a changed one by the bytes on disk. The size limit applies to the file on disk in a work
//!   tree, and to the blob in a commit.
//! - `core.excludesFile` and `core.attributesFile` of the repository's own configuration, `info/attributes` and
//!   attribute macros are not read.
//! - On file systems that fold case or normalise Unicode, a tracked file whose spelling on disk differs from git's
//!   index counts as untracked.
//! - sha256 repositories and reftable reference storage are not supported; each is refused with its own error.

mod access;
mod attributes;
mod beneath;
mod bounds;
mod builtin_excludes;
mod changes;
mod checkout;
mod content;
mod error;
mod folder_handle;
mod git_folder;
mod language_overrides;
mod listing;
mod objects;
mod path_status;
mod real_path;
mod renames;
mod repo;
mod rules;
mod secrets;
mod small_file;
mod stat;
mod tracked;
mod workspace;
mod worktree;

pub use access::Access;
pub(crate) use beneath::{Content, Refused, Root};
pub use changes::{ChangeType, Edit, FileChange, FileMode, TreeEntry, with_edits, with_renames};
pub use content::content_skip_reason;
pub use error::{Cause, SourceError};
pub use folder_handle::FolderHandle;
pub use language_overrides::LanguageOverrides;
pub use listing::{ContentSource, Entry, Limits, Listing, Skips};
pub use objects::{BlobReader, blob_id};
pub use path_status::{PathStatus, commit_path_status, worktree_path_status};
pub use real_path::{MAX_PATH_BYTES, real_path};
pub use renames::BlobSource;
pub use repo::{Head, RefNames, Repo, ResolvedRef};
pub use rules::check_pattern;
pub use secrets::Secrets;
pub use small_file::read as read_small_file;
pub use stat::FileStat;
pub use workspace::{Located, Workspace};
pub use worktree::{list_worktree, list_worktree_by, stat_paths};
