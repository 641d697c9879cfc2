//! The tools: one file each, from a typed input to an answer in both shapes. A command is a tool with flags.

pub(crate) mod explain_ranking;
pub(crate) mod grep;
pub(crate) mod index_status;
pub(crate) mod input;
pub(crate) mod locate_symbol;
mod path_filter;
pub(crate) mod search_code;
pub(crate) mod shape;
