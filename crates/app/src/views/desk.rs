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
use codecompass_query::graph::{Looks, Memory};
use codecompass_store::{SecretRules, Snapshot, Store};

use crate::error::AppError;
use crate::session::Session;

/// The maximum number of open snapshots per project.
const KEPT: usize = 4;

/// The open stores and snapshots of a thread.
#[derive(Default)]
pub(crate) struct Desk {
    shelves: HashMap<PathBuf, Shelf>,
    /// Partial results from evicted snapshots. The next request completes a truncated answer, even if it comes much
    /// later.
    looks: HashMap<PathBuf, Vec<(State, Rc<Looks>)>>,
    /// Set when the current request is cancelled.
    gone: Arc<AtomicBool>,
}

/// Commands to the caches of all threads. Each thread applies them between two tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// A view of this project was published: evict older generations.
    Renew(PathBuf),
    /// This project is closed: evict everything of it.
    Forget(PathBuf),
}

/// One project.
struct Shelf {
    store: Store,
    snapshots: Vec<Kept>,
    used: Instant,
}

/// The identity of a snapshot: view, base and generation.
#[derive(Clone, PartialEq, Eq)]
struct State {
    key: ViewKey,
    base: Option<String>,
    generation: i64,
}

struct Kept {
    state: State,
    snapshot: Rc<Snapshot>,
    memory: Rc<Memory>,
}

impl Desk {
    /// Sets the flag that cancels all reads from now on.
    pub(crate) fn heed(&mut self, gone: &Arc<AtomicBool>) {
        self.gone = Arc::clone(gone);
    }

    /// The project's store.
    pub(crate) fn store(&mut self, session: &Session) -> Result<&Store, AppError> {
        Ok(&self.shelf(session)?.store)
    }

    /// A snapshot of the newest generation of a view, with its resolve cache.
    pub(crate) fn snapshot(
        &mut self,
        session: &Session,
        key: &ViewKey,
    ) -> Result<(Rc<Snapshot>, Rc<Memory>), AppError> {
        let base = session.default_branch();
        let gone = Arc::clone(&self.gone);
        let shelf = self.shelf(session)?;
        let generation = shelf.store.generation()?;
        let state = State { key: key.clone(), base, generation };
        shelf.snapshots.retain(|kept| kept.state.generation == generation);
        if let Some(kept) = shelf.snapshots.iter().find(|kept| kept.state == state) {
            kept.snapshot.heed(&gone);
            return Ok((Rc::clone(&kept.snapshot), Rc::clone(&kept.memory)));
        }
        let mut snapshot = shelf.store.snapshot(key)?;
        if !snapshot.is_looked_through(session.secrets.key())? {
            // A process with other secret rules has written since the store was opened. Reopening the store fixes that.
            drop(snapshot);
            self.shelves.remove(session.dir.root());
            snapshot = self.shelf(session)?.store.snapshot(key)?;
        }
        let shelf = self.shelf(session)?;
        if let Some(base) = &state.base {
            snapshot = snapshot.with_base(&ViewKey::Ref(base.clone()))?;
        }
        if shelf.snapshots.len() == KEPT {
            shelf.snapshots.remove(0);
        }
        snapshot.heed(&gone);
        let snapshot = Rc::new(snapshot);
        let looks = self.looks_of(session, &state);
        let memory = Rc::new(Memory::new(Rc::clone(&snapshot), codecompass_lang::REGISTRY, looks));
        let kept = Kept { state, snapshot: Rc::clone(&snapshot), memory: Rc::clone(&memory) };
        self.shelf(session)?.snapshots.push(kept);
        Ok((snapshot, memory))
    }

    fn looks_of(&mut self, session: &Session, state: &State) -> Rc<Looks> {
        let known = self.looks.entry(session.dir.root().to_owned()).or_default();
        known.retain(|(known, _)| known.generation == state.generation);
        if let Some((_, looks)) = known.iter().find(|(known, _)| known == state) {
            return Rc::clone(looks);
        }
        if known.len() == KEPT {
            known.remove(0);
        }
        let looks = Rc::<Looks>::default();
        known.push((state.clone(), Rc::clone(&looks)));
        looks
    }

    /// Closes everything; partial results stay.
    pub(crate) fn rest(&mut self) {
        self.shelves.clear();
        self.looks.values().flatten().for_each(|(_, looks)| looks.rest());
    }

    /// Applies a command to this cache.
    pub(crate) fn obey(&mut self, order: &Order) {
        match order {
            Order::Renew(root) => self.renew(root),
            Order::Forget(root) => {
                self.shelves.remove(root);
                self.looks.remove(root);
            }
        }
    }

    /// Evicts snapshots of a project that are older than its newest generation.
    fn renew(&mut self, root: &Path) {
        let Some(shelf) = self.shelves.get_mut(root) else { return };
        match shelf.store.generation() {
            Ok(newest) if shelf.store.is_current() => {
                shelf.snapshots.retain(|kept| kept.state.generation == newest);
                let looks = self.looks.entry(root.to_owned()).or_default();
                looks.retain(|(state, _)| state.generation == newest);
            }
            _ => drop(self.shelves.remove(root)),
        }
    }

    /// Closes the projects without requests for `idle`, while other projects are in use.
    pub(crate) fn tidy(&mut self, idle: Duration) {
        let is_used = |shelf: &Shelf| shelf.used.elapsed() < idle;
        for (root, looks) in &self.looks {
            if self.shelves.get(root).is_some_and(|shelf| !is_used(shelf)) {
                looks.iter().for_each(|(_, looks)| looks.rest());
            }
        }
        self.shelves.retain(|_, shelf| is_used(shelf));
    }

    /// Evicts everything.
    pub(crate) fn clear(&mut self) {
        self.shelves.clear();
        self.looks.clear();
    }

    fn shelf(&mut self, session: &Session) -> Result<&mut Shelf, AppError> {
        let root = session.dir.root();
        if !self.shelves.get(root).is_some_and(|shelf| shelf.store.is_current()) {
            if self.shelves.remove(root).is_some() {
                // A new store restarts its generation counter.
                self.looks.remove(root);
            }
            let store = session.store()?;
            store.examine_beside();
            self.shelves.insert(root.to_owned(), Shelf { store, snapshots: Vec::new(), used: Instant::now() });
        }
        let shelf = self.shelves.get_mut(root).expect("the project was just inserted");
        shelf.used = Instant::now();
        Ok(shelf)
    }
}
