//! The tools: one file each, from typed arguments to an answer in both formats. A command is a tool with flags.
//!
//! # Tools
//!
//! A tool is one file: typed arguments, checked once, and an answer as values that implement `output::Render` of the
//! crate `workspace`. Only the requested format is rendered; JSON is a type of the crate `wire`. `batch.rs` handles
//! calls about several names. `call::Call` is a call of a tool by a client or by the command line; a tool does not know
//! which. A tool that needs a server is declared as `ToolCall::OnServer` and gets it as a `call::host::Host`.
//!
//! The parameters of a tool are a table (`call/tool_spec.rs`). The input schema of `tools/list`, the argument check,
//! the options of its command and the reference page (`docs/tools.md`) are derived from it, so they cannot diverge.
//!
//! Calls with text answers accept more than the table says (`call/forgiving.rs`), and so do names and places in them
//! (`notation.rs`); the schema does not offer that.
//!
//! A tool translates: it parses arguments, calls `query`, and lays out the result. What it needs to know about a
//! request (workspace, view, format, time limit, cancellation) is in `call::QueryContext`.
//!
//! # Answers
//!
//! `rows.rs` formats rows of text: a path once per file, below it a row per location that begins with its line, and
//! omitted results in one last line. Large results of a command (`grep`) are printed file by file (`output::Printer`)
//! and never kept in memory. `wire::Tree` cuts trees of symbols to the maximum size, outer levels first. `followups.rs`
//! turns the follow-up queries of `query` into calls of tools, for `suggest_followup_queries` and for weak and empty
//! answers of other tools.
//!
//! A cursor is an offset and a hash of the query and of the totals of the view, including their `digest`, a checksum
//! over the content of all files. It is valid while the view has the same content, and refused afterwards.
//!
//! `path_filter.rs` parses filters by path.

#![allow(missing_docs, reason = "only crates of this workspace use it; names that say all have no docs")]

mod batch;
pub mod call;
pub mod compare_symbol;
pub mod diff_context;
pub mod explain_ranking;
pub mod find_references;
pub mod find_related_symbols;
pub mod followups;
pub mod get_call_graph;
pub mod get_code_context;
pub mod get_file_outline;
pub mod get_symbol_hierarchy;
pub mod graph;
pub mod grep_code;
mod health_check;
mod index_repo;
pub mod index_status;
pub mod list_refs;
pub mod locate_symbol;
mod notation;
mod outline_folder;
mod outline_text;
mod path_filter;
pub mod read_code;
mod rows;
pub mod search_code;
mod shape;
pub mod similar_paths;
mod suggest_followup_queries;
mod switch_ref;
mod symbol_input;
mod syntax_colors;
mod test_filter;
mod unused;

pub use crate::call::{bounds, input, ref_compare, tool_spec};

/// The core tools for agents, with their descriptions for text answers. Each says when to use it instead of grep: the
/// server's instructions do not reach every model. Every word costs tokens in every session.
pub const CORE_TOOLS: &[(&str, &str)] = &[
    (
        "search_code",
        "Find code by a question in words, a name, a path or an error message; best first. A name gives its definitions. \
         Use it before grep, find or listing folders.",
    ),
    (
        "grep_code",
        "Every line that matches a regex or text, with its enclosing symbol. Use it in place of grep or rg: for strings, \
         comments and configuration.",
    ),
    (
        "read_code",
        "Exact text of several things at once: path:line or a name gives the function (of a long one, the part around \
         the line), so do not guess ranges; path:10-40; files (outline if long). Use it in place of cat or sed.",
    ),
    (
        "find_references",
        "Every reference to a symbol, with its line; calls through interfaces and implementers of a type too. Use it in \
         place of grep for a name: homonyms are left out. Before changing it.",
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
        "What a branch, commit or your edits change, by symbol: what broke and its callers first; lines if few. Use it \
         before or in place of git diff.",
    ),
];

/// Tools that do a few lookups and wait for nothing; a thread is kept free for them. Tools that scan many files,
/// resolve calls or start jobs are not among them.
pub const SHORT_TOOLS: &[&str] = &[
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
pub fn text_description(tool: &tool_spec::ToolSpec) -> &'static str {
    CORE_TOOLS.iter().find(|(name, _)| *name == tool.name).map_or(tool.description, |(_, text)| text)
}

/// All tools. `tools/list`, the reference page and the tests over all tools are derived from it.
pub const TOOLS: &[tool_spec::ToolSpec] = &[
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
