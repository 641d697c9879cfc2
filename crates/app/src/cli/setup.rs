//! The options of `setup` and `unsetup`.

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::config::Answers;
use crate::setup::clients::CLIENTS;

/// The names of clients on the command line.
pub(super) fn client_names() -> PossibleValuesParser {
    PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name))
}

#[derive(Args, Debug)]
pub(crate) struct SetupArgs {
    /// Which clients [default: those that are there]
    #[arg(value_name = "CLIENT", value_parser = client_names())]
    pub(crate) clients: Vec<String>,
    /// In the files of this repository, for everyone who works on it, in place of your own
    #[arg(long)]
    pub(crate) project: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only print what to enter, and where; needed for clients whose files are not edited
    #[arg(long)]
    pub(crate) print: bool,
    /// What agents get: short texts, or the contracts' JSON
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) answers: Answers,
    /// Which tools to offer: core, all, or names with commas between them [default: core with text, else all]
    #[arg(long, value_name = "LIST")]
    pub(crate) tools: Option<String>,
    /// Also add four lines for agents to AGENTS.md, or to the client's own file
    #[arg(long)]
    pub(crate) instructions: bool,
    /// Also add a skill file, where the client reads such
    #[arg(long)]
    pub(crate) skill: bool,
}

#[derive(Args, Debug)]
pub(crate) struct UnsetupArgs {
    /// Which clients [default: all that were set up]
    #[arg(value_name = "CLIENT", value_parser = client_names())]
    pub(crate) clients: Vec<String>,
    /// In the files of this repository, in place of your own
    #[arg(long)]
    pub(crate) project: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}
