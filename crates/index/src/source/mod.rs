//! Where texts come from: git objects and work trees, listed and read under one set of rules.
//!
//! Four questions are answered here and nowhere else. *Which* folder or repository is meant ([`Workspace`]); *what
//! stands in it* ([`list_worktree`], [`stat_paths`], [`Repo::list_commit`]); *what the bytes are* ([`BlobReader`],
//! [`blob_id`], [`judge`]); and *which files differ* ([`Repo::tree_changes`], [`with_edits`], [`with_renames`]). A
//! listing is cheap: it never opens a source file, it only looks at names, rules and stat data. Everything it leaves out
//! is counted with its reason ([`Skips`]); for one path that somebody misses, [`Verdict`] has it.
//!
//! # The law
//! A clean checkout and its commit list the same paths with the same blobs. That is why both go through one rule
//! engine (`rules.rs`, where the order of the rules is written down), fed from files or from blobs, and why `.gitignore` has a say about untracked files only.
//!
//! # What is absent
//! No program is ever started: not `git`, no hook, filter, textconv or file-system monitor that a repository's
//! configuration may name. A repository's configuration can not point the listing at another folder either: the work
//! tree is where its `.git` was found. Nothing here writes, save [`Repo::write_files`] into a folder of ours. Apart from the user's global git excludes, which the
//! `ignore` crate looks up, nothing depends on the environment.
//!
//! # Known limits
//! - End-of-line conversion and filters are not applied: a file that git's index vouches for is named by git's blob
//!   (see [`Place::File`]), a changed one by the bytes on disk. The size limit looks at the disk in a work tree and at
//!   the blob in a commit.
//! - `core.excludesFile` and `core.attributesFile` of the repository's own configuration, `info/attributes` and
//!   attribute macros are not read.
//! - On file systems that fold case or normalise Unicode, a tracked file whose spelling on disk differs from git's
//!   index counts as untracked.
//! - Neither sha256 repositories nor reftable reference storage can be read; both are refused with their own error.

mod access;
mod attributes;
mod beneath;
mod bounds;
mod builtin_excludes;
mod changes;
mod checkout;
mod content;
mod error;
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
