//! The law: a clean checkout and its commit list the same files with the same blobs.

use std::collections::BTreeMap;

use codecompass_index::source::{Limits, list_worktree, stat_paths};
use proptest::prelude::*;

use super::sandbox::{Sandbox, Tree, paths};

/// Clones, so that only committed files exist, and compares.
fn check(sandbox: &Sandbox, tree: &Tree, limits: &Limits) {
    tree.commit("all");
    sandbox.git(&["clone", "-q", "repo", "clone"]);
    for tree in [tree, &Tree::existing(sandbox.at("clone"))] {
        let ws = tree.workspace();
        let repo = ws.repo.as_ref().unwrap();
        let commit = repo.head().unwrap().commit.unwrap();
        let committed = repo.list_commit(&commit, limits).unwrap();
        let checked_out = list_worktree(&ws, limits).unwrap();
        assert_eq!(tree.versions(&checked_out), tree.versions(&committed));
        assert_eq!(checked_out.skips, committed.skips);
        let known = stat_paths(&ws, &tracked(tree), limits).unwrap();
        assert_eq!(known.entries, checked_out.entries);
    }
}

fn tracked(tree: &Tree) -> Vec<String> {
    tree.git(&["ls-files", "-z"]).split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn a_clean_checkout_lists_what_its_commit_lists() {
    let sandbox = Sandbox::new();
    sandbox.init("library").touch(&["lib.rs"]).commit("one");
    let tree = sandbox.init("repo");
    tree.write(".gitignore", "*.log\nignored/\n/build/\n!vendor/\n")
        .write(".ignore", "*.snap\n!keep.snap\nskipped-dir/\n")
        .write(".codecompassignore", "!brought-back.snap\n!vendor/\n/secret-docs/\n*.csv\n")
        .write(".gitattributes", "*.pb.rs linguist-generated\n*.txt text\ndocs/** linguist-generated=true\n")
        .write("vendor/.codecompassignore", "*.min.js\n")
        .write("docs/.gitattributes", "intro.md -linguist-generated\n")
        .write("docs/.codecompassignore", "!asked.md\n")
        .touch(&["a.rs", "tracked.log", "ignored/tracked.rs", "ignored/deep/er.rs", "build/script.sh", "dist/d.js"])
        .touch(&["x.snap", "keep.snap", "brought-back.snap", "skipped-dir/y.rs", "secret-docs/z.md", "data.csv"])
        .touch(&["vendor/v.go", "vendor/v.min.js", "node_modules/n.js", "src/target/t.rs", "src/.idea/i.xml"])
        .touch(&["m.pb.rs", "docs/intro.md", "docs/api.md", "docs/asked.md", "docs/deep/x.md"])
        .touch(&[".env", ".env.example", "tls.key", "id_rsa", "id_map.rs", ".aws/credentials", "credentials"])
        .write("big.rs", "x".repeat(5001))
        .write("fits.rs", "x".repeat(5000))
        .write("empty.rs", "")
        .write("binary.bin", [0, 1, 2]);
    std::os::unix::fs::symlink("a.rs", tree.root.join("link.rs")).unwrap();
    std::os::unix::fs::symlink("src", tree.root.join("link-dir")).unwrap();
    tree.git(&["submodule", "add", "-q", "../library", "deps/library"]);
    let limits =
        Limits { max_file_bytes: 5000, extra_ignore: vec!["fits.*".into(), "!.idea/".into()], ..Limits::default() };
    check(&sandbox, &tree, &limits);

    let listed = paths(&tree.list_with(&limits));
    for path in
        ["tracked.log", "ignored/deep/er.rs", "build/script.sh", "vendor/v.go", "src/.idea/i.xml", "docs/asked.md"]
    {
        assert!(listed.iter().any(|p| p == path), "{path} is listed");
    }
    for path in ["x.snap", "vendor/v.min.js", "m.pb.rs", "docs/deep/x.md", "fits.rs", "big.rs", ".env", "data.csv"] {
        assert!(!listed.iter().any(|p| p == path), "{path} is not listed");
    }
}

/// Names that collide with each other, with the built-in folders and with the patterns below.
fn step() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["a", "b", "src", "gen", "vendor", "target", "x.rs", "y.log", ".env", ".hidden", "a.b"][..])
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(step(), 1..4).prop_map(|steps| steps.join("/"))
}

fn rule_line() -> impl Strategy<Value = String> {
    let pattern = prop_oneof![
        step().prop_map(str::to_owned),
        step().prop_map(|name| format!("{name}/")),
        path().prop_map(|path| format!("/{path}")),
        path().prop_map(|path| format!("**/{path}")),
        step().prop_map(|name| format!("{name}/**")),
        Just("*.rs".to_owned()),
        Just("*".to_owned()),
    ];
    (prop::bool::ANY, pattern).prop_map(|(except, pattern)| if except { format!("!{pattern}") } else { pattern })
}

fn rule_file() -> impl Strategy<Value = (String, String)> {
    let folder = prop::collection::vec(step(), 0..3).prop_map(|steps| steps.join("/"));
    let name = prop::sample::select(&[".gitignore", ".ignore", ".codecompassignore", ".gitattributes"][..]);
    (folder, name, prop::collection::vec(rule_line(), 1..4)).prop_map(|(folder, name, lines)| {
        let line = |line: &String| match (name, line.strip_prefix('!')) {
            (".gitattributes", Some(pattern)) => format!("{pattern} -linguist-generated\n"),
            (".gitattributes", None) => format!("{line} linguist-generated\n"),
            _ => format!("{line}\n"),
        };
        let text = lines.iter().map(line).collect();
        (if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }, text)
    })
}

/// Writes the files that can be written: a file may have the path of another file's folder.
fn write_all(tree: &Tree, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let place = tree.root.join(path);
        if std::fs::create_dir_all(place.parent().unwrap()).is_ok() && !place.is_dir() {
            tree.write(path, text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_holds_for_any_tree_and_rules(
        files in prop::collection::btree_map(path(), "[a-c]{0,3}", 1..20),
        rules in prop::collection::vec(rule_file(), 0..5),
    ) {
        let sandbox = Sandbox::new();
        let tree = sandbox.init("repo");
        write_all(&tree, &rules.into_iter().collect());
        write_all(&tree, &files);
        check(&sandbox, &tree, &Limits::default());
    }

    /// Without our own rules, the listing equals git's, except for the built-in rules.
    #[test]
    fn untracked_files_are_ignored_as_git_ignores_them(
        tracked in prop::collection::btree_map(path(), "[a-c]{0,3}", 0..8),
        untracked in prop::collection::btree_map(path(), "[a-c]{0,3}", 1..16),
        rules in prop::collection::vec(rule_file(), 0..4),
    ) {
        let sandbox = Sandbox::new();
        let tree = sandbox.init("repo");
        write_all(&tree, &tracked);
        tree.commit("some");
        write_all(&tree, &rules.into_iter().filter(|(path, _)| path.ends_with(".gitignore")).collect());
        write_all(&tree, &untracked);
        let git = tree.git(&["ls-files", "-c", "-o", "--exclude-standard", "-z"]);
        let builtin = |path: &str| path.split('/').any(|step| ["vendor", "target", ".env"].contains(&step));
        let mut expected: Vec<&str> = git
            .split('\0')
            .filter(|path| !path.is_empty() && !builtin(path) && tree.root.join(path).is_file())
            .collect();
        expected.sort_unstable();
        let mut listed = tree.paths();
        listed.retain(|path| !builtin(path));
        prop_assert_eq!(listed, expected);
    }
}
