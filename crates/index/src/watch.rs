//! Watches a work tree and reports which files may have changed.
//!
//! A watch is a hint that saves checks, never a proof of a change: the files it names are checked before they count as
//! changed. If events were lost, if a folder appeared or disappeared, or if too much happened at once, it reports that
//! any file may have changed.
//!
//! On Linux, each folder that a listing walks is watched separately, so that ignored folders cost nothing. macOS and
//! Windows watch a folder with everything below it, and separate watches are expensive there: macOS restarts its stream
//! for each, and on Windows no parent of a watched folder can be renamed. On these systems only the root is watched,
//! and events in folders that no listing walks are ignored ([`WatchScope`]).
//!
//! A watch must never miss a change, because silence means "fresh". While there may be a folder that is not watched,
//! `event_count` is `None`, and callers have to check the files themselves.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{CreateKind, EventKind, RemoveKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::IndexError;
use crate::source::{Limits, Workspace, list_worktree};
use crate::sync::affects_other_files;

/// If more files than this change at once, their paths are not recorded.
const MAX_PATHS: usize = 5_000;

/// The folders that the system watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchScope {
    /// Each folder of the listing separately.
    Folders,
    /// The root with everything below it.
    Root,
}

impl WatchScope {
    const PLATFORM_DEFAULT: Self = if cfg!(any(target_os = "macos", windows)) { Self::Root } else { Self::Folders };
}

/// The maximum number of times that folders are listed again because new ones appeared while watches were added.
const MAX_LISTING_ROUNDS: usize = 5;

/// A running watch of a work tree.
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
    /// The work tree's own git folder, and the common folder that all work trees share.
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
    /// Incremented when the set of folders may have changed; all changes up to `watched_folder_count` are watched.
    folder_change_count: u64,
    watched_folder_count: u64,
    folders: HashSet<PathBuf>,
    last: Option<Instant>,
    is_broken: bool,
    is_closed: bool,
}

/// Changes between two checks.
#[derive(Clone, Debug)]
pub struct Change {
    /// The event count of the previous check.
    pub since: u64,
    /// The event count of this check.
    pub event_count: u64,
    /// The files that may have changed; `None` if any may have.
    pub paths: Option<Vec<String>>,
}

impl Watch {
    /// The default maximum number of watched folders: the system's limit is shared with other programs.
    pub const MAX_FOLDERS: usize = 30_000;

    /// Starts watching. Fails if the system does not allow it, or if there are more folders than the maximum.
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

    /// Incremented with every event: while it is unchanged, nothing happened. `None` while that cannot be guaranteed.
    pub fn event_count(&self) -> Option<u64> {
        let state = self.shared.lock();
        let is_whole = state.folder_change_count == state.watched_folder_count && !state.is_broken && !state.is_closed;
        is_whole.then_some(state.event_count)
    }

    /// Waits for a change, and then until no event has occurred for `quiet`, but at most `patience` after the first
    /// one. Returns `None` if the watch was closed or cannot continue.
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
            // Events in a folder before it was watched were missed: everything found out until now is outdated.
            let is_quiet = state.event_count == mark;
            state.event_count += 1;
            if is_quiet {
                mark = state.event_count;
                state.taken = mark;
            }
        }
        Some(Change { since, event_count: mark, paths: (!everything).then(|| paths.into_iter().collect()) })
    }

    /// Ends the watch and wakes all waiting threads.
    pub fn close(&self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
    }

    /// Watches the current folders. Returns whether they differ from the previous ones.
    ///
    /// Adds all of them each time: a folder that was deleted and created again has the same path and is no longer
    /// watched. Lists them again afterwards, because a folder that was created before its parent was watched caused no
    /// event.
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
            // The folder may no longer exist or be watched.
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
        // This misses nothing: a new folder causes an event in its parent, which is known.
        let is_known = |folder: &Path| state.folders.contains(folder);
        if self.scope == WatchScope::Root && !is_known(path) && !path.parent().is_some_and(is_known) {
            return;
        }
        let is_folder = matches!(kind, EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder))
            || state.folders.contains(path)
            || path.is_dir();
        // On other systems a backslash is an ordinary character of a name.
        let inside =
            inside.to_str().map(|inside| if cfg!(windows) { inside.replace('\\', "/") } else { inside.into() });
        match inside {
            _ if is_folder || state.paths.len() >= MAX_PATHS => mark_all_changed(state),
            // A rule may include a folder that was excluded before.
            Some(inside) if affects_other_files(&inside) => mark_all_changed(state),
            Some(inside) if !inside.is_empty() => {
                state.event_count += 1;
                state.paths.insert(inside);
            }
            _ => mark_all_changed(state),
        }
    }

    /// Records events in git's folders. Returns whether the path is in one of them. Another commit changes no file, but
    /// comparisons have to be made again.
    fn note_git(&self, state: &mut State, path: &Path) -> bool {
        let Some((own, common)) = &self.git else { return false };
        if path.strip_prefix(common).is_ok_and(|inside| inside == Path::new("info/exclude")) {
            mark_all_changed(state);
            return true;
        }
        let Ok(inside) = path.strip_prefix(own) else { return path.starts_with(common) };
        match inside.to_str() {
            Some("HEAD" | "packed-refs") => state.event_count += 1,
            // An ignored folder is walked once git tracks a file in it.
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

    /// Returns the change that a watch reports after an action; `None` if it reports nothing.
    fn change_after(watch: &Watch, act: impl FnOnce()) -> Option<Change> {
        let before = watch.event_count().expect("all folders are watched");
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
            let folder = tempfile::tempdir().expect("a folder can be created");
            let root = crate::source::real_path(folder.path()).expect("it exists");
            for made in ["src", "node_modules/deep"] {
                fs::create_dir_all(root.join(made)).expect("it can be created");
            }
            fs::write(root.join("src/a.rs"), "fn a() {}").expect("it can be written");
            let workspace = Workspace::discover(&root, None).expect("it is a folder");
            let watch = Watch::start_with_scope(reach, &workspace, &Limits::default(), 100).expect("it can be watched");

            let edit =
                change_after(&watch, || fs::write(root.join("src/a.rs"), "fn b() {}").expect("it can be written"));
            assert_eq!(edit.and_then(|change| change.paths), Some(vec!["src/a.rs".to_owned()]), "{reach:?}");
            // Events below an ignored folder are ignored: only the edit after them is reported.
            let noise = || {
                fs::write(root.join("node_modules/deep/x.js"), "1").expect("it can be written");
                fs::write(root.join("src/a.rs"), "fn c() {}").expect("it can be written");
            };
            let edit = change_after(&watch, noise);
            assert_eq!(edit.and_then(|change| change.paths), Some(vec!["src/a.rs".to_owned()]), "{reach:?}");
            // A new folder may contain anything; afterwards it is watched like the others.
            let grown = change_after(&watch, || {
                fs::create_dir(root.join("src/new")).expect("it can be created");
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
        let folder = tempfile::tempdir().expect("a folder can be created");
        let root = crate::source::real_path(folder.path()).expect("it exists");
        let workspace = Workspace::discover(&root, None).expect("it is a folder");
        let watch = Watch::start(&workspace, &Limits::default(), 100).expect("it can be watched");
        let edit = change_after(&watch, || fs::write(root.join(r"a\b.rs"), "fn a() {}").expect("it can be written"));
        assert_eq!(edit.and_then(|change| change.paths), Some(vec![r"a\b.rs".to_owned()]));
    }
}
