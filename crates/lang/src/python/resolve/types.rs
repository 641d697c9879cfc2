//! The type of a value, as far as member lookups need it.

use std::rc::Rc;

use codecompass_model::SymbolAt;

/// The maximum number of alternatives; more are treated as unknown.
const MAX_ALTERNATIVES: usize = 12;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::enum_variant_names, reason = "Python names these types so")]
pub(super) enum Type {
    Unknown,
    /// Known to be external, or built in without interesting members.
    External,
    /// The result of an external function. It may be a value that the view passed in before, so only members of
    /// Python's own types are known to be external.
    ExternalResult,
    NoneType,
    /// A class of the view itself, with the arguments of its type parameters.
    Class(SymbolAt, Rc<[Type]>),
    /// An instance of a class of the view.
    Instance(SymbolAt, Rc<[Type]>),
    /// The type of `self`, in a method of this class.
    SelfType(SymbolAt),
    /// The type of `cls`, in a method of this class.
    SelfClass(SymbolAt),
    /// `super()` in a method of this class.
    Super(SymbolAt),
    /// A function, and the receiver that it is bound to.
    Function(SymbolAt, Option<Rc<Type>>),
    /// A module, by its path without the extension.
    Module(Rc<str>),
    /// A container of the standard library.
    Container(ContainerKind, Rc<[Type]>),
    /// A method of a container.
    Method(Rc<Type>, Rc<str>),
    /// A type parameter, and its bound.
    Var(Rc<str>, Rc<Type>),
    Union(Rc<[Type]>),
}

/// The kind of a container, by the values it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ContainerKind {
    /// Elements of one type: a list, a set, any iterable.
    Iterable,
    /// Values by keys.
    Map,
    /// A fixed number of values.
    Tuple,
    /// A context manager for `with`.
    Context,
    /// A callable, with its return type.
    Callable,
}

impl Type {
    pub(super) fn instance(class: SymbolAt) -> Self {
        Type::Instance(class, Rc::from([]))
    }

    pub(super) fn iterable_of(element: Type) -> Self {
        Type::Container(ContainerKind::Iterable, Rc::from([element]))
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Type::Unknown)
    }

    /// Returns the union of several types. Unknown alternatives are left out if another one is known; a union of only
    /// external and unknown types is an `ExternalResult`, which may be anything.
    pub(super) fn union_of(all: impl IntoIterator<Item = Type>) -> Self {
        let mut known: Vec<Type> = Vec::new();
        let mut is_open = false;
        for one in all {
            match one {
                Type::Unknown => is_open = true,
                Type::Union(inner) => inner.iter().for_each(|one| add(&mut known, one.clone())),
                one => add(&mut known, one),
            }
        }
        match known.len() {
            0 => Type::Unknown,
            1 if is_open && known[0] == Type::External => Type::ExternalResult,
            1 => known.pop().unwrap_or(Type::Unknown),
            2..=MAX_ALTERNATIVES => Type::Union(known.into()),
            _ => Type::Unknown,
        }
    }

    /// Returns the alternatives; the type itself if there is only one.
    pub(super) fn alternatives(&self) -> &[Type] {
        match self {
            Type::Union(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    /// Returns the type with every part of it changed, from the inside out.
    pub(super) fn map(&self, change: &dyn Fn(Type) -> Type) -> Type {
        let parts = |all: &Rc<[Type]>| -> Rc<[Type]> { all.iter().map(|one| one.map(change)).collect() };
        change(match self {
            Type::Class(class, all) if !all.is_empty() => Type::Class(*class, parts(all)),
            Type::Instance(class, all) if !all.is_empty() => Type::Instance(*class, parts(all)),
            Type::Container(shape, all) => Type::Container(*shape, parts(all)),
            Type::Union(all) => Type::union_of(all.iter().map(|one| one.map(change))),
            other => other.clone(),
        })
    }

    /// Returns whether it contains type variables that are not yet substituted.
    pub(super) fn has_type_vars(&self) -> bool {
        match self {
            Type::Var(..) | Type::SelfType(_) | Type::SelfClass(_) => true,
            Type::Class(_, all) | Type::Instance(_, all) | Type::Container(_, all) | Type::Union(all) => {
                all.iter().any(Type::has_type_vars)
            }
            _ => false,
        }
    }
}

fn add(known: &mut Vec<Type>, one: Type) {
    if !known.contains(&one) {
        known.push(one);
    }
}

/// The target of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NameTarget {
    Symbols(Rc<[SymbolAt]>),
    Module(Rc<str>),
    External,
    /// A local binding, by its index into the bindings of the file of the lookup.
    Local(u32),
    Unresolved,
}
