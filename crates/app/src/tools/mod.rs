//! The tools: one file each, from a typed input to an answer in both shapes. A command is a tool with flags.

mod batch;
pub(crate) mod bounds;
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
mod followups;
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
pub(crate) mod input;
pub(crate) mod list_refs;
pub(crate) mod locate_symbol;
mod outline_folder;
mod outline_text;
mod path_filter;
pub(crate) mod read_code;
pub(crate) mod ref_compare;
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
pub(crate) mod tool_spec;
mod trees;

/// What an agent needs, with what it is told about each when answers are text: every word is paid for in every session.
pub(crate) const CORE_TOOLS: &[(&str, &str)] = &[
    (
        "search_code",
        "Find code by a question in words, a name, a path or an error message; best first. A name gives its definitions.",
    ),
    ("grep_code", "Every line that matches a regex or text, with the symbol around it."),
    (
        "read_code",
        "Exact numbered text of several things at once: names, path:line (the symbol there), path:10-40, files (outline if long).",
    ),
    (
        "find_references",
        "Every place that refers to a symbol, with its line; calls through interfaces too. Before changing it.",
    ),
    (
        "get_call_graph",
        "Who calls a function, or whom it calls, proved; depth 2 for impact; depth 5 with tests=only: the tests that reach it.",
    ),
    ("get_file_outline", "What is in a file: symbols with line ranges and signatures."),
    ("diff_context", "What a branch, commit or your edits change, by symbol: what broke and its callers first."),
];

/// Tools that look up a few things and wait for nobody, for which a thread is kept free. What goes through many files,
/// resolves calls or starts jobs is not among them.
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

/// What an agent that gets text is told about a tool.
pub(crate) fn text_description(tool: &tool_spec::ToolSpec) -> &'static str {
    CORE_TOOLS.iter().find(|(name, _)| *name == tool.name).map_or(tool.description, |(_, text)| text)
}

/// Every tool. `tools/list`, the reference page and the tests over all tools follow from it.
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
