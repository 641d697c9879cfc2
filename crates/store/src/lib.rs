//! Storage of facts and text: file versions, views, generations and snapshots.
//!
//! A **file version** is a path, the bytes at that path and the facts version of its language. All facts about it
//! depend on nothing else, so it is stored once. A **view** (a branch, tag, commit, work tree or folder) is one
//! compressed bitmap over version ids. A branch therefore costs its changed files only, a rebase or force-push is
//! nothing special, and two work trees share everything. A [`Snapshot`] is one view at one generation. Its readers
//! never see another generation.
//!
//! The crate has no extraction, ranking policy, JSON, git, clocks (callers pass times in) or environment variables.
//!
//! # Files
//!
//! A project has one folder ([`ProjectDir`], `layout.rs`). `current` names the **epoch** in use, and `epoch-N/` holds
//! `store.db` (SQLite) and `text/` (Tantivy). An epoch that cannot be read is replaced by a new one, never repaired in
//! place.
//!
//! SQLite is the source of truth and the only commit point:
//!
//! | table | content |
//! |---|---|
//! | `file_versions` | id, path, blob, size, language, facts version, totals; or the reason why it is skipped |
//! | `outlines`, `facts`, `texts` | one zstd blob each per version: symbols and chunks; all other facts; the text |
//! | `symbol_relations` | a row per symbol; id = version × 2²⁰ + ordinal; the index by name orders homonyms |
//! | `name_refs` | per name and batch, delta-coded postings: a third of the space and time of rows |
//! | `branch_state` | a row per view: bitmaps, commit, exact totals, skipped files, a digest |
//! | `stat_cache` | the status of a work tree's files when they were read |
//! | `jobs`, `workspaces`, `meta` | history; roots; schema version, generation, next id, text mark, secret rules |
//!
//! The tables follow from the reads. A result list reads outlines only, and no answer reads the work tree. The symbols
//! of a file are adjacent and in order. A view also has the bitmap of its previous generation and, for a work tree, the
//! versions that its commit does not have (`edited`). The digest is equal in every clone with the same content.
//!
//! Tantivy holds words, with frequencies, without positions and stored fields. There is one document per symbol (name,
//! docs, its own lines, a [`SymbolPayload`]), per chunk of text outside symbols, and per file (its path). Each line
//! belongs to the innermost symbol around it or to a chunk, so the words of one line are in one document. The view's
//! bitmap alone decides whether a document is visible. A word that is too long for a token is in a separate field. A
//! file's document has a flag if its text has a word too long even for that, or a character with a case or word border
//! that tokens do not represent. Exact search always reads such files. `tokens.rs` is the only definition of a word,
//! for the index and for the exact counts that ranking needs.
//!
//! # Write order
//!
//! A write has four steps. The order makes every prefix of them harmless:
//!
//! - Ids are reserved in a transaction of their own, so that no id is ever handed out twice.
//! - Tantivy commits documents, which no view holds yet.
//! - SQLite commits rows, which no view holds yet.
//! - One last transaction publishes the views, the stat cache and the job.
//!
//! A crash between any two steps leaves the last published state, and the next sync finds the stored versions again.
//! Each Tantivy commit has a mark that SQLite records afterwards. If Tantivy's mark is behind, documents were lost, and
//! they are rebuilt from stored text. Every durable write is announced through a [`WritePoint`], where tests end the
//! process.
//!
//! # Checksums and corruption
//!
//! Corruption is reported, never worked around. Wrong bytes make a reader panic, loop forever or return something else,
//! so checksums are verified where bytes are read:
//!
//! - a zstd frame has a checksum of its content;
//! - rows that answers are made from have one (`checksum.rs`), and so do bitmaps and postings, inside the blob; that of
//!   a symbol is a few bits above its flags, because the index by name is read alone;
//! - segment files end in a checksum that Tantivy does not verify; `text_directory.rs` does, before it returns the
//!   first byte of a file, once per process and file (`verified.rs`);
//! - `meta.json` and `.managed.json` get a last line with one, and `meta.json` also has those of the files it lists.
//!
//! An older copy of the text index is behind the mark. An older copy of the database names documents that were removed
//! since; they are counted when the text index is opened. [`StoreError::Corrupt`] means corruption and nothing else
//! does: `error.rs` classifies the errors of SQLite and Tantivy. Corruption is recorded on [`ProjectDir`], and the
//! process refuses every later request until the store is replaced. [`Health::check`] (`doctor`) reads and verifies
//! everything. `index --force` does so, too, and replaces the epoch, or only the text index if the database is intact.
//! After a panic, the application calls [`find_corruption`] to distinguish a corrupt index from a bug.
//!
//! # Disk full
//!
//! A full disk is [`StoreError::DiskFull`], whether the system, SQLite or a thread of Tantivy reports it
//! (`disk_full.rs`; `text_directory.rs` records the reason for the threads). It is never corruption. The unfinished
//! write is removed, so that there is space to report the error; the last published state keeps answering, and the next
//! sync continues.
//!
//! # Locks
//!
//! A project has one writer over all processes (`write.lock`, an OS lock) and any number of readers. A snapshot holds
//! an open SQLite read transaction and a shared lock on `readers.lock`. It caches outlines and texts up to byte limits,
//! and the **rows** of its view. Rows (`records.rs`) order documents by file version, so that scores are added without
//! sorting or hashing, and results do not depend on segments. A request records its use of a view ([`Store::touch`])
//! only if the write lock is free.
//!
//! # Garbage collection
//!
//! Garbage is every version that no view holds, in this generation or the previous one. It is collected when it exceeds
//! a fifth of the stored versions and no snapshot is open. Rows are deleted first, documents after.
//!
//! # Compact copies: prune, export, import
//!
//! A compact copy (`compact.rs`) is a store with the content of some views and nothing else: rows in key order, indexes
//! built last, the files of the text index hard-linked, and merged into one segment if documents had to go. It is built
//! in the folder of a new epoch. [`prune()`] switches to it, which removes views, garbage and space in one step.
//! [`export`] writes it as a `.tar.zst` and drops it. The first entry is a manifest with format, schema, generation,
//! extraction keys, and each file's size and BLAKE3 checksum. Rows, times and owners are fixed and a single segment is
//! named after its content, so the same state gives the same bytes. Jobs, workspaces, the stat cache, work trees and
//! access times are not exported; the view of a plain folder is exported without its root.
//!
//! [`import`] trusts nothing: it accepts regular files in the manifest's order only, expects exactly our tables, writes
//! Tantivy's list of deletable files itself, and verifies both halves as `doctor` does. It then adds this machine's
//! workspaces, a generation above the old one and a view for the work tree (a copy of the closest one), and switches.
//! The next writer sweeps replaced and unfinished epochs when there are no readers.
//!
//! # Secrets
//!
//! The definition of a secret changes with the program and with the user's list. A store records the rules of its last
//! scan in `meta`. A caller with other rules scans it again before anything is read, written or exported
//! (`secrets.rs`): secrets are left out of a compact copy, and the affected views are listed again. An imported store
//! counts as never scanned.
//!
//! # Deduplication
//!
//! A full extraction creates duplicates: the same path, bytes and facts under two ids. Ids are compared (base or
//! overlay, edited or not), so `dedup.rs` makes all views hold the newer one, at publication or with the next writer.

mod archive;
mod cache;
mod checksum;
mod codec;
mod compact;
mod dedup;
mod dictionary;
mod disk_full;
mod doctor;
mod error;
mod garbage;
mod jobs;
mod layout;
mod names;
mod overview;
mod paths;
mod postings;
mod prefilter;
pub mod private;
mod prune;
mod records;
mod remove_project;
mod rows;
mod schema;
mod search;
mod secret_removal;
mod secrets;
mod snapshot;
mod stat_cache;
mod symbol_payload;
mod text;
mod text_directory;
mod text_fields;
mod text_hits;
mod text_loader;
mod text_reader;
mod text_scan;
mod tokens;
mod totals;
mod vectors;
mod verified;
mod version;
mod view_names;
mod views;
mod writer;

pub use archive::{
    Archive, ExportRequest, FORMAT_VERSION, ImportRequest, Imported, InitialView, Replaced, export, import,
};
pub use cache::VersionCache;
pub use codec::Outline;
pub use dictionary::Run;
pub use doctor::{Check, Health, find_corruption, readable_halves};
pub use error::StoreError;
pub use garbage::Garbage;
pub use jobs::{Job, JobMode, JobProgress, JobStatus};
pub use layout::ProjectDir;
pub use names::{NameBlock, PathOrder, letter_set};
pub use overview::Overview;
pub use prefilter::Prefilter;
pub use prune::{PruneOutcome, prune};
pub use remove_project::remove_project;
pub use rows::SymbolRow;
pub use schema::{SCHEMA_VERSION, SchemaStatus};
pub use search::{FieldWeight, PrefixDecision, TermGroup, TextResults};
pub use secrets::{SecretRules, remove_secrets};
pub use snapshot::{Layer, Snapshot, Store};
pub use stat_cache::{CachedStat, Stat};
pub use symbol_payload::SymbolPayload;
pub use text_fields::{RecordKind, TextField};
pub use text_hits::{TextHit, TextHits};
pub use tokens::{is_odd, is_word, tokens};
pub use totals::Totals;
pub use vectors::VectorCache;
pub use version::{NewVersion, StoredVersion, VersionInfo};
pub use views::{Bitmaps, SkipCount, ViewInfo, ViewUpdate};
pub use writer::{OnMissing, Publish, Tuning, WritePoint, Writer};

pub use roaring::RoaringBitmap;

/// The result type of this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
