//! Resolves references in Rust.
//!
//! `crates` and `modules` determine which files belong together, `scope` finds names and paths, `lower` lowers type
//! syntax to types, `members` and `traits` look up the members of a type, `expressions` and `locals` infer the types of
//! receivers, and `library` models the standard library. Everything is computed on demand and cached.

mod blocks;
mod cfg;
mod closures;
mod crates;
mod expressions;
mod library;
mod locals;
mod lower;
mod macros;
mod manifest;
mod meaning;
mod members;
mod modules;
mod overloads;
mod parts;
mod patterns;
mod scope;
mod seen;
mod traits;
mod types;
mod written;

use std::cell::RefCell;
use std::rc::Rc;

use codecompass_model::{Binding, ExprId, Import, Meaning, Resolver, Symbol, SymbolAt, VersionId, World};

use crate::rules::index::Index;
use crate::rules::memo::{Course, Deeper, Memo};
use crates::Crates;
use lower::Implementation;
use members::Candidate;
use modules::Scope;
use scope::{Def, Space};
use seen::Seen;
use types::{Parameter, Ty};

/// The maximum depth of nested queries.
const MAX_DEPTH: u32 = 64;

/// The maximum depth of nested name lookups.
const MAX_SEARCHES: u32 = 61;

/// The maximum number of steps per top-level query.
const MAX_STEPS: u32 = 20_000;

/// A receiver: its file and text, the binding of its first name, its enclosing symbol, and its position if needed.
type Receiver = (VersionId, ExprId, Option<u32>, Option<u32>, Option<(u32, u32)>);

/// The resolver of one view, with its caches.
pub(super) struct Rules<'w> {
    world: Rc<dyn World + 'w>,
    crates: Crates,
    course: Course,
    /// Name lookups, which have their own limit.
    searches: Course,
    /// The traits that are being checked.
    asking: RefCell<Vec<SymbolAt>>,
    files: Memo<VersionId, Option<Rc<Index>>>,
    parents: Memo<VersionId, Option<Scope>>,
    names: Memo<(Scope, String, Space), Option<Def>>,
    outside_globs: Memo<Scope, Option<()>>,
    implementations: Memo<SymbolAt, Rc<Implementation>>,
    implementing_types: Memo<SymbolAt, Ty>,
    members: Memo<String, Rc<[Candidate]>>,
    impls: Memo<String, Rc<[SymbolAt]>>,
    supertraits: Memo<SymbolAt, Rc<[SymbolAt]>>,
    blankets: Memo<SymbolAt, Rc<[Parameter]>>,
    seen_traits: Memo<Scope, Rc<Seen>>,
    locals: Memo<(VersionId, u32), Ty>,
    receivers: Memo<Receiver, Ty>,
}

/// Creates the resolver.
pub(super) fn resolver<'w>(world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(Rules {
        crates: Crates::of(&*world),
        world,
        course: Course::new(MAX_DEPTH, MAX_STEPS),
        searches: Course::new(MAX_SEARCHES, u32::MAX),
        asking: RefCell::default(),
        files: Memo::default(),
        parents: Memo::default(),
        names: Memo::default(),
        outside_globs: Memo::default(),
        implementations: Memo::default(),
        implementing_types: Memo::default(),
        members: Memo::default(),
        impls: Memo::default(),
        supertraits: Memo::default(),
        blankets: Memo::default(),
        seen_traits: Memo::default(),
        locals: Memo::default(),
        receivers: Memo::default(),
    })
}

/// Returns the local name of an import.
fn given_name(import: &Import) -> Option<&str> {
    import.alias.as_deref().or(import.name.as_deref())
}

/// Returns the declared parameters of a function, and of closures in it, in order.
fn declared_params(index: &Index, function: u32) -> impl Iterator<Item = &Binding> {
    let all = index.params(function).iter().filter_map(|&at| index.binding(at));
    all.filter(|binding| binding.annotation.is_some())
}

impl Rules<'_> {
    /// Returns a file with its facts sorted for lookups.
    fn indexed(&self, file: VersionId) -> Option<Rc<Index>> {
        self.files.once(&file, || self.world.file(file).map(|file| Rc::new(Index::new(file, given_name))))
    }

    /// Reads a property of a symbol.
    fn symbol<T>(&self, at: SymbolAt, ask: impl FnOnce(&Symbol) -> T) -> Option<T> {
        let index = self.indexed(at.file)?;
        index.symbol(at.place).map(ask)
    }

    /// Begins a top-level query.
    fn begin(&self) {
        self.course.begin();
        self.searches.begin();
    }

    /// Enters a nested query; `None` if a limit is exceeded.
    fn deeper(&self) -> Option<Deeper<'_>> {
        self.course.deeper()
    }
}

impl Resolver for Rules<'_> {
    fn reference(&self, file: VersionId, at: u32) -> Meaning {
        self.begin();
        self.meaning(file, at).unwrap_or(Meaning::Unknown("no such reference"))
    }

    fn import(&self, file: VersionId, at: u32) -> Meaning {
        self.begin();
        self.import_meaning(file, at).unwrap_or(Meaning::Unknown("not found"))
    }

    fn parts_of(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.blocks_of(declared)
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.begin();
        self.overriding(declared)
    }
}
