//! Paths as users and agents give them: from the working folder, from the root, absolute; and skipped files.

use crate::support;

use std::path::Path;

use codecompass_testkit::shell_words::quote;
use serde_json::{Value, json};
use support::Project;
use support::client::{Client as _, StdioClient};

const FILES: &[(&str, &str)] = &[
    ("src/a.rs", "pub fn alpha() {\n    beta();\n}\n\npub fn beta() {}\n"),
    ("crates/one/src/a.rs", "pub fn alpha() {}\n"),
    ("crates/one/src/b.rs", "pub fn gamma() {\n    crate::a::alpha();\n}\n"),
    ("crates/oneself/c.rs", "pub fn alpha() {}\n"),
];

fn project() -> Project {
    Project::indexed(FILES)
}

fn root(project: &Project) -> &str {
    project.repository.root().to_str().expect("UTF-8")
}

/// Runs a command in a folder of the repository. Returns its exit code and its output.
fn inside(project: &Project, folder: &str, command: &str) -> (Option<i32>, String) {
    let reply = project.run_at(&project.repository.path(folder), command, &[]);
    (reply.code, reply.stdout + &reply.stderr)
}

/// Returns the start of the answer to a command in a folder.
#[track_caller]
fn expect(project: &Project, folder: &str, command: &str, beginning: &str) {
    let (code, said) = inside(project, folder, command);
    assert!(code == Some(0) && said.starts_with(beginning), "`{command}` in {folder:?} ends with {code:?}:\n{said}");
}

#[test]
fn file_paths_resolve_from_folder_root_or_absolute() {
    let project = project();
    let absolute = quote(&format!("{}/src/a.rs", root(&project)));
    let near = "crates/one/src/a.rs";
    expect(&project, "crates/one", "outline src/a.rs", near);
    expect(&project, "crates/one/src", "outline a.rs", near);
    expect(&project, "crates/one/src", "outline ./a.rs", near);
    expect(&project, "crates/one/src", "outline ../../../src/a.rs", "src/a.rs");
    expect(&project, "crates/one/src", "outline crates/one/src/b.rs", "crates/one/src/b.rs");
    expect(&project, "crates", &format!("outline {absolute}"), "src/a.rs");
    expect(&project, "", "outline ./src/a.rs", "src/a.rs");
    expect(&project, "crates/one", "facts src/a.rs", "crates/one/src/a.rs: rust");
    expect(&project, "crates", "facts src/a.rs", "src/a.rs: rust");
    // An explicit workspace, and a folder outside it.
    let elsewhere = format!("outline src/a.rs --workspace {}", quote(root(&project)));
    let reply = project.run_at(Path::new("/"), &elsewhere, &[]);
    assert!(reply.stdout.starts_with("src/a.rs"), "{}", reply.stderr);

    expect(&project, "crates/one", "references alpha --in src/a.rs", "alpha crates/one/src/a.rs:1");
    expect(&project, "crates/one", "callers beta --in ../../src/a.rs", "beta src/a.rs:5");
    expect(&project, "crates/one", "hierarchy alpha --in ./src/a.rs", "crates/one/src/a.rs:1 pub fn alpha()");
    expect(&project, "crates/one/src", "related alpha --in a.rs --scope module", "alpha crates/one/src/a.rs:1");
    expect(&project, "crates", &format!("related beta --in {absolute}"), "beta src/a.rs:5");
    expect(&project, "crates/one", "explain alpha src/a.rs:1", "crates/one/src/a.rs:1-1");
    expect(&project, "crates/one", "context --symbol src/b.rs:1-2", "crates/one/src/b.rs:1");
    expect(&project, "crates", &format!("context --symbol {absolute}:2"), "src/a.rs:1");
}

#[test]
fn compare_accepts_a_file_of_either_ref() {
    let project = project();
    project.repository.write("src/a.rs", "pub fn alpha() {\n    beta(1);\n}\n\npub fn beta() {}\n").commit("one");
    let (code, said) = inside(&project, "crates", "compare alpha HEAD~1 HEAD --in ../src/a.rs --json");
    let answer: Value = serde_json::from_str(&said).expect("an answer is JSON");
    assert_eq!((code, &answer["path"]), (Some(0), &json!("src/a.rs")), "{answer}");
    assert_eq!(answer["diff_summary"]["status"], "modified");
}

#[test]
fn grep_paths_start_at_the_working_folder() {
    let project = project();
    let grep = |folder: &str, paths: &str| {
        let (_, said) = inside(&project, folder, &format!("grep -l 'fn (alpha|gamma)' {paths}"));
        said.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let one = ["crates/one/src/a.rs", "crates/one/src/b.rs"];
    assert_eq!(grep("crates/one", "."), one);
    assert_eq!(grep("crates/one/src", "./"), one);
    assert_eq!(grep("crates/one/src", ".."), one);
    assert_eq!(grep("", "."), ["crates/one/src/a.rs", "crates/one/src/b.rs", "crates/oneself/c.rs", "src/a.rs"]);
    assert_eq!(grep("crates/one", "src"), one);
    assert_eq!(grep("crates/one", "'src/*.rs' '!b.rs'"), ["crates/one/src/a.rs"]);
    assert_eq!(grep("crates", "src"), ["src/a.rs"], "the path from the root, as the folder has none");
    assert_eq!(grep("crates", &quote(&format!("{}/src", root(&project)))), ["src/a.rs"]);
    assert_eq!(grep("", "c.rs src"), ["crates/oneself/c.rs", "src/a.rs"]);

    let search = |folder: &str, filter: &str| {
        let (_, said) =
            inside(&project, folder, &format!("search 'fn alpha' --mode literal --path-filter {filter} --json"));
        let answer: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
        let results = answer["results"].as_array().expect("a list").iter();
        let mut paths: Vec<String> = results.map(|hit| hit["path"].as_str().expect("text").to_owned()).collect();
        paths.sort();
        paths
    };
    assert_eq!(search("crates/one", "."), ["crates/one/src/a.rs"]);
    assert_eq!(search("crates", "crates/one"), ["crates/one/src/a.rs", "crates/oneself/c.rs"], "a prefix");
    assert_eq!(search("crates", "c.rs"), ["crates/oneself/c.rs"], "a name");

    project.repository.write("src/a.rs", "pub fn alpha() {}\n").write("crates/one/src/b.rs", "pub fn delta() {}\n");
    let (_, said) = inside(&project, "crates/one", "diff HEAD @worktree --path-filter src --json");
    let answer: Value = serde_json::from_str(&said).expect("an answer is JSON");
    let files = answer["file_changes"].as_array().expect("a list");
    assert_eq!(files.iter().map(|file| &file["path"]).collect::<Vec<_>>(), ["crates/one/src/b.rs"]);
    let (_, said) = inside(&project, "", "diff HEAD @worktree --path-filter '*.rs,!b.rs' --json");
    let answer: Value = serde_json::from_str(&said).expect("an answer is JSON");
    assert_eq!(answer["file_changes"][0]["path"], "src/a.rs", "patterns apply here, too");
    assert_eq!(answer["affected_files"], 1);
}

#[test]
fn path_outside_the_workspace_is_an_error() {
    let project = project();
    for command in [
        "outline ../elsewhere.rs",
        "outline /etc/passwd",
        "grep x ../..",
        "grep x /etc",
        "search x --path-filter ../x",
        "references alpha --in /etc/passwd",
        "hierarchy alpha --in ../a.rs",
        "explain alpha /etc/passwd:1",
        "context --symbol /etc/passwd:1-3",
        "compare alpha HEAD HEAD --in /etc/passwd",
        "diff HEAD @worktree --path-filter /etc",
        "sync --changed /etc/passwd",
    ] {
        let error = project.json_expecting(command, 2);
        assert_eq!(error["error"]["code"], "invalid_input", "`{command}`: {error}");
        let message = error["error"]["message"].as_str().expect("text");
        assert!(message.contains("leads out of the workspace") && message.contains(root(&project)), "{message}");
        assert_eq!(error["metadata"]["codecompass_protocol_version"], "1.0");
    }
}

#[test]
fn changed_files_resolve_from_folder_then_root() {
    let project = project();
    let changed = |folder: &str, path: &str| {
        let (code, said) = inside(&project, folder, &format!("sync --changed {path} --json"));
        let answer: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
        (code, answer["changed_files"].as_u64())
    };
    project.repository.write("src/a.rs", "pub fn newest() {}\n");
    assert_eq!(changed("crates/one", "src/b.rs"), (Some(0), Some(0)));
    assert_eq!(changed("crates", "src/a.rs"), (Some(0), Some(1)), "from the root");
    project.repository.delete("crates/one/src/b.rs");
    assert_eq!(changed("crates/one", "src/b.rs"), (Some(0), Some(1)), "deleted files are checked, too");
}

#[cfg(unix)]
#[test]
fn link_to_the_workspace_is_accepted() {
    let project = project();
    let link = project.home.path().join("link");
    std::os::unix::fs::symlink(project.repository.root(), &link).expect("a link can be created");
    let link = quote(link.to_str().expect("UTF-8"));
    expect(&project, "", &format!("outline {link}/src/a.rs"), "src/a.rs");
    expect(&project, "", &format!("grep alpha {link}/crates/one/"), "crates/one/src/a.rs:1:");
    expect(&project, "", &format!("grep -l alpha {link}"), "crates/one/src/a.rs\n");
}

/// A repository with a file for each skip reason.
fn sparse() -> Project {
    let project = Project::with_files(FILES);
    let repository = &project.repository;
    repository.write(".gitignore", "/scratch/\n*.tmp.rs\n");
    repository.write("binary.rs", b"pub fn binary() {}\n\0");
    repository.write("minified.py", format!("def minified(): return [{}]\n", "1,".repeat(4000)));
    repository.write("large.rs", format!("pub fn large() {{}}\n{}", "// filler\n".repeat(110_000)));
    repository.write("keys/server.key", "x").write("node_modules/dep/x.py", "def foreign(): pass\n");
    repository.write(".gitattributes", "made.rs linguist-generated\n").write("made.rs", "pub fn made() {}\n");
    repository.commit("all of it");
    repository.write("scratch/deep/note.rs", "pub fn note() {}\n").write("x.tmp.rs", "pub fn x() {}\n");
    project.run_ok("index");
    project
}

const SKIPPED: &[(&str, &str, &str)] = &[
    ("large.rs", "too_large", "larger than 1024 KiB"),
    ("binary.rs", "binary", "not text"),
    ("minified.py", "minified", "made of very long lines"),
    ("keys/server.key", "secret", "may hold a secret"),
    ("node_modules/dep/x.py", "builtin_folder", "in a folder that is left out by default"),
    ("made.rs", "generated", "marked linguist-generated"),
];

const IGNORED: &[(&str, &str, &str)] = &[
    ("scratch/deep/note.rs", "ignored", "matched by an ignore file"),
    ("x.tmp.rs", "ignored", "matched by an ignore file"),
];

#[test]
fn skipped_file_says_why() {
    let project = sparse();
    for (path, word, words) in SKIPPED.iter().chain(IGNORED) {
        let error = project.json_expecting(&format!("outline {path}"), 1)["error"].clone();
        assert_eq!((&error["code"], &error["data"]["left_out"]), (&json!("file_not_found"), &json!(word)), "{error}");
        let message = error["message"].as_str().expect("text");
        assert!(message.starts_with(&format!("\"{path}\" is excluded from the index for main: {words}.")), "{message}");

        let error = project.json_expecting(&format!("references alpha --in {path}"), 1)["error"].clone();
        let message = error["message"].as_str().expect("text");
        assert!(message.contains(&format!("the file is excluded from the index, {words}.")), "{message}");
        assert_eq!((&error["code"], &error["data"]["left_out"]), (&json!("symbol_not_found"), &json!(word)), "{error}");

        let error = project.json_expecting(&format!("explain alpha {path}:1"), 1)["error"].clone();
        assert_eq!((&error["code"], &error["data"]["why"]["left_out"]), (&json!("result_not_found"), &json!(word)));
        assert!(error["message"].as_str().is_some_and(|text| text.contains(words)), "{error}");

        let context = project.json_expecting(&format!("context --symbol {path}:1-2"), 1);
        let warning = context["metadata"]["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.starts_with(&format!("{path}:1-2: ")) && warning.contains(words), "{context}");
    }
    // Other spellings of a path are the same path.
    let (code, said) = inside(&project, "crates/one", "outline ../../large.rs");
    assert!(code == Some(1) && said.contains("larger than 1024 KiB"), "{said}");
    // The message names the limit in force.
    let limited = project.run_with("outline src/a.rs", &[("CODECOMPASS_INDEX_MAX_FILE_KIB", "1")]);
    assert!(limited.succeeded(), "{}", limited.stderr);
    let limited = project.run_with("outline large.rs", &[("CODECOMPASS_INDEX_MAX_FILE_KIB", "3")]);
    assert!(limited.stderr.contains("larger than 3 KiB"), "{}", limited.stderr);
}

#[test]
fn skipped_file_of_a_branch_says_why() {
    let project = sparse();
    project.repository.branch("bare").delete("large.rs").delete("binary.rs").delete("made.rs").commit("less");
    project.run_ok("sync");
    project.run_ok("index --ref main");
    for (path, word, words) in SKIPPED {
        let error = project.json_expecting(&format!("outline {path} --ref main"), 1)["error"].clone();
        assert_eq!(error["data"]["left_out"], *word, "{error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(words)), "{error}");
    }
    // A commit does not have files that git ignores, and the branch does not have those it deleted.
    for command in ["outline x.tmp.rs --ref main", "outline large.rs", "outline nowhere/at/all.rs --ref main"] {
        let error = project.json_expecting(command, 1)["error"].clone();
        assert!(error["message"].as_str().is_some_and(|text| text.contains("is not in the index for")), "{error}");
        assert_eq!((&error["code"], &error["data"]["left_out"]), (&json!("file_not_found"), &Value::Null), "{error}");
    }
}

#[test]
fn folder_and_unindexed_file_are_reported() {
    let project = project();
    for path in ["src", "./src/", "."] {
        let error = project.json_expecting(&format!("outline {path}"), 1);
        let said = error["error"]["message"].as_str().expect("a message");
        assert!(said.contains("is a folder, not a file"), "{said}");
        assert!(
            project.run_ok(&format!("outline {path}")).contains("src/a.rs"),
            "the command line shows all its files"
        );
    }
    project.repository.write("src/later.rs", "pub fn later() {}\n");
    let said = project.run_expecting("outline src/later.rs --no-sync", 1);
    assert!(said.contains("\"src/later.rs\" exists, but is not indexed yet.") && said.contains("sync"), "{said}");
    let said = project.run_expecting("outline src/never.rs", 1);
    assert!(said.contains("\"src/never.rs\" is not in the index for main."), "{said}");
    let said = project.run_expecting("context --symbol src/a.rs:99", 1);
    assert!(said.contains("src/a.rs has no line 99"), "{said}");
}

#[test]
fn agent_paths_are_root_relative_or_absolute() {
    let project = sparse();
    // The folder in which the server was started does not matter.
    let mut pipe = StdioClient::open(&project.repository.path("crates/one"), project.home.path(), &[]);
    let absolute = |path: &str| format!("{}/{path}", root(&project));
    for path in ["src/a.rs".to_owned(), "./src/a.rs".into(), "crates/../src/a.rs".into(), absolute("src/a.rs")] {
        assert_eq!(pipe.call("get_file_outline", json!({ "path": path }))["file_path"], "src/a.rs", "{path}");
        for tool in ["find_references", "get_call_graph", "find_related_symbols", "get_symbol_hierarchy"] {
            let answer = pipe.call(tool, json!({ "symbol_name": "alpha", "path": path })).to_string();
            assert!(answer.contains("\"src/a.rs\"") && !answer.contains("warnings"), "{tool} {path}: {answer}");
        }
        let asked = json!({ "query": "alpha", "result_path": path, "result_line_start": 1 });
        assert_eq!(pipe.call("explain_ranking", asked)["result"]["path"], "src/a.rs", "{path}");
        let context = pipe.call("get_code_context", json!({ "query": "", "symbols": [format!("{path}:1-3")] }));
        assert_eq!(context["context_items"][0]["path"], "src/a.rs", "{path}");
        let found = pipe.call("search_code", json!({ "query": "alpha", "kind": "fn", "path_filter": path }));
        let paths: Vec<&Value> = found["results"].as_array().expect("a list").iter().map(|hit| &hit["path"]).collect();
        assert!(!paths.is_empty() && paths.iter().all(|found| **found == "src/a.rs"), "{path}: {found}");
    }
    let (code, error) = pipe.call_error("get_file_outline", json!({ "path": absolute("large.rs") }));
    assert_eq!((code.as_str(), &error["data"]["left_out"]), ("file_not_found", &json!("too_large")), "{error}");
    for (tool, arguments) in [
        ("get_file_outline", json!({ "path": "/etc/passwd" })),
        ("get_file_outline", json!({ "path": "../x.rs" })),
        ("find_references", json!({ "symbol_name": "alpha", "path": "/etc/passwd" })),
        ("search_code", json!({ "query": "alpha", "path_filter": "/etc/passwd" })),
        ("search_code", json!({ "query": "alpha", "path_filter": "a[" })),
        ("diff_context", json!({ "head_ref": "@worktree", "path_filter": "../x" })),
        ("diff_context", json!({ "head_ref": "@worktree", "path_filter": "a[" })),
        ("get_code_context", json!({ "query": "", "symbols": ["/etc/passwd:1-3"] })),
    ] {
        assert_eq!(pipe.call_error(tool, arguments.clone()).0, "invalid_input", "{tool} {arguments}");
    }
}
