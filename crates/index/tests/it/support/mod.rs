//! A project in a temporary folder, and a plain-text dump of everything its store has about a view.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use codecompass_index::source::{Limits, Workspace};
use codecompass_index::{Progress, SyncOptions, SyncOutcome, Target, sync};
use codecompass_store::{Health, ProjectDir, Store, Tuning};
use tempfile::TempDir;

/// A data folder and a workspace.
pub(crate) struct Project {
    data: std::rc::Rc<TempDir>,
    pub(crate) workspace: Workspace,
    /// Patterns, and the language overrides of files they match.
    pub(crate) languages: Vec<(String, String)>,
}

impl Project {
    pub(crate) fn new(root: &Path) -> Self {
        let data = tempfile::tempdir().expect("a temporary folder can be created");
        let workspace = Workspace::discover(root, None).expect("it is a workspace");
        Self { data: data.into(), workspace, languages: Vec::new() }
    }

    /// Returns another workspace of the same project.
    pub(crate) fn at(&self, root: &Path) -> Self {
        let workspace = Workspace::discover(root, None).expect("it is a workspace");
        Self { data: self.data.clone(), workspace, languages: self.languages.clone() }
    }

    pub(crate) fn dir(&self) -> ProjectDir {
        ProjectDir::new(self.data.path().join("project"))
    }

    pub(crate) fn target(&self, ref_name: Option<&str>) -> Target {
        Target::resolve(&self.workspace, ref_name).expect("the ref exists")
    }

    pub(crate) fn sync(&self, ref_name: Option<&str>) -> SyncOutcome {
        self.run(ref_name, None, false).0
    }

    /// Extracts everything again.
    pub(crate) fn sync_forced(&self) -> SyncOutcome {
        self.run(None, None, true).0
    }

    /// Syncs with a list of the changed files.
    pub(crate) fn sync_known(&self, paths: &[&str]) -> SyncOutcome {
        self.sync_counting_reads(paths).0
    }

    /// Syncs with a list of the changed files, and returns how many files were read.
    pub(crate) fn sync_counting_reads(&self, paths: &[&str]) -> (SyncOutcome, usize) {
        self.run(None, Some(paths.iter().map(|path| (*path).to_owned()).collect()), false)
    }

    fn run(&self, ref_name: Option<&str>, changed: Option<Vec<String>>, force: bool) -> (SyncOutcome, usize) {
        let read = AtomicUsize::new(0);
        let options = SyncOptions {
            force,
            upgrade: false,
            wait: true,
            changed,
            also: Vec::new(),
            limits: Limits { languages: self.languages.clone(), ..Limits::default() },
            threads: 2,
            tuning: Tuning::default(),
            point: None,
            progress: &|progress| {
                read.fetch_add(usize::from(matches!(progress, Progress::Extracting { .. })), Ordering::Relaxed);
            },
            cancel: &AtomicBool::new(false),
            job_id: None,
            started: &|_| (),
        };
        // The branch may have been switched since: the target is resolved again for each sync.
        let outcome = sync(&self.dir(), &self.workspace, &self.target(ref_name), &options);
        (outcome.expect("the sync succeeds"), read.into_inner())
    }

    pub(crate) fn health(&self) -> Health {
        Health::check(&self.dir()).expect("the store can be read")
    }

    pub(crate) fn check_health(&self) {
        let health = self.health();
        health.sqlite.expect("the database is intact");
        health.text.expect("the text index is intact");
    }

    /// Returns the text index's report of its documents.
    pub(crate) fn documents(&self) -> String {
        self.health().text.expect("the text index is intact")
    }

    pub(crate) fn epoch(&self) -> PathBuf {
        let current = std::fs::read_to_string(self.dir().root().join("current")).expect("the store can be opened");
        self.dir().root().join(current.trim())
    }
}

/// Dumps everything of a view, by path and without ids: files, facts, texts, references by name, totals, skips.
pub(crate) fn dump(project: &Project, ref_name: Option<&str>) -> Vec<String> {
    let store = Store::open(&project.dir()).expect("the store can be opened");
    let snapshot = store.snapshot(&project.target(ref_name).key).expect("the view is published");
    let mut lines = vec![
        format!("{:?}", snapshot.info().totals),
        format!("{:?} {:?}", snapshot.info().ref_name, snapshot.info().commit),
        format!("{:?}", snapshot.info().skips),
    ];
    let mut names = std::collections::BTreeSet::new();
    let versions = snapshot.versions().expect("all are stored");
    for version in &versions {
        let facts = snapshot.facts(version.id).expect("facts are stored");
        names.extend(facts.names.iter().cloned());
        names.extend(facts.symbols.iter().map(|symbol| symbol.name.clone()));
        let text = snapshot.text(version.id).expect("text is stored");
        lines.push(format!("{} {} {} {facts:?} {text:?}", version.path, version.blob, version.language));
    }
    let path = |id: u32| &versions.iter().find(|version| version.id == id).expect("it is a member").path;
    for name in names {
        let mut references: Vec<_> = snapshot
            .references_named(&name)
            .expect("the lists are valid")
            .into_iter()
            .map(|(id, places)| (path(id), places))
            .collect();
        references.sort();
        let mut symbols: Vec<_> = snapshot
            .symbols_named(&name)
            .expect("the symbols are valid")
            .into_iter()
            .map(|row| (path(row.version), row.ordinal, row.kind))
            .collect();
        symbols.sort();
        lines.push(format!("{name}: {references:?} {symbols:?}"));
    }
    lines
}
