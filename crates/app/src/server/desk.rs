//! What a thread keeps open between two questions: stores and snapshots, as long as they show what is published.
//!
//! Opening a snapshot costs more than many an answer. One is kept for as long as its generation is the newest, and let
//! go by [`Desk::rest`] when nobody asks for a while, because an open snapshot keeps garbage from being collected.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use codecompass_model::ViewKey;
use codecompass_query::graph::{Looks, Memory};
use codecompass_store::{Snapshot, Store};

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
}

/// One project.
struct Shelf {
    store: Store,
    snapshots: Vec<Kept>,
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
        let shelf = self.shelf(session)?;
        let generation = shelf.store.generation()?;
        let state = State { key: key.clone(), base, generation };
        shelf.snapshots.retain(|kept| kept.state.generation == generation);
        if let Some(kept) = shelf.snapshots.iter().find(|kept| kept.state == state) {
            return Ok((Rc::clone(&kept.snapshot), Rc::clone(&kept.memory)));
        }
        let mut snapshot = shelf.store.snapshot(key)?;
        if let Some(base) = &state.base {
            snapshot = snapshot.with_base(&ViewKey::Ref(base.clone()))?;
        }
        if shelf.snapshots.len() == KEPT {
            shelf.snapshots.remove(0);
        }
        let snapshot = Rc::new(snapshot);
        let looks = self.looks_of(session, &state);
        let memory = Rc::new(Memory::new(Rc::clone(&snapshot), codecompass_lang::resolver, looks));
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
            self.shelves.insert(root.to_owned(), Shelf { store, snapshots: Vec::new() });
        }
        Ok(self.shelves.get_mut(root).expect("it was just put there"))
    }
}
