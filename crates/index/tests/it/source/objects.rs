//! Commits and blobs, with `git ls-tree` and `git hash-object` as the oracle.

use codecompass_index::source::{ContentSource, Limits, SourceError, blob_id};
use codecompass_model::{BlobId, SkipReason};

use super::sandbox::{Sandbox, Tree, paths, skipped};

/// `git ls-tree -r`: path and id of every regular file.
fn oracle(tree: &Tree, name: &str) -> Vec<(String, String)> {
    let mut files: Vec<_> = tree
        .git(&["ls-tree", "-r", name])
        .lines()
        .filter_map(|line| {
            let (head, path) = line.split_once('\t')?;
            let mut words = head.split(' ');
            let mode = words.next()?;
            mode.starts_with("100").then(|| (path.to_owned(), words.nth(1).unwrap_or_default().to_owned()))
        })
        .collect();
    files.sort();
    files
}

fn listed(tree: &Tree, name: &str) -> Vec<(String, String)> {
    let listing = tree.list_commit(name);
    tree.versions(&listing).into_iter().map(|(path, id)| (path, id.to_string())).collect()
}

#[test]
fn commit_listing_matches_git_ls_tree() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs", "a/b.rs", "a.b/c.rs", "a-b", "Z", "z/y/x/w/v.py", ".hidden/file", "with space/ü.rs"]);
    tree.write("empty", "").commit("one");
    tree.write("a.rs", "changed\n").remove("Z").touch(&["new/file"]).commit("two");
    let check = || {
        for name in ["HEAD", "HEAD~1"] {
            assert_eq!(listed(&tree, name), oracle(&tree, name));
        }
    };
    check();
    tree.git(&["gc", "-q", "--aggressive"]);
    check();
}

#[test]
fn blobs_and_ids_match_git() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    let texts = ["".to_owned(), "one\n".to_owned(), "line\r\n".repeat(5000), "\u{fc}\0".repeat(3)];
    for (i, text) in texts.iter().enumerate() {
        tree.write(&format!("f{i}"), text);
    }
    tree.commit("one");
    let repo = tree.repo();
    let mut reader = repo.reader();
    for (i, text) in texts.iter().enumerate() {
        let id = blob_id(text.as_bytes());
        assert_eq!(id.to_string(), tree.git(&["hash-object", "--no-filters", &format!("f{i}")]));
        assert_eq!(reader.read(&id).unwrap(), text.as_bytes());
        assert_eq!(reader.size(&id).unwrap(), text.len() as u64);
        assert_eq!(repo.blob_size(&id).unwrap(), text.len() as u64);
    }
    let absent = BlobId([7; 20]);
    assert!(matches!(reader.read(&absent), Err(SourceError::MissingObject { id }) if id == absent.to_string()));
    let commit = tree.git(&["rev-parse", "HEAD"]);
    let bytes: Vec<u8> = (0..20).map(|i| u8::from_str_radix(&commit[2 * i..2 * i + 2], 16).unwrap()).collect();
    let commit = BlobId::from_bytes(&bytes).unwrap();
    assert!(matches!(reader.read(&commit), Err(SourceError::CorruptObject { .. })), "a commit is not a blob");
}

#[test]
fn many_threads_may_read_one_repository() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    for i in 0..50 {
        tree.write(&format!("f{i}"), format!("{i}\n").repeat(100));
    }
    tree.commit("one");
    tree.git(&["gc", "-q"]);
    let (repo, listing) = (tree.repo(), tree.list_commit("HEAD"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut reader = repo.clone().reader();
                for entry in &listing.entries {
                    let ContentSource::Blob(id) = &entry.source else { panic!("{} is not a blob", entry.path) };
                    let bytes = reader.read(id).unwrap();
                    assert_eq!(bytes.len() as u64, entry.size);
                    assert_eq!(blob_id(&bytes), *id);
                }
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn links_submodules_and_large_files_of_a_commit_are_counted() {
    let sandbox = Sandbox::new();
    sandbox.init("library").touch(&["lib.rs"]).commit("one");
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs"]).write("big.rs", "x".repeat(101)).write("fits.rs", "x".repeat(100));
    tree.git(&["submodule", "add", "-q", "../library", "sub"]);
    std::os::unix::fs::symlink("a.rs", tree.root.join("link.rs")).unwrap();
    let commit = tree.commit("one");
    let limits = Limits { max_file_bytes: 100, ..Limits::default() };
    let listing = tree.repo().list_commit(&commit, &limits).unwrap();
    assert_eq!(paths(&listing), [".gitmodules", "a.rs", "fits.rs"]);
    let expected = [
        (SkipReason::TooLarge, vec!["big.rs"]),
        (SkipReason::Symlink, vec!["link.rs"]),
        (SkipReason::Submodule, vec!["sub"]),
    ];
    assert_eq!(skipped(&listing.skips), expected);
    assert_eq!(skipped(&tree.list_with(&limits).skips), expected, "the work tree has the same skips");
}

#[test]
fn case_collisions_and_odd_names_are_different_files() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["Readme", "README", "readme", "src/A.rs", "SRC/a.rs", "back\\slash", "new\nline", "quote\"s", "*"]);
    tree.commit("one");
    assert_eq!(tree.versions(&tree.list_commit("HEAD")), tree.versions(&tree.list()));
    assert_eq!(tree.list().entries.len(), 9);
}

#[cfg(unix)]
#[test]
fn paths_that_are_not_utf8_are_counted() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["good"]);
    std::fs::write(tree.root.join(std::ffi::OsStr::from_bytes(b"bad-\xff")), "x").unwrap();
    std::fs::create_dir(tree.root.join(std::ffi::OsStr::from_bytes(b"dir-\xff"))).unwrap();
    std::fs::write(tree.root.join(std::ffi::OsStr::from_bytes(b"dir-\xff/in")), "x").unwrap();
    tree.commit("one");
    for listing in [tree.list(), tree.list_commit("HEAD")] {
        assert_eq!(paths(&listing), ["good"]);
        assert_eq!(listing.skips.count(SkipReason::PathNotUtf8), 2);
    }
}

#[test]
fn shallow_clones_list_their_commit() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a"]).commit("one");
    tree.touch(&["b/c"]).commit("two");
    let url = format!("file://{}", tree.root.display());
    sandbox.git(&["clone", "-q", "--depth", "1", &url, "shallow"]);
    let clone = Tree::existing(sandbox.at("shallow"));
    assert_eq!(listed(&clone, "HEAD"), oracle(&tree, "HEAD"));
    assert!(matches!(clone.repo().resolve("HEAD~1"), Err(SourceError::UnknownRef { .. })));
}

#[test]
fn blobs_that_a_partial_clone_lacks_are_counted() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["old.rs", "same.rs"]).commit("one");
    tree.remove("old.rs").touch(&["new.rs"]).commit("two");
    tree.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", tree.root.display());
    sandbox.git(&["clone", "-q", "--filter=blob:none", &url, "partial"]);
    let clone = Tree::existing(sandbox.at("partial"));
    assert_eq!(listed(&clone, "HEAD"), oracle(&tree, "HEAD"));
    let before = clone.list_commit("HEAD~1");
    assert_eq!(paths(&before), ["same.rs"]);
    assert_eq!(skipped(&before.skips), [(SkipReason::MissingObject, vec!["old.rs"])]);
    let error = clone.repo().reader().read(&blob_id(b"old.rs\n")).unwrap_err();
    assert!(matches!(error, SourceError::MissingObject { .. }));
}

#[test]
fn trees_that_a_partial_clone_lacks_are_an_error() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["d/old.rs"]).commit("one");
    tree.touch(&["d/new.rs"]).commit("two");
    tree.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", tree.root.display());
    sandbox.git(&["clone", "-q", "--filter=tree:0", &url, "treeless"]);
    let repo = Tree::existing(sandbox.at("treeless")).repo();
    let commit = tree.git(&["rev-parse", "HEAD~1"]);
    assert!(matches!(repo.list_commit(&commit, &Limits::default()), Err(SourceError::MissingObject { .. })));
}

#[test]
fn an_empty_commit_lists_nothing() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.commit("nothing");
    assert_eq!(tree.list_commit("HEAD").entries, []);
    for bad in ["", "main", "12", "0123456789012345678901234567890123456789"] {
        assert!(tree.repo().list_commit(bad, &Limits::default()).is_err(), "{bad:?} is not the full id of a commit");
    }
}
