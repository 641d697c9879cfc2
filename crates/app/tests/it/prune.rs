//! `prune-overlays`: unused views are removed, and their space is freed.

use crate::support;

use std::fs::{self, File};

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::{Project, file_contents, files_of, location_arg};

const DAYS_AHEAD: &str = "CODECOMPASS_DAYS_AHEAD";

/// `main`, and other branches with a file each, all indexed.
fn branches(names: &[&str]) -> Project {
    let repository = Repository::new();
    repository.write("base.rs", "pub fn base() {}\n").commit("base");
    for name in names {
        repository.checkout("main").branch(name);
        let body = (0..200).map(|line| format!("pub fn {name}_{line}() {{ base(); }}\n")).collect::<String>();
        repository.write(&format!("{name}.rs"), body).commit(name);
    }
    repository.checkout("main");
    let project = Project::new(repository);
    project.run_ok("index");
    names.iter().for_each(|name| drop(project.run_ok(&format!("index --ref {name}"))));
    project
}

fn json_on_day(project: &Project, day: u32, command: &str) -> Value {
    let reply = project.run_with(&format!("{command} --json"), &[(DAYS_AHEAD, &day.to_string())]);
    assert!(reply.succeeded(), "`{command}`: {reply:?}");
    serde_json::from_str(&reply.stdout).expect("an answer is JSON")
}

fn pruned(answer: &Value) -> Vec<(String, String)> {
    let text = |view: &Value, key: &str| view[key].as_str().unwrap_or_default().to_owned();
    let list = answer["pruned"].as_array().unwrap_or_else(|| panic!("{answer}"));
    list.iter().map(|view| (text(view, "ref"), text(view, "reason"))).collect()
}

fn inactive(names: &[&str]) -> Vec<(String, String)> {
    names.iter().map(|name| ((*name).to_owned(), "inactive".to_owned())).collect()
}

#[test]
fn inactive_views_are_pruned() {
    let project = branches(&["asked", "forgotten"]);
    let commit = project.repository.rev("asked");
    project.repository.commit("main goes on");
    project.run_ok(&format!("locate base --ref {commit}"));
    assert_eq!(pruned(&json_on_day(&project, 29, "prune-overlays")), []);
    json_on_day(&project, 20, "locate asked_1 --ref asked --no-sync");
    let answer = json_on_day(&project, 40, "prune-overlays");
    assert_eq!(pruned(&answer), inactive(&[&commit, "forgotten"]), "{answer}");
    assert_eq!(answer["removed_file_versions"], 1, "{answer}");
    let gone = project.json_without_refs("locate forgotten_1 --ref forgotten", 5);
    assert_eq!(gone["error"]["code"], "ref_not_indexed");
    assert_eq!(project.places("locate asked_0 --ref asked"), location_arg("asked.rs"));
    assert_eq!(pruned(&json_on_day(&project, 51, "prune-overlays")), inactive(&["asked"]));
    // The default branch and the work tree were not queried all that time, and they still exist.
    assert_eq!(pruned(&json_on_day(&project, 4000, "prune-overlays")), []);
    let questions = ["locate base --json", "references base --json", "search base --json"];
    project.fresh_index(&[]).expect_equal(&questions.map(str::to_owned));
    assert_eq!(project.stderr_lines(), [] as [&str; 0]);
    // A removed view is indexed again as if for the first time.
    assert_eq!(project.json("index --ref forgotten")["extracted_files"], 1);
}

#[test]
fn query_notes_use_hourly_without_waiting() {
    let project = branches(&["feat"]);
    let ask = |day| json_on_day(&project, day, "locate feat_1 --ref feat --no-sync");
    let before = file_contents(&project.data());
    ask(0);
    let log = |picture: &std::collections::BTreeMap<std::path::PathBuf, String>| {
        picture.iter().find(|(path, _)| path.ends_with("store.db-wal")).map(|(_, told)| told.clone())
    };
    assert_eq!(log(&file_contents(&project.data())), log(&before), "a new view was written again");
    let lock = File::options().write(true).open(project.data().join("write.lock")).expect("there is one");
    lock.lock().expect("no other process is writing");
    ask(35);
    assert_eq!(log(&file_contents(&project.data())), log(&before), "something was written without the lock");
    drop(lock);
    ask(35);
    assert_ne!(log(&file_contents(&project.data())), log(&before));
    assert_eq!(pruned(&json_on_day(&project, 60, "prune-overlays")), []);
}

#[test]
fn default_and_checked_out_views_stay() {
    let project = branches(&["linked", "other"]);
    let linked = project.repository.worktree("linked");
    assert!(project.run_at(linked.root(), "index", &[]).succeeded());
    let detached = Repository::plain();
    let place = detached.root().to_str().expect("UTF-8");
    project.repository.git(&["worktree", "add", "--quiet", "--detach", place, "other"]);
    assert!(project.run_at(detached.root(), "index", &[]).succeeded());
    assert_eq!(pruned(&project.json("prune-overlays --older-than 0")), inactive(&["other"]));
    for (cwd, question) in [(linked.root(), "locate linked_1"), (detached.root(), "locate other_1")] {
        assert!(project.run_at(cwd, &format!("{question} --no-sync"), &[]).succeeded(), "{question}");
    }
    assert!(project.run("locate linked_1 --ref linked --no-sync").succeeded());
    // In a linked work tree it is the same project, and the same rules apply.
    let reply = project.run_at(linked.root(), "prune-overlays --older-than 0 --json", &[]);
    assert_eq!(pruned(&serde_json::from_str(&reply.stdout).expect("an answer is JSON")), [], "{reply:?}");
}

#[test]
fn deleted_refs_are_pruned_at_once() {
    let project = branches(&["deleted", "moved", "kept"]);
    let moved = project.repository.worktree("moved");
    assert!(project.run_at(moved.root(), "index", &[]).succeeded());
    let root = moved.root().to_str().expect("UTF-8").to_owned();
    fs::remove_dir_all(moved.root()).expect("it can be removed");
    project.repository.git(&["branch", "--quiet", "--delete", "--force", "deleted"]);
    let answer = project.json("prune-overlays");
    let expected = [("deleted".to_owned(), "not_in_git".to_owned()), (root, "no_folder".to_owned())];
    assert_eq!(pruned(&answer), expected, "{answer}");
    assert_eq!(project.places("locate moved_0 --ref moved"), location_arg("moved.rs"));
    assert_eq!(project.places("locate kept_0 --ref kept"), location_arg("kept.rs"));
}

#[test]
fn dry_run_reports_without_pruning() {
    let project = branches(&["one", "two"]);
    let before = files_of(&project.data());
    let told = project.json("prune-overlays --older-than 0 --dry-run");
    assert_eq!((pruned(&told), &told["dry_run"]), (inactive(&["one", "two"]), &json!(true)));
    assert!(files_of(&project.data()) == before, "a dry run wrote something");
    let text = project.run_ok("prune-overlays --older-than 0 --dry-run");
    assert!(text.starts_with("Would prune 2:\n  ref one (not used for 0 days)\n"), "{text}");
    let done = project.json("prune-overlays --older-than 0");
    assert_eq!(pruned(&done), pruned(&told));
}

#[test]
fn freed_space_is_reported() {
    let names = ["one", "two", "three", "four"];
    let project = branches(&names);
    let readers = File::create(project.data().join("readers.lock")).expect("it can be created");
    readers.lock_shared().expect("no other process is collecting garbage");
    let answer = project.json("prune-overlays --older-than 0");
    assert_eq!((&answer["space_freed"], &answer["bytes_freed"]), (&json!(false), &json!(0)), "{answer}");
    assert_eq!(project.epochs(), 2);
    drop(readers);
    project.run_ok("sync");
    assert_eq!(project.epochs(), 1);

    let project = branches(&names);
    let size = || -> u64 {
        file_contents(&project.epoch()).keys().map(|path| fs::metadata(path).map_or(0, |meta| meta.len())).sum()
    };
    let before = size();
    let answer = project.json("prune-overlays --older-than 0");
    let number = |key: &str| answer[key].as_u64().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!((&answer["space_freed"], project.epochs()), (&json!(true), 1), "{answer}");
    assert_eq!(number("bytes_freed"), number("bytes_before") - number("bytes_after"));
    assert!(number("bytes_after") * 2 < number("bytes_before"), "{answer}");
    assert!(size() * 2 < before, "{} of {before} bytes remain", size());
}

#[test]
fn kill_during_prune_is_atomic() {
    let project = branches(&["gone"]);
    let shown = || (project.run("locate gone_1 --ref gone --no-sync").code, project.places("locate base --no-sync"));
    let (before, after) = ((Some(0), location_arg("base.rs")), (Some(5), location_arg("base.rs")));
    assert_eq!(shown(), before);
    let seen = std::cell::RefCell::new(Vec::new());
    project.kill_at_each_write("prune-overlays --older-than 0", |n, survived| {
        let found = shown();
        assert!(found == after || (found == before && !survived), "killed at write {n}: {found:?}");
        seen.borrow_mut().push(found);
        project.run_ok("sync");
        assert_eq!(project.epochs(), 1, "killed at write {n}: the next write did not clean up");
        assert_eq!(project.stderr_lines(), [] as [&str; 0], "killed at write {n}");
    });
    assert!(seen.borrow().contains(&before), "no kill came before the switch");
}

#[test]
fn unregistered_project_has_nothing_to_prune() {
    let project = Project::with_files(&[("a.rs", "pub fn a() {}\n")]);
    assert_eq!(project.json_expecting("prune-overlays", 3)["error"]["code"], "project_not_found");
    assert!(project.has_no_data());
    project.run_expecting("prune-overlays --older-than -1", 2);
}
