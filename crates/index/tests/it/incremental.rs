//! A store that is synced after each random edit equals one fresh index of the result.

use crate::support;

use codecompass_store::Store;
use codecompass_testkit::Repository;
use proptest::prelude::*;
use support::{Project, dump};

const PATHS: [&str; 7] =
    ["src/lib.rs", "src/a.rs", "src/deep/er/b.rs", "pkg/__init__.py", "pkg/mod.py", "README.md", "data.bin"];
const BRANCHES: [&str; 3] = ["main", "one", "two"];

/// One action of a user in a repository.
#[derive(Clone, Debug)]
enum Step {
    Write(usize, u8),
    Delete(usize),
    Rename(usize, usize),
    Touch(usize),
    Commit,
    Switch(usize),
    Discard,
    Ignore(usize),
    Sync,
    SyncKnown(usize),
    SyncBranch(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let path = 0..PATHS.len();
    prop_oneof![
        5 => (path.clone(), any::<u8>()).prop_map(|(path, seed)| Step::Write(path, seed)),
        2 => path.clone().prop_map(Step::Delete),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => path.clone().prop_map(Step::Touch),
        2 => Just(Step::Commit),
        2 => (0..BRANCHES.len()).prop_map(Step::Switch),
        1 => Just(Step::Discard),
        1 => path.clone().prop_map(Step::Ignore),
        3 => Just(Step::Sync),
        2 => path.prop_map(Step::SyncKnown),
        1 => (0..BRANCHES.len()).prop_map(Step::SyncBranch),
    ]
}

/// Returns a text that depends on its path and a number, in the path's language; some numbers give the same text.
fn text(path: &str, seed: u8) -> Vec<u8> {
    let (n, m) = (seed % 5, seed % 3);
    match path.rsplit('.').next() {
        Some("rs") => format!(
            "use std::fmt;\n\n/// Doc.\npub struct S{n};\n\nimpl S{n} {{\n    pub fn go(&self) -> u32 {{ helper{m}() }}\n}}\n\npub fn helper{m}() -> u32 {{ {n} }}\n"
        )
        .into_bytes(),
        Some("py") => format!(
            "import os\n\nclass C{n}:\n    def go(self):\n        return helper{m}()\n\ndef helper{m}():\n    return {n}\n"
        )
        .into_bytes(),
        Some("bin") if seed.is_multiple_of(2) => vec![0, 1, 2, seed],
        _ => format!("# Title {n}\n\nSome words {m}.\n").into_bytes(),
    }
}

fn apply_step(step: &Step, repo: &Repository, project: &Project) {
    let exists = |path: usize| repo.path(PATHS[path]).is_file();
    match *step {
        Step::Write(path, seed) => {
            repo.write(PATHS[path], text(PATHS[path], seed));
        }
        Step::Delete(path) if exists(path) => {
            repo.delete(PATHS[path]);
        }
        Step::Rename(from, to) if exists(from) && !exists(to) => {
            repo.rename(PATHS[from], PATHS[to]);
        }
        Step::Touch(path) if exists(path) => {
            repo.write(PATHS[path], std::fs::read(repo.path(PATHS[path])).expect("it exists"));
        }
        Step::Commit => {
            repo.git(&["add", "-A"]);
            repo.git(&["commit", "-q", "--allow-empty", "-m", "step"]);
        }
        Step::Switch(branch) => {
            repo.git(&["checkout", "-q", "-f", BRANCHES[branch]]);
        }
        Step::Discard => {
            repo.git(&["checkout", "-q", "-f", "."]);
        }
        Step::Ignore(path) => {
            repo.write(".codecompassignore", format!("/{}\n", PATHS[path]));
        }
        Step::Sync => {
            project.sync(None);
        }
        Step::SyncKnown(path) => {
            project.sync(None);
            repo.write(PATHS[path], text(PATHS[path], 7));
            project.sync_known(&[PATHS[path], "not/there.rs"]);
        }
        Step::SyncBranch(branch) => {
            project.sync(Some(BRANCHES[branch]));
        }
        Step::Delete(_) | Step::Rename(..) | Step::Touch(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn incremental_equals_fresh(steps in prop::collection::vec(step(), 1..16)) {
        let repo = Repository::new();
        repo.write("src/lib.rs", text("src/lib.rs", 0)).write("pkg/mod.py", text("pkg/mod.py", 1));
        repo.commit("first");
        repo.git(&["branch", "one"]);
        repo.git(&["branch", "two"]);
        let project = Project::new(repo.root());
        for step in &steps {
            apply_step(step, &repo, &project);
        }
        project.sync(None);
        let fresh = Project::new(repo.root());
        fresh.sync(None);
        prop_assert_eq!(dump(&project, None), dump(&fresh, None));
        for branch in BRANCHES {
            project.sync(Some(branch));
            fresh.sync(Some(branch));
            prop_assert_eq!(dump(&project, Some(branch)), dump(&fresh, Some(branch)));
        }
        project.check_health();
    }
}

#[test]
fn unreferenced_versions_are_collected() {
    let repo = Repository::new();
    let path = |n: usize| format!("src/f{n}.rs");
    let write = |round: usize| {
        for n in 0..50 {
            repo.write(&path(n), format!("pub fn f{n}_{round}() {{ g{n}(); shared({round}); }}\n"));
        }
    };
    write(0);
    repo.commit("first");
    let project = Project::new(repo.root());
    project.sync(None);
    let mut removed = 0;
    for round in 1..6 {
        write(round);
        removed += project.sync(None).garbage.removed;
    }
    assert!(removed >= 50, "only {removed} versions were collected");
    let fresh = Project::new(repo.root());
    fresh.sync(None);
    assert_eq!(dump(&project, None), dump(&fresh, None));
    project.check_health();
    assert_eq!(project.sync(None).extracted, 0);
}

#[test]
fn only_changed_files_are_extracted() {
    let repo = Repository::new();
    for n in 0..20 {
        repo.write(&format!("src/f{n}.rs"), format!("pub fn f{n}() {{}}\n"));
    }
    repo.commit("first");
    let project = Project::new(repo.root());
    let extracted = |ref_name| {
        let outcome = project.sync(ref_name);
        (outcome.changed_files, outcome.extracted)
    };
    assert_eq!(extracted(None), (20, 20));
    assert_eq!(extracted(None), (0, 0));
    repo.write("src/f3.rs", "pub fn f3() {}\n");
    assert_eq!(extracted(None), (0, 0), "changing only the time is not a change");
    repo.write("src/f3.rs", "pub fn f3_changed() {}\n");
    assert_eq!(extracted(None), (1, 1));
    repo.rename("src/f4.rs", "src/g4.rs");
    assert_eq!(extracted(None), (2, 1), "a rename is one deleted path and one new path");
    repo.delete("src/f5.rs");
    assert_eq!(extracted(None), (1, 0));
    repo.commit("edits");
    assert_eq!(extracted(None), (0, 0), "a commit changes no bytes");
    repo.branch("feat");
    repo.write("src/f6.rs", "pub fn f6_feat() {}\n");
    repo.commit("on feat");
    assert_eq!(extracted(None), (1, 1));
    repo.checkout("main");
    assert_eq!(extracted(None), (1, 0), "the old version is still stored");
    assert_eq!(extracted(Some("feat")), (0, 0), "it was published with its work tree");
    repo.reset("HEAD~1");
    assert_eq!(extracted(None), (4, 0), "two changed, one renamed: all versions are stored");
}

#[test]
fn corrupt_or_missing_text_index_is_rebuilt() {
    let repo = Repository::new();
    repo.write("src/lib.rs", "pub fn one() {}\n");
    repo.commit("first");
    let project = Project::new(repo.root());
    project.sync(None);
    let text = project.epoch().join("text");
    std::fs::remove_dir_all(&text).expect("it exists");
    repo.write("src/two.rs", "pub fn two() {}\n");
    project.sync(None);
    project.check_health();
    let documents = project.documents();
    let fresh = Project::new(repo.root());
    fresh.sync(None);
    assert_eq!(documents, fresh.documents());
}

#[test]
fn crash_after_collection_keeps_live_documents() {
    let repo = Repository::new();
    let write = |round: usize| {
        for n in 0..40 {
            repo.write(&format!("src/f{n}.rs"), format!("pub fn f{n}_{round}() {{}}\n"));
        }
    };
    write(0);
    repo.commit("first");
    let project = Project::new(repo.root());
    let log = || project.epoch().join("store.db-wal");
    let mut removed = 0;
    for round in 1..8 {
        project.sync(None);
        let kept = std::fs::metadata(log()).map_or(0, |log| log.len());
        write(round);
        removed += project.sync(None).garbage.removed;
        // Writes that were not synced to the disk are lost: the log is truncated to its previous length.
        if let Ok(file) = std::fs::File::options().write(true).open(log()) {
            let now = file.metadata().expect("it is open").len();
            file.set_len(kept.min(now)).expect("it can be truncated");
        }
        let _ = std::fs::remove_file(project.epoch().join("store.db-shm"));
        project.check_health();
    }
    assert!(removed > 0, "nothing was collected, so nothing was tested");
}

#[test]
fn known_and_discovered_changes_count_alike() {
    let repo = Repository::new();
    repo.write("src/a.rs", "pub fn a() {}\n").write("src/deep/b.rs", "pub fn b() {}\n");
    repo.commit("first");
    let project = Project::new(repo.root());
    project.sync(None);
    let expect_same = |paths: &[&str]| {
        project.sync_known(paths);
        let fresh = Project::new(repo.root());
        fresh.sync(None);
        assert_eq!(dump(&project, None), dump(&fresh, None), "{paths:?}");
    };
    repo.write("src/a.rs", [0u8, 1]);
    expect_same(&["src/a.rs"]);
    repo.write("src/a.rs", "pub fn again() {}\n");
    expect_same(&["src/a.rs"]);
    repo.write("src/big.rs", "// many lines\n".repeat(100_000));
    expect_same(&["src/big.rs"]);
    repo.write("src/big.rs", "pub fn small() {}\n");
    expect_same(&["src/big.rs"]);
    repo.write(".env", "SECRET=1");
    expect_same(&[".env"]);
    repo.write("src/new/c.rs", "pub fn c() {}\n");
    expect_same(&["src/new"]);
    std::fs::remove_dir_all(repo.path("src/deep")).expect("it exists");
    expect_same(&["src/deep"]);
    repo.write(".codecompassignore", "/src/new/\n");
    expect_same(&[".codecompassignore"]);
}

#[test]
fn known_changes_are_read_once() {
    let repo = Repository::new();
    repo.write("a.rs", "pub fn a() {}\n").write("b.rs", "pub fn b() {}\n");
    repo.commit("first");
    let project = Project::new(repo.root());
    project.sync(None);
    repo.write("a.rs", "pub fn again() {}\n");
    let (outcome, read) = project.sync_counting_reads(&["a.rs"]);
    assert_eq!((outcome.extracted, outcome.symbols_extracted, outcome.changed_files, read), (1, 1, 1, 1));
    // One of them turns out to be skipped, and only a full listing can count skips.
    repo.write("a.rs", "pub fn once() {}\npub fn more() {}\n").write("b.rs", [0u8, 1]);
    let (outcome, read) = project.sync_counting_reads(&["a.rs", "b.rs"]);
    assert_eq!((outcome.extracted, outcome.symbols_extracted, outcome.changed_files, read), (1, 2, 2, 2));
    assert_eq!(outcome.skips.total(), 1);
    // This is known before anything is read: the full listing reads the changed files.
    repo.write("a.rs", "pub fn last() {}\n").write("b.rs", "pub fn b_again() {}\n");
    let (outcome, read) = project.sync_counting_reads(&["a.rs", "b.rs"]);
    assert_eq!((outcome.extracted, outcome.symbols_extracted, outcome.changed_files, read), (2, 2, 2, 2));
    let fresh = Project::new(repo.root());
    fresh.sync(None);
    assert_eq!(dump(&project, None), dump(&fresh, None));
}

#[test]
fn worktrees_share_versions_and_keep_own_edits() {
    let repo = Repository::new();
    for n in 0..10 {
        repo.write(&format!("src/f{n}.rs"), format!("pub fn f{n}() {{}}\n"));
    }
    repo.commit("first");
    repo.git(&["branch", "feat"]);
    let beside = repo.worktree("feat");
    let project = Project::new(repo.root());
    project.sync(None);
    let other = project.at(beside.root());
    assert_eq!(other.sync(None).extracted, 0, "all of it is known from the main work tree");
    beside.write("src/f1.rs", "pub fn only_beside() {}\n");
    assert_eq!(other.sync(None).extracted, 1);
    assert_eq!(project.sync(None).changed_files, 0);
    assert!(!format!("{:?}", dump(&project, None)).contains("only_beside"));
    assert!(format!("{:?}", dump(&other, None)).contains("only_beside"));
    assert!(!format!("{:?}", dump(&project, Some("feat"))).contains("only_beside"), "edits are not part of the branch");
}

#[test]
fn view_digest_depends_on_content_only() {
    let repo = Repository::new();
    repo.write("a.rs", "fn a() {}\n").write("b.rs", "fn b() {}\n").commit("first");
    let project = Project::new(repo.root());
    let digest = |project: &Project| {
        let store = Store::open(&project.dir()).expect("the store can be opened");
        store.view(&project.target(None).key).expect("the view can be read").expect("it is published").totals.digest
    };
    project.sync(None);
    let first = digest(&project);
    repo.write("b.rs", "fn c() {}\n");
    project.sync(None);
    let other = digest(&project);
    assert_ne!(first, other);
    let fresh = Project::new(repo.root());
    fresh.sync(None);
    assert_eq!(digest(&fresh), other, "files that were added and removed leave no trace");
    repo.write("b.rs", "fn b() {}\n");
    project.sync(None);
    assert_eq!(digest(&project), first);
}
