//! The types of the shared resolver.

use std::rc::Rc;

use codecompass_model::{ExprId, SymbolAt, VersionId};

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    /// An unknown type.
    Unknown,
    /// A type outside the view.
    External,
    /// A basic type, which has no members.
    Basic(&'static str),
    /// A type declared by the view or the library, with its type arguments.
    Named(SymbolAt, Rc<[Type]>),
    /// A file as a value: its members are its top-level symbols.
    File(VersionId),
    /// A list, or a pointer with its pointee.
    List(Rc<Type>),
    Func(Rc<FuncType>),
    /// A type parameter: a binding of a file.
    Param(VersionId, u32),
    /// A closure: its location, and its number of parameters.
    Closure {
        file: VersionId,
        around: Option<u32>,
        back: Option<ExprId>,
        params: u32,
    },
}

/// The parameters and the result of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FuncType {
    /// The type parameters that the function itself declares.
    pub(crate) type_params: Vec<(VersionId, u32)>,
    pub(crate) params: Vec<Type>,
    pub(crate) variadic: bool,
    /// The number of parameters that a call may omit.
    pub(crate) optional: usize,
    /// Whether the first parameter is the receiver.
    pub(crate) has_receiver: bool,
    pub(crate) result: Type,
}

/// The substitution for type parameters.
pub(crate) type Arguments = Vec<((VersionId, u32), Type)>;

/// The maximum nesting; deeper types are unknown: `class T<P> { T<List<P>> next; }` has no end.
const MAX_DEPTH: u32 = 10;

impl Type {
    pub(crate) fn named(symbol: SymbolAt) -> Self {
        Type::Named(symbol, Rc::new([]))
    }

    pub(crate) fn list(of: Type) -> Self {
        match of {
            Type::External => Type::External,
            of => Type::List(Rc::new(of)),
        }
    }

    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Type::Unknown)
    }

    /// Returns this type with its type parameters substituted.
    pub(crate) fn with(&self, arguments: &Arguments) -> Type {
        if arguments.is_empty() { self.clone() } else { self.replaced(arguments, 0) }
    }

    fn replaced(&self, arguments: &Arguments, depth: u32) -> Type {
        if depth > MAX_DEPTH {
            return Type::Unknown;
        }
        let all = |list: &[Type]| list.iter().map(|of| of.replaced(arguments, depth + 1)).collect::<Vec<_>>();
        match self {
            Type::Param(file, binding) => {
                let found = arguments.iter().find(|(of, _)| *of == (*file, *binding));
                found.map_or_else(|| self.clone(), |(_, with)| with.clone())
            }
            Type::Named(symbol, own) if !own.is_empty() => Type::Named(*symbol, all(own).into()),
            Type::List(of) => Type::List(Rc::new(of.replaced(arguments, depth + 1))),
            Type::Func(of) => Type::Func(Rc::new(FuncType {
                type_params: of.type_params.clone(),
                params: all(&of.params),
                variadic: of.variadic,
                optional: of.optional,
                has_receiver: of.has_receiver,
                result: of.result.replaced(arguments, depth + 1),
            })),
            other => other.clone(),
        }
    }

    /// Returns whether the type mentions one of these type parameters.
    pub(crate) fn names_any(&self, own: &[(VersionId, u32)]) -> bool {
        match self {
            Type::Param(file, binding) => own.contains(&(*file, *binding)),
            Type::List(of) => of.names_any(own),
            Type::Named(_, list) => list.iter().any(|of| of.names_any(own)),
            Type::Func(of) => of.params.iter().chain([&of.result]).any(|of| of.names_any(own)),
            _ => false,
        }
    }
}
