//! `codecompass serve-mcp`: the server for agents, until its client disconnects.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::cli::{Common, ExploreArgs, ServeArgs, Transport};
use crate::config::{AnswerFormat, Config};
use crate::error::{AppError, Code};
use crate::mcp::{http, stdio};
use crate::output::{self, Answer};
use crate::server::{Server, ServerOptions};
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
    let common = &Common { workspace: common.workspace.clone().or_else(client_project_folder), ..common.clone() };
    let listen = http::HttpOptions::check(args)?;
    if args.explorer && args.transport != Transport::Http {
        return Err(AppError::new(Code::InvalidInput, "--explorer needs --transport http.")
            .hint("Use `codecompass explore` to serve only the pages."));
    }
    let server = Server::start(common, ServerOptions::check(args, answer_format(common, args)?)?)?;
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
    let common = &Common { workspace: args.path.clone().or_else(|| common.workspace.clone()), ..common.clone() };
    // An invalid path is reported before the server starts.
    Session::open(common, None)?;
    let server = Server::start(common, ServerOptions::for_explorer())?;
    let runtime = runtime()?;
    server.start_background_work();
    let outcome = runtime.block_on(http::serve(&server, http::HttpOptions::for_explorer(args.port, args.open)));
    shut_down(&server, runtime, outcome)
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
