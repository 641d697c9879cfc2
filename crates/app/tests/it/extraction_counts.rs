//! Only new versions are extracted, and only files that differ count as changed.

use crate::support;

use std::fs::File;
use std::time::SystemTime;

use codecompass_testkit::Repository;
use serde_json::Value;
use support::{Project, location_arg};

/// Returns the counts that a command reports: changed files, extracted files, files in the view.
fn counts(answer: &Value) -> (u64, u64, u64) {
    let count = |key: &str| answer[key].as_u64().unwrap_or_else(|| panic!("{key} is a count: {answer}"));
    (count("changed_files"), count("extracted_files"), count("file_count"))
}

fn text(number: usize, word: &str) -> String {
    format!("//! Module {number}.\n\npub fn {word}_{number}() -> usize {{\n    {number}\n}}\n")
}

/// Creates a committed repository of `files` small files in folders of twenty.
fn large(files: usize) -> Repository {
    let repository = Repository::new();
    for number in 0..files {
        repository.write(&path(number), text(number, "main"));
    }
    repository.commit("files");
    repository
}

fn path(number: usize) -> String {
    format!("src/part_{}/file_{number}.rs", number / 20)
}

#[test]
fn branch_extracts_only_changed_files() {
    let repository = large(400);
    repository.branch("feat");
    for number in (0..400).step_by(8) {
        repository.write(&path(number), text(number, "feat"));
    }
    repository.commit("fifty changes");
    repository.checkout("main");
    let project = Project::new(repository);
    assert_eq!(counts(&project.json("index")), (400, 400, 400));
    assert_eq!(counts(&project.json("index --ref feat")), (400, 50, 400), "a new view, of which 50 files are new");
    assert_eq!(counts(&project.json("index --ref feat")), (0, 0, 400));
    assert_eq!(project.places("locate feat_16 --ref feat"), ["src/part_0/file_16.rs:3"]);
    assert_eq!(project.places("locate main_16 --ref feat"), [] as [&str; 0]);
    assert_eq!(project.places("locate main_17 --ref feat"), ["src/part_0/file_17.rs:3"]);
    assert_eq!(project.places("locate main_16"), ["src/part_0/file_16.rs:3"]);

    // Switching to the branch and back: all versions are stored.
    project.repository.checkout("feat");
    assert_eq!(counts(&project.json("sync")), (50, 0, 400));
    assert_eq!(project.places("locate feat_16"), ["src/part_0/file_16.rs:3"]);
    project.repository.checkout("main");
    assert_eq!(counts(&project.json("sync")), (50, 0, 400));
    assert_eq!(project.places("locate feat_16"), [] as [&str; 0]);

    // Everything again, with `--force`.
    assert_eq!(counts(&project.json("index --force")).1, 400);
}

#[test]
fn each_kind_of_change_is_counted() {
    let project = Project::new(large(20));
    project.json("index");

    // The path is part of a version: names and ids depend on it. The old path is deleted, the new one is added.
    project.repository.rename(&path(3), "src/part_0/renamed.rs");
    assert_eq!(counts(&project.json("sync")), (2, 1, 20));
    assert_eq!(project.places("locate main_3"), ["src/part_0/renamed.rs:3"]);

    let touched = File::options().write(true).open(project.repository.path(&path(4))).expect("the file exists");
    touched.set_modified(SystemTime::now()).expect("its time can be set");
    drop(touched);
    assert_eq!(counts(&project.json("sync")), (0, 0, 20));

    // The same bytes in a new file at the same path.
    project.repository.delete(&path(4)).write(&path(4), text(4, "main"));
    assert_eq!(counts(&project.json("sync")), (0, 0, 20));

    project.repository.write(&path(5), text(5, "edited"));
    assert_eq!(counts(&project.json("sync")), (1, 1, 20));
    project.repository.write(&path(5), text(5, "main"));
    assert_eq!(counts(&project.json("sync")), (1, 0, 20), "those bytes were stored before");

    project.repository.delete(&path(6));
    assert_eq!(counts(&project.json("sync")), (1, 0, 19));
    assert_eq!(project.places("locate main_6"), [] as [&str; 0]);

    // The uncommitted edits are committed: the files do not change.
    project.repository.commit("all of it");
    assert_eq!(counts(&project.json("sync")), (0, 0, 19));
}

#[test]
fn edit_with_same_size_and_mtime_is_detected() {
    let project = Project::indexed(&[("src/lib.rs", "pub fn aaa() {}\n")]);
    let path = project.repository.path("src/lib.rs");
    let time = path.metadata().and_then(|meta| meta.modified()).expect("the file has a time");
    project.repository.write("src/lib.rs", "pub fn bbb() {}\n");
    let file = File::options().write(true).open(&path).expect("the file exists");
    file.set_modified(time).expect("its time can be set");
    drop(file);
    assert_eq!(counts(&project.json("sync")), (1, 1, 1));
    assert_eq!(project.places("locate bbb"), location_arg("src/lib.rs"));
}

#[test]
fn reset_rebase_and_a_moved_branch_extract_only_what_is_new() {
    let repository = large(12);
    repository.branch("feat");
    repository.write(&path(1), text(1, "feat")).write("src/new.rs", text(100, "new"));
    repository.commit("feature");
    repository.checkout("main");
    repository.write(&path(2), text(2, "later"));
    repository.commit("main goes on");
    let project = Project::new(repository);
    let repository = &project.repository;
    project.json("index");
    assert_eq!(counts(&project.json("index --ref feat")).1, 3, "two changes, and main's old version of one file");

    // After the rebase the branch has main's change, too: no file has new bytes.
    repository.checkout("feat");
    repository.git(&["rebase", "--quiet", "main"]);
    repository.checkout("main");
    assert_eq!(counts(&project.json("index --ref feat")), (1, 0, 13));
    assert_eq!(project.places("locate later_2 --ref feat"), ["src/part_0/file_2.rs:3"]);

    // A hard reset of main to before its last commit.
    repository.reset("HEAD~1");
    assert_eq!(counts(&project.json("sync")), (1, 0, 12));
    assert_eq!(project.places("locate later_2"), [] as [&str; 0]);
    assert_eq!(project.places("locate main_2"), ["src/part_0/file_2.rs:3"]);

    // The branch is moved by force to another commit.
    repository.git(&["branch", "--quiet", "--force", "feat", "main"]);
    let moved = project.json("sync --ref feat");
    assert_eq!(counts(&moved), (3, 0, 12));
    assert_eq!(moved["metadata"]["indexed_commit"], repository.rev("main"));
}

#[test]
fn linked_worktree_shares_versions() {
    let repository = large(10);
    repository.branch("feat");
    repository.write(&path(0), text(0, "feat"));
    repository.commit("feature");
    repository.checkout("main");
    let linked = repository.worktree("feat");
    let project = Project::new(repository);
    project.json("index");
    let there = |command: &str| {
        let reply = project.run_at(linked.root(), command, &[]);
        assert!(matches!(reply.code, Some(0 | 1)), "`{command}` said:\n{}{}", reply.stdout, reply.stderr);
        serde_json::from_str::<Value>(&reply.stdout).expect("an answer is JSON")
    };
    assert_eq!(counts(&there("index --json")), (10, 1, 10));
    linked.write("src/draft.rs", "pub fn draft() {}\n");
    assert_eq!(support::places(&there("locate draft --json")), location_arg("src/draft.rs"));
    assert_eq!(project.places("locate draft"), [] as [&str; 0]);
    assert_eq!(
        project.places("locate draft --ref feat"),
        [] as [&str; 0],
        "in another work tree, a branch is its commit"
    );
    assert_eq!(project.places("locate feat_0 --ref feat"), ["src/part_0/file_0.rs:3"]);
    project.data();
}

#[test]
fn only_named_files_are_checked() {
    let project =
        Project::indexed(&[("a.rs", "pub fn a() {}\n"), ("b.rs", "pub fn b() {}\n"), ("c.rs", "pub fn c() {}\n")]);
    let repository = &project.repository;
    repository.write("a.rs", "pub fn a2() {}\n").write("b.rs", "pub fn b2() {}\n").delete("c.rs");
    repository.write("new/d.rs", "pub fn d() {}\n");
    let answer = project.json("sync --changed a.rs c.rs new/d.rs");
    assert_eq!(counts(&answer), (3, 2, 3));
    assert_eq!(project.places("locate a2 --no-sync"), location_arg("a.rs"));
    assert_eq!(project.places("locate d --no-sync"), location_arg("new/d.rs"));
    assert_eq!(project.places("locate c --no-sync"), [] as [&str; 0]);
    assert_eq!(project.places("locate b2 --no-sync"), [] as [&str; 0]);
    assert_eq!(counts(&project.json("sync")), (1, 1, 3));
    project.fresh_index(&[]).expect_equal(&["locate b2 --json".to_owned(), "status --json".to_owned()]);
    let outside = project.run_expecting("sync --changed ../elsewhere.rs", 2);
    assert!(outside.contains("elsewhere.rs\" leads out of the workspace"), "{outside}");
}

#[test]
fn file_folder_swaps_are_detected() {
    let project = Project::indexed(&[("thing.rs", "pub fn file() {}\n"), ("other.rs", "pub fn other() {}\n")]);
    let repository = &project.repository;
    repository.delete("thing.rs").write("thing.rs/inner.rs", "pub fn inner() {}\n");
    assert_eq!(counts(&project.json("sync")), (2, 1, 2));
    assert_eq!(project.places("locate inner"), location_arg("thing.rs/inner.rs"));
    assert_eq!(project.places("locate file"), [] as [&str; 0]);
    repository.delete("thing.rs/inner.rs").write("thing.rs", "pub fn file() {}\n");
    assert_eq!(counts(&project.json("sync")), (2, 0, 2));
    assert_eq!(project.places("locate file"), location_arg("thing.rs"));
    project.fresh_index(&[]).expect_equal(&["locate inner --json".to_owned(), "status --json".to_owned()]);
}

#[test]
fn garbage_collection_keeps_answers() {
    let project = Project::new(large(40));
    project.json("index");
    for round in 0..4 {
        for number in 0..40 {
            project.repository.write(&path(number), text(number, &format!("round{round}")));
        }
        assert_eq!(counts(&project.json("sync")), (40, 40, 40));
    }
    let disk = project.run_ok("doctor");
    let disk =
        disk.lines().find(|line| line.contains("file versions,")).expect("the doctor reports the disk").to_owned();
    // Two hundred versions were created; those of main's commit, of the current work tree and of the previous one are
    // needed.
    assert!(disk.contains("120 file versions"), "{disk}");
    assert_eq!(project.stderr_lines(), [] as [&str; 0]);
    let questions =
        ["locate round3_7 --json", "locate round2_7 --json", "locate main_7 --json --ref HEAD~0", "status --json"];
    project.fresh_index(&[]).expect_equal(&questions.map(str::to_owned));
    // Collected versions are extracted again when they are needed.
    for number in 0..40 {
        project.repository.write(&path(number), text(number, "round0"));
    }
    assert_eq!(counts(&project.json("sync")).1, 40);
    assert_eq!(project.places("locate round0_7"), ["src/part_0/file_7.rs:3"]);
}
