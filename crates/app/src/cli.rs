//! The command line, defined with clap.

mod examples;
mod generate;
mod groups;
#[cfg(test)]
mod reference;
mod setup;
mod state;
mod tool;

use std::path::PathBuf;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::version;
use codecompass_workspace::config::AnswerFormat;
use codecompass_workspace::log;
use codecompass_workspace::output::Color;
use codecompass_workspace::session::SessionOptions;

pub(crate) use self::generate::{CompletionsArgs, ManArgs, completions, page};
pub(crate) use self::setup::{SetupArgs, UnsetupArgs};
pub(crate) use self::state::{ForgetArgs, PruneArgs, StateArgs, StateCommand, StateExportArgs, StateImportArgs};
pub(crate) use self::tool::ToolCommand;

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  nothing found; for doctor and setup: a problem was found
  2  invalid command line or configuration
  3  the project is not registered, not indexed, or its index is unreadable
  4  another process is indexing
  5  the source cannot be read (a missing path, a refused root, an unknown ref)
  6  internal error, or the output could not be written
  130  interrupted with Ctrl-C";

/// Search and navigate code: definitions, callers and references, with file and line, on any branch.
#[derive(Parser, Debug)]
#[command(name = "codecompass", after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The parsed command line.
pub(crate) enum ParsedCommand {
    /// A command with options of its own.
    Command(Box<Cli>),
    /// A tool, called by one of its commands.
    Tool(Common, &'static ToolCommand, Box<ArgMatches>),
}

/// Parses the arguments of the process; `tools` are the commands generated from tool tables.
pub(crate) fn parse(tools: &'static [ToolCommand]) -> Result<ParsedCommand, clap::Error> {
    let matches = tree(tools).try_get_matches()?;
    if let Some((name, inner)) = matches.subcommand()
        && let Some(command) = tools.iter().find(|command| command.name == name)
    {
        return Ok(ParsedCommand::Tool(Common::from_arg_matches(inner)?, command, Box::new(inner.clone())));
    }
    Ok(ParsedCommand::Command(Box::new(Cli::from_arg_matches(&matches)?)))
}

/// Every command with its options and examples.
pub(crate) fn tree(tools: &'static [ToolCommand]) -> clap::Command {
    let program = Cli::command().version(version::short()).long_version(version::long());
    let program = program.subcommands(tools.iter().map(ToolCommand::command));
    let program = program.mut_subcommands(|command| {
        let place = groups::position(command.get_name());
        examples::with_examples(command).display_order(place)
    });
    groups::with_grouped_help(program)
}

/// The same with the possible values of options: values that are checked later are listed for shells and manual pages.
pub(crate) fn listed_tree(tools: &'static [ToolCommand]) -> clap::Command {
    tree(tools).mut_subcommands(|command| match tools.iter().find(|tool| tool.name == command.get_name()) {
        Some(tool) => tool.with_possible_values(command),
        None => command,
    })
}

/// [`AnswerFormat`] as the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AnswersArg {
    /// The JSON of the contracts, for programs.
    Json,
    /// One short text per answer, for agents.
    Text,
}

impl From<AnswersArg> for AnswerFormat {
    fn from(arg: AnswersArg) -> Self {
        match arg {
            AnswersArg::Json => AnswerFormat::Json,
            AnswersArg::Text => AnswerFormat::Text,
        }
    }
}

/// [`Color`] as the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal.
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

impl From<ColorArg> for Color {
    fn from(arg: ColorArg) -> Self {
        match arg {
            ColorArg::Auto => Color::Auto,
            ColorArg::Always => Color::Always,
            ColorArg::Never => Color::Never,
        }
    }
}

/// Options of every command.
#[derive(Args, Debug, Clone)]
pub(crate) struct Common {
    /// The workspace: any path in a git work tree, or a plain folder [default: the current folder]
    #[arg(long, global = true, help_heading = "Global options", value_name = "PATH")]
    pub(crate) workspace: Option<PathBuf>,
    /// A configuration file to use instead of the user's
    #[arg(long, global = true, help_heading = "Global options", value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON to standard output
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// When to use colours: auto, always or never
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) color: ColorArg,
    /// Print more to standard error; repeat for still more
    #[arg(short, long, global = true, help_heading = "Global options", action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Append the -vv output to this file, with timestamps [default: $CODECOMPASS_LOG_FILE]
    #[arg(long, global = true, help_heading = "Global options", value_name = "PATH")]
    pub(crate) log_file: Option<PathBuf>,
    /// Do not show long answers in $PAGER
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) no_pager: bool,
}

impl Common {
    /// The options that sessions depend on.
    pub(crate) fn session_options(&self) -> SessionOptions {
        SessionOptions {
            workspace: self.workspace.clone(),
            config: self.config.clone(),
            as_json: self.json,
            verbose: self.verbose,
            log_file: self.log_file(),
        }
    }

    /// The log file given by the flag or by its variable.
    pub(crate) fn log_file(&self) -> Option<PathBuf> {
        let variable = || std::env::var_os(log::VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        self.log_file.clone().or_else(variable)
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Configure agents to use this program: show the changes to their files, apply and verify them
    Setup(SetupArgs),
    /// Undo `setup`: restore the files, byte for byte if they were not edited since
    Unsetup(UnsetupArgs),
    /// Register a project, without indexing it or writing into the repository
    Init(PathArg),
    /// Index a project: everything the first time, then only changes
    Index(IndexArgs),
    /// Update the index to match the work tree or a ref
    Sync(SyncArgs),
    /// Export all edges or all symbols as JSON lines
    Export(ExportArgs),
    /// Check the index, the grammars and the ignore rules, and suggest fixes
    Doctor(DoctorArgs),
    /// Share an index: export it to a file, or import one from another machine
    State(StateArgs),
    /// Remove unused branches, commits and work trees from the index, and free their space
    PruneOverlays(PruneArgs),
    /// List the languages: their files, how references are resolved, and the measured accuracy
    Languages,
    /// List the projects in the data folder: path, size, last use, and which are gone
    Projects,
    /// Remove the stored data of one project, even if its repository is gone
    Forget(ForgetArgs),
    /// Show the facts extracted from files: symbols, imports, local names, references, chunks
    Facts {
        /// Files; they need not be in a registered project
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Show or change the configuration, with the source of each value
    Config(ConfigArgs),
    /// Show the tools offered to agents, and all error codes
    Tools,
    /// Serve agents: the Model Context Protocol on standard input and output, or on HTTP
    ServeMcp(ServeArgs),
    /// Browse code in a browser: callers, source and callees on one page, branches, explained search
    Explore(ExploreArgs),
    /// Show what agents asked your servers: time, client, repository, tool, arguments, time taken, tokens
    History(HistoryArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print a manual page, for `man`
    Man(ManArgs),
    /// Benchmark this program on real repositories
    Bench(BenchArgs),
}

#[derive(Args, Debug)]
pub(crate) struct PathArg {
    /// The workspace; same as --workspace
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Check one file instead: is it indexed, and if not, why is it skipped
    #[arg(value_name = "FILE", conflicts_with = "client", value_hint = clap::ValueHint::AnyPath)]
    pub(crate) file: Option<String>,
    /// The workspace; same as --workspace
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Check clients instead: are they configured, do they start this program, does it answer [default: installed ones]
    #[arg(long, value_name = "CLIENT", num_args = 0.., value_parser = setup::client_names())]
    pub(crate) client: Option<Vec<String>>,
}

#[derive(Args, Debug)]
pub(crate) struct IndexArgs {
    /// Extract everything again, and replace an unreadable index
    #[arg(long)]
    pub(crate) force: bool,
    /// The workspace; same as --workspace; all of it is indexed
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// A branch, tag or commit, read directly from git [default: the work tree]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) ref_name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SyncArgs {
    /// Extract everything again
    #[arg(long)]
    pub(crate) force: bool,
    /// The workspace; same as --workspace
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// A branch, tag or commit [default: the work tree]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) ref_name: Option<String>,
    /// Sync only these files; no others are checked
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) changed: Vec<PathBuf>,
}

/// Options of all commands that answer from the index.
#[derive(Args, Debug)]
pub(crate) struct AccessArgs {
    /// An indexed branch, tag or commit [default: the work tree]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) ref_name: Option<String>,
    /// Answer from the published index, without checking for changes
    #[arg(long)]
    pub(crate) no_sync: bool,
    /// If the index is outdated: strict refuses, balanced syncs first, best_effort answers
    #[arg(long, value_name = "POLICY")]
    pub(crate) freshness: Option<String>,
}

/// The kinds of export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportKind {
    /// Every resolved reference: from_path, from_line, to_path, to_line, site_line, site_col, edge_type, confidence
    Edges,
    /// Every symbol: path, line_start, line_end, kind, name, qualified_name, symbol_id
    Symbols,
}

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// What to export
    #[arg(value_enum)]
    pub(crate) what: ExportKind,
    /// The output format: jsonl
    #[arg(long, default_value = "jsonl")]
    pub(crate) format: String,
    /// With edges: export unresolved references instead, each with the number of symbols that have its name
    #[arg(long)]
    pub(crate) undecided: bool,
    /// The workspace; same as --workspace
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    /// The number of calls, the last ones
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Remove all recorded calls
    #[arg(long)]
    pub(crate) clear: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) what: ConfigCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ConfigCommand {
    /// Show every key with its value and its source
    Show,
    /// Show the configuration files and the data folder
    Path,
    /// Set a key in your configuration file
    Set {
        /// The key: history.enabled
        key: String,
        /// The value; a list is written with commas
        value: String,
    },
    /// Edit your configuration file in $VISUAL or $EDITOR, and check it
    Edit,
}

/// The transport of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Transport {
    /// Standard input and output: for a client that starts the server itself.
    Stdio,
    /// Streamable HTTP at /mcp: for clients that connect to a running server.
    Http,
}

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// The transport
    #[arg(long, value_enum, default_value = "stdio")]
    pub(crate) transport: Transport,
    /// The port of the HTTP transport; 0 picks a free one
    #[arg(long, default_value_t = 9100)]
    pub(crate) port: u16,
    /// The address of the HTTP transport; requires a token unless it is a loopback address
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub(crate) bind: std::net::IpAddr,
    /// An additional host name of the HTTP transport; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) allowed_host: Vec<String>,
    /// Register and index the workspace first if it is not indexed yet
    #[arg(long)]
    pub(crate) auto_index: bool,
    /// Register and index any workspace that a call names, below an --allowed-root
    #[arg(long)]
    pub(crate) auto_workspace: bool,
    /// A folder below which --auto-workspace may register; can be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) allowed_root: Vec<PathBuf>,
    /// Serve only the server's own workspace: other projects in the data folder are neither read nor listed
    #[arg(long)]
    pub(crate) own_workspace_only: bool,
    /// Do not load the index in advance
    #[arg(long)]
    pub(crate) no_prewarm: bool,
    /// Do not watch work trees; queries check for changes themselves
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// The answer format: json for programs, text for agents [default: mcp.answers of the configuration, json]
    #[arg(long, value_enum)]
    pub(crate) answers: Option<AnswersArg>,
    /// The tools to offer: core, all, or comma-separated names [default: core with text, else all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Also serve the explorer pages at / of the HTTP transport; prints their address
    #[arg(long)]
    pub(crate) explorer: bool,
    /// Require a bearer token on HTTP: $CODECOMPASS_TOKEN, or a generated one kept in the data folder
    #[arg(long)]
    pub(crate) require_token: bool,
    /// Add debugging details to search answers
    #[arg(long)]
    pub(crate) debug: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExploreArgs {
    /// The port on this machine; 0 picks a free one
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// The workspace; same as --workspace
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) what: BenchCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum BenchCommand {
    /// Time walking, parsing and indexing the same files with the same threads, and print the ratios
    Index {
        /// Repositories or folders; each is indexed into a temporary data folder
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Threads [default: one per core]
        #[arg(long, default_value_t = 0)]
        threads: usize,
    },
    /// Time warm and first queries made from the repository itself, compared with a scan of its files
    Query {
        /// Repositories or folders; each is indexed into a temporary data folder
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// The number of queries of each kind
        #[arg(long, default_value_t = 200)]
        queries: usize,
        /// Query the existing index, synced first, instead of a new one
        #[arg(long)]
        indexed: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::TOOL_COMMANDS;

    #[test]
    fn every_command_has_parsable_examples() {
        let tree = tree(TOOL_COMMANDS);
        tree.clone().debug_assert();
        for command in tree.get_subcommands() {
            let found = examples::EXAMPLES.iter().find(|(name, _)| *name == command.get_name());
            let (_, lines) = found.unwrap_or_else(|| panic!("{} has no example", command.get_name()));
            for (line, _) in *lines {
                let line = line.split(" > ").next().unwrap_or(line);
                let words = codecompass_testkit::shell_words::split(line).expect("examples are well formed");
                let all = std::iter::once("codecompass".to_owned()).chain(words);
                let outcome = tree.clone().try_get_matches_from(all);
                assert!(
                    outcome.is_ok(),
                    "{line}: {}",
                    outcome.err().map(|error| error.to_string()).unwrap_or_default()
                );
            }
        }
        let known = |name: &str| tree.get_subcommands().any(|command| command.get_name() == name);
        assert!(examples::EXAMPLES.iter().all(|(name, _)| known(name)), "an example names an unknown command");
    }
}
