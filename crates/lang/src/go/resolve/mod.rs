//! Resolves references in Go.
//!
//! Names are looked up from the inside out: local bindings (already in the facts), types declared in the function, the
//! package, the imports of the file, the predeclared names. Members are looked up in the type of the receiver
//! ([`infer`]), through embedded types ([`members`]). Packages are folders with a package clause ([`packages`]), found
//! by the module paths of `go.mod` files ([`modules`]).
//!
//! Not supported: flow analysis, build constraints (a name declared under several resolves to all of them), and the
//! types of other modules' code.

mod declared_types;
mod guess;
mod implementations;
mod infer;
mod library;
mod members;
mod methods;
mod modules;
mod packages;
mod predeclared;
mod scope;
mod types;

use std::cell::OnceCell;
use std::rc::Rc;

use codecompass_model::{
    CallSyntax, Confidence, ExprId, RefShape, Reference, Resolution, Resolver, SymbolAt, SymbolKind, VersionId, World,
};

use crate::rules::memo::{Memo, QueryStack};
use infer::Value;
use library::Library;
use members::Member;
use modules::Modules;
use packages::{FileIndex, Folder, Package};
use scope::{NameTarget, Scope};
use types::Type;

/// The resolver of one view.
pub(super) struct GoResolver<'w> {
    world: Rc<dyn World + 'w>,
    modules: OnceCell<Modules>,
    folders: Memo<String, Rc<Folder>>,
    imports: Memo<String, Rc<Imported>>,
    files: Memo<VersionId, Option<Rc<FileIndex>>>,
    symbol_types: Memo<SymbolAt, Type>,
    binding_types: Memo<(VersionId, u32), Type>,
    values: Memo<(VersionId, ExprId), Value>,
    members: Memo<(Type, String), Member>,
    library: OnceCell<Library>,
    query_stack: QueryStack,
}

/// The maximum number of steps per query; more than any ordinary expression needs.
const MAX_STEPS: u32 = 20_000;

/// The maximum recursion depth; more than any ordinary expression needs.
const MAX_DEPTH: u32 = 60;

/// Creates the resolver.
pub(super) fn resolver<'w>(world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(GoResolver {
        world,
        modules: OnceCell::new(),
        folders: Memo::default(),
        imports: Memo::default(),
        files: Memo::default(),
        symbol_types: Memo::default(),
        binding_types: Memo::default(),
        values: Memo::default(),
        members: Memo::default(),
        library: OnceCell::new(),
        query_stack: QueryStack::new(MAX_DEPTH, MAX_STEPS),
    })
}

/// The target of an import path.
enum Imported {
    Package(Rc<Package>),
    /// A package of another module, or of the standard library: the path.
    External(String),
    /// A package of the view's modules without files: generated, or excluded.
    Absent,
}

impl Resolver for GoResolver<'_> {
    fn resolve_reference(&self, file: VersionId, at: u32) -> Resolution {
        self.query_stack.begin_query();
        let Some(index) = self.file(file) else { return Resolution::Unknown("no such file") };
        let Some(&reference) = index.facts().references.get(at as usize) else {
            return Resolution::Unknown("no such reference");
        };
        match reference.shape {
            RefShape::Binds => return Resolution::Local,
            RefShape::Import => return self.import_name_resolution(&index, &reference),
            RefShape::Mention => return Resolution::Unknown("names here are not resolved"),
            _ => {}
        }
        let scope = Scope { file: index, symbol: reference.symbol, line: reference.line };
        match reference.qualifier {
            Some(qualifier) => self.qualified(&scope, &reference, qualifier),
            None => self.bare_name_resolution(&scope, &reference),
        }
    }

    fn resolve_import(&self, file: VersionId, at: u32) -> Resolution {
        self.query_stack.begin_query();
        let index = self.file(file);
        let import = index.as_ref().and_then(|index| index.facts().imports.get(at as usize));
        match import {
            Some(import) => module_resolution(&self.imported(&import.module)),
            None => Resolution::Unknown("no such import"),
        }
    }

    fn call_syntax(&self) -> CallSyntax {
        CallSyntax { bare_calls_reach_members: false, ..CallSyntax::OPEN }
    }

    fn calls_fields(&self) -> bool {
        false
    }

    fn out_of_line_members(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        methods::methods_of(&*self.world, declared)
    }

    fn owner_of_member(&self, part: SymbolAt) -> Option<SymbolAt> {
        methods::owner_of(&*self.world, part)
    }

    fn folders_are_units(&self) -> bool {
        true
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.query_stack.begin_query();
        self.find_implementations(declared)
    }
}

impl GoResolver<'_> {
    /// Resolves the name that an import gives a package, or the name of the file's own package.
    fn import_name_resolution(&self, index: &FileIndex, reference: &Reference) -> Resolution {
        let facts = &index.facts();
        let named = facts.imports.iter().find(|import| {
            import.line == reference.line && import.alias.as_deref() == Some(index.name(reference.name))
        });
        match (named, self.package_of(index)) {
            (Some(import), _) => module_resolution(&self.imported(&import.module)),
            (None, Some(package)) => Resolution::Module(package.files.clone()),
            (None, None) => Resolution::Unknown("a package without files"),
        }
    }

    /// Resolves a bare name.
    fn bare_name_resolution(&self, scope: &Scope, reference: &Reference) -> Resolution {
        let name = scope.file.name(reference.name);
        if reference.binding.is_some() {
            return Resolution::Local;
        }
        if reference.shape == RefShape::Member {
            return Resolution::Unknown("a key of a literal of unknown type");
        }
        match self.find_global(scope, name) {
            NameTarget::Symbols(targets) => symbols_resolution(scope, targets, "in scope"),
            NameTarget::Import(imported) => module_resolution(&imported),
            NameTarget::Predeclared(_) | NameTarget::External => Resolution::External,
            NameTarget::Unresolved if is_variable(scope, reference) => Resolution::Local,
            NameTarget::Unresolved => Resolution::Unknown("no such name in scope"),
        }
    }

    /// Resolves a member.
    fn qualified(&self, scope: &Scope, reference: &Reference, qualifier: ExprId) -> Resolution {
        let name = scope.file.name(reference.name);
        let is_call = reference.shape == RefShape::MemberCall;
        match self.value(&scope.file, qualifier) {
            Value::Package(imported) => match imported.as_ref() {
                Imported::Package(package) => match package.find(name) {
                    [] => Resolution::Unknown("no such name in the package"),
                    targets => symbols_resolution(scope, targets.to_vec(), "in an imported package"),
                },
                Imported::External(_) => Resolution::External,
                Imported::Absent => Resolution::Unknown("a package without files"),
            },
            Value::Typed(of) => self.member_resolution(scope, &of, name, is_call),
            Value::TypeName(of) => match self.key_of(&of, name) {
                Some(field) => Resolution::proved(field, "a field of the literal's type"),
                // `T{Len: 1}` and `T.Len` have the same shape: a method of the type makes it a method expression.
                None if self.is_collection(&of) && !is_call && !self.has_method(&of, name) => {
                    self.key_value(scope, name)
                }
                None => self.member_resolution(scope, &of, name, is_call),
            },
            Value::Predeclared(_) => Resolution::External,
        }
    }

    fn member_resolution(&self, scope: &Scope, of: &Type, name: &str, is_call: bool) -> Resolution {
        match self.member(of, name) {
            Member::Field(target, _) => Resolution::proved(target, "a field of the type"),
            Member::Methods(targets, _) => symbols_resolution(scope, targets, "a method of the type"),
            Member::External | Member::LibraryMethod(_) => Resolution::External,
            Member::Missing => Resolution::Unknown("the type has no such member"),
            Member::Unknown => self.guess(name, is_call),
        }
    }

    /// Resolves a key of a map or list literal that is a name: a constant, or a local variable.
    fn key_value(&self, scope: &Scope, name: &str) -> Resolution {
        match self.find_global(scope, name) {
            NameTarget::Symbols(targets) => symbols_resolution(scope, targets, "in scope"),
            _ => Resolution::Local,
        }
    }

    /// Returns a file with its facts sorted for lookups.
    fn file(&self, id: VersionId) -> Option<Rc<FileIndex>> {
        self.files.get_or_compute(&id, || self.world.file(id).map(|source| Rc::new(FileIndex::new(source))))
    }

    fn folder(&self, path: &str) -> Rc<Folder> {
        self.folders.get_or_compute(path, || Rc::new(Folder::read(&*self.world, path)))
    }

    /// Returns the package that a file belongs to.
    fn package_of(&self, file: &FileIndex) -> Option<Rc<Package>> {
        self.folder(&file.folder).packages.get(&file.package).cloned()
    }

    /// Returns the target of an import path.
    fn imported(&self, path: &str) -> Rc<Imported> {
        self.imports.get_or_compute(path, || {
            let modules = self.modules.get_or_init(|| Modules::read(&*self.world));
            Rc::new(match modules.folder(path) {
                None => Imported::External(path.to_owned()),
                Some(folder) => match &self.folder(&folder).imported {
                    Some(package) => Imported::Package(package.clone()),
                    None => Imported::Absent,
                },
            })
        })
    }

    fn library(&self) -> &Library {
        self.library.get_or_init(Library::read)
    }

    fn kind(&self, at: SymbolAt) -> Option<SymbolKind> {
        self.file(at.file)?.symbol(at.ordinal).map(|symbol| symbol.kind)
    }
}

/// Returns whether a type according to the grammar, as in `new(x)`, can only be a variable of the enclosing function.
fn is_variable(scope: &Scope, reference: &Reference) -> bool {
    let bindings = &scope.file.facts().bindings;
    reference.shape == RefShape::Type
        && bindings.iter().any(|of| of.name == reference.name && of.symbol == reference.symbol)
}

/// Returns the resolution to confirmed symbols. Two declarations of one name are never built together: if the file
/// itself has one, no other can be the target.
fn symbols_resolution(scope: &Scope, mut targets: Vec<SymbolAt>, why: &'static str) -> Resolution {
    let own = scope.file.id();
    if targets.len() > 1 && targets.iter().any(|target| target.file == own) {
        targets.retain(|target| target.file == own);
    }
    Resolution::Symbols { targets, confidence: Confidence::Static, why }
}

fn module_resolution(imported: &Imported) -> Resolution {
    match imported {
        Imported::Package(package) => Resolution::Module(package.files.clone()),
        Imported::External(_) => Resolution::External,
        Imported::Absent => Resolution::Unknown("a package without files"),
    }
}
