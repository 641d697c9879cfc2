//! The answers of the commands that are not tools.

pub mod bench;
pub mod config;
pub mod export;
pub mod facts;
pub mod reference;
