//! Looks up members of values, classes and modules: base classes in their order, and receivers of methods.

use std::rc::Rc;

use codecompass_model::{SymbolAt, SymbolKind};

use super::builtins::is_language_member;
use super::expression::Expr;
use super::names::LookupSite;
use super::source::ScopeEntry;
use super::types::{NameTarget, Type};
use super::{PythonResolver, TypeQuery};

/// Returns whether every object, class or function has a member of this name.
fn is_universal_member(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__") || name == "mro"
}

/// The maximum length of a method resolution order.
const MAX_BASES: usize = 200;

impl PythonResolver<'_> {
    /// Returns the member of a value.
    pub(super) fn member(&self, of: &Type, name: &str) -> NameTarget {
        match of {
            Type::Class(class, _) | Type::Instance(class, _) => self.class_member(*class, name, 0).0,
            Type::SelfType(class) | Type::SelfClass(class) => self.self_member(*class, name, 0),
            Type::Super(class) => self.self_member(*class, name, 1),
            Type::Module(stem) => match self.module_name(stem, name) {
                NameTarget::Unresolved if name.starts_with("__") => NameTarget::External,
                found => found,
            },
            Type::External => NameTarget::External,
            Type::ExternalResult | Type::Container(..) if is_language_member(name) => NameTarget::External,
            Type::Function(..) | Type::Method(..) if is_universal_member(name) => NameTarget::External,
            Type::ExternalResult | Type::Container(..) | Type::Function(..) | Type::Method(..) => {
                NameTarget::Unresolved
            }
            Type::Union(all) => self.any_member(all, name),
            Type::Var(_, bound) => self.member(bound, name),
            Type::Unknown | Type::NoneType => NameTarget::Unresolved,
        }
    }

    fn any_member(&self, all: &[Type], name: &str) -> NameTarget {
        let mut symbols: Vec<SymbolAt> = Vec::new();
        let mut other = NameTarget::Unresolved;
        for one in all {
            match self.member(one, name) {
                NameTarget::Symbols(more) => more.iter().for_each(|at| {
                    if !symbols.contains(at) {
                        symbols.push(*at);
                    }
                }),
                NameTarget::Unresolved => {}
                found => other = found,
            }
        }
        if symbols.is_empty() { other } else { NameTarget::Symbols(symbols.into()) }
    }

    /// Returns the member of a class or one of its bases, and the class that has it; the first `skipped` are left out.
    pub(super) fn class_member(&self, class: SymbolAt, name: &str, skipped: usize) -> (NameTarget, Option<Type>) {
        let order = self.method_resolution_order(class);
        let mut is_outside = false;
        for base in order.iter().skip(skipped) {
            match base {
                Type::Instance(at, _) => {
                    let own = self.members_in_class(*at, name);
                    if !own.is_empty() {
                        return (NameTarget::Symbols(own.into()), Some(base.clone()));
                    }
                }
                Type::Unknown => {}
                _ => is_outside = true,
            }
        }
        (if is_outside || is_universal_member(name) { NameTarget::External } else { NameTarget::Unresolved }, None)
    }

    /// Returns the member of `self`. `self` may be an instance of a subclass with further bases: a member that no base
    /// of the view has is external only if no class of the view has it.
    fn self_member(&self, class: SymbolAt, name: &str, skipped: usize) -> NameTarget {
        let has_member = || self.world.symbols_named(name).iter().any(|at| self.method(*at).is_some());
        match self.class_member(class, name, skipped).0 {
            NameTarget::External if !is_universal_member(name) && has_member() => NameTarget::Unresolved,
            found => found,
        }
    }

    pub(super) fn members_in_class(&self, class: SymbolAt, name: &str) -> Vec<SymbolAt> {
        let Some(source) = self.source(class.file) else { return Vec::new() };
        let mut own = Vec::new();
        for entry in source.entries(Some(class.ordinal), name) {
            match entry {
                ScopeEntry::Symbol(place) => own.push(SymbolAt { file: class.file, ordinal: place }),
                ScopeEntry::Import(at) => {
                    if let NameTarget::Symbols(all) = self.imported(&source, at) {
                        own.extend(all.iter());
                    }
                }
                ScopeEntry::Binding(_) => {}
            }
        }
        // The getter, setter and deleter of a property are one member, represented by the first.
        let is_property =
            |at: &SymbolAt| source.symbol(at.ordinal).is_some_and(|symbol| symbol.kind == SymbolKind::Property);
        if own.first().is_some_and(|first| first.file == class.file && is_property(first)) {
            own.truncate(1);
        }
        own
    }

    /// Returns the methods of the same name in subclasses of the declaring class, except members that every class has.
    pub(super) fn find_overrides(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        let Some((class, name)) = self.method(declared) else { return Vec::new() };
        if name.starts_with("__") {
            return Vec::new();
        }
        let is_below = |at: &SymbolAt| {
            let own = self.method(*at).map(|(own, _)| own).filter(|own| *own != class);
            own.is_some_and(|own| {
                self.method_resolution_order(own)
                    .iter()
                    .any(|base| matches!(base, Type::Instance(at, _) if *at == class))
            })
        };
        self.world.symbols_named(&name).iter().copied().filter(is_below).collect()
    }

    /// Returns the class of a method or property, and its name.
    fn method(&self, at: SymbolAt) -> Option<(SymbolAt, String)> {
        let source = self.source(at.file)?;
        let symbol = source.symbol(at.ordinal)?;
        let is_member = matches!(symbol.kind, SymbolKind::Method | SymbolKind::Property | SymbolKind::Constructor);
        let place = symbol.parent.filter(|_| is_member)?;
        let is_class = source.symbol(place)?.kind == SymbolKind::Class;
        is_class.then(|| (SymbolAt { file: at.file, ordinal: place }, symbol.name.clone()))
    }

    /// Returns a class and its bases in method resolution order, in terms of the class's own parameters.
    pub(super) fn method_resolution_order(&self, class: SymbolAt) -> Rc<[Type]> {
        let alone: Rc<[Type]> = Rc::from([Type::instance(class)]);
        self.resolution_orders.compute_cyclic(&self.query_stack, class, alone, || {
            let params: Rc<[Type]> =
                self.parameters(class).iter().map(|name| Type::Var(name.clone(), Rc::new(Type::Unknown))).collect();
            let bases = self.bases(class);
            let mut rows: Vec<Vec<Type>> = bases.iter().map(|base| self.base_resolution_order(base)).collect();
            rows.push(bases.to_vec());
            let mut order = vec![Type::Instance(class, params)];
            merge(&mut order, rows);
            order.into()
        })
    }

    fn base_resolution_order(&self, base: &Type) -> Vec<Type> {
        match base {
            Type::Instance(class, _) => {
                let order = self.method_resolution_order(*class);
                order.iter().map(|one| self.substitute_class_params(one, base)).collect()
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
                    Type::SelfType(_) | Type::Var(..) | Type::NoneType => Type::Unknown,
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
            && let Some(written) = self.explicit_type_parameters(class)
        {
            return written;
        }
        listed.unwrap_or(met).into()
    }

    /// Returns the parameters of `class A[T, U]`.
    fn explicit_type_parameters(&self, class: SymbolAt) -> Option<Rc<[Rc<str>]>> {
        let source = self.source(class.file)?;
        let own = source.own_params(class.ordinal).map(Rc::from).collect::<Vec<Rc<str>>>();
        (!own.is_empty()).then(|| own.into())
    }

    fn with_bases(&self, class: SymbolAt, mut show: impl FnMut(&Expr<'_>, &LookupSite)) {
        let Some(source) = self.source(class.file) else { return };
        let Some(symbol) = source.symbol(class.ordinal).filter(|symbol| symbol.kind == SymbolKind::Class) else {
            return;
        };
        // Type parameters in brackets are in scope only inside the class.
        let has_own = !source.type_params(class.ordinal).is_empty();
        let scope = if has_own { Some(class.ordinal) } else { symbol.parent };
        let place = LookupSite::at(&source, scope, symbol.lines.start);
        for base in &symbol.bases {
            show(&Expr::parse(source.expr_text(*base)), &place);
        }
    }

    /// Returns the type of a member of a value.
    pub(super) fn member_type(&self, of: &Type, name: &str) -> Type {
        match of {
            Type::Union(all) => Type::union_of(all.iter().map(|one| self.member_type(one, name))),
            Type::Container(..) => Type::Method(Rc::new(of.clone()), Rc::from(name)),
            Type::External => Type::External,
            Type::ExternalResult | Type::Method(..) | Type::Function(..) => Type::ExternalResult,
            Type::Class(class, _) | Type::SelfClass(class) => self.bound(*class, name, 0, of),
            Type::Instance(class, _) | Type::SelfType(class) => self.bound(*class, name, 0, of),
            Type::Super(class) => self.bound(*class, name, 1, &Type::SelfType(*class)),
            Type::Module(stem) => self.target_type(&self.module_name(stem, name), None),
            Type::Var(_, bound) => self.member_type(bound, name),
            Type::Unknown | Type::NoneType => Type::Unknown,
        }
    }

    fn bound(&self, class: SymbolAt, name: &str, skipped: usize, to: &Type) -> Type {
        let (found, base) = self.class_member(class, name, skipped);
        let base = match (&found, base) {
            (NameTarget::External, _) => {
                // An external container among the bases knows its methods.
                let order = self.method_resolution_order(class);
                let outside = order.iter().find(|base| matches!(base, Type::Container(..)));
                return match (outside, name) {
                    (_, "__class__") => self.as_class(to),
                    (Some(container), _) => {
                        Type::Method(Rc::new(self.substitute_class_params(container, to)), Rc::from(name))
                    }
                    (None, _) => Type::External,
                };
            }
            (_, Some(base)) => base,
            _ => return Type::Unknown,
        };
        // A member's type is in terms of its class, and that class is in terms of the queried class.
        let base = self.substitute_class_params(&base, to);
        let held = self.substitute_through_base(&self.target_type(&found, Some(to)), &base, to);
        match held {
            Type::Instance(at, _) if self.is_descriptor(at) && self.is_field(&found) => self.descriptor_type(&held),
            held => held,
        }
    }

    /// Returns the type of reading a descriptor: the result of its `__get__`, without the descriptor itself, which only
    /// the class gets.
    fn descriptor_type(&self, descriptor: &Type) -> Type {
        let given = self.dunder_result(descriptor, "__get__").unwrap_or(Type::Unknown);
        Type::union_of(given.alternatives().iter().filter(|one| *one != descriptor).cloned())
    }

    fn is_field(&self, found: &NameTarget) -> bool {
        let NameTarget::Symbols(all) = found else { return false };
        let kind = |at: &SymbolAt| self.source(at.file)?.symbol(at.ordinal).map(|symbol| symbol.kind);
        all.iter().all(|at| kind(at) == Some(SymbolKind::Field))
    }

    /// Returns the type of a lookup result.
    pub(super) fn target_type(&self, found: &NameTarget, to: Option<&Type>) -> Type {
        match found {
            NameTarget::Symbols(all) => Type::union_of(all.iter().map(|at| self.symbol_type(*at, to))),
            NameTarget::Module(stem) => Type::Module(stem.clone()),
            NameTarget::External => Type::External,
            NameTarget::Local(_) | NameTarget::Unresolved => Type::Unknown,
        }
    }

    /// Returns the type of a symbol that is read, through a value or by its name.
    fn symbol_type(&self, at: SymbolAt, to: Option<&Type>) -> Type {
        let Some(source) = self.source(at.file) else { return Type::Unknown };
        let Some(symbol) = source.symbol(at.ordinal) else { return Type::Unknown };
        match symbol.kind {
            SymbolKind::Class => Type::Class(at, Rc::from([])),
            SymbolKind::Fn | SymbolKind::Method => match self.decorated(at) {
                Type::Unknown => Type::Function(at, to.cloned().map(Rc::new)),
                other => other,
            },
            SymbolKind::Property if matches!(to, Some(Type::Class(..) | Type::SelfClass(_))) => Type::External,
            SymbolKind::Property => self.return_type(at),
            SymbolKind::Variant => match symbol.parent {
                Some(class) => Type::instance(SymbolAt { file: at.file, ordinal: class }),
                None => Type::Unknown,
            },
            _ => self.variable(at),
        }
    }

    /// Returns the type of a function that a decorator of the view replaces.
    fn decorated(&self, at: SymbolAt) -> Type {
        let Some(source) = self.source(at.file) else { return Type::Unknown };
        if source.decorators(at.ordinal).is_empty() {
            return Type::Unknown;
        }
        self.types.compute_cyclic(&self.query_stack, TypeQuery::Decorated(at), Type::Unknown, || {
            let Some(outermost) = source.decorators(at.ordinal).first().copied() else { return Type::Unknown };
            let Some(reference) = source.facts().references.get(outermost as usize) else { return Type::Unknown };
            let parent = source.symbol(at.ordinal).and_then(|symbol| symbol.parent);
            let place = LookupSite::at(&source, parent, reference.line);
            let path = match reference.qualifier {
                Some(qualifier) => format!("{}.{}", source.expr_text(qualifier), source.name(reference.name)),
                None => source.name(reference.name).to_owned(),
            };
            let given = match self.value(&Expr::parse(&path), &place) {
                Type::Class(class, _) => Type::instance(class),
                Type::Function(decorator, _) => self.declared_return_type(decorator),
                _ => Type::Unknown,
            };
            match given {
                Type::Instance(class, _) if !self.is_descriptor(class) => given,
                _ => Type::Unknown,
            }
        })
    }

    fn is_descriptor(&self, class: SymbolAt) -> bool {
        matches!(self.class_member(class, "__get__", 0).0, NameTarget::Symbols(_))
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
