//! Work trees and plain folders, with `git ls-files` as the oracle.

use std::time::{Duration, SystemTime};

use codecompass_index::source::{ContentSource, Limits, list_worktree, stat_paths};
use codecompass_model::{BlobId, SkipReason};

use super::sandbox::{Sandbox, Tree, paths, skipped};

/// Returns the files that git tracks or would add.
fn oracle(tree: &Tree) -> Vec<String> {
    let mut paths: Vec<String> = tree
        .git(&["ls-files", "-c", "-o", "--exclude-standard", "-z"])
        .split('\0')
        .filter(|path| !path.is_empty() && tree.root.join(path).is_file())
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

fn unchanged_blob(tree: &Tree, path: &str) -> Option<BlobId> {
    let listing = tree.list();
    match listing.entries.into_iter().find(|entry| entry.path == path).expect("it is listed").source {
        ContentSource::File { index_blob, .. } => index_blob,
        ContentSource::Blob(_) => panic!("{path} is a file"),
    }
}

#[test]
fn tracked_files_and_untracked_ones_that_git_does_not_ignore_are_listed() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.write(".gitignore", "*.log\n/only-root\nlogs/\n!keep.log\ndeep/**/x\nwith\\ space\n[ab].c\n#no\n\\#yes\n")
        .write("sub/.gitignore", "!special.log\nlocal\n/anchored\n")
        .write(".git/info/exclude", "private\n")
        .touch(&["tracked.log", "logs/tracked.txt", "src/a.rs", "a.c"])
        .commit("all of this, also what is ignored");
    tree.touch(&["new.rs", "b.c", "d.c", "x.log", "keep.log", "only-root", "sub/only-root", "logs/untracked.txt"])
        .touch(&[
            "sub/special.log",
            "sub/other.log",
            "sub/local",
            "sub/deeper/local",
            "sub/anchored",
            "sub/deeper/anchored",
        ])
        .touch(&[
            "deep/1/2/x",
            "deep/y",
            "with space",
            "#yes",
            "#no",
            "private",
            "sub/private",
            ".hidden",
            ".config/file",
        ])
        .write("nested/.gitignore", "*\n!kept\n")
        .touch(&["nested/kept", "nested/gone"]);
    assert_eq!(tree.paths(), oracle(&tree));
    assert!(tree.paths().contains(&"logs/tracked.txt".to_owned()));
    assert!(!tree.paths().contains(&"logs/untracked.txt".to_owned()));

    tree.git(&["worktree", "add", "-q", "../linked"]);
    let linked = Tree::existing(sandbox.at("linked"));
    linked.touch(&["private", "public", "x.log"]);
    assert_eq!(linked.paths(), oracle(&linked), "a linked work tree shares info/exclude");
    assert!(!linked.paths().contains(&"private".to_owned()));
}

#[test]
fn deleted_and_edited_files_are_seen_as_they_are_on_disk() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["gone", "kept", "edited"]).commit("one");
    tree.remove("gone").write("edited", "other text\n");
    assert_eq!(tree.paths(), ["edited", "kept"]);
    assert_eq!(unchanged_blob(&tree, "kept").unwrap().to_string(), tree.git(&["rev-parse", "HEAD:kept"]));
    assert_eq!(unchanged_blob(&tree, "edited"), None);
    let listing = tree.list();
    assert_eq!(listing.entries[0].size, 11);
}

#[test]
fn index_blob_is_used_only_with_matching_stat() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.write("same-size", "one\n").write("plain", "text\n").commit("one");
    assert!(unchanged_blob(&tree, "plain").is_some());

    let path = tree.root.join("same-size");
    let before = path.metadata().unwrap().modified().unwrap();
    std::fs::write(&path, "two\n").unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    assert_eq!(
        unchanged_blob(&tree, "same-size"),
        None,
        "size and modification time are equal, but the inode's change time differs"
    );

    tree.git(&["update-index", "--assume-unchanged", "plain"]);
    assert_eq!(unchanged_blob(&tree, "plain"), None, "git is configured to assume it is unchanged");
    tree.write("later", "x\n").git(&["add", "--intent-to-add", "later"]);
    assert_eq!(unchanged_blob(&tree, "later"), None, "it has only an intent-to-add entry");
}

#[test]
fn racily_clean_files_are_not_trusted() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a"]).commit("one");
    let index = std::fs::File::options().write(true).open(tree.root.join(".git/index")).unwrap();
    let written = tree.root.join("a").metadata().unwrap().modified().unwrap();
    index.set_modified(written).unwrap();
    assert_eq!(unchanged_blob(&tree, "a"), None);
    index.set_modified(written + Duration::from_millis(1)).unwrap();
    assert!(unchanged_blob(&tree, "a").is_some());
    index.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(unchanged_blob(&tree, "a"), None);
}

#[test]
fn all_versions_of_the_index_file_are_read() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a/b/c", "a/b/d", "a/e", "f"]).write(".gitignore", "a/b\n").commit("one");
    for version in ["2", "3", "4"] {
        tree.git(&["update-index", "--index-version", version]);
        assert_eq!(tree.paths(), [".gitignore", "a/b/c", "a/b/d", "a/e", "f"], "version {version}");
        assert!(unchanged_blob(&tree, "a/b/d").is_some());
    }
    tree.git(&["update-index", "--split-index"]);
    tree.touch(&["g"]).git(&["add", "g"]);
    assert_eq!(tree.paths(), [".gitignore", "a/b/c", "a/b/d", "a/e", "f", "g"], "a split index");
}

#[test]
fn a_sparse_checkout_lists_what_is_there() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["in/a", "out-of-it/b", "c"]).commit("one");
    for arguments in [&["sparse-checkout", "set", "in"][..], &["sparse-checkout", "reapply", "--sparse-index"]] {
        tree.git(arguments);
        assert_eq!(tree.paths(), ["c", "in/a"]);
    }
    assert!(unchanged_blob(&tree, "c").is_some());
}

#[test]
fn files_in_a_merge_conflict_are_tracked_but_not_proven() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.write("a.log", "base\n").commit("one");
    tree.git(&["checkout", "-q", "-b", "other"]);
    tree.write("a.log", "theirs\n").commit("two");
    tree.git(&["checkout", "-q", "main"]);
    tree.write("a.log", "ours\n").write(".gitignore", "*.log\n").commit("three");
    tree.git_fails(&["merge", "-q", "other"]);
    assert_eq!(tree.paths(), [".gitignore", "a.log"]);
    assert_eq!(unchanged_blob(&tree, "a.log"), None);
}

#[cfg(unix)]
#[test]
fn special_files_are_counted_and_links_not_followed() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs", "dir/b.rs", "secret/.env"]).write("big", "x".repeat(2000));
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, tree.root.join(at)).unwrap();
    link("a.rs", "link.rs");
    link("dir", "linked-dir");
    link("/", "everything");
    link("nowhere", "broken");
    let _socket = std::os::unix::net::UnixListener::bind(tree.root.join("socket")).unwrap();
    let limits = Limits { max_file_bytes: 1999, ..Limits::default() };
    let listing = tree.list_with(&limits);
    assert_eq!(paths(&listing), ["a.rs", "dir/b.rs"]);
    let expected = [
        (SkipReason::Secret, vec!["secret/.env"]),
        (SkipReason::TooLarge, vec!["big"]),
        (SkipReason::Symlink, vec!["broken", "everything", "link.rs", "linked-dir"]),
        (SkipReason::NotAFile, vec!["socket"]),
    ];
    assert_eq!(skipped(&listing.skips), expected);
    let asked: Vec<String> = ["linked-dir/b.rs", "everything/etc/passwd", "link.rs"].map(str::to_owned).into();
    assert_eq!(stat_paths(&tree.workspace(), &asked, &limits).unwrap().entries, []);
}

#[test]
fn repositories_inside_are_not_entered() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs"]).commit("one");
    sandbox.init("repo/nested").touch(&["b.rs"]).commit("two");
    tree.git(&["worktree", "add", "-q", ".worktrees/x"]);
    std::fs::create_dir_all(tree.root.join("not-one/.git")).unwrap();
    tree.touch(&["not-one/c.rs"]);
    let listing = tree.list();
    assert_eq!(paths(&listing), ["a.rs", "not-one/c.rs"]);
    assert_eq!(skipped(&listing.skips), [(SkipReason::Submodule, vec![".worktrees/x", "nested"])]);
    let asked = ["nested/b.rs".to_owned(), ".worktrees/x/a.rs".to_owned()];
    let asked = stat_paths(&tree.workspace(), &asked, &Limits::default()).unwrap();
    assert_eq!((asked.entries, asked.skips), (vec![], listing.skips));

    let plain = sandbox.folder("plain");
    plain.touch(&["a.rs"]);
    sandbox.init("plain/nested").touch(&["b.rs"]);
    assert_eq!(plain.paths(), ["a.rs"]);
}

#[test]
fn a_plain_folder_honours_gitignore_files() {
    let sandbox = Sandbox::new();
    let tree = sandbox.folder("plain");
    tree.write(".gitignore", "*.log\n").write("sub/.gitignore", "!b.log\n");
    tree.touch(&["a.rs", "a.log", "sub/b.log", "target/x", "node_modules/y"]);
    let listing = tree.list();
    assert_eq!(paths(&listing), [".gitignore", "a.rs", "sub/.gitignore", "sub/b.log"]);
    let expected = [(SkipReason::Ignored, vec!["a.log"]), (SkipReason::BuiltinFolder, vec!["node_modules", "target"])];
    assert_eq!(skipped(&listing.skips), expected);
}

#[test]
fn known_paths_match_the_full_listing() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.write(".gitignore", "ignored/\n*.log\n").write("sub/.codecompassignore", "hidden\n!wanted.log\n");
    tree.touch(&["a", "ignored/tracked", "sub/b"]).commit("one");
    tree.touch(&["ignored/new", "x.log", "sub/hidden", "sub/wanted.log", "node_modules/m/i.js", "sub/.env", "c"]);
    let ws = tree.workspace();
    let all = list_worktree(&ws, &Limits::default()).unwrap();
    let everything = ["a", "ignored/tracked", "sub/b", "ignored/new", "x.log", "sub/hidden", "sub/wanted.log", "c"]
        .into_iter()
        .chain(["node_modules/m/i.js", "node_modules/m/j.js", "sub/.env", ".gitignore", "sub/.codecompassignore"])
        .chain([
            "gone",
            "sub",
            "",
            "/",
            "/etc/passwd",
            "../repo/a",
            "sub/../a",
            "./a",
            "sub//b",
            ".git/HEAD",
            "a/b",
            "a",
        ]);
    let everything: Vec<String> = everything.map(str::to_owned).collect();
    let known = stat_paths(&ws, &everything, &Limits::default()).unwrap();
    assert_eq!(known.entries, all.entries);
    assert_eq!(known.skips, all.skips);
    let one = stat_paths(&ws, &["sub/wanted.log".to_owned()], &Limits::default()).unwrap();
    assert_eq!(paths(&one), ["sub/wanted.log"]);
    assert_eq!(one.skips.total(), 0);
}

/// The environment that the `ignore` crate reads cannot be changed within this process, so the test starts itself.
#[test]
fn global_excludes_apply_to_untracked_files() {
    const ROOT: &str = "CODECOMPASS_TEST_ROOT";
    if let Some(root) = std::env::var_os(ROOT) {
        let tree = Tree::existing(root.into());
        assert_eq!(tree.paths(), [".gitignore", "a.rs", "kept.swp", "tracked.swp"]);
        return;
    }
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs", "tracked.swp"]).commit("one");
    tree.touch(&["x.swp", "kept.swp"]).write(".gitignore", "!kept.swp\n");
    sandbox.folder("home").write(".config/git/ignore", "*.swp\n");
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "source::worktree::global_excludes_apply_to_untracked_files"])
        .env_clear()
        .env("HOME", sandbox.at("home"))
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env(ROOT, &tree.root)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && printed.contains("1 passed"), "{printed}");
}
