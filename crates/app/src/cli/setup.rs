//! The options of `setup` and `unsetup`.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::AnswersArg;
use codecompass_setup::clients::CLIENTS;

/// The names of clients on the command line.
pub(super) fn client_names() -> PossibleValuesParser {
    PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name))
}

#[derive(Args, Debug)]
pub(crate) struct SetupArgs {
    /// The clients [default: all installed ones]
    #[arg(value_name = "CLIENT", value_parser = client_names())]
    pub(crate) clients: Vec<String>,
    /// Use the files of this repository, for everyone who works on it, instead of your own
    #[arg(long)]
    pub(crate) project: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask before files are edited; without a terminal nothing is asked
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only print the entries and where they go; needed for clients with files that are not edited
    #[arg(long)]
    pub(crate) print: bool,
    /// The answer format for agents: short text, or json
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) answers: AnswersArg,
    /// The tools to offer: core, all, or comma-separated names [default: core with text, else all]
    #[arg(long, value_name = "LIST")]
    pub(crate) tools: Option<String>,
    /// Let the client run the tools without asking before each call, in your own file only. Gemini CLI and Qwen Code ask
    /// otherwise, and do not offer the tools when they run without a terminal (`gemini -p`). The default tools only read.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Also add four lines of instructions to AGENTS.md, or to the client's own file
    #[arg(long)]
    pub(crate) instructions: bool,
    /// Also add a skill file, if the client supports it
    #[arg(long)]
    pub(crate) skill: bool,
}

#[derive(Args, Debug)]
pub(crate) struct UnsetupArgs {
    /// The clients [default: all that were set up]
    #[arg(value_name = "CLIENT", value_parser = client_names())]
    pub(crate) clients: Vec<String>,
    /// Use the files of this repository instead of your own
    #[arg(long)]
    pub(crate) project: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}
