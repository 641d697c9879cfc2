//! The reference graph: references and calls, resolved on demand.
//!
//! A [`Graph`] applies the resolvers of the languages to one snapshot. Resolutions are cached, so another query about
//! the same name is cheap. The graph stops when its [`Budget`] is spent: then [`Graph::finish`] reports that the answer
//! is partial, and the next call continues from the cached state.

mod budget;
mod calls;
mod classify;
mod dispatch;
mod function_values;
mod homonyms;
mod implementers;
mod possible;
mod public_names;
mod references;
mod related;
mod type_use;
mod unused;
mod world;
mod written_form;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{
    Confidence, Languages, RefShape, Reference, Resolution, Resolver, ReturnedCall, SourceFile, Symbol, SymbolAt,
    SymbolKind, VersionId, World,
};
use codecompass_store::{Result, Snapshot};

pub use budget::Budget;
pub use calls::{CallChain, CallEdge, CallGraph, Direction, UnresolvedCall};
pub use classify::Counts;
pub use dispatch::{DispatchCall, DispatchLink};
pub use possible::FrontierSymbol;
pub use public_names::PublicName;
use references::is_call;
pub use references::{NameReferences as FoundReferences, ReferenceCache, ScanProgress, Site};
pub use related::{Related, Relation, Scope, Usage};
pub use type_use::TypeUse;
pub use unused::{UnusedReason, UnusedSymbol};
use world::SnapshotWorld;

/// The kind of edge that a reference creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The name is imported.
    Imports,
    /// The symbol is called.
    Calls,
    /// A trait or interface is implemented.
    Implements,
    /// A class or trait is extended.
    Extends,
    /// Any other reference.
    References,
}

impl EdgeKind {
    /// All kinds.
    pub const ALL: [EdgeKind; 5] =
        [EdgeKind::Imports, EdgeKind::Calls, EdgeKind::Implements, EdgeKind::Extends, EdgeKind::References];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            EdgeKind::Imports => "imports",
            EdgeKind::Calls => "calls",
            EdgeKind::Implements => "implements",
            EdgeKind::Extends => "extends",
            EdgeKind::References => "references",
        }
    }

    /// Returns the edge kind for a reference of this shape to a symbol of this kind. A struct literal references a
    /// struct; `new X()` and `X()` call a class.
    pub fn for_reference(shape: RefShape, target: Option<SymbolKind>) -> Self {
        match shape {
            RefShape::Import => EdgeKind::Imports,
            RefShape::Extends => EdgeKind::Extends,
            RefShape::Implements => EdgeKind::Implements,
            RefShape::Call
            | RefShape::PathCall
            | RefShape::SelfCall
            | RefShape::MemberCall
            | RefShape::MacroCall
            | RefShape::Jsx => EdgeKind::Calls,
            RefShape::Construct | RefShape::Decorator if target.is_none_or(is_called) => EdgeKind::Calls,
            _ => EdgeKind::References,
        }
    }
}

/// Whether a symbol of this kind can be called.
fn is_called(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Constructor, Fn, Macro, Method};
    matches!(kind, Class | Constructor | Fn | Macro | Method)
}

/// The maximum number of cached resolutions.
const MAX_CACHED_RESOLUTIONS: usize = 500_000;

/// The maximum size of the loaded files, in bytes. The facts of half a million lines fit; files beyond the limit are
/// loaded again from the cache of decoded versions, which outlives the snapshot.
const MAX_LOADED_BYTES: usize = 64 << 20;

/// Everything that was read and resolved for one snapshot. It outlives the [`Graph`]s that fill it.
pub struct ResolveCache {
    world: Rc<SnapshotWorld>,
    languages: &'static dyn Languages,
    resolvers: RefCell<HashMap<String, Option<Rc<dyn Resolver>>>>,
    resolutions: RefCell<HashMap<(VersionId, u32), Resolution>>,
    references: Rc<ReferenceCache>,
}

impl ResolveCache {
    /// Creates an empty cache. `looks` may contain name scans from an earlier snapshot of the same state.
    pub fn new(snapshot: Rc<Snapshot>, languages: &'static dyn Languages, looks: Rc<ReferenceCache>) -> Self {
        let world = Rc::new(SnapshotWorld::new(snapshot));
        Self { world, languages, resolvers: RefCell::default(), resolutions: RefCell::default(), references: looks }
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        self.world.snapshot()
    }

    /// Evicts everything except the name scans.
    fn evict(&self) {
        self.world.evict();
        self.resolvers.borrow_mut().clear();
        self.resolutions.borrow_mut().clear();
    }
}

/// The reference graph of a snapshot, limited by a time budget.
pub struct Graph<'m> {
    world: &'m SnapshotWorld,
    cache: &'m ResolveCache,
    budget: Budget<'m>,
}

impl<'m> Graph<'m> {
    /// Creates the graph of a snapshot.
    pub fn new(memory: &'m ResolveCache, budget: Budget<'m>) -> Self {
        Self { world: &memory.world, cache: memory, budget }
    }

    /// Ends the work: returns whether all of it was done, or the first store error that occurred. Every answer must
    /// call this last, after all other calls.
    pub fn finish(&self) -> Result<bool> {
        self.failure()?;
        Ok(self.budget.was_sufficient())
    }

    /// Whether the budget was spent before all work was done so far.
    pub fn is_cut(&self) -> bool {
        !self.budget.was_sufficient()
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &'m Snapshot {
        self.world.snapshot()
    }

    /// A file.
    pub fn file(&self, id: VersionId) -> Option<Rc<SourceFile>> {
        self.world.file(id)
    }

    /// Facts about languages.
    pub fn languages(&self) -> &'static dyn Languages {
        self.cache.languages
    }

    /// Whether a position in a file is in a test, decided by its enclosing symbol, or by the file if there is none.
    pub fn is_in_test(&self, file: &SourceFile, symbol: Option<u32>) -> bool {
        let around = symbol.and_then(|symbol| file.facts.symbols.get(symbol as usize));
        self.languages().is_test(&file.path, around.is_some_and(|symbol| symbol.in_test))
    }

    /// Whether a language has rules.
    pub fn has_rules(&self, language: &str) -> bool {
        self.resolver(language).is_some()
    }

    /// Whether a reference in one language can refer to a symbol in another.
    pub fn can_interop(&self, place: &str, symbol: &str) -> bool {
        place == symbol || self.resolver(symbol).is_some_and(|resolver| resolver.interop_languages().contains(&place))
    }

    /// The symbols with a name, without imports.
    fn named_symbols(&self, name: &str) -> Rc<[SymbolAt]> {
        self.world.symbols_named(name)
    }

    /// Whether references in the language of a symbol can refer to symbols of another language.
    fn symbol_can_interop(&self, at: SymbolAt, language: &str) -> bool {
        self.file(at.file).is_some_and(|file| self.can_interop(&file.language, language))
    }

    /// Whether a module of a language can itself be a value, to which an import can give any name.
    fn modules_are_values(&self, language: &str) -> bool {
        self.resolver(language).is_some_and(|resolver| resolver.modules_are_values())
    }

    /// Resolves a reference.
    pub fn resolve(&self, file: &SourceFile, at: u32) -> Resolution {
        if let Some(known) = self.cache.resolutions.borrow().get(&(file.id, at)) {
            return known.clone();
        }
        let meaning = match self.resolver(&file.language) {
            Some(resolver) => resolver.resolve_reference(file.id, at),
            None => Resolution::Unknown("the language has no rules"),
        };
        let mut known = self.cache.resolutions.borrow_mut();
        if known.len() >= MAX_CACHED_RESOLUTIONS {
            known.clear();
        }
        known.insert((file.id, at), meaning.clone());
        meaning
    }

    /// Resolves an import.
    pub fn resolve_import(&self, file: &SourceFile, at: u32) -> Resolution {
        self.resolver(&file.language)
            .map_or(Resolution::Unknown("the language has no rules"), |resolver| resolver.resolve_import(file.id, at))
    }

    /// Returns the nested functions that a call of a function returns.
    pub(super) fn returned_functions(&self, function: SymbolAt) -> Vec<SymbolAt> {
        let file = self.file(function.file);
        let resolver = file.and_then(|file| self.resolver(&file.language));
        resolver.map_or(Vec::new(), |resolver| resolver.returned_functions(function))
    }

    /// Returns the targets of a call whose callee was returned by another function.
    pub(super) fn returned_call(&self, file: &SourceFile, at: u32) -> Option<ReturnedCall> {
        self.resolver(&file.language)?.returned_call(file.id, at)
    }

    /// Returns the implementations and overrides of a declared method; nothing if the budget is spent.
    pub fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        if self.budget.is_spent() {
            return Vec::new();
        }
        let Some(file) = self.file(declared.file) else { return Vec::new() };
        self.resolver(&file.language).map_or_else(Vec::new, |resolver| resolver.implementations(declared))
    }

    /// Returns the out-of-line members of a type (`impl` blocks, methods in other files, merged declarations): those in
    /// its own file first, then by path.
    pub fn out_of_line_members(&self, declared: SymbolAt) -> Result<Vec<SymbolAt>> {
        let file = self.file(declared.file);
        let resolver = file.and_then(|file| self.resolver(&file.language));
        let mut parts = resolver.map_or_else(Vec::new, |resolver| resolver.out_of_line_members(declared));
        self.failure()?;
        parts.sort_by_key(|part| part.file != declared.file);
        Ok(parts)
    }

    /// Returns the type to which an out-of-line member belongs.
    pub fn owner_of_member(&self, part: SymbolAt) -> Option<SymbolAt> {
        let file = self.file(part.file)?;
        self.resolver(&file.language)?.owner_of_member(part)
    }

    /// Whether a file can use another without an import because both are in one folder.
    fn is_in_same_unit(&self, file: &SourceFile, other: &SourceFile) -> bool {
        let folder = |path: &str| path.rsplit_once('/').map_or(0, |(folder, _)| folder.len());
        let (own, its) = (folder(&file.path), folder(&other.path));
        file.path[..own] == other.path[..its]
            && self.resolver(&file.language).is_some_and(|resolver| resolver.folders_are_units())
    }

    /// Evicts the files and resolutions if the loaded files exceed `MAX_LOADED_BYTES`.
    pub fn evict(&self) {
        if self.world.loaded_bytes() > MAX_LOADED_BYTES {
            self.cache.evict();
        }
    }

    /// Returns the first store error that occurred. Results that depend on unreadable data are evicted.
    fn failure(&self) -> Result<()> {
        match self.world.failure() {
            None => Ok(()),
            Some(error) => {
                self.cache.evict();
                Err(error)
            }
        }
    }

    /// Returns all edges of a file: imports first, then references in source order.
    pub fn edges_in(&self, file: &SourceFile) -> Result<Vec<Edge>> {
        let mut edges = Vec::new();
        for at in 0..file.facts.imports.len() as u32 {
            let import = &file.facts.imports[at as usize];
            let from = import.symbol;
            for target in self.resolve_import(file, at).targets() {
                let confidence = Confidence::Static;
                edges.push(Edge {
                    kind: EdgeKind::Imports,
                    from,
                    line: import.line,
                    column: 0,
                    target: *target,
                    confidence,
                });
            }
        }
        for at in 0..file.facts.references.len() as u32 {
            let reference = file.facts.references[at as usize];
            if reference.shape == RefShape::Import {
                continue;
            }
            if let Resolution::Symbols { targets, confidence, .. } = self.resolve(file, at) {
                for target in targets {
                    let kind = self.kind_of(&reference, target);
                    let (line, column) = (reference.line, reference.column);
                    edges.push(Edge { kind, from: reference.symbol, line, column, target, confidence });
                }
            }
        }
        self.failure()?;
        Ok(edges)
    }

    /// Returns the unresolved references of a file in source order.
    pub fn unresolved_in(&self, file: &SourceFile) -> Result<Vec<UnresolvedReference>> {
        let mut undecided = Vec::new();
        for (at, reference) in file.facts.references.iter().enumerate() {
            if !matches!(self.resolve(file, at as u32), Resolution::Unknown(_)) {
                continue;
            }
            let name = file.facts.names.get(reference.name as usize).cloned().unwrap_or_default();
            let bearers = self.world.symbols_named(&name);
            let is_kin = |at: &&SymbolAt| {
                self.file(at.file).is_some_and(|bearer| self.can_interop(&file.language, &bearer.language))
            };
            let candidates = bearers.iter().filter(is_kin).count();
            let (line, column) = (reference.line, reference.column);
            undecided.push(UnresolvedReference { name, from: reference.symbol, line, column, candidates });
        }
        self.failure()?;
        Ok(undecided)
    }

    fn kind_of(&self, reference: &Reference, target: SymbolAt) -> EdgeKind {
        let Some(file) = self.file(target.file) else { return EdgeKind::for_reference(reference.shape, None) };
        let kind = file.facts.symbols.get(target.ordinal as usize).map(|symbol| symbol.kind);
        let is_field = kind == Some(SymbolKind::Field) && is_call(reference.shape);
        if is_field && self.resolver(&file.language).is_some_and(|resolver| !resolver.calls_fields()) {
            return EdgeKind::References;
        }
        EdgeKind::for_reference(reference.shape, kind)
    }

    fn resolver(&self, language: &str) -> Option<Rc<dyn Resolver>> {
        if let Some(known) = self.cache.resolvers.borrow().get(language) {
            return known.clone();
        }
        let world: Rc<dyn World> = self.cache.world.clone();
        let made = self.cache.languages.resolver(language, world).map(Rc::from);
        self.cache.resolvers.borrow_mut().insert(language.to_owned(), made.clone());
        made
    }
}

/// A resolved reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The kind of the edge.
    pub kind: EdgeKind,
    /// The innermost enclosing symbol, in the same file.
    pub from: Option<u32>,
    /// The line of the name.
    pub line: u32,
    /// The column in bytes, from 0.
    pub column: u32,
    /// The symbol that it resolves to.
    pub target: SymbolAt,
    /// The confidence of the resolution.
    pub confidence: Confidence,
}

/// An unresolved reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedReference {
    /// The name.
    pub name: String,
    /// The innermost enclosing symbol, in the same file.
    pub from: Option<u32>,
    /// The line of the name.
    pub line: u32,
    /// The column in bytes, from 0.
    pub column: u32,
    /// The number of symbols with this name to which it could refer.
    pub candidates: usize,
}

/// Returns the symbol that runs the code at a position: the nearest enclosing function, accessor or test block, else the
/// innermost symbol with a name, such as a constant, a field or a class; `None` for code at file level.
pub(super) fn enclosing_owner(symbols: &[Symbol], symbol: Option<u32>) -> Option<u32> {
    enclosing_function(symbols, symbol).or_else(|| nearest(symbols, symbol, |kind| kind != SymbolKind::Use))
}

/// Returns the nearest enclosing function, accessor or test block; `None` for other code.
pub fn enclosing_function(symbols: &[Symbol], symbol: Option<u32>) -> Option<u32> {
    nearest(symbols, symbol, |kind| kind == SymbolKind::Test || is_function(kind))
}

/// Returns the nearest enclosing function or accessor that has a name in code; test blocks have none.
pub fn enclosing_named_function(symbols: &[Symbol], symbol: Option<u32>) -> Option<u32> {
    nearest(symbols, symbol, is_function)
}

/// Whether symbols of this kind run code. A property may be an accessor.
fn is_function(kind: SymbolKind) -> bool {
    use SymbolKind::{Constructor, Fn, Macro, Method, Property};
    matches!(kind, Fn | Method | Constructor | Macro | Property)
}

fn nearest(symbols: &[Symbol], mut symbol: Option<u32>, is_meant: impl Fn(SymbolKind) -> bool) -> Option<u32> {
    while let Some(at) = symbol {
        let around = symbols.get(at as usize)?;
        if is_meant(around.kind) {
            return Some(at);
        }
        symbol = around.parent;
    }
    None
}
