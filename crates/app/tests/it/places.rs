//! Which work tree a text call is answered for: folders that hold repositories, worktrees, and what clients report.

use crate::support;

use std::path::Path;
use std::time::Duration;

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::Project;
use support::client::{Client, StdioClient, wait_until};
use tempfile::TempDir;

const TEXT: [&str; 3] = ["--answers", "text", "--no-watch"];
const TEXT_AND_INDEX: [&str; 4] = ["--answers", "text", "--no-watch", "--auto-index"];

/// The text of an answer or an error.
fn text_of(client: &mut StdioClient, params: Value) -> String {
    let response = client.request("tools/call", params);
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

fn call(client: &mut StdioClient, tool: &str, arguments: Value) -> String {
    text_of(client, json!({ "name": tool, "arguments": arguments }))
}

/// A plain folder with three clones, one of them a level deeper, and a worktree of the first.
fn folder_of_repositories() -> (TempDir, TempDir) {
    let (folder, home) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
    for (name, text) in [
        ("alpha", "pub fn shared_name() {}\npub fn only_alpha() { shared_name() }\n"),
        ("beta", "pub fn shared_name() {}\npub fn only_beta() {}\n"),
        ("group/gamma", "pub fn only_gamma() {}\n"),
    ] {
        let root = folder.path().join(name);
        let repository = Repository::new();
        repository.write("src/lib.rs", text).commit("first");
        std::fs::create_dir_all(root.parent().expect("it is below the folder")).expect("a folder");
        std::fs::rename(repository.root(), &root).expect("it can be moved");
    }
    let alpha = folder.path().join("alpha");
    let added = std::process::Command::new("git")
        .args(["worktree", "add", "--quiet", "-b", "feature", "../alpha-feature"])
        .current_dir(&alpha)
        .status();
    assert!(added.expect("git runs").success());
    (folder, home)
}

/// Waits until all repositories of the folder are indexed.
fn wait_for(client: &mut StdioClient, names: &[&str]) {
    for name in names {
        let mut last = String::new();
        let is_there = wait_until(Duration::from_secs(60), || {
            last = call(client, "search_code", json!({ "query": name }));
            last.contains(&format!("fn {name}"))
        });
        assert!(is_there, "{name}: {last}");
    }
}

#[test]
fn a_folder_of_repositories_is_asked_repository_by_repository() {
    let (folder, home) = folder_of_repositories();
    let mut agent = StdioClient::open(folder.path(), home.path(), &TEXT_AND_INDEX);
    wait_for(&mut agent, &["only_alpha", "only_beta", "only_gamma"]);
    let both = call(&mut agent, "search_code", json!({ "query": "shared_name" }));
    assert!(both.contains("# alpha\n") && both.contains("# beta\n"), "{both}");
    assert!(both.contains("Nothing found in group/gamma.") && !both.contains("alpha-feature"), "{both}");
    // The history names the repositories that answered.
    let answered = || {
        let history = std::fs::read_to_string(home.path().join("history.jsonl")).expect("it exists");
        let last: Value = serde_json::from_str(history.lines().last().expect("a call")).expect("JSON");
        last["repository"].as_str().expect("a repository").to_owned()
    };
    let all = answered();
    assert!(["alpha", "beta", "group/gamma"].iter().all(|name| all.contains(&format!("/{name}"))), "{all}");
    call(&mut agent, "search_code", json!({ "query": "shared_name", "workspace": "beta" }));
    assert!(answered().ends_with("/beta"), "{}", answered());
    // A name, a path from the folder and an absolute path mean one repository.
    let inside = folder.path().join("beta/src/lib.rs");
    for workspace in ["beta", "beta/src", inside.to_str().expect("UTF-8")] {
        let one = call(&mut agent, "search_code", json!({ "query": "shared_name", "workspace": workspace }));
        assert!(one.contains("src/lib.rs:1") && !one.contains("# "), "{workspace}: {one}");
        let none = call(&mut agent, "search_code", json!({ "query": "only_alpha", "workspace": workspace }));
        assert!(!none.contains("fn only_alpha"), "{workspace}: {none}");
    }
    let gamma = call(&mut agent, "search_code", json!({ "query": "only_gamma", "workspace": "gamma" }));
    assert!(gamma.contains("fn only_gamma"), "{gamma}");
    for path in ["group/gamma/src/lib.rs", "./beta/src/lib.rs"] {
        let outline = call(&mut agent, "get_file_outline", json!({ "path": path }));
        assert!(outline.contains("fn only_") && !outline.contains("# "), "{path}: {outline}");
    }
    let outline = call(&mut agent, "get_file_outline", json!({ "path": inside }));
    assert!(outline.contains("fn only_beta"), "{outline}");
    let rows = call(&mut agent, "grep_code", json!({ "pattern": "pub fn", "path_filter": "beta/src/*.rs" }));
    assert!(rows.contains("only_beta") && !rows.contains("only_alpha"), "{rows}");
}

#[test]
fn without_auto_index_only_indexed_repositories_answer() {
    let (folder, home) = folder_of_repositories();
    let alpha = folder.path().join("alpha");
    let indexed = std::process::Command::new(env!("CARGO_BIN_EXE_codecompass"))
        .args(["index", "--workspace"])
        .arg(&alpha)
        .env("CODECOMPASS_HOME", home.path())
        .output();
    assert!(indexed.expect("it runs").status.success());
    let mut agent = StdioClient::open(folder.path(), home.path(), &TEXT);
    let text = call(&mut agent, "search_code", json!({ "query": "shared_name" }));
    assert!(text.contains("# alpha\n") && !text.contains("# beta\n"), "{text}");
    assert!(text.contains("beta: ") && !text.contains("Nothing found in beta"), "{text}");
}

/// A repository whose worktree has another function, both indexed.
fn project_with_worktree() -> (Project, Repository) {
    let repository = Repository::new();
    repository.write("src/lib.rs", "pub fn in_main() {}\n").commit("first");
    repository.branch("feature").checkout("main");
    let project = Project::new(repository);
    project.run_ok("index");
    let worktree = project.repository.worktree("feature");
    worktree.write("src/lib.rs", "pub fn in_feature() {}\n").commit("second");
    (project, worktree)
}

fn outline_of(agent: &mut StdioClient, path: &Path) -> String {
    call(agent, "get_file_outline", json!({ "path": path }))
}

#[test]
fn paths_in_another_worktree_are_answered_for_that_worktree() {
    let (project, worktree) = project_with_worktree();
    let mut agent = StdioClient::open(project.repository.root(), project.home.path(), &TEXT);
    let first = call(&mut agent, "search_code", json!({ "query": "in_main" }));
    assert!(first.contains("fn in_main") && !first.contains("Answered for"), "{first}");
    let path = worktree.path("src/lib.rs");
    let outline = outline_of(&mut agent, &path);
    assert!(outline.contains("fn in_feature") && !outline.contains("fn in_main"), "{outline}");
    let note = format!("Answered for {}.\n", worktree.root().display());
    assert!(outline.starts_with(&note), "{outline}");
    // Only a change is worth a line.
    assert!(!outline_of(&mut agent, &path).contains("Answered for"));
    let back = outline_of(&mut agent, &project.repository.path("src/lib.rs"));
    assert!(back.starts_with(&format!("Answered for {}.\n", project.repository.root().display())), "{back}");
}

#[test]
fn a_worktree_that_the_client_reports_with_a_call_is_answered_for() {
    let (project, worktree) = project_with_worktree();
    let ask = |agent: &mut StdioClient, folder: &Path| {
        let workspaces = json!({ folder.to_str().expect("UTF-8"): { "latest_git_commit_hash": "0" } });
        let meta = json!({ "x-codex-turn-metadata": { "workspaces": workspaces } });
        let arguments = json!({ "path": "src/lib.rs" });
        text_of(agent, json!({ "name": "get_file_outline", "arguments": arguments, "_meta": meta }))
    };
    for options in [&TEXT[..], &["--answers", "text", "--no-watch", "--workspace", "."]] {
        let mut agent = StdioClient::open(project.repository.root(), project.home.path(), options);
        assert!(ask(&mut agent, project.repository.root()).contains("fn in_main"));
        let text = ask(&mut agent, worktree.root());
        assert!(text.contains("fn in_feature") && text.contains("Answered for"), "{text}");
    }
    // A folder that cannot be answered for is named once.
    let elsewhere = Repository::new();
    elsewhere.write("src/lib.rs", "pub fn elsewhere() {}\n").commit("first");
    let mut agent = StdioClient::open(project.repository.root(), project.home.path(), &TEXT);
    let text = ask(&mut agent, elsewhere.root());
    assert!(text.contains("fn in_main"), "{text}");
    assert!(text.contains(&format!("not for {}", elsewhere.root().display())), "{text}");
    assert!(!ask(&mut agent, elsewhere.root()).contains("not for"));
    // Nothing but its own workspace is answered for, with `--own-workspace-only`.
    let confined = ["--answers", "text", "--no-watch", "--own-workspace-only"];
    let mut agent = StdioClient::open(project.repository.root(), project.home.path(), &confined);
    assert!(ask(&mut agent, worktree.root()).contains("fn in_main"));
}
