//! Embeddings of queries and symbols: a small static model inside the binary.
//!
//! A query in the user's own words shares few words with the code that answers it. This crate measures how close a
//! query is to a symbol all the same: [`MODEL`] computes an [`Embedding`] of each, and [`Embedding::similarity`]
//! compares two. It is not useful for exact names, paths and texts; the text index finds those as they are written.
//!
//! # Use
//!
//! Words select, embeddings reorder. `query` computes the similarity of the best eighty search hits of a query in the
//! user's own words, and ranks these again with it as one score factor among others (`meaning` on the wire). An
//! embedding is computed on demand from stored text, takes microseconds and is not stored. Nothing is downloaded.
//!
//! # Why integers
//!
//! An answer must be the same on every machine and in every clone. Floating point sums depend on the order of additions
//! and on the processor, so the crate uses integer arithmetic only. `training/weights.py` computes the same numbers,
//! and `tests/it/golden.rs` compares the two.
//!
//! # Weights
//!
//! `weights.bin` is part of the program. `training/` in the repository produces it and is not part of any build;
//! `docs/embedding.md` describes the training data, and `examples/mine.rs` extracts it with our own extraction.
//!
//! The crate has no files, storage, ranking or floating point.

mod matcher;
mod model;
mod passage;
mod tokenizer;

use std::sync::LazyLock;

pub use matcher::{MAX_MATCH, SameWord, WordMatcher};
pub use model::{DIMENSIONS, Embedding, MAX_SIMILARITY, Model, PassageWords, Words};
pub use passage::Passage;
pub use tokenizer::tokenize;

/// Must be incremented with every change of the weights or of the text that a passage takes from a symbol: results of
/// different versions are not comparable.
pub const VERSION: u32 = 4;

/// The shipped model.
pub static MODEL: LazyLock<Model> = LazyLock::new(|| {
    Model::read(include_bytes!("../weights.bin")).expect("because the weights were written for this program")
});
