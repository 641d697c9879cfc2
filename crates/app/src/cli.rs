//! The command line, as clap sees it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

const EXIT_CODES: &str = "\
Exit codes:
  0  done, or something was found
  1  nothing was found; for doctor: something needs mending
  2  the command line or the configuration is wrong
  3  the project is not registered, not indexed, or its index can not be read
  4  another process is indexing
  5  the source can not be read (a missing path, a refused root, an unknown ref)
  6  internal error";

/// Answers questions about code: where is this defined, in which file and line, on which branch.
#[derive(Parser, Debug)]
#[command(version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
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
    /// Say more on standard error; twice for still more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Register a project: nothing is indexed yet, nothing is written into the repository
    Init(PathArg),
    /// Index a project; a first time in full, later only what changed
    Index(IndexArgs),
    /// Bring the index up to date with the work tree, or with a ref
    Sync(SyncArgs),
    /// Show what is indexed, and the jobs that did it
    Status(StatusArgs),
    /// Find definitions by name, by the end of a qualified name, or by a symbol id
    Locate(LocateArgs),
    /// Find the places that answer a query
    Search(SearchArgs),
    /// Check the index, the grammars and the ignore rules, and say how to mend what is wrong
    Doctor(PathArg),
    /// Show what is extracted from files: symbols, imports, local names, references, chunks
    Facts {
        /// Files; they need not be in a registered project
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
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

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// The workspace, like --workspace
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// The ref to report on [default: the work tree]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) ref_name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct LocateArgs {
    /// A name (`parse`), the end of a qualified name (`Parser::parse`), or a symbol id (`sym_…`, `b3:…`)
    pub(crate) name: String,
    /// Only this kind: fn, struct, class, method, trait, …
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only this language
    #[arg(long, visible_alias = "language")]
    pub(crate) lang: Option<String>,
    /// A branch, tag or commit that is indexed [default: the work tree]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) ref_name: Option<String>,
    /// At most so many results
    #[arg(long, default_value_t = 10, allow_negative_numbers = true)]
    pub(crate) limit: i64,
    /// Answer from what is published, without looking for changes first
    #[arg(long)]
    pub(crate) no_sync: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    /// Words, a name, a path, or a message
    pub(crate) query: String,
    /// Only this language
    #[arg(long, visible_alias = "language")]
    pub(crate) lang: Option<String>,
    /// A branch, tag or commit that is indexed [default: the work tree]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) ref_name: Option<String>,
    /// At most so many results
    #[arg(long, default_value_t = 10, allow_negative_numbers = true)]
    pub(crate) limit: i64,
    /// Answer from what is published, without looking for changes first
    #[arg(long)]
    pub(crate) no_sync: bool,
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
}
