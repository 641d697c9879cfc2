//! Finding the workspace of a path.

use std::path::Path;

use codecompass_index::source::{SourceError, Workspace, list_worktree};

use super::sandbox::{Sandbox, Tree, paths};

fn discover(path: &Path) -> Result<Workspace, SourceError> {
    Workspace::discover(path, None)
}

#[test]
fn the_work_tree_around_a_sub_folder_is_found() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a/b/c.rs"]);
    for path in ["repo", "repo/a", "repo/a/b", "repo/a/../a/b", "repo/.git", "repo/.git/refs"] {
        let found = discover(&sandbox.at(path)).unwrap();
        assert_eq!(found.root, tree.root, "{path}");
        assert_eq!(found.project_key(), tree.root.join(".git"), "{path}");
    }
}

#[test]
fn folder_without_git_is_its_own_workspace() {
    let sandbox = Sandbox::new();
    let tree = sandbox.folder("plain/sub");
    let found = discover(&tree.root).unwrap();
    assert!(found.repo.is_none());
    assert_eq!(found.root, tree.root);
    assert_eq!(found.project_key(), tree.root);
}

#[test]
fn empty_git_folder_is_ignored() {
    let sandbox = Sandbox::new();
    let outer = sandbox.init("outer");
    std::fs::create_dir_all(sandbox.at("outer/inner/.git")).unwrap();
    assert_eq!(discover(&sandbox.at("outer/inner")).unwrap().root, outer.root);
}

#[cfg(unix)]
#[test]
fn links_to_a_folder_lead_to_its_real_path() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    std::os::unix::fs::symlink(&tree.root, sandbox.at("link")).unwrap();
    assert_eq!(discover(&sandbox.at("link")).unwrap().root, tree.root);
}

#[test]
fn paths_that_are_no_folder_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.folder("f").touch(&["file"]);
    assert!(matches!(discover(&sandbox.at("gone")), Err(SourceError::MissingPath { .. })));
    assert!(matches!(discover(&sandbox.at("f/file")), Err(SourceError::NotAFolder { .. })));
    assert!(matches!(discover(&sandbox.at("f/file/x")), Err(SourceError::NotAFolder { .. })));
}

#[test]
fn the_file_systems_root_and_the_home_folder_are_refused() {
    let sandbox = Sandbox::new();
    assert!(matches!(discover(Path::new("/")), Err(SourceError::RefusedRoot { .. })));
    let home = sandbox.folder("home").root;
    let at_home = |path: &str| Workspace::discover(&sandbox.at(path), Some(&home));
    assert!(matches!(at_home("home"), Err(SourceError::RefusedRoot { .. })));
    sandbox.folder("home/project");
    assert_eq!(at_home("home/project").unwrap().root, sandbox.at("home/project"));

    sandbox.init("home");
    assert!(matches!(at_home("home"), Err(SourceError::RefusedRoot { .. })));
    let below = at_home("home/project").unwrap();
    assert!(below.repo.is_none(), "the repository of the home folder is ignored");
    assert_eq!(below.root, sandbox.at("home/project"));
}

#[test]
fn a_bare_repository_has_no_work_tree() {
    let sandbox = Sandbox::new();
    sandbox.init("repo").touch(&["a.rs"]).commit("one");
    sandbox.git(&["clone", "-q", "--bare", "repo", "bare.git"]);
    let found = discover(&sandbox.at("bare.git/refs")).unwrap();
    assert_eq!(found.root, sandbox.at("bare.git"));
    let repo = found.repo.as_ref().unwrap();
    assert!(repo.is_bare());
    assert_eq!(repo.work_tree(), None);
    assert_eq!(repo.worktrees().unwrap(), Vec::<std::path::PathBuf>::new());
    assert!(matches!(list_worktree(&found, &Default::default()), Err(SourceError::NoWorkTree { .. })));
    let commit = repo.head().unwrap().commit.unwrap();
    assert_eq!(paths(&repo.list_commit(&commit, &Default::default()).unwrap()), ["a.rs"]);
}

#[test]
fn linked_work_trees_are_workspaces_of_one_project() {
    let sandbox = Sandbox::new();
    let main = sandbox.init("main");
    main.touch(&["a.rs"]).commit("one");
    main.git(&["worktree", "add", "-q", "../linked", "-b", "feat/x"]);
    let linked = Tree::existing(sandbox.at("linked"));
    linked.touch(&["b.rs"]);

    let (a, b) = (main.workspace(), linked.workspace());
    assert_eq!(b.root, linked.root);
    assert_eq!(a.project_key(), b.project_key());
    let (a, b) = (a.repo.unwrap(), b.repo.unwrap());
    assert_eq!(b.work_tree(), Some(linked.root.as_path()));
    assert_ne!(a.git_dir(), b.git_dir());
    assert_eq!(b.head().unwrap().branch.as_deref(), Some("feat/x"));
    assert_eq!(a.head().unwrap().branch.as_deref(), Some("main"));
    let both = [main.root.clone(), linked.root.clone()];
    assert_eq!(a.worktrees().unwrap(), both);
    assert_eq!(b.worktrees().unwrap(), both);
    assert_eq!(linked.paths(), ["a.rs", "b.rs"]);

    std::fs::remove_dir_all(&linked.root).unwrap();
    assert_eq!(a.worktrees().unwrap(), std::slice::from_ref(&main.root), "a deleted work tree is not listed");
}

#[test]
fn work_trees_of_a_bare_repository_are_found() {
    let sandbox = Sandbox::new();
    sandbox.init("repo").touch(&["a.rs"]).commit("one");
    sandbox.git(&["clone", "-q", "--bare", "repo", "project/.git"]);
    let bare = Tree::existing(sandbox.at("project"));
    assert!(bare.repo().is_bare());
    bare.git(&["worktree", "add", "-q", "feature"]);
    let linked = Tree::existing(sandbox.at("project/feature"));
    assert_eq!(linked.workspace().root, linked.root);
    assert_eq!(linked.repo().worktrees().unwrap(), std::slice::from_ref(&linked.root));
    assert_eq!(linked.paths(), ["a.rs"]);
}

#[test]
fn a_submodule_is_a_workspace_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.init("library").touch(&["lib.rs"]).commit("one");
    let outer = sandbox.init("outer");
    outer.touch(&["main.rs"]);
    outer.git(&["submodule", "add", "-q", "../library", "deps/library"]);
    outer.commit("two");
    let inner = Tree::existing(sandbox.at("outer/deps/library"));
    assert_eq!(inner.workspace().root, inner.root);
    assert_eq!(inner.workspace().project_key(), sandbox.at("outer/.git/modules/deps/library"));
    assert_eq!(inner.paths(), ["lib.rs"]);
    assert_eq!(inner.repo().worktrees().unwrap(), std::slice::from_ref(&inner.root));
    assert_eq!(outer.paths(), [".gitmodules", "main.rs"]);
}

#[test]
fn other_object_formats_and_reference_storages_have_their_own_error() {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q", "--object-format=sha256", "new"]);
    let error = discover(&sandbox.at("new")).unwrap_err();
    assert!(matches!(&error, SourceError::UnsupportedObjectFormat { format, .. } if format == "sha256"), "{error}");
    sandbox.git(&["init", "-q", "--ref-format=reftable", "table"]);
    let error = discover(&sandbox.at("table")).unwrap_err();
    assert!(matches!(&error, SourceError::UnsupportedRefStorage { storage, .. } if storage == "reftable"), "{error}");
}
