//! Answers as text, over a pipe: an agent gets the content of the JSON in one block, within the clients' limits.

use crate::support;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient, initialize_params};

/// The seven tools of the core set.
const CORE: [&str; 7] =
    ["search_code", "find_references", "get_call_graph", "get_file_outline", "grep_code", "read_code", "diff_context"];

fn pipe(project: &Project, args: &[&str]) -> StdioClient {
    StdioClient::open(project.repository.root(), project.home.path(), args)
}

/// Returns the one text block of an answer, and whether it is an error.
fn call_text(client: &mut StdioClient, tool: &str, arguments: &Value) -> (String, bool) {
    let response = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    let result = &response["result"];
    assert!(result.get("structuredContent").is_none(), "{tool}: {response}");
    let content = result["content"].as_array().unwrap_or_else(|| panic!("{tool}: {response}"));
    assert_eq!(content.len(), 1, "{tool}: one block");
    let text = content[0]["text"].as_str().expect("it is text").to_owned();
    (text, result["isError"] == json!(true))
}

#[test]
fn text_mode_lists_core_tools_with_short_schemas() {
    let project = Project::service();
    let mut agent = pipe(&project, &["--answers", "text"]);
    let listed = agent.request("tools/list", json!({}))["result"]["tools"].clone();
    let tools = listed.as_array().expect("a list");
    let names: BTreeSet<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, CORE.into_iter().collect());
    for tool in tools {
        assert!(tool.get("outputSchema").is_none(), "{tool}");
        let offered = tool["inputSchema"]["properties"].as_object().expect("properties");
        for gone in ["detail_level", "compact", "ranking_explain_level", "max_tokens"] {
            assert!(!offered.contains_key(gone), "{tool}");
        }
    }
    // 1,500 tokens of o200k, which has 4.2 bytes per token of these schemas.
    assert!(listed.to_string().len() < 6_300, "tools/list has {} bytes", listed.to_string().len());
    // An option without effect is still accepted.
    let (text, is_error) = call_text(&mut agent, "search_code", &json!({ "query": "Config", "compact": true }));
    assert!(!is_error, "{text}");
    let all = pipe(&project, &["--answers", "text", "--tools", "all"]).request("tools/list", json!({}));
    assert_eq!(all["result"]["tools"].as_array().map(Vec::len), Some(20));
    let core = pipe(&project, &["--tools", "core"]).request("tools/list", json!({}));
    assert_eq!(core["result"]["tools"].as_array().map(Vec::len), Some(7));
    let by_variable = StdioClient::open_with(
        project.repository.root(),
        project.home.path(),
        &[],
        &[("CODECOMPASS_MCP_ANSWERS", "text")],
    )
    .request("tools/list", json!({}));
    assert_eq!(by_variable["result"]["tools"].as_array().map(Vec::len), Some(7));
}

#[test]
fn text_errors_have_code_message_and_hint() {
    let project = Project::service();
    let mut agent = pipe(&project, &["--answers", "text"]);
    let table = [
        ("search_code", json!({ "query": "" }), "invalid_input: "),
        ("get_file_outline", json!({ "path": "nowhere.rs" }), "file_not_found: "),
        ("find_references", json!({ "symbol_name": "nobody_at_all" }), "symbol_not_found: "),
        ("grep_code", json!({ "pattern": "(" }), "invalid_input: "),
        ("search_code", json!({ "query": "x", "ref": "no/such/branch" }), "ref_not_indexed: "),
    ];
    let hidden = ["index_repo", "sync_repo", "locate_symbol", "index_status", "get_code_context", "list_refs"];
    for (tool, arguments, begins) in table {
        let (text, is_error) = call_text(&mut agent, tool, &arguments);
        assert!(is_error && text.starts_with(begins), "{tool} {arguments}: {text}");
        assert!(!hidden.iter().any(|name| text.contains(name)), "{text}");
    }
}

#[test]
fn text_hints_name_only_offered_tools() {
    let hidden = ["index_repo", "sync_repo", "locate_symbol", "index_status", "get_code_context", "list_refs"];
    let check = |text: &str, says: &str| {
        assert!(text.contains(says), "{text}");
        assert!(!hidden.iter().any(|name| text.contains(name)), "{text}");
    };
    // Nothing is indexed.
    let project = Project::new(codecompass_testkit::Repository::new());
    project.repository.write("src/lib.rs", "pub fn here() {\n    inner()\n}\n").commit("one");
    project.run_ok("init");
    let text = ["--answers", "text", "--no-watch"];
    let (told_empty, _) = call_text(&mut pipe(&project, &text), "search_code", &json!({ "query": "here" }));
    check(&told_empty, "`codecompass index`");
    for (tool, arguments) in
        [("find_references", json!({ "symbol_name": "here" })), ("get_file_outline", json!({ "path": "src/lib.rs" }))]
    {
        let (text, is_error) = call_text(&mut pipe(&project, &text), tool, &arguments);
        assert!(is_error, "{text}");
        check(&text, "`codecompass index`");
    }
    project.run_ok("index");
    // Something inside a symbol changed.
    project.repository.write("src/lib.rs", "pub mod a {\n    pub fn b() {}\n}\n").commit("two");
    project.repository.write("src/lib.rs", "pub mod a {\n    pub fn b() { 1; }\n}\n").commit("three");
    let asked = json!({ "symbol_name": "a", "base_ref": "HEAD~1", "head_ref": "HEAD" });
    let args = ["--answers", "text", "--tools", "compare_symbol_between_commits"];
    let (compared, _) = call_text(&mut pipe(&project, &args), "compare_symbol_between_commits", &asked);
    assert!(compared.contains("`codecompass diff`") && !compared.contains("diff_context"), "{compared}");
}

#[test]
fn text_is_bounded_and_says_what_was_cut() {
    let body: String =
        (0..900).map(|number| format!("pub fn needle_{number}() -> u64 {{\n    {number}\n}}\n")).collect();
    let project = Project::indexed(&[("src/lib.rs", &body)]);
    let mut agent = pipe(&project, &["--answers", "text"]);
    let table = [
        ("grep_code", json!({ "pattern": "needle_" })),
        ("get_file_outline", json!({ "path": "src/lib.rs" })),
        ("read_code", json!({ "what": ["src/lib.rs:1-2700"] })),
        ("read_code", json!({ "what": ["src/lib.rs"] })),
    ];
    for (tool, arguments) in table {
        let (text, _) = call_text(&mut agent, tool, &arguments);
        assert!((1_000..10_000).contains(&text.len()), "{tool}: {} bytes", text.len());
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with('…') || last.starts_with("next: "), "{tool} ends with {last}");
    }
    let (text, _) = call_text(&mut agent, "read_code", &json!({ "what": ["src/lib.rs:1-2700"], "max_tokens": 30_000 }));
    assert!((20_000..40_000).contains(&text.len()), "{} bytes", text.len());
    let (text, _) = call_text(&mut agent, "read_code", &json!({ "what": ["src/lib.rs:1-2700"], "max_tokens": 100 }));
    assert!(text.len() < 600, "{text}");
}

#[test]
fn read_code_is_exact_and_reports_missing_items() {
    let source = "// Above.\nfunc odd() {\n\tif true {\n\t\treturn // \u{1b}[31m\n\t}\n}\n";
    let project = Project::indexed(&[("a/odd.go", source), ("b/long.md", "one\ntwo\n")]);
    let mut agent = pipe(&project, &["--answers", "text"]);
    let what = json!({ "what": ["odd", "nobody", "a/odd.go:3", "b/long.md:2-9", "b/gone.md"] });
    let (text, is_error) = call_text(&mut agent, "read_code", &what);
    assert!(!is_error);
    let whole = "a/odd.go:1-6 odd\n1|// Above.\nfunc odd() {\n\tif true {\n\t\treturn // \\u{1b}[31m\n\t}\n}\n";
    assert!(text.starts_with(whole), "{text}");
    assert!(text.contains("nobody: No symbol or file \"nobody\" is indexed."), "{text}");
    assert!(text.contains("b/long.md:2 (the file ends with line 2)\n2|two\n"), "{text}");
    assert!(text.contains("b/gone.md: \"b/gone.md\" is not in the index"), "{text}");
}

#[test]
fn known_branch_is_synced_on_demand() {
    let project = Project::indexed(&[("src/lib.rs", "pub fn old() {}\n")]);
    project.repository.branch("feat").write("src/new.rs", "pub fn brand_new() {}\n").commit("new");
    project.repository.checkout("main");
    let mut agent = pipe(&project, &["--answers", "text"]);
    let (text, is_error) = call_text(&mut agent, "search_code", &json!({ "query": "brand_new", "ref": "feat" }));
    assert!(!is_error && text.starts_with("src/new.rs:1 pub fn brand_new()"), "{text}");
    let (text, is_error) = call_text(&mut agent, "diff_context", &json!({ "base_ref": "main", "head_ref": "feat" }));
    assert!(!is_error && text.contains("src/new.rs\n +1 pub fn brand_new()"), "{text}");
    let mut machine = pipe(&project, &[]);
    project.repository.git(&["branch", "other"]);
    assert_eq!(machine.call_error("search_code", json!({ "query": "x", "ref": "other" })).0, "ref_not_indexed");
}

#[test]
fn client_roots_select_the_default_workspace() {
    let project = Project::indexed(&[("src/lib.rs", "pub fn here() {}\n")]);
    let root = project.repository.root().to_str().expect("UTF-8").to_owned();
    let paths = format!("{root},/nowhere/else");
    for (name, value) in [("CLAUDE_PROJECT_DIR", &root), ("WORKSPACE_FOLDER_PATHS", &paths)] {
        let cwd = std::path::Path::new("/");
        let mut agent = StdioClient::open_with(cwd, project.home.path(), &["--answers", "text"], &[(name, value)]);
        let (text, is_error) = call_text(&mut agent, "search_code", &json!({ "query": "here" }));
        assert!(!is_error && text.starts_with("src/lib.rs:1"), "{name}: {text}");
    }
    let mut agent = StdioClient::raw(std::path::Path::new("/"), project.home.path(), &["--answers", "text"]);
    let mut hello = initialize_params("2025-11-25");
    hello["capabilities"] = json!({ "roots": {} });
    agent.request("initialize", hello);
    agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let asked = agent.ask("tools/call", json!({ "name": "search_code", "arguments": { "query": "here" } }));
    let answer = loop {
        let message = agent.receive();
        if message["method"] == "roots/list" {
            let roots = json!([{ "uri": "https://example.org/" }, { "uri": format!("file://{root}") }]);
            agent.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": roots } }));
        } else if message["id"] == json!(asked) {
            break message;
        }
    };
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("src/lib.rs:1"), "roots: {answer}");
    let mut lost = pipe(&project, &["--answers", "text", "--workspace", "/"]);
    let (text, is_error) = call_text(&mut lost, "search_code", &json!({ "query": "here" }));
    assert!(is_error && text.contains("--workspace"), "{text}");
}
