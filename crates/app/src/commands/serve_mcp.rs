//! `codecompass serve-mcp`: the server for agents, until its client disconnects.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use codecompass_index::source::real_path;
use serde_json::json;

use crate::cli::{Common, ExploreArgs, ServeArgs, Transport};
use crate::config::{AnswerFormat, Config};
use crate::error::{AppError, Code};
use crate::http_guard::host_check::parse_allowed_host;
use crate::mcp::http::{ExplorerOptions, HttpOptions};
use crate::mcp::{http, stdio};
use crate::output::{self, Answer, OutputFormat, Reader};
use crate::server::{Server, ServerOptions, offered_tools};
use crate::session::{Session, data_folder};

/// The time that running jobs get to stop when the server shuts down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

pub(crate) fn run(common: &Common, args: &ServeArgs) -> Result<Answer, AppError> {
    if args.transport == Transport::Stdio && output::stdin_is_terminal() {
        output::print_stderr(
            "Waiting for a client on standard input. Agents start this server themselves; `codecompass setup` configures them. \
             Press Ctrl-C to stop.",
        );
    }
    let mut base = common.session_options();
    base.workspace = base.workspace.or_else(client_project_folder);
    let listen = http_options(args)?;
    if args.explorer && args.transport != Transport::Http {
        return Err(AppError::new(Code::InvalidInput, "--explorer needs --transport http.")
            .hint("Use `codecompass explore` to serve only the pages."));
    }
    let server = Server::start(&base, server_options(args, answer_format(common, args)?)?)?;
    let runtime = runtime()?;
    // A client on stdio may report its folder. Until then, nothing is indexed on a guess.
    if server.has_own_workspace() || !args.auto_index || args.transport == Transport::Http {
        server.start_background_work();
    }
    let outcome = runtime.block_on(async {
        match args.transport {
            Transport::Stdio => stdio::serve(&server).await,
            Transport::Http => http::serve(&server, listen).await,
        }
    });
    shut_down(&server, runtime, outcome)
}

/// `codecompass explore`: the same server for people only. A workspace that was never indexed is indexed first.
pub(crate) fn explore(common: &Common, args: &ExploreArgs) -> Result<Answer, AppError> {
    let mut base = common.session_options();
    base.workspace = args.path.clone().or(base.workspace);
    // An invalid path is reported before the server starts.
    Session::open(&base, None)?;
    let server = Server::start(&base, ServerOptions::for_explorer())?;
    let runtime = runtime()?;
    server.start_background_work();
    let outcome = runtime.block_on(http::serve(&server, HttpOptions::for_explorer(args.port, args.open)));
    shut_down(&server, runtime, outcome)
}

/// Checks the options of a server.
fn server_options(args: &ServeArgs, answers: AnswerFormat) -> Result<ServerOptions, AppError> {
    if args.auto_workspace && args.allowed_root.is_empty() {
        return Err(AppError::new(Code::InvalidInput, "--auto-workspace needs at least one --allowed-root.")
            .hint("Name the folder under which clients may open repositories."));
    }
    if args.auto_workspace && args.own_workspace_only {
        let message = "--auto-workspace and --own-workspace-only cannot be combined.";
        return Err(AppError::new(Code::InvalidInput, message).hint("Choose one of them."));
    }
    let real = |path: &PathBuf| {
        real_path(path)
            .map_err(|error| AppError::new(Code::InvalidInput, format!("--allowed-root {}: {error}.", path.display())))
    };
    let form = match answers {
        AnswerFormat::Json => OutputFormat::Json,
        AnswerFormat::Text => OutputFormat::Text(Reader::Agent),
    };
    Ok(ServerOptions {
        auto_index: args.auto_index,
        auto_workspace: args.auto_workspace,
        allowed_roots: args.allowed_root.iter().map(real).collect::<Result<_, _>>()?,
        own_workspace_only: args.own_workspace_only,
        no_prewarm: args.no_prewarm,
        no_watch: args.no_watch,
        debug: args.debug,
        tools: offered_tools(&args.tools, form)?,
        form,
    })
}

/// Checks the options of the HTTP transport.
fn http_options(args: &ServeArgs) -> Result<HttpOptions, AppError> {
    let allowed_hosts = args.allowed_host.iter().map(|name| parse_allowed_host(name)).collect::<Result<_, _>>()?;
    Ok(HttpOptions {
        address: args.bind,
        port: args.port,
        require_token: args.require_token,
        allowed_hosts,
        agents: true,
        explorer: args.explorer.then_some(ExplorerOptions { open: false }),
    })
}

fn runtime() -> Result<tokio::runtime::Runtime, AppError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| AppError::new(Code::InternalError, format!("Cannot start the runtime: {error}.")))
}

/// Stops the background work. Standard output belongs to the protocol, so nothing is printed.
fn shut_down(
    server: &Arc<Server>,
    runtime: tokio::runtime::Runtime,
    outcome: Result<(), AppError>,
) -> Result<Answer, AppError> {
    server.stop(SHUTDOWN_TIMEOUT);
    // A thread that waits for input or for another process must not delay the exit.
    runtime.shutdown_timeout(Duration::ZERO);
    outcome?;
    Ok(Answer { text: String::new(), json: json!(null), code: 0 })
}

/// The folder that the client reports in a variable: some start their servers elsewhere. The first of several is the
/// default.
fn client_project_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = std::env::var(name).ok()?;
        let first = value.split([',', ';', '\n']).map(str::trim).find(|path| !path.is_empty())?;
        let first = PathBuf::from(first);
        (first.is_absolute() && first.is_dir()).then_some(first)
    };
    folder("CLAUDE_PROJECT_DIR").or_else(|| folder("WORKSPACE_FOLDER_PATHS"))
}

/// The answer format: from the flag, or else from the configuration. The repository cannot set it.
fn answer_format(common: &Common, args: &ServeArgs) -> Result<AnswerFormat, AppError> {
    let variable = |name: &str| std::env::var(name).ok();
    let user = data_folder()?.join("config.toml");
    let config = Config::load(common.config.as_deref(), &user, None, &variable)?;
    Ok(args.answers.unwrap_or(config.answers))
}
