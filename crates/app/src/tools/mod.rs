//! The tools: one file each, from typed arguments to an answer in both formats. A command is a tool with flags.

mod batch;
mod call_json;
mod call_text;
mod change_json;
mod change_text;
mod compare_shape;
pub(crate) mod compare_symbol;
pub(crate) mod diff_context;
pub(crate) mod explain_ranking;
pub(crate) mod find_references;
pub(crate) mod find_related_symbols;
pub(crate) mod followups;
pub(crate) mod get_call_graph;
pub(crate) mod get_code_context;
pub(crate) mod get_file_outline;
pub(crate) mod get_symbol_hierarchy;
pub(crate) mod graph;
pub(crate) mod grep_code;
mod health_check;
mod impact;
mod index_repo;
pub(crate) mod index_status;
pub(crate) mod list_refs;
pub(crate) mod locate_symbol;
mod outline_folder;
mod outline_text;
mod path_filter;
pub(crate) mod read_code;
mod reference_text;
mod rows;
pub(crate) mod search_code;
mod search_text;
pub(crate) mod shape;
mod suggest_followup_queries;
mod switch_ref;
mod symbol_input;
mod test_filter;
mod text_mentions;
mod tokens;

pub(crate) use crate::call::{bounds, input, ref_compare, tool_spec};

/// The core tools for agents, with their descriptions for text answers. Each says when to use it instead of grep: the
/// server's instructions do not reach every model. Every word costs tokens in every session.
pub(crate) const CORE_TOOLS: &[(&str, &str)] = &[
    (
        "search_code",
        "Find code by a question in words, a name, a path or an error message; best first. A name gives its definitions. \
         Use it before grep, find or listing folders.",
    ),
    (
        "grep_code",
        "Every line that matches a regex or text, with its enclosing symbol. Use it in place of grep or rg: for strings, \
         comments and configuration, on any ref.",
    ),
    (
        "read_code",
        "Exact numbered text of several things at once: names, path:line (the symbol there), path:10-40, files (outline \
         if long). Use it in place of cat or sed.",
    ),
    (
        "find_references",
        "Every reference to a symbol, with its line; calls through interfaces too. Use it in place of grep for a name: \
         homonyms are left out. Before changing it.",
    ),
    (
        "get_call_graph",
        "Callers or callees of a function, confirmed; depth 2 for impact; depth 5 with tests=only: the tests that reach \
         it. Use it for \"who calls this\", which grep cannot answer.",
    ),
    (
        "get_file_outline",
        "What is in a file: symbols with line ranges and signatures. Use it before reading a long file.",
    ),
    (
        "diff_context",
        "What a branch, commit or your edits change, by symbol: what broke and its callers first. Use it before or in \
         place of git diff.",
    ),
];

/// Tools that do a few lookups and wait for nothing; a thread is kept free for them. Tools that scan many files,
/// resolve calls or start jobs are not among them.
pub(crate) const SHORT_TOOLS: &[&str] = &[
    "locate_symbol",
    "get_file_outline",
    "get_symbol_hierarchy",
    "read_code",
    "list_refs",
    "switch_ref",
    "index_status",
    "health_check",
];

/// The description of a tool for agents that get text.
pub(crate) fn text_description(tool: &tool_spec::ToolSpec) -> &'static str {
    CORE_TOOLS.iter().find(|(name, _)| *name == tool.name).map_or(tool.description, |(_, text)| text)
}

/// All tools. `tools/list`, the reference page and the tests over all tools are derived from it.
pub(crate) const TOOLS: &[tool_spec::ToolSpec] = &[
    search_code::TOOL,
    locate_symbol::TOOL,
    get_code_context::TOOL,
    find_references::TOOL,
    get_call_graph::TOOL,
    get_file_outline::TOOL,
    grep_code::TOOL,
    read_code::TOOL,
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
