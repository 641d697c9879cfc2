//! Resolves references in Rust.
//!
//! `crates` and `modules` determine which files belong together, `scope` finds names and paths, `lower` lowers type
//! syntax to types, `members` and `traits` look up the members of a type, `expressions` and `locals` infer the types of
//! receivers, `expansion` expands macros in them, and `library` models the standard library. Everything is computed on
//! demand and cached.

mod blocks;
mod cfg;
mod closures;
mod crates;
mod expansion;
mod expressions;
mod impl_blocks;
mod library;
mod locals;
mod lower;
mod lowered;
mod macro_matching;
mod macros;
mod manifest;
mod members;
mod modules;
mod overloads;
mod patterns;
mod references;
mod scope;
mod traits;
mod traits_in_scope;
mod type_ref;
mod types;

use std::cell::RefCell;
use std::rc::Rc;

use codecompass_model::{
    Binding, CallSyntax, ExprId, Import, Resolution, Resolver, Symbol, SymbolAt, VersionId, World,
};

use crate::rules::index::Index;
use crate::rules::memo::{DepthGuard, Memo, QueryStack};
use crates::Crates;
use lower::ImplHeader;
use members::Candidate;
use modules::Scope;
use scope::{Def, Space};
use traits_in_scope::TraitsInScope;
use types::{Parameter, Ty};

/// The maximum depth of nested queries.
const MAX_DEPTH: u32 = 64;

/// The maximum depth of nested name lookups.
const MAX_LOOKUP_DEPTH: u32 = 61;

/// The maximum number of steps per top-level query.
const MAX_STEPS: u32 = 20_000;

/// A receiver: its file and text, the binding of its first name, its enclosing symbol, and its position if needed.
type ReceiverKey = (VersionId, ExprId, Option<u32>, Option<u32>, Option<(u32, u32)>);

/// The resolver of one view, with its caches.
pub(super) struct RustResolver<'w> {
    world: Rc<dyn World + 'w>,
    crates: Crates,
    query_stack: QueryStack,
    /// Name lookups, which have their own limit.
    lookup_stack: QueryStack,
    /// The traits that are being checked.
    traits_in_progress: RefCell<Vec<SymbolAt>>,
    files: Memo<VersionId, Option<Rc<Index>>>,
    parents: Memo<VersionId, Option<Scope>>,
    names: Memo<(Scope, String, Space), Option<Def>>,
    external_globs: Memo<Scope, Option<()>>,
    implementations: Memo<SymbolAt, Rc<ImplHeader>>,
    implementing_types: Memo<SymbolAt, Ty>,
    members: Memo<String, Rc<[Candidate]>>,
    impls: Memo<String, Rc<[SymbolAt]>>,
    supertraits: Memo<SymbolAt, Rc<[SymbolAt]>>,
    blankets: Memo<SymbolAt, Rc<[Parameter]>>,
    traits_in_scope: Memo<Scope, Rc<TraitsInScope>>,
    locals: Memo<(VersionId, u32), Ty>,
    receivers: Memo<ReceiverKey, Ty>,
}

/// Creates the resolver.
pub(super) fn resolver<'w>(world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(RustResolver {
        crates: Crates::read(&*world),
        world,
        query_stack: QueryStack::new(MAX_DEPTH, MAX_STEPS),
        lookup_stack: QueryStack::new(MAX_LOOKUP_DEPTH, u32::MAX),
        traits_in_progress: RefCell::default(),
        files: Memo::default(),
        parents: Memo::default(),
        names: Memo::default(),
        external_globs: Memo::default(),
        implementations: Memo::default(),
        implementing_types: Memo::default(),
        members: Memo::default(),
        impls: Memo::default(),
        supertraits: Memo::default(),
        blankets: Memo::default(),
        traits_in_scope: Memo::default(),
        locals: Memo::default(),
        receivers: Memo::default(),
    })
}

/// Returns the local name of an import.
fn local_name(import: &Import) -> Option<&str> {
    import.alias.as_deref().or(import.name.as_deref())
}

/// Returns the declared parameters of a function, and of closures in it, in order.
fn declared_params(index: &Index, function: u32) -> impl Iterator<Item = &Binding> {
    let all = index.params(function).iter().filter_map(|&at| index.binding(at));
    all.filter(|binding| binding.annotation.is_some())
}

impl RustResolver<'_> {
    /// Returns a file with its facts sorted for lookups.
    fn indexed(&self, file: VersionId) -> Option<Rc<Index>> {
        self.files.get_or_compute(&file, || self.world.file(file).map(|file| Rc::new(Index::new(file, local_name))))
    }

    /// Reads a property of a symbol.
    fn symbol<T>(&self, at: SymbolAt, ask: impl FnOnce(&Symbol) -> T) -> Option<T> {
        let index = self.indexed(at.file)?;
        index.symbol(at.ordinal).map(ask)
    }

    /// Begins a top-level query.
    fn begin_query(&self) {
        self.query_stack.begin_query();
        self.lookup_stack.begin_query();
    }

    /// Enters a nested query; `None` if a limit is exceeded.
    fn descend(&self) -> Option<DepthGuard<'_>> {
        self.query_stack.descend()
    }
}

impl Resolver for RustResolver<'_> {
    fn resolve_reference(&self, file: VersionId, at: u32) -> Resolution {
        self.begin_query();
        self.reference_resolution(file, at).unwrap_or(Resolution::Unknown("no such reference"))
    }

    fn resolve_import(&self, file: VersionId, at: u32) -> Resolution {
        self.begin_query();
        self.import_resolution(file, at).unwrap_or(Resolution::Unknown("not found"))
    }

    fn call_syntax(&self) -> CallSyntax {
        CallSyntax::STRICT
    }

    fn out_of_line_members(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.blocks_of(declared)
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.begin_query();
        self.find_overrides(declared)
    }
}
