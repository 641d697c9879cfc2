//! Who means whom: references and calls, resolved when they are asked for.
//!
//! A [`Graph`] puts the rules of the languages to work on one snapshot. It remembers what it has resolved, so that the
//! next question about the same name is cheap, and it stops when its [`Budget`] is spent: then [`Graph::finish`] says that
//! the answer is partial, and the next call goes on from what is remembered.

mod account;
mod budget;
mod calls;
mod references;
mod related;
mod through;
mod world;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{
    Confidence, Languages, Meaning, Reached, RefShape, Reference, Resolver, SourceFile, Symbol, SymbolAt, SymbolKind,
    VersionId, World,
};
use codecompass_store::{Result, Snapshot};

pub use account::Counts;
pub use budget::Budget;
pub use calls::{CallEdge, CallGraph, Chain, Direction, Unresolved};
use references::is_call;
pub use references::{Found as FoundReferences, Looks, Site};
pub use related::{Related, Relation, Scope, Usage};
pub use through::{Link, Through};
use world::SnapshotWorld;

/// What kind of edge a reference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The name is brought into scope.
    Imports,
    /// It is called.
    Calls,
    /// A trait or interface is implemented.
    Implements,
    /// A class or trait is extended.
    Extends,
    /// Anything else.
    References,
}

impl EdgeKind {
    /// All of them.
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

    /// What a reference of this shape to a symbol of this kind is. A struct literal mentions a struct, `new X()` and
    /// `X()` call a class.
    pub fn of(shape: RefShape, target: Option<SymbolKind>) -> Self {
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

/// More meanings than this are not remembered at a time.
const REMEMBERED: usize = 500_000;

/// More lines than this are not held at a time. Half as many would save 200 MB while questions come, and make those about
/// half a million lines ten times as slow at the 95th percentile.
const HELD: u64 = 600_000;

/// Everything that was read and resolved for one snapshot so far. It outlives the [`Graph`]s that fill it.
pub struct Memory {
    world: Rc<SnapshotWorld>,
    languages: &'static dyn Languages,
    resolvers: RefCell<HashMap<String, Option<Rc<dyn Resolver>>>>,
    meanings: RefCell<HashMap<(VersionId, u32), Meaning>>,
    looks: Rc<Looks>,
}

impl Memory {
    /// Nothing yet, save what was found out about names in a snapshot of the same state.
    pub fn new(snapshot: Rc<Snapshot>, languages: &'static dyn Languages, looks: Rc<Looks>) -> Self {
        let world = Rc::new(SnapshotWorld::new(snapshot));
        Self { world, languages, resolvers: RefCell::default(), meanings: RefCell::default(), looks }
    }

    /// The snapshot it is about.
    pub fn snapshot(&self) -> &Snapshot {
        self.world.snapshot()
    }

    /// Lets go of everything but the names.
    fn forget(&self) {
        self.world.forget();
        self.resolvers.borrow_mut().clear();
        self.meanings.borrow_mut().clear();
    }
}

/// See the module.
pub struct Graph<'m> {
    world: &'m SnapshotWorld,
    memory: &'m Memory,
    budget: Budget<'m>,
}

impl<'m> Graph<'m> {
    /// The graph of a snapshot, for as long as the budget lasts.
    pub fn new(memory: &'m Memory, budget: Budget<'m>) -> Self {
        Self { world: &memory.world, memory, budget }
    }

    /// The end of the work so far: whether all of it was done, or the first error of the store that was met. Every answer
    /// asks this last, after whatever it is made of.
    pub fn finish(&self) -> Result<bool> {
        self.failure()?;
        Ok(self.budget.was_enough())
    }

    /// The snapshot it is about.
    pub fn snapshot(&self) -> &'m Snapshot {
        self.world.snapshot()
    }

    /// A file.
    pub fn file(&self, id: VersionId) -> Option<Rc<SourceFile>> {
        self.world.file(id)
    }

    /// What is known of languages.
    pub fn languages(&self) -> &'static dyn Languages {
        self.memory.languages
    }

    /// Whether a place of a file is in a test, by the symbol around it; without one, by the file.
    pub fn is_in_test(&self, file: &SourceFile, symbol: Option<u32>) -> bool {
        let around = symbol.and_then(|symbol| file.facts.symbols.get(symbol as usize));
        self.languages().is_test(&file.path, around.is_some_and(|symbol| symbol.in_test))
    }

    /// Whether a language has rules.
    pub fn knows(&self, language: &str) -> bool {
        self.resolver(language).is_some()
    }

    /// Whether a place in one language can mean a symbol of another.
    pub fn are_kin(&self, place: &str, symbol: &str) -> bool {
        place == symbol || self.resolver(symbol).is_some_and(|resolver| resolver.kin().contains(&place))
    }

    /// The symbols of a name, imports left out.
    fn named_symbols(&self, name: &str) -> Rc<[SymbolAt]> {
        self.world.symbols_named(name)
    }

    /// Whether a symbol stands in a language whose places can mean those of another.
    fn is_kin_of(&self, at: SymbolAt, language: &str) -> bool {
        self.file(at.file).is_some_and(|file| self.are_kin(&file.language, language))
    }

    /// Whether a module of a language can be a value itself, which an import then gives any name.
    fn modules_are_values(&self, language: &str) -> bool {
        self.resolver(language).is_some_and(|resolver| resolver.modules_are_values())
    }

    /// Whom a reference means.
    pub fn meaning(&self, file: &SourceFile, at: u32) -> Meaning {
        if let Some(known) = self.memory.meanings.borrow().get(&(file.id, at)) {
            return known.clone();
        }
        let meaning = match self.resolver(&file.language) {
            Some(resolver) => resolver.reference(file.id, at),
            None => Meaning::Unknown("the language has no rules"),
        };
        let mut known = self.memory.meanings.borrow_mut();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert((file.id, at), meaning.clone());
        meaning
    }

    /// Whom an import means.
    pub fn imported(&self, file: &SourceFile, at: u32) -> Meaning {
        self.resolver(&file.language)
            .map_or(Meaning::Unknown("the language has no rules"), |resolver| resolver.import(file.id, at))
    }

    /// The functions inside of one that a call of it gives back.
    pub(super) fn returned(&self, function: SymbolAt) -> Vec<SymbolAt> {
        let file = self.file(function.file);
        let resolver = file.and_then(|file| self.resolver(&file.language));
        resolver.map_or(Vec::new(), |resolver| resolver.returned(function))
    }

    /// What a call reaches through a function that gave back what is called.
    pub(super) fn reached(&self, file: &SourceFile, at: u32) -> Option<Reached> {
        self.resolver(&file.language)?.reached(file.id, at)
    }

    /// What implements or overrides a declared method; nothing when the budget is spent.
    pub fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        if self.budget.is_spent() {
            return Vec::new();
        }
        let Some(file) = self.file(declared.file) else { return Vec::new() };
        self.resolver(&file.language).map_or_else(Vec::new, |resolver| resolver.implementations(declared))
    }

    /// The parts of a type that stand outside of its declaration (`impl` blocks, methods in other files, merged
    /// declarations): its own file's first, then by path.
    pub fn parts_of(&self, declared: SymbolAt) -> Result<Vec<SymbolAt>> {
        let file = self.file(declared.file);
        let resolver = file.and_then(|file| self.resolver(&file.language));
        let mut parts = resolver.map_or_else(Vec::new, |resolver| resolver.parts_of(declared));
        self.failure()?;
        parts.sort_by_key(|part| part.file != declared.file);
        Ok(parts)
    }

    /// The type to which a symbol belongs that stands outside of it.
    pub fn owner_of(&self, part: SymbolAt) -> Option<SymbolAt> {
        let file = self.file(part.file)?;
        self.resolver(&file.language)?.owner_of(part)
    }

    /// Whether a file sees another without an import, because they stand in one folder.
    fn is_in_unit(&self, file: &SourceFile, other: &SourceFile) -> bool {
        let folder = |path: &str| path.rsplit_once('/').map_or(0, |(folder, _)| folder.len());
        let (own, its) = (folder(&file.path), folder(&other.path));
        file.path[..own] == other.path[..its]
            && self.resolver(&file.language).is_some_and(|resolver| resolver.folders_are_units())
    }

    /// Lets go of what was read and resolved when it has grown large.
    pub fn forget(&self) {
        if self.world.held() > HELD {
            self.memory.forget();
        }
    }

    /// The first error of the store that was met. What was made of things that could not be read is forgotten.
    fn failure(&self) -> Result<()> {
        match self.world.failure() {
            None => Ok(()),
            Some(error) => {
                self.memory.forget();
                Err(error)
            }
        }
    }

    /// Every edge of a file, in the order of its references; imports come first.
    pub fn edges_of(&self, file: &SourceFile) -> Result<Vec<Edge>> {
        let mut edges = Vec::new();
        for at in 0..file.facts.imports.len() as u32 {
            let import = &file.facts.imports[at as usize];
            let from = import.symbol;
            for target in self.imported(file, at).targets() {
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
            if let Meaning::Symbols { targets, confidence, .. } = self.meaning(file, at) {
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

    /// The references of a file that nobody can bind, in their order.
    pub fn undecided_of(&self, file: &SourceFile) -> Result<Vec<Undecided>> {
        let mut undecided = Vec::new();
        for (at, reference) in file.facts.references.iter().enumerate() {
            if !matches!(self.meaning(file, at as u32), Meaning::Unknown(_)) {
                continue;
            }
            let name = file.facts.names.get(reference.name as usize).cloned().unwrap_or_default();
            let bearers = self.world.symbols_named(&name);
            let is_kin = |at: &&SymbolAt| {
                self.file(at.file).is_some_and(|bearer| self.are_kin(&file.language, &bearer.language))
            };
            let candidates = bearers.iter().filter(is_kin).count();
            let (line, column) = (reference.line, reference.column);
            undecided.push(Undecided { name, from: reference.symbol, line, column, candidates });
        }
        self.failure()?;
        Ok(undecided)
    }

    fn kind_of(&self, reference: &Reference, target: SymbolAt) -> EdgeKind {
        let Some(file) = self.file(target.file) else { return EdgeKind::of(reference.shape, None) };
        let kind = file.facts.symbols.get(target.place as usize).map(|symbol| symbol.kind);
        let is_field = kind == Some(SymbolKind::Field) && is_call(reference.shape);
        if is_field && self.resolver(&file.language).is_some_and(|resolver| !resolver.calls_fields()) {
            return EdgeKind::References;
        }
        EdgeKind::of(reference.shape, kind)
    }

    fn resolver(&self, language: &str) -> Option<Rc<dyn Resolver>> {
        if let Some(known) = self.memory.resolvers.borrow().get(language) {
            return known.clone();
        }
        let world: Rc<dyn World> = self.memory.world.clone();
        let made = self.memory.languages.resolver(language, world).map(Rc::from);
        self.memory.resolvers.borrow_mut().insert(language.to_owned(), made.clone());
        made
    }
}

/// A reference that is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// What kind of edge.
    pub kind: EdgeKind,
    /// The innermost symbol around the place, in the same file.
    pub from: Option<u32>,
    /// The line of the name.
    pub line: u32,
    /// Its column in bytes, from 0.
    pub column: u32,
    /// Whom it means.
    pub target: SymbolAt,
    /// How sure that is.
    pub confidence: Confidence,
}

/// A reference that nobody can bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The name.
    pub name: String,
    /// The innermost symbol around the place, in the same file.
    pub from: Option<u32>,
    /// The line of the name.
    pub line: u32,
    /// Its column in bytes, from 0.
    pub column: u32,
    /// How many symbols bear the name that it could mean.
    pub candidates: usize,
}

/// The nearest function or test block around a place; `None` for code at the level of the file.
pub fn enclosing_function(symbols: &[Symbol], symbol: Option<u32>) -> Option<u32> {
    nearest(symbols, symbol, |kind| kind == SymbolKind::Test || is_function(kind))
}

/// The nearest function around a place that has a name in code: test blocks have none.
pub fn enclosing_named_function(symbols: &[Symbol], symbol: Option<u32>) -> Option<u32> {
    nearest(symbols, symbol, is_function)
}

fn is_function(kind: SymbolKind) -> bool {
    use SymbolKind::{Constructor, Fn, Macro, Method};
    matches!(kind, Fn | Method | Constructor | Macro)
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
