//! Infers the types of expressions.

use std::rc::Rc;

use codecompass_model::{ExprId, Part, SymbolAt, SymbolKind};

use super::annotations::{is_map, is_row};
use super::builtins::is_builtin;
use super::expression::{Arg, Expr};
use super::names::{Place, Root};
use super::types::{Found, Shape, Type};
use super::{Question, Rules};
use crate::text::{first_name, is_capitalised};

/// Infers the type variables of a called function.
type Fill<'f> = dyn Fn(SymbolAt, &mut Vec<(Rc<str>, Type)>) + 'f;

impl Rules<'_> {
    /// Returns the type of a text; the root of the site has the known target of its first name.
    pub(super) fn text_type(&self, place: &Place, text: ExprId) -> Type {
        let key = Question::Text(place.id(), place.scope, text, place.root, place.line);
        self.types
            .answer(&self.course, key, Type::Unknown, || self.value(&Expr::parse(place.source.written(text)), place))
    }

    /// Resolves a name, with the known target of the first one.
    pub(super) fn look_up_root(&self, place: &Place, name: &str) -> Found {
        match place.root {
            Root::Local(at) if self.binding_name(place, at) == name => Found::Local(at),
            Root::Free(text) if first_name(place.source.written(text)) == name => self.look_up(place, name, false),
            _ => self.look_up(place, name, true),
        }
    }

    fn binding_name<'p>(&self, place: &'p Place, at: u32) -> &'p str {
        place.source.facts().bindings.get(at as usize).map_or("", |binding| place.source.name(binding.name))
    }

    /// Returns the type of an expression.
    pub(super) fn value(&self, expression: &Expr<'_>, place: &Place) -> Type {
        match expression {
            Expr::Name("None") => Type::Nothing,
            Expr::Name(name) => match self.look_up_root(place, name) {
                Found::Local(at) => self.local(place, at),
                found => self.found_type(&found, None),
            },
            Expr::Attr(of, name) => self.member_type(&self.value(of, place), name),
            Expr::Call(callee, arguments) => self.called(callee, arguments, place),
            Expr::Index(of, indices) => self.indexed(&self.value(of, place), indices, place),
            Expr::Text(_) | Expr::Number(_) | Expr::Plain | Expr::Slice => Type::External,
            Expr::List(all) => Type::row(Type::one_of(all.iter().map(|one| self.value(one, place)))),
            Expr::Tuple(all) => Type::Box(Shape::Tuple, all.iter().map(|one| self.value(one, place)).collect()),
            Expr::Dict(pairs) => {
                let keys = Type::one_of(pairs.iter().map(|(key, _)| self.value(key, place)));
                let values = Type::one_of(pairs.iter().map(|(_, value)| self.value(value, place)));
                Type::Box(Shape::Map, Rc::from([keys, values]))
            }
            Expr::Each(of) => Type::row(self.value(of, place)),
            Expr::Either(all) => Type::one_of(all.iter().map(|one| self.value(one, place))),
            Expr::Sum(of) => self.value(of, place),
            Expr::Lambda(of) => Type::Box(Shape::Callable, Rc::from([self.value(of, place)])),
            Expr::Unknown => Type::Unknown,
        }
    }

    fn called(&self, callee: &Expr<'_>, arguments: &[Arg<'_>], place: &Place) -> Type {
        if *callee == Expr::Name("super") {
            return self.above(arguments, place);
        }
        match self.value(callee, place) {
            Type::External => self.called_outside(callee.last_name().unwrap_or(""), arguments, place),
            // A class that an external function created may be a class of the view.
            Type::Given => match self.called_outside(callee.last_name().unwrap_or(""), arguments, place) {
                Type::External => Type::Given,
                known => known,
            },
            known => self.call(&known, arguments, place),
        }
    }

    /// Returns the type of `super()`, `super(A, self)`.
    fn above(&self, arguments: &[Arg<'_>], place: &Place) -> Type {
        let named = arguments.first().map(|first| self.value(&first.value, place));
        match named {
            Some(Type::Class(class, _) | Type::OwnClass(class)) => Type::Super(class),
            Some(_) => Type::Unknown,
            None => match self.own(place) {
                Type::Own(class) => Type::Super(class),
                _ => Type::Unknown,
            },
        }
    }

    /// Returns the result type of standard library functions that pass their arguments through.
    fn called_outside(&self, name: &str, arguments: &[Arg<'_>], place: &Place) -> Type {
        let argument = |at: usize| arguments.get(at).map_or(Type::Unknown, |arg| self.value(&arg.value, place));
        match name {
            "copy" | "deepcopy" | "iter" | "aiter" | "run" if arguments.len() == 1 => match argument(0) {
                Type::Unknown => Type::Given,
                known => known,
            },
            "cast" => arguments.first().map_or(Type::Unknown, |to| self.annotation(&to.value, place)),
            "ref" => Type::Box(Shape::Callable, Rc::from([argument(0)])),
            "partial" | "wraps" | "cache" | "lru_cache" => argument(0),
            "type" if arguments.len() == 1 => self.as_class(&argument(0)),
            "next" | "anext" | "max" | "min" if !arguments.is_empty() => self.element(&argument(0)),
            "sorted" | "reversed" | "tuple" | "chain" => Type::row(self.element(&argument(0))),
            "filter" => Type::row(self.element(&argument(1))),
            "map" => Type::row(self.call(&argument(0), &[], place)),
            "enumerate" => Type::row(Type::Box(Shape::Tuple, Rc::from([Type::External, self.element(&argument(0))]))),
            "zip" => {
                let each = (0..arguments.len()).map(|at| self.element(&argument(at)));
                Type::row(Type::Box(Shape::Tuple, each.collect()))
            }
            "getattr" | "deque" | "defaultdict" if arguments.is_empty() => Type::Unknown,
            "getattr" => Type::Unknown,
            "defaultdict" => {
                let made = self.call(&argument(0), &[], place);
                Type::Box(Shape::Map, Rc::from([Type::Unknown, made]))
            }
            _ if is_map(name) => match argument(0) {
                map @ Type::Box(Shape::Map, _) => map,
                _ => Type::Box(Shape::Map, Rc::from([Type::Unknown, Type::Unknown])),
            },
            _ if is_row(name) => Type::row(self.element(&argument(0))),
            // A call of an external class constructs an instance of that class.
            _ if is_capitalised(name) || is_builtin(name) => Type::External,
            _ => Type::Given,
        }
    }

    fn indexed(&self, of: &Type, indices: &[Expr<'_>], place: &Place) -> Type {
        let is_slice = indices.first() == Some(&Expr::Slice);
        match of {
            Type::Union(all) => Type::one_of(all.iter().map(|one| self.indexed(one, indices, place))),
            Type::Box(Shape::Row | Shape::Tuple, _) if is_slice => of.clone(),
            Type::Box(Shape::Row, parts) => parts.first().cloned().unwrap_or(Type::Unknown),
            Type::Box(Shape::Map, parts) => parts.get(1).cloned().unwrap_or(Type::Unknown),
            Type::Box(Shape::Tuple, parts) => match indices.first() {
                Some(Expr::Number(at)) => parts.get(*at).cloned().unwrap_or(Type::Unknown),
                _ => Type::one_of(parts.iter().cloned()),
            },
            Type::Class(class, _) if self.is_enum(*class) => Type::instance(*class),
            Type::Class(class, _) => {
                Type::Class(*class, indices.iter().map(|one| self.annotation(one, place)).collect())
            }
            Type::Instance(..) | Type::Own(_) => self.given(of, "__getitem__").unwrap_or(Type::Unknown),
            Type::External | Type::Given => Type::Given,
            _ => Type::Unknown,
        }
    }

    /// Returns the result type of a method that Python calls implicitly.
    pub(super) fn given(&self, of: &Type, method: &str) -> Option<Type> {
        match self.member_type(of, method) {
            Type::Unknown | Type::External | Type::Given => None,
            Type::Method(container, name) => Some(self.container_gives(&container, &name)),
            known => Some(self.call_plain(&known)),
        }
    }

    /// Returns the element type of a loop over a value.
    pub(super) fn element(&self, of: &Type) -> Type {
        match of {
            Type::Union(all) => Type::one_of(all.iter().map(|one| self.element(one))),
            Type::Box(Shape::Row | Shape::Map, parts) => parts.first().cloned().unwrap_or(Type::Unknown),
            Type::Box(Shape::Tuple, parts) => Type::one_of(parts.iter().cloned()),
            Type::External | Type::Given => Type::Given,
            Type::Class(class, _) if self.is_enum(*class) => Type::instance(*class),
            Type::Instance(..) | Type::Own(_) => {
                let iterator = self.given(of, "__iter__").or_else(|| self.given(of, "__aiter__"));
                match iterator {
                    Some(Type::Instance(..) | Type::Own(_)) => {
                        let next = iterator
                            .as_ref()
                            .and_then(|one| self.given(one, "__next__").or_else(|| self.given(one, "__anext__")));
                        next.unwrap_or(Type::Unknown)
                    }
                    Some(other) => self.element(&other),
                    None => self.given(of, "__getitem__").unwrap_or(Type::Unknown),
                }
            }
            _ => Type::Unknown,
        }
    }

    /// Returns the type of the target of a `with`.
    pub(super) fn entered(&self, of: &Type) -> Type {
        match of {
            Type::Union(all) => Type::one_of(all.iter().map(|one| self.entered(one))),
            Type::Box(Shape::Context, parts) => parts.first().cloned().unwrap_or(Type::Unknown),
            Type::Instance(..) | Type::Own(_) => {
                let given = self.given(of, "__enter__").or_else(|| self.given(of, "__aenter__"));
                given.filter(|given| !given.is_unknown()).unwrap_or_else(|| of.clone())
            }
            other => other.clone(),
        }
    }

    /// Returns the type of a part of a value.
    pub(super) fn part(&self, of: Type, part: Part, place: &Place) -> Type {
        match part {
            Part::Whole | Part::Payload => of,
            Part::Element => self.element(&of),
            Part::Index(at) => self.nth(&of, at as usize),
            Part::Field(name) => self.member_type(&of, place.source.name(name)),
            Part::Inside => Type::Unknown,
        }
    }

    pub(super) fn nth(&self, of: &Type, at: usize) -> Type {
        match of {
            Type::Union(all) => Type::one_of(all.iter().map(|one| self.nth(one, at))),
            Type::Box(Shape::Tuple, parts) => parts.get(at).cloned().unwrap_or(Type::Unknown),
            other => self.element(other),
        }
    }

    /// Returns the result type of a call, without its arguments.
    pub(super) fn call_plain(&self, callee: &Type) -> Type {
        self.call_with(callee, &|_, _| {})
    }

    /// Returns the result type of a call.
    pub(super) fn call(&self, callee: &Type, arguments: &[Arg<'_>], place: &Place) -> Type {
        let fill = |function: SymbolAt, filled: &mut Vec<(Rc<str>, Type)>| {
            self.fill_from_arguments(function, matches!(callee, Type::Function(_, Some(_))), arguments, place, filled);
        };
        match callee {
            Type::Method(container, name)
                if matches!(&**name, "get" | "pop" | "setdefault") && arguments.len() == 2 =>
            {
                let otherwise = arguments.get(1).map_or(Type::Unknown, |arg| self.value(&arg.value, place));
                Type::one_of([self.container_gives(container, name), otherwise])
            }
            _ => self.call_with(callee, &fill),
        }
    }

    fn call_with(&self, callee: &Type, fill: &Fill<'_>) -> Type {
        match callee {
            Type::Union(all) => Type::one_of(all.iter().map(|one| self.call_with(one, fill))),
            Type::Class(class, arguments) => Type::Instance(*class, arguments.clone()),
            Type::OwnClass(class) => Type::Own(*class),
            Type::Function(function, to) => {
                let given = self.returned(*function);
                if !given.is_open() {
                    return given;
                }
                let mut filled = Vec::new();
                fill(*function, &mut filled);
                let given = given.map(&|one| match &one {
                    Type::Var(name, _) => {
                        filled.iter().find(|(of, _)| of == name).map_or(one.clone(), |(_, by)| by.clone())
                    }
                    _ => one,
                });
                match to {
                    Some(to) => self.filled_from(&given, *function, to),
                    None => given,
                }
            }
            Type::Instance(..) | Type::Own(_) => self.given(callee, "__call__").unwrap_or(Type::Unknown),
            Type::Box(Shape::Callable, parts) => parts.first().cloned().unwrap_or(Type::Unknown),
            Type::Method(container, name) => self.container_gives(container, name),
            Type::External | Type::Given | Type::Box(..) => Type::Given,
            _ => Type::Unknown,
        }
    }

    /// Returns the result type of a container's method.
    fn container_gives(&self, container: &Type, name: &str) -> Type {
        let Type::Box(shape, parts) = container else { return Type::External };
        let part = |at: usize| parts.get(at).cloned().unwrap_or(Type::Unknown);
        match (shape, name) {
            (_, "copy" | "__enter__") => container.clone(),
            (Shape::Map, "get" | "pop" | "setdefault" | "__getitem__") => part(1),
            (Shape::Map, "values") => Type::row(part(1)),
            (Shape::Map, "keys" | "__iter__") => Type::row(part(0)),
            (Shape::Map, "items") => Type::row(Type::Box(Shape::Tuple, parts.clone())),
            (Shape::Map, "popitem") => Type::Box(Shape::Tuple, parts.clone()),
            (Shape::Row, "get" | "pop" | "popleft" | "__next__" | "__getitem__" | "send") => part(0),
            (Shape::Row, "union" | "intersection" | "difference" | "__iter__") => container.clone(),
            (Shape::Callable, "__call__") => part(0),
            _ => Type::External,
        }
    }

    /// Returns the instance type of a class.
    pub(super) fn as_instance(&self, class: &Type) -> Type {
        match class {
            Type::Class(class, arguments) => Type::Instance(*class, arguments.clone()),
            Type::OwnClass(class) => Type::Own(*class),
            Type::Union(all) => Type::one_of(all.iter().map(|one| self.as_instance(one))),
            Type::Box(Shape::Callable, parts) => parts.first().cloned().unwrap_or(Type::Unknown),
            Type::Box(Shape::Row | Shape::Tuple, parts) => Type::one_of(parts.iter().map(|one| self.as_instance(one))),
            Type::External => Type::External,
            Type::Given => Type::Given,
            _ => Type::Unknown,
        }
    }

    /// Returns the class of an instance.
    pub(super) fn as_class(&self, instance: &Type) -> Type {
        match instance {
            Type::Instance(class, arguments) => Type::Class(*class, arguments.clone()),
            Type::Own(class) => Type::OwnClass(*class),
            Type::Union(all) => Type::one_of(all.iter().map(|one| self.as_class(one))),
            Type::Var(..) => Type::Box(Shape::Callable, Rc::from([instance.clone()])),
            Type::External => Type::External,
            Type::Given => Type::Given,
            class @ (Type::Class(..) | Type::OwnClass(_)) => class.clone(),
            _ => Type::Unknown,
        }
    }

    fn is_enum(&self, class: SymbolAt) -> bool {
        let Some(source) = self.source(class.file) else { return false };
        let is_variant = |place: &u32| source.symbol(*place).is_some_and(|symbol| symbol.kind == SymbolKind::Variant);
        source.children(Some(class.place)).iter().any(is_variant)
    }

    /// Returns the lookup site of a receiver's text, with the extracted information about its first name.
    pub(super) fn receiver_place(&self, place: &Place, binding: Option<u32>, text: ExprId) -> Place {
        let root = match binding {
            Some(at) => Root::Local(at),
            None if first_name(place.source.written(text)).is_empty() => Root::Open,
            None => Root::Free(text),
        };
        Place { root, ..place.clone() }
    }
}
