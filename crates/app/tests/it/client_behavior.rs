//! What real clients do that the protocol does not demand: stray messages, subfolders, and limits on the size of answers.

use crate::support;

use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient, initialize_params};

const TEXT: [&str; 3] = ["--answers", "text", "--no-watch"];

/// The text of an answer.
fn call_text(client: &mut StdioClient, tool: &str, arguments: &Value) -> String {
    let response = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {response}")).to_owned()
}

#[test]
fn stray_messages_before_the_session_do_not_end_the_server() {
    let project = Project::service();
    let stray = [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
        r#"{"jsonrpc":"2.0","method":"nothing/known"}"#,
        r#"{"jsonrpc":"2.0","method":"initialize","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#,
        "no JSON",
        "[]",
        "",
    ];
    for line in stray {
        let mut client = StdioClient::raw(project.repository.root(), project.home.path(), &TEXT);
        client.send_text(line);
        let id = client.ask("initialize", initialize_params("2025-11-25"));
        let opened = client.response(id);
        assert_eq!(opened["result"]["protocolVersion"], "2025-11-25", "{line}: {opened}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let text = call_text(&mut client, "search_code", &json!({ "query": "validate_token" }));
        assert!(text.contains("fn validate_token"), "{line}: {text}");
    }
}

#[test]
fn stray_messages_in_a_session_do_not_end_the_server() {
    let project = Project::service();
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &TEXT);
    for line in [
        "no JSON",
        "{",
        "[]",
        "null",
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"nothing/known","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":7}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711}}"#,
    ] {
        client.send_text(line);
        let text = call_text(&mut client, "search_code", &json!({ "query": "validate_token" }));
        assert!(text.contains("fn validate_token"), "{line}: {text}");
    }
}

#[test]
fn offers_may_be_cached_by_clients_that_ask_for_a_lifetime() {
    let project = Project::service();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut client = StdioClient::raw(project.repository.root(), project.home.path(), &TEXT);
    for method in ["server/discover", "tools/list"] {
        let answer = client.request(method, json!({ "_meta": meta }));
        assert!(answer["result"]["ttlMs"].as_u64().is_some_and(|time| time >= 60_000), "{method}: {answer}");
    }
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &TEXT);
    let listed = client.request("tools/list", json!({}));
    assert!(listed["result"].get("ttlMs").is_none(), "earlier revisions have no such field");
}

#[test]
fn agents_in_a_subfolder_learn_what_paths_are_relative_to() {
    let project = Project::indexed(&[
        ("src/lib.rs", "pub fn outer() {}\n"),
        ("tools/gen/src/lib.rs", "pub fn inner() { helper() }\nfn helper() {}\n"),
        ("tools/gen/src/only.rs", "pub fn lonely() {}\n"),
    ]);
    let folder = project.repository.root().join("tools/gen");
    let mut agent = StdioClient::open(&folder, project.home.path(), &TEXT);
    let first = call_text(&mut agent, "search_code", &json!({ "query": "lonely" }));
    assert!(first.starts_with("Paths are relative to ") && first.contains("not to tools/gen/"), "{first}");
    assert!(first.contains("tools/gen/src/only.rs"), "{first}");
    // Paths from the folder work, but those from the root, as in answers, come first.
    let outline = |agent: &mut StdioClient, path: &str| call_text(agent, "get_file_outline", &json!({ "path": path }));
    let second = outline(&mut agent, "src/only.rs");
    assert!(second.contains("fn lonely") && !second.contains("Paths are relative"), "{second}");
    assert!(outline(&mut agent, "src/lib.rs").contains("fn outer"));
    assert!(outline(&mut agent, "tools/gen/src/lib.rs").contains("fn inner"));
    for (filter, expected) in [("src/o*.rs", "fn lonely"), ("src/l*.rs", "fn outer"), ("src/only.rs", "fn lonely")] {
        let query = json!({ "pattern": "fn ", "path_filter": filter });
        let text = call_text(&mut agent, "grep_code", &query);
        assert!(text.contains(expected), "{filter}: {text}");
    }
    // At the root there is nothing to say, and the contracts' JSON starts at the root only.
    let mut agent = StdioClient::open(project.repository.root(), project.home.path(), &TEXT);
    let text = call_text(&mut agent, "search_code", &json!({ "query": "lonely" }));
    assert!(!text.contains("relative to"), "{text}");
    let mut json_client = StdioClient::open(&folder, project.home.path(), &["--no-watch"]);
    let response = json_client
        .request("tools/call", json!({ "name": "get_file_outline", "arguments": { "path": "src/only.rs" } }));
    assert_eq!(response["result"]["isError"], true, "{response}");
}

/// Opens a session as a client with this name.
fn open_as(project: &Project, client: &str) -> StdioClient {
    let mut pipe = StdioClient::raw(project.repository.root(), project.home.path(), &TEXT);
    let mut params = initialize_params("2025-11-25");
    params["clientInfo"]["name"] = json!(client);
    pipe.request("initialize", params);
    pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    pipe
}

#[test]
fn answers_stay_within_the_limit_of_a_client() {
    let body: String = (0..600).map(|line| format!("    log(\"line {line}\", \"\\\\quoted\\\\\");\n")).collect();
    let calls: String =
        (0..400).map(|number| format!("pub fn caller_{number}() {{ target(\"{number}\"); }}\n")).collect();
    let project = Project::indexed(&[
        ("src/long.rs", &format!("pub fn target(text: &str) {{\n{body}}}\nfn log(a: &str, b: &str) {{}}\n")),
        ("src/callers.rs", &format!("use crate::long::target;\n{calls}")),
    ]);
    project.repository.commit("all");
    project.repository.write("src/callers.rs", calls.replace("target(", "other(")).commit("changed");
    let calls = [
        ("search_code", json!({ "query": "caller", "limit": 200 })),
        ("grep_code", json!({ "pattern": "\"", "limit": 1000 })),
        ("read_code", json!({ "what": ["target"], "max_tokens": 9000 })),
        ("read_code", json!({ "what": ["src/long.rs:1-500", "src/callers.rs:1-300"], "max_tokens": 20000 })),
        ("find_references", json!({ "symbol_name": "log", "limit": 500 })),
        ("get_call_graph", json!({ "symbol_name": "log", "limit": 500 })),
        ("get_file_outline", json!({ "path": "src/callers.rs" })),
        ("diff_context", json!({ "base_ref": "HEAD~1", "head_ref": "HEAD" })),
    ];
    let json_chars = |text: &str| serde_json::to_string(text).map_or(0, |json| json.encode_utf16().count());
    let (mut cline, mut copilot) = (open_as(&project, "@cline/core"), open_as(&project, "copilot-cli"));
    let mut other = open_as(&project, "another");
    for (tool, arguments) in &calls {
        let whole = call_text(&mut other, tool, arguments);
        let text = call_text(&mut cline, tool, arguments);
        assert!(json_chars(&text) <= 7_720, "{tool} {arguments}: {}", json_chars(&text));
        assert!(json_chars(&text) >= 4_000 || text == whole, "{tool} {arguments}: {}\n{text}", json_chars(&text));
        assert!(text == whole || !text.contains("… cut to the size"), "{tool} {arguments}: {text}");
        let text = call_text(&mut copilot, tool, arguments);
        assert!(text.len() <= 20_200, "{tool} {arguments}: {}", text.len());
    }
    // Codex passes on more for the models that it knows.
    let mut codex = open_as(&project, "codex-mcp-client");
    let mut size = |model: &str| {
        let meta = json!({ "x-codex-turn-metadata": { "model": model } });
        let (tool, arguments) = &calls[3];
        let response = codex.request("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }));
        response["result"]["content"][0]["text"].as_str().map_or(0, str::len)
    };
    assert!(size("local-model") <= 11_700);
    assert!(size("gpt-6.1-sol") > 20_000);
}
