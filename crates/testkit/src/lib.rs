//! The test notations and helpers of the project.
//!
//! A test of this product is text in, text out, through one interface. A [`Case`] is a small repository with its
//! branches, queries and answers, written as a file that reads like a document. It runs on many [`ROADS`]: different
//! histories with the same final state, which must return the same answers. A property of all repositories is a
//! [`Law`], checked on generated ones. Expectations about one file are in its own comments ([`expectation`]), and the
//! resolutions of its names in marks below the code ([`MarkedWorld`]). The crate's README shows how to write each.
//!
//! - [`Repository`]: real git repositories in temporary folders, for the tests of any crate.
//! - [`run_cases`]: runs all cases of a folder on all roads.
//! - [`check_branch_law`], [`check_rebase_law`], [`check_idempotence_law`], [`check_incremental_law`]: properties of
//!   every query.
//! - [`expect_file`]: golden files.
//! - [`check_facts`]: invariants of the facts of any file.
//!
//! The product itself is absent. It is a [`Product`], which accepts a command line and returns text. There are no
//! sleeps, no network, and no dependence on the order of tests or on the developer's configuration. This code runs only
//! in tests, so it panics, with the file, the line and the expected text.

mod answer;
mod case;
mod case_run;
mod diff;
pub mod expectation;
mod facts;
mod golden;
mod laws;
mod marked_world;
mod memory_world;
mod product;
mod random;
mod repository;
mod road_names;
mod roads;
mod runner;
pub mod shell_words;

pub use answer::{Answer, LAW_EXCEPTIONS, Redactions, redact};
pub use case::{Branch, Case, CaseError, CaseQuery, Change, DEFAULT_BRANCH, Edit};
pub use case_run::{CaseRun, Failure, Home, HomeBackup};
pub use diff::diff;
pub use facts::check_facts;
pub use golden::{check_file, expect_file, update_requested};
pub use laws::{
    IndexUpdater, Law, MakeUpdater, branch_law, check_branch_law, check_idempotence_law, check_incremental_law,
    check_rebase_law, check_road_law, idempotence_law, incremental_law, rebase_law, road_law,
};
pub use marked_world::{Mark, MarkKind, MarkedWorld, fill_in};
pub use memory_world::MemoryWorld;
pub use product::{Call, HOME, KILL_AT_WRITE, Product, ProductBinary, Reply};
pub use random::{RandomRepository, Rng, Size, random_repository};
pub use repository::Repository;
pub use roads::{ROADS, Road};
pub use runner::{Options, list_cases, report, run_case, run_cases, run_cases_with, update_case};
