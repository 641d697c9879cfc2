//! Files that differ between commits, with `git diff --name-status -M` as the oracle.

use codecompass_index::source::{ChangeType, Edit, blob_id, with_edits, with_renames};

use super::sandbox::{Sandbox, Tree};

/// Returns git's answer: the letter, and one or two paths.
fn oracle(tree: &Tree, before: &str, after: &str) -> Vec<String> {
    let told = tree.git(&["diff", "--name-status", "-M", "-z", before, after]);
    let mut words = told.split('\0');
    let mut all = Vec::new();
    while let Some(letter) = words.next().filter(|letter| !letter.is_empty()) {
        let path = words.next().unwrap();
        all.push(match &letter[..1] {
            "R" => format!("R {path} → {}", words.next().unwrap()),
            // A file that became a link counts as modified.
            "T" => format!("M {path}"),
            letter => format!("{letter} {path}"),
        });
    }
    all.sort();
    all
}

fn ours(tree: &Tree, before: &str, after: &str) -> Vec<String> {
    let repo = tree.repo();
    let id = |name: &str| tree.git(&["rev-parse", name]);
    let changes = with_renames(repo.tree_changes(&id(before), &id(after)).unwrap(), &mut repo.reader());
    let mut all: Vec<String> = changes
        .iter()
        .map(|change| match change.change_type() {
            ChangeType::Added => format!("A {}", change.path),
            ChangeType::Modified => format!("M {}", change.path),
            ChangeType::Deleted => format!("D {}", change.path),
            ChangeType::Renamed => format!("R {} → {}", change.path_before(), change.path),
        })
        .collect();
    all.sort();
    all
}

#[track_caller]
fn check(tree: &Tree) -> Vec<String> {
    let expected = oracle(tree, "HEAD~1", "HEAD");
    assert_eq!(ours(tree, "HEAD~1", "HEAD"), expected);
    assert_eq!(ours(tree, "HEAD", "HEAD~1"), oracle(tree, "HEAD", "HEAD~1"));
    expected
}

/// Returns a text with these line numbers; texts of different words have no line in common.
fn text(word: &str, lines: std::ops::Range<usize>) -> String {
    lines.map(|line| format!("{word} says {line} and {}\n", line * line)).collect()
}

#[test]
fn added_deleted_and_modified_files() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs", "b/c.rs", "b-c.rs", "b.rs", "d/e/f.rs", "g"]).write("bin", "\0\u{1}").commit("one");
    tree.write("a.rs", "other\n").remove("g").write("g/h.rs", "now a folder\n").remove("d/e/f.rs");
    tree.write("bin", "\0\u{2}").write("with space/ü.rs", "new\n").commit("two");
    check(&tree);
}

#[cfg(unix)]
#[test]
fn modes_links_and_folders_that_become_files() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.write("run.sh", "echo\n").write("link", "target\n").write("f/x.rs", text("x", 0..9)).commit("one");
    tree.git(&["update-index", "--chmod=+x", "run.sh"]);
    tree.git(&["commit", "-q", "-m", "mode"]);
    assert_eq!(check(&tree), ["M run.sh"]);
    tree.git(&["rm", "-q", "-r", "f", "link"]);
    std::os::unix::fs::symlink("run.sh", tree.root.join("link")).unwrap();
    tree.write("f", text("x", 0..9)).commit("two");
    check(&tree);
    tree.git(&["mv", "link", "moved-link"]);
    tree.commit("three");
    assert_eq!(check(&tree), ["R link → moved-link"]);
}

#[test]
fn renames_match_git() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    for name in ["one", "two", "three", "four"] {
        tree.write(&format!("src/{name}.rs"), text(name, 0..40));
    }
    tree.write("empty", "").write("crlf.txt", text("crlf", 0..30)).write("tiny", "x").commit("one");
    // The same bytes, most of them, half of them, less than half, none, and other line ends.
    tree.git(&["mv", "src/one.rs", "src/uno.rs"]);
    tree.remove("src/two.rs").write("lib/two.rs", text("two", 4..44));
    tree.remove("src/three.rs").write("src/drei.rs", text("three", 17..57));
    tree.remove("src/four.rs").write("src/vier.rs", text("four", 35..75));
    tree.remove("empty").write("void", "").remove("crlf.txt");
    tree.write("crlf2.txt", text("crlf", 0..30).replace('\n', "\r\n")).remove("tiny").write("tiny2", "y").commit("two");
    let found = check(&tree);
    assert!(found.contains(&"R src/one.rs → src/uno.rs".to_owned()), "{found:?}");
    assert!(found.contains(&"R src/three.rs → src/drei.rs".to_owned()), "{found:?}");
    assert!(found.contains(&"R crlf.txt → crlf2.txt".to_owned()), "{found:?}");
    assert!(found.contains(&"D src/four.rs".to_owned()), "{found:?}");
}

/// Many similar files: git's pairs depend on names, on scores and on the order of everything.
#[test]
fn renames_among_similar_files_match_git() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    let mut dice = 1u64;
    let mut roll = |most: usize| {
        dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (dice >> 33) as usize % most
    };
    for at in 0..60 {
        tree.write(&format!("d{}/f{at}.txt", at % 7), text(["alpha", "beta"][at % 2], roll(20)..30 + roll(20)));
    }
    tree.write("d8/mod.rs", text("mod", 0..20)).write("d9/mod.rs", text("mod", 0..20)).commit("one");
    for at in 0..60 {
        tree.remove(&format!("d{}/f{at}.txt", at % 7));
        let (from, to) = (roll(20), 30 + roll(25));
        let name = if roll(3) == 0 { at } else { 100 + at };
        tree.write(&format!("e{}/f{name}.txt", at % 5), text(["alpha", "beta"][roll(2)], from..to));
    }
    tree.remove("d8/mod.rs").remove("d9/mod.rs").write("e8/mod.rs", text("mod", 0..20)).commit("two");
    check(&tree);
}

#[test]
fn worktree_edits_apply_on_top_of_the_commit() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.write("a.rs", "a\n").write("b.rs", "b\n").write("c.rs", "c\n").commit("one");
    tree.write("b.rs", "committed\n").commit("two");
    let repo = tree.repo();
    let id = |name: &str| tree.git(&["rev-parse", name]);
    let committed = repo.tree_changes(&id("HEAD~1"), &id("HEAD")).unwrap();
    let edit = |path: &str, before: &str, after: Option<&str>| Edit {
        path: path.into(),
        committed: Some(blob_id(before.as_bytes())),
        edited: after.map(|text| blob_id(text.as_bytes())),
    };
    // b.rs has its first content again, a.rs has other bytes, c.rs is deleted.
    let edits =
        [edit("b.rs", "committed\n", Some("b\n")), edit("a.rs", "a\n", Some("committed\n")), edit("c.rs", "c\n", None)];
    let all = with_edits(committed, &edits);
    let told: Vec<_> = all.iter().map(|change| (change.path.as_str(), change.change_type())).collect();
    assert_eq!(told, [("a.rs", ChangeType::Modified), ("c.rs", ChangeType::Deleted)]);
}
