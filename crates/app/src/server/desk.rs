//! What a thread keeps open between two questions: stores and snapshots, as long as they show what is published.
//!
//! Opening a snapshot costs more than many an answer. One is kept for as long as its generation is the newest, and let
//! go by [`Desk::clear`] when nobody asks for a while, because an open snapshot keeps garbage from being collected.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use codecompass_model::ViewKey;
use codecompass_query::graph::Memory;
use codecompass_store::{Snapshot, Store};

use crate::error::AppError;
use crate::session::Session;

/// So many snapshots are kept open per project.
const KEPT: usize = 4;

/// See the module.
#[derive(Default)]
pub(crate) struct Desk {
    shelves: HashMap<PathBuf, Shelf>,
}

/// One project.
struct Shelf {
    store: Store,
    snapshots: Vec<Kept>,
}

struct Kept {
    key: ViewKey,
    base: Option<String>,
    generation: i64,
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
        shelf.snapshots.retain(|kept| kept.generation == generation);
        if let Some(kept) = shelf.snapshots.iter().find(|kept| kept.key == *key && kept.base == base) {
            return Ok((Rc::clone(&kept.snapshot), Rc::clone(&kept.memory)));
        }
        let mut snapshot = shelf.store.snapshot(key)?;
        if let Some(base) = &base {
            snapshot = snapshot.with_base(&ViewKey::Ref(base.clone()))?;
        }
        let snapshot = Rc::new(snapshot);
        if shelf.snapshots.len() == KEPT {
            shelf.snapshots.remove(0);
        }
        let memory = Rc::<Memory>::default();
        let kept = Kept { key: key.clone(), base, generation, snapshot: snapshot.clone(), memory: memory.clone() };
        shelf.snapshots.push(kept);
        Ok((snapshot, memory))
    }

    /// Lets everything go.
    pub(crate) fn clear(&mut self) {
        self.shelves.clear();
    }

    fn shelf(&mut self, session: &Session) -> Result<&mut Shelf, AppError> {
        let root = session.dir.root();
        if !self.shelves.get(root).is_some_and(|shelf| shelf.store.is_current()) {
            self.shelves.remove(root);
            let store = session.store()?;
            self.shelves.insert(root.to_owned(), Shelf { store, snapshots: Vec::new() });
        }
        Ok(self.shelves.get_mut(root).expect("it was just put there"))
    }
}
