//! The tools: one file each, from a typed input to an answer in both shapes. A command is a tool with flags.

mod change_json;
mod change_text;
mod compare_shape;
pub(crate) mod compare_symbol;
pub(crate) mod diff_context;
pub(crate) mod explain_ranking;
pub(crate) mod find_references;
pub(crate) mod find_related_symbols;
mod followups;
pub(crate) mod frame;
pub(crate) mod get_call_graph;
pub(crate) mod get_code_context;
pub(crate) mod get_file_outline;
pub(crate) mod get_symbol_hierarchy;
pub(crate) mod graph;
pub(crate) mod grep;
mod health_check;
mod impact;
mod index_repo;
pub(crate) mod index_status;
pub(crate) mod input;
pub(crate) mod list_refs;
pub(crate) mod locate_symbol;
mod path_filter;
pub(crate) mod search_code;
pub(crate) mod shape;
mod suggest_followup_queries;
mod switch_ref;
mod tokens;
mod trees;
pub(crate) mod versus;

/// Every tool. `tools/list`, the reference page and the tests over all tools follow from it.
pub(crate) const TOOLS: &[frame::Tool] = &[
    search_code::TOOL,
    locate_symbol::TOOL,
    get_code_context::TOOL,
    find_references::TOOL,
    get_call_graph::TOOL,
    get_file_outline::TOOL,
    get_symbol_hierarchy::TOOL,
    find_related_symbols::TOOL,
    explain_ranking::TOOL,
    suggest_followup_queries::TOOL,
    diff_context::TOOL,
    compare_symbol::TOOL,
    list_refs::TOOL,
    switch_ref::TOOL,
    index_repo::INDEX_REPO,
    index_repo::SYNC_REPO,
    index_status::TOOL,
    health_check::TOOL,
];
