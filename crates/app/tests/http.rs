//! The HTTP transport: who is let in, who is sent away, and with which status.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use support::Project;
use support::client::{Client, POSTED, Server, Web, hello, http};

fn server(project: &Project, args: &[&str], env: &[(&str, &str)]) -> Server {
    let mut all = vec!["--transport", "http", "--port", "0"];
    all.extend(args);
    Server::start(project.repository.root(), project.home.path(), &all, env)
}

fn project() -> Project {
    Project::indexed(&[("a.rs", "pub fn only_one() {}\n")])
}

fn opening() -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello("2025-11-25") }).to_string().into_bytes()
}

#[test]
fn foreign_hosts_and_origins_are_sent_away() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let post = |more: (&str, &str)| {
        let mut headers = POSTED.to_vec();
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
fn a_request_that_names_its_host_or_origin_twice_or_in_two_ways_is_bad() {
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
fn a_server_answers_to_the_names_that_it_was_given() {
    let project = project();
    let server = server(&project, &["--allowed-host", "code.example.org", "--allowed-host", "Other.example"], &[]);
    let address = server.address();
    let post = |more: &[(&str, &str)]| {
        let headers: Vec<(&str, &str)> = POSTED.iter().chain(more).copied().collect();
        http(&address, "POST /mcp", &headers, &opening()).status
    };
    assert_eq!(post(&[("Host", "code.example.org")]), 200);
    assert_eq!(post(&[("Host", "code.example.org:8443"), ("Origin", "https://code.example.org:8443")]), 200);
    assert_eq!(post(&[("Host", "other.example"), ("Origin", "http://code.example.org")]), 200);
    assert_eq!(post(&[("Host", "code.example.org"), ("Origin", "https://evil.example")]), 403);
    assert_eq!(post(&[("Host", "x.code.example.org")]), 403);
    let refused = project.ends("serve-mcp --transport http --allowed-host https://code.example.org", 2);
    assert!(refused.contains("--allowed-host"), "{refused}");
}

#[test]
fn a_session_ends_with_204_and_wildcards_are_taken() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let accepts = |value: &str| http(&address, "POST /mcp", &[POSTED[0], ("Accept", value)], &opening());
    for value in ["*/*", "application/*, text/*", "application/json, */*;q=0.1"] {
        assert_eq!(accepts(value).status, 200, "{value}");
    }
    assert_eq!(http(&address, "POST /mcp", &POSTED[..1], &opening()).status, 200, "nothing said is anything taken");
    assert_eq!((accepts("text/html").status, accepts("application/json").status), (406, 406));
    let opened = accepts("*/*");
    let session = opened.header("mcp-session-id").expect("a session");
    let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")];
    let ended = http(&address, "DELETE /mcp", &headers, b"");
    assert_eq!((ended.status, ended.body.as_str()), (204, ""));
    let gone = http(&address, "POST /mcp", &[POSTED, &headers].concat(), &opening());
    assert_eq!(gone.status, 404, "{gone:?}");
}

/// Connections that send half a request and stay.
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
fn half_open_connections_keep_nobody_out() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let mut half = half_open(&address, 700);
    assert_eq!(http(&address, "GET /health", &[], b"").status, 200);
    // The first had to go for the last.
    half[0].set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
    assert!(!matches!(half[0].read(&mut [0]), Ok(1)), "it was sent away");
    let mut client = Web::session(&address);
    assert_eq!(client.call("locate_symbol", json!({ "name": "only_one" }))["total_candidates"], 1);
}

#[cfg(unix)]
#[test]
fn a_server_with_few_descriptors_lets_others_in() {
    let project = project();
    // Few enough for the limit of the process to be met before that of connections.
    let server =
        Server::limited(project.repository.root(), project.home.path(), 40, &["--transport", "http", "--port", "0"]);
    let address = server.address();
    for _ in 0..3 {
        let half = half_open(&address, 200);
        assert_eq!(http(&address, "GET /health", &[], b"").status, 200);
        drop(half);
    }
    let mut client = Web::session(&address);
    assert_eq!(client.call("locate_symbol", json!({ "name": "only_one" }))["total_candidates"], 1);
}

#[test]
fn a_token_is_required_where_it_is_asked_for() {
    let project = project();
    let secret = "a-secret-of-some-length";
    let given = server(&project, &["--require-token"], &[("CODECOMPASS_TOKEN", secret)]);
    let address = given.address();
    let post = |header: Option<String>| {
        let mut headers = POSTED.to_vec();
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
    // Without the variable one is made, kept, and only its owner can read it.
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
        let mode = std::fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn any_address_but_loopback_requires_a_token() {
    let project = project();
    let server = server(&project, &["--bind", "0.0.0.0"], &[]);
    let port = server.address().rsplit(':').next().expect("a port").to_owned();
    let answer = http(&format!("127.0.0.1:{port}"), "POST /mcp", POSTED, &opening());
    assert_eq!(answer.status, 401);
}

#[test]
fn bad_requests_are_refused_and_the_server_lives() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let huge = vec![b'x'; 8 << 20];
    assert_eq!(http(&address, "POST /mcp", POSTED, &huge).status, 413);
    type Headers = &'static [(&'static str, &'static str)];
    let table: [(&str, Headers, &[u8], &[u16]); 8] = [
        ("POST /mcp", POSTED, b"{", &[400]),
        ("POST /mcp", POSTED, b"", &[400]),
        ("POST /mcp", POSTED, b"[]", &[400]),
        ("POST /mcp", POSTED, b"\xff\xfe", &[400]),
        ("POST /mcp", &[("Content-Type", "text/plain"), ("Accept", "*/*")], b"{}", &[406, 415]),
        ("GET /nothing", &[], b"", &[404]),
        ("PUT /mcp", POSTED, b"{}", &[405]),
        ("POST /health", &[], b"", &[405]),
    ];
    for _ in 0..20 {
        for (head, headers, body, expected) in &table {
            let status = http(&address, head, headers, body).status;
            assert!(expected.contains(&status), "{head} {:?}: {status}", String::from_utf8_lossy(body));
        }
    }
    let mut client = Web::session(&address);
    assert_eq!(client.call("locate_symbol", json!({ "name": "only_one" }))["total_candidates"], 1);
}

#[test]
fn abandoned_sessions_make_room() {
    let project = project();
    let server = server(&project, &[], &[]);
    let address = server.address();
    let mut first = Web::session(&address);
    for _ in 0..300 {
        assert_eq!(http(&address, "POST /mcp", POSTED, &opening()).status, 200);
        // Who speaks stays.
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
    let mut tool = Web::stateless(&address).call("health_check", json!({}));
    for health in [&mut body, &mut tool] {
        health["uptime_seconds"] = json!(0);
    }
    assert_eq!(body, tool);
    assert_eq!((&body["status"], &body["prewarm_status"]), (&json!("ready"), &json!("skipped")), "{body}");
}

#[test]
fn a_signal_ends_it_gracefully() {
    let project = project();
    let mut server = server(&project, &[], &[]);
    let address = server.address();
    let _half = half_open(&address, 9);
    let pid = server.pid().to_string();
    std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs");
    assert_eq!(server.ends_within(Duration::from_secs(30)), Some(0));
}
