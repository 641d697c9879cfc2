//! The resolver of all languages that are tables.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::rc::Rc;

use codecompass_model::{
    CallSyntax, Confidence, Expr, ExprId, Import, RefShape, Resolution, Resolver, SourceFile, SymbolAt, SymbolKind,
    VersionId, World,
};

use super::index::Index;
use super::members::{LookupKind, MemberSets};
use super::memo::{Memo, QueryStack};
use super::modules::{ExportKey, ModuleExports};
use super::namespaces::Using;
use super::scope_policy::{ScopePolicy, Unit};
use super::stubs::Library;
use super::types::Type;
use super::values::Value;

/// The maximum number of steps per query; more than any ordinary expression needs.
const MAX_STEPS: u32 = 20_000;

/// The maximum recursion depth; more than any ordinary expression needs.
const MAX_DEPTH: u32 = 60;

/// The resolver of a language for one view.
pub(super) struct Engine<'w> {
    pub(super) world: Rc<dyn World + 'w>,
    pub(super) policy: &'static ScopePolicy,
    pub(super) library: OnceCell<Library>,
    pub(super) files: Memo<VersionId, Option<Rc<File>>>,
    pub(super) qualified: Memo<String, Rc<[SymbolAt]>>,
    pub(super) named: Memo<String, Rc<[SymbolAt]>>,
    pub(super) packages: Memo<String, Rc<[VersionId]>>,
    pub(super) shared_imports: Memo<String, Rc<[Import]>>,
    pub(super) included: Memo<VersionId, Rc<[VersionId]>>,
    pub(super) external_includes: Memo<VersionId, bool>,
    pub(super) visible: Memo<VersionId, Rc<HashSet<VersionId>>>,
    pub(super) usings: Memo<VersionId, Rc<[Using]>>,
    pub(super) values: Memo<(VersionId, Option<u32>, ExprId), Value>,
    pub(super) symbol_types: Memo<SymbolAt, Type>,
    pub(super) binding_types: Memo<(VersionId, u32), Type>,
    pub(super) bases: Memo<SymbolAt, Rc<[Type]>>,
    pub(super) member_sets: Memo<(Type, String, LookupKind), Rc<MemberSets>>,
    pub(super) exports: Memo<ExportKey, Rc<ModuleExports>>,
    pub(super) imported_names: Memo<ExportKey, Rc<(ModuleExports, bool)>>,
    pub(super) external_reexports: Memo<VersionId, bool>,
    pub(super) imported: Memo<VersionId, Rc<[Vec<VersionId>]>>,
    pub(super) main_declarations: Memo<SymbolAt, SymbolAt>,
    pub(super) extension_blocks: Memo<SymbolAt, Rc<[SymbolAt]>>,
    pub(super) out_of_line: Memo<VersionId, Rc<HashMap<SymbolAt, Vec<SymbolAt>>>>,
    pub(super) out_of_line_by_name: Memo<String, Rc<[(SymbolAt, SymbolAt)]>>,
    pub(super) query_stack: QueryStack,
}

/// A file, with the data that the resolver needs besides its facts.
pub(super) struct File {
    index: Index,
    /// The package that its qualified names begin with.
    pub(super) package: String,
    /// The namespaces declared in it.
    pub(super) namespaces: Vec<String>,
}

impl Deref for File {
    type Target = Index;

    fn deref(&self) -> &Index {
        &self.index
    }
}

impl File {
    pub(super) fn new(source: Rc<SourceFile>) -> Self {
        // An extension block may belong to a nested type.
        let is_plain = |kind: SymbolKind| kind.can_be_named() && kind != SymbolKind::Impl;
        let top = source.facts.symbols.iter().find(|symbol| symbol.parent.is_none() && is_plain(symbol.kind));
        let package = top.and_then(|top| top.qualified_name.strip_suffix(top.name.as_str()));
        let package = package.unwrap_or("").trim_end_matches(['.', ':', '\\']).to_owned();
        let namespaces = source.facts.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Namespace);
        let namespaces = namespaces.map(|symbol| symbol.qualified_name.clone()).collect();
        File { index: Index::new(source, local_name), package, namespaces }
    }
}

/// Returns the local name of an import.
fn local_name(import: &Import) -> Option<&str> {
    import.alias.as_deref().or(import.name.as_deref())
}

/// The site where a name is looked up.
pub(super) struct LookupSite {
    pub(super) file: Rc<File>,
    /// The innermost enclosing symbol.
    pub(super) symbol: Option<u32>,
}

/// Creates the resolver of a language.
pub(crate) fn resolver<'w>(scoping: &'static ScopePolicy, world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(Engine {
        world,
        policy: scoping,
        library: OnceCell::new(),
        files: Memo::default(),
        qualified: Memo::default(),
        named: Memo::default(),
        packages: Memo::default(),
        shared_imports: Memo::default(),
        included: Memo::default(),
        external_includes: Memo::default(),
        visible: Memo::default(),
        usings: Memo::default(),
        values: Memo::default(),
        symbol_types: Memo::default(),
        binding_types: Memo::default(),
        bases: Memo::default(),
        member_sets: Memo::default(),
        exports: Memo::default(),
        imported_names: Memo::default(),
        external_reexports: Memo::default(),
        imported: Memo::default(),
        main_declarations: Memo::default(),
        extension_blocks: Memo::default(),
        out_of_line: Memo::default(),
        out_of_line_by_name: Memo::default(),
        query_stack: QueryStack::new(MAX_DEPTH, MAX_STEPS),
    })
}

impl Resolver for Engine<'_> {
    fn resolve_reference(&self, file: VersionId, at: u32) -> Resolution {
        self.query_stack.begin_query();
        self.with_platforms(self.reference_resolution(file, at))
    }

    fn resolve_import(&self, file: VersionId, at: u32) -> Resolution {
        self.query_stack.begin_query();
        let Some(file) = self.file(file) else { return Resolution::Unknown("no such file") };
        match file.facts().imports.get(at as usize) {
            Some(import) => self.import_resolution(&file, import),
            None => Resolution::Unknown("no such import"),
        }
    }

    fn calls_fields(&self) -> bool {
        self.policy.calls_fields
    }

    fn call_syntax(&self) -> CallSyntax {
        self.policy.call_syntax
    }

    fn argument_count(&self, file: VersionId, at: u32) -> Option<u32> {
        let file = self.file(file).filter(|_| self.policy.arity_is_fixed)?;
        match file.facts().expr(file.facts().call_at(at)?) {
            Expr::Call { args, .. } => Some(args.len() as u32),
            _ => None,
        }
    }

    fn accepts_arguments(&self, function: SymbolAt, count: u32) -> bool {
        let Some(file) = self.file(function.file).filter(|_| self.policy.arity_is_fixed) else { return true };
        let annotation = file.symbol(function.ordinal).and_then(|symbol| symbol.annotation);
        let Some(Expr::Func(of)) = annotation.map(|of| file.facts().expr(of)) else { return true };
        let wanted = of.params.len() as u32;
        (count <= wanted || of.variadic) && count + of.optional + u32::from(of.variadic) >= wanted
    }

    fn out_of_line_members(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.query_stack.begin_query();
        self.find_out_of_line(declared)
    }

    fn owner_of_member(&self, part: SymbolAt) -> Option<SymbolAt> {
        self.query_stack.begin_query();
        self.find_owner(part)
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.query_stack.begin_query();
        self.find_overrides(declared)
    }
}

impl Engine<'_> {
    fn reference_resolution(&self, file: VersionId, at: u32) -> Resolution {
        let Some(file) = self.file(file) else { return Resolution::Unknown("no such file") };
        let Some(&reference) = file.facts().references.get(at as usize) else {
            return Resolution::Unknown("no such reference");
        };
        let call = file.facts().call_at(at);
        if let Some(place) = file.facts().block_target(at) {
            return Resolution::proved(SymbolAt { file: file.id(), ordinal: place }, "declared in an enclosing block");
        }
        let place = LookupSite { file, symbol: reference.symbol };
        match (reference.shape, reference.qualifier) {
            (RefShape::Binds, _) => Resolution::Local,
            (RefShape::Import, _) => self.import_name_resolution(&place.file, &reference),
            (RefShape::Mention, _) => Resolution::Unknown("names here are not resolved"),
            (_, Some(of)) if let Some(binding) = self.implicit_receiver_binding(&place.file, of) => {
                self.implicit_member_resolution(&place, &reference, binding, call)
            }
            // A name that may be a member of the value it is compared with, else a bare name.
            (RefShape::Value, Some(of)) => match self.qualified_name(&place, &reference, of, call) {
                found @ Resolution::Symbols { .. } => found,
                _ => self.bare_name(&place, &reference, call),
            },
            (_, Some(qualifier)) => self.qualified_name(&place, &reference, qualifier, call),
            (_, None) => self.bare_name(&place, &reference, call),
        }
    }

    pub(super) fn file(&self, id: VersionId) -> Option<Rc<File>> {
        self.files.get_or_compute(&id, || {
            let library = self.library().file(id);
            let source = library.or_else(|| self.world.file(id))?;
            (source.language == self.policy.language || self.policy.interop.contains(&source.language.as_str()))
                .then(|| Rc::new(File::new(source)))
        })
    }

    pub(super) fn library(&self) -> &Library {
        self.library.get_or_init(|| Library::read(self.policy))
    }

    pub(super) fn kind(&self, at: SymbolAt) -> Option<SymbolKind> {
        self.file(at.file)?.symbol(at.ordinal).map(|symbol| symbol.kind)
    }

    /// Returns the resolution to these symbols; symbols of the library are external.
    pub(super) fn symbols_resolution(&self, targets: Vec<SymbolAt>, why: &'static str) -> Resolution {
        let mut targets = self.main_declaration(targets);
        if targets.iter().any(|at| !self.library().has(at.file)) {
            targets.retain(|at| !self.library().has(at.file));
        }
        match targets.first() {
            None => Resolution::Unknown("no such name"),
            Some(first) if self.library().has(first.file) => Resolution::External,
            Some(_) => Resolution::Symbols { targets, confidence: Confidence::Static, why },
        }
    }

    /// Returns whether a name is that of a basic type.
    pub(super) fn is_basic_type(&self, name: &str) -> bool {
        self.plain(name).is_some()
    }

    /// Returns the nearest enclosing symbol with members of its own: a type, or a function of an anonymous class.
    pub(super) fn enclosing_type(&self, file: &File, symbol: Option<u32>) -> Option<u32> {
        if self.policy.unit == Unit::Include {
            return None;
        }
        let has_namespaces = self.policy.unit == Unit::Namespace;
        file.ancestors(symbol).find(|&at| {
            file.symbol(at).is_some_and(|symbol| {
                let has_members = has_namespaces || self.policy.packages_must_exist;
                is_type(symbol.kind)
                    || !symbol.bases.is_empty()
                    || symbol.owner.is_some()
                    || has_members && symbol.kind == SymbolKind::Namespace
            })
        })
    }
}

/// Returns whether a symbol of this kind is a type.
pub(crate) fn is_type(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Enum, Interface, Module, Struct, Trait, Type, Union};
    matches!(kind, Class | Enum | Interface | Module | Struct | Trait | Type | Union)
}
