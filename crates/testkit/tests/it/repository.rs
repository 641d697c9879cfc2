//! The repository builder does what git does, the same way each time.

use codecompass_testkit::Repository;

#[test]
fn same_steps_give_same_commit_ids() {
    let build = || {
        let repo = Repository::new();
        repo.write("src/lib.rs", "fn a() {}\n");
        repo.commit("first");
        repo.branch("feat").rename("src/lib.rs", "src/b.rs");
        repo.commit("second")
    };
    assert_eq!(build(), build());
}

#[test]
fn branches_merge_and_worktrees_are_linked() {
    let repo = Repository::new();
    repo.write("a", "1").commit("first");
    repo.tag("v1").branch("feat").write("b/c", "2").commit("second");
    repo.checkout("main").write("d", "3").commit("third");
    repo.merge("feat");
    assert_eq!(repo.paths("main"), ["a", "b/c", "d"]);
    assert_eq!(repo.show("feat", "b/c"), "2");
    let linked = repo.worktree("feat");
    assert_eq!(linked.read("b/c"), "2");
    assert_eq!(linked.rev("HEAD"), repo.rev("feat"));
    repo.delete("b/c").reset("v1");
    assert!(!repo.path("b").exists() && !repo.path("d").exists());
}

#[test]
fn flattened_repository_has_one_commit_and_same_tree() {
    let repo = Repository::new();
    repo.write(".gitignore", "x\n").write("a", "1");
    repo.commit("first");
    repo.write("x", "ignored, yet committed").git(&["add", "--force", "x"]);
    repo.commit("second");
    repo.branch("feat/deep").write("a", "2").commit("third");
    repo.checkout("main");
    let flat = repo.flattened("feat/deep");
    assert_eq!(flat.refs().len(), 1);
    assert_eq!(flat.git(&["rev-list", "--count", "--all"]), "1\n");
    let tree = |repo: &Repository| repo.git(&["rev-parse", "feat/deep^{tree}"]);
    assert_eq!(tree(&flat), tree(&repo));
    assert_eq!(flat.git(&["status", "--porcelain"]), "");
}

#[test]
fn plain_folder_has_no_git() {
    let folder = Repository::plain();
    folder.write("a/b", "text");
    assert!(!folder.path(".git").exists());
    assert_eq!(folder.read("a/b"), "text");
}

#[test]
#[should_panic(expected = "git checkout --quiet nowhere failed in ")]
fn git_failure_panics_with_output() {
    Repository::new().checkout("nowhere");
}
