//! The edge: command line, configuration, errors with hints, rendering.
//!
//! Everything that talks to a person or a machine is here, and nothing that computes an answer. A command parses its
//! arguments into types, opens a `session::Session`, asks `index` or `query`, and shapes the result as text or JSON.
//!
//! What is absent: SQL, tree-sitter, git plumbing.

mod call;
mod cli;
mod clock;
mod commands;
mod config;
mod did_you_mean;
mod error;
mod escape;
mod explorer;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod launch;
mod log;
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

/// A wrong command line, in clap's words; for machines in the envelope of all errors.
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
