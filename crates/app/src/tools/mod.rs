//! The tools: one file each, from a typed input to an answer in both shapes. A command is a tool with flags.

pub(crate) mod index_status;
mod input;
pub(crate) mod locate_symbol;
pub(crate) mod search_code;
