//! Shared support for the tests of queries.

use std::sync::atomic::AtomicBool;

use codecompass_index::source::{Limits, Workspace};
use codecompass_index::{SyncOptions, Target, sync};
use codecompass_store::{ProjectDir, Snapshot, Store, Tuning};
use tempfile::TempDir;

/// Indexes the first folder into the second and returns a snapshot.
pub(crate) fn indexed(folders: &[TempDir; 2]) -> Snapshot {
    let workspace = Workspace::discover(folders[0].path(), None).expect("because it is a workspace");
    let (dir, target) =
        (ProjectDir::new(folders[1].path().join("p")), Target::resolve(&workspace, None).expect("because it exists"));
    let options = SyncOptions {
        force: false,
        upgrade: false,
        wait: true,
        changed: None,
        also: Vec::new(),
        limits: Limits::default(),
        threads: 1,
        tuning: Tuning::default(),
        point: None,
        progress: &|_| (),
        cancel: &AtomicBool::new(false),
        job_id: None,
        started: &|_| (),
    };
    sync(&dir, &workspace, &target, &options).expect("because it can be indexed");
    Store::open(&dir).and_then(|store| store.snapshot(&target.key)).expect("because it is published")
}
