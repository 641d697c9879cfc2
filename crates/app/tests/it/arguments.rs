//! Arguments of any length: every string and list of every tool has a limit, and values within it are answered quickly.

use crate::support;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient};

/// The maximum time of an answer. The tests run unoptimised and in parallel.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of characters of an argument that a message repeats, plus the message's own text.
const REPEATED: usize = 200;

fn client(project: &Project) -> StdioClient {
    StdioClient::open(project.repository.root(), project.home.path(), &["--tools", "all", "--no-watch", "--no-prewarm"])
}

fn project() -> Project {
    Project::indexed(&[
        ("src/main.rs", "fn main() { helper(); }\nfn helper() {}\n"),
        ("src/deep/er/a.py", "def helper():\n    pass\n"),
        ("long.txt", &("a ".repeat(5000) + "\n")),
    ])
}

/// Returns every parameter of every tool that takes strings: the tool, arguments that are valid except for the required
/// strings, the name and the type.
fn parameters(client: &mut StdioClient) -> Vec<(String, Value, String, String)> {
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let mut found = Vec::new();
    for tool in tools.as_array().expect("a list of tools") {
        let name = tool["name"].as_str().expect("a name");
        // They would index a project that does not exist, or change the subject of later calls.
        if matches!(name, "index_repo" | "switch_ref") {
            continue;
        }
        let schema = &tool["inputSchema"];
        let properties = schema["properties"].as_object().expect("an object");
        let valid = |kind: &Value| match kind.as_str() {
            Some("array") => json!(["helper"]),
            Some("object") => json!({}),
            Some("integer") => json!(1),
            _ => json!("helper"),
        };
        let mut arguments = json!({});
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            arguments[required] = valid(&properties[required]["type"]);
        }
        for (parameter, property) in properties {
            let kind = property["type"].as_str().unwrap_or_default();
            if matches!(kind, "string" | "array" | "object") {
                found.push((name.to_owned(), arguments.clone(), parameter.clone(), kind.to_owned()));
            }
        }
    }
    assert!(found.len() > 40, "{found:?}");
    found
}

/// Calls a tool and checks that the answer is quick and that an error repeats little of the text.
fn ask(client: &mut StdioClient, tool: &str, arguments: &Value, text: &str) -> Value {
    let started = Instant::now();
    let result = client.result(tool, arguments.clone());
    let took = started.elapsed();
    let beginning: String = text.chars().take(40).collect();
    assert!(took < ANSWER_TIMEOUT, "{tool}, {} bytes of {beginning:?}: {took:?}", text.len());
    let message = result["answer"]["error"]["message"].as_str().unwrap_or_default();
    let repeated: String = text.chars().take(REPEATED).collect();
    let repeats = text.len() > REPEATED && message.contains(&repeated);
    assert!(!repeats, "{tool} repeats {} bytes of {beginning:?}: {message}", text.len());
    result
}

#[test]
fn oversized_arguments_are_refused_by_name() {
    let project = project();
    let mut client = client(&project);
    for (tool, mut arguments, parameter, kind) in parameters(&mut client) {
        let text = "a/".repeat(1 << 19);
        let values = match kind.as_str() {
            "string" => vec![json!(text)],
            "array" => vec![json!([text]), json!(vec!["a"; 1000])],
            _ => vec![json!({ "a": [text, text] }), (0..60).fold(json!({}), |inner, _| json!({ "a": inner }))],
        };
        for value in values {
            arguments[&parameter] = value;
            let error = ask(&mut client, &tool, &arguments, &text)["answer"]["error"].clone();
            let is_choice = error["data"]["allowed"].is_array();
            let code = error["code"].as_str().unwrap_or_default();
            assert!(code == "invalid_input" || is_choice, "{tool}.{parameter}: {error}");
            assert_eq!(error["data"]["parameter"], json!(parameter), "{tool}: {error}");
            assert!(is_choice || error["data"]["maximum"].is_u64(), "{tool}: {error}");
            assert!(error["message"].as_str().is_some_and(|message| message.len() < 1000), "{tool}: {error}");
        }
    }
}

#[test]
fn arguments_at_the_limit_are_answered_quickly() {
    let project = project();
    let mut client = client(&project);
    let units = ["a", "a/", "../", "a,", "{a,", "*/", "(", "a.", "a::", "é ", "\"a\" ", "a.rs:1 ", "%", "[a", "A"];
    for (tool, arguments, parameter, kind) in parameters(&mut client) {
        let most = if parameter == "query" { 64 << 10 } else { 4 << 10 };
        for unit in units {
            let mut arguments = arguments.clone();
            let text = unit.repeat(most / unit.len());
            arguments[&parameter] = match kind.as_str() {
                "string" => json!(text),
                "array" => json!([text, text, "helper"]),
                _ => json!({ "tool": text, "params": { "query": text }, "results": [text] }),
            };
            ask(&mut client, &tool, &arguments, &text);
        }
    }
}

#[test]
fn unknown_parameters_are_shortened_in_errors() {
    let project = project();
    let mut client = client(&project);
    let name = "a".repeat(1 << 20);
    let mut arguments = json!({ "name": "helper" });
    arguments[&name] = json!(1);
    let (code, error) = client.call_error("locate_symbol", arguments);
    assert_eq!(code, "invalid_input");
    assert!(error.to_string().len() < 2000, "{} bytes", error.to_string().len());
}

/// 40 KB of patterns took five seconds.
#[test]
fn path_filter_is_bounded() {
    let project = project();
    let mut client = client(&project);
    let patterns: Vec<String> = (0..256).map(|at| format!("*.{at}")).collect();
    let few = patterns.join(",");
    let answer = client.call(
        "grep_code",
        json!({ "pattern": "helper", "path_filter": format!("{few},*.py").replacen("*.0,", "", 1) }),
    );
    assert_eq!(answer["total_matches"], 1, "{answer}");
    let (code, error) =
        client.call_error("grep_code", json!({ "pattern": "helper", "path_filter": format!("{few},*.py") }));
    assert_eq!((code.as_str(), &error["data"]["maximum"]), ("invalid_input", &json!(256)), "{error}");
}
