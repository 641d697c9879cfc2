//! Looks up members of values, classes and modules: base classes in their order, and receivers of methods.

use std::rc::Rc;

use codecompass_model::{SymbolAt, SymbolKind};

use super::builtins::is_of_the_language;
use super::expression::Expr;
use super::names::Place;
use super::source::Entry;
use super::types::{Found, Type};
use super::{Question, Rules};

/// Returns whether every object, class or function has a member of this name.
fn is_common(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__") || name == "mro"
}

/// The maximum length of a method resolution order.
const MAX_BASES: usize = 200;

impl Rules<'_> {
    /// Returns the member of a value.
    pub(super) fn member(&self, of: &Type, name: &str) -> Found {
        match of {
            Type::Class(class, _) | Type::Instance(class, _) => self.class_member(*class, name, 0).0,
            Type::Own(class) | Type::OwnClass(class) => self.own_member(*class, name, 0),
            Type::Super(class) => self.own_member(*class, name, 1),
            Type::Module(stem) => match self.module_name(stem, name) {
                Found::Missing if name.starts_with("__") => Found::External,
                found => found,
            },
            Type::External => Found::External,
            Type::Given | Type::Box(..) if is_of_the_language(name) => Found::External,
            Type::Function(..) | Type::Method(..) if is_common(name) => Found::External,
            Type::Given | Type::Box(..) | Type::Function(..) | Type::Method(..) => Found::Missing,
            Type::Union(all) => self.any_member(all, name),
            Type::Var(_, bound) => self.member(bound, name),
            Type::Unknown | Type::Nothing => Found::Missing,
        }
    }

    fn any_member(&self, all: &[Type], name: &str) -> Found {
        let mut symbols: Vec<SymbolAt> = Vec::new();
        let mut other = Found::Missing;
        for one in all {
            match self.member(one, name) {
                Found::Symbols(more) => more.iter().for_each(|at| {
                    if !symbols.contains(at) {
                        symbols.push(*at);
                    }
                }),
                Found::Missing => {}
                found => other = found,
            }
        }
        if symbols.is_empty() { other } else { Found::Symbols(symbols.into()) }
    }

    /// Returns the member of a class or one of its bases, and the class that has it; the first `skipped` are left out.
    pub(super) fn class_member(&self, class: SymbolAt, name: &str, skipped: usize) -> (Found, Option<Type>) {
        let order = self.order(class);
        let mut is_outside = false;
        for base in order.iter().skip(skipped) {
            match base {
                Type::Instance(at, _) => {
                    let own = self.own_members(*at, name);
                    if !own.is_empty() {
                        return (Found::Symbols(own.into()), Some(base.clone()));
                    }
                }
                Type::Unknown => {}
                _ => is_outside = true,
            }
        }
        (if is_outside || is_common(name) { Found::External } else { Found::Missing }, None)
    }

    /// Returns the member of `self`. `self` may be an instance of a subclass with further bases: a member that no base
    /// of the view has is external only if no class of the view has it.
    fn own_member(&self, class: SymbolAt, name: &str, skipped: usize) -> Found {
        let has_member = || self.world.symbols_named(name).iter().any(|at| self.method(*at).is_some());
        match self.class_member(class, name, skipped).0 {
            Found::External if !is_common(name) && has_member() => Found::Missing,
            found => found,
        }
    }

    pub(super) fn own_members(&self, class: SymbolAt, name: &str) -> Vec<SymbolAt> {
        let Some(source) = self.source(class.file) else { return Vec::new() };
        let mut own = Vec::new();
        for entry in source.entries(Some(class.place), name) {
            match entry {
                Entry::Symbol(place) => own.push(SymbolAt { file: class.file, place }),
                Entry::Import(at) => {
                    if let Found::Symbols(all) = self.imported(&source, at) {
                        own.extend(all.iter());
                    }
                }
                Entry::Binding(_) => {}
            }
        }
        // The getter, setter and deleter of a property are one member, represented by the first.
        let is_property =
            |at: &SymbolAt| source.symbol(at.place).is_some_and(|symbol| symbol.kind == SymbolKind::Property);
        if own.first().is_some_and(|first| first.file == class.file && is_property(first)) {
            own.truncate(1);
        }
        own
    }

    /// Returns the methods of the same name in subclasses of the declaring class, except members that every class has.
    pub(super) fn overriding(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        let Some((class, name)) = self.method(declared) else { return Vec::new() };
        if name.starts_with("__") {
            return Vec::new();
        }
        let is_below = |at: &SymbolAt| {
            let own = self.method(*at).map(|(own, _)| own).filter(|own| *own != class);
            own.is_some_and(|own| {
                self.order(own).iter().any(|base| matches!(base, Type::Instance(at, _) if *at == class))
            })
        };
        self.world.symbols_named(&name).iter().copied().filter(is_below).collect()
    }

    /// Returns the class of a method or property, and its name.
    fn method(&self, at: SymbolAt) -> Option<(SymbolAt, String)> {
        let source = self.source(at.file)?;
        let symbol = source.symbol(at.place)?;
        let is_member = matches!(symbol.kind, SymbolKind::Method | SymbolKind::Property | SymbolKind::Constructor);
        let place = symbol.parent.filter(|_| is_member)?;
        let is_class = source.symbol(place)?.kind == SymbolKind::Class;
        is_class.then(|| (SymbolAt { file: at.file, place }, symbol.name.clone()))
    }

    /// Returns a class and its bases in method resolution order, in terms of the class's own parameters.
    pub(super) fn order(&self, class: SymbolAt) -> Rc<[Type]> {
        let alone: Rc<[Type]> = Rc::from([Type::instance(class)]);
        self.orders.answer(&self.course, class, alone, || {
            let params: Rc<[Type]> =
                self.parameters(class).iter().map(|name| Type::Var(name.clone(), Rc::new(Type::Unknown))).collect();
            let bases = self.bases(class);
            let mut rows: Vec<Vec<Type>> = bases.iter().map(|base| self.order_of_base(base)).collect();
            rows.push(bases.to_vec());
            let mut order = vec![Type::Instance(class, params)];
            merge(&mut order, rows);
            order.into()
        })
    }

    fn order_of_base(&self, base: &Type) -> Vec<Type> {
        match base {
            Type::Instance(class, _) => {
                let order = self.order(*class);
                order.iter().map(|one| self.filled_in(one, base)).collect()
            }
            other => vec![other.clone()],
        }
    }

    /// Returns the direct bases of a class.
    pub(super) fn bases(&self, class: SymbolAt) -> Rc<[Type]> {
        let mut all = Vec::new();
        self.with_bases(class, |base, place| {
            if !is_generic(base) {
                all.push(match self.annotation(base, place) {
                    Type::Union(several) => several.first().cloned().unwrap_or(Type::Unknown),
                    Type::Own(_) | Type::Var(..) | Type::Nothing => Type::Unknown,
                    // A class created by a call: a named tuple, or the result of a function.
                    Type::Unknown if matches!(base, Expr::Call(..)) => self.as_instance(&self.value(base, place)),
                    one => one,
                });
            }
        });
        all.into()
    }

    /// Returns the names of a class's type parameters.
    pub(super) fn parameters(&self, class: SymbolAt) -> Rc<[Rc<str>]> {
        let mut listed: Option<Vec<Rc<str>>> = None;
        let mut met: Vec<Rc<str>> = Vec::new();
        self.with_bases(class, |base, place| {
            let Expr::Index(_, arguments) = base else { return };
            let mut own = Vec::new();
            for argument in arguments.iter().filter_map(Expr::last_name) {
                if let Type::Var(name, _) = self.annotation(&Expr::Name(argument), place) {
                    own.push(name);
                }
            }
            if is_generic(base) {
                listed = Some(own);
            } else {
                own.into_iter().for_each(|name| {
                    if !met.contains(&name) {
                        met.push(name);
                    }
                });
            }
        });
        if listed.is_none()
            && let Some(written) = self.written_parameters(class)
        {
            return written;
        }
        listed.unwrap_or(met).into()
    }

    /// Returns the parameters of `class A[T, U]`.
    fn written_parameters(&self, class: SymbolAt) -> Option<Rc<[Rc<str>]>> {
        let source = self.source(class.file)?;
        let own = source.own_params(class.place).map(Rc::from).collect::<Vec<Rc<str>>>();
        (!own.is_empty()).then(|| own.into())
    }

    fn with_bases(&self, class: SymbolAt, mut show: impl FnMut(&Expr<'_>, &Place)) {
        let Some(source) = self.source(class.file) else { return };
        let Some(symbol) = source.symbol(class.place).filter(|symbol| symbol.kind == SymbolKind::Class) else { return };
        // Type parameters in brackets are in scope only inside the class.
        let has_own = !source.type_params(class.place).is_empty();
        let scope = if has_own { Some(class.place) } else { symbol.parent };
        let place = Place::at(&source, scope, symbol.lines.start);
        for base in &symbol.bases {
            show(&Expr::parse(source.written(*base)), &place);
        }
    }

    /// Returns the type of a member of a value.
    pub(super) fn member_type(&self, of: &Type, name: &str) -> Type {
        match of {
            Type::Union(all) => Type::one_of(all.iter().map(|one| self.member_type(one, name))),
            Type::Box(..) => Type::Method(Rc::new(of.clone()), Rc::from(name)),
            Type::External => Type::External,
            Type::Given | Type::Method(..) | Type::Function(..) => Type::Given,
            Type::Class(class, _) | Type::OwnClass(class) => self.bound(*class, name, 0, of),
            Type::Instance(class, _) | Type::Own(class) => self.bound(*class, name, 0, of),
            Type::Super(class) => self.bound(*class, name, 1, &Type::Own(*class)),
            Type::Module(stem) => self.found_type(&self.module_name(stem, name), None),
            Type::Var(_, bound) => self.member_type(bound, name),
            Type::Unknown | Type::Nothing => Type::Unknown,
        }
    }

    fn bound(&self, class: SymbolAt, name: &str, skipped: usize, to: &Type) -> Type {
        let (found, base) = self.class_member(class, name, skipped);
        let base = match (&found, base) {
            (Found::External, _) => {
                // An external container among the bases knows its methods.
                let order = self.order(class);
                let outside = order.iter().find(|base| matches!(base, Type::Box(..)));
                return match (outside, name) {
                    (_, "__class__") => self.as_class(to),
                    (Some(container), _) => Type::Method(Rc::new(self.filled_in(container, to)), Rc::from(name)),
                    (None, _) => Type::External,
                };
            }
            (_, Some(base)) => base,
            _ => return Type::Unknown,
        };
        // A member's type is in terms of its class, and that class is in terms of the queried class.
        let base = self.filled_in(&base, to);
        let held = self.filled_by(&self.found_type(&found, Some(to)), &base, to);
        match held {
            Type::Instance(at, _) if self.is_descriptor(at) && self.is_field(&found) => self.read_through(&held),
            held => held,
        }
    }

    /// Returns the type of reading a descriptor: the result of its `__get__`, without the descriptor itself, which only
    /// the class gets.
    fn read_through(&self, descriptor: &Type) -> Type {
        let given = self.given(descriptor, "__get__").unwrap_or(Type::Unknown);
        Type::one_of(given.alternatives().iter().filter(|one| *one != descriptor).cloned())
    }

    fn is_field(&self, found: &Found) -> bool {
        let Found::Symbols(all) = found else { return false };
        let kind = |at: &SymbolAt| self.source(at.file)?.symbol(at.place).map(|symbol| symbol.kind);
        all.iter().all(|at| kind(at) == Some(SymbolKind::Field))
    }

    /// Returns the type of a lookup result.
    pub(super) fn found_type(&self, found: &Found, to: Option<&Type>) -> Type {
        match found {
            Found::Symbols(all) => Type::one_of(all.iter().map(|at| self.symbol_type(*at, to))),
            Found::Module(stem) => Type::Module(stem.clone()),
            Found::External => Type::External,
            Found::Local(_) | Found::Missing => Type::Unknown,
        }
    }

    /// Returns the type of a symbol that is read, through a value or by its name.
    fn symbol_type(&self, at: SymbolAt, to: Option<&Type>) -> Type {
        let Some(source) = self.source(at.file) else { return Type::Unknown };
        let Some(symbol) = source.symbol(at.place) else { return Type::Unknown };
        match symbol.kind {
            SymbolKind::Class => Type::Class(at, Rc::from([])),
            SymbolKind::Fn | SymbolKind::Method => match self.decorated(at) {
                Type::Unknown => Type::Function(at, to.cloned().map(Rc::new)),
                other => other,
            },
            SymbolKind::Property if matches!(to, Some(Type::Class(..) | Type::OwnClass(_))) => Type::External,
            SymbolKind::Property => self.returned(at),
            SymbolKind::Variant => match symbol.parent {
                Some(class) => Type::instance(SymbolAt { file: at.file, place: class }),
                None => Type::Unknown,
            },
            _ => self.variable(at),
        }
    }

    /// Returns the type of a function that a decorator of the view replaces.
    fn decorated(&self, at: SymbolAt) -> Type {
        let Some(source) = self.source(at.file) else { return Type::Unknown };
        if source.decorators(at.place).is_empty() {
            return Type::Unknown;
        }
        self.types.answer(&self.course, Question::Decorated(at), Type::Unknown, || {
            let Some(outermost) = source.decorators(at.place).first().copied() else { return Type::Unknown };
            let Some(reference) = source.facts().references.get(outermost as usize) else { return Type::Unknown };
            let parent = source.symbol(at.place).and_then(|symbol| symbol.parent);
            let place = Place::at(&source, parent, reference.line);
            let path = match reference.qualifier {
                Some(qualifier) => format!("{}.{}", source.written(qualifier), source.name(reference.name)),
                None => source.name(reference.name).to_owned(),
            };
            let given = match self.value(&Expr::parse(&path), &place) {
                Type::Class(class, _) => Type::instance(class),
                Type::Function(decorator, _) => self.declared_return(decorator),
                _ => Type::Unknown,
            };
            match given {
                Type::Instance(class, _) if !self.is_descriptor(class) => given,
                _ => Type::Unknown,
            }
        })
    }

    fn is_descriptor(&self, class: SymbolAt) -> bool {
        matches!(self.class_member(class, "__get__", 0).0, Found::Symbols(_))
    }
}

/// Returns whether a base only lists parameters: `Generic[T]` and `Protocol[T]`.
fn is_generic(base: &Expr<'_>) -> bool {
    match base {
        Expr::Index(head, _) => matches!(head.last_name(), Some("Generic" | "Protocol")),
        _ => false,
    }
}

/// Merges the bases so that every class precedes its bases and bases keep their source order; if that is impossible,
/// the first remaining class comes next.
fn merge(order: &mut Vec<Type>, mut rows: Vec<Vec<Type>>) {
    let same = |one: &Type, other: &Type| match (one, other) {
        (Type::Instance(one, _), Type::Instance(other, _)) => one == other,
        _ => one == other,
    };
    while order.len() < MAX_BASES {
        rows.retain(|row| !row.is_empty());
        let is_free = |head: &Type| !rows.iter().any(|row| row.iter().skip(1).any(|later| same(later, head)));
        let heads = || rows.iter().filter_map(|row| row.first());
        let Some(next) = heads().find(|head| is_free(head)).or_else(|| heads().next()).cloned() else { return };
        rows.iter_mut().for_each(|row| row.retain(|one| !same(one, &next)));
        order.push(next);
    }
}
