//! The language of the tests.
//!
//! A test of this product is text in, text out, through one door: a [`Case`] is a small repository with its branches, questions
//! and answers, written as a file that reads like a document. It runs on many [`ROADS`]: different histories with the same end, which must give the same answers. What
//! holds for all repositories is a [`Law`], checked on generated ones. What one file promises about itself stands in
//! its own comments ([`promise`]), and whom its names mean in marks under the code ([`MarkedWorld`]). The README beside this file shows how to write each.
//!
//! - [`Repository`]: real git repositories in temp folders, for any crate's tests.
//! - [`run_cases`]: all cases of a folder on all roads.
//! - [`check_branch_law`], [`check_rebase_law`], [`check_idempotence_law`], [`check_incremental_law`]: what every question
//!   must keep.
//! - [`expect_file`]: golden files.
//! - [`check_facts`]: what holds for the facts of any file.
//!
//! What is absent: the product itself. It is known as a [`Product`], which takes a command line and gives text. There are no
//! sleeps, no network, and nothing that depends on the order of tests or on the developer's configuration.
//! This code only runs in tests, so it panics, with the file, the line and what was expected.

mod answer;
mod case;
mod difference;
mod facts;
mod golden;
mod journey;
mod laws;
mod marked;
mod memory;
mod product;
pub mod promise;
mod random;
mod repository;
mod roads;
mod runner;
pub mod words;

pub use answer::{Answer, LAW_EXCEPTIONS, Names, normalise};
pub use case::{Branch, Case, CaseError, Change, DEFAULT_BRANCH, Edit, Question};
pub use difference::difference;
pub use facts::check_facts;
pub use golden::{check_file, expect_file, update_wanted};
pub use journey::{Failure, Home, Journey, Saved};
pub use laws::{
    Keeper, Keeping, Law, branch_law, check_branch_law, check_idempotence_law, check_incremental_law, check_rebase_law,
    check_road_law, idempotence_law, incremental_law, rebase_law, road_law,
};
pub use marked::{Asked, Mark, MarkedWorld, fill_in};
pub use memory::MemoryWorld;
pub use product::{Binary, Call, HOME, KILL_AT_WRITE, Product, Reply};
pub use random::{Dice, Sample, Size, random_repository};
pub use repository::Repository;
pub use roads::{ROADS, Road};
pub use runner::{Options, list_cases, report, run_case, run_cases, run_cases_with, update_case};
