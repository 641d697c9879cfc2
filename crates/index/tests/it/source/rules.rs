//! Files that the rules exclude and include again.

use codecompass_index::source::{Limits, SourceError, list_worktree};
use codecompass_model::SkipReason::{self, BuiltinFolder, Generated, Ignored, Secret};

use super::sandbox::{Sandbox, Tree, skipped};

/// Files to commit, files to leave untracked, lines of the configuration, and the expected skips.
struct Case {
    why: &'static str,
    tracked: &'static [(&'static str, &'static str)],
    untracked: &'static [(&'static str, &'static str)],
    configured: &'static [&'static str],
    skipped: &'static [(SkipReason, &'static [&'static str])],
}

const NONE: Case = Case { why: "", tracked: &[], untracked: &[], configured: &[], skipped: &[] };

const CASES: &[Case] = &[
    Case {
        why: "`.ignore` and `.codecompassignore` apply to tracked files",
        tracked: &[(".ignore", "*.snap\n"), (".codecompassignore", "/docs/\n"), ("a.snap", ""), ("docs/x.md", "")],
        untracked: &[("b.snap", ""), ("sub/docs/y.md", "")],
        skipped: &[(Ignored, &["a.snap", "b.snap", "docs"])],
        ..NONE
    },
    Case {
        why: "`.codecompassignore` is stronger than `.ignore`, the deeper file than the higher one",
        tracked: &[
            (".ignore", "*.a\n!*.b\n"),
            (".codecompassignore", "!*.a\n*.b\n"),
            ("x.a", ""),
            ("x.b", ""),
            ("sub/.codecompassignore", "!x.b\n"),
            ("sub/x.b", ""),
            ("sub/y.b", ""),
            ("sub/.ignore", "*.a\n"),
            ("sub/x.a", ""),
        ],
        skipped: &[(Ignored, &["sub/y.b", "x.b"])],
        ..NONE
    },
    Case {
        why: "`!` includes files and folders that git ignores",
        tracked: &[(".gitignore", "*.gen\nout-dir/\nkept-dir/\n"), (".codecompassignore", "!a.gen\n!kept-dir/\n")],
        untracked: &[("a.gen", ""), ("b.gen", ""), ("out-dir/x", ""), ("kept-dir/x", ""), ("kept-dir/y.gen", "")],
        skipped: &[(Ignored, &["b.gen", "kept-dir/y.gen", "out-dir"])],
        ..NONE
    },
    Case {
        why: "third-party folders are excluded, tracked or not, unless a rule includes them",
        tracked: &[
            ("vendor/a.go", ""),
            ("x/node_modules/b.js", ""),
            ("asked/.codecompassignore", "!vendor/\n"),
            ("asked/vendor/c.go", ""),
        ],
        untracked: &[(".venv/lib/d.py", ""), ("y/__pycache__/e.pyc", "")],
        skipped: &[(BuiltinFolder, &[".venv", "vendor", "x/node_modules", "y/__pycache__"])],
        ..NONE
    },
    Case {
        why: "a rule cannot include a path below an excluded folder",
        tracked: &[(".codecompassignore", "!vendor/mine/\n"), ("vendor/mine/a.go", "")],
        skipped: &[(BuiltinFolder, &["vendor"])],
        ..NONE
    },
    Case {
        why: "a folder with an ambiguous name is source if something in it is tracked",
        tracked: &[("src/target/a.rs", ""), ("build/x.sh", "")],
        untracked: &[("target/debug/a.o", ""), ("build/y.sh", ""), ("dist/z.js", ""), ("sub/out/w", "")],
        skipped: &[(BuiltinFolder, &["dist", "sub/out", "target"])],
        ..NONE
    },
    Case {
        why: "a `.gitignore` can except an ambiguous folder, but not a third-party one",
        untracked: &[(".gitignore", "!build/\n!vendor/\n"), ("build/a.sh", ""), ("vendor/b.go", "")],
        skipped: &[(BuiltinFolder, &["vendor"])],
        ..NONE
    },
    Case {
        why: "no rule includes secrets",
        tracked: &[
            (".codecompassignore", "!.env\n!*.pem\n!*\n"),
            (".env", ""),
            ("a/tls.pem", ""),
            (".env.example", ""),
        ],
        untracked: &[("id_rsa", ""), ("id_map.rs", "")],
        skipped: &[(Secret, &[".env", "a/tls.pem", "id_rsa"])],
        ..NONE
    },
    Case {
        why: "the deepest file and its last line decide if a file is generated",
        tracked: &[
            (
                ".gitattributes",
                "*.pb.go linguist-generated\ngen/** linguist-generated=true\ngen/mine.rs -linguist-generated\n",
            ),
            ("a.pb.go", ""),
            ("gen/b.rs", ""),
            ("gen/deep/c.rs", ""),
            ("gen/mine.rs", ""),
            ("sub/.gitattributes", "*.pb.go linguist-generated=false\n/x.rs linguist-generated\n"),
            ("sub/d.pb.go", ""),
            ("sub/x.rs", ""),
            ("sub/sub/x.rs", ""),
            ("vendored.rs", ""),
        ],
        skipped: &[(Generated, &["a.pb.go", "gen/b.rs", "gen/deep/c.rs", "sub/x.rs"])],
        ..NONE
    },
    Case {
        why: "a rule can include generated files, by file or by folder",
        tracked: &[
            (".gitattributes", "*.rs linguist-generated\n"),
            (".codecompassignore", "!a.rs\n!wanted/\n"),
            ("a.rs", ""),
            ("b.rs", ""),
            ("wanted/sub/c.rs", ""),
        ],
        skipped: &[(Generated, &["b.rs"])],
        ..NONE
    },
    Case {
        why: "`.ignore` does not include generated files",
        tracked: &[(".gitattributes", "*.rs linguist-generated\n"), (".ignore", "!*.rs\n"), ("a.rs", "")],
        skipped: &[(Generated, &["a.rs"])],
        ..NONE
    },
    Case {
        why: "the configuration overrides the built-in folders, and all rule files override it",
        configured: &["!vendor/", "*.txt", "/fixtures/", "!*.gen"],
        tracked: &[
            (".ignore", "!keep.txt\n"),
            ("vendor/a.go", ""),
            ("b.txt", ""),
            ("keep.txt", ""),
            ("fixtures/c", ""),
        ],
        untracked: &[(".gitignore", "*.gen\n"), ("d.gen", "")],
        skipped: &[(Ignored, &["b.txt", "d.gen", "fixtures"])],
    },
    Case {
        why: "a tracked file in a folder that git ignores is listed, unless other rules exclude it",
        tracked: &[
            (".gitignore", "cache/\n"),
            (".ignore", "*.tmp\n"),
            ("cache/a.rs", ""),
            ("cache/b.tmp", ""),
            ("cache/d/e.rs", ""),
        ],
        untracked: &[("cache/new.rs", ""), ("cache/d/new.rs", ""), ("cache/f/new.rs", "")],
        skipped: &[(Ignored, &["cache/b.tmp", "cache/d/new.rs", "cache/f", "cache/new.rs"])],
        ..NONE
    },
    Case {
        why: "malformed lines, comments, carriage returns and a byte order mark have no effect",
        tracked: &[
            (".codecompassignore", "\u{feff}a.rs\r\n# b.rs\n\n[\n{\nc.rs   \n"),
            ("a.rs", ""),
            ("b.rs", ""),
            ("c.rs", ""),
        ],
        skipped: &[(Ignored, &["a.rs", "c.rs"])],
        ..NONE
    },
];

#[test]
fn rules_exclude_and_include() {
    for case in CASES {
        let sandbox = Sandbox::new();
        let tree = sandbox.init("repo");
        let write = |files: &[(&str, &str)]| {
            for (path, text) in files {
                tree.write(path, text);
            }
        };
        write(case.tracked);
        let commit = tree.commit("one");
        let limits = limits(case.configured);
        let clean = list_worktree(&tree.workspace(), &limits).unwrap();
        let committed = tree.repo().list_commit(&commit, &limits).unwrap();
        assert_eq!(tree.versions(&clean), tree.versions(&committed), "{}", case.why);
        assert_eq!(clean.skips, committed.skips, "{}", case.why);

        write(case.untracked);
        let listing = list_worktree(&tree.workspace(), &limits).unwrap();
        let expected: Vec<_> = case.skipped.iter().map(|(reason, paths)| (*reason, paths.to_vec())).collect();
        assert_eq!(skipped(&listing.skips), expected, "{}", case.why);
        let files = case.tracked.iter().chain(case.untracked).map(|(path, _)| *path);
        let mut kept: Vec<&str> = files.filter(|path| !is_below(path, case.skipped)).collect();
        kept.sort_unstable();
        assert_eq!(super::sandbox::paths(&listing), kept, "{}", case.why);
    }
}

fn is_below(path: &str, skipped: &[(SkipReason, &[&str])]) -> bool {
    let cuts = skipped.iter().flat_map(|(_, cuts)| *cuts);
    cuts.into_iter().any(|cut| path == *cut || path.strip_prefix(cut).is_some_and(|rest| rest.starts_with('/')))
}

fn limits(configured: &[&str]) -> Limits {
    Limits { extra_ignore: configured.iter().map(|&line| line.to_owned()).collect(), ..Limits::default() }
}

#[test]
fn a_malformed_pattern_of_the_configuration_is_an_error() {
    let sandbox = Sandbox::new();
    let tree: Tree = sandbox.folder("plain");
    let error = list_worktree(&tree.workspace(), &limits(&["fine", "{a,b"])).unwrap_err();
    assert!(matches!(&error, SourceError::BadPattern { pattern, .. } if pattern == "{a,b"), "{error}");
}

#[cfg(unix)]
#[test]
fn rule_files_that_are_links_are_not_followed() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.write("patterns", "*.rs\n").touch(&["a.rs"]);
    for name in [".gitignore", ".ignore", ".codecompassignore"] {
        std::os::unix::fs::symlink("patterns", tree.root.join(name)).unwrap();
    }
    tree.commit("one");
    assert_eq!(tree.paths(), ["a.rs", "patterns"]);
    assert_eq!(super::sandbox::paths(&tree.list_commit("HEAD")), ["a.rs", "patterns"]);
}
