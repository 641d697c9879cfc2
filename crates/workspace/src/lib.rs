//! What every surface of CodeCompass shares: configuration, errors with hints, output, and open workspaces with their
//! published views.
//!
//! `error.rs` maps every library error once, to a code, a message, a hint and data. All text from a repository passes
//! `escape::escape_control` or `escape::json` before it is printed. After that, the control characters with which
//! `output::style` marks colours cannot come from a repository.
//!
//! # Views and freshness
//!
//! `views/published.rs` finds the view of a ref and syncs it as the freshness policy requires. The view of a work tree
//! is never used while its name differs from what `HEAD` names: it is synced first. Until then, or if syncing is
//! disabled, the view of the branch or commit itself is used. A query that is overtaken by a checkout starts over.
//!
//! `Published::find` asks a `Refresh` whether a view is fresh, and to sync it. The refresh of a command
//! (`views/inline_refresh.rs`) compares files and syncs before the answer. That of a server
//! (`serve/src/server/background_refresh.rs`) relies on a watch (`index/src/watch.rs`) or, without one, compares all
//! files for up to 100 ms; it answers from the published view, reports `stale`, and syncs in the background. A strict
//! query always compares, however long it takes. `paths.rs` resolves paths and explains why a view lacks a file;
//! `worktrees.rs` writes the files of a ref into the data folder if the configuration enables it.
//!
//! # Time
//!
//! A query ends when its time is up or its answer is no longer wanted. Scans and the budget of the graph check the time
//! limit (`time_limit.rs`), also inside of files, and a cut answer is `partial`.

#![allow(missing_docs, reason = "only crates of this workspace use it; names that say all have no docs")]

pub mod clock;
pub mod config;
pub mod data_location;
pub mod did_you_mean;
pub mod error;
pub mod escape;
pub mod history;
pub mod jobs;
pub mod launch;
pub mod log;
pub mod long_strings;
pub mod measure;
pub mod metadata;
pub mod output;
pub mod panics;
pub mod paths;
mod progress;
pub mod running;
pub mod session;
mod terminal_links;
pub mod time_limit;
pub mod toml_errors;
pub mod views;
pub mod worktrees;
