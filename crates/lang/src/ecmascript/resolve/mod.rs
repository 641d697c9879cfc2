//! Whom references mean in TypeScript and JavaScript.
//!
//! Names are looked up in scopes and imports (`names`, `exports`, `modules`), receivers by the type of their text
//! (`values`, `written`, `members`, `calls`). Everything is looked up when somebody asks and remembered. A type nobody
//! knows is an answer; one that is known to be outside of the view is another, because then no guess is due.

mod built_in;
mod calls;
mod exports;
mod implementations;
mod index;
mod json;
mod members;
mod modules;
mod names;
mod reached;
mod references;
mod signatures;
pub(super) mod split;
mod types;
mod values;
mod written;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::rc::Rc;

use codecompass_model::{Meaning, Reached, Resolver, SymbolAt, VersionId, World};

use crate::resolve::{parts, returned};

use index::Index;
use modules::Modules;
use names::{Space, Target};
use types::Type;

/// How deep types may lead to types.
const MAX_DEPTH: u32 = 40;

/// How many steps one question may take.
const MAX_STEPS: u32 = 20_000;

/// The rules at work on a view.
pub(super) struct Rules<'w> {
    world: Rc<dyn World + 'w>,
    modules: Modules<'w>,
    indexes: RefCell<HashMap<VersionId, Option<Rc<Index>>>>,
    exports: RefCell<HashMap<(VersionId, String, Space), Target>>,
    globals: RefCell<HashMap<(String, Space), Target>>,
    binding_types: Memory<(VersionId, u32)>,
    symbol_types: Memory<SymbolAt>,
    results: Memory<SymbolAt>,
    depth: Cell<u32>,
    steps: Cell<u32>,
    /// How often something was given up: what was found meanwhile is not remembered.
    cuts: Cell<u32>,
}

/// Types that were found, and those that are being looked for.
struct Memory<K> {
    known: RefCell<HashMap<K, Type>>,
    open: RefCell<HashSet<K>>,
}

impl<K> Default for Memory<K> {
    fn default() -> Self {
        Memory { known: RefCell::default(), open: RefCell::default() }
    }
}

/// The constructor, as a language takes it.
pub(super) fn resolver<'w>(world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(Rules {
        modules: Modules::new(Rc::clone(&world)),
        world,
        indexes: RefCell::default(),
        exports: RefCell::default(),
        globals: RefCell::default(),
        binding_types: Memory::default(),
        symbol_types: Memory::default(),
        results: Memory::default(),
        depth: Cell::new(0),
        steps: Cell::new(0),
        cuts: Cell::new(0),
    })
}

impl Rules<'_> {
    fn index(&self, file: VersionId) -> Option<Rc<Index>> {
        if let Some(index) = self.indexes.borrow().get(&file) {
            return index.clone();
        }
        let index = self.world.file(file).map(|file| Rc::new(Index::new(file)));
        self.indexes.borrow_mut().insert(file, index.clone());
        index
    }

    /// Goes one level deeper, or gives up.
    fn guarded<T>(&self, otherwise: T, look: impl FnOnce() -> T) -> T {
        if self.depth.get() >= MAX_DEPTH || self.steps.get() >= MAX_STEPS {
            self.cuts.set(self.cuts.get() + 1);
            return otherwise;
        }
        self.depth.set(self.depth.get() + 1);
        self.steps.set(self.steps.get() + 1);
        let found = look();
        self.depth.set(self.depth.get() - 1);
        found
    }

    /// A type from memory, or found now. What depends on itself is unknown.
    fn remembered<K: Copy + Eq + Hash>(&self, memory: &Memory<K>, key: K, look: impl FnOnce() -> Type) -> Type {
        if let Some(known) = memory.known.borrow().get(&key) {
            return known.clone();
        }
        if !memory.open.borrow_mut().insert(key) {
            self.cuts.set(self.cuts.get() + 1);
            return Type::Unknown;
        }
        let cuts = self.cuts.get();
        let found = self.guarded(Type::Unknown, look);
        memory.open.borrow_mut().remove(&key);
        if cuts == self.cuts.get() || self.depth.get() == 0 {
            memory.known.borrow_mut().insert(key, found.clone());
        }
        found
    }
}

impl Resolver for Rules<'_> {
    fn reference(&self, file: VersionId, at: u32) -> Meaning {
        self.steps.set(0);
        self.referred(file, at)
    }

    fn import(&self, file: VersionId, at: u32) -> Meaning {
        self.steps.set(0);
        self.import_meaning(file, at)
    }

    fn kin(&self) -> &'static [&'static str] {
        &["javascript", "typescript"]
    }

    fn modules_are_values(&self) -> bool {
        true
    }

    fn returned(&self, function: SymbolAt) -> Vec<SymbolAt> {
        returned::returned(&*self.world, function)
    }

    fn reached(&self, file: VersionId, at: u32) -> Option<Reached> {
        self.steps.set(0);
        self.reached_by(file, at)
    }

    fn parts_of(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        parts::merged(&*self.world, declared)
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.steps.set(0);
        self.implementing(declared)
    }
}
