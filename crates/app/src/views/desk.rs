//! What a thread keeps open between two questions: stores and snapshots, as long as they show what is published.
//!
//! Opening a snapshot costs more than many an answer. One is kept for as long as its generation is the newest, and let
//! go when a newer one is published ([`Desk::obey`]) or nobody asks for a while ([`Desk::rest`], [`Desk::tidy`]): an open
//! snapshot keeps garbage from being collected, and the database's log from beginning anew.

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

/// So many snapshots are kept open per project.
const KEPT: usize = 4;

/// See the module.
#[derive(Default)]
pub(crate) struct Desk {
    shelves: HashMap<PathBuf, Shelf>,
    /// What was found out in snapshots that were let go. An answer that was cut off is completed by the next question,
    /// however long that takes to come.
    looks: HashMap<PathBuf, Vec<(State, Rc<Looks>)>>,
    /// Set when nobody wants the answer to the question at hand any more.
    gone: Arc<AtomicBool>,
}

/// What all threads are told about their desks. Each heeds it between two tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Something was published in this project: what shows an older generation is let go.
    Renew(PathBuf),
    /// This project is closed: everything of it is let go.
    Forget(PathBuf),
}

/// One project.
struct Shelf {
    store: Store,
    snapshots: Vec<Kept>,
    used: Instant,
}

/// What a snapshot shows.
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
    /// Whatever is read from now on is read for a question that this ends.
    pub(crate) fn heed(&mut self, gone: &Arc<AtomicBool>) {
        self.gone = Arc::clone(gone);
    }

    /// The project's store.
    pub(crate) fn store(&mut self, session: &Session) -> Result<&Store, AppError> {
        Ok(&self.shelf(session)?.store)
    }

    /// A snapshot of the newest generation of a view, with what was resolved in it so far.
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
            // Somebody with other rules about secrets has written since the store was opened. Opening it mends that.
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

    /// Closes everything; what was begun and not finished stays.
    pub(crate) fn rest(&mut self) {
        self.shelves.clear();
        self.looks.values().flatten().for_each(|(_, looks)| looks.rest());
    }

    /// Does what all desks are told.
    pub(crate) fn obey(&mut self, order: &Order) {
        match order {
            Order::Renew(root) => self.renew(root),
            Order::Forget(root) => {
                self.shelves.remove(root);
                self.looks.remove(root);
            }
        }
    }

    /// Lets go of what shows an older generation of a project than the newest.
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

    /// Closes the projects that nobody asked for so long, while others were asked for.
    pub(crate) fn tidy(&mut self, idle: Duration) {
        let is_used = |shelf: &Shelf| shelf.used.elapsed() < idle;
        for (root, looks) in &self.looks {
            if self.shelves.get(root).is_some_and(|shelf| !is_used(shelf)) {
                looks.iter().for_each(|(_, looks)| looks.rest());
            }
        }
        self.shelves.retain(|_, shelf| is_used(shelf));
    }

    /// Lets everything go.
    pub(crate) fn clear(&mut self) {
        self.shelves.clear();
        self.looks.clear();
    }

    fn shelf(&mut self, session: &Session) -> Result<&mut Shelf, AppError> {
        let root = session.dir.root();
        if !self.shelves.get(root).is_some_and(|shelf| shelf.store.is_current()) {
            if self.shelves.remove(root).is_some() {
                // Another store counts its generations anew.
                self.looks.remove(root);
            }
            let store = session.store()?;
            store.examine_beside();
            self.shelves.insert(root.to_owned(), Shelf { store, snapshots: Vec::new(), used: Instant::now() });
        }
        let shelf = self.shelves.get_mut(root).expect("it was just put there");
        shelf.used = Instant::now();
        Ok(shelf)
    }
}
