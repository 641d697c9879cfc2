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
mod reached;
mod returns;
mod source;
mod types;
mod values;

use std::rc::Rc;

use codecompass_model::{
    BindingKind, Confidence, ExprId, Meaning, Reached, RefShape, Reference, Resolver, SymbolAt, VersionId, World,
};

use crate::resolve::imports::{self, Part};
use crate::resolve::{parts, returned};
use crate::rules::memo::{Course, Memo};
use expression::Expr;
use modules::Modules;
use names::{Place, Root};
use source::{Source, is_function};
use types::{Found, Type};

/// The maximum depth of nested queries.
const MAX_DEPTH: u32 = 48;

/// The resolver of one view.
pub(super) struct Rules<'w> {
    world: Rc<dyn World + 'w>,
    modules: Modules<'w>,
    sources: Memo<VersionId, Option<Rc<Source>>>,
    course: Course,
    types: Memo<Question, Type>,
    names: Memo<(Rc<str>, Rc<str>), Found>,
    orders: Memo<SymbolAt, Rc<[Type]>>,
    /// The subclasses of a class; `None` for too many.
    below: Memo<SymbolAt, Option<Rc<[SymbolAt]>>>,
}

/// A query for a type.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Question {
    /// The type of a value that is annotated with this symbol.
    Declared(SymbolAt),
    Returned(SymbolAt),
    Variable(SymbolAt),
    Decorated(SymbolAt),
    Binding(VersionId, u32),
    Text(VersionId, Option<u32>, ExprId, Root, u32),
}

/// Creates the resolver.
pub(super) fn resolver<'w>(world: Rc<dyn World + 'w>) -> Box<dyn Resolver + 'w> {
    Box::new(Rules {
        modules: Modules::new(Rc::clone(&world)),
        world,
        sources: Memo::default(),
        course: Course::new(MAX_DEPTH, u32::MAX),
        types: Memo::default(),
        names: Memo::default(),
        orders: Memo::default(),
        below: Memo::default(),
    })
}

impl Resolver for Rules<'_> {
    fn reference(&self, file: VersionId, at: u32) -> Meaning {
        self.course.begin();
        let Some(source) = self.source(file) else { return Meaning::Unknown("no file") };
        let Some(reference) = source.facts().references.get(at as usize) else {
            return Meaning::Unknown("no reference");
        };
        self.meaning(&source, reference)
    }

    fn import(&self, file: VersionId, at: u32) -> Meaning {
        self.course.begin();
        let Some(source) = self.source(file) else { return Meaning::Unknown("no file") };
        let Some(import) = source.facts().imports.get(at as usize) else { return Meaning::Unknown("no import") };
        let found = self.import_target(&source, import);
        self.answer(found, "import", "no such module")
    }

    fn returned(&self, function: SymbolAt) -> Vec<SymbolAt> {
        returned::returned(&*self.world, function)
    }

    fn reached(&self, file: VersionId, at: u32) -> Option<Reached> {
        self.course.begin();
        let source = self.source(file)?;
        let reference = *source.facts().references.get(at as usize)?;
        self.reached_by(&source, &reference)
    }

    fn parts_of(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        parts::merged(&*self.world, declared)
    }

    fn implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        self.course.begin();
        self.overriding(declared)
    }
}

impl Rules<'_> {
    /// Returns a Python file of the view.
    fn source(&self, id: VersionId) -> Option<Rc<Source>> {
        self.sources.once(&id, || {
            let file = self.world.file(id).filter(|file| file.language == "python");
            file.map(|file| Rc::new(Source::new(file)))
        })
    }

    fn meaning(&self, source: &Rc<Source>, reference: &Reference) -> Meaning {
        match (reference.shape, reference.qualifier) {
            (RefShape::Binds, _) => return Meaning::Local,
            (RefShape::Import, _) => return self.in_import(source, reference),
            (RefShape::Mention, _) => return Meaning::Unknown("no rule reads a name here"),
            (RefShape::Member, None) => return Meaning::Unknown("the name of an argument"),
            _ => {}
        }
        let place = self.place_of(source, reference);
        let name = source.name(reference.name);
        let Some(qualifier) = reference.qualifier else {
            if let Some(binding) = reference.binding {
                return self.called_local(&place, reference, binding);
            }
            let found = self.look_up(&place, name, false);
            return self.answer(found, "scope", "no such name");
        };
        let place = self.receiver_place(&place, reference.binding, qualifier);
        let of = self.text_type(&place, qualifier);
        if of.is_unknown() {
            let guess = (reference.shape == RefShape::MemberCall).then(|| self.guess(name)).flatten();
            return guess.unwrap_or(Meaning::Unknown("receiver's type"));
        }
        let found = self.member(&of, name);
        let mixed_in = self.mixed_in(&of, name, &found);
        mixed_in.unwrap_or_else(|| self.answer(found, "member", "no such member"))
    }

    /// Resolves a name in an import statement.
    fn in_import(&self, source: &Rc<Source>, reference: &Reference) -> Meaning {
        let facts = source.facts();
        let found = match imports::part(facts, reference) {
            Some(Part::Whole(at)) => self.import_target(source, &facts.imports[at as usize]),
            Some(Part::Path(at, length)) => {
                let import = &facts.imports[at as usize];
                let dots = import.module.len() - import.module.trim_start_matches('.').len();
                let path = imports::segments(import)[..length].join(".");
                self.module(source, &format!("{}{path}", &import.module[..dots]))
            }
            None => Found::Missing,
        };
        self.answer(found, "import", "no such module")
    }

    /// Resolves a call of a local binding: to the functions or classes that it aliases, else to the binding itself.
    fn called_local(&self, place: &Place, reference: &Reference, binding: u32) -> Meaning {
        let source = &place.source;
        let local = source.facts().bindings.get(binding as usize).filter(|binding| binding.kind == BindingKind::Local);
        let value = local.and_then(|local| local.value).map(|text| Expr::parse(source.written(text)));
        let is_alias = matches!(value, Some(Expr::Name(_) | Expr::Attr(..) | Expr::Either(_)));
        if !is_alias || !matches!(reference.shape, RefShape::Call | RefShape::Construct) {
            return Meaning::Local;
        }
        let held = self.local(place, binding);
        let target = |one: &Type| match one {
            Type::Class(at, _) | Type::Function(at, _) => Some(*at),
            _ => None,
        };
        match held.alternatives().iter().map(target).collect::<Option<Vec<SymbolAt>>>() {
            Some(targets) => Meaning::Symbols { targets, confidence: Confidence::Heuristic, why: "value" },
            None => Meaning::Local,
        }
    }

    /// Returns the lookup site of a reference: decorators and bases are outside their symbol.
    fn place_of(&self, source: &Rc<Source>, reference: &Reference) -> Place {
        let around = reference.symbol.and_then(|at| Some((at, source.symbol(at)?)));
        let scope = match around {
            Some((_, symbol)) if reference.line < symbol.lines.start => symbol.parent,
            Some((_, symbol)) if reference.shape == RefShape::Extends => symbol.parent,
            _ => reference.symbol,
        };
        let in_header = around.is_some_and(|(at, symbol)| {
            scope == Some(at) && is_function(symbol.kind) && self.is_in_header(source, symbol, reference.line)
        });
        Place { in_header, ..Place::at(source, scope, reference.line) }
    }

    fn is_in_header(&self, source: &Source, symbol: &codecompass_model::Symbol, line: u32) -> bool {
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

    fn answer(&self, found: Found, why: &'static str, missing: &'static str) -> Meaning {
        match found {
            Found::Symbols(all) => Meaning::Symbols { targets: all.to_vec(), confidence: Confidence::Static, why },
            Found::Module(stem) => Meaning::Module(self.modules.files(&stem).to_vec()),
            Found::External => Meaning::External,
            Found::Local(_) => Meaning::Local,
            Found::Missing => Meaning::Unknown(missing),
        }
    }
}
