//! Converts annotations to the types of the annotated values.

use std::rc::Rc;

use codecompass_model::{BindingKind, SymbolAt, SymbolKind};

use super::expression::Expr;
use super::names::LookupSite;
use super::types::{ContainerKind, NameTarget, Type};
use super::{PythonResolver, TypeQuery};

impl PythonResolver<'_> {
    /// Returns the type that a text declares.
    pub(super) fn type_from_text(&self, text: &str, place: &LookupSite) -> Type {
        self.annotation(&Expr::parse(text), place)
    }

    pub(super) fn annotation(&self, written: &Expr<'_>, place: &LookupSite) -> Type {
        match written {
            Expr::Name("None") => Type::NoneType,
            Expr::Name(name) => match self.resolve_root(place, name) {
                NameTarget::Local(at) => self.type_parameter(place, at, name),
                found => self.type_of_target(&found, name, place),
            },
            Expr::Attr(of, name) => {
                let found = self.member(&self.value(of, place), name);
                self.type_of_target(&found, name, place)
            }
            Expr::Index(head, arguments) => self.generic(head, arguments, place),
            Expr::Text(text) => self.type_from_text(text, place),
            // Several types in a tuple occur in `except (A, B) as e`.
            Expr::Either(all) | Expr::Tuple(all) => Type::union_of(all.iter().map(|one| self.annotation(one, place))),
            Expr::Scalar | Expr::Number(_) => Type::External,
            _ => Type::Unknown,
        }
    }

    fn type_parameter(&self, place: &LookupSite, at: u32, name: &str) -> Type {
        let binding = place.source.facts().bindings.get(at as usize);
        match binding.map(|binding| binding.kind) {
            Some(BindingKind::TypeParam) => {
                let bound = binding.and_then(|binding| binding.annotation);
                let bound =
                    bound.map_or(Type::Unknown, |text| self.type_from_text(place.source.expr_text(text), place));
                Type::Var(Rc::from(name), Rc::new(bound))
            }
            _ => self.as_instance(&self.local(place, at)),
        }
    }

    fn type_of_target(&self, found: &NameTarget, name: &str, place: &LookupSite) -> Type {
        match found {
            NameTarget::Symbols(all) => Type::union_of(all.iter().map(|at| self.type_of_named_symbol(*at))),
            NameTarget::External if matches!(name, "Any" | "object") => Type::Unknown,
            NameTarget::External if name == "Self" => self.self_type(place),
            NameTarget::External => Type::External,
            _ => Type::Unknown,
        }
    }

    /// Returns the type of a value that is annotated with a symbol: an instance of a class, or the target of an alias.
    pub(super) fn type_of_named_symbol(&self, at: SymbolAt) -> Type {
        self.types.compute_cyclic(&self.query_stack, TypeQuery::Declared(at), Type::Unknown, || {
            let Some(source) = self.source(at.file) else { return Type::Unknown };
            let Some(symbol) = source.symbol(at.ordinal) else { return Type::Unknown };
            let place = LookupSite::at(&source, symbol.parent, symbol.lines.start);
            match symbol.kind {
                SymbolKind::Class => Type::instance(at),
                SymbolKind::Type => {
                    symbol.annotation.map_or(Type::Unknown, |text| self.type_from_text(source.expr_text(text), &place))
                }
                SymbolKind::Var | SymbolKind::Const | SymbolKind::Field => match symbol.value {
                    Some(text) => self.alias(&Expr::parse(source.expr_text(text)), &symbol.name, &place),
                    None => Type::Unknown,
                },
                _ => Type::Unknown,
            }
        })
    }

    /// Handles `T = TypeVar("T")`, `Id = NewType("Id", Base)`, or another name for a type.
    fn alias(&self, value: &Expr<'_>, name: &str, place: &LookupSite) -> Type {
        match value {
            Expr::Call(made, arguments) => match made.last_name() {
                Some("TypeVar" | "ParamSpec" | "TypeVarTuple") => {
                    let bound = arguments.iter().find(|arg| arg.name == Some("bound"));
                    let bound = bound.map_or(Type::Unknown, |bound| self.annotation(&bound.value, place));
                    Type::Var(Rc::from(name), Rc::new(bound))
                }
                Some("NewType") => arguments.get(1).map_or(Type::Unknown, |base| self.annotation(&base.value, place)),
                Some("namedtuple" | "TypedDict" | "NamedTuple" | "Enum" | "IntEnum") => Type::External,
                _ => self.as_instance(&self.value(value, place)),
            },
            other => self.annotation(other, place),
        }
    }

    /// Returns the type of `self`.
    pub(super) fn self_type(&self, place: &LookupSite) -> Type {
        let class = place.source.class_around(place.scope);
        class.map_or(Type::Unknown, |class| Type::SelfType(SymbolAt { file: place.id(), ordinal: class }))
    }

    fn generic(&self, head: &Expr<'_>, arguments: &[Expr<'_>], place: &LookupSite) -> Type {
        let name = head.last_name().unwrap_or("");
        let base = self.annotation(head, place);
        let parts = || arguments.iter().map(|one| self.annotation(one, place));
        match base {
            Type::Instance(class, _) => Type::Instance(class, parts().collect()),
            Type::External => {
                let first = || arguments.first().map_or(Type::Unknown, |one| self.annotation(one, place));
                match name {
                    "Optional" | "Union" => {
                        Type::union_of(parts().chain((name == "Optional").then_some(Type::NoneType)))
                    }
                    "Literal" => Type::External,
                    "type" | "Type" => self.as_class(&first()),
                    "Callable" => Type::Container(
                        ContainerKind::Callable,
                        Rc::from([arguments.get(1).map_or(Type::Unknown, |one| self.annotation(one, place))]),
                    ),
                    "tuple" | "Tuple" if arguments.last() == Some(&Expr::Scalar) => Type::iterable_of(first()),
                    "tuple" | "Tuple" => Type::Container(ContainerKind::Tuple, parts().collect()),
                    _ => external_generic(name, parts),
                }
            }
            other => other,
        }
    }
}

/// Returns a generic type of a library.
fn external_generic<I: Iterator<Item = Type>>(name: &str, parts: impl Fn() -> I) -> Type {
    let first = || parts().next().unwrap_or(Type::Unknown);
    match name {
        "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" | "ReadOnly" | "InitVar" | "Awaitable"
        | "Unpack" => first(),
        "Coroutine" => parts().nth(2).unwrap_or(Type::Unknown),
        "ContextManager" | "AsyncContextManager" | "AbstractContextManager" | "AbstractAsyncContextManager" => {
            Type::Container(ContainerKind::Context, Rc::from([first()]))
        }
        _ if is_map(name) => Type::Container(ContainerKind::Map, parts().collect()),
        _ if is_iterable_type(name) => Type::iterable_of(first()),
        _ => Type::External,
    }
}

pub(super) fn is_map(name: &str) -> bool {
    matches!(
        name,
        "dict"
            | "Dict"
            | "Mapping"
            | "MutableMapping"
            | "defaultdict"
            | "DefaultDict"
            | "OrderedDict"
            | "ChainMap"
            | "WeakValueDictionary"
            | "WeakKeyDictionary"
            | "MappingProxyType"
            | "UserDict"
    )
}

pub(super) fn is_iterable_type(name: &str) -> bool {
    matches!(
        name,
        "list"
            | "List"
            | "set"
            | "Set"
            | "frozenset"
            | "FrozenSet"
            | "deque"
            | "Deque"
            | "Iterable"
            | "Iterator"
            | "Sequence"
            | "MutableSequence"
            | "Collection"
            | "Generator"
            | "AsyncIterator"
            | "AsyncIterable"
            | "AsyncGenerator"
            | "MutableSet"
            | "AbstractSet"
            | "ValuesView"
            | "KeysView"
            | "Reversible"
            | "Container"
            | "ContextVar"
            | "Queue"
            | "SimpleQueue"
            | "UserList"
            | "WeakSet"
    )
}
