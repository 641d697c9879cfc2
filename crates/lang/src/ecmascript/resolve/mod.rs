//! Resolves references in TypeScript and JavaScript.
//!
//! Names are looked up in scopes and imports (`names`, `exports`, `modules`), receivers by the type of their text
//! (`values`, `type_text`, `members`, `calls`). Everything is computed on demand and cached. An unknown type is a
//! result; an external type is another, because then no guess is needed.

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

use std::rc::Rc;

use codecompass_model::{Meaning, Reached, Resolver, SymbolAt, VersionId, World};

use crate::resolve::{parts, returned};
use crate::rules::memo::{Course, Memo};

use index::Index;
use modules::Modules;
use names::{Space, Target};
use types::Type;

/// The maximum depth of nested type queries.
const MAX_DEPTH: u32 = 40;

/// The maximum number of steps per top-level query.
const MAX_STEPS: u32 = 20_000;

/// The resolver of a view.
pub(super) struct Rules<'w> {
    world: Rc<dyn World + 'w>,
    modules: Modules<'w>,
    course: Course,
    indexes: Memo<VersionId, Option<Rc<Index>>>,
    exports: Memo<(VersionId, String, Space), Target>,
    globals: Memo<(String, Space), Target>,
    binding_types: Memo<(VersionId, u32), Type>,
    symbol_types: Memo<SymbolAt, Type>,
    results: Memo<SymbolAt, Type>,
}

/// Creates the resolver.
pub(super) fn resolver<'w>(world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(Rules {
        modules: Modules::new(Rc::clone(&world)),
        world,
        course: Course::new(MAX_DEPTH, MAX_STEPS),
        indexes: Memo::default(),
        exports: Memo::default(),
        globals: Memo::default(),
        binding_types: Memo::default(),
        symbol_types: Memo::default(),
        results: Memo::default(),
    })
}

impl Rules<'_> {
    fn index(&self, file: VersionId) -> Option<Rc<Index>> {
        self.indexes.once(&file, || self.world.file(file).map(|file| Rc::new(Index::new(file))))
    }
}

impl Resolver for Rules<'_> {
    fn reference(&self, file: VersionId, at: u32) -> Meaning {
        self.course.begin();
        self.referred(file, at)
    }

    fn import(&self, file: VersionId, at: u32) -> Meaning {
        self.course.begin();
        self.import_meaning(file, at)
    }

    fn kin(&self) -> &'static [&'static str] {
        &["javascript", "svelte", "typescript", "vue"]
    }

    fn modules_are_values(&self) -> bool {
        true
    }

    fn returned(&self, function: SymbolAt) -> Vec<SymbolAt> {
        returned::returned(&*self.world, function)
    }

    fn reached(&self, file: VersionId, at: u32) -> Option<Reached> {
        self.course.begin();
        self.reached_by(file, at)
    }

    fn parts_of(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        parts::merged(&*self.world, declared)
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.course.begin();
        self.implementing(declared)
    }
}
