//! Hostile input to a source: paths, trees, links and rule files that are made to exhaust the stack, memory or time.

use std::time::{Duration, Instant};

use codecompass_index::source::{
    Limits, Listing, MAX_PATH_BYTES, PathStatus, SourceError, Workspace, commit_path_status, stat_paths,
    worktree_path_status,
};
use codecompass_model::SkipReason;

use super::sandbox::{Sandbox, Tree, paths};

/// Returns a path with this many steps of the same name.
fn deep(steps: usize) -> String {
    vec!["a"; steps].join("/")
}

#[test]
fn deep_paths_use_no_stack() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a/a/a/b.rs"]);
    let commit = tree.commit("one");
    let (workspace, limits) = (tree.workspace(), Limits::default());
    let longest = deep(MAX_PATH_BYTES / 2);
    assert!(longest.len() <= MAX_PATH_BYTES);
    for path in [longest, deep(3_100), deep(500_000)] {
        let began = Instant::now();
        assert_eq!(worktree_path_status(&workspace, &path, &limits).unwrap(), PathStatus::Absent);
        assert_eq!(commit_path_status(&workspace, &commit, &path, &limits).unwrap(), PathStatus::Absent);
        assert_eq!(stat_paths(&workspace, &[path], &limits).unwrap().entries, []);
        assert!(began.elapsed() < Duration::from_secs(5), "took {:?}", began.elapsed());
    }
    assert_eq!(worktree_path_status(&workspace, "a/a/a/b.rs", &limits).unwrap(), PathStatus::Listed);
}

/// Creates a commit whose tree has `width` to the power of `depth` files, from one blob and `depth` trees.
fn tree_bomb(sandbox: &Sandbox, tree: &Tree, width: usize, depth: usize) -> String {
    let mut id = tree.git(&["rev-parse", "HEAD:a.rs"]);
    for level in 0..depth {
        let mode = if level == 0 { "100644" } else { "40000" };
        let entries: Vec<(String, String)> = (0..width).map(|at| (format!("{at:02}"), id.clone())).collect();
        id = write_tree(sandbox, tree, mode, &entries);
    }
    tree.git(&["commit-tree", &id, "-m", "bomb"])
}

/// Writes a tree object with these names and ids.
fn write_tree(sandbox: &Sandbox, tree: &Tree, mode: &str, entries: &[(String, String)]) -> String {
    let mut bytes = Vec::new();
    for (name, id) in entries {
        bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        bytes.extend((0..20).map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).unwrap()));
    }
    let file = sandbox.at("object");
    std::fs::write(&file, bytes).unwrap();
    tree.git(&["hash-object", "-t", "tree", "--literally", "-w", file.to_str().unwrap()])
}

/// Returns the peak memory of this process, in MiB; 0 where the system does not report it.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).map_or(0, |kib| kib >> 10)
}

fn is_refused<T>(result: Result<T, SourceError>) -> bool {
    matches!(result, Err(SourceError::ListingTooLarge { .. } | SourceError::CorruptObject { .. }))
}

#[test]
fn tree_bomb_is_refused() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs"]).commit("one");
    let head = tree.git(&["rev-parse", "HEAD"]);
    // One deep tree and one wide tree: 10^10 paths each.
    for (width, depth) in [(10, 10), (100, 5)] {
        let bomb = tree_bomb(&sandbox, &tree, width, depth);
        let repo = tree.repo();
        let (began, before) = (Instant::now(), peak_mib());
        assert!(is_refused(repo.list_commit(&bomb, &Limits::default())), "listed");
        assert!(is_refused(repo.tree_changes(&head, &bomb)), "compared");
        assert!(is_refused(repo.tree_changes(&bomb, &head)), "compared in the other direction");
        let folder = sandbox.at(&format!("checkout{width}"));
        assert!(is_refused(repo.write_files(&bomb, &folder)), "written");
        assert!(!folder.exists(), "files were written");
        assert!(began.elapsed() < Duration::from_secs(20), "took {:?}", began.elapsed());
        let grown = peak_mib() - before;
        assert!(grown < 400, "took {grown} MiB");
    }
}

#[test]
fn equal_folders_within_the_limits_are_listed() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs"]).commit("one");
    // 20^3 files in 20 + 20^2 folders, from three trees; then with more repeats than are allowed without a size check.
    assert_eq!(tree.list_commit(&tree_bomb(&sandbox, &tree, 20, 3)).entries.len(), 8_000);
    assert_eq!(tree.list_commit(&tree_bomb(&sandbox, &tree, 6, 6)).entries.len(), 46_656);
}

#[test]
fn tree_that_contains_itself_is_refused() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs"]).commit("one");
    // No hash function allows it, but an object file can have a wrong name.
    let forged = "f".repeat(40);
    let entries = ["a", "b"].map(|name| (name.to_owned(), forged.clone()));
    let real = write_tree(&sandbox, &tree, "40000", &entries);
    let objects = tree.root.join(".git/objects");
    std::fs::create_dir_all(objects.join("ff")).unwrap();
    std::fs::copy(objects.join(&real[..2]).join(&real[2..]), objects.join("ff").join(&forged[2..])).unwrap();
    let commit = tree.git(&["commit-tree", &real, "-m", "loop"]);
    let (repo, began) = (tree.repo(), Instant::now());
    assert!(repo.list_commit(&commit, &Limits::default()).is_err());
    assert!(repo.tree_changes(&tree.git(&["rev-parse", "HEAD"]), &commit).is_err());
    assert!(repo.write_files(&commit, &sandbox.at("checkout")).is_err());
    assert!(began.elapsed() < Duration::from_secs(20), "took {:?}", began.elapsed());
}

#[test]
fn tag_that_names_itself_is_refused() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    let commit = tree.touch(&["a.rs"]).commit("one");
    let forged = "e".repeat(40);
    let text = format!("object {forged}\ntype tag\ntag t\ntagger A <a@b> 1700000000 +0000\n\nloop\n");
    let file = sandbox.at("tag");
    std::fs::write(&file, text).unwrap();
    let real = tree.git(&["hash-object", "-t", "tag", "--literally", "-w", file.to_str().unwrap()]);
    let objects = tree.root.join(".git/objects");
    std::fs::create_dir_all(objects.join("ee")).unwrap();
    std::fs::copy(objects.join(&real[..2]).join(&real[2..]), objects.join("ee").join(&forged[2..])).unwrap();
    tree.write(".git/refs/tags/loop", format!("{forged}\n"));
    tree.git(&["tag", "-a", "-m", "one", "good"]);
    tree.git(&["tag", "-a", "-m", "two", "nested", "good"]);
    let repo = tree.repo();
    for name in ["loop", "refs/tags/loop", "loop~1", "loop^{tree}", &forged, &real] {
        assert!(repo.resolve(name).is_err(), "{name}");
    }
    assert_eq!(repo.resolve("nested").unwrap().commit, commit);
    assert_eq!(repo.resolve("nested^{commit}").unwrap().commit, commit);
    tree.write(".git/HEAD", "ref: refs/tags/loop\n");
    assert!(tree.repo().head().is_err());
}

#[cfg(unix)]
#[test]
fn huge_files_in_a_git_folder_are_refused_before_they_are_read() {
    for name in ["HEAD", "config", "packed-refs", "index", "refs/heads/main", "objects/info/alternates"] {
        let sandbox = Sandbox::new();
        let tree = sandbox.init("repo");
        tree.touch(&["a.rs"]).commit("one");
        let file = std::fs::File::options().create(true).append(true).open(tree.root.join(".git").join(name)).unwrap();
        file.set_len(8 << 30).unwrap();
        let before = peak_mib();
        let listed = Workspace::discover(&tree.root, None)
            .and_then(|workspace| codecompass_index::source::list_worktree(&workspace, &Limits::default()));
        assert!(listed.is_err(), "{name}");
        assert!(peak_mib() < before + 100, "{name}: {} MiB", peak_mib());
    }
}

#[test]
fn overlong_commit_path_is_skipped() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs"]).commit("one");
    let blob = tree.git(&["rev-parse", "HEAD:a.rs"]);
    let entries = [("a.rs".to_owned(), blob.clone()), ("x".repeat(MAX_PATH_BYTES + 1), blob)];
    let id = write_tree(&sandbox, &tree, "100644", &entries);
    let listing = tree.list_commit(&tree.git(&["commit-tree", &id, "-m", "long"]));
    assert_eq!(paths(&listing), ["a.rs"]);
    assert_eq!(listing.skips.count(SkipReason::Unreadable), 1);
}

#[cfg(unix)]
#[test]
fn special_and_sparse_files_are_never_read() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs", "sub/b.rs", "keep.log"]);
    sandbox.folder("outside").write("rules", "*\n").write("secret.rs", "secret\n");
    let pipe = |path: &str| {
        let made = std::process::Command::new("mkfifo").arg(tree.root.join(path)).status().unwrap();
        assert!(made.success());
    };
    for path in ["pipe.rs", ".ignore", "sub/.gitignore"] {
        pipe(path);
    }
    let _socket = std::os::unix::net::UnixListener::bind(tree.root.join("socket.rs")).unwrap();
    std::os::unix::fs::symlink(sandbox.at("outside/rules"), tree.root.join(".gitignore")).unwrap();
    std::os::unix::fs::symlink(sandbox.at("outside"), tree.root.join("linked")).unwrap();
    std::fs::File::create(tree.root.join("sparse.rs")).unwrap().set_len(8 << 30).unwrap();
    std::fs::File::create(tree.root.join(".codecompassignore")).unwrap().set_len(8 << 30).unwrap();
    let (began, listing) = (Instant::now(), tree.list());
    assert!(began.elapsed() < Duration::from_secs(10), "took {:?}", began.elapsed());
    // The huge rule file excludes everything but is not an error.
    assert_eq!(paths(&listing), [""; 0]);
    assert!(listing.skips.count(SkipReason::TooLarge) >= 1);
    tree.remove(".codecompassignore");
    let listing = tree.list();
    assert_eq!(paths(&listing), ["a.rs", "keep.log", "sub/b.rs"]);
    assert_eq!(listing.skips.count(SkipReason::NotAFile), 4);
    assert_eq!(listing.skips.count(SkipReason::Symlink), 2);
    assert_eq!(listing.skips.count(SkipReason::TooLarge), 1);
    let asked = ["pipe.rs", "linked/secret.rs", "sparse.rs", "a.rs", "sub/b.rs"].map(str::to_owned);
    let some = stat_paths(&tree.workspace(), &asked, &Limits::default()).unwrap();
    assert_eq!(paths(&some), ["a.rs", "sub/b.rs"]);
}

/// Twelve nested folders with an `.ignore` of a megabyte each, in a commit and in its work tree.
#[test]
fn nested_rule_files_are_bounded() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    let mut folder = String::new();
    for level in 0..12 {
        let line = |at: usize| format!("w{level}*x{at}?[a-z]\n");
        let rules: String = (0..)
            .map(line)
            .scan(0, |sum, line| {
                *sum += line.len();
                (*sum < 1 << 20).then_some(line)
            })
            .collect();
        tree.write(&format!("{folder}.ignore"), rules).touch(&[&format!("{folder}f.rs")]);
        folder += "d/";
    }
    tree.touch(&["d/d/d/deep.rs"]);
    let commit = tree.commit("one");
    let began = Instant::now();
    let (listing, committed) = (tree.list(), tree.list_commit(&commit));
    assert!(began.elapsed() < Duration::from_secs(10), "took {:?}", began.elapsed());
    for listing in [&listing, &committed] {
        assert_eq!(paths(listing), [""; 0], "a rule file that is too large excludes its folder");
        let too_large = listing.skips.iter().find(|(reason, ..)| *reason == SkipReason::TooLarge).unwrap();
        assert!(too_large.2.contains(&".ignore".to_owned()), "{too_large:?}");
    }
}

#[test]
fn oversized_rule_file_affects_its_folder_only() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    let plain: String = (0..5_000).map(|at| format!("name{at}.rs\n")).collect();
    let costly: String = (0..3_000).map(|at| format!("a{at}*b?c[d-f]*{at}.rs\n")).collect();
    tree.write(".ignore", plain).write("costly/.ignore", &costly).write("marked/.gitattributes", &costly);
    tree.write("git/.gitignore", &costly).touch(&["git/tracked.rs"]);
    tree.touch(&["name77.rs", "other.rs", "costly/x.rs", "costly/in/y.rs", "marked/z.rs"]);
    let commit = tree.commit("one");
    tree.touch(&["git/untracked.rs"]);
    let expected = [".ignore", "git/.gitignore", "git/tracked.rs", "marked/.gitattributes", "marked/z.rs", "other.rs"];
    let (listing, committed) = (tree.list(), tree.list_commit(&commit));
    assert_eq!(paths(&listing), expected);
    assert_eq!(paths(&committed), expected);
    let too_large = |listing: &Listing| {
        let of = |(reason, _, examples): (SkipReason, u64, &[String])| {
            (reason == SkipReason::TooLarge).then(|| examples.to_vec())
        };
        listing.skips.iter().find_map(of).unwrap_or_default()
    };
    assert_eq!(too_large(&listing), ["costly/.ignore", "git/.gitignore"]);
    assert_eq!(too_large(&committed), ["costly/.ignore"]);
}

#[test]
fn shared_large_rule_file_is_refused() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    let lines: String = (0..30_000).map(|at| format!("name{at}\n")).collect();
    tree.touch(&["a.rs"]).write("rules", lines).commit("one");
    let rules = tree.git(&["rev-parse", "HEAD:rules"]);
    let inner = write_tree(&sandbox, &tree, "100644", &[(".ignore".to_owned(), rules)]);
    let folders: Vec<_> = (0..2_000).map(|at| (format!("{at:04}"), inner.clone())).collect();
    let outer = write_tree(&sandbox, &tree, "40000", &folders);
    let commit = tree.git(&["commit-tree", &outer, "-m", "rules"]);
    let began = Instant::now();
    let refused = tree.repo().list_commit(&commit, &Limits::default());
    assert!(matches!(refused, Err(SourceError::ListingTooLarge { .. })), "{:?}", refused.map(|listing| listing.skips));
    assert!(began.elapsed() < Duration::from_secs(30), "took {:?}", began.elapsed());
}
