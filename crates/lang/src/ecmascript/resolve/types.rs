//! The type of an expression, as far as members and calls need it.

use std::rc::Rc;

use codecompass_model::{SymbolAt, VersionId};

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    /// An unknown type.
    Unknown,
    /// An external type, or one without members of its own.
    External,
    /// The return value of an external function, or its argument to a callback. It may be a value that the view passed
    /// in before, so only members of the language's own types are known to be external.
    ExternalResult,
    /// An instance of a class, an interface, an enum, or the target of an alias; with type arguments.
    Instance(SymbolAt, Rc<[Type]>),
    /// A symbol itself as a value: a class, a function, an enum, a namespace, an object literal.
    Value(SymbolAt),
    /// A method of a receiver.
    Bound(SymbolAt, Rc<Receiver>),
    /// All exports of a file.
    Module(VersionId),
    /// An inline function or object type.
    Inline(Rc<TypeText>),
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
    /// A union or an intersection.
    Union(Rc<[Type]>),
}

/// The receiver of a method, and the type arguments of its class.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Receiver {
    pub(super) receiver_type: Type,
    pub(super) type_args: Rc<[(String, Type)]>,
}

/// The text of a type, and its scope.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TypeText {
    pub(super) text: String,
    pub(super) scope: Scope,
}

/// A lookup site.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scope {
    pub(super) file: VersionId,
    /// The innermost enclosing symbol.
    pub(super) symbol: Option<u32>,
    pub(super) line: u32,
    /// The type arguments of type parameters.
    pub(super) type_args: Rc<[(String, Type)]>,
    /// The type of `this`, if the site does not determine it.
    pub(super) this: Option<Rc<Type>>,
}

impl Scope {
    pub(super) fn new(file: VersionId, symbol: Option<u32>, line: u32) -> Self {
        Scope { file, symbol, line, type_args: Rc::from([]), this: None }
    }
}

impl Type {
    pub(super) fn list(of: Type) -> Self {
        Type::List(Rc::new(of))
    }

    pub(super) fn is_unknown(&self) -> bool {
        *self == Type::Unknown
    }

    /// Returns the union of several types, without unknown types, and without types that have no members if others have
    /// some. If only external and unknown types are left, it is unknown.
    pub(super) fn union_of(types: impl IntoIterator<Item = Type>) -> Self {
        let mut known: Vec<Type> = Vec::new();
        let mut rest = None;
        for one in types {
            match (one, &rest) {
                (Type::Unknown, _) => rest = Some(Type::Unknown),
                (Type::ExternalResult, Some(Type::External) | None) => rest = Some(Type::ExternalResult),
                (Type::External, None) => rest = Some(Type::External),
                (Type::ExternalResult | Type::External, _) => {}
                (one, _) if known.contains(&one) => {}
                (one, _) => known.push(one),
            }
        }
        match known.len() {
            0 => rest.unwrap_or(Type::Unknown),
            1 => known.remove(0),
            _ => Type::Union(known.into()),
        }
    }

    /// Returns the alternatives of this type.
    pub(super) fn alternatives(&self) -> &[Type] {
        match self {
            Type::Union(types) => types,
            one => std::slice::from_ref(one),
        }
    }
}
