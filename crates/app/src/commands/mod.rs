//! The commands: one file each, from parsed arguments to an [`Answer`].

mod bench;
mod doctor;
mod facts;
mod index;
mod init;
mod locate;
mod search;
mod status;

use std::process::ExitCode;

use crate::cli::{BenchCommand, Cli, Command};
use crate::error::AppError;
use crate::output::{self, Answer};

/// Runs a command, prints its answer or its error, and gives the exit code.
pub(crate) fn run(cli: &Cli) -> ExitCode {
    let code = match dispatch(cli) {
        Ok(answer) => output::print(&answer, cli.common.json),
        Err(error) => output::print_error(&error, cli.common.json),
    };
    ExitCode::from(code)
}

fn dispatch(cli: &Cli) -> Result<Answer, AppError> {
    let common = &cli.common;
    match &cli.command {
        Command::Init(args) => init::run(common, args),
        Command::Index(args) => index::run_index(common, args),
        Command::Sync(args) => index::run_sync(common, args),
        Command::Status(args) => status::run(common, args),
        Command::Locate(args) => locate::run(common, args),
        Command::Search(args) => search::run(common, args),
        Command::Doctor(args) => doctor::run(common, args),
        Command::Facts { paths } => facts::run(common, paths),
        Command::Bench(args) => match &args.what {
            BenchCommand::Index { paths, threads } => bench::run(common, paths, *threads),
        },
    }
}
