//! What a value may be, as far as rules about members need to know.

use std::rc::Rc;

use codecompass_model::SymbolAt;

/// More alternatives than this say nothing.
const MAX_ALTERNATIVES: usize = 12;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    Unknown,
    /// Known to come from outside of the view, or built in without interesting members.
    External,
    /// What a function from outside gives: it may be what the view gave to it before, so only members that Python's own
    /// types have are known to be outside.
    Given,
    Nothing,
    /// A class of the view itself, with the arguments of its type parameters.
    Class(SymbolAt, Rc<[Type]>),
    /// A value of a class of the view.
    Instance(SymbolAt, Rc<[Type]>),
    /// The class that `self` is one of, seen from a method of this class.
    Own(SymbolAt),
    /// `cls`, seen from a method of this class.
    OwnClass(SymbolAt),
    /// `super()` in a method of this class.
    Super(SymbolAt),
    /// A function, and what it is bound to.
    Function(SymbolAt, Option<Rc<Type>>),
    /// A module, by its path without the extension.
    Module(Rc<str>),
    /// A container of the standard library.
    Box(Shape, Rc<[Type]>),
    /// A method of a container.
    Method(Rc<Type>, Rc<str>),
    /// A type parameter, and what it is at least.
    Var(Rc<str>, Rc<Type>),
    Union(Rc<[Type]>),
}

/// What a container gives out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// Elements of one type: a list, a set, any iterable.
    Row,
    /// Values by keys.
    Map,
    /// A fixed number of values.
    Tuple,
    /// Something to be entered with `with`.
    Context,
    /// Something that can be called, with what that gives.
    Callable,
}

impl Type {
    pub(super) fn instance(class: SymbolAt) -> Self {
        Type::Instance(class, Rc::from([]))
    }

    pub(super) fn row(element: Type) -> Self {
        Type::Box(Shape::Row, Rc::from([element]))
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Type::Unknown)
    }

    /// One of several. Alternatives nobody knows are left out, as long as one is known; what is outside or unknown may be
    /// anything.
    pub(super) fn one_of(all: impl IntoIterator<Item = Type>) -> Self {
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
            1 if is_open && known[0] == Type::External => Type::Given,
            1 => known.pop().unwrap_or(Type::Unknown),
            2..=MAX_ALTERNATIVES => Type::Union(known.into()),
            _ => Type::Unknown,
        }
    }

    /// The alternatives; the type itself when there is one only.
    pub(super) fn alternatives(&self) -> &[Type] {
        match self {
            Type::Union(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    /// The type with every part of it changed, from the inside out.
    pub(super) fn map(&self, change: &dyn Fn(Type) -> Type) -> Type {
        let parts = |all: &Rc<[Type]>| -> Rc<[Type]> { all.iter().map(|one| one.map(change)).collect() };
        change(match self {
            Type::Class(class, all) if !all.is_empty() => Type::Class(*class, parts(all)),
            Type::Instance(class, all) if !all.is_empty() => Type::Instance(*class, parts(all)),
            Type::Box(shape, all) => Type::Box(*shape, parts(all)),
            Type::Union(all) => Type::one_of(all.iter().map(|one| one.map(change))),
            other => other.clone(),
        })
    }

    /// Whether something in it is still to be filled in.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Type::Var(..) | Type::Own(_) | Type::OwnClass(_) => true,
            Type::Class(_, all) | Type::Instance(_, all) | Type::Box(_, all) | Type::Union(all) => {
                all.iter().any(Type::is_open)
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

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Symbols(Rc<[SymbolAt]>),
    Module(Rc<str>),
    External,
    /// A local name, by its index into the bindings of the file that was asked.
    Local(u32),
    Missing,
}
