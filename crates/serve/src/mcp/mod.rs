//! The Model Context Protocol, by the official SDK. Only this folder uses the SDK.
//!
//! The handler offers the tools of a [`Server`] and passes calls to its threads; the transports are `stdio` and `http`.
//! Both return the same JSON for the same call, because neither produces any.

pub mod http;
mod message;
pub mod pages;
mod peer;
mod roots;
mod sessions;
mod sockets;
pub mod stdio;

use self::sockets::Socket;

use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ContentBlock,
    DiscoverResult, ErrorCode, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::{OnceCell, mpsc};

use crate::server::workers::Client;
use crate::server::{AnswerLimit, CallRequest, Content, NoReply, Reply, Server};
use codecompass_tools::call::host::Connection;
use codecompass_tools::tool_spec::{self, Effect};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape;
use codecompass_workspace::jobs::ProgressListener;
use codecompass_workspace::output::OutputFormat;

/// The instructions for agents about all tools together.
const INSTRUCTIONS: &str = "\
CodeCompass answers questions about the code of this repository from an index, for the branch that is checked out, \
uncommitted edits included.
- Know the name? locate_symbol. Know words, a message or a path? search_code. Both give exact path and lines.
- get_file_outline shows what is in a file without reading it; get_symbol_hierarchy what is around or inside a symbol.
- get_code_context gives the code itself within a token budget, find_related_symbols what else to look at beside a symbol.
- Every symbol_id can be passed wherever a name is taken. `ref` asks about another branch; list_refs names those indexed.
- metadata says how fresh and complete an answer is; empty and stale differ. Weak answer? suggest_followup_queries.
- Not indexed yet? index_repo once, then index_status until it is published.";

/// The same for agents that get text. The first line says when to call: some clients show nothing else.
const TEXT_INSTRUCTIONS: &str = "\
Code of this repository, indexed with uncommitted edits: ask here before grep or reading files, for definitions, callers, \
references, outlines, what changed on a branch, or where something is done. Answers are path:line rows.
`path:line` works wherever a name does. `ref` asks about any branch, tag or commit.";

/// The supported revisions.
const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// How long a client may cache what the server offers: it does not change while the server runs.
const CACHE_TTL_MS: u64 = 60 * 60 * 1000;

/// The time that running jobs get to stop when the server shuts down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// How clients connect.
pub enum Connector {
    /// One client on standard input and output.
    Stdio,
    /// HTTP clients.
    Http(http::HttpOptions),
}

/// Serves until the client disconnects or a signal ends it, then stops the background work.
pub fn serve(server: &Arc<Server>, connector: Connector) -> Result<(), AppError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|error| AppError::new(Code::InternalError, format!("Cannot start the runtime: {error}.")))?;
    server.register(match &connector {
        Connector::Stdio => "stdio",
        Connector::Http(options) if !options.agents => "pages",
        Connector::Http(_) => "http",
    });
    let outcome = runtime.block_on(async {
        match connector {
            Connector::Stdio => stdio::serve(server).await,
            Connector::Http(options) => http::serve(server, options).await,
        }
    });
    server.stop(SHUTDOWN_TIMEOUT);
    server.unregister();
    // A thread that waits for input or for another process must not delay the exit.
    runtime.shutdown_timeout(Duration::ZERO);
    outcome
}

/// One connection, or one stateless request.
pub(crate) struct Handler {
    server: Arc<Server>,
    connection: Arc<Connection>,
    /// Whether a request of the stateless revision still has a connection: a pipe has only one client.
    is_pipe: bool,
    /// Set once the client was asked for its roots.
    has_asked_roots: OnceCell<()>,
    /// The root of the client, if the workspace is fixed.
    fixed_root: OnceLock<Option<PathBuf>>,
}

impl Handler {
    fn new(server: &Arc<Server>, is_pipe: bool) -> Self {
        Self {
            server: Arc::clone(server),
            connection: Arc::default(),
            is_pipe,
            has_asked_roots: OnceCell::new(),
            fixed_root: OnceLock::new(),
        }
    }

    /// Asks the only client of a pipe for its working folder, once, unless the workspace is fixed.
    async fn adopt_client_root(&self, peer: &Peer<RoleServer>) {
        let ask = || async {
            if !self.is_pipe {
                return;
            }
            if self.server.has_own_workspace() {
                // The answer says so if the client works elsewhere.
                let _ = self.fixed_root.set(roots::first_root(peer).await);
                return;
            }
            match roots::first_root(peer).await {
                Some(folder) => self.server.adopt_workspace(folder),
                // Deferred work continues with the folder that the server was started in.
                None if self.server.options.auto_index => self.server.start_background_work(),
                None => {}
            }
        };
        self.has_asked_roots.get_or_init(ask).await;
    }

    /// The client of a call. Calls without a session are counted by address, because a client may open any number of
    /// connections.
    fn client(&self, connection: Option<&Connection>, context: &RequestContext<RoleServer>) -> Client {
        match connection {
            _ if self.is_pipe => Client::Pipe,
            Some(connection) => Client::Session(connection.number),
            None => {
                let parts = context.extensions.get::<Parts>();
                let socket = parts.and_then(|parts| parts.extensions.get::<ConnectInfo<Socket>>());
                Client::Address(socket.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(socket)| socket.peer_ip()))
            }
        }
    }

    fn find(&self, name: &str) -> Option<&'static tool_spec::ToolSpec> {
        self.server.tools().find(|tool| tool.name == name)
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("codecompass", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(match self.server.options.form {
            OutputFormat::Json => INSTRUCTIONS.into(),
            OutputFormat::Text(_) => TEXT_INSTRUCTIONS.into(),
        });
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.adopt_client_root(&context.peer).await;
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let form = self.server.options.form;
        let tools = self.server.tools().map(|tool| to_mcp_tool(tool, form)).collect();
        let list = ListToolsResult::with_all_items(tools);
        // Earlier revisions do not define the field.
        Ok(if is_stateless(&context) { list.with_ttl_ms(CACHE_TTL_MS) } else { list })
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()).with_ttl_ms(CACHE_TTL_MS))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.find(&request.name) else {
            let names: Vec<&str> = self.server.tools().map(|tool| tool.name).collect();
            let message = format!("Unknown tool: {}. The tools are: {}.", request.name, names.join(", "));
            return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, None));
        };
        let names_workspace = request.arguments.as_ref().is_some_and(|arguments| arguments.contains_key("workspace"));
        if !names_workspace && !self.server.has_own_workspace() {
            self.adopt_client_root(&context.peer).await;
        }
        let connection = (self.is_pipe || !is_stateless(&context)).then(|| Arc::clone(&self.connection));
        let client = self.client(connection.as_deref(), &context);
        let gone = Arc::new(AtomicBool::new(false));
        let follower = context.meta.get_progress_token().map(|token| {
            let (sender, steps) = mpsc::channel(MAX_STEPS);
            let line = ProgressSender { steps: sender, gone: Arc::clone(&gone) };
            (line, send_progress(steps, context.peer.clone(), token))
        });
        let (follower, telling) = follower.unzip();
        let telling = telling.map(tokio::spawn);
        let follower = follower.map(|line| Box::new(line) as Box<dyn ProgressListener + Send>);
        let arguments = request.arguments.unwrap_or_default();
        let mut request = CallRequest::new(tool, arguments, client, self.server.options.form);
        request.answer_limit = answer_limit(&context);
        request.client_name = client_name(&context);
        request.client_folders = client_folders(&context);
        request.client_root = self.fixed_root.get().cloned().flatten();
        request.context.connection = connection;
        request.context.listener = follower;
        request.context.cancel = gone;
        let reply = tokio::select! {
            reply = self.server.reply(request) => reply,
            () = context.ct.cancelled() => {
                return Err(ErrorData::new(ErrorCode::INTERNAL_ERROR, "Cancelled.", None));
            }
        };
        if let Some(telling) = telling {
            // All progress notifications are sent before the answer.
            let _ = telling.await;
        }
        let reply = reply.map_err(|no_reply| match no_reply {
            NoReply::QueueFull => {
                const MESSAGE: &str = "Too many calls of this client are waiting: retry when some were answered.";
                ErrorData::new(BUSY, MESSAGE, None)
            }
            NoReply::Lost => ErrorData::new(ErrorCode::INTERNAL_ERROR, "The answer was lost.", None),
        })?;
        Ok(CallToolResponse::from(result(reply)))
    }

    fn get_tool(&self, _name: &str) -> Option<Tool> {
        // The tool itself checks its arguments; its errors say what is allowed.
        None
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        if self.is_pipe
            && !self.server.has_own_workspace()
            && let Some(folder) = roots::first_root(&context.peer).await
        {
            self.server.move_to(folder);
        }
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(not_offered("completion/complete"))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(not_offered("prompts/list"))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(not_offered("resources/list"))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(not_offered("resources/templates/list"))
    }
}

/// The limit of the client, which names itself in `initialize` or, without sessions, in every request. Codex reports
/// its model with each call.
fn answer_limit(context: &RequestContext<RoleServer>) -> Option<AnswerLimit> {
    let name = client_name(context)?;
    let model = context.meta.0.get("x-codex-turn-metadata").and_then(|turn| turn["model"].as_str());
    AnswerLimit::for_client(&name, model)
}

/// The name of the client, from the request or from `initialize`.
fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    let named = context.meta.client_info().map(|client| client.name);
    named.or_else(|| Some(context.peer.peer_info()?.client_info.name.clone()))
}

/// The folders that the client reports with a call: Codex names its work tree.
fn client_folders(context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
    const MAX_FOLDERS: usize = 8;
    let turn = context.meta.0.get("x-codex-turn-metadata");
    let workspaces = turn.and_then(|turn| turn.get("workspaces")).and_then(Value::as_object);
    let paths = workspaces.into_iter().flat_map(|named| named.keys().map(PathBuf::from));
    paths.filter(|path| path.is_absolute()).take(MAX_FOLDERS).collect()
}

/// Whether a request belongs to a revision without sessions.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn not_offered(method: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
}

/// The answer in the form of the protocol: structured with the same JSON as text, or text alone for text answers. An
/// error is always text alone: structured content must match the tool's output schema, and clients check that for
/// errors, too.
fn result(reply: Reply) -> CallToolResult {
    let (text, json) = match reply.content {
        Content::Json(json) => (escape::json(&json.to_string()).into_owned(), Some(json)),
        Content::Text(text) => (text, None),
    };
    let text = vec![ContentBlock::text(text)];
    if reply.is_error {
        return CallToolResult::error(text);
    }
    let mut result = CallToolResult::success(text);
    result.structured_content = json;
    result
}

/// A tool as in `tools/list`. With text answers there is no structure to describe, and every word costs tokens.
pub fn to_mcp_tool(tool: &'static tool_spec::ToolSpec, form: OutputFormat) -> Tool {
    if form != OutputFormat::Json {
        let annotations = ToolAnnotations::new().read_only(tool.effect == Effect::Reads);
        return Tool::new(tool.name, codecompass_tools::text_description(tool), tool.input_schema(form))
            .with_annotations(annotations);
    }
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(tool.effect == Effect::Reads)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    let mut listed = Tool::new(tool.name, tool.description, tool.input_schema(form))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(tool.output_schema()))
        .with_annotations(annotations);
    if tool.first {
        let mut meta = MetaObject::new();
        meta.insert("anthropic/alwaysLoad".into(), true.into());
        listed = listed.with_meta(meta);
    }
    listed
}

/// A progress step of a job: phase, done, total.
type ProgressStep = (&'static str, u64, Option<u64>);

/// The maximum number of steps that wait to be sent. Further steps are dropped: the next one has the current progress.
const MAX_STEPS: usize = 64;

/// The JSON-RPC error for a call when the queue is full.
const BUSY: ErrorCode = ErrorCode(-32000);

/// Sends progress from a worker thread to the listening client.
struct ProgressSender {
    steps: mpsc::Sender<ProgressStep>,
    gone: Arc<AtomicBool>,
}

impl ProgressListener for ProgressSender {
    fn progress(&self, phase: &'static str, done: u64, total: Option<u64>) {
        // A disconnected client is reported by `is_disconnected`.
        let _ = self.steps.try_send((phase, done, total));
    }

    fn is_disconnected(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || self.steps.is_closed()
    }
}

/// Sends steps as notifications. The progress value never decreases, as the protocol requires.
async fn send_progress(mut steps: mpsc::Receiver<ProgressStep>, peer: Peer<RoleServer>, token: ProgressToken) {
    let mut last = None;
    while let Some((phase, done, total)) = steps.recv().await {
        let progress = last.map_or(done as f64, |last: f64| (done as f64).max(last + 0.001));
        last = Some(progress);
        let mut param = ProgressNotificationParam::new(token.clone(), progress).with_message(phase);
        if let Some(total) = total {
            param = param.with_total(total as f64 + 1.0);
        }
        if peer.notify_progress(param).await.is_err() {
            return;
        }
    }
}
