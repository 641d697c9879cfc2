//! Resolves references in Python.
//!
//! A name is looked up in its scopes, then in the file, its imports, and the built-ins. A member needs the type of its
//! receiver: `values` infers it from the text of the receiver, `annotations` from declared types, `returns` and
//! `locals` from returned and assigned values. Everything is computed on demand, once.
//!
//! Not supported: metaclasses, `__getattr__`, effects of a call on its arguments, and most return types of libraries.

mod annotations;
mod builtins;
mod expression;
mod generics;
mod guess;
mod locals;
mod members;
mod mixins;
mod modules;
mod names;
mod returned_calls;
mod returns;
mod source;
mod types;
mod values;

use std::rc::Rc;

use codecompass_model::{
    BindingKind, Confidence, ExprId, RefShape, Reference, Resolution, Resolver, ReturnedCall, SymbolAt, VersionId,
    World,
};

use crate::resolve::imports::{self, ImportName};
use crate::resolve::{merged, returned};
use crate::rules::memo::{Memo, QueryStack};
use expression::Expr;
use modules::Modules;
use names::{LookupSite, RootName};
use source::{PythonFile, is_function};
use types::{NameTarget, Type};

/// The maximum depth of nested queries.
const MAX_DEPTH: u32 = 48;

/// The resolver of one view.
pub(super) struct PythonResolver<'w> {
    world: Rc<dyn World + 'w>,
    modules: Modules<'w>,
    sources: Memo<VersionId, Option<Rc<PythonFile>>>,
    query_stack: QueryStack,
    types: Memo<TypeQuery, Type>,
    names: Memo<(Rc<str>, Rc<str>), NameTarget>,
    resolution_orders: Memo<SymbolAt, Rc<[Type]>>,
    /// The subclasses of a class; `None` for too many.
    subclasses: Memo<SymbolAt, Option<Rc<[SymbolAt]>>>,
}

/// A query for a type.
#[derive(Clone, PartialEq, Eq, Hash)]
enum TypeQuery {
    /// The type of a value that is annotated with this symbol.
    Declared(SymbolAt),
    Returned(SymbolAt),
    Variable(SymbolAt),
    Decorated(SymbolAt),
    Binding(VersionId, u32),
    Text(VersionId, Option<u32>, ExprId, RootName, u32),
}

/// Creates the resolver.
pub(super) fn resolver<'w>(world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(PythonResolver {
        modules: Modules::new(Rc::clone(&world)),
        world,
        sources: Memo::default(),
        query_stack: QueryStack::new(MAX_DEPTH, u32::MAX),
        types: Memo::default(),
        names: Memo::default(),
        resolution_orders: Memo::default(),
        subclasses: Memo::default(),
    })
}

impl Resolver for PythonResolver<'_> {
    fn resolve_reference(&self, file: VersionId, at: u32) -> Resolution {
        self.query_stack.begin_query();
        let Some(source) = self.source(file) else { return Resolution::Unknown("no file") };
        let Some(reference) = source.facts().references.get(at as usize) else {
            return Resolution::Unknown("no reference");
        };
        self.reference_resolution(&source, reference)
    }

    fn resolve_import(&self, file: VersionId, at: u32) -> Resolution {
        self.query_stack.begin_query();
        let Some(source) = self.source(file) else { return Resolution::Unknown("no file") };
        let Some(import) = source.facts().imports.get(at as usize) else { return Resolution::Unknown("no import") };
        let found = self.import_target(&source, import);
        self.target_resolution(found, "import", "no such module")
    }

    fn returned_functions(&self, function: SymbolAt) -> Vec<SymbolAt> {
        returned::returned_functions(&*self.world, function)
    }

    fn returned_call(&self, file: VersionId, at: u32) -> Option<ReturnedCall> {
        self.query_stack.begin_query();
        let source = self.source(file)?;
        let reference = *source.facts().references.get(at as usize)?;
        self.find_returned_call(&source, &reference)
    }

    fn out_of_line_members(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        merged::merged(&*self.world, declared)
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.query_stack.begin_query();
        self.find_overrides(declared)
    }
}

impl PythonResolver<'_> {
    /// Returns a Python file of the view.
    fn source(&self, id: VersionId) -> Option<Rc<PythonFile>> {
        self.sources.get_or_compute(&id, || {
            let file = self.world.file(id).filter(|file| file.language == "python");
            file.map(|file| Rc::new(PythonFile::new(file)))
        })
    }

    fn reference_resolution(&self, source: &Rc<PythonFile>, reference: &Reference) -> Resolution {
        match (reference.shape, reference.qualifier) {
            (RefShape::Binds, _) => return Resolution::Local,
            (RefShape::Import, _) => return self.import_name_resolution(source, reference),
            (RefShape::Mention, _) => return Resolution::Unknown("names here are not resolved"),
            (RefShape::Member, None) => return Resolution::Unknown("the name of an argument"),
            _ => {}
        }
        let place = self.lookup_site(source, reference);
        let name = source.name(reference.name);
        let Some(qualifier) = reference.qualifier else {
            if let Some(binding) = reference.binding {
                return self.called_local_resolution(&place, reference, binding);
            }
            let found = self.look_up(&place, name, false);
            return self.target_resolution(found, "scope", "no such name");
        };
        let place = self.receiver_site(&place, reference.binding, qualifier);
        let of = self.text_type(&place, qualifier);
        if of.is_unknown() {
            let guess = (reference.shape == RefShape::MemberCall).then(|| self.guess(name)).flatten();
            return guess.unwrap_or(Resolution::Unknown("the type of the receiver is unknown"));
        }
        let found = self.member(&of, name);
        let mixed_in = self.mixin_resolution(&of, name, &found);
        mixed_in.unwrap_or_else(|| self.target_resolution(found, "member", "no such member"))
    }

    /// Resolves a name in an import statement.
    fn import_name_resolution(&self, source: &Rc<PythonFile>, reference: &Reference) -> Resolution {
        let facts = source.facts();
        let found = match imports::import_name_at(facts, reference) {
            Some(ImportName::Imported(at)) => self.import_target(source, &facts.imports[at as usize]),
            Some(ImportName::PathSegment(at, length)) => {
                let import = &facts.imports[at as usize];
                let dots = import.module.len() - import.module.trim_start_matches('.').len();
                let path = imports::segments(import)[..length].join(".");
                self.module(source, &format!("{}{path}", &import.module[..dots]))
            }
            None => NameTarget::Unresolved,
        };
        self.target_resolution(found, "import", "no such module")
    }

    /// Resolves a call of a local binding: to the functions or classes that it aliases, else to the binding itself.
    fn called_local_resolution(&self, place: &LookupSite, reference: &Reference, binding: u32) -> Resolution {
        let source = &place.source;
        let local = source.facts().bindings.get(binding as usize).filter(|binding| binding.kind == BindingKind::Local);
        let value = local.and_then(|local| local.value).map(|text| Expr::parse(source.expr_text(text)));
        let is_alias = matches!(value, Some(Expr::Name(_) | Expr::Attr(..) | Expr::Either(_)));
        if !is_alias || !matches!(reference.shape, RefShape::Call | RefShape::Construct) {
            return Resolution::Local;
        }
        let held = self.local(place, binding);
        let target = |one: &Type| match one {
            Type::Class(at, _) | Type::Function(at, _) => Some(*at),
            _ => None,
        };
        match held.alternatives().iter().map(target).collect::<Option<Vec<SymbolAt>>>() {
            Some(targets) => Resolution::Symbols { targets, confidence: Confidence::Heuristic, why: "value" },
            None => Resolution::Local,
        }
    }

    /// Returns the lookup site of a reference: decorators and bases are outside their symbol.
    fn lookup_site(&self, source: &Rc<PythonFile>, reference: &Reference) -> LookupSite {
        let around = reference.symbol.and_then(|at| Some((at, source.symbol(at)?)));
        let scope = match around {
            Some((_, symbol)) if reference.line < symbol.lines.start => symbol.parent,
            Some((_, symbol)) if reference.shape == RefShape::Extends => symbol.parent,
            _ => reference.symbol,
        };
        let in_header = around.is_some_and(|(at, symbol)| {
            scope == Some(at) && is_function(symbol.kind) && self.is_in_header(source, symbol, reference.line)
        });
        LookupSite { in_header, ..LookupSite::at(source, scope, reference.line) }
    }

    fn is_in_header(&self, source: &PythonFile, symbol: &codecompass_model::Symbol, line: u32) -> bool {
        if line == symbol.lines.start {
            return true;
        }
        if line > symbol.lines.start + 60 {
            return false;
        }
        let lines = self.lines(source);
        let text = lines.text().get(symbol.span.start as usize..lines.start(line)).unwrap_or("");
        let count = |brackets: [char; 2]| text.matches(brackets).count();
        count(['(', '[']) > count([')', ']'])
    }

    fn target_resolution(&self, found: NameTarget, why: &'static str, missing: &'static str) -> Resolution {
        match found {
            NameTarget::Symbols(all) => {
                Resolution::Symbols { targets: all.to_vec(), confidence: Confidence::Static, why }
            }
            NameTarget::Module(stem) => Resolution::Module(self.modules.files(&stem).to_vec()),
            NameTarget::External => Resolution::External,
            NameTarget::Local(_) => Resolution::Local,
            NameTarget::Unresolved => Resolution::Unknown(missing),
        }
    }
}
