//! Types, as far as the resolver models them.

use std::rc::Rc;

use codecompass_model::{SymbolAt, VersionId};

use super::library::LibraryType;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    /// An unknown type.
    Unknown,
    /// An external type.
    External,
    /// A predeclared type.
    Basic(&'static str),
    /// A type that the view declares, with its arguments.
    Named(SymbolAt, Rc<[Type]>),
    /// A generic type of the standard library, with its arguments.
    Library(LibraryType, Rc<[Type]>),
    Pointer(Rc<Type>),
    /// A slice or an array.
    List(Rc<Type>),
    Map(Rc<(Type, Type)>),
    Chan(Rc<Type>),
    Func(Rc<FuncType>),
    /// The several results of a call.
    Tuple(Rc<[Type]>),
    /// A type parameter: a binding of a file.
    Param(VersionId, u32),
    /// A struct or interface without a name.
    Inline(Inline),
}

/// The parameters and results of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FuncType {
    /// The type parameters that the function itself declares.
    pub(super) type_params: Vec<(VersionId, u32)>,
    pub(super) params: Vec<Type>,
    pub(super) variadic: bool,
    pub(super) results: Vec<Type>,
}

/// The bytes of a type without a name: its members are the symbols there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inline {
    pub(super) file: VersionId,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The arguments of type parameters.
pub(super) type Arguments = Vec<((VersionId, u32), Type)>;

/// The maximum nesting of a known type: `type T[P any] struct { next *T[[]P] }` is infinite.
const MAX_DEPTH: u32 = 12;

impl Type {
    pub(super) fn named(symbol: SymbolAt) -> Self {
        Type::Named(symbol, Rc::new([]))
    }

    pub(super) fn pointer(of: Type) -> Self {
        match of {
            Type::External | Type::Unknown => of,
            of => Type::Pointer(Rc::new(of)),
        }
    }

    pub(super) fn list(of: Type) -> Self {
        match of {
            Type::External => Type::External,
            of => Type::List(Rc::new(of)),
        }
    }

    /// Returns the type that a pointer points to; any other type itself.
    pub(super) fn target(&self) -> &Type {
        match self {
            Type::Pointer(of) => of,
            other => other,
        }
    }

    /// Returns the result type of a call.
    pub(super) fn results(list: &[Type]) -> Type {
        match list {
            [one] => one.clone(),
            list => Type::Tuple(list.into()),
        }
    }

    /// Returns this type with arguments in place of type parameters.
    pub(super) fn with(&self, arguments: &Arguments) -> Type {
        if arguments.is_empty() { self.clone() } else { self.replaced(arguments, 0) }
    }

    fn replaced(&self, arguments: &Arguments, depth: u32) -> Type {
        if depth > MAX_DEPTH {
            return Type::Unknown;
        }
        let one = |of: &Type| Rc::new(of.replaced(arguments, depth + 1));
        let all = |list: &[Type]| list.iter().map(|of| of.replaced(arguments, depth + 1)).collect::<Vec<_>>();
        match self {
            Type::Param(file, binding) => {
                let found = arguments.iter().find(|(of, _)| *of == (*file, *binding));
                found.map_or_else(|| self.clone(), |(_, with)| with.clone())
            }
            Type::Named(symbol, own) if !own.is_empty() => Type::Named(*symbol, all(own).into()),
            Type::Library(at, own) => Type::Library(*at, all(own).into()),
            Type::Pointer(of) => Type::Pointer(one(of)),
            Type::List(of) => Type::List(one(of)),
            Type::Chan(of) => Type::Chan(one(of)),
            Type::Map(of) => {
                Type::Map(Rc::new((of.0.replaced(arguments, depth + 1), of.1.replaced(arguments, depth + 1))))
            }
            Type::Func(of) => Type::Func(Rc::new(FuncType {
                type_params: of.type_params.clone(),
                params: all(&of.params),
                variadic: of.variadic,
                results: all(&of.results),
            })),
            Type::Tuple(list) => Type::Tuple(all(list).into()),
            other => other.clone(),
        }
    }

    /// Infers the type parameters in this type from a value of type `given`.
    pub(super) fn infer_type_args(&self, given: &Type, learned: &mut Arguments) {
        match (self, given) {
            (_, Type::Unknown) => {}
            (Type::Param(file, binding), given) => {
                let key = (*file, *binding);
                if !learned.iter().any(|(of, _)| *of == key) {
                    learned.push((key, given.clone()));
                }
            }
            (Type::Pointer(of), Type::Pointer(given)) | (Type::List(of), Type::List(given)) => {
                of.infer_type_args(given, learned);
            }
            (Type::Chan(of), Type::Chan(given)) => of.infer_type_args(given, learned),
            (Type::Map(of), Type::Map(given)) => {
                of.0.infer_type_args(&given.0, learned);
                of.1.infer_type_args(&given.1, learned);
            }
            (Type::Named(of, own), Type::Named(other, given)) if of == other => {
                own.iter().zip(given.iter()).for_each(|(own, given)| own.infer_type_args(given, learned));
            }
            (Type::Library(of, own), Type::Library(other, given)) if of == other => {
                own.iter().zip(given.iter()).for_each(|(own, given)| own.infer_type_args(given, learned));
            }
            (Type::Func(of), Type::Func(given)) => {
                of.params.iter().zip(&given.params).for_each(|(own, given)| own.infer_type_args(given, learned));
                of.results.iter().zip(&given.results).for_each(|(own, given)| own.infer_type_args(given, learned));
            }
            _ => {}
        }
    }

    /// Returns whether it contains type parameters.
    pub(super) fn has_type_params(&self) -> bool {
        match self {
            Type::Param(..) => true,
            Type::Pointer(of) | Type::List(of) | Type::Chan(of) => of.has_type_params(),
            Type::Map(of) => of.0.has_type_params() || of.1.has_type_params(),
            Type::Named(_, list) | Type::Library(_, list) | Type::Tuple(list) => list.iter().any(Type::has_type_params),
            Type::Func(of) => of.params.iter().chain(&of.results).any(Type::has_type_params),
            _ => false,
        }
    }
}
