//! What words mean in code.

mod passage;
mod words;

pub use passage::Passage;
pub use words::words;
