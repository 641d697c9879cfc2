//! Watching a work tree: which files may have changed since somebody last looked.
//!
//! A watch is a hint that saves looking, never a proof of a change: what it names is looked at before it counts. It is
//! told of every folder that has a listed file in it, one by one, so that ignored folders cost nothing; when events were
//! lost, when a folder came or went, or when too much happened at once, it says that anything may have changed.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{CreateKind, EventKind, RemoveKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::IndexError;
use crate::source::{Limits, Workspace, list_worktree};

/// More folders than this are not watched: the system's own limit is shared with others.
const MOST_FOLDERS: usize = 30_000;

/// When more files than this change at once, they are not remembered one by one.
const MOST_PATHS: usize = 5_000;

/// The files in a git folder whose change means that another commit may be checked out.
const TELLING: [&str; 3] = ["HEAD", "index", "packed-refs"];

/// See the module.
pub struct Watch {
    shared: Arc<Shared>,
    workspace: Workspace,
    limits: Limits,
    watcher: Mutex<RecommendedWatcher>,
}

struct Shared {
    root: PathBuf,
    git_dir: Option<PathBuf>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    mark: u64,
    taken: u64,
    paths: BTreeSet<String>,
    everything: bool,
    folders_changed: bool,
    folders: HashSet<PathBuf>,
    last: Option<Instant>,
    closed: bool,
}

/// What happened between two looks.
#[derive(Clone, Debug)]
pub struct Change {
    /// The mark of the look before.
    pub since: u64,
    /// The mark of this one.
    pub mark: u64,
    /// The files that may have changed; `None` when any may.
    pub paths: Option<Vec<String>>,
}

impl Watch {
    /// Begins to watch. An error when the system does not allow it, or when there are too many folders.
    pub fn start(workspace: &Workspace, limits: &Limits) -> Result<Self, IndexError> {
        let shared = Arc::new(Shared {
            root: workspace.root.clone(),
            git_dir: workspace.repo.as_ref().map(|repo| repo.git_dir().to_owned()),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let listener = Arc::clone(&shared);
        let watcher = notify::recommended_watcher(move |event| listener.note(event)).map_err(failed)?;
        let watch = Self { shared, workspace: workspace.clone(), limits: limits.clone(), watcher: Mutex::new(watcher) };
        if let Some(git_dir) = &watch.shared.git_dir {
            watch.add(git_dir)?;
        }
        watch.follow()?;
        Ok(watch)
    }

    /// Grows with every event: as long as it stays the same, nothing happened.
    pub fn mark(&self) -> u64 {
        self.shared.lock().mark
    }

    /// Waits for a change, and then until nothing has happened for `quiet`, but no longer than `patience` after the
    /// first one. `None` when the watch was closed.
    pub fn take(&self, quiet: Duration, patience: Duration) -> Option<Change> {
        let wait = |state, time| {
            let waited = self.shared.changed.wait_timeout(state, time);
            waited.unwrap_or_else(PoisonError::into_inner).0
        };
        let mut state = self.shared.lock();
        while state.mark == state.taken && !state.closed {
            state = wait(state, Duration::from_secs(60));
        }
        let until = Instant::now() + patience;
        while !state.closed {
            let still = state.last.map_or(quiet, |last| last.elapsed());
            if still >= quiet || Instant::now() >= until {
                break;
            }
            state = wait(state, quiet - still);
        }
        if state.closed {
            return None;
        }
        let (since, mark) = (std::mem::replace(&mut state.taken, 0), state.mark);
        state.taken = mark;
        let paths = std::mem::take(&mut state.paths);
        let everything = std::mem::take(&mut state.everything);
        let folders_changed = std::mem::take(&mut state.folders_changed);
        drop(state);
        // A folder that can not be followed is looked into by the whole look that comes now.
        let lost = folders_changed && self.follow().is_err();
        Some(Change { since, mark, paths: (!everything && !lost).then(|| paths.into_iter().collect()) })
    }

    /// Ends the watch: whoever waits is told.
    pub fn close(&self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
    }

    /// Watches the folders that are there now.
    fn follow(&self) -> Result<(), IndexError> {
        let listing = list_worktree(&self.workspace, &self.limits)?;
        let mut folders: HashSet<PathBuf> = HashSet::from([self.shared.root.clone()]);
        for entry in &listing.entries {
            let mut folder = Path::new(&entry.path).parent();
            while let Some(inside) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
                if !folders.insert(self.shared.root.join(inside)) {
                    break;
                }
                folder = inside.parent();
            }
        }
        if folders.len() > MOST_FOLDERS {
            return Err(IndexError::Watch(format!("{} folders are too many to watch", folders.len())));
        }
        let known = std::mem::take(&mut self.shared.lock().folders);
        for folder in folders.difference(&known) {
            self.add(folder)?;
        }
        // What happened in a new folder before it was watched was not seen.
        let has_new = folders.difference(&known).next().is_some() && !known.is_empty();
        let mut state = self.shared.lock();
        state.folders = folders;
        state.everything |= has_new;
        Ok(())
    }

    fn add(&self, folder: &Path) -> Result<(), IndexError> {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            Err(_) if !folder.is_dir() => Ok(()),
            outcome => outcome.map_err(failed),
        }
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
        let before = state.mark;
        match event {
            Ok(event) if event.need_rescan() => everything(&mut state),
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
            Ok(event) => event.paths.iter().for_each(|path| self.note_path(&mut state, event.kind, path)),
            Err(_) => everything(&mut state),
        }
        if state.mark != before {
            state.last = Some(Instant::now());
            self.changed.notify_all();
        }
    }

    fn note_path(&self, state: &mut State, kind: EventKind, path: &Path) {
        if let Some(inside) = self.git_dir.as_ref().and_then(|git_dir| path.strip_prefix(git_dir).ok()) {
            // Another commit is no change of a file, but whoever compares has to look again.
            state.mark += u64::from(TELLING.iter().any(|name| inside == Path::new(name)));
            return;
        }
        let Ok(inside) = path.strip_prefix(&self.root) else { return };
        if inside.starts_with(".git") {
            return;
        }
        let is_folder = matches!(kind, EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder))
            || state.folders.contains(path)
            || path.is_dir();
        match inside.to_str() {
            _ if is_folder || state.paths.len() >= MOST_PATHS => everything(state),
            Some(inside) if !inside.is_empty() => {
                state.mark += 1;
                state.paths.insert(inside.replace('\\', "/"));
            }
            _ => everything(state),
        }
    }
}

fn everything(state: &mut State) {
    state.mark += 1;
    state.everything = true;
    state.folders_changed = true;
    state.paths.clear();
}

fn failed(error: notify::Error) -> IndexError {
    IndexError::Watch(error.to_string())
}
