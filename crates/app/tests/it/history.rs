//! `history`, the running servers in `status`, and `config set` and `config edit`.

use crate::support;

use std::fs;

use serde_json::json;
use support::client::{Client as _, StdioClient};
use support::{PROGRAM, Project};

fn project() -> Project {
    Project::indexed(&[("src/lib.rs", "pub fn greet() {}\n")])
}

/// Asks a server for a name that exists and for one that does not, and returns what `status` says meanwhile.
fn ask(project: &Project) -> String {
    let mut client =
        StdioClient::open(project.repository.root(), project.home.path(), &["--answers", "text", "--no-watch"]);
    for pattern in ["greet", "nothing_has_this_name"] {
        client.request("tools/call", json!({ "name": "grep_code", "arguments": { "pattern": pattern } }));
    }
    project.run_ok("status")
}

#[test]
fn history_has_the_calls_of_agents() {
    let project = project();
    assert!(project.run_expecting("history", 1).contains("No agent has asked"));
    let status = ask(&project);
    assert!(status.contains("  server ") && status.contains("(stdio"), "{status}");
    let calls = project.json("history")["calls"].as_array().cloned().expect("a list");
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert_eq!(calls[1]["tool"], "grep_code");
    assert_eq!(calls[1]["arguments"]["pattern"], "greet");
    assert_eq!((&calls[1]["found"], &calls[0]["found"]), (&json!(true), &json!(false)), "the last comes first");
    assert!(calls[1]["tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{calls:?}");
    assert!(calls[1].get("answer").is_none() && calls[1]["ms"].is_number(), "{calls:?}");
    let text = project.run_ok("history");
    assert!(text.contains("grep_code pattern=\"greet\"") && text.contains("not found"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let meta = fs::metadata(project.home.path().join("history.jsonl")).expect("it exists");
        assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    }
    // With the answers, and then turned off.
    project.run_ok("config set history.answers true");
    ask(&project);
    let calls = project.json("history")["calls"].as_array().cloned().expect("a list");
    assert!(calls[1]["answer"].as_str().is_some_and(|answer| answer.contains("src/lib.rs")), "{calls:?}");
    project.run_ok("history --clear");
    project.run_ok("config set history.enabled false");
    ask(&project);
    project.run_expecting("history", 1);
    assert!(!project.home.path().join("history.jsonl").exists());
}

#[test]
fn server_that_creates_the_data_folder_is_listed() {
    let project = Project::with_files(&[("src/lib.rs", "pub fn greet() {}\n")]);
    let data = project.home.path().join("not/yet");
    let arguments = ["--answers", "text", "--no-watch", "--auto-index"];
    let mut client = StdioClient::open(project.repository.root(), &data, &arguments);
    client.request("tools/call", json!({ "name": "grep_code", "arguments": { "pattern": "greet" } }));
    let status = std::process::Command::new(PROGRAM)
        .arg("status")
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", &data)
        .output()
        .expect("it runs");
    let status = String::from_utf8_lossy(&status.stdout);
    assert!(status.contains("  server ") && status.contains("(stdio"), "{status}");
}

#[test]
fn config_is_set_and_edited() {
    let project = project();
    let file = project.home.path().join("config.toml");
    project.run_ok("config set index.threads 3");
    assert_eq!(fs::read_to_string(&file).expect("it exists"), "[index]\nthreads = 3\n");
    assert!(project.run_ok("config show").contains("index.threads = 3"));
    for (command, part) in [
        ("config set index.thread 3", "did you mean index.threads?"),
        ("config set index.threads many", "must be a number"),
        ("config set threads 3", "config show"),
    ] {
        let said = project.run_expecting(command, 2);
        assert!(said.contains(part) && !said.contains(".new"), "{command}: {said}");
        assert_eq!(fs::read_to_string(&file).expect("it exists"), "[index]\nthreads = 3\n", "{command}");
    }
    let other = project.home.path().join("other.toml");
    fs::write(&other, "[mcp]\nanswers = \"text\"\n").expect("it can be written");
    let editor = format!("cp {}", other.display());
    assert!(project.run_with("config edit", &[("EDITOR", &editor)]).succeeded());
    assert!(project.run_ok("config show").contains("mcp.answers = \"text\""));
    fs::write(&other, "[mcp]\nanswers = \"loud\"\n").expect("it can be written");
    let reply = project.run_with("config edit", &[("EDITOR", &editor)]);
    assert!(reply.code == Some(2) && reply.stderr.contains("mcp.answers must be one of"), "{reply:?}");
    let reply = project.run_with("config edit", &[("EDITOR", "no-such-editor-at-all")]);
    assert!(reply.code == Some(2) && reply.stderr.contains("EDITOR"), "{reply:?}");
}
