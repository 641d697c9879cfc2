//! The runner accepts correct answers, and rejects each kind of wrong answer on the expected road.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fake;

use std::path::PathBuf;

use codecompass_testkit::{Options, ROADS, report, run_cases_with};
use fake::{Fake, Fault};
use tempfile::TempDir;

const CASE: &str = "\
A function that a branch renames is found there under its new name, and on main under its old one.

=== src/lib.rs
pub fn greet() {}
=== src/util.rs
fn help() {}

fn last() {}
=== feat: src/lib.rs
pub fn hello() {}
=== feat: src/util.rs renamed src/aid.rs
=== stacked: from feat
=== stacked: src/aid.rs deleted
=== uncommitted: src/new.rs
fn fresh() {}

? locate greet
src/lib.rs:1  fn greet

? locate last
src/util.rs:3  fn last
? locate fresh
src/new.rs:1  fn fresh
? locate hello
exit 1
stderr: no symbol hello

--- On the branch.
? locate greet --ref feat
exit 1
stderr: no symbol greet
? locate help --ref feat --json
{
  \"hits\": [
    \"src/aid.rs:1  fn help\"
  ],
  \"source_layer\": \"overlay\",
  \"took_ms\": \"[time]\"
}
? locate help --ref stacked
exit 1
stderr: no symbol help
";

fn folder(cases: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in cases {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Returns the roads on which the case fails, and the full report.
fn failing_roads(case: &str, fault: Fault) -> (Vec<String>, String) {
    let folder = folder(&[("x.case", case)]);
    let failures = run_cases_with(folder.path(), &Fake(fault), &Options::default());
    let road = |name: &String| name.strip_prefix("x.case on road ").unwrap_or(name).trim_matches('\'').to_owned();
    let roads = failures.iter().map(|(name, _)| road(name)).collect();
    (roads, failures.iter().map(|(_, failure)| failure.0.clone() + "\n").collect())
}

#[test]
fn right_answers_pass_on_every_road() {
    let folder = folder(&[("x.case", CASE)]);
    let failures = run_cases_with(folder.path(), &Fake(Fault::None), &Options::default());
    assert!(failures.is_empty(), "{}", report(&failures));
}

#[test]
fn wrong_answer_fails_on_every_road_with_line() {
    let wrong = CASE.replace("src/lib.rs:1  fn greet", "src/lib.rs:2  fn greet");
    let (roads, text) = failing_roads(&wrong, Fault::None);
    assert_eq!(roads, ["all at once", "file by file", "synced twice", "branch beside main", "killed"]);
    assert!(text.contains("x.case:17: ? locate greet\n- src/lib.rs:2  fn greet\n+ src/lib.rs:1  fn greet"), "{text}");
}

#[test]
fn wrong_branch_answer_fails_when_flattened() {
    let wrong = CASE.replace("src/aid.rs:1  fn help", "src/aid.rs:9  fn help");
    let (roads, _) = failing_roads(&wrong, Fault::None);
    assert!(roads.contains(&"branch flattened".to_owned()), "{roads:?}");
}

#[test]
fn law_exceptions_may_differ_only_when_flattened() {
    let other = CASE.replace("\"overlay\"", "\"base\"");
    let (roads, _) = failing_roads(&other, Fault::None);
    assert!(roads.contains(&"all at once".to_owned()) && !roads.contains(&"branch flattened".to_owned()), "{roads:?}");
}

#[test]
fn each_fault_fails_on_its_road() {
    let table = [
        (Fault::SyncKeepsDeletedFiles, "file by file", "src/util.rs.old"),
        (Fault::SecondSyncDropsAFile, "synced twice", "no symbol greet"),
        (Fault::BranchFirstIsMarked, "branch beside main", "early/src/aid.rs:1"),
        (Fault::DeletesBeforeWriting, "killed", "the state is not the last published one"),
        (Fault::PublishesInTwoSteps, "killed", "the state is not the last published one"),
        (Fault::LockSurvivesAKill, "killed", "the next run should recover: `sync` failed: exit 4\nlocked"),
        (Fault::CanNotBeKilled, "killed", "does this build support the variable?"),
    ];
    for (fault, road, text) in table {
        let (roads, told) = failing_roads(CASE, fault);
        assert!(roads.contains(&road.to_owned()), "{fault:?}: {roads:?}\n{told}");
        assert!(told.contains(text), "{fault:?}: {told}");
        assert!(!roads.contains(&"all at once".to_owned()), "{fault:?} must not fail on the first road: {told}");
    }
}

#[test]
fn branch_leak_fails_on_multi_branch_roads() {
    let (roads, _) = failing_roads(CASE, Fault::BranchesLeak);
    assert!(roads.contains(&"all at once".to_owned()), "{roads:?}");
    assert!(!roads.contains(&"branch flattened".to_owned()), "{roads:?}");
}

#[test]
fn case_can_exclude_roads() {
    let faulty = CASE.replace("old one.\n", "old one.\nroads: all but killed because the fake can not be killed\n");
    assert_eq!(failing_roads(&faulty, Fault::CanNotBeKilled).0, Vec::<String>::new());
}

#[test]
fn plain_folder_skips_branch_roads() {
    let plain = "A folder without git is indexed as it is.\nfolder: plain\n\n=== a.py\n=== b.py\ndef f():\n    pass\n\n? locate f\nb.py:1  fn f\n";
    assert_eq!(failing_roads(plain, Fault::None).0, Vec::<String>::new());
    assert_eq!(failing_roads(plain, Fault::PublishesInTwoSteps).0, ["killed"]);
}

#[test]
fn branch_can_stay_unindexed() {
    let case = "A branch that was never indexed says so.\nnot indexed: feat\n\n=== a.rs\nfn f() {}\n=== feat: b.rs\n? locate f --ref feat\nexit 3\nstderr: feat is not indexed\n";
    assert_eq!(failing_roads(case, Fault::None).0, Vec::<String>::new());
}

#[test]
fn update_rewrites_answers_and_nothing_else() {
    let wrong = CASE
        .replace("src/lib.rs:1  fn greet", "something\nelse")
        .replace("exit 1\nstderr: no symbol hello\n", "")
        .replace("    \"src/aid.rs:1  fn help\"\n", "");
    let folder = folder(&[("x.case", &wrong)]);
    let options = Options { update: true, ..Options::default() };
    let failures = run_cases_with(folder.path(), &Fake(Fault::None), &options);
    assert_eq!(failures, []);
    assert_eq!(std::fs::read_to_string(folder.path().join("x.case")).unwrap(), CASE);
}

#[test]
fn other_roads_are_checked_after_update() {
    let folder = folder(&[("x.case", CASE)]);
    let options = Options { update: true, ..Options::default() };
    let failures = run_cases_with(folder.path(), &Fake(Fault::SecondSyncDropsAFile), &options);
    assert!(failures.iter().any(|(name, _)| name == "x.case on road 'synced twice'"), "{failures:?}");
}

#[test]
fn filter_selects_cases_and_roads() {
    let folder = folder(&[("x.case", CASE), ("y.case", "no question")]);
    let options = Options { case: "x".to_owned(), road: "twice".to_owned(), update: false };
    let failures = run_cases_with(folder.path(), &Fake(Fault::SyncKeepsDeletedFiles), &options);
    let names: Vec<&str> = failures.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x.case on road 'synced twice'"]);
}

#[test]
fn empty_folder_and_broken_case_fail() {
    let empty = folder(&[]);
    assert_eq!(run_cases_with(empty.path(), &Fake(Fault::None), &Options::default()).len(), 1);
    let (names, text) = failing_roads("A title.\n=== a\n=== a\n? locate a\n", Fault::None);
    assert_eq!(names, ["x.case"]);
    assert!(text.contains("x.case:3: a is written twice on main"), "{text}");
}

#[test]
fn report_names_case_and_road_and_update_hint() {
    let folder = folder(&[("x.case", &CASE.replace("exit 1", "exit 7"))]);
    let failures = run_cases_with(folder.path(), &Fake(Fault::None), &Options::default());
    let text = report(&failures);
    for (name, _) in &failures {
        assert!(text.contains(&format!("──── {name}\n")), "{text}");
    }
    assert!(text.contains("Accept the answers of the road 'all at once': UPDATE=1."), "{text}");
}

#[test]
fn roads_have_unique_names_and_docs() {
    for road in ROADS {
        assert_eq!(ROADS.iter().filter(|other| other.name == road.name).count(), 1, "{road:?}");
        assert!(!road.doc.is_empty() && !road.name.contains(','), "{road:?}");
        let file =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/roads").join(road.name.replace(' ', "_") + ".rs");
        assert!(file.is_file(), "{} is named after its road", file.display());
    }
}
