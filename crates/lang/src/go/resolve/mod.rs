//! Resolves references in Go.
//!
//! Names are looked up from the inside out: local bindings (already in the facts), types declared in the function, the
//! package, the imports of the file, the predeclared names. Members are looked up in the type of the receiver
//! ([`infer`]), through embedded types ([`members`]). Packages are folders with a package clause ([`packages`]), found
//! by the module paths of `go.mod` files ([`modules`]).
//!
//! Not supported: flow analysis, build constraints (a name declared under several resolves to all of them), and the
//! types of other modules' code.

mod declared;
mod guess;
mod implementing;
mod infer;
mod library;
mod members;
mod modules;
mod packages;
mod parts;
mod predeclared;
mod scope;
mod types;

use std::cell::OnceCell;
use std::rc::Rc;

use codecompass_model::{
    Confidence, ExprId, Meaning, RefShape, Reference, Resolver, SymbolAt, SymbolKind, VersionId, World,
};

use crate::rules::memo::{Course, Memo};
use infer::Value;
use library::Library;
use members::Member;
use modules::Modules;
use packages::{FileIndex, Folder, Package};
use scope::{Found, Scope};
use types::Type;

/// The resolver of one view.
pub(super) struct Go<'w> {
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
    course: Course,
}

/// The maximum number of steps per query; more than any ordinary expression needs.
const MAX_STEPS: u32 = 20_000;

/// The maximum recursion depth; more than any ordinary expression needs.
const MAX_DEPTH: u32 = 60;

/// Creates the resolver.
pub(super) fn resolver<'w>(world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(Go {
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
        course: Course::new(MAX_DEPTH, MAX_STEPS),
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

impl Resolver for Go<'_> {
    fn reference(&self, file: VersionId, at: u32) -> Meaning {
        self.course.begin();
        let Some(index) = self.file(file) else { return Meaning::Unknown("no such file") };
        let Some(&reference) = index.facts().references.get(at as usize) else {
            return Meaning::Unknown("no such reference");
        };
        match reference.shape {
            RefShape::Binds => return Meaning::Local,
            RefShape::Import => return self.in_import(&index, &reference),
            RefShape::Mention => return Meaning::Unknown("no rule reads a name here"),
            _ => {}
        }
        let scope = Scope { file: index, symbol: reference.symbol, line: reference.line };
        match reference.qualifier {
            Some(qualifier) => self.qualified(&scope, &reference, qualifier),
            None => self.bare(&scope, &reference),
        }
    }

    fn import(&self, file: VersionId, at: u32) -> Meaning {
        self.course.begin();
        let index = self.file(file);
        let import = index.as_ref().and_then(|index| index.facts().imports.get(at as usize));
        match import {
            Some(import) => module_meaning(&self.imported(&import.module)),
            None => Meaning::Unknown("no such import"),
        }
    }

    fn calls_fields(&self) -> bool {
        false
    }

    fn parts_of(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        parts::methods_of(&*self.world, declared)
    }

    fn owner_of(&self, part: SymbolAt) -> Option<SymbolAt> {
        parts::owner_of(&*self.world, part)
    }

    fn folders_are_units(&self) -> bool {
        true
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.course.begin();
        self.implementing(declared)
    }
}

impl Go<'_> {
    /// Resolves the name that an import gives a package, or the name of the file's own package.
    fn in_import(&self, index: &FileIndex, reference: &Reference) -> Meaning {
        let facts = &index.facts();
        let named = facts.imports.iter().find(|import| {
            import.line == reference.line && import.alias.as_deref() == Some(index.name(reference.name))
        });
        match (named, self.package_of(index)) {
            (Some(import), _) => module_meaning(&self.imported(&import.module)),
            (None, Some(package)) => Meaning::Module(package.files.clone()),
            (None, None) => Meaning::Unknown("a package without files"),
        }
    }

    /// Resolves a bare name.
    fn bare(&self, scope: &Scope, reference: &Reference) -> Meaning {
        let name = scope.file.name(reference.name);
        if reference.binding.is_some() {
            return Meaning::Local;
        }
        if reference.shape == RefShape::Member {
            return Meaning::Unknown("a key of a literal of unknown type");
        }
        match self.find_global(scope, name) {
            Found::Symbols(targets) => several(scope, targets, "in scope"),
            Found::Import(imported) => module_meaning(&imported),
            Found::Predeclared(_) | Found::External => Meaning::External,
            Found::Nothing if is_variable(scope, reference) => Meaning::Local,
            Found::Nothing => Meaning::Unknown("no such name in scope"),
        }
    }

    /// Resolves a member.
    fn qualified(&self, scope: &Scope, reference: &Reference, qualifier: ExprId) -> Meaning {
        let name = scope.file.name(reference.name);
        let is_call = reference.shape == RefShape::MemberCall;
        match self.value(&scope.file, qualifier) {
            Value::Package(imported) => match imported.as_ref() {
                Imported::Package(package) => match package.find(name) {
                    [] => Meaning::Unknown("no such name in the package"),
                    targets => several(scope, targets.to_vec(), "in an imported package"),
                },
                Imported::External(_) => Meaning::External,
                Imported::Absent => Meaning::Unknown("a package without files"),
            },
            Value::Of(of) => self.member_meaning(scope, &of, name, is_call),
            Value::TypeName(of) => match self.key_of(&of, name) {
                Some(field) => Meaning::proved(field, "a field of the literal's type"),
                None if self.is_collection(&of) => self.key_value(scope, name),
                None => self.member_meaning(scope, &of, name, is_call),
            },
            Value::Predeclared(_) => Meaning::External,
        }
    }

    fn member_meaning(&self, scope: &Scope, of: &Type, name: &str, is_call: bool) -> Meaning {
        match self.member(of, name) {
            Member::Field(target, _) => Meaning::proved(target, "a field of the type"),
            Member::Methods(targets, _) => several(scope, targets, "a method of the type"),
            Member::External | Member::Outside(_) => Meaning::External,
            Member::Missing => Meaning::Unknown("the type has no such member"),
            Member::Unknown => self.guess(name, is_call),
        }
    }

    /// Resolves a key of a map or list literal that is a name: a constant, or a local variable.
    fn key_value(&self, scope: &Scope, name: &str) -> Meaning {
        match self.find_global(scope, name) {
            Found::Symbols(targets) => several(scope, targets, "in scope"),
            _ => Meaning::Local,
        }
    }

    /// Returns a file with its facts sorted for lookups.
    fn file(&self, id: VersionId) -> Option<Rc<FileIndex>> {
        self.files.once(&id, || self.world.file(id).map(|source| Rc::new(FileIndex::new(source))))
    }

    fn folder(&self, path: &str) -> Rc<Folder> {
        self.folders.once(path, || Rc::new(Folder::read(&*self.world, path)))
    }

    /// Returns the package that a file belongs to.
    fn package_of(&self, file: &FileIndex) -> Option<Rc<Package>> {
        self.folder(&file.folder).packages.get(&file.package).cloned()
    }

    /// Returns the target of an import path.
    fn imported(&self, path: &str) -> Rc<Imported> {
        self.imports.once(path, || {
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
        self.file(at.file)?.symbol(at.place).map(|symbol| symbol.kind)
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
fn several(scope: &Scope, mut targets: Vec<SymbolAt>, why: &'static str) -> Meaning {
    let own = scope.file.id();
    if targets.len() > 1 && targets.iter().any(|target| target.file == own) {
        targets.retain(|target| target.file == own);
    }
    Meaning::Symbols { targets, confidence: Confidence::Static, why }
}

fn module_meaning(imported: &Imported) -> Meaning {
    match imported {
        Imported::Package(package) => Meaning::Module(package.files.clone()),
        Imported::External(_) => Meaning::External,
        Imported::Absent => Meaning::Unknown("a package without files"),
    }
}
