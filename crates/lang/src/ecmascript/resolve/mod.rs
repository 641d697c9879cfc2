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
mod references;
mod returned_calls;
mod signatures;
pub(super) mod split;
mod type_text;
mod types;
mod values;

use std::rc::Rc;

use codecompass_model::{Resolution, Resolver, ReturnedCall, SymbolAt, VersionId, World};

use crate::resolve::{merged, returned};
use crate::rules::memo::{Memo, QueryStack};

use index::Index;
use modules::Modules;
use names::{NameTarget, Space};
use types::Type;

/// The maximum depth of nested type queries.
const MAX_DEPTH: u32 = 40;

/// The maximum number of steps per top-level query.
const MAX_STEPS: u32 = 20_000;

/// The resolver of a view.
pub(super) struct EcmaResolver<'w> {
    world: Rc<dyn World + 'w>,
    modules: Modules<'w>,
    query_stack: QueryStack,
    indexes: Memo<VersionId, Option<Rc<Index>>>,
    exports: Memo<(VersionId, String, Space), NameTarget>,
    globals: Memo<(String, Space), NameTarget>,
    binding_types: Memo<(VersionId, u32), Type>,
    symbol_types: Memo<SymbolAt, Type>,
    results: Memo<SymbolAt, Type>,
}

/// Creates the resolver.
pub(super) fn resolver<'w>(world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(EcmaResolver {
        modules: Modules::new(Rc::clone(&world)),
        world,
        query_stack: QueryStack::new(MAX_DEPTH, MAX_STEPS),
        indexes: Memo::default(),
        exports: Memo::default(),
        globals: Memo::default(),
        binding_types: Memo::default(),
        symbol_types: Memo::default(),
        results: Memo::default(),
    })
}

impl EcmaResolver<'_> {
    fn index(&self, file: VersionId) -> Option<Rc<Index>> {
        self.indexes.get_or_compute(&file, || self.world.file(file).map(|file| Rc::new(Index::new(file))))
    }
}

impl Resolver for EcmaResolver<'_> {
    fn resolve_reference(&self, file: VersionId, at: u32) -> Resolution {
        self.query_stack.begin_query();
        self.reference_resolution(file, at)
    }

    fn resolve_import(&self, file: VersionId, at: u32) -> Resolution {
        self.query_stack.begin_query();
        self.import_resolution(file, at)
    }

    fn interop_languages(&self) -> &'static [&'static str] {
        &["javascript", "svelte", "typescript", "vue"]
    }

    fn modules_are_values(&self) -> bool {
        true
    }

    fn returned_functions(&self, function: SymbolAt) -> Vec<SymbolAt> {
        returned::returned_functions(&*self.world, function)
    }

    fn returned_call(&self, file: VersionId, at: u32) -> Option<ReturnedCall> {
        self.query_stack.begin_query();
        self.find_returned_call(file, at)
    }

    fn out_of_line_members(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        merged::merged(&*self.world, declared)
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.query_stack.begin_query();
        self.find_implementations(declared)
    }
}
