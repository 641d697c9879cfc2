//! The command line of CodeCompass, and the tests of the whole program.
//!
//! Nothing here computes an answer. A command that calls a tool is a line in `commands::TOOL_COMMANDS`: its options
//! come from the tool's table of parameters (`cli/tool.rs`). Other commands are files in `commands/`.
//!
//! The command line is one tree (`cli::tree`); help, completions and manual pages come from it, and a test parses the
//! examples of every command (`cli/examples.rs`). Messages of tools name parameters in backquotes; a command rewrites
//! them to its flags, for people only (`ToolCommand::in_flags`).

mod cli;
mod commands;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod projects;
mod version;

use std::io::Write;
use std::process::ExitCode;

/// Runs the program with the arguments and environment of the process.
pub fn main() -> ExitCode {
    match cli::parse(commands::TOOL_COMMANDS) {
        Ok(asked) => {
            codecompass_workspace::session::tighten_data_folder();
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
        return ExitCode::from(codecompass_workspace::output::exit_code_after_write(written, 0));
    }
    if !wants_json {
        usage.exit();
    }
    let message = usage.to_string();
    let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let error = codecompass_workspace::error::AppError::new(
        codecompass_workspace::error::Code::InvalidInput,
        format!("{first}."),
    )
    .hint("`codecompass --help` shows the commands and their options.");
    ExitCode::from(codecompass_workspace::output::print_error(&error, true))
}
