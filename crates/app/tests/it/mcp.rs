//! The server from its clients' perspective: the contracts' tools, errors and rules, over a pipe and over HTTP.

use crate::support;

use std::path::Path;
use std::time::Duration;

use codecompass_testkit::{Home, Repository};
use codecompass_wire as wire;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use support::Project;
use support::client::{Client, HttpClient, Server, StdioClient, initialize_params, wait_until};

const JWT: &str = "use crate::auth::Claims;

/// Checks tokens.
pub struct JwtValidator {
    key: String,
}

impl JwtValidator {
    pub fn new(key: String) -> Self {
        Self { key }
    }

    /// Whether the token is valid.
    pub fn validate_token(&self, token: &str) -> bool {
        token.len() > self.key.len()
    }
}
";

const RATE: &str = "def check_rate_limit(request):
    \"\"\"Refuses a request when there were too many.\"\"\"
    return request.count < 10
";

fn project() -> Project {
    let project = Project::with_files(&[("src/auth/jwt.rs", JWT), ("middleware/rate_limit.py", RATE)]);
    project.repository.branch("feat/auth");
    project.repository.write("src/auth/scope.rs", "pub fn check_scope() {}\n");
    project.repository.commit("scopes");
    project.repository.checkout("main");
    project
}

fn indexed() -> Project {
    let project = project();
    project.run_ok("index");
    project.run_ok("index --ref feat/auth");
    project
}

fn pipe(project: &Project, args: &[&str]) -> StdioClient {
    StdioClient::open(project.repository.root(), project.home.path(), args)
}

fn http(project: &Project, args: &[&str]) -> Server {
    let mut all = vec!["--transport", "http", "--port", "0"];
    all.extend(args);
    Server::start(project.repository.root(), project.home.path(), &all, &[])
}

/// One valid call of every tool.
fn calls() -> Vec<(&'static str, Value)> {
    let before = json!({ "tool": "search_code", "params": { "query": "where is rate limiting implemented" } });
    let weak = json!({ "results": [], "query_intent": "natural_language", "top_score": 0.25 });
    vec![
        ("search_code", json!({ "query": "validate a token" })),
        ("search_code", json!({ "query": "rate limit", "detail_level": "context", "ranking_explain_level": "full" })),
        ("search_code", json!({ "query": "nothing_like_this_is_here" })),
        ("locate_symbol", json!({ "name": "validate_token" })),
        ("locate_symbol", json!({ "name": "check_scope", "ref": "feat/auth", "compact": true })),
        ("get_file_outline", json!({ "path": "src/auth/jwt.rs" })),
        ("get_code_context", json!({ "query": "validate a token" })),
        ("get_code_context", json!({ "query": "rate limit", "strategy": "depth", "max_tokens": 200 })),
        ("get_code_context", json!({ "query": "", "symbols": ["JwtValidator", "nobody"], "exclude": ["sym_1"] })),
        ("grep_code", json!({ "pattern": "token" })),
        ("grep_code", json!({ "pattern": "nothing (like) this", "literal": true, "context": 2 })),
        ("read_code", json!({ "what": ["validate_token", "src/auth/jwt.rs:1-3", "src/auth/jwt.rs", "nobody"] })),
        ("find_references", json!({ "symbol_name": "validate_token", "also": ["src/auth/jwt.rs:4", "nobody"] })),
        ("find_references", json!({ "symbol_name": "validate_token" })),
        ("find_references", json!({ "symbol_name": "JwtValidator", "kind": "references", "limit": 1 })),
        ("diff_context", json!({ "head_ref": "feat/auth", "include_callers": true, "include_docs": true })),
        ("diff_context", json!({ "base_ref": "main", "head_ref": "@worktree", "include_edges": true })),
        (
            "compare_symbol_between_commits",
            json!({ "symbol_name": "new", "base_ref": "main", "head_ref": "feat/auth" }),
        ),
        (
            "compare_symbol_between_commits",
            json!({ "symbol_name": "check_scope", "base_ref": "main", "head_ref": "feat/auth", "include_diff": true }),
        ),
        ("get_call_graph", json!({ "symbol_name": "validate_token", "depth": 2, "path_to": "new" })),
        ("get_call_graph", json!({ "symbol_name": "check_rate_limit", "direction": "callers" })),
        ("get_call_graph", json!({ "symbol_name": "validate_token", "direction": "callees", "list_unresolved": true })),
        ("get_symbol_hierarchy", json!({ "symbol_name": "validate_token" })),
        ("get_symbol_hierarchy", json!({ "symbol_name": "JwtValidator", "direction": "descendants" })),
        ("find_related_symbols", json!({ "symbol_name": "validate_token" })),
        ("find_related_symbols", json!({ "symbol_name": "JwtValidator", "scope": "package", "limit": 1 })),
        (
            "explain_ranking",
            json!({ "query": "validate token", "result_path": "src/auth/jwt.rs", "result_line_start": 14 }),
        ),
        ("suggest_followup_queries", json!({ "previous_query": before, "previous_results": weak })),
        ("list_refs", json!({})),
        ("index_status", json!({})),
        ("health_check", json!({})),
        ("switch_ref", json!({ "ref": "feat/auth" })),
    ]
}

/// Calls that fail, with the expected error.
fn failing_calls() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("search_code", json!({}), "invalid_input"),
        ("search_code", json!({ "query": "" }), "invalid_input"),
        ("search_code", json!({ "query": 7 }), "invalid_input"),
        ("search_code", json!({ "query": "x", "shape": "round" }), "invalid_input"),
        ("search_code", json!({ "query": "x", "language": "klingon" }), "invalid_input"),
        ("search_code", json!({ "query": "x", "ref": "nobody" }), "ref_not_indexed"),
        ("search_code", json!({ "query": "x", "workspace": "/no/such/folder" }), "workspace_not_registered"),
        ("locate_symbol", json!({ "kind": "fn" }), "invalid_input"),
        ("locate_symbol", json!({ "name": "x", "kind": "gizmo" }), "invalid_input"),
        ("get_file_outline", json!({ "path": "src/nothing.rs" }), "file_not_found"),
        ("get_file_outline", json!({ "path": "src/auth/jwt.rs", "depth": "some" }), "invalid_input"),
        ("get_code_context", json!({ "query": "token", "strategy": "both" }), "invalid_strategy"),
        ("get_code_context", json!({ "query": "token", "max_tokens": 0 }), "invalid_max_tokens"),
        ("get_code_context", json!({ "query": "token", "max_tokens": "many" }), "invalid_input"),
        ("get_code_context", json!({ "query": " " }), "invalid_input"),
        ("get_code_context", json!({ "query": "token", "symbols": [7] }), "invalid_input"),
        ("get_symbol_hierarchy", json!({ "symbol_name": "nothing_like_it" }), "symbol_not_found"),
        ("get_symbol_hierarchy", json!({ "symbol_name": "new", "path": "a.rs" }), "symbol_not_found"),
        ("find_related_symbols", json!({ "symbol_name": "nothing_like_it" }), "symbol_not_found"),
        ("find_related_symbols", json!({ "symbol_name": "new", "scope": "world" }), "invalid_input"),
        ("find_related_symbols", json!({ "symbol_name": "new", "cursor": "1.2" }), "invalid_input"),
        ("grep_code", json!({ "pattern": "(" }), "invalid_input"),
        ("grep_code", json!({ "pattern": "x", "tests": "some" }), "invalid_input"),
        ("read_code", json!({ "what": ["src/auth/jwt.rs:5-2"] }), "invalid_input"),
        ("read_code", json!({ "what": [] }), "invalid_input"),
        ("find_references", json!({ "symbol_name": "nothing_like_it" }), "symbol_not_found"),
        ("find_references", json!({ "symbol_name": "new", "kind": "mentions" }), "invalid_input"),
        ("get_call_graph", json!({ "symbol_name": "nothing_like_it" }), "symbol_not_found"),
        ("get_call_graph", json!({ "symbol_name": "new", "ref": "nobody" }), "ref_not_indexed"),
        ("get_call_graph", json!({ "symbol_name": "new", "direction": "up" }), "invalid_input"),
        (
            "explain_ranking",
            json!({ "query": "token", "result_path": "src/nothing.rs", "result_line_start": 1 }),
            "result_not_found",
        ),
        ("suggest_followup_queries", json!({ "previous_query": {}, "previous_results": {} }), "invalid_input"),
        ("switch_ref", json!({ "ref": "nobody" }), "ref_not_indexed"),
        ("list_refs", json!({ "workspace": "/no/such/folder" }), "project_not_found"),
        ("index_repo", json!({ "workspace": "/no/such/folder" }), "project_not_found"),
        ("sync_repo", json!({ "ref": "nobody" }), "ref_not_indexed"),
        ("health_check", json!({ "workspace": "/no/such/folder" }), "workspace_not_registered"),
    ]
}

/// Returns an answer without the fields that depend on time.
fn without_timestamps(mut answer: Value) -> Value {
    fn strip(value: &mut Value) {
        const TIME_FIELDS: &[&str] =
            &["uptime_seconds", "last_accessed_at", "prewarm_status", "workspace_warmset", "status"];
        match value {
            Value::Object(fields) => {
                fields.retain(|key, _| !TIME_FIELDS.contains(&key.as_str()));
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut answer);
    answer
}

/// Checks that a value conforms to a schema: types, required fields, items and enums.
fn check_schema(schema: &Value, value: &Value, at: &str) {
    if let Some(several) = schema["anyOf"].as_array() {
        let is_null = value.is_null() && several.contains(&json!({ "type": "null" }));
        if !is_null {
            check_schema(&several[0], value, at);
        }
        return;
    }
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        other => panic!("{at}: unknown type {other}"),
    };
    if let Some(name) = schema["type"].as_str() {
        assert!(is(name), "{at}: {value} is not of type {name}");
    }
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{at}: {value} is not one of {words:?}");
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(value.get(name).is_some(), "{at}: {name} is missing in {value}");
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            check_schema(inner, value, &format!("{at}.{name}"));
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        if !schema["items"].is_null() {
            check_schema(&schema["items"], item, &format!("{at}[{index}]"));
        }
    }
}

#[test]
fn tools_match_their_schemas() {
    let project = indexed();
    let mut client = pipe(&project, &[]);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("a list").clone();
    for tool in &tools {
        let name = tool["name"].as_str().expect("a name");
        for field in ["title", "description"] {
            assert!(tool[field].as_str().is_some_and(|text| !text.is_empty()), "{name}: no {field}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{name}");
        let is_first = ["search_code", "locate_symbol", "get_code_context", "find_references"].contains(&name);
        assert_eq!(tool["_meta"]["anthropic/alwaysLoad"] == true, is_first, "{name}");
    }
    for (name, arguments) in calls() {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} is not listed"));
        check_schema(&tool["outputSchema"], &client.call(name, arguments), name);
    }
    let asked: Vec<&str> = calls().iter().map(|(name, _)| *name).collect();
    let unasked = tools.iter().filter(|tool| !asked.contains(&tool["name"].as_str().unwrap_or_default()));
    let unasked: Vec<&Value> = unasked.map(|tool| &tool["name"]).collect();
    assert_eq!(unasked, ["index_repo", "sync_repo"], "every other tool has a call in `calls`");
}

/// Reads an answer as its type and writes it again.
fn reread<T: Serialize + DeserializeOwned>(answer: &Value) -> Result<Value, serde_json::Error> {
    serde_json::to_value(T::deserialize(answer)?)
}

/// No field of an answer is unknown to its type, and none is lost.
#[test]
fn answers_are_values_of_their_types() {
    let project = indexed();
    let mut client = pipe(&project, &[]);
    for (name, arguments) in calls() {
        let answer = client.call(name, arguments);
        let again = match name {
            "compare_symbol_between_commits" => reread::<wire::compare_symbol::Answer>(&answer),
            "diff_context" => reread::<wire::diff_context::Answer>(&answer),
            "explain_ranking" => reread::<wire::explain_ranking::Answer>(&answer),
            "find_references" => reread::<wire::find_references::Answer>(&answer),
            "find_related_symbols" => reread::<wire::find_related_symbols::Answer>(&answer),
            "get_call_graph" => reread::<wire::get_call_graph::Answer>(&answer),
            "get_code_context" => reread::<wire::get_code_context::Answer>(&answer),
            "get_file_outline" => reread::<wire::get_file_outline::Answer>(&answer),
            "get_symbol_hierarchy" => reread::<wire::get_symbol_hierarchy::Answer>(&answer),
            "grep_code" => reread::<wire::grep_code::Answer>(&answer),
            "health_check" => reread::<wire::health_check::Answer>(&answer),
            "index_status" => reread::<wire::index_status::Answer>(&answer),
            "list_refs" => reread::<wire::list_refs::Answer>(&answer),
            "locate_symbol" => reread::<wire::locate_symbol::Answer>(&answer),
            "read_code" => reread::<wire::read_code::Answer>(&answer),
            "search_code" => reread::<wire::search_code::Answer>(&answer),
            "suggest_followup_queries" => reread::<wire::suggest_followup_queries::Answer>(&answer),
            "switch_ref" => reread::<wire::switch_ref::Answer>(&answer),
            other => panic!("{other} has no type here"),
        };
        assert_eq!(again.unwrap_or_else(|error| panic!("{name}: {error} in {answer}")), answer, "{name}");
    }
}

/// The schemas contain what the contracts specify: types, defaults, enums, required lists.
#[test]
fn input_schemas_match_the_contracts() {
    let project = indexed();
    let mut client = pipe(&project, &[]);
    let listed = client.request("tools/list", json!({}));
    let schema = |tool: &str| {
        let tools = listed["result"]["tools"].as_array().expect("a list");
        tools.iter().find(|one| one["name"] == tool).unwrap_or_else(|| panic!("{tool}"))["inputSchema"].clone()
    };
    let table = [
        ("index_repo", "force", "boolean", json!(false)),
        ("sync_repo", "force", "boolean", json!(false)),
        ("locate_symbol", "limit", "integer", json!(10)),
        ("search_code", "limit", "integer", json!(10)),
        ("search_code", "detail_level", "string", json!("signature")),
        ("search_code", "compact", "boolean", json!(false)),
        ("get_file_outline", "depth", "string", json!("all")),
        ("get_symbol_hierarchy", "direction", "string", json!("ancestors")),
        ("find_related_symbols", "scope", "string", json!("file")),
        ("find_related_symbols", "limit", "integer", json!(20)),
        ("get_code_context", "max_tokens", "integer", json!(4000)),
        ("get_code_context", "strategy", "string", json!("breadth")),
        ("explain_ranking", "limit", "integer", json!(200)),
        ("find_references", "limit", "integer", json!(20)),
        ("diff_context", "limit", "integer", json!(50)),
        ("get_call_graph", "direction", "string", json!("both")),
        ("get_call_graph", "depth", "integer", json!(1)),
        ("get_call_graph", "limit", "integer", json!(20)),
        ("suggest_followup_queries", "confidence_threshold", "number", json!(0.5)),
    ];
    for (tool, name, kind, default) in table {
        let param = &schema(tool)["properties"][name];
        assert_eq!(param["type"], kind, "{tool}.{name}");
        assert_eq!(param["default"], default, "{tool}.{name}");
    }
    let required = [
        ("locate_symbol", json!(["name"])),
        ("search_code", json!(["query"])),
        ("get_file_outline", json!(["path"])),
        ("get_symbol_hierarchy", json!(["symbol_name"])),
        ("find_related_symbols", json!(["symbol_name"])),
        ("get_code_context", json!(["query"])),
        ("explain_ranking", json!(["query", "result_path", "result_line_start"])),
        ("switch_ref", json!(["ref"])),
        ("find_references", json!(["symbol_name"])),
        ("compare_symbol_between_commits", json!(["symbol_name", "base_ref", "head_ref"])),
        ("get_call_graph", json!(["symbol_name"])),
        ("suggest_followup_queries", json!(["previous_query", "previous_results"])),
        ("index_repo", Value::Null),
        ("health_check", Value::Null),
    ];
    for (tool, names) in required {
        assert_eq!(schema(tool)["required"], names, "{tool}");
    }
    let words = &schema("search_code")["properties"];
    assert_eq!(words["detail_level"]["enum"], json!(["location", "signature", "context"]));
    assert_eq!(words["freshness_policy"]["enum"], json!(["strict", "balanced", "best_effort"]));
    assert_eq!(words["ranking_explain_level"]["enum"], json!(["off", "basic", "full"]));
    assert_eq!(schema("find_related_symbols")["properties"]["scope"]["enum"], json!(["file", "module", "package"]));
    assert_eq!(schema("get_code_context")["properties"]["strategy"]["enum"], json!(["breadth", "depth"]));
}

#[test]
fn stdio_and_http_give_the_same_json() {
    let project = indexed();
    let server = http(&project, &[]);
    let address = server.address();
    let mut clients: Vec<(&str, Box<dyn Client>)> = vec![
        ("pipe", Box::new(pipe(&project, &[]))),
        ("session", Box::new(HttpClient::session(&address))),
        ("stateless", Box::new(HttpClient::stateless(&address))),
    ];
    let listed: Vec<Value> = clients
        .iter_mut()
        .map(|(_, client)| client.request("tools/list", json!({}))["result"]["tools"].clone())
        .collect();
    assert!(listed.iter().all(|tools| *tools == listed[0] && tools.is_array()));
    let all = calls().into_iter().chain(failing_calls().into_iter().map(|(name, arguments, _)| (name, arguments)));
    for (name, arguments) in all.filter(|(name, _)| *name != "switch_ref") {
        let mut answers = Vec::new();
        for (road, client) in &mut clients {
            answers.push((*road, without_timestamps(client.result(name, arguments.clone())["answer"].take())));
        }
        for (road, answer) in &answers[1..] {
            assert_eq!(*answer, answers[0].1, "{name} {arguments} on {road}, and on a pipe");
        }
    }
}

#[test]
fn errors_have_their_codes() {
    let project = indexed();
    let mut client = pipe(&project, &[]);
    for (name, arguments, expected) in failing_calls() {
        let (code, error) = client.call_error(name, arguments.clone());
        assert_eq!(code, expected, "{name} {arguments}: {error}");
        assert!(error["message"].as_str().is_some_and(|message| message.len() > 10), "{error}");
        assert!(error["data"].is_object(), "{error}");
    }
    // A call of an unknown tool is a protocol error.
    let unknown = client.request("tools/call", json!({ "name": "no_such_tool", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let unknown = client.request("no/such/method", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    client.send_text("{ this is no JSON");
    let broken = client.receive();
    assert_eq!((&broken["error"]["code"], &broken["id"]), (&json!(-32700), &Value::Null), "{broken}");
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        assert_eq!(client.request(method, json!({}))["error"]["code"], -32601, "{method}");
    }
    // The connection stays open.
    assert_eq!(client.call("locate_symbol", json!({ "name": "validate_token" }))["total_candidates"], 1);
}

#[test]
fn related_symbols_come_in_pages_that_fit_together() {
    let project = indexed();
    let mut client = pipe(&project, &[]);
    let ask = |limit: i64, cursor: Value| json!({ "symbol_name": "validate_token", "limit": limit, "cursor": cursor });
    let all = client.call("find_related_symbols", ask(200, Value::Null));
    let whole = all["related"].as_array().expect("a list").clone();
    assert_eq!((all["total_found"].as_u64(), all["scope_used"].as_str()), (Some(whole.len() as u64), Some("file")));
    assert!(whole.len() > 2 && whole.iter().all(|one| one["relation"] == "same_file"), "{all}");
    let (mut pages, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = client.call("find_related_symbols", ask(1, cursor));
        pages.extend(page["related"].as_array().expect("a list").iter().cloned());
        cursor = page["metadata"]["next_cursor"].clone();
        assert_eq!(page["metadata"]["result_completeness"] == "truncated", cursor.is_string(), "{page}");
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(pages, whole);
    let clamped = client.call("find_related_symbols", ask(0, Value::Null));
    assert!(clamped["metadata"]["warnings"][0].as_str().is_some_and(|text| text.contains("limit")), "{clamped}");
}

/// The rules of the contract, one row each: the previous call, its result, and the suggested tools.
#[test]
fn follow_ups_are_valid_calls() {
    let project = indexed();
    let mut client = pipe(&project, &[]);
    let table = [
        (
            json!({ "tool": "search_code", "params": { "query": "where is the rate limit checked" } }),
            json!({ "results": [], "query_intent": "natural_language", "top_score": 0.2 }),
            vec!["locate_symbol", "search_code"],
        ),
        (
            json!({ "tool": "search_code", "params": { "query": "validate_tokens", "language": "python" } }),
            json!({ "results": [], "query_intent": "symbol", "top_score": 0.2 }),
            vec!["search_code"],
        ),
        (
            json!({ "tool": "locate_symbol", "params": { "name": "validate_tokn" } }),
            json!({ "results": [] }),
            vec!["search_code", "get_call_graph"],
        ),
        (
            json!({ "tool": "locate_symbol", "params": { "name": "jwtvalidater" } }),
            json!({ "results": [] }),
            vec!["search_code", "locate_symbol"],
        ),
        (
            json!({ "tool": "get_symbol_hierarchy", "params": { "symbol_name": "valid" } }),
            json!({ "hierarchy": [] }),
            vec!["locate_symbol", "search_code"],
        ),
        (
            json!({ "tool": "get_call_graph", "params": { "symbol_name": "validate_token" } }),
            json!({ "callers": [], "callees": [], "total_edges": 0 }),
            vec!["locate_symbol", "search_code"],
        ),
        (
            json!({ "tool": "get_code_context", "params": { "query": "validate a token" } }),
            json!({ "context_items": [{ "score": 0.9 }] }),
            vec![],
        ),
    ];
    for (before, results, tools) in table {
        let asked = json!({ "previous_query": before, "previous_results": results });
        let answer = client.call("suggest_followup_queries", asked);
        let suggestions = answer["suggestions"].as_array().expect("a list");
        for tool in &tools {
            assert!(suggestions.iter().any(|one| one["tool"] == *tool), "{before}: no {tool} in {answer}");
        }
        assert_eq!(suggestions.is_empty(), tools.is_empty(), "{answer}");
        assert_eq!(answer["analysis"]["reason"] == "results are above confidence threshold", tools.is_empty());
        let extracted = answer["analysis"]["extracted_identifiers"].as_array().expect("a list");
        for suggestion in suggestions {
            let params = &suggestion["params"];
            let named = params["name"].as_str().or(params["symbol_name"].as_str());
            let written = params["query"].as_str().into_iter().flat_map(str::split_whitespace);
            let names = written.filter(|word| word.contains('_')).chain(named);
            names.for_each(|name| assert!(extracted.contains(&json!(name)), "{name} is not in {answer}"));
            let found = client.call(suggestion["tool"].as_str().expect("a name"), suggestion["params"].clone());
            let is_exact = suggestion["tool"] == "locate_symbol";
            assert!(!is_exact || found["total_candidates"] != 0, "{suggestion} finds nothing");
        }
    }
}

#[test]
fn numbers_out_of_range_are_clamped_with_a_warning() {
    let project = indexed();
    let mut client = pipe(&project, &[]);
    for (asked, expected) in [(0, 1), (-3, 1), (100_000, 200)] {
        let answer = client.call("search_code", json!({ "query": "token", "limit": asked }));
        let warning = answer["metadata"]["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.contains("limit") && warning.contains(&expected.to_string()), "{answer}");
    }
    let answer = client.call("get_call_graph", json!({ "symbol_name": "validate_token", "depth": 9 }));
    assert!(answer["metadata"]["warnings"].to_string().contains("`depth` 9 was changed to 5"), "{answer}");
}

#[test]
fn unresolved_calls_are_counted_and_listed() {
    let project = Project::indexed(&[(
        "a.py",
        "def show(thing):\n    helper()\n    return thing.frobnicate()\n\n\ndef helper():\n    pass\n",
    )]);
    let mut client = pipe(&project, &[]);
    let answer = client.call("get_call_graph", json!({ "symbol_name": "show", "list_unresolved": true }));
    assert_eq!(answer["callees"][0]["symbol"]["name"], "helper", "{answer}");
    assert_eq!(answer["unresolved_calls"], 1, "{answer}");
    assert_eq!((&answer["unresolved"][0]["name"], &answer["unresolved"][0]["line"]), (&json!("frobnicate"), &json!(3)));
    let answer = client.call("get_call_graph", json!({ "symbol_name": "show" }));
    assert_eq!(answer.get("unresolved"), None, "{answer}");
}

#[test]
fn queries_register_nothing() {
    let project = project();
    let mut client = pipe(&project, &[]);
    for tool in ["search_code", "locate_symbol"] {
        let (code, error) = client.call_error(
            tool,
            json!({ "query": "x", "name": "x" }).as_object().map_or(json!({}), |all| {
                let key = if tool == "search_code" { "query" } else { "name" };
                json!({ key: all[key] })
            }),
        );
        assert_eq!(code, "project_not_found", "{error}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains("codecompass index")), "{error}");
    }
    assert_eq!(client.call_error("index_repo", json!({})).0, "project_not_found");
    assert_eq!(client.call_error("list_refs", json!({})).0, "project_not_found");
    let health = client.call("health_check", json!({}));
    assert_eq!(health["startup_checks"]["index"]["status"], "not_indexed");
    assert_eq!(health["projects"], json!([]));
    // Registered, but never indexed: lists are empty and say why, queries about one symbol are errors.
    project.run_ok("init");
    let answer = client.call("search_code", json!({ "query": "token" }));
    assert_eq!(answer["results"], json!([]));
    assert_eq!(answer["metadata"]["indexing_status"], "not_indexed");
    assert!(answer["metadata"]["warnings"][0].as_str().is_some_and(|text| text.contains("index_repo")), "{answer}");
    assert_eq!(client.call_error("get_file_outline", json!({ "path": "src/auth/jwt.rs" })).0, "index_not_ready");
    assert_eq!(client.call_error("get_call_graph", json!({ "symbol_name": "new" })).0, "index_not_ready");
    let place = json!({ "query": "token", "result_path": "src/auth/jwt.rs", "result_line_start": 1 });
    assert_eq!(client.call_error("explain_ranking", place).0, "index_not_ready");
    assert_eq!(client.call_error("find_references", json!({ "symbol_name": "new" })).0, "no_edges_available");
    let health = client.call("health_check", json!({}));
    assert_eq!(health["projects"][0]["index_status"], "not_indexed");
}

#[test]
fn jobs_return_at_once_and_are_followed_by_id() {
    let project = project();
    project.run_ok("init");
    let mut client = pipe(&project, &[]);
    let started = client.call("index_repo", json!({}));
    assert_eq!(started["mode"], "full", "{started}");
    assert!(["running", "queued", "published"].contains(&started["status"].as_str().unwrap_or_default()), "{started}");
    let status = client.wait_for_index(json!({}));
    let job = &status["recent_jobs"][0];
    assert_eq!(job["job_id"], started["job_id"]);
    assert_eq!(job["status"], "published");
    assert_eq!(job["changed_files"], 2);
    project.repository.write("src/more.rs", "pub fn one_more() {}\n");
    let started = client.call("sync_repo", json!({}));
    assert_eq!(started["mode"], "incremental", "{started}");
    client.wait_for_index(json!({}));
    assert_eq!(client.call("locate_symbol", json!({ "name": "one_more" }))["total_candidates"], 1);
    // The error for a ref that was never indexed names the call that fixes it, and that call works.
    let (code, error) = client.call_error("locate_symbol", json!({ "name": "check_scope", "ref": "feat/auth" }));
    assert_eq!(code, "ref_not_indexed");
    let call = &error["data"]["call"];
    client.call(call["tool"].as_str().expect("a tool"), call["params"].clone());
    client.wait_for_index(json!({ "ref": "feat/auth" }));
    assert_eq!(
        client.call("locate_symbol", json!({ "name": "check_scope", "ref": "feat/auth" }))["total_candidates"],
        1
    );
}

#[test]
fn progress_is_sent_before_the_answer() {
    let project = indexed();
    let mut client = pipe(&project, &[]);
    let meta = json!({ "progressToken": "here" });
    let response =
        client.request("tools/call", json!({ "name": "index_repo", "arguments": { "force": true }, "_meta": meta }));
    assert_eq!(response["result"]["structuredContent"]["mode"], "full", "{response}");
    let steps: Vec<&Value> =
        client.notifications.iter().filter(|note| note["method"] == "notifications/progress").collect();
    assert!(!steps.is_empty(), "{:?}", client.notifications);
    assert!(steps.iter().all(|step| step["params"]["progressToken"] == "here"), "{steps:?}");
    let counts: Vec<f64> = steps.iter().filter_map(|step| step["params"]["progress"].as_f64()).collect();
    assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "{counts:?}");
}

#[test]
fn freshness_follows_the_policy() {
    let project = indexed();
    let mut client = pipe(&project, &["--no-watch"]);
    let fresh = client.call("locate_symbol", json!({ "name": "validate_token", "freshness_policy": "strict" }));
    assert_eq!(fresh["metadata"]["freshness_status"], "fresh");
    project.repository.write("src/late.rs", "pub fn came_late() {}\n");
    let ask = |policy: &str| json!({ "name": "came_late", "freshness_policy": policy });
    // Strict checks the files and refuses.
    let (code, error) = client.call_error("locate_symbol", ask("strict"));
    assert_eq!(code, "index_stale");
    assert_eq!(error["data"]["changed_files"], 1, "{error}");
    assert_eq!(error["data"]["last_indexed_commit"], error["data"]["current_head"]);
    assert!(error["message"].as_str().is_some_and(|message| message.contains("sync_repo")), "{error}");
    // Best effort answers from the published state and starts nothing.
    let mut answer = Value::Null;
    let is_counted = wait_until(Duration::from_secs(60), || {
        answer = client.call("locate_symbol", ask("best_effort"));
        let told = (&answer["total_candidates"], &answer["metadata"]["freshness_status"]);
        assert_eq!(told, (&json!(0), &json!("stale")));
        // Counting is limited to 100 ms.
        answer["metadata"]["changed_files"] == 1
    });
    assert!(is_counted, "{answer}");
    assert!(answer["metadata"]["head_commit"].is_string(), "{answer}");
    let jobs =
        |client: &mut StdioClient| client.call("index_status", json!({}))["recent_jobs"].as_array().map_or(0, Vec::len);
    let before = jobs(&mut client);
    // Balanced answers, and starts a sync of the rest.
    let answer = client.call("locate_symbol", ask("balanced"));
    assert_ne!(answer["metadata"]["freshness_status"], "fresh", "{answer}");
    let is_in = wait_until(Duration::from_secs(60), || {
        client.call("locate_symbol", ask("best_effort"))["total_candidates"] == 1
    });
    assert!(is_in);
    client.wait_for_index(json!({}));
    assert!(jobs(&mut client) > before);
    assert_eq!(client.call("locate_symbol", ask("strict"))["metadata"]["freshness_status"], "fresh");
}

#[test]
fn edits_are_synced_in_the_background() {
    let project = indexed();
    let mut client = pipe(&project, &["-v"]);
    client.call("locate_symbol", json!({ "name": "validate_token" }));
    assert!(wait_until(Duration::from_secs(60), || client.server.stderr_text().contains("watching")));
    let find = |client: &mut StdioClient, name: &str| {
        client.call("locate_symbol", json!({ "name": name, "freshness_policy": "best_effort" }))["total_candidates"]
            .clone()
    };
    project.repository.write("src/soon.rs", "pub fn seen_soon() {}\n");
    assert!(wait_until(Duration::from_secs(60), || find(&mut client, "seen_soon") == 1), "a new file");
    project.repository.write("src/deep/er/new.rs", "pub fn seen_deep() {}\n");
    assert!(wait_until(Duration::from_secs(60), || find(&mut client, "seen_deep") == 1), "a new folder");
    project.repository.write("src/deep/er/new.rs", "pub fn seen_again() {}\n");
    assert!(wait_until(Duration::from_secs(60), || find(&mut client, "seen_again") == 1), "a file in a new folder");
    project.repository.delete("src/soon.rs");
    assert!(wait_until(Duration::from_secs(60), || find(&mut client, "seen_soon") == 0), "a deleted file");
    let is_fresh = || client.wait_for_index(json!({}))["metadata"]["freshness_status"] == "fresh";
    assert!(wait_until(Duration::from_secs(60), is_fresh));
}

#[test]
fn switch_ref_is_per_connection() {
    let project = indexed();
    let server = http(&project, &[]);
    let address = server.address();
    let (mut one, mut other) = (HttpClient::session(&address), HttpClient::session(&address));
    let switched = one.call("switch_ref", json!({ "ref": "feat/auth" }));
    assert_eq!((&switched["ref"], &switched["previous_ref"]), (&json!("feat/auth"), &json!("main")));
    assert_eq!(switched["last_indexed_commit"], project.repository.rev("feat/auth"));
    let find = |client: &mut HttpClient| {
        let answer = client.call("locate_symbol", json!({ "name": "check_scope" }));
        (answer["total_candidates"].clone(), answer["metadata"]["ref"].clone())
    };
    assert_eq!(find(&mut one), (json!(1), json!("feat/auth")));
    assert_eq!(find(&mut other), (json!(0), json!("main")));
    let mut stateless = HttpClient::stateless(&address);
    let answer = stateless.call("switch_ref", json!({ "ref": "feat/auth" }));
    assert!(answer["metadata"]["warnings"][0].as_str().is_some_and(|text| text.contains("`ref`")), "{answer}");
    assert_eq!(find(&mut stateless), (json!(0), json!("main")));
    let refs = other.call("list_refs", json!({}));
    let row = |name: &str| refs["refs"].as_array().and_then(|all| all.iter().find(|one| one["ref"] == name)).cloned();
    let (main, feat) = (row("main").expect("main"), row("feat/auth").expect("feat/auth"));
    assert_eq!(
        (&main["is_default"], &main["merge_base_commit"], &main["file_count"]),
        (&json!(true), &Value::Null, &json!(2))
    );
    assert_eq!(
        (&feat["is_default"], &feat["file_count"], &feat["symbol_count"]),
        (&json!(false), &json!(1), &json!(1))
    );
    assert_eq!(feat["merge_base_commit"], project.repository.rev("main"));
}

#[test]
fn workspaces_are_routed_and_only_allowed_ones_are_opened() {
    let (project, second) = (indexed(), project());
    let second = second.repository;
    let path = |repository: &Repository| repository.root().canonicalize().expect("it exists").display().to_string();
    let (own, other) = (path(&project.repository), path(&second));
    let mut client = pipe(&project, &[]);
    assert_eq!(client.call("index_status", json!({ "workspace": own }))["repo_root"], own);
    assert_eq!(
        client.call_error("locate_symbol", json!({ "name": "x", "workspace": other })).0,
        "workspace_not_registered"
    );
    drop(client);
    let outside = Repository::new();
    outside.write("a.rs", "fn a() {}\n");
    outside.commit("a");
    let root = second.root().parent().expect("a folder").display().to_string();
    let mut client = pipe(&project, &["--auto-workspace", "--allowed-root", &root]);
    assert_eq!(
        client.call_error("locate_symbol", json!({ "name": "a", "workspace": path(&outside) })).0,
        "workspace_not_allowed"
    );
    assert_eq!(
        client.call_error("locate_symbol", json!({ "name": "a", "workspace": "/no/such" })).0,
        "workspace_not_allowed"
    );
    let answer = client.call("locate_symbol", json!({ "name": "validate_token", "workspace": other }));
    assert!(answer["metadata"]["warnings"].to_string().contains("registered by this call"), "{answer}");
    client.wait_for_index(json!({ "workspace": other }));
    let answer = client.call("locate_symbol", json!({ "name": "validate_token", "workspace": other }));
    assert_eq!(answer["total_candidates"], 1);
    // Without an allowed root, the flag is refused.
    let mut refused = Server::start(project.repository.root(), project.home.path(), &["--auto-workspace"], &[]);
    assert_eq!(refused.exits_within(Duration::from_secs(30)), Some(2));
    assert!(
        wait_until(Duration::from_secs(30), || refused.stderr_text().contains("--allowed-root")),
        "{}",
        refused.stderr_text()
    );
}

#[test]
fn own_workspace_only_hides_others() {
    let project = indexed();
    let second = Repository::new();
    second.write("other.rs", "pub fn elsewhere() {}\n").commit("other");
    project.run_at(second.root(), "index", &[]);
    let path = |repository: &Repository| repository.root().canonicalize().expect("it exists").display().to_string();
    let (own, other) = (path(&project.repository), path(&second));
    // It was used last, so it would be prewarmed.
    pipe(&project, &[]).call("locate_symbol", json!({ "name": "elsewhere", "workspace": other }));
    let mut client = pipe(&project, &["--own-workspace-only"]);
    for asked in [
        other.as_str(),
        "/no/such",
        "relative",
        "/",
        "",
        second.root().parent().and_then(Path::to_str).unwrap_or("/tmp"),
    ] {
        for (tool, mut arguments) in [
            ("locate_symbol", json!({ "name": "elsewhere" })),
            ("index_status", json!({})),
            ("health_check", json!({})),
            ("list_refs", json!({})),
            ("index_repo", json!({})),
            ("switch_ref", json!({ "ref": "main" })),
        ] {
            arguments["workspace"] = json!(asked);
            assert_eq!(client.call_error(tool, arguments).0, "workspace_not_allowed", "{tool} {asked}");
        }
    }
    assert_eq!(client.call("index_status", json!({ "workspace": own }))["repo_root"], own);
    assert_eq!(client.call("index_status", json!({ "workspace": format!("{own}/src") }))["repo_root"], own);
    let is_warm =
        wait_until(Duration::from_secs(30), || client.call("health_check", json!({}))["prewarm_status"] == "complete");
    let health = client.call("health_check", json!({}));
    assert!(is_warm && !health.to_string().contains(&other), "{health}");
    let flags = ["--own-workspace-only", "--auto-workspace", "--allowed-root", "/tmp"];
    let mut refused = Server::start(project.repository.root(), project.home.path(), &flags, &[]);
    assert_eq!(refused.exits_within(Duration::from_secs(30)), Some(2));
}

#[test]
fn at_most_ten_workspaces_are_open_by_request() {
    let project = indexed();
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let root = folder.path().canonicalize().expect("it exists");
    let make = |number: usize| {
        let path = root.join(format!("w{number}"));
        std::fs::create_dir(&path).expect("it can be created");
        std::fs::write(path.join("a.py"), format!("def only_{number}():\n    pass\n")).expect("it can be written");
        path.display().to_string()
    };
    let mut client = pipe(&project, &["--auto-workspace", "--allowed-root", &root.display().to_string(), "--no-watch"]);
    let paths: Vec<String> = (0..12).map(make).collect();
    for (number, path) in paths.iter().enumerate() {
        client.call("index_status", json!({ "workspace": path }));
        client.wait_for_index(json!({ "workspace": path }));
        let answer = client.call("locate_symbol", json!({ "name": format!("only_{number}"), "workspace": path }));
        assert_eq!(answer["total_candidates"], 1, "{path}: {answer}");
    }
    let open = client.call("health_check", json!({}))["projects"].as_array().map_or(0, Vec::len);
    assert_eq!(open, 11, "ten by request and the server's own");
    // A closed workspace is registered now, so it is found again, and counts again.
    for (number, path) in paths.iter().enumerate() {
        let answer = client.call("locate_symbol", json!({ "name": format!("only_{number}"), "workspace": path }));
        assert_eq!(answer["total_candidates"], 1, "{path}: {answer}");
    }
    let open = client.call("health_check", json!({}))["projects"].as_array().map_or(0, Vec::len);
    assert_eq!(open, 11, "still ten by request and the server's own");
}

#[test]
fn unreadable_index_is_refused_with_a_hint() {
    let project = indexed();
    let mut client = pipe(&project, &["--no-watch", "--no-prewarm"]);
    for log in ["store.db-wal", "store.db-shm"] {
        std::fs::remove_file(project.epoch().join(log)).expect("it exists");
    }
    std::fs::write(project.epoch().join("store.db"), "this is no database, and it never was one").expect("written");
    for (tool, arguments) in [("search_code", json!({ "query": "x" })), ("get_file_outline", json!({ "path": "a" }))] {
        let mut again = pipe(&project, &["--no-watch"]);
        let (code, error) = again.call_error(tool, arguments);
        assert_eq!(code, "index_incompatible", "{error}");
        assert_eq!(error["data"]["command"], "codecompass index --force", "{error}");
        assert!(error["data"]["required_schema_version"].is_i64(), "{error}");
    }
    let mut again = pipe(&project, &["--no-watch"]);
    assert_eq!(again.call("index_status", json!({}))["schema_status"], "corrupt_manifest");
    let health = again.call("health_check", json!({}));
    assert_eq!((&health["status"], &health["sqlite_ok"]), (&json!("error"), &json!(false)), "{health}");
    again.call("index_repo", json!({ "force": true }));
    again.wait_for_index(json!({}));
    assert_eq!(again.call("locate_symbol", json!({ "name": "validate_token" }))["total_candidates"], 1);
    // The first server reads the rebuilt store, too.
    assert_eq!(client.call("locate_symbol", json!({ "name": "validate_token" }))["total_candidates"], 1);
}

#[test]
fn auto_index_registers_and_indexes_the_workspace() {
    let project = project();
    let mut client = pipe(&project, &["--auto-index"]);
    let is_in = wait_until(Duration::from_secs(30), || {
        let result = client.result("locate_symbol", json!({ "name": "validate_token" }));
        result["answer"]["total_candidates"] == 1
    });
    assert!(is_in);
}

#[test]
fn the_list_of_tools_can_be_narrowed() {
    let project = indexed();
    let mut client = pipe(&project, &["--tools", "search_code,locate_symbol"]);
    let listed = client.request("tools/list", json!({}));
    let names: Vec<&Value> =
        listed["result"]["tools"].as_array().expect("a list").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["search_code", "locate_symbol"]);
    let refused = client.request("tools/call", json!({ "name": "health_check", "arguments": {} }));
    assert_eq!(refused["error"]["code"], -32602);
    let mut wrong = Server::start(project.repository.root(), project.home.path(), &["--tools", "serch"], &[]);
    assert_eq!(wrong.exits_within(Duration::from_secs(30)), Some(2));
}

#[test]
fn every_protocol_revision_works_on_stdio() {
    let project = indexed();
    let (root, home) = (project.repository.root(), project.home.path());
    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = StdioClient::raw(root, home, &[]);
        let answer = client.request("initialize", initialize_params(version));
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        assert!(answer["result"]["instructions"].as_str().is_some_and(|text| text.contains("search_code")));
    }
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut client = StdioClient::raw(root, home, &[]);
    let found = client.request("server/discover", json!({ "_meta": meta }));
    let versions = &found["result"]["supportedVersions"];
    assert_eq!(*versions, json!(["2025-06-18", "2025-11-25", "2026-07-28"]), "{found}");
    let answer = client.request(
        "tools/call",
        json!({ "name": "locate_symbol", "arguments": { "name": "validate_token" }, "_meta": meta }),
    );
    assert_eq!(answer["result"]["structuredContent"]["total_candidates"], 1, "{answer}");
    // A client that only initializes disconnects: that is not a failure.
    let mut client = StdioClient::raw(root, home, &[]);
    client.request("server/discover", json!({ "_meta": meta }));
    client.close();
    assert_eq!(client.server.exits_within(Duration::from_secs(30)), Some(0));
}

#[test]
fn warnings_about_further_names_are_reported() {
    let project = Project::indexed(&[
        ("a.rs", "pub fn only() {}\npub fn twice() {}\n"),
        ("b.rs", "pub fn twice() {}\npub fn user() { only(); twice() }\n"),
    ]);
    let mut client = pipe(&project, &["--no-watch"]);
    for tool in ["find_references", "get_call_graph"] {
        let warnings = |client: &mut StdioClient, arguments: Value| -> Vec<String> {
            let answer = client.call(tool, arguments);
            let list = answer["metadata"]["warnings"].as_array().cloned().unwrap_or_default();
            list.iter().filter_map(|warning| warning.as_str().map(str::to_owned)).collect()
        };
        let alone = warnings(&mut client, json!({ "symbol_name": "twice" }));
        assert!(alone.iter().any(|warning| warning.starts_with("2 symbols are called twice")), "{tool}: {alone:?}");
        let further = warnings(&mut client, json!({ "symbol_name": "only", "also": ["twice", "twice"] }));
        assert_eq!(further, alone, "{tool}");
    }
}

#[test]
fn server_exits_with_its_client() {
    let project = indexed();
    let mut client = pipe(&project, &[]);
    client.call("locate_symbol", json!({ "name": "validate_token" }));
    client.close();
    assert_eq!(client.server.exits_within(Duration::from_secs(30)), Some(0), "the end of its input");
    let mut client = pipe(&project, &[]);
    let pid = client.server.pid().to_string();
    std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs");
    assert_eq!(client.server.exits_within(Duration::from_secs(30)), Some(0), "a signal");
    // During a job: the job is stopped, and the published state stays.
    for number in 0..300 {
        project.repository.write(&format!("many/file{number}.rs"), format!("pub fn many_{number}() {{}}\n").repeat(40));
    }
    let mut client = pipe(&project, &[]);
    client.call("sync_repo", json!({ "force": true }));
    client.close();
    assert_eq!(client.server.exits_within(Duration::from_secs(30)), Some(0), "in the middle of a job");
    assert_eq!(project.places("locate validate_token --no-sync").len(), 1);
}

#[test]
fn a_cancelled_call_stops_its_job() {
    let project = indexed();
    for number in 0..400 {
        let text = format!("pub fn cancelled_{number}() {{}}\n").repeat(60);
        project.repository.write(&format!("many/file{number}.rs"), text);
    }
    let mut client = pipe(&project, &["--no-watch"]);
    let meta = json!({ "progressToken": 1 });
    let id = client.ask("tools/call", json!({ "name": "index_repo", "arguments": { "force": true }, "_meta": meta }));
    let step = client.receive();
    assert_eq!(step["method"], "notifications/progress", "{step}");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    let mut last = Value::Null;
    let is_over = wait_until(Duration::from_secs(60), || {
        last = client.call("index_status", json!({}));
        last["active_job"].is_null()
    });
    assert!(is_over, "{last}");
    let job = &last["recent_jobs"][0];
    assert_eq!(job["status"], "failed", "{last}");
    assert!(job["error"].as_str().is_some_and(|error| error.contains("cancelled")), "{last}");
    // The previously published state stays.
    let answer = client.call("locate_symbol", json!({ "name": "validate_token", "freshness_policy": "best_effort" }));
    assert_eq!(answer["total_candidates"], 1);
}

#[test]
fn interrupted_job_is_reported_until_success() {
    let project = indexed();
    project.repository.write("src/more.rs", "pub fn one_more() {}\n");
    let cut = project.run_with("sync", &[(codecompass_testkit::KILL_AT_WRITE, "4")]);
    assert!(cut.was_aborted(), "{cut:?}");
    let mut client = pipe(&project, &["--no-watch"]);
    let report = client.call("health_check", json!({}))["interrupted_recovery_report"].clone();
    assert_eq!((&report["detected"], &report["interrupted_jobs"]), (&json!(true), &json!(1)), "{report}");
    assert!(report["last_interrupted_at"].is_string() && report["recommended_action"].is_string(), "{report}");
    client.call("sync_repo", json!({}));
    client.wait_for_index(json!({}));
    assert_eq!(client.call("health_check", json!({}))["interrupted_recovery_report"], Value::Null);
}

/// The pipe stays open, because the test holds its other end: only the parent has ended.
#[cfg(target_os = "linux")]
#[test]
fn server_exits_with_its_parent() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let project = indexed();
    let script = format!("exec 3<&0; '{}' serve-mcp <&3 >/dev/null 2>&1 & echo $!; wait", support::PROGRAM);
    let mut shell = Command::new("sh")
        .args(["-c", &script])
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", project.home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell starts");
    let mut line = String::new();
    BufReader::new(shell.stdout.take().expect("piped")).read_line(&mut line).expect("the server's id");
    let process = std::path::PathBuf::from("/proc").join(line.trim());
    assert!(process.exists(), "the server runs");
    shell.kill().expect("the shell can be ended");
    shell.wait().expect("it ended");
    let is_gone = || {
        let state = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    };
    assert!(wait_until(Duration::from_secs(30), is_gone), "the server ended with it");
}

#[test]
fn several_servers_share_a_repository() {
    let project = indexed();
    let (mut one, mut other) = (pipe(&project, &[]), pipe(&project, &[]));
    let linked = project.repository.worktree("feat/auth");
    let home: &Home = &project.home;
    let mut third = StdioClient::open(linked.root(), home.path(), &["--auto-index"]);
    third.wait_for_index(json!({}));
    for number in 0..5 {
        let name = format!("shared_{number}");
        project.repository.write("src/shared.rs", format!("pub fn {name}() {{}}\n"));
        for client in [&mut one, &mut other] {
            let is_in = wait_until(Duration::from_secs(60), || {
                client.call("locate_symbol", json!({ "name": name }))["total_candidates"] == 1
            });
            assert!(is_in, "{name}");
        }
        assert_eq!(third.call("locate_symbol", json!({ "name": name }))["total_candidates"], 0, "another work tree");
    }
    assert_eq!(third.call("locate_symbol", json!({ "name": "check_scope" }))["total_candidates"], 1);
}
