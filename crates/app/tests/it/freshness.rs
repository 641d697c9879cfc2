//! Whatever is checked out, edited or moved while a server runs: no answer has another branch's content, and none is
//! marked fresh without a check.

use crate::support;

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::client::{Client, StdioClient, wait_until};
use support::{Project, location_arg, places};

const SYNC_TIMEOUT: Duration = Duration::from_secs(60);

/// The time limit of a query for a sync.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);

/// `main` has `old_way`, `feat` has `new_way` instead; only `main` is indexed.
fn project() -> Project {
    let project = Project::indexed(&[("src/a.py", "def old_way():\n    pass\n"), ("b.py", "def same():\n    pass\n")]);
    project.repository.branch("feat").write("src/a.py", "def new_way():\n    pass\n").commit("new");
    project.repository.checkout("main");
    project.run_ok("sync");
    project
}

fn serve(project: &Project, args: &[&str]) -> StdioClient {
    StdioClient::open(project.repository.root(), project.home.path(), args)
}

/// Takes the lock that every writer takes, so that no sync is possible.
fn hold_write_lock(project: &Project) -> File {
    let file = File::open(project.data().join("write.lock")).expect("an earlier writer created the lock");
    let is_held = wait_until(SYNC_TIMEOUT, || file.try_lock().is_ok());
    assert!(is_held, "the lock is never released");
    file
}

fn locate(client: &mut StdioClient, name: &str, policy: &str) -> Value {
    client.result("locate_symbol", json!({ "name": name, "freshness_policy": policy }))["answer"].clone()
}

/// Returns the number of hits, the ref, and the freshness of an answer.
fn ref_and_freshness(answer: &Value) -> (usize, &str, &str) {
    let text = |key: &str| answer["metadata"][key].as_str().unwrap_or_default();
    (answer["results"].as_array().map_or(0, Vec::len), text("ref"), text("freshness_status"))
}

/// Repeats the query until an answer is fresh. Earlier answers have the same ref and the same number of hits, or are
/// errors. On a busy machine two seconds may not be sufficient for a sync, nor 100 ms for a freshness check.
#[track_caller]
fn wait_for_result(client: &mut StdioClient, question: Value, places: usize, name: &str) {
    let mut answer = Value::Null;
    let is_fresh = wait_until(SYNC_TIMEOUT, || {
        answer = client.result("locate_symbol", question.clone())["answer"].clone();
        let is_right = answer["error"]["code"] == "index_stale"
            || (ref_and_freshness(&answer).0, ref_and_freshness(&answer).1) == (places, name);
        assert!(is_right, "{name}: {answer}");
        answer["metadata"]["freshness_status"] == "fresh"
    });
    assert!(is_fresh, "{answer}");
}

/// Repeats the query until an answer is fresh.
fn wait_until_fresh(client: &mut StdioClient, name: &str) -> Value {
    let mut answer = Value::Null;
    let is_fresh = wait_until(SYNC_TIMEOUT, || {
        answer = locate(client, name, "balanced");
        answer["metadata"]["freshness_status"] == "fresh"
    });
    assert!(is_fresh, "{answer}");
    answer
}

#[test]
fn checkout_never_shows_the_old_branch() {
    for flags in [&[][..], &["--no-watch"]] {
        let project = project();
        let commits = ["main", "feat"].map(|name| project.repository.rev(name));
        let mut client = serve(&project, flags);
        assert_eq!(ref_and_freshness(&wait_until_fresh(&mut client, "old_way")), (1, "main", "fresh"));

        // Nothing of feat is published, and nothing can be: no policy has an answer.
        let lock = hold_write_lock(&project);
        project.repository.checkout("feat");
        for policy in ["best_effort", "strict", "balanced"] {
            let refused = locate(&mut client, "old_way", policy);
            assert_eq!(refused["error"]["code"], "index_stale", "{policy}: {refused}");
            let data = &refused["error"]["data"];
            assert_eq!([&data["last_indexed_commit"], &data["current_head"]], [&commits[0], &commits[1]], "{refused}");
        }
        drop(lock);
        wait_for_result(&mut client, json!({ "name": "new_way" }), 1, "feat");
        wait_for_result(&mut client, json!({ "name": "old_way" }), 0, "feat");

        // The commit of main is published: it answers until the work tree is published.
        let lock = hold_write_lock(&project);
        project.repository.checkout("main");
        assert_eq!(ref_and_freshness(&locate(&mut client, "old_way", "best_effort")), (1, "main", "stale"));
        assert_eq!(ref_and_freshness(&locate(&mut client, "new_way", "best_effort")), (0, "main", "stale"));
        assert_eq!(locate(&mut client, "old_way", "strict")["error"]["code"], "index_stale");
        let began = Instant::now();
        assert_eq!(ref_and_freshness(&locate(&mut client, "old_way", "balanced")), (1, "main", "syncing"));
        assert!(began.elapsed() >= SHORT_TIMEOUT, "it waits for the sync");
        drop(lock);
        wait_for_result(&mut client, json!({ "name": "old_way" }), 1, "main");
    }
}

/// A command that only reports does not sync: its data about a branch is the branch's own, or nothing.
#[test]
fn status_reports_the_right_branch() {
    let project = project();
    project.repository.checkout("feat").write("c.py", "def more():\n    pass\n").commit("more");
    let feat = project.repository.rev("feat");
    let told = |report: &Value| {
        let words = ["ref", "index_status", "file_count"].map(|key| report[key].to_string());
        (words.join(" "), report["metadata"]["indexed_commit"].clone())
    };
    assert_eq!(told(&project.json("status")), ("\"feat\" \"not_indexed\" 0".into(), Value::Null));
    let mut client = serve(&project, &["--no-watch", "--no-prewarm"]);
    assert_eq!(told(&client.call("index_status", json!({}))), told(&project.json("status")));
    let health = client.call("health_check", json!({}));
    assert_eq!((&health["projects"][0]["ref"], &health["projects"][0]["file_count"]), (&json!("feat"), &json!(0)));
    assert_eq!(client.call("list_refs", json!({}))["metadata"]["indexed_commit"], Value::Null);
    assert_eq!(client.call_error("switch_ref", json!({ "ref": "feat" })).0, "ref_not_indexed");
    // The commit's view is published as well.
    project.run_ok("index --ref feat~0");
    let report = project.json("status");
    assert_eq!(told(&report), ("\"feat\" \"ready\" 3".into(), json!(feat)), "{report}");
    assert_eq!(report["metadata"]["freshness_status"], "stale");
    assert_eq!(client.call("switch_ref", json!({ "ref": "feat" }))["last_indexed_commit"], json!(feat));
}

#[test]
fn detached_head_is_answered_by_commit() {
    let project = project();
    let (main, feat) = (project.repository.rev("main"), project.repository.rev("feat"));
    let mut client = serve(&project, &["--no-watch"]);
    wait_until_fresh(&mut client, "old_way");
    project.repository.git(&["checkout", "-q", "--detach", "feat"]);
    wait_for_result(&mut client, json!({ "name": "new_way" }), 1, &feat);
    let lock = hold_write_lock(&project);
    project.repository.git(&["checkout", "-q", "--detach", "main"]);
    assert_eq!(ref_and_freshness(&locate(&mut client, "new_way", "best_effort")), (0, &*main, "stale"));
    assert_eq!(ref_and_freshness(&locate(&mut client, "old_way", "best_effort")), (1, &*main, "stale"));
    drop(lock);
}

#[test]
fn moved_branch_tip_is_stale() {
    let project = project();
    let mut client = serve(&project, &["--no-watch"]);
    wait_until_fresh(&mut client, "old_way");
    let lock = hold_write_lock(&project);
    project.repository.git(&["reset", "-q", "--hard", "feat"]);
    assert_eq!(ref_and_freshness(&locate(&mut client, "old_way", "best_effort")), (1, "main", "stale"));
    assert_eq!(locate(&mut client, "old_way", "strict")["error"]["code"], "index_stale");
    drop(lock);
    assert_eq!(ref_and_freshness(&wait_until_fresh(&mut client, "new_way")), (1, "main", "fresh"));
}

#[test]
fn edits_are_seen_without_a_watch() {
    let project = project();
    let mut client = serve(&project, &["--no-watch"]);
    for round in 0..5 {
        wait_until_fresh(&mut client, "same");
        // A running sync could see the edit first.
        client.wait_for_index(json!({}));
        project.repository.write("b.py", format!("def same():\n    pass\n\n\ndef new_{round}():\n    pass\n"));
        let answer = locate(&mut client, &format!("new_{round}"), "best_effort");
        assert_eq!(ref_and_freshness(&answer), (0, "main", "stale"), "{answer}");
        assert_eq!(locate(&mut client, "same", "strict")["error"]["code"], "index_stale");
        // The next balanced query syncs it.
        locate(&mut client, "same", "balanced");
    }
}

#[test]
fn unavailable_watch_is_reported_once() {
    let project = project();
    let few = [("CODECOMPASS_WATCH_FOLDERS", "1")];
    let mut client = StdioClient::open_with(project.repository.root(), project.home.path(), &[], &few);
    wait_until_fresh(&mut client, "same");
    let told_so = || client.server.stderr_text().matches("every query compares all files").count();
    assert!(wait_until(SYNC_TIMEOUT, || told_so() > 0), "{}", client.server.stderr_text());
    wait_until_fresh(&mut client, "same");
    client.wait_for_index(json!({}));
    assert_eq!(client.server.stderr_text().matches("every query compares all files").count(), 1);
    let health = client.call("health_check", json!({}));
    let warnings = health["metadata"]["warnings"].to_string();
    assert!(warnings.contains("not watched") && warnings.contains("2 folders"), "{health}");
    project.repository.write("b.py", "def edited():\n    pass\n");
    assert_eq!(ref_and_freshness(&locate(&mut client, "edited", "best_effort")), (0, "main", "stale"));
}

/// Waits until the watch alone, without a request for a sync, has synced a name.
#[track_caller]
fn wait_for_symbol(client: &mut StdioClient, name: &str) {
    let is_in =
        wait_until(SYNC_TIMEOUT, || ref_and_freshness(&locate(client, name, "best_effort")) == (1, "main", "fresh"));
    assert!(is_in, "{}", locate(client, name, "best_effort"));
}

#[test]
fn watch_follows_folder_changes() {
    let project = project();
    project.repository.write(".gitignore", "left/\n");
    let mut client = serve(&project, &[]);
    wait_until_fresh(&mut client, "same");
    let write = |path: &str, name: &str| project.repository.write(path, format!("def {name}():\n    pass\n"));
    // An empty folder, and a file in it much later.
    fs::create_dir(project.repository.path("empty")).expect("it can be created");
    write("first.py", "first");
    wait_for_symbol(&mut client, "first");
    write("empty/late.py", "late");
    wait_for_symbol(&mut client, "late");
    // Deleted and created again under the same path, at once.
    fs::remove_dir_all(project.repository.path("src")).expect("it existed");
    write("src/again.py", "again");
    wait_for_symbol(&mut client, "again");
    write("src/more.py", "more");
    wait_for_symbol(&mut client, "more");
    // Excluded until the rule is removed.
    write("left/made.py", "made");
    project.repository.write(".gitignore", "nothing/\n");
    wait_for_symbol(&mut client, "made");
    write("left/later.py", "later");
    wait_for_symbol(&mut client, "later");
}

#[test]
fn swapped_worktrees_are_distinguished() {
    let project = project();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("plain").to_owned();
    let git = |args: &[&str]| project.repository.git(args);
    git(&["worktree", "add", "-q", &path("one"), "feat"]);
    git(&["worktree", "add", "-q", "-b", "third", &path("two"), "main"]);
    let mut client = serve(&project, &["--no-watch"]);
    let mut arrives = |name: &str, tree: &str, places: usize, ref_name: &str| {
        wait_for_result(&mut client, json!({ "name": name, "workspace": path(tree) }), places, ref_name);
    };
    arrives("new_way", "one", 1, "feat");
    arrives("old_way", "two", 1, "third");
    git(&["worktree", "move", &path("one"), &path("aside")]);
    git(&["worktree", "move", &path("two"), &path("one")]);
    git(&["worktree", "move", &path("aside"), &path("two")]);
    arrives("new_way", "one", 0, "third");
    arrives("old_way", "one", 1, "third");
    arrives("new_way", "two", 1, "feat");
}

/// A folder without git, and a parent of it that is moved: the folder itself gets no event.
#[test]
fn replaced_folder_is_not_fresh() {
    let (project, top) = (project(), tempfile::tempdir().expect("a folder"));
    for (above, name) in [("here", "before"), ("there", "after")] {
        let root = top.path().join(above).join("plain");
        fs::create_dir_all(&root)
            .and_then(|()| fs::write(root.join("a.py"), format!("def {name}(): pass\n")))
            .expect("it can be created");
    }
    let root = top.path().join("here/plain");
    assert!(project.run_at(&root, "index", &[]).succeeded());
    let mut client = StdioClient::open(&root, project.home.path(), &["-v"]);
    wait_for_result(&mut client, json!({ "name": "before" }), 1, "live");
    assert!(wait_until(SYNC_TIMEOUT, || client.server.stderr_text().contains("watching")));
    wait_for_result(&mut client, json!({ "name": "before" }), 1, "live");
    let rename =
        |from: &str, to: &str| fs::rename(top.path().join(from), top.path().join(to)).expect("it can be moved");
    rename("here", "gone");
    rename("there", "here");
    assert_ne!(ref_and_freshness(&locate(&mut client, "before", "best_effort")), (1, "live", "fresh"));
    assert_eq!(ref_and_freshness(&wait_until_fresh(&mut client, "after")), (1, "live", "fresh"));
}

#[test]
fn new_linked_worktree_is_synced() {
    let project = project();
    let linked = project.repository.worktree("feat");
    let reply = project.run_at(linked.root(), "locate new_way --json", &[]);
    let answer: Value = serde_json::from_str(&reply.stdout).expect("JSON");
    assert_eq!((places(&answer), ref_and_freshness(&answer)), (location_arg("src/a.py"), (1, "feat", "fresh")));
}

#[test]
fn head_move_without_changes_keeps_scores() {
    let questions: Vec<String> =
        ["search same --explain=full --json --no-sync", "search way --json --no-sync"].map(str::to_owned).to_vec();
    for flags in [&[][..], &["--no-watch"]] {
        for road in [
            &["checkout -q -b topic"][..],
            &["checkout -q --detach"],
            &["checkout -q --detach feat", "checkout -q main"],
            &["checkout -q -b topic", "commit -q --allow-empty -m empty"],
        ] {
            let project = project();
            let mut client = serve(&project, flags);
            wait_until_fresh(&mut client, "same");
            project.repository.write("b.py", "def same():\n    return 1\n");
            for command in road {
                let words: Vec<&str> = command.split(' ').collect();
                project.repository.git(&words);
                wait_until_fresh(&mut client, "same");
            }
            project.fresh_index(&["main"]).expect_equal(&questions);
        }
    }
}

#[test]
fn health_check_reports_a_missing_repository() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = project();
    let copy = folder.path().join("copy");
    project.repository.git(&["clone", "-q", ".", copy.to_str().expect("plain")]);
    let reply = project.run_at(&copy, "index", &[]);
    assert!(reply.succeeded(), "{reply:?}");
    let mut client = StdioClient::open(&copy, project.home.path(), &[]);
    client.call("health_check", json!({}));
    fs::remove_dir_all(&copy).expect("it can go");
    let health = client.call("health_check", json!({}));
    assert_eq!(health["status"], "error", "{health}");
    let warnings = health["metadata"]["warnings"].to_string();
    assert!(warnings.contains("cannot be read") && warnings.contains(copy.to_str().expect("plain")), "{health}");
    // Another repository at the same path is recognized as another one.
    project.repository.git(&["clone", "-q", "-b", "feat", ".", copy.to_str().expect("plain")]);
    assert_eq!(ref_and_freshness(&wait_until_fresh(&mut client, "new_way")), (1, "feat", "fresh"));
    assert!(wait_until(SYNC_TIMEOUT, || client.call("health_check", json!({}))["status"] == "ready"));
}

/// A moved work tree is followed, because the working folder moves with it.
#[test]
fn moved_worktree_is_followed() {
    let (project, folder) = (project(), tempfile::tempdir().expect("a folder"));
    let path = |name: &str| folder.path().join(name).to_str().expect("plain").to_owned();
    project.repository.git(&["worktree", "add", "-q", &path("one"), "feat"]);
    let mut client = StdioClient::open(Path::new(&path("one")), project.home.path(), &[]);
    wait_for_result(&mut client, json!({ "name": "new_way" }), 1, "feat");
    project.repository.git(&["worktree", "move", &path("one"), &path("two")]);
    wait_for_result(&mut client, json!({ "name": "new_way" }), 1, "feat");
}

#[test]
fn first_call_reports_indexing() {
    let project = Project::with_files(&[("a.py", "def first():\n    pass\n")]);
    let mut client = serve(&project, &["--auto-index"]);
    let answer = locate(&mut client, "first", "balanced");
    let state = answer["metadata"]["indexing_status"].as_str().unwrap_or_default();
    assert!(["indexing", "ready"].contains(&state), "{answer}");
    wait_until_fresh(&mut client, "first");
}

#[test]
fn command_lists_unsynced_changes() {
    let project = project();
    let _lock = hold_write_lock(&project);
    project.repository.write("new.py", "def new():\n    pass\n").write("b.py", "def other():\n    pass\n");
    let reply = project.run("locate new");
    assert_eq!(reply.code, Some(1));
    assert!(reply.stdout.contains("changes not in this answer: b.py, new.py"), "{}", reply.stdout);
}

#[test]
fn command_waits_for_writer_after_checkout() {
    let project = project();
    let lock = hold_write_lock(&project);
    project.repository.checkout("feat");
    let began = Instant::now();
    assert_eq!(project.json_expecting("locate new_way", 3)["error"]["code"], "index_stale");
    assert!(began.elapsed() >= SHORT_TIMEOUT, "it did not give up at once");
    let mut child = project.start("locate new_way");
    drop(lock);
    assert!(child.wait().expect("it can be waited for").success());
    let lock = hold_write_lock(&project);
    project.repository.checkout("main");
    let answer = project.json("locate old_way");
    assert_eq!(ref_and_freshness(&answer), (1, "main", "syncing"), "{answer}");
    drop(lock);
}

#[test]
fn compare_with_unsynced_work_tree_is_an_error() {
    let project = project();
    let lock = project.data().join("write.lock");
    project.repository.write("b.py", "def other():\n    pass\n");
    assert!(project.run_ok("diff HEAD @worktree").contains("other"));
    project.repository.write("b.py", "def another():\n    pass\n");
    let held = hold_write_lock(&project);
    let refused = project.json_expecting("diff HEAD @worktree", 4);
    assert_eq!(refused["error"]["code"], "index_in_progress", "{refused}");
    drop(held);
    // Any obstacle to writing: here, a folder is in place of a file.
    fs::remove_file(&lock).and_then(|()| fs::create_dir(&lock)).expect("it can be replaced");
    let refused = project.run("diff HEAD @worktree");
    assert_eq!((refused.code, &*refused.stdout), (Some(6), ""), "{refused:?}");
    // If an older answer is useful it is returned, with a warning.
    let reply = project.run("locate same");
    assert!(reply.stdout.contains("could not be synced"), "{reply:?}");
    // A server does the same.
    let mut client = serve(&project, &["--no-watch"]);
    let (code, error) = client.call_error("diff_context", json!({ "base_ref": "main", "head_ref": "@worktree" }));
    assert_eq!(code, "internal_error", "{error}");
}

#[test]
fn server_syncs_before_comparing() {
    let project = project();
    let mut client = serve(&project, &["--no-watch"]);
    wait_until_fresh(&mut client, "same");
    project.repository.write("b.py", "def other():\n    pass\n");
    let answer = client.call("diff_context", json!({ "base_ref": "main", "head_ref": "@worktree" }));
    // On a busy machine that may take too long: then the missing changes are reported.
    let is_late = answer["metadata"]["warnings"].to_string().contains("changes not in this answer: b.py");
    assert!(answer["total_changes"] == 2 || is_late, "{answer}");
    assert!(project.run_ok("diff HEAD @worktree").contains("other"));
    assert!(project.run_ok("diff HEAD @worktree --path-filter src").contains(": no changes\n"));
}

#[test]
fn failed_job_is_reported_on_stderr() {
    let project = project();
    let mut client = serve(&project, &["--no-watch"]);
    wait_until_fresh(&mut client, "same");
    client.wait_for_index(json!({}));
    let lock = project.data().join("write.lock");
    fs::remove_file(&lock).and_then(|()| fs::create_dir(&lock)).expect("it can be replaced");
    project.repository.write("b.py", "def other():\n    pass\n");
    assert_eq!(ref_and_freshness(&locate(&mut client, "same", "balanced")), (1, "main", "stale"));
    assert!(
        wait_until(SYNC_TIMEOUT, || client.server.stderr_text().contains(" failed: ")),
        "{}",
        client.server.stderr_text()
    );
}

#[cfg(unix)]
#[test]
fn read_only_data_folder_answers_queries() {
    let project = project();
    let archive = project.home.path().join("archive");
    project.run_ok(&format!("state export {}", archive.display()));
    for with_log in [true, false] {
        if !with_log {
            // An index that was written as a whole has no log.
            project.run_ok(&format!("state import {}", archive.display()));
            let log = project.epoch().join("store.db-wal");
            fs::remove_file(&log).and_then(|()| fs::remove_file(project.epoch().join("store.db-shm"))).ok();
            assert!(!log.exists());
        }
        set_writable(project.home.path(), false);
        for command in ["locate same", "search same", "grep same", "references same", "outline b.py", "status"] {
            let reply = without_rights(&project, command);
            assert!(reply.contains("same") || reply.contains("main"), "{command}: {reply}");
        }
        set_writable(project.home.path(), true);
    }
}

/// Runs a command as a user who may read and not write; for root, as another user.
#[cfg(unix)]
fn without_rights(project: &Project, command: &str) -> String {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    const UNPRIVILEGED_UID: u32 = 65534;
    let root = project.repository.root();
    let mut run = std::process::Command::new(support::PROGRAM);
    run.args(command.split(' '))
        .current_dir(root)
        .env("HOME", "/nonexistent")
        .env("CODECOMPASS_HOME", project.home.path());
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        for folder in [root, project.home.path()] {
            set_readable(folder);
        }
        run.uid(UNPRIVILEGED_UID).gid(UNPRIVILEGED_UID);
    }
    let output = run.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    format!("{text}{}", String::from_utf8_lossy(&output.stderr))
}

#[cfg(unix)]
fn set_writable(folder: &Path, writable: bool) {
    set_modes(folder, &|mode| if writable { mode | 0o200 } else { mode & !0o222 });
}

#[cfg(unix)]
fn set_readable(folder: &Path) {
    set_modes(folder, &|mode| mode | 0o444 | if mode & 0o100 > 0 { 0o111 } else { 0 });
}

#[cfg(unix)]
fn set_modes(path: &Path, change: &dyn Fn(u32) -> u32) {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::symlink_metadata(path).expect("it exists");
    let mode = change(metadata.permissions().mode());
    let below = || fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    // A folder has to be accessible while its entries change.
    if metadata.is_dir() {
        below().for_each(|path| set_modes(&path, change));
    }
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("the test owns it");
}

#[test]
fn unborn_branch_is_answered() {
    let project = Project::new(Repository::new());
    project.repository.write("a.py", "def first():\n    pass\n");
    project.run_ok("index");
    let mut client = serve(&project, &["--no-watch"]);
    assert_eq!(ref_and_freshness(&wait_until_fresh(&mut client, "first")), (1, "main", "fresh"));
    project.repository.git(&["checkout", "-q", "--orphan", "bare"]);
    assert_eq!(ref_and_freshness(&wait_until_fresh(&mut client, "first")), (1, "bare", "fresh"));
}
