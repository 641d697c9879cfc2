//! The commands: one file each, from parsed arguments to an [`Answer`].

mod bench;
mod config;
mod doctor;
mod doctor_client;
mod doctor_path;
mod export;
mod facts;
mod forget;
mod generate;
mod history;
mod index;
mod init;
mod languages;
mod projects;
mod prune_overlays;
mod serve_mcp;
mod setup;
mod state;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ArgMatches;

use crate::cli::{AccessArgs, Cli, Command, Common, ParsedCommand, ToolCommand};
use codecompass_tools::call::tool_spec::{ToolCall, ToolFn, ToolSpec};
use codecompass_tools::call::{Call, CallContext, CallOrigin};
use codecompass_tools::input;
use codecompass_tools::tool_spec::Arguments;
use codecompass_workspace::clock::time_for;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::log;
use codecompass_workspace::measure::bytes_text;
use codecompass_workspace::output::{self, Answer, OutputFormat, Printer, Reader};
use codecompass_workspace::panics;
use codecompass_workspace::running::{RunningServer, memory_bytes};
use codecompass_workspace::session::Session;
use codecompass_workspace::views::{Access, SnapshotCache};

/// The commands that call a tool: one line each, without a file.
pub(crate) const TOOL_COMMANDS: &[ToolCommand] = &[
    tool(
        "locate",
        "Find definitions by name, by the end of a qualified name, or by a symbol id",
        &codecompass_tools::locate_symbol::TOOL,
    ),
    tool("search", "Find code that answers a query", &codecompass_tools::search_code::TOOL),
    tool(
        "explain",
        "Explain why a location has its rank in a search, or why it is missing",
        &codecompass_tools::explain_ranking::TOOL,
    ),
    tool(
        "references",
        "Find all references to a symbol, confirmed ones first",
        &codecompass_tools::find_references::TOOL,
    ),
    ToolCommand {
        name: "callers",
        about: "Show the callers of a symbol",
        tool: &codecompass_tools::get_call_graph::TOOL,
        call: command_call(&codecompass_tools::get_call_graph::TOOL),
        fixed: &[("direction", "callers")],
    },
    ToolCommand {
        name: "callees",
        about: "Show the functions that a symbol calls",
        tool: &codecompass_tools::get_call_graph::TOOL,
        call: command_call(&codecompass_tools::get_call_graph::TOOL),
        fixed: &[("direction", "callees")],
    },
    tool("outline", "Show the symbols of a file, nested, with their lines", &codecompass_tools::get_file_outline::TOOL),
    tool("hierarchy", "Show the ancestors or descendants of a symbol", &codecompass_tools::get_symbol_hierarchy::TOOL),
    tool(
        "related",
        "Show code related to a symbol: what it uses, what uses it, what is nearby",
        &codecompass_tools::find_related_symbols::TOOL,
    ),
    tool(
        "context",
        "Show the code that answers a query, fitted to a token budget",
        &codecompass_tools::get_code_context::TOOL,
    ),
    tool("grep", "Find all lines that match a regular expression or plain text", &codecompass_tools::grep_code::TOOL),
    tool("read", "Show the exact text of symbols, line ranges and files", &codecompass_tools::read_code::TOOL),
    tool(
        "diff",
        "Show what a branch changes since it diverged from another, symbol by symbol",
        &codecompass_tools::diff_context::TOOL,
    ),
    tool("compare", "Show how one symbol differs between two refs", &codecompass_tools::compare_symbol::TOOL),
    tool("refs", "List the indexed branches and tags, and what each adds", &codecompass_tools::list_refs::TOOL),
    tool("status", "Show what is indexed, and recent jobs", &codecompass_tools::index_status::TOOL),
];

const fn tool(name: &'static str, about: &'static str, tool: &'static ToolSpec) -> ToolCommand {
    ToolCommand { name, about, tool, call: command_call(tool), fixed: &[] }
}

/// The function of a tool that commands may call. A tool that needs a server is refused by the compiler, because this
/// is evaluated at compile time.
const fn command_call(tool: &ToolSpec) -> ToolFn {
    match tool.call {
        ToolCall::Anywhere(call) => call,
        ToolCall::OnServer(_) => panic!("a command cannot call a tool that needs a server"),
    }
}

/// Runs a command, prints its answer or its error, and returns the exit code.
pub(crate) fn run(asked: &ParsedCommand) -> ExitCode {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for told in codecompass_workspace::config::unknown_variables(names) {
        output::print_stderr(&format!("warning: {}", codecompass_workspace::escape::escape_control(&told)));
    }
    let common = match asked {
        ParsedCommand::Command(cli) => &cli.common,
        ParsedCommand::Tool(common, ..) => common,
    };
    let printer = Printer::new(common.color.into(), common.no_pager);
    panics::install_hook(common.verbose);
    let dir = || Session::open(&common.session_options(), asked.path().as_deref()).ok().map(|session| session.dir);
    let outcome = panics::catch_panic("The command", dir, || match asked {
        ParsedCommand::Command(cli) => dispatch(cli),
        ParsedCommand::Tool(_, command, matches) => run_tool(common, command, matches, &printer),
    });
    let code = match outcome {
        Ok(answer) if common.json => output::print_json(&answer),
        Ok(answer) => printer.finish(&answer),
        Err(error) => {
            log::append(common.log_file().as_deref(), &format!("error: {}", error.message));
            let code = output::print_error(&error, common.json);
            if !common.json {
                output::print_candidates(&error);
            }
            code
        }
    };
    ExitCode::from(code)
}

/// The exit code if nothing is registered or indexed, or the index is unreadable.
const WITHOUT_INDEX: u8 = 3;

/// Calls the tool of a command, after the first index if the work tree has none.
fn run_tool(
    common: &Common,
    command: &ToolCommand,
    matches: &ArgMatches,
    printer: &Printer,
) -> Result<Answer, AppError> {
    let in_flags =
        |error: AppError| if common.json { error } else { error.map_text(&|text| command.params_as_flags(text)) };
    let arguments = Arguments::check_command(command.tool, command.arguments(matches)).map_err(in_flags)?;
    if command.name == "grep" && common.verbose > 0 {
        output::print_stderr("-v means verbose here; inverted matching is not supported");
    }
    let form = if common.json { OutputFormat::Json } else { OutputFormat::Text(Reader::Person) };
    let options = common.session_options();
    let context = CallContext::new(form);
    let answer = || {
        let mut call = Call {
            arguments: arguments.clone(),
            context: &context,
            origin: CallOrigin::Command(&options),
            cache: &mut SnapshotCache::default(),
            printer: Some(printer),
            max_bytes: None,
        };
        call.run(command.call)
    };
    let mut first = answer();
    let is_without_index = first.as_ref().map_or_else(AppError::exit_code, |answer| answer.code) == WITHOUT_INDEX;
    if is_without_index && command.may_index_first(matches) {
        let path = arguments.text_if_known("path_of_workspace").map(PathBuf::from);
        if index::index_before_query(&options, path.as_deref())? {
            first = answer();
        }
    }
    let mut answer = first.map_err(in_flags)?;
    answer.text = output::map_warnings(&answer.text, &|text| command.params_as_flags(text));
    if command.name == "status" && !common.json {
        answer.text += &running_servers();
    }
    Ok(answer)
}

/// A line for each running server of the user, with its memory.
fn running_servers() -> String {
    let Ok(data) = codecompass_workspace::session::data_folder() else { return String::new() };
    let line = |server: &RunningServer| {
        let memory = memory_bytes(server.pid).map(|bytes| format!(", {}", bytes_text(bytes))).unwrap_or_default();
        format!(
            "  server {} ({}{memory}) for {}, since {}\n",
            server.pid,
            escape_control(&server.transport),
            escape_control(&server.repository),
            time_for(Reader::Person, server.started)
        )
    };
    codecompass_workspace::running::list(&data).iter().map(line).collect()
}

fn dispatch(cli: &Cli) -> Result<Answer, AppError> {
    let common = &cli.common;
    match &cli.command {
        Command::Setup(args) => setup::run(common, args),
        Command::Unsetup(args) => setup::run_unsetup(common, args),
        Command::Init(args) => init::run(common, args),
        Command::Index(args) => index::run_index(common, args),
        Command::Sync(args) => index::run_sync(common, args),
        Command::Export(args) => export::run(common, args),
        Command::Doctor(args) => doctor::run(common, args),
        Command::State(args) => state::run(common, args),
        Command::PruneOverlays(args) => prune_overlays::run(common, args),
        Command::Languages => languages::run(),
        Command::Projects => projects::run(),
        Command::Forget(args) => forget::run(args),
        Command::Facts { paths } => facts::run(common, paths),
        Command::Config(args) => config::run(common, args),
        Command::Tools => tools::run(),
        Command::ServeMcp(args) => serve_mcp::run(common, args),
        Command::Explore(args) => serve_mcp::explore(common, args),
        Command::History(args) => history::run(args),
        Command::Completions(args) => generate::completions(args),
        Command::Man(args) => generate::man(args),
        Command::Bench(args) => bench::run(common, args),
    }
}

/// Why a file that the user named cannot be read, without the words of the system where ours are clearer.
fn read_error(path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("The file {} does not exist", path.display()),
        std::io::ErrorKind::IsADirectory => format!("{} is a folder, not a file", path.display()),
        _ => format!("Cannot read {}: {error}", path.display()),
    }
}

impl ParsedCommand {
    /// The path of the workspace that a command names.
    fn path(&self) -> Option<PathBuf> {
        match self {
            ParsedCommand::Command(cli) => match &cli.command {
                Command::Index(args) => args.path.clone(),
                Command::Sync(args) => args.path.clone(),
                Command::Doctor(args) => args.path.clone(),
                Command::Explore(args) => args.path.clone(),
                _ => None,
            },
            ParsedCommand::Tool(_, command, matches) => {
                let path = command.arguments(matches).remove("path_of_workspace")?;
                path.as_str().map(PathBuf::from)
            }
        }
    }
}

impl AccessArgs {
    /// The access options of the command.
    fn to_access(&self) -> Result<Access<'_>, AppError> {
        Ok(Access {
            ref_name: self.ref_name.as_deref(),
            policy: input::policy(self.freshness.as_deref())?,
            no_sync: self.no_sync,
            ..Access::default()
        })
    }
}
