//! The command line, as clap sees it.

mod setup;
mod state;
mod tool;

use std::path::PathBuf;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::config::Answers;
use crate::output::Color;

pub(crate) use self::setup::{SetupArgs, UnsetupArgs};
pub(crate) use self::state::{ForgetArgs, PruneArgs, StateArgs, StateCommand, StateExportArgs, StateImportArgs};
pub(crate) use self::tool::ToolCommand;

const EXIT_CODES: &str = "\
Exit codes:
  0  done, or something was found
  1  nothing was found; for doctor and setup: something needs mending
  2  the command line or the configuration is wrong
  3  the project is not registered, not indexed, or its index can not be read
  4  another process is indexing
  5  the source can not be read (a missing path, a refused root, an unknown ref)
  6  internal error, or the answer could not be written";

/// Answers questions about code: where is this defined, in which file and line, on which branch.
#[derive(Parser, Debug)]
#[command(version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What is asked of the program.
pub(crate) enum Asked {
    /// A command with options of its own.
    Command(Box<Cli>),
    /// A tool, by one of its commands.
    Tool(Common, &'static ToolCommand, Box<ArgMatches>),
}

/// Reads the arguments of the process; `tools` are the commands that come from tables.
pub(crate) fn parse(tools: &'static [ToolCommand]) -> Result<Asked, clap::Error> {
    let program = Cli::command().subcommands(tools.iter().map(ToolCommand::command));
    let matches = program.try_get_matches()?;
    if let Some((name, inner)) = matches.subcommand()
        && let Some(command) = tools.iter().find(|command| command.name == name)
    {
        return Ok(Asked::Tool(Common::from_arg_matches(inner)?, command, Box::new(inner.clone())));
    }
    Ok(Asked::Command(Box::new(Cli::from_arg_matches(&matches)?)))
}

/// Options that every command takes.
#[derive(Args, Debug, Clone)]
pub(crate) struct Common {
    /// The workspace: any path in a git work tree, or a plain folder [default: the current folder]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) workspace: Option<PathBuf>,
    /// A configuration file, in place of the user's own
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    /// Answer as JSON, on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    pub(crate) color: Color,
    /// Say more on standard error; twice for still more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Set up agents to use this program: shows what changes in their files, changes it, reads it again
    Setup(SetupArgs),
    /// Take back what `setup` did: the files as they were, to the byte where nobody touched them since
    Unsetup(UnsetupArgs),
    /// Register a project: nothing is indexed yet, nothing is written into the repository
    Init(PathArg),
    /// Index a project; a first time in full, later only what changed
    Index(IndexArgs),
    /// Bring the index up to date with the work tree, or with a ref
    Sync(SyncArgs),
    /// Write all edges or all symbols as JSON lines, for others to check
    Export(ExportArgs),
    /// Check the index, the grammars and the ignore rules, and say how to mend what is wrong
    Doctor(DoctorArgs),
    /// Share an index: write it to a file, or take in one that was made elsewhere
    State(StateArgs),
    /// Remove the branches, commits and work trees that nobody asks for, and give their space back
    PruneOverlays(PruneArgs),
    /// List the projects in the data folder: where they are, how large, when last used, and which are gone
    Projects,
    /// Remove all that is stored of one project, also when its repository is gone
    Forget(ForgetArgs),
    /// Show what is extracted from files: symbols, imports, local names, references, chunks
    Facts {
        /// Files; they need not be in a registered project
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Show the values that hold, and where each came from
    Config(ConfigArgs),
    /// Show the tools that agents are offered, and the codes of all errors
    Tools,
    /// Serve agents: the Model Context Protocol on standard input and output, or on HTTP
    ServeMcp(ServeArgs),
    /// Measure this program on real repositories
    Bench(BenchArgs),
}

#[derive(Args, Debug)]
pub(crate) struct PathArg {
    /// The workspace, like --workspace
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// The workspace, like --workspace
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Look at clients instead: is our entry there, is it this program, does it answer [default: those that are there]
    #[arg(long, value_name = "CLIENT", num_args = 0.., value_parser = setup::client_names())]
    pub(crate) client: Option<Vec<String>>,
}

#[derive(Args, Debug)]
pub(crate) struct IndexArgs {
    /// Extract everything anew, and replace an index that can not be read
    #[arg(long)]
    pub(crate) force: bool,
    /// The workspace, like --workspace; it never narrows what is indexed
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// A branch, tag or commit, read straight from git [default: the work tree]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) ref_name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SyncArgs {
    /// Extract everything anew
    #[arg(long)]
    pub(crate) force: bool,
    /// The workspace, like --workspace
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// A branch, tag or commit [default: the work tree]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) ref_name: Option<String>,
    /// Only these files changed: nothing else is looked at
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) changed: Vec<PathBuf>,
}

/// Options of all commands that answer from the index.
#[derive(Args, Debug)]
pub(crate) struct AccessArgs {
    /// A branch, tag or commit that is indexed [default: the work tree]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) ref_name: Option<String>,
    /// Answer from what is published, without looking for changes first
    #[arg(long)]
    pub(crate) no_sync: bool,
    /// What to do when the index is behind: strict refuses, balanced syncs first, best_effort answers
    #[arg(long, value_name = "POLICY")]
    pub(crate) freshness: Option<String>,
}

/// What can be written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Exported {
    /// Every reference that is resolved: from_path, from_line, to_path, to_line, site_line, site_col, edge_type, confidence
    Edges,
    /// Every symbol: path, line_start, line_end, kind, name, qualified_name, symbol_id
    Symbols,
}

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// What to write
    #[arg(value_enum)]
    pub(crate) what: Exported,
    /// How to write it: jsonl
    #[arg(long, default_value = "jsonl")]
    pub(crate) format: String,
    /// With edges: in their place, every reference that nobody can bind, and how many symbols bear its name
    #[arg(long)]
    pub(crate) undecided: bool,
    /// The workspace, like --workspace
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) what: ConfigCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ConfigCommand {
    /// Every key with its value and its source
    Show,
}

/// What the server speaks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Transport {
    /// Standard input and output: for a client that starts the server itself.
    Stdio,
    /// Streamable HTTP at /mcp: for clients that come and go.
    Http,
}

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// What to speak on
    #[arg(long, value_enum, default_value = "stdio")]
    pub(crate) transport: Transport,
    /// The port of the HTTP transport; 0 takes any that is free
    #[arg(long, default_value_t = 9100)]
    pub(crate) port: u16,
    /// The address of the HTTP transport; any but a loopback one requires a token
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub(crate) bind: std::net::IpAddr,
    /// Register and index the workspace first if that was never done
    #[arg(long)]
    pub(crate) auto_index: bool,
    /// Register and index any workspace that a call names, below an --allowed-root
    #[arg(long)]
    pub(crate) auto_workspace: bool,
    /// A folder below which --auto-workspace may register; can be given several times
    #[arg(long, value_name = "PATH")]
    pub(crate) allowed_root: Vec<PathBuf>,
    /// Do not read the index in advance
    #[arg(long)]
    pub(crate) no_prewarm: bool,
    /// Do not watch work trees; changes are found by looking
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// What clients get: the contracts' JSON, or text for agents [default: mcp.answers of the configuration, json]
    #[arg(long, value_enum)]
    pub(crate) answers: Option<Answers>,
    /// Which tools to offer: core, all, or names with commas between them [default: core with text, else all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Require a bearer token on HTTP: $CODECOMPASS_TOKEN, or one that is made and kept in the data folder
    #[arg(long)]
    pub(crate) require_token: bool,
    /// Add what is of use to those who work on this program
    #[arg(long)]
    pub(crate) debug: bool,
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
        /// Repositories or folders; each is indexed into a data folder of its own that is removed afterwards
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Threads [default: one per core]
        #[arg(long, default_value_t = 0)]
        threads: usize,
    },
    /// Time warm and first queries that are made from the repository itself, beside a scan of its files
    Query {
        /// Repositories or folders; each is indexed into a data folder of its own that is removed afterwards
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// How many queries of each kind
        #[arg(long, default_value_t = 200)]
        queries: usize,
        /// Ask the index that is there, brought up to date first, in place of a new one
        #[arg(long)]
        indexed: bool,
    },
}
