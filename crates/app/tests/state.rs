//! An index made in one place and used in another: `state export` and `state import`.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::client::{Client, Pipe};
use support::{Project, at, files_of};

/// The same history each time, as every clone has it: `main` with twenty files, and `feat` with one more.
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
    let project = Project::of(clone());
    project.done("index");
    project.done("index --ref feat");
    project
}

/// A place for archives.
fn shelf() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::TempDir::new().expect("a temp folder can be made");
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
fn an_index_made_elsewhere_costs_only_the_difference() {
    let (_folder, path) = shelf();
    let ci = made_elsewhere();
    ci.repository.write("src/draft.rs", "pub fn unspoken() {}\n");
    ci.done("sync");
    let archive = exported(&ci, &path);
    assert_eq!(archive["refs"][1]["ref"], "main");
    assert_eq!((&archive["refs"][1]["file_count"], &archive["file_versions"]), (&json!(20), &json!(21)), "{archive}");

    // A commit further on, and one file that is not committed.
    let colleague = Project::of(clone());
    colleague.repository.write("src/part_3.rs", "pub fn part_3_renamed() {}\n");
    colleague.repository.commit("one step on");
    colleague.repository.write("src/own.rs", "pub fn own() { part_1(); }\n");
    let imported = colleague.json(&import(&path));
    assert_eq!((&imported["created"], &imported["replaced"]), (&json!(true), &Value::Null), "{imported}");
    assert_eq!(imported["worktree_starts_from"], "main");
    assert_eq!(imported["metadata"]["indexed_commit"], ci.repository.rev("main"));
    // What came in answers at once, and says what it is.
    let answer = colleague.json("locate part_3 --no-sync");
    assert_eq!(
        (support::places(&answer), &answer["metadata"]["freshness_status"]),
        (at("src/part_3.rs"), &json!("stale"))
    );
    assert_eq!(colleague.places("locate extra --ref feat"), at("src/extra.rs"));
    assert_eq!(colleague.places("locate unspoken --no-sync"), [] as [&str; 0]);

    let synced = colleague.json("sync");
    assert_eq!((&synced["extracted_files"], &synced["changed_files"]), (&json!(2), &json!(2)), "{synced}");
    assert_eq!(colleague.json("sync")["extracted_files"], 0);
    let questions =
        ["locate own", "locate part_3_renamed", "references part_1", "search part", "locate extra --ref feat"];
    colleague.fresh(&["feat"]).expect_equal(&questions.map(|question| format!("{question} --json")));
    assert_eq!(colleague.complaints(), [] as [&str; 0]);
}

#[test]
fn the_first_question_after_an_import_extracts_the_difference_by_itself() {
    let (_folder, path) = shelf();
    exported(&made_elsewhere(), &path);
    let project = Project::of(clone());
    project.repository.write("src/own.rs", "pub fn own() {}\n");
    project.done(&import(&path));
    assert_eq!(project.places("locate own"), at("src/own.rs"));
    let jobs = project.json("status")["recent_jobs"].clone();
    assert_eq!(jobs.as_array().map(Vec::len), Some(1), "{jobs}");
    assert_eq!(jobs[0]["changed_files"], 1, "{jobs}");
    assert_eq!(project.json("sync")["extracted_files"], 0);
}

#[test]
fn a_branch_that_the_archive_never_saw_starts_from_the_default_branch() {
    let (_folder, path) = shelf();
    exported(&made_elsewhere(), &path);
    let project = Project::of(clone());
    project.repository.branch("topic").write("src/topic.rs", "pub fn topic() {}\n").commit("topic");
    assert_eq!(project.json(&import(&path))["worktree_starts_from"], "main");
    let synced = project.json("sync");
    assert_eq!((&synced["extracted_files"], &synced["metadata"]["ref"]), (&json!(1), &json!("topic")));
}

#[test]
fn a_plain_folder_is_shared_without_its_path() {
    let (_folder, path) = shelf();
    let make = || {
        let folder = Repository::plain();
        folder.write("a.rs", "pub fn a() {}\n").write("b.rs", "pub fn b() {}\n");
        Project::of(folder)
    };
    let (here, there) = (make(), make());
    here.done("index");
    exported(&here, &path);
    there.done(&import(&path));
    assert_eq!(there.places("locate a --no-sync"), at("a.rs"));
    there.repository.write("b.rs", "pub fn other() {}\n");
    assert_eq!(there.json("sync")["extracted_files"], 1);
    assert_eq!(there.places("locate other"), at("b.rs"));
}

#[test]
fn the_same_state_is_the_same_file_and_a_file_is_only_replaced_when_told() {
    let (folder, path) = shelf();
    let project = made_elsewhere();
    exported(&project, &path);
    let first = fs::read(&path).expect("it was just written");
    let refused = project.json_ending(&format!("state export '{}'", path.display()), 2);
    assert_eq!(refused["error"]["code"], "invalid_input", "{refused}");
    assert!(fs::read(&path).expect("it is there") == first);
    // Asking changes nothing of it, and neither does the day.
    project.done("locate part_1");
    let later =
        project.run_with(&format!("state export '{}' --force", path.display()), &[("CODECOMPASS_DAYS_AHEAD", "9")]);
    assert!(later.succeeded(), "{later:?}");
    assert!(fs::read(&path).expect("it is there") == first, "the second archive differs");
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1, "something is left behind");
    let nowhere = folder.path().join("nowhere/a.tar.zst");
    project.ends(&format!("state export '{}'", nowhere.display()), 2);
}

#[test]
fn without_anything_to_export_there_is_no_file() {
    let (_folder, path) = shelf();
    let project = Project::of(clone());
    let export = format!("state export '{}'", path.display());
    assert_eq!(project.json_ending(&export, 3)["error"]["code"], "project_not_found");
    assert!(project.knows_nothing());
    project.done("init");
    assert_eq!(project.json_ending(&export, 3)["error"]["code"], "index_not_ready");
    assert!(!path.exists());
}

#[test]
fn an_archive_that_can_not_be_taken_in_changes_nothing() {
    let (folder, path) = shelf();
    exported(&made_elsewhere(), &path);
    let whole = fs::read(&path).expect("it was just written");
    let project = Project::indexed(&[("a.rs", "pub fn a() {}\n")]);
    let before = files_of(&project.data());
    let refuse = |bytes: &[u8], code: i32| {
        fs::write(&path, bytes).expect("it can be written");
        let answer = project.json_ending(&import(&path), code);
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
    let missing = project.json_ending(&import(&folder.path().join("nothing")), 5);
    assert_eq!(missing["error"]["code"], "invalid_input", "{missing}");
    assert!(files_of(&project.data()) == before, "something was changed");
    assert_eq!(project.places("locate a"), at("a.rs"));
}

/// The archive with some bytes of its manifest changed to as many others.
fn changed(archive: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut plain = zstd::decode_all(archive).expect("it is whole");
    let place = plain.windows(from.len()).position(|part| part == from.as_bytes()).expect("the manifest says it");
    plain[place..place + to.len()].copy_from_slice(to.as_bytes());
    zstd::encode_all(plain.as_slice(), 3).expect("it fits in memory")
}

#[test]
fn an_import_tells_what_it_replaced_and_when_it_is_of_another_repository() {
    let (_folder, path) = shelf();
    exported(&made_elsewhere(), &path);
    let project = Project::indexed(&[("a.rs", "pub fn a() {}\n")]);
    let text = project.done(&import(&path));
    assert!(text.contains("Replaced the existing index (main, "), "{text}");
    assert!(text.contains("this repository has no commit"), "{text}");
    assert!(text.contains("codecompass sync"), "{text}");
    assert_eq!(project.epochs(), 1);
    project.done("sync");
    assert_eq!(project.places("locate a"), at("a.rs"));
    assert_eq!(project.places("locate part_1"), [] as [&str; 0]);
}

#[test]
fn a_server_goes_on_answering_from_the_state_that_took_the_place_of_its_own() {
    let (_folder, path) = shelf();
    exported(&made_elsewhere(), &path);
    let project = Project::of(clone());
    project.done("index");
    let args = ["--no-watch", "--no-prewarm"];
    let mut server = Pipe::open(project.repository.root(), project.home.path(), &args);
    let on_feat = json!({ "name": "extra", "ref": "feat" });
    let own = |server: &mut Pipe| server.call("locate_symbol", json!({ "name": "part_1" }))["total_candidates"].clone();
    assert_eq!(
        (own(&mut server), server.fails("locate_symbol", on_feat.clone()).0),
        (json!(1), "ref_not_indexed".into())
    );
    project.done(&import(&path));
    assert_eq!(server.call("locate_symbol", on_feat.clone())["total_candidates"], 1);
    assert_eq!(own(&mut server), 1);
    project.done("prune-overlays --older-than 0");
    assert_eq!((own(&mut server), server.fails("locate_symbol", on_feat).0), (json!(1), "ref_not_indexed".into()));
    let status = server.settles(json!({}));
    assert_eq!(status["metadata"]["schema_status"], "compatible", "{status}");
}

#[test]
fn a_kill_at_any_write_of_an_import_leaves_the_old_state_or_the_new_one() {
    let (_folder, path) = shelf();
    exported(&made_elsewhere(), &path);
    let project = Project::of(clone());
    project.repository.write("src/own.rs", "pub fn own() {}\n");
    project.done("index");
    // The old state knows the edit and not the branch, the new one the other way round.
    // What git knows is not brought in here: it shall be seen which state there is.
    let on_feat = || project.run_with("locate extra --ref feat", &[("CODECOMPASS_VCS_AUTO_REFS", "false")]).code;
    let shown = || (project.places("locate own --no-sync").len(), on_feat());
    let (old, new) = ((1, Some(5)), (0, Some(0)));
    assert_eq!(shown(), old);
    let seen = std::cell::RefCell::new(Vec::new());
    project.killed_at_each_write(&import(&path), |n, survived| {
        let found = shown();
        assert!(found == new || (found == old && !survived), "killed at write {n}: {found:?}");
        seen.borrow_mut().push(found);
        project.done("sync");
        assert_eq!(project.epochs(), 1, "killed at write {n}: the next write did not clean up");
        assert_eq!(project.places("locate own"), at("src/own.rs"), "killed at write {n}");
        assert_eq!(project.complaints(), [] as [&str; 0], "killed at write {n}");
    });
    let seen = seen.into_inner();
    assert!(seen.contains(&old) && seen.is_sorted_by(|a, b| a >= b), "{seen:?}");
}

#[test]
fn a_kill_at_any_write_of_a_first_import_leaves_nothing_or_everything() {
    let (_folder, path) = shelf();
    exported(&made_elsewhere(), &path);
    let project = Project::of(clone());
    project.killed_at_each_write(&import(&path), |n, survived| {
        let code = project.run("locate part_1 --no-sync").code;
        assert!(code == Some(0) || (code == Some(3) && !survived), "killed at write {n}: {code:?}");
        project.done(&import(&path));
        assert_eq!(project.epochs(), 1, "killed at write {n}: the next import did not clean up");
        assert_eq!(project.places("locate part_1"), at("src/part_1.rs"));
    });
}

#[test]
fn a_kill_at_any_write_of_an_export_harms_nobody() {
    let (_folder, path) = shelf();
    let project = made_elsewhere();
    let export = format!("state export '{}' --force", path.display());
    project.done(&export);
    let whole = fs::read(&path).expect("it was just written");
    project.killed_at_each_write(&export, |n, _| {
        assert!(fs::read(&path).expect("it is there") == whole, "killed at write {n}: the archive is another");
        assert_eq!(project.places("locate part_1"), at("src/part_1.rs"));
        project.done(&export);
        assert_eq!(project.epochs(), 1, "killed at write {n}: the next export did not clean up");
    });
}
