//! The edge: command line, configuration, errors with hints, rendering.
//!
//! Everything that talks to a person or a machine is here, and nothing that computes an answer. A command parses its
//! arguments into types, opens a [`session::Session`], asks `index` or `query`, and shapes the result as text or JSON.
//!
//! What is absent: SQL, tree-sitter, git plumbing.

mod cli;
mod commands;
mod config;
mod error;
mod escape;
mod measure;
mod metadata;
mod output;
mod progress;
mod session;
mod tools;

use std::process::ExitCode;

use clap::Parser;

/// Runs the program with the arguments and environment of the process.
pub fn main() -> ExitCode {
    let arguments = cli::Cli::parse();
    commands::run(&arguments)
}
