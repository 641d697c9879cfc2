//! Hostile input to a source: paths, trees, links and rule files that are made to exhaust the stack, memory or time.

use std::time::{Duration, Instant};

use codecompass_index::source::{Limits, MAX_PATH_BYTES, Verdict, commit_verdict, stat_paths, worktree_verdict};

use super::sandbox::Sandbox;

/// A path of this many steps that all have the same name.
fn deep(steps: usize) -> String {
    vec!["a"; steps].join("/")
}

#[test]
fn a_path_of_very_many_steps_is_absent_and_costs_no_stack() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a/a/a/b.rs"]);
    let commit = tree.commit("one");
    let (workspace, limits) = (tree.workspace(), Limits::default());
    let longest = deep(MAX_PATH_BYTES / 2);
    assert!(longest.len() <= MAX_PATH_BYTES);
    for path in [longest, deep(3_100), deep(500_000)] {
        let began = Instant::now();
        assert_eq!(worktree_verdict(&workspace, &path, &limits).unwrap(), Verdict::Absent);
        assert_eq!(commit_verdict(&workspace, &commit, &path, &limits).unwrap(), Verdict::Absent);
        assert_eq!(stat_paths(&workspace, &[path], &limits).unwrap().entries, []);
        assert!(began.elapsed() < Duration::from_secs(5), "took {:?}", began.elapsed());
    }
    assert_eq!(worktree_verdict(&workspace, "a/a/a/b.rs", &limits).unwrap(), Verdict::Listed);
}
