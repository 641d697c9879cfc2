//! The commands: one file each, from parsed arguments to an [`Answer`].

mod bench;
mod calls;
mod compare;
mod config;
mod context;
mod diff;
mod doctor;
mod explain;
mod export;
mod facts;
mod forget;
mod grep;
mod hierarchy;
mod index;
mod init;
mod locate;
mod outline;
mod projects;
mod prune_overlays;
mod references;
mod refs;
mod related;
mod search;
mod serve_mcp;
mod state;
mod status;
mod tools;

use std::process::ExitCode;

use crate::cli::{AccessArgs, Cli, Command, ListArgs};
use crate::config::Config;
use crate::error::AppError;
use crate::output::{self, Answer};
use crate::published::Access;
use crate::tools::input;
use crate::tools::shape::ShapeInput;

/// Runs a command, prints its answer or its error, and gives the exit code.
pub(crate) fn run(cli: &Cli) -> ExitCode {
    let code = match dispatch(cli) {
        Ok(answer) => output::print(&answer, cli.common.json, cli.common.color),
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
        Command::Explain(args) => explain::run(common, args),
        Command::References(args) => references::run(common, args),
        Command::Callers(args) => calls::run(common, args, "callers"),
        Command::Callees(args) => calls::run(common, args, "callees"),
        Command::Refs => refs::run(common),
        Command::Diff(args) => diff::run(common, args),
        Command::Compare(args) => compare::run(common, args),
        Command::Export(args) => export::run(common, args),
        Command::Outline(args) => outline::run(common, args),
        Command::Hierarchy(args) => hierarchy::run(common, args),
        Command::Related(args) => related::run(common, args),
        Command::Context(args) => context::run(common, args),
        Command::Grep(args) => grep::run(common, args),
        Command::Doctor(args) => doctor::run(common, args),
        Command::State(args) => state::run(common, args),
        Command::PruneOverlays(args) => prune_overlays::run(common, args),
        Command::Projects => projects::run(),
        Command::Forget(args) => forget::run(args),
        Command::Facts { paths } => facts::run(common, paths),
        Command::Config(args) => config::run(common, args),
        Command::Tools => tools::run(),
        Command::ServeMcp(args) => serve_mcp::run(common, args),
        Command::Bench(args) => bench::run(common, args),
    }
}

/// What bounds an answer: nothing when somebody asks for all of it.
fn bounds(config: &Config, all: bool, limit: &mut usize) -> Config {
    let mut config = config.clone();
    if all {
        *limit = usize::MAX;
        config.max_response_bytes = usize::MAX;
    }
    config
}

impl AccessArgs {
    /// How the question wants to be answered.
    fn check(&self) -> Result<Access<'_>, AppError> {
        Ok(Access {
            ref_name: self.ref_name.as_deref(),
            policy: input::policy(self.freshness.as_deref())?,
            no_sync: self.no_sync,
            ..Access::default()
        })
    }
}

impl ListArgs {
    /// How many results are wanted.
    fn limit(&self) -> i64 {
        if self.all { input::MOST } else { self.limit }
    }

    /// How they are laid out.
    fn shape(&self) -> ShapeInput {
        ShapeInput {
            detail_level: self.detail.clone(),
            compact: self.compact,
            ranking_explain_level: self.explain.clone(),
        }
    }
}
