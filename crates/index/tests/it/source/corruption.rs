//! Corrupt repositories cause errors or skips, never a panic and never a listing that looks complete.

use codecompass_index::source::{Limits, SourceError, Workspace, list_worktree};
use codecompass_model::SkipReason;

use super::sandbox::{Sandbox, Tree};

fn corrupt_fixture() -> (Sandbox, Tree) {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs", "b/c.rs", "b/d/e.rs"]).commit("one");
    (sandbox, tree)
}

/// Returns the file of a loose object.
fn object(tree: &Tree, name: &str) -> std::path::PathBuf {
    let id = tree.git(&["rev-parse", name]);
    tree.root.join(".git/objects").join(&id[..2]).join(&id[2..])
}

fn overwrite(path: &std::path::Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn truncated_index_is_an_error() {
    let (_sandbox, tree) = corrupt_fixture();
    let path = tree.root.join(".git/index");
    let whole = std::fs::read(&path).unwrap();
    // The checksum at the end is not verified, as in git; everything before it must be there.
    let body = whole.len() - 20;
    for length in (0..body).step_by(7) {
        overwrite(&path, &whole[..length]);
        let result = list_worktree(&tree.workspace(), &Limits::default());
        match result {
            Err(SourceError::Index { path: at, .. }) => assert_eq!(at, path),
            Err(other) => panic!("{length} bytes: {other}"),
            Ok(listing) => assert_eq!(listing.entries.len(), 3, "{length} bytes: only extensions may be lost"),
        }
    }
}

#[test]
fn flipped_index_bytes_do_not_panic() {
    let (_sandbox, tree) = corrupt_fixture();
    let path = tree.root.join(".git/index");
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        overwrite(&path, &bytes);
        if let Ok(listing) = list_worktree(&tree.workspace(), &Limits::default()) {
            assert_eq!(listing.entries.len(), 3, "byte {at}");
        }
    }
}

#[test]
fn unusable_git_folder_is_named_in_the_error() {
    for head in ["", "garbage", "ref: ", "ref: ../../etc/passwd", "\0\0\0"] {
        let (_sandbox, tree) = corrupt_fixture();
        overwrite(&tree.root.join(".git/HEAD"), head.as_bytes());
        let error = match Workspace::discover(&tree.root, None) {
            Err(error) => error,
            Ok(ws) => ws.repo.expect("it is not treated as a plain folder").head().unwrap_err(),
        };
        assert!(error.to_string().contains(".git"), "{head:?}: {error}");
    }
    let (_sandbox, tree) = corrupt_fixture();
    overwrite(&tree.root.join(".git/config"), b"[core\nnonsense");
    assert!(matches!(Workspace::discover(&tree.root, None), Err(SourceError::Repository { .. })));
}

#[test]
fn dangling_git_file_is_an_error() {
    let sandbox = Sandbox::new();
    let tree = sandbox.folder("copied");
    for text in ["gitdir: /nowhere/at/all\n", "", "nonsense"] {
        tree.write(".git", text);
        assert!(matches!(Workspace::discover(&tree.root, None), Err(SourceError::Repository { .. })), "{text:?}");
    }
}

#[test]
fn a_missing_or_broken_tree_is_an_error() {
    let list = |tree: &Tree| {
        let commit = tree.git(&["rev-parse", "HEAD"]);
        tree.repo().list_commit(&commit, &Limits::default())
    };
    for name in ["HEAD^{tree}", "HEAD:b", "HEAD:b/d"] {
        let (_sandbox, tree) = corrupt_fixture();
        let path = object(&tree, name);
        overwrite(&path, b"not an object");
        assert!(matches!(list(&tree), Err(SourceError::CorruptObject { .. })), "{name}");
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(list(&tree), Err(SourceError::MissingObject { .. })), "{name}");
    }
}

#[test]
fn a_missing_or_broken_blob_is_a_skip() {
    let (_sandbox, tree) = corrupt_fixture();
    let path = object(&tree, "HEAD:b/c.rs");
    overwrite(&path, b"not an object");
    let listing = tree.list_commit("HEAD");
    assert_eq!(listing.skips.count(SkipReason::Unreadable), 1);
    assert_eq!(listing.entries.len(), 2);
    std::fs::remove_file(&path).unwrap();
    let listing = tree.list_commit("HEAD");
    assert_eq!(listing.skips.count(SkipReason::MissingObject), 1);
    assert_eq!(listing.entries.len(), 2);
}

#[test]
fn a_branch_that_points_to_a_missing_commit_is_an_error() {
    let (_sandbox, tree) = corrupt_fixture();
    std::fs::remove_file(object(&tree, "HEAD")).unwrap();
    assert!(matches!(
        tree.repo().resolve("main"),
        Err(SourceError::MissingObject { .. } | SourceError::Repository { .. })
    ));
    assert!(tree.repo().resolve("HEAD").is_err());
    assert_eq!(tree.paths(), ["a.rs", "b/c.rs", "b/d/e.rs"], "the work tree can still be listed");
}
