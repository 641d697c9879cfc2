//! The server on HTTP: Streamable HTTP at `/mcp`, `GET /health`, and optionally pages for people.
//!
//! A request is checked here in this order: the length of the head, `Host` and `Origin`, the token or the peer's user,
//! the length of the body, and whether it is a valid message. The SDK checks `Host` and `Origin` once more. The number
//! of connections and their timeouts are limited in `sockets`.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::Handler;

use super::pages::{PageOptions, Pages};

use super::message::{self, MessageCheck};
use super::sessions::{self, Sessions, session_of};
use super::sockets::{LimitedListener, Limits, Socket, Sockets};

use crate::http_guard::host_check::{self, HostCheck};
use crate::http_guard::token::Token;
use crate::server::workers::Client;
use crate::server::{CallRequest, Content, NoReply, Server};
use codecompass_tools::TOOLS;
use codecompass_workspace::config::TOKEN_VARIABLE;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::launch;
use codecompass_workspace::measure;
use codecompass_workspace::output::OutputFormat;
use codecompass_workspace::output::print_stderr;

/// The maximum size of a request.
const MAX_REQUEST_BYTES: usize = 1 << 20;

/// The maximum length of the target and the headers of a request, and of each header alone.
const MAX_HEAD_BYTES: usize = 32 << 10;
const MAX_HEADER_BYTES: usize = 8 << 10;

/// The path of the protocol. No other path reaches the SDK.
const MCP: &str = "/mcp";

/// The time within which `/health` answers, even if only that the server is busy.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(10);

/// The media types that the SDK requires in `Accept`.
const EVENT_STREAM: &str = "text/event-stream";
const ACCEPTED_TYPES: &str = "application/json, text/event-stream";

/// Where to listen, and which clients are admitted.
pub struct HttpOptions {
    pub address: IpAddr,
    pub port: u16,
    pub require_token: bool,
    /// Host names of a proxy in front of this server.
    pub allowed_hosts: Vec<String>,
    /// Whether agents are served.
    pub agents: bool,
    /// The pages for people, if they are served.
    pub pages: Option<PageOptions>,
}

impl HttpOptions {
    /// For pages alone, on this machine.
    pub fn for_pages(port: u16, pages: PageOptions) -> Self {
        Self {
            address: IpAddr::from([127, 0, 0, 1]),
            port,
            require_token: false,
            allowed_hosts: Vec::new(),
            agents: false,
            pages: Some(pages),
        }
    }
}

/// The checks for all requests.
struct RequestGate {
    token: Option<Token>,
    host_check: HostCheck,
    server: Arc<Server>,
    sessions: Arc<Sessions>,
    /// Whether agents are served.
    agents: bool,
    /// Answers the requests that are not for agents.
    pages: Option<Box<dyn Pages>>,
}

/// Serves until a signal ends it.
pub async fn serve(server: &Arc<Server>, listen: HttpOptions) -> Result<(), AppError> {
    let failed = |what: &str, error: std::io::Error| AppError::new(Code::InternalError, format!("{what}: {error}."));
    let is_local = listen.address.is_loopback();
    let token = match listen.require_token || !is_local {
        true => Some(Token::load(&server.data, std::env::var(TOKEN_VARIABLE).ok())?),
        false => None,
    };
    let listener =
        TcpListener::bind((listen.address, listen.port)).await.map_err(|error| cannot_listen(&listen, &error))?;
    let address = listener.local_addr().map_err(|error| failed("no address", error))?;
    let names = HostCheck::new(address, &listen.allowed_hosts);
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.hosts())
        .with_allowed_origins(names.origins())
        .enforce_origin_validation();
    config.max_request_body_bytes = MAX_REQUEST_BYTES;
    config.sse_retry = Some(sessions::RETRY);
    let stop = config.cancellation_token.clone();
    let handlers = Arc::clone(server);
    let factory = move || Ok(Handler::new(&handlers, false));
    let sessions = Sessions::new();
    let service = StreamableHttpService::new(factory, Arc::clone(&sessions.manager), config);
    let file = token.as_ref().and_then(|token| token.file.clone());
    let pages = listen.pages.as_ref().map(|pages| (pages.create)(server, &local_url(address), address.port()));
    let gate = Arc::new(RequestGate {
        token,
        host_check: names,
        server: Arc::clone(server),
        sessions,
        agents: listen.agents,
        pages,
    });
    let router = match listen.agents {
        true => Router::new().route_service(MCP, service).route("/health", get(health)),
        false => Router::new(),
    };
    let router = router
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(Arc::clone(&gate), admit))
        .layer(middleware::from_fn(track_turn))
        .with_state(Arc::clone(&gate));
    let sockets = Sockets::new(Limits::for_descriptors(measure::descriptors()));
    let mut signals = Signals::new().map_err(|error| failed("Cannot listen for signals", error))?;
    if let Some(file) = file {
        print_stderr(&format!("the token is in {}", file.display()));
    }
    if listen.agents {
        print_stderr(&format!("listening on http://{address}/mcp"));
    }
    if let (Some(pages), Some(options)) = (&gate.pages, &listen.pages) {
        let page = pages.new_address()?;
        print_stderr(&format!("the explorer is at {page}"));
        let failed = || print_stderr("no browser could be started: open the address yourself");
        if options.open && !launch::open_browser(&page, &server.data, failed) {
            failed();
        }
    }
    let open = Arc::clone(&sockets);
    let ended = async move {
        signals.recv().await;
        stop.cancel();
        open.close_waiting();
    };
    let router = router.into_make_service_with_connect_info::<Socket>();
    let serving = axum::serve(LimitedListener { listener, sockets }, router).with_graceful_shutdown(ended);
    serving.await.map_err(|error| failed("the server ended", error))
}

/// The error for an address that cannot be listened on: the user has to give another one.
fn cannot_listen(listen: &HttpOptions, error: &std::io::Error) -> AppError {
    let HttpOptions { address, port, .. } = listen;
    let (message, hint) = match error.kind() {
        ErrorKind::AddrInUse => (
            format!("Port {port} of {address} is already in use."),
            "Another server may be running: `codecompass status` lists yours. Give another --port, or --port 0 for a free one.",
        ),
        ErrorKind::PermissionDenied => (
            format!("Port {port} of {address} needs privileges."),
            "Give a --port from 1024 on, or --port 0 for a free one.",
        ),
        ErrorKind::AddrNotAvailable => {
            (format!("{address} is no address of this machine."), "Give another --bind, or leave it out.")
        }
        _ => {
            let message = format!("Cannot listen on {address}:{port}: {error}.");
            return AppError::new(Code::InternalError, message);
        }
    };
    AppError::new(Code::InvalidInput, message).hint(hint)
}

/// The signals that ask the process to end. Once this exists, none of them ends the process directly.
pub(crate) struct Signals {
    #[cfg(unix)]
    asked: [tokio::signal::unix::Signal; 3],
}

impl Signals {
    #[cfg(unix)]
    pub(crate) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let one = |kind| signal(kind);
        Ok(Self { asked: [one(SignalKind::terminate())?, one(SignalKind::interrupt())?, one(SignalKind::hangup())?] })
    }

    #[cfg(not(unix))]
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Resolves when one of them arrives.
    #[cfg(unix)]
    pub(crate) async fn recv(&mut self) {
        let [term, interrupt, hang_up] = &mut self.asked;
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
            _ = hang_up.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(crate) async fn recv(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// Marks a connection as being served until the answer has been sent.
async fn track_turn(ConnectInfo(socket): ConnectInfo<Socket>, request: Request, next: Next) -> Response {
    let turn = socket.turn();
    next.run(request).await.map(|body| turn.hold_until_sent(body))
}

/// Admits or refuses a request.
async fn admit(
    State(gate): State<Arc<RequestGate>>,
    ConnectInfo(socket): ConnectInfo<Socket>,
    mut request: Request,
    next: Next,
) -> Response {
    let pages = gate.pages.as_deref().filter(|_| !gate.agents || !is_for_agents(request.uri().path()));
    if is_head_too_long(&request) {
        return (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, CONNECTION_CLOSE, "The head of the request is too long")
            .into_response();
    }
    if let Err(refusal) = gate.host_check.check(request.uri(), request.headers()) {
        let mut refusal = refusal.into_response();
        if let Some(pages) = pages {
            pages.add_headers(refusal.headers_mut());
        }
        return refusal;
    }
    if let Some(pages) = pages {
        if !socket.start_serving() {
            let mut refusal = too_busy();
            pages.add_headers(refusal.headers_mut());
            return refusal;
        }
        return pages.respond(request.map(drop)).await.map(Body::from);
    }
    let header = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if gate.token.as_ref().is_some_and(|token| !token.matches_header(header)) {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer realm=\"codecompass\"")];
        return (StatusCode::UNAUTHORIZED, challenge, "Unauthorized: a bearer token is required").into_response();
    }
    if gate.token.is_none() && !socket.is_own_user().await {
        return (StatusCode::UNAUTHORIZED, CONNECTION_CLOSE, OTHER_USER).into_response();
    }
    let is_ours = request.uri().path() == MCP;
    if is_ours {
        expand_accept(&mut request);
    }
    if request.method() != Method::POST || !is_ours {
        if !socket.start_serving() {
            return too_busy();
        }
        let is_goodbye = is_ours && request.method() == Method::DELETE;
        let is_resumed = is_ours && request.headers().contains_key("last-event-id");
        let resumed = session_of(request.headers()).filter(|_| is_resumed);
        let resumed = resumed.and_then(|session| gate.sessions.resume(session));
        let response = next.run(request).await;
        let response = match resumed {
            Some(resumed) => response.map(|body| resumed.within(body)),
            None => response,
        };
        // The session has ended when the answer arrives, so the request is done and not merely accepted.
        let is_gone = is_goodbye && response.status() == StatusCode::ACCEPTED;
        return if is_gone { StatusCode::NO_CONTENT.into_response() } else { response };
    }
    let session = session_of(request.headers());
    let (head, body) = request.into_parts();
    let body = match tokio::time::timeout(socket.limits().body, to_bytes(body, MAX_REQUEST_BYTES)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return (StatusCode::PAYLOAD_TOO_LARGE, "The body is too long").into_response(),
        Err(_) => {
            return (StatusCode::REQUEST_TIMEOUT, CONNECTION_CLOSE, "The body did not come in time").into_response();
        }
    };
    if !socket.start_serving() {
        return too_busy();
    }
    let is_json =
        head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let complaint = match message::check_message(&body) {
        _ if body.trim_ascii().is_empty() => {
            Some(message::error_response(-32700, "The body is empty.", serde_json::Value::Null))
        }
        MessageCheck::Valid => None,
        MessageCheck::Invalid(complaint) | MessageCheck::Ignored(complaint) => Some(complaint),
    };
    if let Some(complaint) = complaint.filter(|_| is_json) {
        let kind = [(header::CONTENT_TYPE, "application/json")];
        return (StatusCode::BAD_REQUEST, kind, complaint.to_string()).into_response();
    }
    let posted = message::request(&body);
    if session.is_none() && posted.as_ref().is_some_and(|posted| posted.method == "initialize") {
        gate.sessions.make_room().await;
    }
    let call = session.clone().zip(posted).map(|(session, posted)| gate.sessions.watch(session, posted.id));
    let response = next.run(Request::from_parts(head, Body::from(body))).await;
    if let Some(session) = session.or_else(|| session_of(response.headers())) {
        gate.sessions.note(session).await;
    }
    match call {
        Some(call) => response.map(|body| call.within(body)),
        None => response,
    }
}

/// Whether the head of a request exceeds the limits.
fn is_head_too_long(request: &Request) -> bool {
    let lengths = || request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    lengths().any(|length| length > MAX_HEADER_BYTES) || target + lengths().sum::<usize>() > MAX_HEAD_BYTES
}

/// The paths of programs; all others are pages.
fn is_for_agents(path: &str) -> bool {
    path == "/health" || path == MCP
}

/// The URL by which a local browser reaches this address.
fn local_url(address: SocketAddr) -> String {
    match address.ip() {
        ip if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
        _ => format!("http://{address}"),
    }
}

/// The answer to a peer that is not known to be the user of this process.
const OTHER_USER: &str = "Unauthorized: this server answers only the user who runs it, and the connection is not known to \
                          be that user's. Start it with --require-token to let others in by a token.";

/// The maximum size of a body that is read before it is refused.
const MAX_DRAINED_BYTES: usize = 256 << 10;

/// The time limit for reading it.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(250);

const CONNECTION_CLOSE: [(HeaderName, &str); 1] = [(header::CONNECTION, "close")];

/// The answer when too many requests are being served: the client shall retry.
fn too_busy() -> Response {
    let headers = [(header::CONNECTION, "close"), (header::RETRY_AFTER, "1")];
    (StatusCode::SERVICE_UNAVAILABLE, headers, "Too many requests are being served").into_response()
}

/// The SDK searches `Accept` for the names of media types. Wildcards and a missing header are expanded for it.
fn expand_accept(request: &mut Request) {
    let (kinds, names): (&[&str], _) = match *request.method() {
        Method::POST => (&["application/json", EVENT_STREAM], ACCEPTED_TYPES),
        Method::GET => (&[EVENT_STREAM], EVENT_STREAM),
        _ => return,
    };
    if host_check::accepts(request.headers(), kinds) {
        request.headers_mut().insert(header::ACCEPT, HeaderValue::from_static(names));
    }
}

/// Answers with 404. A body that is already on its way is read first: closing a socket with unread bytes resets the
/// connection, and the client would not see the answer.
async fn not_found(request: Request) -> StatusCode {
    let body = axum::body::to_bytes(request.into_body(), MAX_DRAINED_BYTES);
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, body).await;
    StatusCode::NOT_FOUND
}

/// The body of `health_check`.
async fn health(State(gate): State<Arc<RequestGate>>) -> Response {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == "health_check") else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let request = CallRequest::new(tool, serde_json::Map::new(), Client::Health, OutputFormat::Json);
    let reply = tokio::time::timeout(HEALTH_TIMEOUT, gate.server.reply(request)).await;
    let Ok(reply) = reply else { return too_busy() };
    match reply {
        Ok(reply) => {
            let code = if reply.is_error { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
            let body = match reply.content {
                Content::Json(json) => json.to_string(),
                Content::Text(text) => text,
            };
            (code, [(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Err(NoReply::QueueFull) => too_busy(),
        Err(NoReply::Lost) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
