//! Refs: branches, tags and commits, read straight from git, and what is checked out, edits included.

mod support;

use codecompass_testkit::Repository;
use serde_json::{Value, json};
use support::{Project, at};

const NONE: [&str; 0] = [];

/// `first` and a tag on it, then `second` on main; `feat/x` beside it.
fn history() -> Project {
    let repository = Repository::new();
    repository.write("first.rs", "pub fn first() {}\n");
    repository.commit("first");
    repository.tag("v1");
    repository.git(&["tag", "--annotate", "--message", "one", "v1-annotated"]);
    repository.branch("feat/x").write("x.rs", "pub fn x() {}\n").commit("x");
    repository.checkout("main");
    repository.rename("first.rs", "second.rs").write("second.rs", "pub fn second() {}\n");
    repository.commit("second");
    Project::of(repository)
}

#[test]
fn a_tag_is_indexed_by_its_name() {
    let project = history();
    project.done("index");
    for tag in ["v1", "v1-annotated"] {
        assert_eq!(project.json_ending(&format!("locate first --ref {tag}"), 5)["error"]["code"], "ref_not_indexed");
        let answer = project.json(&format!("index --ref {tag}"));
        assert_eq!((&answer["mode"], &answer["metadata"]["ref"]), (&json!("full"), &json!(tag)));
        assert_eq!(project.places(&format!("locate first --ref {tag}")), at("first.rs"));
        assert_eq!(project.places(&format!("locate second --ref {tag}")), NONE);
    }
    assert_eq!(project.places("locate first"), NONE);
}

#[test]
fn a_commit_is_brought_in_when_it_is_asked_for() {
    let project = history();
    let commit = project.repository.rev("v1");
    // Not by a query on a project that nobody registered.
    project.ends(&format!("locate first --ref {commit}"), 3);
    assert!(project.knows_nothing());
    project.done("index");
    for name in [&commit, &commit[..10], "HEAD~1", "main^", "feat/x~1"] {
        let answer = project.json(&format!("locate first --ref '{name}'"));
        assert_eq!(support::places(&answer), at("first.rs"), "{name}");
        assert_eq!(answer["metadata"]["ref"], commit, "{name}");
    }
    assert_eq!(project.places("locate second --ref HEAD~1"), NONE);
    // A commit that is no name's is still known to git.
    project.repository.git(&["branch", "--quiet", "--delete", "--force", "feat/x"]);
    project.ends("locate x --ref feat/x", 5);
    for wrong in ["0000000000000000000000000000000000000000", "HEAD~99", "main:second.rs", "--", "a b", "@{-1}x"] {
        assert_eq!(project.json_ending(&format!("locate x --ref='{wrong}'"), 5)["error"]["code"], "ref_not_indexed");
    }
}

#[test]
fn a_detached_head_shows_its_work_tree_under_the_commit_id() {
    let project = history();
    project.done("index");
    project.repository.checkout("v1");
    let commit = project.repository.rev("HEAD");
    project.repository.write("draft.rs", "pub fn draft() {}\n");
    let answer = project.json("locate draft");
    assert_eq!((support::places(&answer), &answer["metadata"]["ref"]), (at("draft.rs"), &json!(commit)));
    assert_eq!(project.places("locate first"), at("first.rs"));
    // The branch that was left shows what git has.
    assert_eq!(project.places("locate second --ref main"), at("second.rs"));
    assert_eq!(project.places("locate draft --ref main"), NONE);
}

#[test]
fn a_branch_that_is_left_keeps_what_was_committed_and_loses_what_was_not() {
    let project = history();
    project.done("index --ref feat/x");
    project.repository.write("draft.rs", "pub fn draft() {}\n");
    assert_eq!(project.places("locate draft --ref feat/x"), NONE);
    project.done("index");
    assert_eq!(project.places("locate draft --ref main"), at("draft.rs"));
    project.repository.checkout("feat/x");
    // The untracked file is in the work tree, and with it on the branch that is checked out now.
    assert_eq!(project.places("locate draft"), at("draft.rs"));
    assert_eq!(project.places("locate draft --ref feat/x"), at("draft.rs"));
    assert_eq!(project.places("locate draft --ref main"), NONE);
    assert_eq!(project.places("locate second --ref main"), at("second.rs"));
    let questions = ["locate draft --json", "locate x --json", "locate second --ref main --json", "status --json"];
    project.fresh(&["main"]).expect_equal(&questions.map(str::to_owned));
}

#[test]
fn packed_refs_remote_branches_and_full_names_are_refs_as_well() {
    let project = history();
    let repository = &project.repository;
    repository.git(&["update-ref", "refs/remotes/origin/topic", "feat/x"]);
    repository.git(&["pack-refs", "--all"]);
    repository.git(&["gc", "--quiet"]);
    project.done("index");
    for name in ["feat/x", "origin/topic", "refs/heads/feat/x", "refs/remotes/origin/topic"] {
        assert_eq!(project.json(&format!("index --ref {name}"))["file_count"], 2, "{name}");
        assert_eq!(project.places(&format!("locate x --ref {name}")), at("x.rs"), "{name}");
    }
}

#[test]
fn a_repository_without_a_commit_is_its_work_tree() {
    let project = Project::of(Repository::new());
    project.repository.write("a.rs", "pub fn a() {}\n");
    let answer = project.json("index");
    assert_eq!((&answer["file_count"], &answer["metadata"]["ref"]), (&json!(1), &json!("main")));
    assert_eq!(answer["metadata"].get("indexed_commit"), None);
    assert_eq!(project.places("locate a"), at("a.rs"));
    project.repository.commit("first");
    let answer = project.json("sync");
    assert_eq!((&answer["changed_files"], &answer["extracted_files"]), (&json!(0), &json!(0)));
    assert_eq!(answer["metadata"]["indexed_commit"], project.repository.rev("main"));
}

#[test]
fn an_empty_repository_has_nothing_and_says_so() {
    let project = Project::of(Repository::new());
    assert_eq!(project.json("index")["file_count"], 0);
    let empty = project.json_ending("locate a", 1);
    assert_eq!((&empty["metadata"]["indexing_status"], empty["metadata"].get("warnings")), (&json!("ready"), None));
    assert_eq!(project.complaints(), NONE);
}

#[test]
fn a_bare_repository_answers_for_its_head_and_its_refs() {
    let origin = history();
    let project = Project::of(Repository::plain());
    let source = origin.repository.root().to_str().expect("UTF-8");
    project.repository.git(&["clone", "--quiet", "--bare", source, "."]);
    project.done("index");
    assert_eq!(project.places("locate second"), at("second.rs"));
    project.done("index --ref feat/x");
    assert_eq!(project.places("locate x --ref feat/x"), at("x.rs"));
    assert_eq!(project.json("status")["ref"], "main");
    assert_eq!(project.complaints(), NONE);
}

#[test]
fn a_shallow_clone_knows_what_it_has() {
    let origin = history();
    let project = Project::of(Repository::plain());
    let source = format!("file://{}", origin.repository.root().display());
    project.repository.git(&["clone", "--quiet", "--depth", "1", &source, "."]);
    project.done("index");
    assert_eq!(project.places("locate second"), at("second.rs"));
    let beyond = project.run("locate first --ref HEAD~1 --json");
    let told: Value = serde_json::from_str(&beyond.stdout).expect("an error is JSON");
    assert_eq!((beyond.code, &told["error"]["code"]), (Some(5), &json!("ref_not_indexed")), "{told}");
}
