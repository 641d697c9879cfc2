//! The encoder of the user: an endpoint on this machine, which may be absent or slow.

use crate::support;

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient, wait_until};

/// An endpoint that knows two topics, money and weather, whatever the words are.
struct Endpoint {
    address: String,
    texts: Arc<AtomicUsize>,
}

impl Endpoint {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = format!("http://{}/v1", listener.local_addr().expect("it has an address"));
        let texts = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&texts);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || while answer(&stream, &seen).is_some() {});
            }
        });
        Self { address, texts }
    }
}

/// Answers one request; `None` at the end of the connection.
fn answer(mut stream: &TcpStream, seen: &AtomicUsize) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request: Value = serde_json::from_slice(&body).ok()?;
    assert_eq!(request["model"], "topics");
    let texts: Vec<&str> = request["input"].as_array()?.iter().filter_map(Value::as_str).collect();
    seen.fetch_add(texts.len(), Ordering::Relaxed);
    let vector = |text: &str| {
        let about = |words: &[&str]| words.iter().any(|word| text.contains(word)) as u8;
        json!([about(&["wealth", "ledger_step"]), about(&["umbrella", "cloud_step"]), 0.1])
    };
    // In reverse, because the index says which is which.
    let data: Vec<Value> =
        texts.iter().enumerate().rev().map(|(at, text)| json!({ "index": at, "embedding": vector(text) })).collect();
    let body = json!({ "data": data }).to_string();
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .ok()
}

fn project() -> Project {
    Project::indexed(&[
        ("src/a.rs", "/// One step of the work.\npub fn ledger_step() { run(1) }\n"),
        ("src/b.rs", "/// One step of the work.\npub fn cloud_step() { run(2) }\n"),
        ("src/run.rs", "pub fn run(number: u32) {}\n"),
    ])
}

fn configure(project: &Project, url: &str, more: &str) {
    let text = format!("[query]\nembeddings = \"{url}\"\nembeddings_model = \"topics\"\n{more}");
    std::fs::write(project.home.path().join("config.toml"), text).expect("it can be written");
}

/// The name of the first hit for a question whose words do not decide.
fn first(client: &mut StdioClient, topic: &str) -> String {
    let query = format!("which step of the work does {topic} need");
    let answer = client.call("search_code", json!({ "query": query }));
    answer["results"][0]["name"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn vectors_are_made_in_the_background_and_reorder_hits() {
    let (project, endpoint) = (project(), Endpoint::start());
    configure(&project, &endpoint.address, "");
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch"]);
    let knows_both = wait_until(Duration::from_secs(60), || {
        first(&mut client, "wealth") == "ledger_step" && first(&mut client, "umbrella") == "cloud_step"
    });
    assert!(knows_both, "{}", first(&mut client, "umbrella"));
    // The explained sum is exact, with the encoder in it.
    let asked = json!({
        "query": "which step of the work does umbrella need", "result_path": "src/b.rs", "result_line_start": 2,
    });
    let explained = client.call("explain_ranking", asked);
    let scoring = explained["scoring"].as_object().unwrap_or_else(|| panic!("{explained}"));
    assert!(scoring["encoder"].as_f64() > Some(0.5), "{explained}");
    let units = |value: &Value| (value.as_f64().unwrap_or_default() * 1e6).round() as i64;
    let sum: i64 = scoring.iter().filter(|(key, _)| *key != "total").map(|(_, value)| units(value)).sum();
    assert_eq!(sum, units(&scoring["total"]), "{explained}");
    // Cached by content: a command and another server ask for nothing but the query.
    let before = endpoint.texts.load(Ordering::Relaxed);
    let again = project.run_ok("search \"which step of the work does umbrella need\" --json");
    let again: Value = serde_json::from_str(&again).expect("it is JSON");
    assert_eq!(again["results"][0]["name"], "cloud_step");
    assert_eq!(endpoint.texts.load(Ordering::Relaxed), before + 1);
}

#[test]
fn search_works_without_the_endpoint() {
    let project = project();
    let mut plain = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch"]);
    let expected = plain.call("search_code", json!({ "query": "which step of the work does umbrella need" }));
    // Nobody listens on a port that was just closed.
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free");
    configure(&project, &format!("http://{closed}/v1"), "");
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch"]);
    let answer = client.call("search_code", json!({ "query": "which step of the work does umbrella need" }));
    assert_eq!(answer["results"], expected["results"]);
}

#[test]
fn code_stays_on_this_machine_unless_the_user_allows_more() {
    let project = project();
    configure(&project, "http://192.0.2.1/v1", "");
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch"]);
    let answer = client.call("search_code", json!({ "query": "which step of the work" }));
    let warnings = answer["metadata"]["warnings"].to_string();
    assert!(warnings.contains("embeddings_remote"), "{answer}");
    // A repository cannot name an endpoint.
    std::fs::remove_file(project.home.path().join("config.toml")).expect("it exists");
    project.repository.write(".codecompass/config.toml", "[query]\nembeddings = \"http://127.0.0.1:9/v1\"\n");
    let shown = project.run_ok("config show --json");
    assert!(!shown.contains("127.0.0.1:9/v1"), "{shown}");
}
