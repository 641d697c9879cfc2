//! An index made on one machine and used on another: `state export` and `state import`.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::client::{Client, StdioClient};
use support::{Project, files_of, location_arg};

/// Creates the same history each time, as every clone has it: `main` with twenty files, and `feat` with one more.
fn clone() -> Repository {
    let repository = Repository::new();
    for number in 0..20 {
        repository.write(&format!("src/part_{number}.rs"), format!("pub fn part_{number}() {{}}\n"));
    }
    repository.commit("parts");
    repository.branch("feat").write("src/extra.rs", "pub fn extra() { part_1(); }\n").commit("extra");
    repository.checkout("main");
    repository
}

/// The index of a machine that has everything.
fn made_elsewhere() -> Project {
    let project = Project::new(clone());
    project.run_ok("index");
    project.run_ok("index --ref feat");
    project
}

/// Creates a folder for archives.
fn archive_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::TempDir::new().expect("a temporary folder can be created");
    let path = folder.path().join("state.tar.zst");
    (folder, path)
}

fn exported(project: &Project, path: &Path) -> Value {
    project.json(&format!("state export '{}'", path.display()))
}

fn import(path: &Path) -> String {
    format!("state import '{}'", path.display())
}

#[test]
fn import_extracts_only_the_difference() {
    let (_folder, path) = archive_folder();
    let ci = made_elsewhere();
    ci.repository.write("src/draft.rs", "pub fn unspoken() {}\n");
    ci.run_ok("sync");
    let archive = exported(&ci, &path);
    assert_eq!(archive["refs"][1]["ref"], "main");
    assert_eq!((&archive["refs"][1]["file_count"], &archive["file_versions"]), (&json!(20), &json!(21)), "{archive}");

    // One more commit, and one uncommitted file.
    let colleague = Project::new(clone());
    colleague.repository.write("src/part_3.rs", "pub fn part_3_renamed() {}\n");
    colleague.repository.commit("one step on");
    colleague.repository.write("src/own.rs", "pub fn own() { part_1(); }\n");
    let imported = colleague.json(&import(&path));
    assert_eq!((&imported["created"], &imported["replaced"]), (&json!(true), &Value::Null), "{imported}");
    assert_eq!(imported["worktree_starts_from"], "main");
    assert_eq!(imported["metadata"]["indexed_commit"], ci.repository.rev("main"));
    // The imported state answers at once, and is marked stale.
    let answer = colleague.json("locate part_3 --no-sync");
    assert_eq!(
        (support::places(&answer), &answer["metadata"]["freshness_status"]),
        (location_arg("src/part_3.rs"), &json!("stale"))
    );
    assert_eq!(colleague.places("locate extra --ref feat"), location_arg("src/extra.rs"));
    assert_eq!(colleague.places("locate unspoken --no-sync"), [] as [&str; 0]);

    let synced = colleague.json("sync");
    assert_eq!((&synced["extracted_files"], &synced["changed_files"]), (&json!(2), &json!(2)), "{synced}");
    assert_eq!(colleague.json("sync")["extracted_files"], 0);
    let questions =
        ["locate own", "locate part_3_renamed", "references part_1", "search part", "locate extra --ref feat"];
    colleague.fresh_index(&["feat"]).expect_equal(&questions.map(|question| format!("{question} --json")));
    assert_eq!(colleague.stderr_lines(), [] as [&str; 0]);
}

#[test]
fn first_query_after_import_syncs() {
    let (_folder, path) = archive_folder();
    exported(&made_elsewhere(), &path);
    let project = Project::new(clone());
    project.repository.write("src/own.rs", "pub fn own() {}\n");
    project.run_ok(&import(&path));
    assert_eq!(project.places("locate own"), location_arg("src/own.rs"));
    let jobs = project.json("status")["recent_jobs"].clone();
    assert_eq!(jobs.as_array().map(Vec::len), Some(1), "{jobs}");
    assert_eq!(jobs[0]["changed_files"], 1, "{jobs}");
    assert_eq!(project.json("sync")["extracted_files"], 0);
}

#[test]
fn unknown_branch_starts_from_default_branch() {
    let (_folder, path) = archive_folder();
    exported(&made_elsewhere(), &path);
    let project = Project::new(clone());
    project.repository.branch("topic").write("src/topic.rs", "pub fn topic() {}\n").commit("topic");
    assert_eq!(project.json(&import(&path))["worktree_starts_from"], "main");
    let synced = project.json("sync");
    assert_eq!((&synced["extracted_files"], &synced["metadata"]["ref"]), (&json!(1), &json!("topic")));
}

#[test]
fn plain_folder_export_has_no_path() {
    let (_folder, path) = archive_folder();
    let make = || {
        let folder = Repository::plain();
        folder.write("a.rs", "pub fn a() {}\n").write("b.rs", "pub fn b() {}\n");
        Project::new(folder)
    };
    let (here, there) = (make(), make());
    here.run_ok("index");
    exported(&here, &path);
    there.run_ok(&import(&path));
    assert_eq!(there.places("locate a --no-sync"), location_arg("a.rs"));
    there.repository.write("b.rs", "pub fn other() {}\n");
    assert_eq!(there.json("sync")["extracted_files"], 1);
    assert_eq!(there.places("locate other"), location_arg("b.rs"));
}

#[test]
fn export_is_deterministic_and_replaces_only_with_force() {
    let (folder, path) = archive_folder();
    let project = made_elsewhere();
    exported(&project, &path);
    let first = fs::read(&path).expect("it was just written");
    let refused = project.json_expecting(&format!("state export '{}'", path.display()), 2);
    assert_eq!(refused["error"]["code"], "invalid_input", "{refused}");
    assert!(fs::read(&path).expect("it exists") == first);
    // Neither queries nor the date change it.
    project.run_ok("locate part_1");
    let later =
        project.run_with(&format!("state export '{}' --force", path.display()), &[("CODECOMPASS_DAYS_AHEAD", "9")]);
    assert!(later.succeeded(), "{later:?}");
    assert!(fs::read(&path).expect("it exists") == first, "the second archive differs");
    assert_eq!(fs::read_dir(folder.path()).expect("it exists").count(), 1, "temporary files remain");
    let nowhere = folder.path().join("nowhere/a.tar.zst");
    project.run_expecting(&format!("state export '{}'", nowhere.display()), 2);
}

#[test]
fn empty_export_writes_no_file() {
    let (_folder, path) = archive_folder();
    let project = Project::new(clone());
    let export = format!("state export '{}'", path.display());
    assert_eq!(project.json_expecting(&export, 3)["error"]["code"], "project_not_found");
    assert!(project.has_no_data());
    project.run_ok("init");
    assert_eq!(project.json_expecting(&export, 3)["error"]["code"], "index_not_ready");
    assert!(!path.exists());
}

#[test]
fn invalid_archive_changes_nothing() {
    let (folder, path) = archive_folder();
    exported(&made_elsewhere(), &path);
    let whole = fs::read(&path).expect("it was just written");
    let project = Project::indexed(&[("a.rs", "pub fn a() {}\n")]);
    let before = files_of(&project.data());
    let refuse = |bytes: &[u8], code: i32| {
        fs::write(&path, bytes).expect("it can be written");
        let answer = project.json_expecting(&import(&path), code);
        assert!(answer["error"]["message"].as_str().is_some_and(|message| message.ends_with('.')), "{answer}");
        answer["error"].clone()
    };
    assert_eq!(refuse(&whole[..whole.len() / 2], 2)["code"], "invalid_input");
    assert_eq!(refuse(b"hello", 2)["code"], "invalid_input");
    for (from, to, found) in [("schema 10", "schema 11", 11), ("schema 10", "schema 09", 9)] {
        let error = refuse(&changed(&whole, from, to), 3);
        assert_eq!(error["code"], "index_incompatible", "{error}");
        let data = &error["data"];
        assert_eq!((&data["current_schema_version"], &data["required_schema_version"]), (&json!(found), &json!(10)));
    }
    let error = refuse(&changed(&whole, "codecompass-state 1", "codecompass-state 7"), 3);
    assert_eq!((&error["code"], &error["data"]["current_format_version"]), (&json!("index_incompatible"), &json!(7)));
    let missing = project.json_expecting(&import(&folder.path().join("nothing")), 5);
    assert_eq!(missing["error"]["code"], "invalid_input", "{missing}");
    assert!(files_of(&project.data()) == before, "something was changed");
    assert_eq!(project.places("locate a"), location_arg("a.rs"));
}

/// Returns the archive with some bytes of its manifest replaced by as many others.
fn changed(archive: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut plain = zstd::decode_all(archive).expect("it is intact");
    let place = plain.windows(from.len()).position(|part| part == from.as_bytes()).expect("the manifest says it");
    plain[place..place + to.len()].copy_from_slice(to.as_bytes());
    zstd::encode_all(plain.as_slice(), 3).expect("it fits in memory")
}

#[test]
fn import_reports_replaced_and_foreign_state() {
    let (_folder, path) = archive_folder();
    exported(&made_elsewhere(), &path);
    let project = Project::indexed(&[("a.rs", "pub fn a() {}\n")]);
    let text = project.run_ok(&import(&path));
    assert!(text.contains("Replaced the existing index (main, "), "{text}");
    assert!(text.contains("this repository has no commit"), "{text}");
    assert!(text.contains("codecompass sync"), "{text}");
    assert_eq!(project.epochs(), 1);
    project.run_ok("sync");
    assert_eq!(project.places("locate a"), location_arg("a.rs"));
    assert_eq!(project.places("locate part_1"), [] as [&str; 0]);
}

#[test]
fn server_continues_after_import() {
    let (_folder, path) = archive_folder();
    exported(&made_elsewhere(), &path);
    let project = Project::new(clone());
    project.run_ok("index");
    let args = ["--no-watch", "--no-prewarm"];
    let mut server = StdioClient::open(project.repository.root(), project.home.path(), &args);
    let on_feat = json!({ "name": "extra", "ref": "feat" });
    let own = |server: &mut StdioClient| {
        server.call("locate_symbol", json!({ "name": "part_1" }))["total_candidates"].clone()
    };
    assert_eq!(
        (own(&mut server), server.call_error("locate_symbol", on_feat.clone()).0),
        (json!(1), "ref_not_indexed".into())
    );
    project.run_ok(&import(&path));
    assert_eq!(server.call("locate_symbol", on_feat.clone())["total_candidates"], 1);
    assert_eq!(own(&mut server), 1);
    project.run_ok("prune-overlays --older-than 0");
    assert_eq!((own(&mut server), server.call_error("locate_symbol", on_feat).0), (json!(1), "ref_not_indexed".into()));
    let status = server.wait_for_index(json!({}));
    assert_eq!(status["metadata"]["schema_status"], "compatible", "{status}");
}

#[test]
fn kill_during_import_is_atomic() {
    let (_folder, path) = archive_folder();
    exported(&made_elsewhere(), &path);
    let project = Project::new(clone());
    project.repository.write("src/own.rs", "pub fn own() {}\n");
    project.run_ok("index");
    // The old state has the edit and not the branch, the new one has the branch and not the edit. Refs are not indexed
    // automatically here, so that the test can see which state is in use.
    let on_feat = || project.run_with("locate extra --ref feat", &[("CODECOMPASS_VCS_AUTO_REFS", "false")]).code;
    let shown = || (project.places("locate own --no-sync").len(), on_feat());
    let (old, new) = ((1, Some(5)), (0, Some(0)));
    assert_eq!(shown(), old);
    let seen = std::cell::RefCell::new(Vec::new());
    project.kill_at_each_write(&import(&path), |n, survived| {
        let found = shown();
        assert!(found == new || (found == old && !survived), "killed at write {n}: {found:?}");
        seen.borrow_mut().push(found);
        project.run_ok("sync");
        assert_eq!(project.epochs(), 1, "killed at write {n}: the next write did not clean up");
        assert_eq!(project.places("locate own"), location_arg("src/own.rs"), "killed at write {n}");
        assert_eq!(project.stderr_lines(), [] as [&str; 0], "killed at write {n}");
    });
    let seen = seen.into_inner();
    assert!(seen.contains(&old) && seen.is_sorted_by(|a, b| a >= b), "{seen:?}");
}

#[test]
fn kill_during_first_import_is_atomic() {
    let (_folder, path) = archive_folder();
    exported(&made_elsewhere(), &path);
    let project = Project::new(clone());
    project.kill_at_each_write(&import(&path), |n, survived| {
        let code = project.run("locate part_1 --no-sync").code;
        assert!(code == Some(0) || (code == Some(3) && !survived), "killed at write {n}: {code:?}");
        project.run_ok(&import(&path));
        assert_eq!(project.epochs(), 1, "killed at write {n}: the next import did not clean up");
        assert_eq!(project.places("locate part_1"), location_arg("src/part_1.rs"));
    });
}

#[test]
fn kill_during_export_is_harmless() {
    let (_folder, path) = archive_folder();
    let project = made_elsewhere();
    let export = format!("state export '{}' --force", path.display());
    project.run_ok(&export);
    let whole = fs::read(&path).expect("it was just written");
    project.kill_at_each_write(&export, |n, _| {
        assert!(fs::read(&path).expect("it exists") == whole, "killed at write {n}: the archive differs");
        assert_eq!(project.places("locate part_1"), location_arg("src/part_1.rs"));
        project.run_ok(&export);
        assert_eq!(project.epochs(), 1, "killed at write {n}: the next export did not clean up");
    });
}
