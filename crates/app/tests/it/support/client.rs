//! A hand-written client for the protocol, on a pipe or on HTTP: it can make errors that the official clients cannot.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use codecompass_testkit::HOME;
use serde_json::{Map, Value, json};

use super::PROGRAM;

/// A server that this test started; it is stopped with the test.
pub(crate) struct Server {
    child: Child,
    stderr: Arc<Mutex<String>>,
}

impl Server {
    /// Starts `serve-mcp` with these arguments.
    pub(crate) fn start(cwd: &Path, home: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::run(Command::new(PROGRAM).arg("serve-mcp").args(args), cwd, home, env)
    }

    /// Starts any other long-running command.
    pub(crate) fn command(cwd: &Path, home: &Path, args: &[&str]) -> Self {
        Self::run(Command::new(PROGRAM).args(args), cwd, home, &[])
    }

    /// Returns the last address of the explorer that the server printed, with its token.
    pub(crate) fn explorer(&self) -> String {
        let mut found = None;
        let is_there = wait_until(Duration::from_secs(20), || {
            let said = self.stderr_text();
            found = said.lines().rev().find_map(|line| {
                line.starts_with("the explorer").then(|| line.split_once("http://").map(|(_, rest)| rest.to_owned()))?
            });
            found.is_some()
        });
        assert!(is_there, "no address in: {}", self.stderr_text());
        found.expect("it was just checked")
    }

    /// Starts `serve-mcp` in a process with this limit of open descriptors.
    pub(crate) fn limited(cwd: &Path, home: &Path, descriptors: u32, args: &[&str]) -> Self {
        let script = format!("ulimit -n {descriptors}; exec \"$0\" serve-mcp \"$@\"");
        Self::run(Command::new("sh").args(["-c", &script, PROGRAM]).args(args), cwd, home, &[])
    }

    fn run(command: &mut Command, cwd: &Path, home: &Path, env: &[(&str, &str)]) -> Self {
        let mut child = command
            .current_dir(cwd)
            .env("HOME", home)
            .env(HOME, home)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let stderr = Arc::new(Mutex::new(String::new()));
        let (pipe, text) = (child.stderr.take().expect("it is piped"), Arc::clone(&stderr));
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                text.lock().expect("the lock is not poisoned").push_str(&format!("{line}\n"));
            }
        });
        Self { child, stderr }
    }

    /// Returns its output on standard error so far.
    pub(crate) fn stderr_text(&self) -> String {
        self.stderr.lock().expect("the lock is not poisoned").clone()
    }

    /// Returns its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its ends of the pipe.
    pub(crate) fn pipes(&mut self) -> (ChildStdin, ChildStdout) {
        (self.child.stdin.take().expect("once"), self.child.stdout.take().expect("once"))
    }

    /// Returns the exit code if it ends in time.
    pub(crate) fn exits_within(&mut self, time: Duration) -> Option<i32> {
        let mut code = None;
        wait_until(time, || {
            code = self.child.try_wait().expect("it can be asked").map(|status| status.code().unwrap_or(-1));
            code.is_some()
        });
        code
    }

    /// Returns the address of an HTTP server.
    pub(crate) fn address(&self) -> String {
        let mut found = None;
        let is_there = wait_until(Duration::from_secs(20), || {
            let said = self.stderr_text();
            found = said
                .lines()
                .find_map(|line| Some(line.strip_prefix("listening on http://")?.strip_suffix("/mcp")?.to_owned()));
            found.is_some()
        });
        assert!(is_there, "no address in: {}", self.stderr_text());
        found.expect("it was just checked")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Repeats the check until it succeeds. Returns whether it succeeded in time.
pub(crate) fn wait_until(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    loop {
        if is_so() {
            return true;
        }
        if began.elapsed() > time {
            return false;
        }
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A client of a server.
pub(crate) trait Client {
    /// Sends a request and returns the whole response.
    fn request(&mut self, method: &str, params: Value) -> Value;

    /// Calls a tool and returns its answer or error, and which of them it is.
    fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = response["result"].clone();
        assert!(result.is_object(), "{tool}: {response}");
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().expect("a text")).expect("the text is JSON");
        match result["isError"] == json!(true) {
            true => assert_eq!(result.get("structuredContent"), None, "{tool}: an error has no structured content"),
            false => assert_eq!(text, result["structuredContent"], "{tool}: the text equals the structured content"),
        }
        json!({ "isError": result["isError"] == json!(true), "answer": text })
    }

    /// Calls a tool that must succeed and returns its answer.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_ne!(result["isError"], json!(true), "{tool}: {result}");
        result["answer"].clone()
    }

    /// Calls a tool that must fail and returns the code and the whole error.
    fn call_error(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], json!(true), "{tool}: {result}");
        let error = result["answer"]["error"].clone();
        assert!(result["answer"]["metadata"]["codecompass_protocol_version"] == "1.0", "{result}");
        (error["code"].as_str().expect("a code").to_owned(), error)
    }

    /// Waits until a ref is published and nothing runs.
    fn wait_for_index(&mut self, arguments: Value) -> Value {
        let mut last = Value::Null;
        let is_ready = wait_until(Duration::from_secs(60), || {
            last = self.call("index_status", arguments.clone());
            last["index_status"] == "ready" && last["active_job"].is_null()
        });
        assert!(is_ready, "{last}");
        last
    }
}

/// A client on a pipe.
pub(crate) struct StdioClient {
    pub(crate) server: Server,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
    /// Messages received other than responses.
    pub(crate) notifications: Vec<Value>,
}

impl StdioClient {
    /// Starts a server on a pipe, with a session of the older protocol.
    pub(crate) fn open(cwd: &Path, home: &Path, args: &[&str]) -> Self {
        Self::open_with(cwd, home, args, &[])
    }

    /// Starts the same with further variables.
    pub(crate) fn open_with(cwd: &Path, home: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut pipe = Self::from_server(Server::start(cwd, home, args, env));
        let hello = pipe.request("initialize", initialize_params("2025-11-25"));
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipe
    }

    /// Starts a server on a pipe without sending anything.
    pub(crate) fn raw(cwd: &Path, home: &Path, args: &[&str]) -> Self {
        Self::from_server(Server::start(cwd, home, args, &[]))
    }

    fn from_server(mut server: Server) -> Self {
        let (input, output) = server.pipes();
        Self { server, input: Some(input), output: BufReader::new(output), last: 0, notifications: Vec::new() }
    }

    /// Sends a message unchanged.
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    /// Sends a line.
    pub(crate) fn send_text(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the pipe is open");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("the server listens");
    }

    /// Receives the next message.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        assert!(!line.is_empty(), "the server ended: {}", self.server.stderr_text());
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request without waiting for the response.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        self.last
    }

    /// Returns the response to a request; messages before it are kept.
    pub(crate) fn response(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == json!(id) {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// Closes the client's end.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }
}

impl Client for StdioClient {
    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.response(id)
    }
}

/// Returns the parameters that open a session.
pub(crate) fn initialize_params(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl HttpResponse {
    /// Returns a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the messages in it.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let is_stream = self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let texts: Vec<&str> = match is_stream {
            true => self.body.lines().filter_map(|line| line.strip_prefix("data:")).collect(),
            false => vec![&self.body],
        };
        texts.into_iter().filter_map(|text| serde_json::from_str(text.trim()).ok()).collect()
    }
}

/// Sends one HTTP request by hand.
pub(crate) fn http(address: &str, head: &str, headers: &[(&str, &str)], body: &[u8]) -> HttpResponse {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
    let mut text = format!("{head} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text += &format!("Host: {address}\r\n");
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += "\r\n";
    stream.write_all(text.as_bytes()).expect("the head is taken");
    // A server that refuses a request does not read the rest of it.
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> HttpResponse {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
    let headers: Vec<(String, String)> =
        lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.into(), value.into())).collect();
    let rest = &bytes[end + 4..];
    let is_chunked = headers
        .iter()
        .any(|(name, value)| name.eq_ignore_ascii_case("transfer-encoding") && value.eq_ignore_ascii_case("chunked"));
    let body = if is_chunked { decode_chunked(rest) } else { rest.to_vec() };
    HttpResponse { status, headers, body: String::from_utf8_lossy(&body).into_owned() }
}

fn decode_chunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|size| *size > 0 && end + 2 + size <= bytes.len()) else { break };
        body.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[(end + 4 + size).min(bytes.len())..];
    }
    body
}

/// A client on HTTP, with independent requests, as in the newest revision; or with a session of an older one.
pub(crate) struct HttpClient {
    address: String,
    session: Option<String>,
    last: u64,
}

impl HttpClient {
    /// Creates a client with independent requests.
    pub(crate) fn stateless(address: &str) -> Self {
        Self { address: address.to_owned(), session: None, last: 0 }
    }

    /// Opens a session of an older revision.
    pub(crate) fn session(address: &str) -> Self {
        let mut web = Self::stateless(address);
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize_params("2025-06-18") });
        let answer = http(address, "POST /mcp", POST_HEADERS, message.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
        web.session = Some(answer.header("mcp-session-id").expect("a session").to_owned());
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let answer = web.post(&ready, &[]);
        assert_eq!(answer.status, 202, "{answer:?}");
        web
    }

    fn post(&self, message: &Value, more: &[(&str, &str)]) -> HttpResponse {
        let mut headers = POST_HEADERS.to_vec();
        if let Some(session) = &self.session {
            headers.extend([("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")]);
        }
        headers.extend(more);
        http(&self.address, "POST /mcp", &headers, message.to_string().as_bytes())
    }
}

/// The headers of a client's requests.
pub(crate) const POST_HEADERS: &[(&str, &str)] =
    &[("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];

impl Client for HttpClient {
    fn request(&mut self, method: &str, mut params: Value) -> Value {
        self.last += 1;
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let mut more = Vec::new();
        if self.session.is_none() {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let given = params.as_object_mut().expect("an object").entry("_meta").or_insert(json!({}));
            let mut all: Map<String, Value> = meta.as_object().cloned().unwrap_or_default();
            all.extend(given.as_object().cloned().unwrap_or_default());
            *given = Value::Object(all);
            more.extend([("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)]);
            if method == "tools/call" {
                more.push(("Mcp-Name", &name));
            }
        }
        let message = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        let answer = self.post(&message, &more);
        let messages = answer.messages();
        let response = messages.iter().find(|message| message["id"] == json!(self.last)).cloned();
        response.unwrap_or_else(|| panic!("no response to {message}: {answer:?}"))
    }
}
