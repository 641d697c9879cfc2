//! The edge of CodeCompass: command line, MCP server, explorer, configuration, errors with hints, rendering.
//!
//! Everything that talks to a person or a program is in this crate; nothing here computes an answer. A call is parsed
//! into typed arguments, a `session::Session` opens the workspace, `index` or `query` does the work, and the result
//! is rendered as text or JSON. This crate contains no SQL, no tree-sitter and no git plumbing.
//!
//! # Tools and commands
//!
//! A tool is one file in `tools/`: typed arguments, checked once, and an answer as values that implement
//! `output::Render`. Only the requested format is rendered; JSON is a type of the crate `wire`. `tools/batch.rs`
//! handles calls about several names. `call::Call` is a call of a tool by a client or by the command line; a tool does
//! not know which. A tool that needs a server is declared as `ToolCall::OnServer` and gets it as a `call::host::Host`.
//!
//! The parameters of a tool are a table (`call/tool_spec.rs`). The input schema of `tools/list`, the argument check,
//! the options of its command (`cli/tool.rs`) and the reference page (`docs/tools.md`) are derived from it, so they
//! cannot diverge. A command that calls a tool is a line in `commands::TOOL_COMMANDS`; other commands are files in
//! `commands/`.
//!
//! The command line is one tree (`cli::tree`); help, completions and manual pages come from it, and a test parses the
//! examples of every command (`cli/examples.rs`). Messages of tools name parameters in backquotes; a command rewrites
//! them to its flags, for people only (`ToolCommand::in_flags`).
//!
//! # Answers and errors
//!
//! `tools/rows.rs` formats rows of text: a path once per file, below it a row per location that begins with its line,
//! and omitted results in one last line. Large results of a command (`grep`) are printed file by file
//! (`output::Printer`) and never kept in memory. `wire::Tree` cuts trees of symbols to the maximum size, outer levels
//! first. `tools/followups.rs` has the rules of `suggest_followup_queries`; weak and empty answers of other
//! tools include its suggestions. `error.rs` maps every library error once, to a code, a message, a hint and data.
//!
//! All text from a repository passes `escape::escape_control` or `escape::json` before it is printed. After that, the
//! control characters with which `output::style` marks colours cannot come from a repository.
//!
//! A cursor is an offset and a hash of the query and of the totals of the view, including their `digest`, a checksum
//! over the content of all files. It is valid while the view has the same content, and refused afterwards.
//!
//! # Views and freshness
//!
//! `views/` is shared by server, commands and tools, and depends on none of them. `views/published.rs` finds the view
//! of a ref and syncs it as the freshness policy requires. The view of a work tree is never used while its name differs
//! from what `HEAD` names: it is synced first. Until then, or if syncing is disabled, the view of the branch or commit
//! itself is used. A query that is overtaken by a checkout starts over.
//!
//! `Published::find` asks a `Refresh` whether a view is fresh, and to sync it. The refresh of a command
//! (`views/inline_refresh.rs`) compares files and syncs before the answer. That of a server
//! (`server/background_refresh.rs`) relies on a watch (`index/src/watch.rs`) or, without one, compares all files for up
//! to 100 ms; it answers from the published view, reports `stale`, and syncs in the background. A strict query always
//! compares, however long it takes. `paths.rs` resolves paths and explains why a view lacks a file;
//! `tools/path_filter.rs` parses filters. `worktrees.rs` writes the files of a ref into the data folder if the
//! configuration enables it.
//!
//! # Server
//!
//! `server/` answers calls and knows no transport. `workspaces` finds the workspace of a call; at most ten are open
//! because a request named them, and the least recently requested one is closed first, with its watch and its cached
//! snapshots. `jobs` runs long work in threads of its own. `workers` are the few threads that answer, each with a
//! `SnapshotCache`, which keeps stores and snapshots open while their generation is the newest and they are in use.
//! After a publication all caches evict older snapshots before the job cleans up, and two idle seconds evict the rest,
//! because an open snapshot blocks garbage collection and the reset of the log. Queries about a workspace go to one
//! thread, and to another one only while that one is busy; long queries (all but `tools::SHORT_TOOLS`) never take the
//! last thread.
//!
//! A query ends when its time is up or its answer is no longer wanted. Scans and the budget of the graph check the time
//! limit (`time_limit.rs`), also inside of files, and a cut answer is `partial`. A cancelled call or a lost connection
//! sets a flag that the snapshot checks (`Snapshot::set_cancel_flag`): every scan reads through the snapshot, so no
//! scan has to check it itself. The cache is cleared afterwards.
//!
//! A client that sends a `progressToken` with `index_repo` or `sync_repo` gets its answer up to a second later, because
//! progress may only be sent while a request is open. Later, `index_status` has the counters.
//!
//! The workspace of a server is `--workspace`, else `CLAUDE_PROJECT_DIR`, `WORKSPACE_FOLDER_PATHS`, the roots of a
//! client on a pipe (`mcp/roots.rs`, requested once before anything is opened), else the working folder.
//!
//! Clients cut long texts. `server/answer_limit.rs` has the limits of known clients: an answer is rendered again with
//! less until it fits, so that it ends at a row with a hint for the rest.
//!
//! `mcp/` is the only folder that uses the SDK. It validates messages, lists the tools and passes calls on; its
//! transports are `stdio` and `http`. `mcp/sockets.rs` limits HTTP connections: the phase of a connection (head, body,
//! served, idle) determines its timeout, and which one is evicted first. `http_guard/host_check.rs` checks `Host` and
//! `Origin`.
//!
//! # Explorer
//!
//! `explorer/` serves pages for people through `mcp/http.rs`: all paths except `/mcp` and `/health`. **A screen is a
//! few calls of tools and a layout of their answers** (`screens/`, one file each, with `maud`). So one address gives a
//! page, JSON or an agent's text, and a screen shows nothing that an agent cannot get. Data that only pages need
//! (highlighted text with links, folders, available refs) comes from tools that clients are not offered
//! (`page_tools/`). `page_request.rs` calls them on the server's threads, and accepts another work tree only of the
//! same repository. `gate.rs` exchanges a token for a cookie. `graph_layout.rs` places boxes and `drawing.rs` draws
//! them. `assets/` has the script and the style sheet, which are compiled in.
//!
//! # Setup
//!
//! `setup/` inserts our entry into clients' files and removes it again; see its own documentation.

mod call;
mod cli;
mod clock;
mod commands;
mod config;
mod data_location;
mod did_you_mean;
mod error;
mod escape;
mod explorer;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod http_guard;
mod jobs;
mod launch;
mod log;
mod long_strings;
mod mcp;
mod measure;
mod metadata;
mod output;
mod panics;
mod paths;
mod progress;
mod projects;
mod server;
mod session;
mod setup;
mod time_limit;
mod toml_errors;
mod tools;
mod version;
mod views;
mod worktrees;

use std::io::Write;
use std::process::ExitCode;

/// Runs the program with the arguments and environment of the process.
pub fn main() -> ExitCode {
    match cli::parse(commands::TOOL_COMMANDS) {
        Ok(asked) => {
            session::tighten_data_folder();
            commands::run(&asked)
        }
        Err(usage) => usage_error(usage),
    }
}

/// Reports a wrong command line in the words of clap, or with `--json` in the envelope of all errors.
fn usage_error(usage: clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if !usage.use_stderr() {
        let written = usage.print().and_then(|()| std::io::stdout().flush());
        return ExitCode::from(output::exit_code_after_write(written, 0));
    }
    if !wants_json {
        usage.exit();
    }
    let message = usage.to_string();
    let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let error = error::AppError::new(error::Code::InvalidInput, format!("{first}."))
        .hint("`codecompass --help` shows the commands and their options.");
    ExitCode::from(output::print_error(&error, true))
}
