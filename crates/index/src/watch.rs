//! Watching a work tree: which files may have changed since somebody last looked.
//!
//! A watch is a hint that saves looking, never a proof of a change: what it names is looked at before it counts. When events
//! were lost, when a folder came or went, or when too much happened at once, it says that anything may have changed.
//!
//! On Linux it is told of every folder that a listing walks through, one by one, so that ignored folders cost nothing. macOS
//! and Windows watch a folder with all that is below it, and dearly when it is done one by one: macOS begins its stream
//! anew for each, and on Windows no folder above a watched one can be renamed. There the root alone is watched, and what
//! happens in folders that no listing walks through is passed over ([`Reach`]).
//!
//! What a watch must never do is keep silent about a change, because silence is taken for "fresh". So as long as there
//! may be a folder that it has not been told of, it has no mark at all, and whoever asks looks for himself.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{CreateKind, EventKind, RemoveKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::IndexError;
use crate::source::{Limits, Workspace, list_worktree};
use crate::sync::affects_other_files;

/// When more files than this change at once, they are not remembered one by one.
const MAX_PATHS: usize = 5_000;

/// What the system is asked to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchScope {
    /// The folders of the listing, each for itself.
    Folders,
    /// The root and all below it.
    Root,
}

impl WatchScope {
    const PLATFORM_DEFAULT: Self = if cfg!(any(target_os = "macos", windows)) { Self::Root } else { Self::Folders };
}

/// So often the folders are listed anew, when some appear while they are being watched one by one.
const MAX_LISTING_ROUNDS: usize = 5;

/// See the module.
pub struct Watch {
    shared: Arc<Shared>,
    workspace: Workspace,
    limits: Limits,
    max_folders: usize,
    watcher: Mutex<RecommendedWatcher>,
}

struct Shared {
    scope: WatchScope,
    root: PathBuf,
    /// The work tree's own git folder, and the one that all work trees share.
    git: Option<(PathBuf, PathBuf)>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    event_count: u64,
    taken: u64,
    paths: BTreeSet<String>,
    everything: bool,
    /// Grows when the folders may have become others; those up to `followed` are watched.
    folder_change_count: u64,
    watched_folder_count: u64,
    folders: HashSet<PathBuf>,
    last: Option<Instant>,
    is_broken: bool,
    is_closed: bool,
}

/// What happened between two looks.
#[derive(Clone, Debug)]
pub struct Change {
    /// The mark of the look before.
    pub since: u64,
    /// The mark of this one.
    pub event_count: u64,
    /// The files that may have changed; `None` when any may.
    pub paths: Option<Vec<String>>,
}

impl Watch {
    /// So many folders are watched at most, if nobody says otherwise: the system's own limit is shared with others.
    pub const MAX_FOLDERS: usize = 30_000;

    /// Begins to watch. An error when the system does not allow it, or when there are more folders than that.
    pub fn start(workspace: &Workspace, limits: &Limits, most_folders: usize) -> Result<Self, IndexError> {
        Self::start_with_scope(WatchScope::PLATFORM_DEFAULT, workspace, limits, most_folders)
    }

    fn start_with_scope(
        reach: WatchScope,
        workspace: &Workspace,
        limits: &Limits,
        most_folders: usize,
    ) -> Result<Self, IndexError> {
        let git = workspace.repo.as_ref().map(|repo| (repo.git_dir().to_owned(), repo.common_dir().to_owned()));
        let root = workspace.root.clone();
        let shared = Arc::new(Shared { scope: reach, root, git, state: Mutex::default(), changed: Condvar::new() });
        let listener = Arc::clone(&shared);
        let watcher = notify::recommended_watcher(move |event| listener.note(event)).map_err(watch_error)?;
        let (workspace, limits) = (workspace.clone(), limits.clone());
        let watch = Self { shared, workspace, limits, max_folders: most_folders, watcher: Mutex::new(watcher) };
        if reach == WatchScope::Root {
            watch.watcher().watch(&watch.shared.root, RecursiveMode::Recursive).map_err(watch_error)?;
        }
        if let Some((own, common)) = &watch.shared.git {
            watch.add(own)?;
            watch.add(&common.join("info"))?;
        }
        watch.sync_watched_folders()?;
        Ok(watch)
    }

    /// Grows with every event: as long as it stays the same, nothing happened. None while nobody can say so.
    pub fn event_count(&self) -> Option<u64> {
        let state = self.shared.lock();
        let is_whole = state.folder_change_count == state.watched_folder_count && !state.is_broken && !state.is_closed;
        is_whole.then_some(state.event_count)
    }

    /// Waits for a change, and then until nothing has happened for `quiet`, but no longer than `patience` after the
    /// first one. `None` when the watch was closed, or can not go on.
    pub fn wait_for_change(&self, quiet: Duration, patience: Duration) -> Option<Change> {
        let wait = |state, time| {
            let waited = self.shared.changed.wait_timeout(state, time);
            waited.unwrap_or_else(PoisonError::into_inner).0
        };
        let mut state = self.shared.lock();
        while state.event_count == state.taken && !state.is_closed {
            state = wait(state, Duration::from_secs(60));
        }
        let until = Instant::now() + patience;
        while !state.is_closed {
            let still = state.last.map_or(quiet, |last| last.elapsed());
            if still >= quiet || Instant::now() >= until {
                break;
            }
            state = wait(state, quiet - still);
        }
        if state.is_closed || state.is_broken {
            return None;
        }
        let (since, mut mark) = (state.taken, state.event_count);
        state.taken = mark;
        let paths = std::mem::take(&mut state.paths);
        let mut everything = std::mem::take(&mut state.everything);
        let is_behind = state.folder_change_count != state.watched_folder_count;
        drop(state);
        if is_behind {
            let has_others = self.sync_watched_folders();
            let mut state = self.shared.lock();
            match has_others {
                Err(_) => {
                    state.is_broken = true;
                    return None;
                }
                Ok(has_others) => everything |= has_others,
            }
            // What happened in a folder before it was watched was not seen: whatever was found out by now is outdated.
            let is_quiet = state.event_count == mark;
            state.event_count += 1;
            if is_quiet {
                mark = state.event_count;
                state.taken = mark;
            }
        }
        Some(Change { since, event_count: mark, paths: (!everything).then(|| paths.into_iter().collect()) })
    }

    /// Ends the watch: whoever waits is told.
    pub fn close(&self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
    }

    /// Watches the folders that are there now, and tells whether they are others than before.
    ///
    /// All of them are added each time: a folder that was deleted and made anew has the same path and is not watched any
    /// more. They are listed again afterwards, since one that came before its parent was watched has not been told of.
    fn sync_watched_folders(&self) -> Result<bool, IndexError> {
        let seen = self.shared.lock().folder_change_count;
        let known = self.shared.lock().folders.clone();
        let mut watched = HashSet::new();
        for _ in 0..MAX_LISTING_ROUNDS {
            let listed = list_worktree(&self.workspace, &self.limits)?.folders;
            let listed: HashSet<PathBuf> = listed.iter().map(|folder| self.shared.root.join(folder)).collect();
            if listed.len() > self.max_folders {
                let count = listed.len();
                return Err(IndexError::Watch(format!("{count} folders, more than the {} allowed", self.max_folders)));
            }
            if listed.is_subset(&watched) {
                break;
            }
            for folder in listed.difference(&watched) {
                self.add(folder)?;
            }
            watched = listed;
        }
        for gone in known.difference(&watched).filter(|_| self.shared.scope == WatchScope::Folders) {
            // It need not be there any more, nor watched.
            let _ = self.watcher().unwatch(gone);
        }
        let has_others = watched != known;
        let mut state = self.shared.lock();
        state.folders = watched;
        state.watched_folder_count = seen;
        Ok(has_others)
    }

    fn add(&self, folder: &Path) -> Result<(), IndexError> {
        if self.shared.scope == WatchScope::Root && folder.starts_with(&self.shared.root) {
            return Ok(());
        }
        match self.watcher().watch(folder, RecursiveMode::NonRecursive) {
            Err(_) if !folder.is_dir() => Ok(()),
            outcome => outcome.map_err(watch_error),
        }
    }

    fn watcher(&self) -> MutexGuard<'_, RecommendedWatcher> {
        self.watcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, event: notify::Result<Event>) {
        let mut state = self.lock();
        let before = state.event_count;
        match event {
            Ok(event) if event.need_rescan() => mark_all_changed(&mut state),
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
            Ok(event) => event.paths.iter().for_each(|path| self.note_path(&mut state, event.kind, path)),
            Err(_) => mark_all_changed(&mut state),
        }
        if state.event_count != before {
            state.last = Some(Instant::now());
            self.changed.notify_all();
        }
    }

    fn note_path(&self, state: &mut State, kind: EventKind, path: &Path) {
        if self.note_git(state, path) {
            return;
        }
        let Ok(inside) = path.strip_prefix(&self.root) else { return };
        if inside.starts_with(".git") {
            return;
        }
        // Nothing is missed by this: a folder that comes is told of by the one that it comes into, which is known.
        let is_known = |folder: &Path| state.folders.contains(folder);
        if self.scope == WatchScope::Root && !is_known(path) && !path.parent().is_some_and(is_known) {
            return;
        }
        let is_folder = matches!(kind, EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder))
            || state.folders.contains(path)
            || path.is_dir();
        // Elsewhere a backslash is a part of a name like any other.
        let inside =
            inside.to_str().map(|inside| if cfg!(windows) { inside.replace('\\', "/") } else { inside.into() });
        match inside {
            _ if is_folder || state.paths.len() >= MAX_PATHS => mark_all_changed(state),
            // A rule may have opened a folder that was left out before.
            Some(inside) if affects_other_files(&inside) => mark_all_changed(state),
            Some(inside) if !inside.is_empty() => {
                state.event_count += 1;
                state.paths.insert(inside);
            }
            _ => mark_all_changed(state),
        }
    }

    /// Takes note of what happens in git's folders; whether the path lies there. Another commit is no change of a file,
    /// but whoever compares has to look again.
    fn note_git(&self, state: &mut State, path: &Path) -> bool {
        let Some((own, common)) = &self.git else { return false };
        if path.strip_prefix(common).is_ok_and(|inside| inside == Path::new("info/exclude")) {
            mark_all_changed(state);
            return true;
        }
        let Ok(inside) = path.strip_prefix(own) else { return path.starts_with(common) };
        match inside.to_str() {
            Some("HEAD" | "packed-refs") => state.event_count += 1,
            // A folder that is ignored is walked through once git tracks a file in it.
            Some("index") => {
                state.event_count += 1;
                state.folder_change_count += 1;
            }
            _ => {}
        }
        true
    }
}

fn mark_all_changed(state: &mut State) {
    state.event_count += 1;
    state.everything = true;
    state.folder_change_count += 1;
    state.paths.clear();
}

fn watch_error(error: notify::Error) -> IndexError {
    IndexError::Watch(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const QUIET_PERIOD: Duration = Duration::from_millis(100);
    const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);

    /// What a watch tells after something was done; nothing when it stays silent.
    fn change_after(watch: &Watch, act: impl FnOnce()) -> Option<Change> {
        let before = watch.event_count().expect("it knows all folders");
        act();
        let until = Instant::now() + CHANGE_TIMEOUT;
        let is_silent = || watch.shared.lock().event_count == before;
        while is_silent() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        if is_silent() { None } else { watch.wait_for_change(QUIET_PERIOD, CHANGE_TIMEOUT) }
    }

    #[test]
    fn both_scopes_report_the_same_changes() {
        for reach in [WatchScope::Folders, WatchScope::Root] {
            let folder = tempfile::tempdir().expect("a folder can be made");
            let root = crate::source::real_path(folder.path()).expect("it is there");
            for made in ["src", "node_modules/deep"] {
                fs::create_dir_all(root.join(made)).expect("it can be made");
            }
            fs::write(root.join("src/a.rs"), "fn a() {}").expect("it can be written");
            let workspace = Workspace::discover(&root, None).expect("it is a folder");
            let watch = Watch::start_with_scope(reach, &workspace, &Limits::default(), 100).expect("it can be watched");

            let edit =
                change_after(&watch, || fs::write(root.join("src/a.rs"), "fn b() {}").expect("it can be written"));
            assert_eq!(edit.and_then(|change| change.paths), Some(vec!["src/a.rs".to_owned()]), "{reach:?}");
            // What is below an ignored folder is silent: the edit after it comes alone.
            let noise = || {
                fs::write(root.join("node_modules/deep/x.js"), "1").expect("it can be written");
                fs::write(root.join("src/a.rs"), "fn c() {}").expect("it can be written");
            };
            let edit = change_after(&watch, noise);
            assert_eq!(edit.and_then(|change| change.paths), Some(vec!["src/a.rs".to_owned()]), "{reach:?}");
            // A new folder may hold anything; afterwards it is watched like the others.
            let grown = change_after(&watch, || {
                fs::create_dir(root.join("src/new")).expect("it can be made");
                fs::write(root.join("src/new/b.rs"), "fn b() {}").expect("it can be written");
            });
            assert!(grown.is_some_and(|change| change.paths.is_none()), "{reach:?}");
            while watch.event_count().is_none() {
                watch.wait_for_change(QUIET_PERIOD, CHANGE_TIMEOUT);
            }
            let edit =
                change_after(&watch, || fs::write(root.join("src/new/b.rs"), "fn c() {}").expect("it can be written"));
            let paths = edit.map(|change| change.paths.unwrap_or_default());
            assert_eq!(paths, Some(vec!["src/new/b.rs".to_owned()]), "{reach:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn backslash_in_a_name_is_kept() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let root = crate::source::real_path(folder.path()).expect("it is there");
        let workspace = Workspace::discover(&root, None).expect("it is a folder");
        let watch = Watch::start(&workspace, &Limits::default(), 100).expect("it can be watched");
        let edit = change_after(&watch, || fs::write(root.join(r"a\b.rs"), "fn a() {}").expect("it can be written"));
        assert_eq!(edit.and_then(|change| change.paths), Some(vec![r"a\b.rs".to_owned()]));
    }
}
