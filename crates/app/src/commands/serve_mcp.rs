//! `codecompass serve-mcp`: the server for agents, until its client disconnects.

use std::path::PathBuf;

use codecompass_index::source::real_path;
use serde_json::json;

use crate::cli::{Common, ExploreArgs, ServeArgs, Transport};
use codecompass_explorer::Explorer;
use codecompass_serve::http_guard::host_check::parse_allowed_host;
use codecompass_serve::mcp::http::HttpOptions;
use codecompass_serve::mcp::pages::PageOptions;
use codecompass_serve::mcp::{self, Connector};
use codecompass_serve::server::{Server, ServerOptions, offered_tools};
use codecompass_workspace::config::{AnswerFormat, Config};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::output::{self, Answer, OutputFormat, Reader};
use codecompass_workspace::session::{Session, data_folder};

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
    // A client on stdio may report its folder. Until then, nothing is indexed on a guess.
    if server.has_own_workspace() || !args.auto_index || args.transport == Transport::Http {
        server.start_background_work();
    }
    mcp::serve(&server, if args.transport == Transport::Http { Connector::Http(listen) } else { Connector::Stdio })?;
    Ok(no_answer())
}

/// `codecompass explore`: the same server for people only. A workspace that was never indexed is indexed first.
pub(crate) fn explore(common: &Common, args: &ExploreArgs) -> Result<Answer, AppError> {
    let mut base = common.session_options();
    base.workspace = args.path.clone().or(base.workspace);
    // An invalid path is reported before the server starts.
    Session::open(&base, None)?;
    let server = Server::start(&base, ServerOptions::for_explorer())?;
    server.start_background_work();
    let pages = PageOptions { create: Explorer::create, open: args.open };
    mcp::serve(&server, Connector::Http(HttpOptions::for_pages(args.port, pages)))?;
    Ok(no_answer())
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
        leaves_working_folder: true,
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
        pages: args.explorer.then_some(PageOptions { create: Explorer::create, open: false }),
    })
}

/// Standard output belongs to the protocol, so nothing is printed at the end.
fn no_answer() -> Answer {
    Answer { text: String::new(), json: json!(null), code: 0 }
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
    Ok(args.answers.map_or(config.answers, Into::into))
}
