//! Resolution of ref names, with `git rev-parse` as the oracle.

use codecompass_index::source::{Head, ResolvedRef, SourceError};
use codecompass_model::ViewKey;

use super::sandbox::{Sandbox, Tree};

/// Creates three commits on `main`, one more on `feat/a/b`, a lightweight and an annotated tag.
fn history() -> (Sandbox, Tree) {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    for name in ["one", "two", "three"] {
        tree.touch(&[name]).commit(name);
    }
    tree.git(&["tag", "light", "HEAD~1"]);
    tree.git(&["tag", "-a", "v1.0", "-m", "one", "HEAD~2"]);
    tree.git(&["tag", "-a", "v1.0-again", "-m", "a tag of a tag", "v1.0"]);
    tree.git(&["checkout", "-q", "-b", "feat/a/b"]);
    tree.touch(&["four"]).commit("four");
    (sandbox, tree)
}

fn check_history(tree: &Tree) {
    let repo = tree.repo();
    for name in ["main", "feat/a/b", "light", "v1.0", "v1.0-again", "refs/heads/main", "refs/tags/v1.0"] {
        let short = name.trim_start_matches("refs/heads/").trim_start_matches("refs/tags/");
        let commit = tree.git(&["rev-parse", &format!("{name}^{{commit}}")]);
        assert_eq!(repo.resolve(name).unwrap(), ResolvedRef { key: ViewKey::Ref(short.into()), commit }, "{name}");
    }
    let id = tree.git(&["rev-parse", "HEAD~1"]);
    for name in ["HEAD", "HEAD~1", "HEAD^", "HEAD~3", "main~1", "main^", "v1.0~0", "feat/a/b^", &id, &id[..9], "@"] {
        let commit = tree.git(&["rev-parse", &format!("{name}^{{commit}}")]);
        let key = ViewKey::Commit(commit.clone());
        assert_eq!(repo.resolve(name).unwrap(), ResolvedRef { key, commit }, "{name}");
    }
}

#[test]
fn refs_resolve_as_in_git() {
    let (_sandbox, tree) = history();
    check_history(&tree);
    tree.git(&["pack-refs", "--all"]);
    tree.git(&["gc", "-q"]);
    check_history(&tree);
}

#[test]
fn unknown_refs_are_reported() {
    let (_sandbox, tree) = history();
    let repo = tree.repo();
    let absent = "0123456789012345678901234567890123456789";
    for name in [
        "nope",
        "",
        " ",
        "feat",
        "feat/a",
        "HEAD~99",
        "refs/heads/nope",
        "a b",
        "-x",
        "..",
        "main..light",
        "heads/nope",
    ] {
        let error = repo.resolve(name).unwrap_err();
        assert!(matches!(&error, SourceError::UnknownRef { name: n } if n == name), "{name:?}: {error}");
    }
    assert!(repo.resolve(absent).is_err());
    let tree_id = tree.git(&["rev-parse", "HEAD^{tree}"]);
    assert!(matches!(repo.resolve(&tree_id), Err(SourceError::NotACommit { .. })));
    tree.git(&["tag", "of-a-tree", &tree_id]);
    assert!(matches!(repo.resolve("of-a-tree"), Err(SourceError::NotACommit { .. })));
}

#[test]
fn a_branch_wins_over_a_tag_and_over_a_commit_id_of_the_same_name() {
    let (_sandbox, tree) = history();
    tree.git(&["tag", "main", "HEAD~3"]);
    let branch = tree.git(&["rev-parse", "refs/heads/main"]);
    assert_eq!(tree.repo().resolve("main").unwrap().commit, branch);
    let short = &tree.git(&["rev-parse", "HEAD~2"])[..7];
    tree.git(&["branch", short, "refs/heads/main"]);
    let resolved = tree.repo().resolve(short).unwrap();
    assert_eq!(resolved, ResolvedRef { key: ViewKey::Ref(short.into()), commit: branch });
}

#[test]
fn head_is_a_branch_a_commit_or_unborn() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    let repo = tree.repo();
    assert_eq!(repo.head().unwrap(), Head { branch: Some("main".into()), commit: None });
    assert_eq!(repo.default_branch().unwrap().as_deref(), Some("main"));
    assert!(matches!(repo.resolve("HEAD"), Err(SourceError::UnknownRef { .. })));
    assert!(matches!(repo.resolve("main"), Err(SourceError::UnknownRef { .. })));
    assert_eq!(tree.paths(), Vec::<String>::new());

    let commit = tree.touch(&["a"]).commit("one");
    assert_eq!(repo.head().unwrap(), Head { branch: Some("main".into()), commit: Some(commit.clone()) });
    tree.git(&["checkout", "-q", "--detach"]);
    assert_eq!(repo.head().unwrap(), Head { branch: None, commit: Some(commit) });
}

#[test]
fn remote_branches_resolve_by_remote() {
    let (sandbox, tree) = history();
    tree.git(&["checkout", "-q", "main"]);
    sandbox.git(&["clone", "-q", "repo", "clone"]);
    let clone = Tree::existing(sandbox.at("clone"));
    let repo = clone.repo();
    let commit = tree.git(&["rev-parse", "feat/a/b"]);
    let key = ViewKey::Ref("origin/feat/a/b".into());
    assert_eq!(repo.resolve("origin/feat/a/b").unwrap(), ResolvedRef { key, commit });
    assert!(matches!(repo.resolve("feat/a/b"), Err(SourceError::UnknownRef { .. })));
    clone.git(&["branch", "origin/feat/a/b", "HEAD~2"]);
    let local = clone.git(&["rev-parse", "HEAD~2"]);
    assert_eq!(repo.resolve("origin/feat/a/b").unwrap().commit, local, "the local branch comes first");
}

#[test]
fn default_branch_order() {
    let (sandbox, tree) = history();
    let default = |tree: &Tree| tree.repo().default_branch().unwrap();
    assert_eq!(default(&tree).as_deref(), Some("main"));
    tree.git(&["branch", "-m", "main", "master"]);
    assert_eq!(default(&tree).as_deref(), Some("master"));
    tree.git(&["branch", "-m", "master", "trunk"]);
    assert_eq!(default(&tree).as_deref(), Some("feat/a/b"));
    tree.git(&["checkout", "-q", "--detach"]);
    assert_eq!(default(&tree), None);

    tree.git(&["checkout", "-q", "trunk"]);
    sandbox.git(&["clone", "-q", "repo", "clone"]);
    let clone = Tree::existing(sandbox.at("clone"));
    clone.git(&["branch", "main"]);
    assert_eq!(default(&clone).as_deref(), Some("trunk"));
    clone.git(&["checkout", "-q", "main"]);
    clone.git(&["branch", "-q", "-D", "trunk"]);
    assert_eq!(default(&clone).as_deref(), Some("origin/trunk"));
    clone.git(&["update-ref", "-d", "refs/remotes/origin/trunk"]);
    assert_eq!(default(&clone).as_deref(), Some("main"), "a remote HEAD that points nowhere does not count");
}

#[test]
fn open_repository_sees_moved_branch() {
    let (_sandbox, tree) = history();
    let repo = tree.repo();
    repo.resolve("main").unwrap();
    let before = repo.resolve("feat/a/b").unwrap().commit;
    let after = tree.touch(&["five"]).commit("five");
    tree.git(&["gc", "-q"]);
    assert_ne!(before, after);
    assert_eq!(repo.resolve("feat/a/b").unwrap().commit, after);
    assert_eq!(repo.list_commit(&after, &Default::default()).unwrap().entries.len(), 5);
}
