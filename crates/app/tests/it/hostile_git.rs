//! Hostile git folders: files that block their reader, and paths that lead into other repositories.

#![cfg(unix)]

use crate::support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::Project;
use support::client::{Client, HttpClient, Server, http};

/// More than the time limit for opening a repository, and far less than for ever.
const ANSWERED: Duration = Duration::from_secs(20);

const SECRET: &str = "their_secret_function";

fn server(project: &Project, args: &[&str]) -> Server {
    let mut all = vec!["--transport", "http", "--port", "0", "--no-prewarm", "--no-watch"];
    all.extend(args);
    Server::start(project.repository.root(), project.home.path(), &all, &[])
}

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git can be run");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn real(path: &Path) -> String {
    path.canonicalize().expect("it exists").display().to_string()
}

/// Creates a repository with one file in one commit.
fn commit_at(folder: &Path, name: &str) -> String {
    fs::create_dir_all(folder).expect("it can be created");
    git(folder, &["init", "-q", "-b", "main"]);
    fs::write(folder.join("a.rs"), format!("pub fn {name}() {{}}\n")).expect("it can be written");
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", "one"]);
    git(folder, &["rev-parse", "HEAD"])
}

/// Replaces a file with a named pipe.
fn pipe_at(path: &Path) {
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be created");
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir_all(path);
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo can be run").success());
}

/// Files of a git folder that gix or we open, and a ref whose resolution reads them.
fn pipes(head: &str) -> Vec<(String, &'static str)> {
    let loose = format!(".git/objects/{}/{}", &head[..2], &head[2..]);
    let fixed = [
        (".git/HEAD", "main"),
        (".git/config", "main"),
        (".git/packed-refs", "side"),
        (".git/objects/info/alternates", "main"),
        (".git/objects/info/commit-graph", "main~1"),
        (".git/commondir", "main"),
        (".git/index", "main"),
        (".git/shallow", "main~1"),
        (".git/info/exclude", "main"),
        (".git/refs/heads/main", "main"),
        (".git/refs/heads/side", "side"),
        (".git/refs/tags/side", "side"),
        (".git/refs/replace/0123456789012345678901234567890123456789", "main"),
        (".git/objects/pack/pack-0123456789012345678901234567890123456789.idx", "main"),
        (".git/objects/pack/multi-pack-index", "main"),
        (".git/worktrees/side/gitdir", "side"),
        (".git/ORIG_HEAD", "ORIG_HEAD"),
        (".git/logs/HEAD", "HEAD@{1}"),
        (".git", "main"),
    ];
    let fixed = fixed.into_iter().map(|(path, name)| (path.to_owned(), name));
    fixed.chain([(loose, "main")]).collect()
}

/// Calls everything that reads a repository, and returns the error messages. Each request has to be answered in time.
fn ask(address: &str, workspace: &str, ref_name: &str, about: &str) -> Vec<String> {
    let requests = [
        ("index_status", json!({})),
        ("locate_symbol", json!({ "name": "mine" })),
        ("search_code", json!({ "query": "mine", "ref": ref_name })),
        ("list_refs", json!({})),
    ];
    let one = |(tool, mut arguments): (&str, Value)| {
        arguments["workspace"] = json!(workspace);
        let began = Instant::now();
        let result = HttpClient::stateless(address).result(tool, arguments);
        assert!(began.elapsed() < ANSWERED, "{tool} took {:?}", began.elapsed());
        result["answer"]["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = requests.into_iter().map(|request| scope.spawn(move || one(request))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| panic!("{about}: a request is not answered")))
            .collect()
    })
}

/// Expects one of these statuses of `GET /health`: 503 if the server's own workspace is refused.
fn expect_health(address: &str, statuses: &[u16]) {
    let began = Instant::now();
    let status = http(address, "GET /health", &[], b"").status;
    assert!(statuses.contains(&status), "{status}");
    assert!(began.elapsed() < ANSWERED, "{:?}", began.elapsed());
}

#[test]
fn named_pipes_in_a_git_folder_do_not_block() {
    let project = Project::indexed(&[("own.rs", "pub fn own() {}\n")]);
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let server = server(&project, &[]);
    let address = server.address();
    for (number, place) in (0..pipes(&"0".repeat(40)).len()).flat_map(|number| [(number, "before"), (number, "after")])
    {
        let root = folder.path().join(format!("{number}-{place}"));
        let head = commit_at(&root, "mine");
        git(&root, &["branch", "side"]);
        project.run_at(&root, "index", &[]);
        let (path, ref_name) = pipes(&head).swap_remove(number);
        let workspace = real(&root);
        if place == "after" {
            HttpClient::stateless(&address).call("locate_symbol", json!({ "name": "mine", "workspace": workspace }));
        }
        pipe_at(&root.join(&path));
        let messages = ask(&address, &workspace, ref_name, &format!("{path} {place}"));
        let is_opened = !matches!(path.as_str(), ".git" | ".git/logs/HEAD" | ".git/commondir");
        if place == "before" && is_opened {
            assert!(messages.iter().all(|text| text.contains("not a regular file")), "{path}: {messages:?}");
        }
        expect_health(&address, &[200]);
    }
    HttpClient::stateless(&address).call("locate_symbol", json!({ "name": "own" }));
}

#[test]
fn unregistered_folders_are_not_opened() {
    let project = Project::indexed(&[("own.rs", "pub fn own() {}\n")]);
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let root = folder.path().join("unknown");
    commit_at(&root, "mine");
    let server = server(&project, &[]);
    // Files that are not opened need no check, so their type is not reported.
    pipe_at(&root.join(".git/config"));
    let (code, error) = HttpClient::stateless(&server.address())
        .call_error("locate_symbol", json!({ "name": "mine", "workspace": real(&root) }));
    assert_eq!(code, "workspace_not_registered", "{error}");
    expect_health(&server.address(), &[200]);
}

/// A way for a client with write access to its own folder to make it use another repository.
type Escape = (&'static str, fn(own: &Path, other: &Path));

fn replace_dot_git(own: &Path) -> PathBuf {
    let dot_git = own.join(".git");
    fs::rename(&dot_git, own.join("moved")).expect("it can be moved");
    dot_git
}

fn alternates(objects: &Path, target: &Path) {
    fs::create_dir_all(objects.join("info")).expect("it can be created");
    fs::write(objects.join("info/alternates"), format!("{}\n", target.display())).expect("it can be written");
}

fn link_children(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be created");
    for entry in fs::read_dir(from).expect("it is a folder").flatten() {
        let _ = symlink(entry.path(), to.join(entry.file_name()));
    }
}

const ESCAPES: &[Escape] = &[
    ("a .git file", |own, other| {
        let text = format!("gitdir: {}\n", other.join(".git").display());
        fs::write(replace_dot_git(own), text).expect("it can be written");
    }),
    ("a .git link", |own, other| {
        symlink(other.join(".git"), replace_dot_git(own)).expect("it can be created");
    }),
    ("an alternate", |own, other| alternates(&own.join(".git/objects"), &other.join(".git/objects"))),
    ("an alternate of an alternate", |own, other| {
        alternates(&own.join(".git/objects"), &own.join("inner"));
        alternates(&own.join("inner"), &other.join(".git/objects"));
    }),
    ("commondir", |own, other| {
        fs::write(own.join(".git/commondir"), other.join(".git").display().to_string()).expect("it can be written");
    }),
    ("a forged linked work tree", |own, other| {
        let inner = own.join("inner");
        fs::create_dir_all(&inner).expect("it can be created");
        for (name, text) in [
            ("HEAD", "ref: refs/heads/main\n".to_owned()),
            ("commondir", other.join(".git").display().to_string()),
            ("gitdir", own.join(".git").display().to_string()),
        ] {
            fs::write(inner.join(name), text).expect("it can be written");
        }
        fs::write(replace_dot_git(own), format!("gitdir: {}\n", inner.display())).expect("it can be written");
    }),
    ("linked objects", |own, other| {
        fs::rename(own.join(".git/objects"), own.join("moved")).expect("it can be moved");
        symlink(other.join(".git/objects"), own.join(".git/objects")).expect("it can be created");
    }),
    ("linked folders of objects", |own, other| {
        link_children(&other.join(".git/objects"), &own.join(".git/objects"));
    }),
    ("linked loose objects", |own, other| {
        for entry in fs::read_dir(other.join(".git/objects")).expect("it is a folder").flatten() {
            if entry.file_name().len() == 2 {
                link_children(&entry.path(), &own.join(".git/objects").join(entry.file_name()));
            }
        }
    }),
    ("linked packs", |own, other| {
        git(other, &["gc", "-q"]);
        link_children(&other.join(".git/objects/pack"), &own.join(".git/objects/pack"));
    }),
    ("linked refs", |own, other| {
        fs::rename(own.join(".git/refs"), own.join("moved")).expect("it can be moved");
        symlink(other.join(".git/refs"), own.join(".git/refs")).expect("it can be created");
    }),
    ("linked packed-refs", |own, other| {
        git(other, &["pack-refs", "--all"]);
        symlink(other.join(".git/packed-refs"), own.join(".git/packed-refs")).expect("it can be created");
    }),
    ("a linked index", |own, other| {
        fs::remove_file(own.join(".git/index")).expect("it exists");
        symlink(other.join(".git/index"), own.join(".git/index")).expect("it can be created");
    }),
];

/// Requests the other repository's code, by its commit and by name. No answer may contain any of it.
fn expect_refused(client: &mut HttpClient, way: &str, workspace: Option<&str>, commit: &str) {
    for ref_name in [Some(commit), Some("main"), None] {
        let mut arguments = json!({ "name": SECRET });
        if let Some(name) = ref_name {
            arguments["ref"] = json!(name);
        }
        if let Some(workspace) = workspace {
            arguments["workspace"] = json!(workspace);
        }
        let result = client.result("locate_symbol", arguments);
        assert!(!result.to_string().contains("pub fn"), "{way}, {ref_name:?}: {result}");
        if ref_name == Some(commit) {
            assert_eq!(result["answer"]["error"]["code"], "workspace_not_allowed", "{way}: {result}");
        }
    }
}

#[test]
fn own_workspace_server_reads_no_other_repository() {
    for (way, escape) in ESCAPES {
        for is_open in [false, true] {
            let project = Project::indexed(&[("own.rs", "pub fn own() {}\n")]);
            let other = tempfile::tempdir().expect("a temporary folder can be created");
            let commit = commit_at(other.path(), SECRET);
            let server = server(&project, &["--own-workspace-only"]);
            let mut client = HttpClient::stateless(&server.address());
            if is_open {
                client.call("locate_symbol", json!({ "name": "own" }));
            }
            escape(project.repository.root(), other.path());
            expect_refused(&mut client, way, None, &commit);
            expect_health(&server.address(), &[200, 503]);
        }
    }
}

#[test]
fn allowed_root_excludes_repositories_outside() {
    for (way, escape) in ESCAPES {
        for is_open in [false, true] {
            let project = Project::indexed(&[("own.rs", "pub fn own() {}\n")]);
            let (allowed, other) = (
                tempfile::tempdir().expect("a temporary folder can be created"),
                tempfile::tempdir().expect("a temporary folder can be created"),
            );
            let commit = commit_at(other.path(), SECRET);
            // The user has indexed the repository, so it is registered. That must not help.
            project.run_at(other.path(), "index", &[]);
            let root = allowed.path().join("client");
            commit_at(&root, "mine");
            let flags = ["--auto-workspace", "--allowed-root", &real(allowed.path())];
            let server = server(&project, &flags);
            let (mut client, workspace) = (HttpClient::stateless(&server.address()), real(&root));
            if is_open {
                client.call("index_status", json!({ "workspace": workspace }));
                client.wait_for_index(json!({ "workspace": workspace }));
            }
            escape(&root, other.path());
            expect_refused(&mut client, way, Some(&workspace), &commit);
            expect_health(&server.address(), &[200]);
        }
    }
}

#[test]
fn removed_git_folder_does_not_widen_the_workspace() {
    let project = Project::new(Repository::plain());
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    commit_at(outer.path(), SECRET);
    let inner = outer.path().join("inner");
    commit_at(&inner, "mine");
    project.run_at(outer.path(), "index", &[]);
    project.run_at(&inner, "index", &[]);
    let args = ["--transport", "http", "--port", "0", "--no-prewarm", "--no-watch", "--own-workspace-only"];
    let server = Server::start(&inner, project.home.path(), &args, &[]);
    let mut client = HttpClient::stateless(&server.address());
    assert_eq!(client.call("locate_symbol", json!({ "name": "mine" }))["total_candidates"], 1);
    fs::rename(inner.join(".git"), inner.join("moved")).expect("it can be moved");
    let (code, error) = client.call_error("locate_symbol", json!({ "name": SECRET }));
    assert_eq!(code, "workspace_not_allowed", "{error}");
}

#[test]
fn configured_work_tree_is_ignored() {
    let project = Project::indexed(&[("own.rs", "pub fn own() {}\n")]);
    let other = tempfile::tempdir().expect("a temporary folder can be created");
    commit_at(other.path(), SECRET);
    project.repository.git(&["config", "core.worktree", &real(other.path())]);
    let server = server(&project, &["--own-workspace-only"]);
    let mut client = HttpClient::stateless(&server.address());
    client.call("sync_repo", json!({}));
    client.wait_for_index(json!({}));
    assert_eq!(client.call("locate_symbol", json!({ "name": SECRET }))["total_candidates"], 0);
    assert_eq!(client.call("locate_symbol", json!({ "name": "own" }))["total_candidates"], 1);
}

#[test]
fn linked_work_trees_and_submodules_are_served() {
    let project = Project::indexed(&[("own.rs", "pub fn own() {}\n")]);
    let (allowed, outside) = (
        tempfile::tempdir().expect("a temporary folder can be created"),
        tempfile::tempdir().expect("a temporary folder can be created"),
    );
    let main = outside.path().join("main");
    commit_at(&main, "mine");
    let (linked, library) = (allowed.path().join("linked"), outside.path().join("library"));
    git(&main, &["worktree", "add", "-q", "-b", "side", linked.to_str().expect("it is UTF-8")]);
    commit_at(&library, "mine");
    let outer = allowed.path().join("outer");
    commit_at(&outer, "outer");
    git(&outer, &["submodule", "add", "-q", library.to_str().expect("it is UTF-8"), "library"]);
    let flags = ["--auto-workspace", "--allowed-root", &real(allowed.path())];
    for root in [linked, outer.join("library")] {
        let head = git(&root, &["rev-parse", "HEAD"]);
        let workspace = real(&root);
        {
            let server = server(&project, &flags);
            let mut client = HttpClient::stateless(&server.address());
            client.call("index_status", json!({ "workspace": workspace }));
            client.wait_for_index(json!({ "workspace": workspace }));
            let arguments = json!({ "name": "mine", "workspace": workspace, "ref": head });
            assert_eq!(client.call("locate_symbol", arguments)["total_candidates"], 1, "{workspace}");
        }
        let args = ["--transport", "http", "--port", "0", "--no-prewarm", "--own-workspace-only"];
        let server = Server::start(&root, project.home.path(), &args, &[]);
        let found =
            HttpClient::stateless(&server.address()).call("locate_symbol", json!({ "name": "mine", "ref": head }));
        assert_eq!(found["total_candidates"], 1, "{workspace}");
    }
}

#[test]
fn errors_outside_the_allowed_roots_are_equal() {
    let project = Project::indexed(&[("own.rs", "pub fn own() {}\n")]);
    let (allowed, outside) = (
        tempfile::tempdir().expect("a temporary folder can be created"),
        tempfile::tempdir().expect("a temporary folder can be created"),
    );
    let commit = commit_at(&outside.path().join("repository"), "theirs");
    assert_eq!(commit.len(), 40);
    fs::create_dir(outside.path().join("folder")).expect("it can be created");
    fs::write(outside.path().join("file"), "x").expect("it can be written");
    fs::create_dir_all(outside.path().join("broken/.git/refs")).expect("it can be created");
    fs::write(outside.path().join("broken/.git/HEAD"), "x").expect("it can be written");
    let flags = ["--auto-workspace", "--allowed-root", &real(allowed.path())];
    let server = server(&project, &flags);
    let mut client = HttpClient::stateless(&server.address());
    for name in ["repository", "repository/a.rs", "folder", "file", "file/below", "missing", "missing/below", "broken"]
    {
        let path = format!("{}/{name}", real(outside.path()));
        let (code, error) = client.call_error("locate_symbol", json!({ "name": "x", "workspace": path }));
        assert_eq!(code, "workspace_not_allowed", "{error}");
        let text = error.to_string().replace(&path, "PATH");
        let expected =
            client.call_error("locate_symbol", json!({ "name": "x", "workspace": "/no/such" })).1.to_string();
        assert_eq!(text, expected.replace("/no/such", "PATH"), "{name}");
    }
}

#[test]
fn pipe_as_configuration_is_not_opened() {
    let project = Project::indexed(&[("own.rs", "pub fn own() {}\n")]);
    pipe_at(&project.repository.path(".codecompass/config.toml"));
    let answer = project.json("locate own");
    let warnings = answer["metadata"]["warnings"].to_string();
    assert!(warnings.contains(".codecompass/config.toml: not a regular file; the file is not used"), "{warnings}");
}
