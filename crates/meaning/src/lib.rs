//! What words mean in code: a small static model inside the binary.
//!
//! A question in a user's own words shares few words with the code that answers it. This crate says how near a question is to a
//! symbol all the same: [`MODEL`] makes a [`Vector`] of each, and [`Vector::similarity`] compares two. Nothing is
//! downloaded, nothing is kept on disk, and a text takes microseconds. `training/` in the repository makes the weights;
//! `docs/meaning.md` says from what.
//!
//! Not useful for exact names, paths and texts: those are found as they are written.

mod model;
mod passage;
mod words;

use std::sync::LazyLock;

pub use model::{MOST_SIMILAR, Model, Vector, WIDTH};
pub use passage::Passage;
pub use words::words;

/// Raised with every change of weights or of what is read of a symbol: answers of two versions are not compared.
pub const VERSION: u32 = 2;

/// The model that is shipped.
pub static MODEL: LazyLock<Model> = LazyLock::new(|| {
    Model::read(include_bytes!("../weights.bin")).expect("because the weights were written for this program")
});
