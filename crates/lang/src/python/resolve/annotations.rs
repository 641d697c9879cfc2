//! Converts annotations to the types of the annotated values.

use std::rc::Rc;

use codecompass_model::{BindingKind, SymbolAt, SymbolKind};

use super::expression::Expr;
use super::names::Place;
use super::types::{Found, Shape, Type};
use super::{Question, Rules};

impl Rules<'_> {
    /// Returns the type that a text declares.
    pub(super) fn declared(&self, text: &str, place: &Place) -> Type {
        self.annotation(&Expr::parse(text), place)
    }

    pub(super) fn annotation(&self, written: &Expr<'_>, place: &Place) -> Type {
        match written {
            Expr::Name("None") => Type::Nothing,
            Expr::Name(name) => match self.look_up_root(place, name) {
                Found::Local(at) => self.type_parameter(place, at, name),
                found => self.declared_by(&found, name, place),
            },
            Expr::Attr(of, name) => {
                let found = self.member(&self.value(of, place), name);
                self.declared_by(&found, name, place)
            }
            Expr::Index(head, arguments) => self.generic(head, arguments, place),
            Expr::Text(text) => self.declared(text, place),
            // Several types in a tuple occur in `except (A, B) as e`.
            Expr::Either(all) | Expr::Tuple(all) => Type::one_of(all.iter().map(|one| self.annotation(one, place))),
            Expr::Plain | Expr::Number(_) => Type::External,
            _ => Type::Unknown,
        }
    }

    fn type_parameter(&self, place: &Place, at: u32, name: &str) -> Type {
        let binding = place.source.facts().bindings.get(at as usize);
        match binding.map(|binding| binding.kind) {
            Some(BindingKind::TypeParam) => {
                let bound = binding.and_then(|binding| binding.annotation);
                let bound = bound.map_or(Type::Unknown, |text| self.declared(place.source.written(text), place));
                Type::Var(Rc::from(name), Rc::new(bound))
            }
            _ => self.as_instance(&self.local(place, at)),
        }
    }

    fn declared_by(&self, found: &Found, name: &str, place: &Place) -> Type {
        match found {
            Found::Symbols(all) => Type::one_of(all.iter().map(|at| self.declared_by_symbol(*at))),
            Found::External if matches!(name, "Any" | "object") => Type::Unknown,
            Found::External if name == "Self" => self.own(place),
            Found::External => Type::External,
            _ => Type::Unknown,
        }
    }

    /// Returns the type of a value that is annotated with a symbol: an instance of a class, or the target of an alias.
    pub(super) fn declared_by_symbol(&self, at: SymbolAt) -> Type {
        self.types.answer(&self.course, Question::Declared(at), Type::Unknown, || {
            let Some(source) = self.source(at.file) else { return Type::Unknown };
            let Some(symbol) = source.symbol(at.place) else { return Type::Unknown };
            let place = Place::at(&source, symbol.parent, symbol.lines.start);
            match symbol.kind {
                SymbolKind::Class => Type::instance(at),
                SymbolKind::Type => {
                    symbol.annotation.map_or(Type::Unknown, |text| self.declared(source.written(text), &place))
                }
                SymbolKind::Var | SymbolKind::Const | SymbolKind::Field => match symbol.value {
                    Some(text) => self.alias(&Expr::parse(source.written(text)), &symbol.name, &place),
                    None => Type::Unknown,
                },
                _ => Type::Unknown,
            }
        })
    }

    /// Handles `T = TypeVar("T")`, `Id = NewType("Id", Base)`, or another name for a type.
    fn alias(&self, value: &Expr<'_>, name: &str, place: &Place) -> Type {
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
    pub(super) fn own(&self, place: &Place) -> Type {
        let class = place.source.class_around(place.scope);
        class.map_or(Type::Unknown, |class| Type::Own(SymbolAt { file: place.id(), place: class }))
    }

    fn generic(&self, head: &Expr<'_>, arguments: &[Expr<'_>], place: &Place) -> Type {
        let name = head.last_name().unwrap_or("");
        let base = self.annotation(head, place);
        let parts = || arguments.iter().map(|one| self.annotation(one, place));
        match base {
            Type::Instance(class, _) => Type::Instance(class, parts().collect()),
            Type::External => {
                let first = || arguments.first().map_or(Type::Unknown, |one| self.annotation(one, place));
                match name {
                    "Optional" | "Union" => Type::one_of(parts().chain((name == "Optional").then_some(Type::Nothing))),
                    "Literal" => Type::External,
                    "type" | "Type" => self.as_class(&first()),
                    "Callable" => Type::Box(
                        Shape::Callable,
                        Rc::from([arguments.get(1).map_or(Type::Unknown, |one| self.annotation(one, place))]),
                    ),
                    "tuple" | "Tuple" if arguments.last() == Some(&Expr::Plain) => Type::row(first()),
                    "tuple" | "Tuple" => Type::Box(Shape::Tuple, parts().collect()),
                    _ => outside(name, parts),
                }
            }
            other => other,
        }
    }
}

/// Returns a generic type of a library.
fn outside<I: Iterator<Item = Type>>(name: &str, parts: impl Fn() -> I) -> Type {
    let first = || parts().next().unwrap_or(Type::Unknown);
    match name {
        "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" | "ReadOnly" | "InitVar" | "Awaitable"
        | "Unpack" => first(),
        "Coroutine" => parts().nth(2).unwrap_or(Type::Unknown),
        "ContextManager" | "AsyncContextManager" | "AbstractContextManager" | "AbstractAsyncContextManager" => {
            Type::Box(Shape::Context, Rc::from([first()]))
        }
        _ if is_map(name) => Type::Box(Shape::Map, parts().collect()),
        _ if is_row(name) => Type::row(first()),
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

pub(super) fn is_row(name: &str) -> bool {
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
