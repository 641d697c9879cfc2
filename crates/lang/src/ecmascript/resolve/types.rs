//! What is known of the type of an expression, as far as members and calls need it.

use std::rc::Rc;

use codecompass_model::{SymbolAt, VersionId};

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    /// Nobody knows.
    Unknown,
    /// Something outside of the view, or something without members of its own.
    External,
    /// What a function from outside gives back or hands to a callback: it may be what the view gave to it before, so only
    /// members that the language's own types have are known to be outside.
    Given,
    /// An instance of a class, an interface, an enum, or what an alias stands for; with type arguments.
    Instance(SymbolAt, Rc<[Type]>),
    /// A symbol itself, as a value: a class, a function, an enum, a namespace, an object literal.
    Value(SymbolAt),
    /// A method, taken from a receiver.
    Bound(SymbolAt, Rc<Receiver>),
    /// All that a file exports.
    Module(VersionId),
    /// A function or object type written in place.
    Written(Rc<Written>),
    /// An object literal that begins on a line inside a symbol.
    Literal(VersionId, Option<u32>, u32),
    /// Arrays, sets, iterators.
    List(Rc<Type>),
    /// Maps and records, by their values.
    Dict(Rc<Type>),
    /// A promise.
    Promise(Rc<Type>),
    /// A tuple.
    Tuple(Rc<[Type]>),
    /// A method of one of these four.
    Method(Rc<Type>, Rc<str>),
    /// One of several, or all of them at once.
    Several(Rc<[Type]>),
}

/// Whom a method was taken from, and what the type parameters of its class stand for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Receiver {
    pub(super) of: Type,
    pub(super) given: Rc<[(String, Type)]>,
}

/// The text of a type, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) scope: Scope,
}

/// A place from which names are looked up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scope {
    pub(super) file: VersionId,
    /// The innermost symbol around it.
    pub(super) symbol: Option<u32>,
    pub(super) line: u32,
    /// What type parameters stand for.
    pub(super) given: Rc<[(String, Type)]>,
    /// What `this` is, when the place does not say.
    pub(super) this: Option<Rc<Type>>,
}

impl Scope {
    pub(super) fn new(file: VersionId, symbol: Option<u32>, line: u32) -> Self {
        Scope { file, symbol, line, given: Rc::from([]), this: None }
    }
}

impl Type {
    pub(super) fn list(of: Type) -> Self {
        Type::List(Rc::new(of))
    }

    pub(super) fn is_unknown(&self) -> bool {
        *self == Type::Unknown
    }

    /// One of several; the unknown ones are left out, and those without members when others have some. What is outside or
    /// unknown is unknown.
    pub(super) fn several(types: impl IntoIterator<Item = Type>) -> Self {
        let mut known: Vec<Type> = Vec::new();
        let mut rest = None;
        for one in types {
            match (one, &rest) {
                (Type::Unknown, _) => rest = Some(Type::Unknown),
                (Type::Given, Some(Type::External) | None) => rest = Some(Type::Given),
                (Type::External, None) => rest = Some(Type::External),
                (Type::Given | Type::External, _) => {}
                (one, _) if known.contains(&one) => {}
                (one, _) => known.push(one),
            }
        }
        match known.len() {
            0 => rest.unwrap_or(Type::Unknown),
            1 => known.remove(0),
            _ => Type::Several(known.into()),
        }
    }

    /// The types that this one may be.
    pub(super) fn each(&self) -> &[Type] {
        match self {
            Type::Several(types) => types,
            one => std::slice::from_ref(one),
        }
    }
}
