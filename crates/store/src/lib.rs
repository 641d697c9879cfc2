//! Facts and text at rest.
//!
//! A project's store is a folder with one SQLite database, which is the truth and the only commit point, and one
//! Tantivy index, which finds words. The database holds **file versions** (a path and the bytes that stood there) with
//! everything extraction said about them, and **views**: sets of file versions, each one compressed bitmap. A
//! [`Snapshot`] is one generation of one view; nothing that reads it ever sees another.
//!
//! One process writes at a time ([`Writer`], behind an OS lock); any number read. The order of a write is always the
//! same: ids are reserved, Tantivy commits documents nobody can see, SQLite commits rows nobody can see, and one last
//! SQLite transaction publishes the views that hold them. A crash between any two leaves the last published state,
//! and what was already stored is found again by the next sync.
//!
//! What is absent: how facts are made, ranking policy, JSON, git, clocks (callers pass times in), the environment.

mod archive;
mod cache;
mod candidates;
mod clean;
mod codec;
mod doctor;
mod error;
mod examined;
mod forget;
mod full;
mod garbage;
mod glance;
mod jobs;
mod layout;
mod lists;
mod overview;
mod paths;
pub mod private;
mod prune;
mod records;
mod rows;
mod schema;
mod search;
mod secrets;
mod snapshot;
mod statcache;
mod sums;
mod text;
mod text_folder;
mod texts;
mod tokens;
mod twins;
mod version;
mod views;
mod writer;

pub use archive::{Archive, Export, FORMAT_VERSION, Import, Imported, Replaced, Start, export, import};
pub use candidates::{Need, Run};
pub use codec::Outline;
pub use doctor::{Check, Health, are_sound, damage};
pub use error::StoreError;
pub use forget::forget;
pub use garbage::Garbage;
pub use glance::Glance;
pub use jobs::{Job, JobMode, JobProgress, JobStatus};
pub use layout::ProjectDir;
pub use overview::Overview;
pub use prune::{Pruned, prune};
pub use schema::{SCHEMA_VERSION, SchemaStatus};
pub use search::{Fit, Part, PartWeight, Record, TermGroup, TextEverywhere, TextHit, TextHits};
pub use secrets::{SecretRules, remove_secrets};
pub use snapshot::{Layer, Snapshot, Store, SymbolRow};
pub use statcache::{CachedStat, Stat};
pub use tokens::{is_odd, is_word, tokens};
pub use version::{KnownVersion, NewVersion, VersionInfo};
pub use views::{Bitmaps, SkipCount, Totals, ViewInfo, ViewUpdate};
pub use writer::{Missing, Publish, Tuning, WritePoint, Writer};

pub use roaring::RoaringBitmap;

/// The result of everything in this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
