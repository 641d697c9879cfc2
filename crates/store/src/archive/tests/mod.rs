//! Valid archives, and the fixtures for all archive tests.

mod hostile;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use codecompass_model::{BlobId, Chunk, FileFacts, Lines, Span, VersionId, ViewKey};
use roaring::RoaringBitmap;
use tempfile::TempDir;

use super::{ExportRequest, ImportRequest, Imported, InitialView, export, import};
use crate::text::TextIndex;
use crate::{
    CachedStat, JobMode, NewVersion, OnMissing, ProjectDir, Publish, Result, SecretRules, Stat, Store, StoreError,
    Tuning, ViewUpdate, Writer, prune,
};

const ROOT: &str = "/home/somebody/source";

/// Rules under which nothing is a secret.
struct NoSecrets;

impl SecretRules for NoSecrets {
    fn key(&self) -> i64 {
        1
    }

    fn is_secret_path(&self, _path: &str) -> bool {
        false
    }

    fn scans_language(&self, _language: &str) -> bool {
        false
    }

    fn has_secret(&self, _path: &str, _language: &str, _text: &str) -> bool {
        false
    }
}

/// A project in its own folder.
struct Project {
    folder: TempDir,
    dir: ProjectDir,
}

impl Project {
    fn new() -> Self {
        let folder = TempDir::new().expect("because a temporary folder can be created");
        let dir = ProjectDir::new(folder.path().join("project"));
        Self { folder, dir }
    }

    /// Indexes `main` with two files, `feat` with a third, and a work tree with a fourth, uncommitted one.
    fn indexed() -> Self {
        let project = Self::new();
        let mut writer = Writer::open(&project.dir, OnMissing::Create, true, Tuning::default(), None, 1)
            .expect("because it can be created");
        writer.register(ROOT, 1).expect("because it can be registered");
        let job = writer.start_job(None, &worktree(ROOT), "main", JobMode::Full, 1).expect("because a job can start");
        let first = writer.reserve(4).expect("because ids are available");
        for (number, word) in ["alpha", "beta", "gamma", "confidential"].into_iter().enumerate() {
            writer.add(version(first + number as u32, &format!("{word}.txt"), word)).expect("because it can be added");
        }
        let ids = |count: u32| (first..first + count).collect::<RoaringBitmap>();
        let stat = Stat { size: 1, mtime: 1, ctime: 1, inode: 1 };
        let publish = Publish {
            views: vec![
                view(ViewKey::Ref("main".into()), ids(2)),
                view(ViewKey::Ref("feat".into()), ids(3)),
                view(worktree(ROOT), ids(2) | RoaringBitmap::from([first + 3])),
            ],
            root: ROOT.into(),
            seen: vec![("alpha.txt".into(), CachedStat { stat, version: first })],
            ..Publish::default()
        };
        writer.publish(&job, &publish, 1).expect("because it can be published");
        writer.finish().expect("because it can be finished");
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn export(&self, name: &str) -> PathBuf {
        let target = self.path(name);
        let request =
            ExportRequest { target: &target, replace: false, folder: None, secrets: &NoSecrets, point: None, now: 2 };
        export(&self.dir, &request).expect("because it can be exported");
        target
    }

    fn import(&self, source: &Path) -> Result<Imported> {
        let from = [ViewKey::Ref("main".into())];
        let start = Some(InitialView { ref_name: "mine", commit: None, from: &from });
        import(&self.dir, &ImportRequest { source, root: "/elsewhere", start, point: None, now: 3 })
    }

    fn store(&self) -> Store {
        Store::open(&self.dir).expect("because the store exists")
    }

    fn keys(&self) -> Vec<String> {
        self.store().views().expect("because views can be read").iter().map(|view| view.key.encode()).collect()
    }

    /// Whether a word occurs in any file of the project.
    fn has(&self, word: &str) -> bool {
        self.file_contents().values().any(|bytes| bytes.windows(word.len()).any(|part| part == word.as_bytes()))
    }

    /// Returns the names and bytes of all files of the project, except locks.
    fn file_contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        let mut waiting = vec![self.dir.root().to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    waiting.push(path);
                } else if path.extension().is_none_or(|extension| extension != "lock" && extension != "db-shm") {
                    all.insert(path.clone(), fs::read(&path).expect("because it can be read"));
                }
            }
        }
        all
    }
}

fn worktree(root: &str) -> ViewKey {
    ViewKey::Worktree(root.to_owned())
}

fn version(id: VersionId, path: &str, text: &str) -> NewVersion {
    let span = Span { start: 0, end: text.len() as u32 };
    let chunks = vec![Chunk { span, lines: Lines::default() }];
    let facts = FileFacts { lines: 1, chunks, ..FileFacts::default() };
    let blob = BlobId([id as u8; 20]);
    NewVersion::new(id, path.to_owned(), blob, text.len() as u64, ("text", 1), &facts, text)
}

fn view(key: ViewKey, members: RoaringBitmap) -> ViewUpdate {
    let (ref_name, commit) = ("main".to_owned(), Some("c0".to_owned()));
    let (skipped, edited) = Default::default();
    ViewUpdate { key, ref_name, commit, members, skipped, edited, skips: Vec::new(), facts_key: 7 }
}

#[test]
fn import_restores_export_without_machine_state() {
    let (here, there) = (Project::indexed(), Project::new());
    let imported = there.import(&here.export("a.tar.zst")).expect("because it can be imported");
    assert_eq!(there.keys(), ["ref:feat", "ref:main", "worktree:/elsewhere"]);
    assert_eq!((imported.start, imported.facts_keys), (Some(ViewKey::Ref("main".into())), vec![7]));
    assert!(imported.replaced.is_none());
    let store = there.store();
    assert_eq!(store.workspaces().expect("because they can be read"), ["/elsewhere"]);
    assert!(store.jobs(9).expect("because they can be read").is_empty());
    assert!(store.cached_stats(ROOT).expect("because they can be read").is_empty());
    for view in store.views().expect("because they can be read") {
        let expected = if view.key == ViewKey::Ref("feat".into()) { 3 } else { 2 };
        assert_eq!((view.totals.files, view.last_accessed_at, view.indexed_at), (expected, 3, 1), "{}", view.key);
    }
    let snapshot = store.snapshot(&ViewKey::Ref("feat".into())).expect("because it is published");
    let texts: Vec<String> =
        snapshot.members().iter().map(|id| snapshot.text(id).expect("because it is stored").to_string()).collect();
    assert_eq!(texts, ["alpha", "beta", "gamma"]);
    // Uncommitted content was not exported: its text, its name, and its words.
    let text = TextIndex::open(&there.dir.epoch().expect("because an epoch exists").join("text"))
        .expect("because it is intact");
    assert_eq!(text.versions().expect("because they can be listed").len(), 3);
    assert_eq!((here.has("confidential"), there.has("confidential")), (true, false));
}

#[test]
fn export_is_deterministic() {
    let project = Project::indexed();
    let read = |name: &str| fs::read(project.export(name)).expect("because it was just written");
    let first = read("a.tar.zst");
    // Using a view does not change what is exported.
    assert!(project.store().touch(&ViewKey::Ref("main".into()), 99).expect("because no writer is running"));
    assert!(first == read("b.tar.zst"), "the second archive differs");
    // The archive does not depend on which store with the same content it comes from.
    assert!(
        first == fs::read(Project::indexed().export("a")).expect("because it was just written"),
        "the archive of an equal store differs"
    );
}

#[test]
fn export_leaves_only_the_archive_and_replaces_only_on_request() {
    let project = Project::indexed();
    let before = project.file_contents();
    let target = project.export("a.tar.zst");
    let names: Vec<_> = fs::read_dir(project.folder.path()).expect("because it exists").flatten().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(project.file_contents().keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    fs::write(&target, "precious").expect("because it can be written");
    let mut request =
        ExportRequest { target: &target, replace: false, folder: None, secrets: &NoSecrets, point: None, now: 2 };
    assert!(matches!(export(&project.dir, &request), Err(StoreError::FileExists(_))));
    assert_eq!(fs::read(&target).expect("because it exists"), b"precious");
    request.replace = true;
    export(&project.dir, &request).expect("because it may be replaced");
    assert!(fs::read(&target).expect("because it exists").len() > 1000);
    let nowhere = project.path("nowhere/a.tar.zst");
    let failed = export(&project.dir, &ExportRequest { target: &nowhere, ..request });
    assert!(matches!(failed, Err(StoreError::Io { .. })), "{failed:?}");
    assert_eq!(project.file_contents().keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
}

#[test]
fn plain_folder_gets_the_importing_root() {
    let (here, there) = (Project::indexed(), Project::new());
    let target = here.path("a.tar.zst");
    let request =
        ExportRequest { target: &target, replace: false, folder: Some(ROOT), secrets: &NoSecrets, point: None, now: 2 };
    export(&here.dir, &request).expect("because it can be exported");
    let bytes = fs::read(&target).expect("because it was just written");
    let plain = zstd::decode_all(bytes.as_slice()).expect("because it is intact");
    assert!(
        !plain.windows(ROOT.len()).any(|part| part == ROOT.as_bytes()),
        "it contains the path of the other machine"
    );
    there.import(&target).expect("because it can be imported");
    let view = there.store().view(&worktree("/elsewhere")).expect("because it can be read").expect("because it exists");
    assert_eq!((view.totals.files, view.ref_name.as_str()), (3, "mine"));
}

#[test]
fn import_replaces_the_store_and_keeps_registrations() {
    let (here, there) = (Project::indexed(), Project::indexed());
    let old = there.store().generation().expect("because it can be read");
    let imported = there.import(&here.export("a.tar.zst")).expect("because it can be imported");
    let replaced = imported.replaced.expect("because a store existed");
    assert_eq!((replaced.views.len(), replaced.is_freed), (3, true));
    assert_eq!(there.store().workspaces().expect("because they can be read"), [ROOT, "/elsewhere"]);
    assert!(there.store().generation().expect("because it can be read") > old);
    let epochs = fs::read_dir(there.dir.root()).expect("because it exists").flatten();
    assert_eq!(epochs.filter(|entry| entry.path().is_dir()).count(), 1);
}

#[test]
fn readers_keep_the_old_epoch_during_replacement() {
    type Replace = fn(&Project) -> bool;
    let by_import: Replace = |project| {
        let archive = Project::indexed();
        let imported = project.import(&archive.export("a.tar.zst")).expect("because it can be imported");
        imported.replaced.expect("because a store existed").is_freed
    };
    let by_pruning: Replace = |project| {
        let all = |views: &[crate::ViewInfo]| views.iter().map(|view| view.key.clone()).collect();
        prune(&project.dir, &all, None, 3).expect("because it can be pruned").is_freed
    };
    for replace in [by_import, by_pruning] {
        let project = Project::indexed();
        let snapshot = project.store().snapshot(&worktree(ROOT)).expect("because it is published");
        assert!(!replace(&project), "the space cannot be free while a reader is open");
        // Its text index and its texts are opened only now.
        snapshot.text_reader().expect("because the old text index exists");
        let ids: Vec<VersionId> = snapshot.members().iter().collect();
        let texts = snapshot.map_texts(&ids, str::to_owned).expect("because the old texts exist");
        assert_eq!(texts, ["alpha", "beta", "confidential"]);
        let epochs = || fs::read_dir(project.dir.root()).expect("because it exists").flatten();
        assert_eq!(epochs().filter(|entry| entry.path().is_dir()).count(), 2);
        drop(snapshot);
        Writer::open(&project.dir, OnMissing::Fail, true, Tuning::default(), None, 4)
            .expect("because it can be written");
        assert_eq!(epochs().filter(|entry| entry.path().is_dir()).count(), 1, "the next writer did not sweep");
    }
}

#[test]
fn prune_keeps_shared_versions_and_machine_state() {
    let project = Project::indexed();
    let feat = |_: &[crate::ViewInfo]| vec![ViewKey::Ref("feat".into())];
    let pruned = prune(&project.dir, &feat, None, 3).expect("because it can be pruned");
    assert_eq!((pruned.views.len(), pruned.removed_versions, pruned.is_freed), (1, 1, true));
    assert!(pruned.bytes_after < pruned.bytes_before, "{pruned:?}");
    assert_eq!(project.keys(), ["ref:main", format!("worktree:{ROOT}").as_str()]);
    let store = project.store();
    assert_eq!(store.workspaces().expect("because they can be read"), [ROOT]);
    assert_eq!(store.cached_stats(ROOT).expect("because they can be read").len(), 1);
    assert_eq!(store.jobs(9).expect("because they can be read").len(), 1);
    assert_eq!((project.has("alpha"), project.has("gamma")), (true, false));
    let nothing = prune(&project.dir, &feat, None, 4).expect("because it can be pruned again");
    assert_eq!((nothing.views.len(), nothing.removed_versions), (0, 0));
}
