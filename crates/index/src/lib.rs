//! The write path: lists a source, reads and extracts what changed, and publishes the result as views.
//!
//! ```text
//! source ─list→ changes ─read→ text ─extract→ facts ─batch→ store.publish(view) → generation n+1
//! ```
//!
//! [`sync()`] runs all of it, [`freshness()`] compares without writing, and [`Watch`] reports what may have changed.
//! Absent are queries, protocols, output and the environment. Nothing of a repository is ever executed, and nothing is
//! written outside the project's folder.
//!
//! # Which files belong to a view?
//! [`source`] finds the folder or repository of a path ([`source::Workspace`]), lists it, reads it and compares it. One
//! rule engine (`source/rules.rs`) decides for work trees and for commits, so a clean checkout and its commit list the
//! same files with the same blobs. `source/secrets.rs` has the tables of files that may hold secrets.
//! [`source::PathStatus`] reports why a single path is missing.
//!
//! # Which view does a name select?
//! [`Target::resolve`] returns the work tree, with its uncommitted edits, for no name and for the checked-out branch.
//! Any other name selects what git has.
//!
//! # How does a sync work?
//! 1. `plan` divides the listing into files that are known (by stat cache, by git's index, by blob id) and files to
//!    read.
//! 2. `pipeline` reads, hashes, extracts and encodes these in worker threads, and writes on one thread. The channel
//!    between them is short, so memory is bounded by configuration, not by the repository.
//! 3. `sync` publishes once, after everything is stored. A work tree's sync also publishes the checked-out commit under
//!    its branch's name.
//!
//! # When is a stat trusted?
//! The stat cache is trusted for a file only if the file was older than its read by more than the granularity of the
//! file system's clock: 20 ms, or 2 s where times are whole seconds. git's index is trusted for a file only if the
//! stored version of that blob has the size of the file on disk, because line-end conversion and filters change sizes.
//!
//! # What if the work tree changes meanwhile?
//! A work tree is published under the name it had while it was read. git writes files first and updates `HEAD` last, so
//! `head_state` reads `HEAD`, the index and its lock before and after, and the files are read again if they differ.
//!
//! The silence of a [`Watch`] counts as "fresh". It therefore returns no event count while there may be a folder that
//! it does not watch.
//!
//! # What must a hostile repository not do?
//! - *Escape from the root.* Files are opened below a descriptor of the root without following links, and only regular
//!   files are read (`source/beneath.rs`).
//! - *Block, or reach other repositories.* Everything in a git folder may be forged. `source/git_folder.rs` refuses
//!   pipes, devices and, where a server confines repositories, paths that lead outside, before gix opens anything.
//!   `source/access.rs` limits the time of git operations.
//! - *Run a program.* No hook, filter or monitor of a repository's configuration is started.
//! - *Exhaust memory or time.* Listings, objects, rule files and paths have maximum sizes (`source/bounds.rs`,
//!   `source/rules.rs`), and a file has a time limit for its extraction. A listing that exceeds a limit is an error,
//!   never a partial result.

pub mod bench;
mod error;
mod freshness;
mod head_state;
mod pipeline;
mod plan;
pub mod source;
mod sync;
mod target;
mod watch;

pub use error::IndexError;
pub use freshness::{Freshness, any_changed, freshness};
pub use pipeline::Progress;
pub use sync::{SyncOptions, SyncOutcome, sync};
pub use target::Target;
pub use watch::{Change, Watch};

/// Raised when the content rules that keep a file out of all views change. The rules about secrets have their own
/// version, by which stores are scanned again.
const CONTENT_RULES: u32 = 1;

/// Returns one number for everything that decides what is extracted. A view made with another number is partly out of
/// date.
pub fn extraction_key(limits: &source::Limits) -> u64 {
    let program = codecompass_lang::facts_key().wrapping_add(CONTENT_RULES as u64);
    program.wrapping_add(source::LanguageOverrides::key(&limits.languages))
}

/// Whether a stored version equals what this program would extract from its bytes, with the language override of its
/// path.
fn is_current(version: &codecompass_store::StoredVersion, chosen: Option<&str>) -> bool {
    let current = match (version.skip, chosen) {
        (Some(_), _) => Some(CONTENT_RULES),
        (None, Some(chosen)) if codecompass_lang::is_language(chosen) => {
            codecompass_lang::explicit_version(chosen).filter(|_| version.language == chosen)
        }
        _ => codecompass_lang::facts_version(&version.language),
    };
    current == Some(version.facts_version)
}
