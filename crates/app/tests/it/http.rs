//! The HTTP transport: which requests are accepted or refused, and with which status.

use crate::support;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Project;
use support::client::{Client, HttpClient, POST_HEADERS, Server, StdioClient, http, initialize_params, wait_until};

fn server(project: &Project, args: &[&str], env: &[(&str, &str)]) -> Server {
    let mut all = vec!["--transport", "http", "--port", "0"];
    all.extend(args);
    Server::start(project.repository.root(), project.home.path(), &all, env)
}

fn project() -> Project {
    Project::indexed(&[("a.rs", "pub fn only_one() {}\n")])
}

fn opening() -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25") })
        .to_string()
        .into_bytes()
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let post = |more: (&str, &str)| {
        let mut headers = POST_HEADERS.to_vec();
        headers.push(more);
        http(&address, "POST /mcp", &headers, &opening()).status
    };
    assert_eq!(post(("Origin", "https://evil.example")), 403);
    assert_eq!(post(("Origin", "null")), 403);
    assert_eq!(post(("Host", "evil.example")), 403);
    assert_eq!(post(("Origin", &format!("http://{address}"))), 200);
    assert_eq!(post(("X-Nothing", "special")), 200);
    let health = |headers: &[(&str, &str)]| http(&address, "GET /health", headers, b"").status;
    assert_eq!(health(&[("Host", "evil.example")]), 403);
    assert_eq!(health(&[("Origin", "https://evil.example")]), 403);
    assert_eq!(health(&[]), 200);
}

#[test]
fn duplicate_host_or_origin_is_refused() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let get = |head: &str, headers: &[(&str, &str)]| http(&address, head, headers, b"").status;
    let here = format!("http://{address}");
    assert_eq!(get("GET /health", &[("Host", &address), ("Host", &address)]), 400);
    assert_eq!(get("GET /health", &[("Host", &address), ("Host", "evil.example")]), 400);
    assert_eq!(get("GET /health", &[("Origin", &here), ("Origin", "http://evil.example")]), 400);
    assert_eq!(get("GET /health", &[("Host", "")]), 400);
    assert_eq!(get("GET http://evil.example/health", &[]), 400);
    assert_eq!(get(&format!("GET {here}/health"), &[]), 200);
}

#[test]
fn allowed_hosts_are_accepted() {
    let project = project();
    let server = server(&project, &["--allowed-host", "code.example.org", "--allowed-host", "Other.example"], &[]);
    let address = server.address();
    let post = |more: &[(&str, &str)]| {
        let headers: Vec<(&str, &str)> = POST_HEADERS.iter().chain(more).copied().collect();
        http(&address, "POST /mcp", &headers, &opening()).status
    };
    assert_eq!(post(&[("Host", "code.example.org")]), 200);
    assert_eq!(post(&[("Host", "code.example.org:8443"), ("Origin", "https://code.example.org:8443")]), 200);
    assert_eq!(post(&[("Host", "other.example"), ("Origin", "http://code.example.org")]), 200);
    assert_eq!(post(&[("Host", "code.example.org"), ("Origin", "https://evil.example")]), 403);
    assert_eq!(post(&[("Host", "x.code.example.org")]), 403);
    let refused = project.run_expecting("serve-mcp --transport http --allowed-host https://code.example.org", 2);
    assert!(refused.contains("--allowed-host"), "{refused}");
}

#[test]
fn session_end_and_wildcard_accept() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let accepts = |value: &str| http(&address, "POST /mcp", &[POST_HEADERS[0], ("Accept", value)], &opening());
    for value in ["*/*", "application/*, text/*", "application/json, */*;q=0.1"] {
        assert_eq!(accepts(value).status, 200, "{value}");
    }
    assert_eq!(
        http(&address, "POST /mcp", &POST_HEADERS[..1], &opening()).status,
        200,
        "without `Accept`, any type is accepted"
    );
    assert_eq!((accepts("text/html").status, accepts("application/json").status), (406, 406));
    let opened = accepts("*/*");
    let session = opened.header("mcp-session-id").expect("a session");
    let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")];
    let ended = http(&address, "DELETE /mcp", &headers, b"");
    assert_eq!((ended.status, ended.body.as_str()), (204, ""));
    let gone = http(&address, "POST /mcp", &[POST_HEADERS, &headers].concat(), &opening());
    assert_eq!(gone.status, 404, "{gone:?}");
}

/// Opens connections that send half a request and stay open.
fn half_open(address: &str, count: usize) -> Vec<TcpStream> {
    let halves = [
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
        "",
    ];
    let open = |half: &str| {
        let mut stream = TcpStream::connect(address).ok()?;
        stream.write_all(half.as_bytes()).ok()?;
        Some(stream)
    };
    halves.iter().cycle().take(count).filter_map(|half| open(half)).collect()
}

#[test]
fn half_open_connections_do_not_block_others() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let mut half = half_open(&address, 700);
    assert_eq!(http(&address, "GET /health", &[], b"").status, 200);
    // The first connection was closed for the last one.
    half[0].set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
    assert!(!matches!(half[0].read(&mut [0]), Ok(1)), "the connection was closed");
    let mut client = HttpClient::session(&address);
    assert_eq!(client.call("locate_symbol", json!({ "name": "only_one" }))["total_candidates"], 1);
}

#[cfg(unix)]
#[test]
fn few_descriptors_still_accept_clients() {
    let project = project();
    // Few enough that the limit of the process is reached before that of connections.
    let server =
        Server::limited(project.repository.root(), project.home.path(), 40, &["--transport", "http", "--port", "0"]);
    let address = server.address();
    for _ in 0..3 {
        let half = half_open(&address, 200);
        assert_eq!(http(&address, "GET /health", &[], b"").status, 200);
        drop(half);
    }
    let mut client = HttpClient::session(&address);
    assert_eq!(client.call("locate_symbol", json!({ "name": "only_one" }))["total_candidates"], 1);
}

#[test]
fn token_is_required_when_configured() {
    let project = project();
    let secret = "a-secret-of-some-length";
    let given = server(&project, &["--require-token"], &[("CODECOMPASS_TOKEN", secret)]);
    let address = given.address();
    let post = |header: Option<String>| {
        let mut headers = POST_HEADERS.to_vec();
        if let Some(header) = &header {
            headers.push(("Authorization", header));
        }
        http(&address, "POST /mcp", &headers, &opening())
    };
    let refused = post(None);
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")), "{refused:?}");
    assert_eq!(post(Some("Bearer wrong-secret-of-length".into())).status, 401);
    assert_eq!(post(Some(format!("Bearer {secret}"))).status, 200);
    assert_eq!(http(&address, "GET /health", &[], b"").status, 401);
    // Without the variable a token is created and kept, and only its owner can read it.
    let made = server(&project, &["--require-token"], &[]);
    made.address();
    let file = project.home.path().join("http-token");
    let token = std::fs::read_to_string(&file).expect("it was made");
    let headers = [("Authorization", format!("Bearer {token}"))];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(http(&made.address(), "GET /health", &headers, b"").status, 200);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).expect("it exists").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn any_address_but_loopback_requires_a_token() {
    let project = project();
    let server = server(&project, &["--bind", "0.0.0.0"], &[]);
    let port = server.address().rsplit(':').next().expect("a port").to_owned();
    let answer = http(&format!("127.0.0.1:{port}"), "POST /mcp", POST_HEADERS, &opening());
    assert_eq!(answer.status, 401);
}

#[test]
fn bad_requests_are_refused() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let huge = vec![b'x'; 8 << 20];
    assert_eq!(http(&address, "POST /mcp", POST_HEADERS, &huge).status, 413);
    type Headers = &'static [(&'static str, &'static str)];
    let table: [(&str, Headers, &[u8], &[u16]); 8] = [
        ("POST /mcp", POST_HEADERS, b"{", &[400]),
        ("POST /mcp", POST_HEADERS, b"", &[400]),
        ("POST /mcp", POST_HEADERS, b"[]", &[400]),
        ("POST /mcp", POST_HEADERS, b"\xff\xfe", &[400]),
        ("POST /mcp", &[("Content-Type", "text/plain"), ("Accept", "*/*")], b"{}", &[406, 415]),
        ("GET /nothing", &[], b"", &[404]),
        ("PUT /mcp", POST_HEADERS, b"{}", &[405]),
        ("POST /health", &[], b"", &[405]),
    ];
    for _ in 0..20 {
        for (head, headers, body, expected) in &table {
            let status = http(&address, head, headers, body).status;
            assert!(expected.contains(&status), "{head} {:?}: {status}", String::from_utf8_lossy(body));
        }
    }
    let mut client = HttpClient::session(&address);
    assert_eq!(client.call("locate_symbol", json!({ "name": "only_one" }))["total_candidates"], 1);
}

#[test]
fn abandoned_sessions_are_evicted() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let mut first = HttpClient::session(&address);
    for _ in 0..300 {
        assert_eq!(http(&address, "POST /mcp", POST_HEADERS, &opening()).status, 200);
        // A session that sends requests stays open.
        first.call("locate_symbol", json!({ "name": "only_one" }));
    }
}

#[test]
fn health_has_the_body_of_the_tool() {
    let project = project();
    let server = server(&project, &["--no-prewarm"], &[]);
    let address = server.address();
    let answer = http(&address, "GET /health", &[], b"");
    let mut body: Value = serde_json::from_str(&answer.body).expect("JSON");
    let mut tool = HttpClient::stateless(&address).call("health_check", json!({}));
    for health in [&mut body, &mut tool] {
        health["uptime_seconds"] = json!(0);
    }
    assert_eq!(body, tool);
    assert_eq!((&body["status"], &body["prewarm_status"]), (&json!("ready"), &json!("skipped")), "{body}");
}

#[test]
fn signal_shuts_down_gracefully() {
    let project = project();
    let mut server = server(&project, &[], &[]);
    let address = server.address();
    let _half = half_open(&address, 9);
    let pid = server.pid().to_string();
    std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs");
    assert_eq!(server.exits_within(Duration::from_secs(30)), Some(0));
}

/// Sends bytes and returns everything received until the server closes; `None` if that exceeds the time limit.
fn exchange(address: &str, sent: &[u8], limit: Duration) -> Option<String> {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(limit)).expect("a timeout can be set");
    // A server that refuses a request does not read the rest of it.
    let _ = stream.write_all(sent);
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
            Err(_) => break,
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Paths that look like `/mcp` but are not.
const NOT_MCP: &[&str] =
    &["/mcp/", "/mcp/x", "/mcp/mcp", "//mcp", "/mcp//", "/%6dcp", "/mcp%2f", "/mcp%2Fx", "/x/../mcp", "/MCP", "/mcp;x"];

#[test]
fn only_the_exact_mcp_path_is_served() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    for path in NOT_MCP {
        for method in ["POST", "GET", "DELETE"] {
            let answer = http(&address, &format!("{method} {path}"), POST_HEADERS, &opening());
            assert_eq!((answer.status, answer.header("mcp-session-id")), (404, None), "{method} {path}");
        }
        // The server does not wait for a body that never comes.
        let half =
            format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: 50\r\n\r\n{{");
        let answer = exchange(&address, half.as_bytes(), Duration::from_secs(10));
        assert!(answer.as_ref().is_some_and(|answer| answer.starts_with("HTTP/1.1 404")), "{path}: {answer:?}");
    }
    // With a query or in absolute form the path is still `/mcp`, with the same checks.
    for target in ["/mcp?x=1", "/mcp?", &format!("http://{address}/mcp")] {
        assert_eq!(http(&address, &format!("POST {target}"), POST_HEADERS, &opening()).status, 200, "{target}");
        let wrong = http(&address, &format!("POST {target}"), POST_HEADERS, b"{\"jsonrpc\":\"2.0\",\"id\":7}");
        assert_eq!((wrong.status, &wrong.messages()[0]["id"]), (400, &json!(7)), "{target}: {wrong:?}");
    }
}

#[test]
fn the_explorer_answers_paths_below_mcp() {
    let project = project();
    let server = server(&project, &["--explorer"], &[]);
    let address = server.address();
    for path in NOT_MCP {
        let answer = http(&address, &format!("POST {path}"), POST_HEADERS, &opening());
        assert_eq!((answer.status, answer.header("mcp-session-id")), (405, None), "{path}");
        assert_eq!(http(&address, &format!("GET {path}"), POST_HEADERS, b"").status, 401, "{path}");
    }
}

#[test]
fn session_limit_holds_on_every_path() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let targets = ["/mcp?x=1".to_owned(), format!("http://{address}/mcp"), "/mcp".to_owned()];
    let first = http(&address, "POST /mcp", POST_HEADERS, &opening());
    let first = first.header("mcp-session-id").expect("a session").to_owned();
    let ping = || {
        let headers = [("Mcp-Session-Id", first.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
        http(&address, "POST /mcp", &[POST_HEADERS, &headers].concat(), br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)
            .status
    };
    assert_eq!(ping(), 200);
    for target in targets.iter().cycle().take(300) {
        assert_eq!(http(&address, &format!("POST {target}"), POST_HEADERS, &opening()).status, 200, "{target}");
    }
    assert_eq!(ping(), 404, "the session that was silent longest was closed");
}

/// Returns the resident memory of a process in bytes, where the system reports it.
fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}

/// Returns by how many MiB the resident memory of a process grows during `run`.
fn growth(pid: u32, run: impl FnOnce()) -> u64 {
    let before = resident(pid);
    run();
    resident(pid).zip(before).map_or(0, |(after, before)| after.saturating_sub(before)) >> 20
}

#[test]
fn unknown_session_ids_are_not_kept() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let request = |number: usize, length: usize| {
        let id = format!("{number:08}{}", "x".repeat(length - 8));
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\nMcp-Session-Id: {id}\r\n\r\n{ping}",
            ping.len()
        )
    };
    let mut stream = TcpStream::connect(&address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
    let mut post = |number: usize| {
        stream.write_all(request(number, 4_000).as_bytes()).expect("it is taken");
        let (mut answer, mut chunk) = (String::new(), [0; 4096]);
        while !answer.ends_with("Session not found") {
            let count = stream.read(&mut chunk).expect("an answer");
            assert!(count > 0, "{answer}");
            answer += &String::from_utf8_lossy(&chunk[..count]);
        }
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    };
    // The memory for the first requests stays allocated, whatever they are.
    (3_000..3_100).for_each(&mut post);
    let grown = growth(server.pid(), || (0..3_000).for_each(&mut post));
    assert!(grown < 8, "3,000 ids of 4 KB: {grown} MiB");
    let grown = growth(server.pid(), || {
        for number in 0..3_000 {
            let answer = exchange(&address, request(number, 200_000).as_bytes(), Duration::from_secs(30));
            let answer = answer.expect("the server answers or closes");
            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
        }
    });
    assert!(grown < 32, "3,000 ids of 200 KB: {grown} MiB");
    let many: String = (0..60).map(|number| format!("X-{number}: {}\r\n", "x".repeat(1_000))).collect();
    let head = format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{many}\r\n");
    let answer = exchange(&address, head.as_bytes(), Duration::from_secs(30)).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert_eq!(http(&address, "GET /health", &[], b"").status, 200);
}

#[test]
fn workspace_and_ref_spellings_are_not_kept() {
    let project = project();
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch"]);
    let pid = client.server.pid();
    let root = project.repository.root().canonicalize().expect("it exists").display().to_string();
    // The same folder, spelled with `//` at a different position each time.
    let units = (4_000 - root.len()) / 2;
    let spelling = |number: usize| {
        let (first, second) = (number % units, units - 1 - number / units);
        let unit = |at: usize| if at == first || at == second { "//" } else { "/." };
        root.clone() + &(0..units).map(unit).collect::<String>()
    };
    let mut locate = |number: usize| {
        let answer = client.call("locate_symbol", json!({ "name": "only_one", "workspace": spelling(number) }));
        assert_eq!(answer["total_candidates"], 1, "{answer}");
    };
    (3_000..3_200).for_each(&mut locate);
    let grown = growth(pid, || (0..3_000).for_each(&mut locate));
    assert!(grown < 6, "3,000 spellings of 4 KB: {grown} MiB");
    // The same commit, spelled with `~0` or `^0` for each bit of the number.
    let mut switch = |number: usize| {
        let steps: String = (0..12).map(|bit| if number >> bit & 1 == 0 { "~0" } else { "^0" }).collect();
        client.result("switch_ref", json!({ "ref": format!("main{steps}") }));
    };
    (0..200).for_each(&mut switch);
    let grown = growth(pid, || (200..3_200).for_each(&mut switch));
    assert!(grown < 6, "3,000 spellings of a ref: {grown} MiB");
}

/// An expression that is slow on [`slow_project`], until the time limit.
const SLOW: &str = ".{0,500}q.{0,500}z.{0,500}w";

/// A repository in which [`SLOW`] is slow.
fn slow_project() -> Project {
    let mut state = 1u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ['q', 'z', 'x', ' '][(state >> 60) as usize % 4]
    };
    let mut line = || "w ".to_owned() + &(0..1000).map(|_| letter()).collect::<String>();
    let lines: Vec<String> = (0..600).map(|_| line()).collect();
    Project::indexed(&[("letters.txt", &(lines.join("\n") + "\n")), ("a.rs", "pub fn only_one() {}\n")])
}

/// Sends calls of `grep_code`, each on its own connection, and does not wait for the answers.
fn send_greps(address: &str, session: &str, count: usize) -> Vec<TcpStream> {
    let send = |id: usize| {
        let params = json!({ "name": "grep_code", "arguments": { "pattern": SLOW } });
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string();
        let mut stream = TcpStream::connect(address).expect("the server listens");
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\nMcp-Session-Id: {session}\r\n\
             MCP-Protocol-Version: 2025-11-25\r\n\r\n",
            message.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(message.as_bytes())).expect("it is taken");
        // The head of the answer is sent when the call is accepted.
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
        let mut first = [0; 12];
        stream.read_exact(&mut first).expect("an answer begins");
        assert_eq!(&first, b"HTTP/1.1 200");
        stream
    };
    (1000..1000 + count).map(send).collect()
}

#[test]
fn hang_up_cancels_and_other_clients_are_not_delayed() {
    let project = slow_project();
    let server = server(&project, &["--no-watch", "--no-prewarm"], &[]);
    let address = server.address();
    let opened = http(&address, "POST /mcp", POST_HEADERS, &opening());
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    let mut greps = send_greps(&address, &session, 120);
    let mut other = HttpClient::session(&address);
    let quick = |client: &mut HttpClient| {
        let began = Instant::now();
        assert_eq!(client.call("grep_code", json!({ "pattern": "only_o.e" }))["total_matches"], 1);
        assert_eq!(client.call("locate_symbol", json!({ "name": "only_one" }))["total_candidates"], 1);
        began.elapsed()
    };
    let while_they_wait = quick(&mut other);
    assert!(while_they_wait < Duration::from_secs(8), "another client waited {while_they_wait:?}");
    // Requests beyond the capacity of the queue were refused at once. Which ones depends on how fast they were sent.
    greps.iter().for_each(|stream| stream.set_nonblocking(true).expect("it can be set"));
    let mut answer = [0; 2048];
    let is_refused = wait_until(Duration::from_secs(20), || {
        greps.iter_mut().any(|stream| {
            let count = stream.read(&mut answer).unwrap_or_default();
            String::from_utf8_lossy(&answer[..count]).contains("-32000")
        })
    });
    assert!(is_refused, "calls are refused when the queue is full");
    drop(greps);
    // The session's next calls do not wait for those of closed connections.
    let ask = || {
        let params = json!({ "name": "grep_code", "arguments": { "pattern": "only_o.e" } });
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string();
        let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
        http(&address, "POST /mcp", &[POST_HEADERS, &headers].concat(), message.as_bytes()).body
    };
    let began = Instant::now();
    let is_free = wait_until(Duration::from_secs(20), || ask().contains("total_matches"));
    assert!(is_free && began.elapsed() < Duration::from_secs(20), "the session waited {:?}", began.elapsed());
    // No work continues for closed connections: for at least a tenth of a second, no thread uses the processor.
    #[cfg(target_os = "linux")]
    {
        let is_idle = wait_until(Duration::from_secs(20), || {
            let before = ticks(server.pid());
            std::thread::park_timeout(Duration::from_millis(300));
            ticks(server.pid()) - before <= 6
        });
        assert!(is_idle, "the server still uses the processor");
    }
}

/// Returns the processor time of a process, in hundredths of a second.
#[cfg(target_os = "linux")]
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields = stat.rsplit_once(')').expect("a name").1.split_ascii_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

/// Sends one request as another user and returns everything received.
#[cfg(target_os = "linux")]
fn http_as(user: u32, address: &str, request: &str) -> String {
    use std::os::unix::process::CommandExt;
    let (host, port) = address.rsplit_once(':').expect("a port");
    let script = format!("exec 3<>/dev/tcp/{host}/{port} && printf '{request}' >&3 && cat <&3");
    let output = std::process::Command::new("bash").args(["-c", &script]).current_dir("/").uid(user).output();
    let output = output.expect("bash runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "a test that is not run says so")]
fn other_users_are_refused_unless_a_token_is_required() {
    use std::os::unix::fs::MetadataExt;
    let project = project();
    if std::fs::metadata(project.home.path()).expect("it exists").uid() != 0 {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let get = "GET /health HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n";
    let posted = String::from_utf8(opening()).expect("UTF-8");
    let post = format!(
        "POST /mcp HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\nContent-Type: application/json\\r\\n\
         Accept: application/json, text/event-stream\\r\\nContent-Length: {}\\r\\n\\r\\n{posted}",
        posted.len()
    );
    for args in [&[][..], &["--explorer"], &["--bind", "::1"]] {
        let server = server(&project, args, &[]);
        let address = server.address();
        let host = address.replace(['[', ']'], "");
        for request in [get, &post] {
            assert!(http_as(0, &host, request).starts_with("HTTP/1.1 200"), "{args:?}: the same user");
            let refused = http_as(65534, &host, request);
            assert!(refused.starts_with("HTTP/1.1 401") && refused.contains("--require-token"), "{args:?}: {refused}");
        }
    }
    let secret = "a-secret-of-some-length";
    let with_token = server(&project, &["--require-token"], &[("CODECOMPASS_TOKEN", secret)]);
    let request = get.replace("Connection", &format!("Authorization: Bearer {secret}\\r\\nConnection"));
    assert!(http_as(65534, &with_token.address(), &request).starts_with("HTTP/1.1 200"), "with the token");
}
