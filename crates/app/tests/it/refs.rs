//! Refs: their listing, the effects when they move or are deleted, and the folders that are written for them.

use crate::support;

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use support::Project;
use support::client::{Client as _, StdioClient};

fn project() -> Project {
    let project =
        Project::with_files(&[("src/a.py", "def alpha():\n    return 1\n"), ("src/b.py", "def beta():\n    pass\n")]);
    let repository = &project.repository;
    repository.branch("feat/x");
    repository.write("src/c.py", "def gamma():\n    return alpha()\n").commit("gamma");
    repository.write("src/a.py", "def alpha():\n    return 2\n").commit("alpha");
    repository.checkout("main");
    repository.write("src/b.py", "def beta():\n    return 3\n").commit("beta");
    project.run_ok("index");
    project.run_ok("index --ref feat/x");
    project
}

fn row(project: &Project, name: &str) -> Value {
    let refs = project.json("refs");
    assert_eq!(refs["total_refs"], refs["refs"].as_array().map_or(0, Vec::len));
    let mut rows = refs["refs"].as_array().expect("a list").iter();
    rows.find(|row| row["ref"] == name).cloned().unwrap_or_else(|| panic!("{name} is not in {refs:#}"))
}

fn found(project: &Project, name: &str, options: &str) -> u64 {
    let reply = project.run(&format!("locate {name} {options} --json"));
    let answer: Value = serde_json::from_str(&reply.stdout).expect("JSON");
    answer["total_candidates"].as_u64().unwrap_or_else(|| panic!("{answer:#}"))
}

#[test]
fn refs_list_additions_and_distance() {
    let project = project();
    let (main, feat) = (row(&project, "main"), row(&project, "feat/x"));
    assert_eq!((&main["is_default"], &main["file_count"], &main["ahead"]), (&json!(true), &json!(2), &Value::Null));
    assert_eq!((&feat["file_count"], &feat["symbol_count"]), (&json!(2), &json!(2)), "{feat}");
    assert_eq!((&feat["ahead"], &feat["behind"]), (&json!(2), &json!(1)), "{feat}");
    assert_eq!(feat["merge_base_commit"], project.repository.rev("main~1"));
    let text = project.run_ok("refs");
    assert!(text.contains("feat/x") && text.contains("+2 files") && text.contains("2 ahead, 1 behind"), "{text}");
}

#[test]
fn moved_branch_is_followed() {
    let project = project();
    let repository = &project.repository;
    repository.checkout("feat/x");
    repository.write("src/d.py", "def delta():\n    pass\n").commit("delta");
    repository.checkout("main");
    assert_eq!(row(&project, "feat/x")["status"], "stale");
    assert_eq!(found(&project, "delta", "--ref feat/x --no-sync"), 0);
    assert_eq!(found(&project, "delta", "--ref feat/x"), 1);
    assert_eq!(row(&project, "feat/x")["status"], "active");
    // Reset and continued elsewhere, as by a force-push.
    repository.git(&["branch", "--force", "feat/x", "feat/x~3"]);
    assert_eq!((found(&project, "delta", "--ref feat/x"), found(&project, "gamma", "--ref feat/x")), (0, 0));
    assert_eq!(found(&project, "beta", "--ref feat/x"), 1);
}

#[test]
fn deleted_branch_is_not_listed() {
    let project = project();
    project.repository.git(&["branch", "--quiet", "-D", "feat/x"]);
    assert_eq!(row(&project, "feat/x")["status"], "stale");
    let error = project.json_expecting("locate gamma --ref feat/x", 5);
    assert_eq!(error["error"]["code"], "ref_not_indexed", "{error:#}");
    assert_eq!(found(&project, "gamma", ""), 0);
}

#[test]
fn alias_of_default_branch_shares_its_content() {
    let project = project();
    project.repository.git(&["branch", "--move", "main", "trunk"]);
    let answer = project.json("locate beta");
    assert_eq!((&answer["metadata"]["ref"], &answer["total_candidates"]), (&json!("trunk"), &json!(1)));
    assert_eq!(answer["results"][0]["source_layer"], "base", "{answer:#}");
    assert_eq!(row(&project, "trunk")["is_default"], true);
}

#[test]
fn detached_head_and_tags() {
    let project = project();
    let repository = &project.repository;
    let commit = repository.rev("feat/x");
    repository.tag("v1");
    repository.git(&["checkout", "--quiet", "--detach", "feat/x"]);
    repository.write("src/loose.py", "def loose():\n    pass\n");
    let answer = project.json("locate loose");
    assert_eq!((&answer["metadata"]["ref"], &answer["total_candidates"]), (&json!(commit), &json!(1)));
    assert_eq!(answer["results"][0]["source_layer"], "overlay");
    let error = project.json_without_refs("locate beta --ref v1", 5);
    assert_eq!(error["error"]["code"], "ref_not_indexed", "{error:#}");
    let call = &error["error"]["data"];
    assert!(call.to_string().contains("index_repo") && call.to_string().contains("v1"), "{call}");
    project.run_ok("index --ref v1");
    assert_eq!(found(&project, "beta", "--ref v1"), 1);
    assert_eq!(found(&project, "loose", "--ref v1"), 0);
}

#[test]
fn switch_to_unindexed_ref_suggests_indexing() {
    let project = project();
    project.repository.tag("v1");
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &[]);
    for name in ["v1", "nobody/has-it"] {
        let (code, error) = client.call_error("switch_ref", json!({ "ref": name }));
        assert_eq!(code, "ref_not_indexed", "{error}");
        assert_eq!(error["data"]["call"], json!({ "tool": "index_repo", "params": { "ref": name } }), "{error}");
        let message = error["message"].as_str().expect("a text");
        assert!(message.contains("index_repo") && message.contains(name), "{message}");
    }
    // If git has the ref, the call fixes the error.
    client.call("index_repo", json!({ "ref": "v1" }));
    client.wait_for_index(json!({ "ref": "v1" }));
    assert_eq!(client.call("switch_ref", json!({ "ref": "v1" }))["ref"], "v1");
}

#[cfg(unix)]
#[test]
fn managed_worktree_is_written_to_the_data_folder() {
    let project = project();
    let repository = &project.repository;
    repository.checkout("feat/x");
    repository.write("run.sh", "#!/bin/sh\n");
    std::os::unix::fs::symlink("/etc/hostname", repository.path("link")).expect("links can be created");
    fs::set_permissions(repository.path("run.sh"), fs::Permissions::from_mode(0o755)).expect("the test owns it");
    repository.write(".gitattributes", "*.py filter=evil\n").commit("odd files");
    repository.git(&["config", "filter.evil.smudge", "touch smudged"]);
    repository.checkout("main");
    project.run_ok("index --ref feat/x");
    let before = repository.git(&["worktree", "list"]);
    let config = project.home.path().join("config.toml");
    let switch = |project: &Project| {
        let mut client = StdioClient::open(project.repository.root(), project.home.path(), &[]);
        client.call("switch_ref", json!({ "ref": "feat/x" }))
    };
    assert_eq!(switch(&project)["worktree_path"], Value::Null);
    fs::write(&config, "[vcs]\nmanaged_worktrees = true\n").expect("the data folder can be written");
    let answer = switch(&project);
    let root = Path::new(answer["worktree_path"].as_str().unwrap_or_else(|| panic!("{answer:#}"))).to_owned();
    assert!(root.starts_with(project.home.path()) && root.ends_with("feat-x"), "{}", root.display());
    assert_eq!(fs::read_to_string(root.join("src/a.py")).expect("a file"), "def alpha():\n    return 2\n");
    assert_eq!(fs::read_to_string(root.join("link")).expect("a file"), "/etc/hostname");
    assert!(!root.join("link").is_symlink() && !root.join(".git").exists());
    let mode = |path: &str| fs::metadata(root.join(path)).expect("a file").permissions().mode() & 0o111;
    assert!(mode("run.sh") != 0 && mode("src/a.py") == 0);
    assert_eq!(repository.git(&["worktree", "list"]), before);
    assert!(!repository.path("smudged").exists() && !root.join("smudged").exists());
    // The ref moves, and its folder is updated.
    repository.checkout("feat/x");
    repository.delete("src/c.py").commit("gone");
    repository.checkout("main");
    project.run_ok("index --ref feat/x");
    assert_eq!(switch(&project)["worktree_path"], answer["worktree_path"]);
    assert!(!root.join("src/c.py").exists() && root.join("src/a.py").exists());
    let left: Vec<_> = fs::read_dir(root.parent().expect("a folder")).expect("it exists").flatten().collect();
    assert_eq!(left.len(), 2, "{left:?}");
    // The folder is deleted with its ref.
    repository.git(&["branch", "--quiet", "-D", "feat/x"]);
    project.run_ok("prune-overlays");
    let left: Vec<_> = fs::read_dir(root.parent().expect("a folder")).expect("it exists").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
