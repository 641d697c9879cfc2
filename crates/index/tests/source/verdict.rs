//! What is said of one path is what a whole listing says of it.

use codecompass_index::source::{Limits, Verdict, commit_verdict, worktree_verdict};
use codecompass_model::SkipReason::{BuiltinFolder, Generated, Ignored, Secret, Symlink, TooLarge};

use super::sandbox::Sandbox;

#[test]
fn a_path_is_listed_left_out_or_absent_in_the_work_tree_and_in_a_commit() {
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
    let out = Verdict::LeftOut;
    let table = [
        ("src/a.rs", Verdict::Listed, Verdict::Listed),
        ("vendor/x/b.go", out(BuiltinFolder), out(BuiltinFolder)),
        ("made.rs", out(Generated), out(Generated)),
        ("keys/a.pem", out(Secret), out(Secret)),
        ("docs/deep/c.md", out(Ignored), out(Ignored)),
        ("big.rs", out(TooLarge), out(TooLarge)),
        ("gone.rs", Verdict::Absent, Verdict::Listed),
        ("new.rs", Verdict::Listed, Verdict::Absent),
        ("x.log", out(Ignored), Verdict::Absent),
        ("src", Verdict::Absent, Verdict::Absent),
        ("src/a.rs/below", Verdict::Absent, Verdict::Absent),
        ("never/at/all.rs", Verdict::Absent, Verdict::Absent),
        ("../outside.rs", Verdict::Absent, Verdict::Absent),
        (".git/config", Verdict::Absent, Verdict::Absent),
        ("", Verdict::Absent, Verdict::Absent),
    ];
    for (path, in_tree, in_commit) in table {
        assert_eq!(worktree_verdict(&workspace, path, &limits).unwrap(), in_tree, "{path} in the work tree");
        assert_eq!(commit_verdict(&workspace, &commit, path, &limits).unwrap(), in_commit, "{path} in the commit");
    }
    if cfg!(unix) {
        assert_eq!(worktree_verdict(&workspace, "link.rs", &limits).unwrap(), out(Symlink));
        assert_eq!(commit_verdict(&workspace, &commit, "link.rs", &limits).unwrap(), out(Symlink));
    }
}
