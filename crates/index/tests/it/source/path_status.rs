//! The status of one path equals its status in a full listing.

use codecompass_index::source::{Limits, PathStatus, commit_path_status, worktree_path_status};
use codecompass_model::SkipReason::{BuiltinFolder, Generated, Ignored, Secret, Symlink, TooLarge};

use super::sandbox::Sandbox;

#[test]
fn path_status_in_work_tree_and_commit() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["src/a.rs", "vendor/x/b.go", "made.rs", "keys/a.pem", "docs/deep/c.md", "gone.rs"]);
    tree.write(".codecompassignore", "/docs/\n").write(".gitattributes", "made.rs linguist-generated\n");
    tree.write("big.rs", "x".repeat(100));
    #[cfg(unix)]
    std::os::unix::fs::symlink("src/a.rs", tree.root.join("link.rs")).unwrap();
    let commit = tree.commit("all");
    tree.remove("gone.rs").write(".gitignore", "*.log\n").touch(&["new.rs", "x.log"]);
    let limits = Limits { max_file_bytes: 50, ..Limits::default() };
    let workspace = tree.workspace();
    let out = PathStatus::Skipped;
    let table = [
        ("src/a.rs", PathStatus::Listed, PathStatus::Listed),
        ("vendor/x/b.go", out(BuiltinFolder), out(BuiltinFolder)),
        ("made.rs", out(Generated), out(Generated)),
        ("keys/a.pem", out(Secret), out(Secret)),
        ("docs/deep/c.md", out(Ignored), out(Ignored)),
        ("big.rs", out(TooLarge), out(TooLarge)),
        ("gone.rs", PathStatus::Absent, PathStatus::Listed),
        ("new.rs", PathStatus::Listed, PathStatus::Absent),
        ("x.log", out(Ignored), PathStatus::Absent),
        ("src", PathStatus::Absent, PathStatus::Absent),
        ("src/a.rs/below", PathStatus::Absent, PathStatus::Absent),
        ("never/at/all.rs", PathStatus::Absent, PathStatus::Absent),
        ("../outside.rs", PathStatus::Absent, PathStatus::Absent),
        (".git/config", PathStatus::Absent, PathStatus::Absent),
        ("", PathStatus::Absent, PathStatus::Absent),
    ];
    for (path, in_tree, in_commit) in table {
        assert_eq!(worktree_path_status(&workspace, path, &limits).unwrap(), in_tree, "{path} in the work tree");
        assert_eq!(commit_path_status(&workspace, &commit, path, &limits).unwrap(), in_commit, "{path} in the commit");
    }
    if cfg!(unix) {
        assert_eq!(worktree_path_status(&workspace, "link.rs", &limits).unwrap(), out(Symlink));
        assert_eq!(commit_path_status(&workspace, &commit, "link.rs", &limits).unwrap(), out(Symlink));
    }
}
