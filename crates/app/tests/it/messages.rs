//! Malformed messages: every request with an id gets one answer, with that id, on a pipe and on HTTP.

use crate::support;

use std::io::{Read as _, Write as _};
use std::time::Duration;

use serde_json::{Value, json};
use support::Project;
use support::client::{Client as _, POST_HEADERS, Server, StdioClient, http, initialize_params};

/// Bodies of requests with the id 7, and the expected error codes.
const WRONG: &[(&str, i64)] = &[
    (r#""method":"tools/list","params":[]"#, -32602),
    (r#""method":"tools/list","params":[{}]"#, -32602),
    (r#""method":"tools/list","params":"all""#, -32602),
    (r#""method":"tools/list","params":12"#, -32602),
    (r#""method":"tools/list","params":false"#, -32602),
    (r#""method":"tools/list","params":null"#, -32602),
    (r#""method":"tools/list","params":{"_meta":"x"}"#, -32602),
    (r#""method":"tools/call","params":["locate_symbol"]"#, -32602),
    (r#""method":"tools/call","params":{}"#, -32602),
    (r#""method":"tools/call","params":{"name":7}"#, -32602),
    (r#""method":"tools/call","params":{"name":"locate_symbol","arguments":[]}"#, -32602),
    (r#""method":"ping","params":3"#, -32602),
    (r#""method":"initialize","params":{}"#, -32602),
    (r#""method":"no/such/method","params":[]"#, -32602),
    (r#""method":"no/such/method","params":{}"#, -32601),
    (r#""method":"no/such/method""#, -32601),
    (r#""method":"""#, -32601),
    (r#""method":7"#, -32600),
    (r#""method":null"#, -32600),
    (r#""method":{}"#, -32600),
    (r#""params":{}"#, -32600),
    (r#""method":"ping","result":{}"#, -32600),
];

fn project() -> Project {
    Project::indexed(&[("a.rs", "pub fn only_one() {}\n")])
}

fn message(rest: &str, id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#)
}

#[test]
fn invalid_request_on_stdio_gets_one_error() {
    let project = project();
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &[]);
    for (rest, code) in WRONG {
        for id in ["7", "\"seven\""] {
            client.send_text(&message(rest, id));
            // The next message is its answer, and no message comes between that and the next answer.
            let answer = client.receive();
            assert_eq!((answer["id"].to_string(), &answer["error"]["code"]), (id.to_owned(), &json!(code)), "{rest}");
            assert_eq!(client.request("ping", json!({}))["result"], json!({}), "after {rest}");
        }
    }
    assert_eq!(client.notifications, [] as [Value; 0]);
}

#[test]
fn invalid_request_on_http_gets_one_error() {
    let project = project();
    let args = ["--transport", "http", "--port", "0"];
    let server = Server::start(project.repository.root(), project.home.path(), &args, &[]);
    let address = server.address();
    let open = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-06-18") });
    let opened = http(&address, "POST /mcp", POST_HEADERS, open.to_string().as_bytes());
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    let in_session = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")];
    let in_session: Vec<(&str, &str)> = POST_HEADERS.iter().copied().chain(in_session).collect();
    for (rest, code) in WRONG {
        let answer = http(&address, "POST /mcp", &in_session, message(rest, "7").as_bytes());
        let messages = answer.messages();
        assert_eq!(messages.len(), 1, "{rest}: {answer:?}");
        assert_eq!((&messages[0]["id"], &messages[0]["error"]["code"]), (&json!(7), &json!(code)), "{rest}");
        if *code != -32601 {
            let answer = http(&address, "POST /mcp", POST_HEADERS, message(rest, "7").as_bytes());
            assert_eq!((answer.status, &answer.messages()[0]["id"]), (400, &json!(7)), "{rest}: {answer:?}");
        }
    }
}

#[test]
fn batch_gets_an_error_per_request() {
    let project = project();
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &[]);
    client.send_text(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"b","method":"tools/list"}]"#);
    let refused = client.receive();
    let told: Vec<(&Value, &Value)> =
        refused.as_array().expect("a batch").iter().map(|one| (&one["id"], &one["error"]["code"])).collect();
    assert_eq!(told, [(&json!(1), &json!(-32600)), (&json!("b"), &json!(-32600))]);
    client.send_text("[]");
    assert_eq!(client.receive()["error"]["code"], -32600);
}

#[test]
fn invalid_notification_is_ignored() {
    let project = project();
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &[]);
    for rest in [r#""params":[]"#, r#""params":7"#, r#""params":{"_meta":1}"#] {
        client.send_text(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/initialized",{rest}}}"#));
    }
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    assert_eq!(client.notifications, [] as [Value; 0]);
}

/// A script writes its requests and closes the pipe at once; its requests are still answered.
#[test]
fn requests_before_eof_are_answered() {
    let project = project();
    let mut server = Server::start(project.repository.root(), project.home.path(), &[], &[]);
    let (mut input, mut output) = server.pipes();
    let open = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-06-18") });
    let call = json!({ "name": "locate_symbol", "arguments": { "name": "only_one" } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call });
    let wrong = message(r#""method":"ping","params":[]"#, "3");
    write!(input, "{open}\n{call}\n{wrong}").expect("the server listens");
    drop(input);
    let mut said = String::new();
    output.read_to_string(&mut said).expect("the server answers");
    let messages: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let mut ids: Vec<i64> = messages.iter().filter_map(|message| message["id"].as_i64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3], "{said}");
    assert_eq!(server.exits_within(Duration::from_secs(30)), Some(0));
}
