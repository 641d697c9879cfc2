//! The command line, as clap sees it.

mod state;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::output::Color;

pub(crate) use self::state::{ForgetArgs, PruneArgs, StateArgs, StateCommand, StateExportArgs, StateImportArgs};

const EXIT_CODES: &str = "\
Exit codes:
  0  done, or something was found
  1  nothing was found; for doctor: something needs mending
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
    /// Tell why a place stands where it stands in a search, or why it is not there
    Explain(ExplainArgs),
    /// Find every place that refers to a symbol, the proved ones first
    References(ReferencesArgs),
    /// Show who calls a symbol
    Callers(CallsArgs),
    /// Show whom a symbol calls
    Callees(CallsArgs),
    /// List the indexed branches and tags, and what each adds
    Refs,
    /// Show what a branch changes, symbol by symbol, from where it parted from another
    Diff(DiffArgs),
    /// Show how one symbol differs between two refs
    Compare(CompareArgs),
    /// Write all edges or all symbols as JSON lines, for others to check
    Export(ExportArgs),
    /// Show what is in a file: its symbols, nested, with their lines
    Outline(OutlineArgs),
    /// Show what stands around a symbol, or inside it
    Hierarchy(HierarchyArgs),
    /// Show what else matters to who reads a symbol: what it uses, what uses it, what stands near
    Related(RelatedArgs),
    /// Show the code that answers a question, fitted to a budget of tokens
    Context(ContextArgs),
    /// Find every line that a regular expression, or plain text, matches
    Grep(GrepArgs),
    /// Check the index, the grammars and the ignore rules, and say how to mend what is wrong
    Doctor(PathArg),
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

/// Options of all commands that list results.
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only this language
    #[arg(long, visible_alias = "language")]
    pub(crate) lang: Option<String>,
    /// Only this kind: fn, struct, class, method, trait, …
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// At most so many results, up to 200
    #[arg(long, default_value_t = 10, allow_negative_numbers = true)]
    pub(crate) limit: i64,
    /// As many results as one answer can hold
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Go on where an earlier answer ended: its `next_cursor`
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    /// How much of each result: location, signature or context
    #[arg(long, visible_alias = "detail-level", value_name = "LEVEL")]
    pub(crate) detail: Option<String>,
    /// Leave out what is long
    #[arg(long)]
    pub(crate) compact: bool,
    /// Show why each result stands where it stands; in JSON as `ranking_reasons` (basic or full)
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "full", require_equals = true)]
    pub(crate) explain: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct LocateArgs {
    /// A name (`parse`), the end of a qualified name (`Parser::parse`), or a symbol id (`sym_…`, `b3:…`)
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) list: ListArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    /// Words, a name, a path, or a message
    pub(crate) query: String,
    /// How to read the query: auto, literal (exactly this text) or regex
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// Only these files: the beginning of a path, a file or folder name, or patterns like `src/**,!*_test.go`
    #[arg(long, value_name = "PATHS")]
    pub(crate) path_filter: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Index first if that was never done
    #[arg(long)]
    pub(crate) index: bool,
    /// Add what is of use to those who work on this program
    #[arg(long)]
    pub(crate) debug: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The query of the search
    pub(crate) query: String,
    /// The place: `src/auth/jwt.rs:87`
    #[arg(value_name = "PATH:LINE")]
    pub(crate) place: String,
    /// Only this language, as in the search
    #[arg(long, visible_alias = "language")]
    pub(crate) lang: Option<String>,
    /// How many results the search had
    #[arg(long, default_value_t = 200, allow_negative_numbers = true)]
    pub(crate) limit: i64,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReferencesArgs {
    /// A name, the end of a qualified name, or a symbol id
    pub(crate) name: String,
    /// The file of the definition, when several bear the name
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// Only these edges: imports, calls, implements, extends, references
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Also where comments, strings and other files hold the word
    #[arg(long)]
    pub(crate) text: bool,
    /// At most so many places, up to 200
    #[arg(long, default_value_t = 20, allow_negative_numbers = true)]
    pub(crate) limit: i64,
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Go on where an earlier answer ended: its `next_cursor`
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct CallsArgs {
    /// A name, the end of a qualified name, or a symbol id
    pub(crate) name: String,
    /// The file of the definition, when several bear the name
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// How far to go, from 1 to 5
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) depth: i64,
    /// At most so many symbols, up to 200
    #[arg(long, default_value_t = 20, allow_negative_numbers = true)]
    pub(crate) limit: i64,
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Go on from there: the next_cursor of the answer before
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    /// Draw a graph instead: mermaid or dot
    #[arg(long)]
    pub(crate) format: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// The branch, tag or commit to compare with [default: the default branch]
    pub(crate) base: Option<String>,
    /// What is compared: a branch, tag or commit, or @worktree for the work tree with its edits [default: HEAD]
    pub(crate) head: Option<String>,
    /// Only these files: the beginning of a path, a file or folder name, or patterns like `src/**,!*_test.go`
    #[arg(long, value_name = "PATHS")]
    pub(crate) path_filter: Option<String>,
    /// At most so many symbols, up to 200
    #[arg(long, default_value_t = 50, allow_negative_numbers = true)]
    pub(crate) limit: i64,
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Go on where an earlier answer ended: its `next_cursor`
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    /// Also who calls what was deleted or changed
    #[arg(long)]
    pub(crate) callers: bool,
    /// Also the calls that changed symbols gained and lost
    #[arg(long)]
    pub(crate) edges: bool,
    /// Also list symbols of which only the docs changed
    #[arg(long)]
    pub(crate) docs: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// A name, the end of a qualified name, or a symbol id
    pub(crate) name: String,
    /// The branch, tag or commit before
    pub(crate) base: String,
    /// The branch, tag or commit after; @worktree for the work tree with its edits
    pub(crate) head: String,
    /// The file of the symbol in either ref, when several bear the name
    #[arg(long, visible_alias = "in", value_name = "FILE")]
    pub(crate) path: Option<String>,
    /// Leave out the lines that differ
    #[arg(long)]
    pub(crate) no_diff: bool,
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
pub(crate) struct OutlineArgs {
    /// A file, from this folder or from the root of the workspace
    pub(crate) path: String,
    /// Leave out what stands inside other symbols: top, or all
    #[arg(long, value_name = "DEPTH")]
    pub(crate) depth: Option<String>,
    /// Go on from there: the next_cursor of the answer before
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct HierarchyArgs {
    /// A name, the end of a qualified name, or a symbol id
    pub(crate) name: String,
    /// The file of the definition, when several bear the name
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// Which way to look: ancestors or descendants
    #[arg(long)]
    pub(crate) direction: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RelatedArgs {
    /// A name, the end of a qualified name, or a symbol id
    pub(crate) name: String,
    /// The file of the definition, when several bear the name
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// How far to look: file, module or package
    #[arg(long)]
    pub(crate) scope: Option<String>,
    /// At most so many symbols, up to 200
    #[arg(long, default_value_t = 20, allow_negative_numbers = true)]
    pub(crate) limit: i64,
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Go on where an earlier answer ended: its `next_cursor`
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ContextArgs {
    /// A question in words, a name, a path or a message
    #[arg(required_unless_present = "symbols")]
    pub(crate) query: Option<String>,
    /// At most so many tokens
    #[arg(long, default_value_t = 4000, allow_negative_numbers = true)]
    pub(crate) max_tokens: i64,
    /// Many signatures, or fewer whole bodies: breadth or depth
    #[arg(long)]
    pub(crate) strategy: Option<String>,
    /// Only this language
    #[arg(long, visible_alias = "language")]
    pub(crate) lang: Option<String>,
    /// What to read first, whole: names, symbol ids, or places (src/a.py:10-40, or :10 for the symbol there)
    #[arg(long = "symbol", value_name = "NAME")]
    pub(crate) symbols: Vec<String>,
    /// Symbol ids to leave out
    #[arg(long, value_name = "ID")]
    pub(crate) exclude: Vec<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Args, Debug)]
pub(crate) struct GrepArgs {
    /// A regular expression; a match does not span lines. One that begins with a dash stands behind `--` or `-e`
    #[arg(required_unless_present = "regexp")]
    pub(crate) pattern: Option<String>,
    /// Only these paths: a folder or file, `.` for this folder, `src/**`, `*.rs`, `!tests/**`
    #[arg(value_name = "PATHGLOB")]
    pub(crate) paths: Vec<String>,
    /// The pattern, whatever it begins with; all other arguments are paths then
    #[arg(short = 'e', long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub(crate) regexp: Option<String>,
    /// The pattern is plain text
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,
    /// Case does not count
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Only whole words match
    #[arg(short, long)]
    pub(crate) word_regexp: bool,
    /// Only the names of files with a match
    #[arg(short = 'l', long)]
    pub(crate) files_with_matches: bool,
    /// Only how many lines match in each file
    #[arg(short, long, conflicts_with = "files_with_matches")]
    pub(crate) count: bool,
    /// Show so many lines around each match
    #[arg(short = 'C', long, value_name = "N")]
    pub(crate) context: Option<usize>,
    /// Show so many lines before each match
    #[arg(short = 'B', long, value_name = "N")]
    pub(crate) before_context: Option<usize>,
    /// Show so many lines after each match
    #[arg(short = 'A', long, value_name = "N")]
    pub(crate) after_context: Option<usize>,
    /// Taken because other programs of this name take it: line numbers are always shown
    #[arg(short = 'n', long, overrides_with = "line_number")]
    pub(crate) line_number: bool,
    /// The same: expressions are extended ones
    #[arg(short = 'E', long, overrides_with = "extended_regexp")]
    pub(crate) extended_regexp: bool,
    /// The same: all folders are looked through
    #[arg(short = 'r', visible_short_alias = 'R', long, overrides_with = "recursive")]
    pub(crate) recursive: bool,
    /// Only this language
    #[arg(long, visible_alias = "language")]
    pub(crate) lang: Option<String>,
    /// At most so many lines [default: all; 200 in JSON]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) limit: Option<i64>,
    /// Go on where an earlier answer ended: its `next_cursor`
    #[arg(long)]
    pub(crate) cursor: Option<String>,
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
    /// Offer only these tools, with commas between them
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
