//! The stores and snapshots that a thread keeps open between requests, while they show the published state.
//!
//! Opening a snapshot costs more than many answers. A snapshot is cached while its generation is the newest. It is
//! evicted when a newer one is published ([`SnapshotCache::apply`]) or after an idle time
//! ([`SnapshotCache::evict_finished`], [`SnapshotCache::evict_idle`]): an open snapshot blocks garbage collection and
//! keeps the database log from being reset.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use codecompass_model::ViewKey;
use codecompass_query::graph::{ReferenceCache, ResolveCache};
use codecompass_store::{SecretRules, Snapshot, Store};

use crate::error::AppError;
use crate::session::Session;

/// The maximum number of open snapshots per project.
const MAX_SNAPSHOTS: usize = 4;

/// The open stores and snapshots of a thread.
#[derive(Default)]
pub struct SnapshotCache {
    projects: HashMap<PathBuf, ProjectCache>,
    /// Partial results from evicted snapshots. The next request completes a truncated answer, even if it comes much
    /// later.
    references: HashMap<PathBuf, Vec<(SnapshotKey, Rc<ReferenceCache>)>>,
    /// Set when the current request is cancelled.
    cancel: Arc<AtomicBool>,
    /// Whether no request reads the text index.
    is_without_text: bool,
}

/// Commands to the caches of all threads. Each thread applies them between two tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheCommand {
    /// A view of this project was published: evict older generations.
    EvictOutdated(PathBuf),
    /// This project is closed: evict everything of it.
    EvictProject(PathBuf),
}

/// One project.
struct ProjectCache {
    store: Store,
    snapshots: Vec<CachedSnapshot>,
    last_used: Instant,
}

/// The identity of a snapshot: view, base and generation.
#[derive(Clone, PartialEq, Eq)]
struct SnapshotKey {
    key: ViewKey,
    base: Option<String>,
    generation: i64,
}

struct CachedSnapshot {
    state: SnapshotKey,
    snapshot: Rc<Snapshot>,
    resolve_cache: Rc<ResolveCache>,
}

impl SnapshotCache {
    /// Sets the flag that cancels all reads from now on.
    pub fn set_cancel_flag(&mut self, gone: &Arc<AtomicBool>) {
        self.cancel = Arc::clone(gone);
    }

    /// Declares that no request will read the text index, which is then not verified in advance.
    pub fn expect_no_text(&mut self) {
        self.is_without_text = true;
    }

    /// The project's store.
    pub fn store(&mut self, session: &Session) -> Result<&Store, AppError> {
        Ok(&self.project(session)?.store)
    }

    /// A snapshot of the newest generation of a view, with its resolve cache.
    pub fn snapshot(&mut self, session: &Session, key: &ViewKey) -> Result<(Rc<Snapshot>, Rc<ResolveCache>), AppError> {
        let base = session.default_branch();
        let gone = Arc::clone(&self.cancel);
        let shelf = self.project(session)?;
        let generation = shelf.store.generation()?;
        let state = SnapshotKey { key: key.clone(), base, generation };
        shelf.snapshots.retain(|kept| kept.state.generation == generation);
        if let Some(kept) = shelf.snapshots.iter().find(|kept| kept.state == state) {
            kept.snapshot.set_cancel_flag(&gone);
            return Ok((Rc::clone(&kept.snapshot), Rc::clone(&kept.resolve_cache)));
        }
        let mut snapshot = shelf.store.snapshot(key)?;
        if !snapshot.is_scanned_with(session.secrets.key())? {
            // A process with other secret rules has written since the store was opened. Reopening the store fixes that.
            drop(snapshot);
            self.projects.remove(session.dir.root());
            snapshot = self.project(session)?.store.snapshot(key)?;
        }
        let shelf = self.project(session)?;
        if let Some(base) = &state.base {
            snapshot = snapshot.with_base(&ViewKey::Ref(base.clone()))?;
        }
        if shelf.snapshots.len() == MAX_SNAPSHOTS {
            shelf.snapshots.remove(0);
        }
        snapshot.set_cancel_flag(&gone);
        let snapshot = Rc::new(snapshot);
        let looks = self.reference_cache(session, &state);
        let memory = Rc::new(ResolveCache::new(Rc::clone(&snapshot), codecompass_lang::REGISTRY, looks));
        let kept = CachedSnapshot { state, snapshot: Rc::clone(&snapshot), resolve_cache: Rc::clone(&memory) };
        self.project(session)?.snapshots.push(kept);
        Ok((snapshot, memory))
    }

    fn reference_cache(&mut self, session: &Session, state: &SnapshotKey) -> Rc<ReferenceCache> {
        let known = self.references.entry(session.dir.root().to_owned()).or_default();
        known.retain(|(known, _)| known.generation == state.generation);
        if let Some((_, looks)) = known.iter().find(|(known, _)| known == state) {
            return Rc::clone(looks);
        }
        if known.len() == MAX_SNAPSHOTS {
            known.remove(0);
        }
        let looks = Rc::<ReferenceCache>::default();
        known.push((state.clone(), Rc::clone(&looks)));
        looks
    }

    /// Closes everything; partial results stay.
    pub fn evict_finished(&mut self) {
        self.projects.clear();
        self.references.values().flatten().for_each(|(_, looks)| looks.evict_complete());
    }

    /// Applies a command to this cache.
    pub fn apply(&mut self, order: &CacheCommand) {
        match order {
            CacheCommand::EvictOutdated(root) => self.evict_outdated(root),
            CacheCommand::EvictProject(root) => {
                self.projects.remove(root);
                self.references.remove(root);
            }
        }
    }

    /// Evicts snapshots of a project that are older than its newest generation.
    fn evict_outdated(&mut self, root: &Path) {
        let Some(shelf) = self.projects.get_mut(root) else { return };
        match shelf.store.generation() {
            Ok(newest) if shelf.store.is_current() => {
                shelf.snapshots.retain(|kept| kept.state.generation == newest);
                let looks = self.references.entry(root.to_owned()).or_default();
                looks.retain(|(state, _)| state.generation == newest);
            }
            _ => drop(self.projects.remove(root)),
        }
    }

    /// Closes the projects without requests for `idle`, while other projects are in use.
    pub fn evict_idle(&mut self, idle: Duration) {
        let is_used = |shelf: &ProjectCache| shelf.last_used.elapsed() < idle;
        for (root, looks) in &self.references {
            if self.projects.get(root).is_some_and(|shelf| !is_used(shelf)) {
                looks.iter().for_each(|(_, looks)| looks.evict_complete());
            }
        }
        self.projects.retain(|_, shelf| is_used(shelf));
    }

    /// Evicts everything.
    pub fn clear(&mut self) {
        self.projects.clear();
        self.references.clear();
    }

    fn project(&mut self, session: &Session) -> Result<&mut ProjectCache, AppError> {
        let root = session.dir.root();
        if !self.projects.get(root).is_some_and(|shelf| shelf.store.is_current()) {
            if self.projects.remove(root).is_some() {
                // A new store restarts its generation counter.
                self.references.remove(root);
            }
            let store = session.store()?;
            if !self.is_without_text {
                store.verify_in_background();
            }
            self.projects
                .insert(root.to_owned(), ProjectCache { store, snapshots: Vec::new(), last_used: Instant::now() });
        }
        let shelf = self.projects.get_mut(root).expect("the project was just inserted");
        shelf.last_used = Instant::now();
        Ok(shelf)
    }
}
