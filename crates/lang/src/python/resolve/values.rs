//! Infers the types of expressions.

use std::rc::Rc;

use codecompass_model::{ExprId, SymbolAt, SymbolKind, ValuePart};

use super::annotations::{is_iterable_type, is_map};
use super::builtins::is_builtin;
use super::expression::{Arg, Expr};
use super::names::{LookupSite, RootName};
use super::types::{ContainerKind, NameTarget, Type};
use super::{PythonResolver, TypeQuery};
use crate::text::{first_name, is_capitalised};

/// Infers the type variables of a called function.
type InferTypeVars<'f> = dyn Fn(SymbolAt, &mut Vec<(Rc<str>, Type)>) + 'f;

impl PythonResolver<'_> {
    /// Returns the type of a text; the root of the site has the known target of its first name.
    pub(super) fn text_type(&self, place: &LookupSite, text: ExprId) -> Type {
        let key = TypeQuery::Text(place.id(), place.scope, text, place.root, place.line);
        self.types.compute_cyclic(&self.query_stack, key, Type::Unknown, || {
            self.value(&Expr::parse(place.source.expr_text(text)), place)
        })
    }

    /// Resolves a name, with the known target of the first one.
    pub(super) fn resolve_root(&self, place: &LookupSite, name: &str) -> NameTarget {
        match place.root {
            RootName::Local(at) if self.binding_name(place, at) == name => NameTarget::Local(at),
            RootName::NonLocal(text) if first_name(place.source.expr_text(text)) == name => {
                self.look_up(place, name, false)
            }
            _ => self.look_up(place, name, true),
        }
    }

    fn binding_name<'p>(&self, place: &'p LookupSite, at: u32) -> &'p str {
        place.source.facts().bindings.get(at as usize).map_or("", |binding| place.source.name(binding.name))
    }

    /// Returns the type of an expression.
    pub(super) fn value(&self, expression: &Expr<'_>, place: &LookupSite) -> Type {
        match expression {
            Expr::Name("None") => Type::NoneType,
            Expr::Name(name) => match self.resolve_root(place, name) {
                NameTarget::Local(at) => self.local(place, at),
                found => self.target_type(&found, None),
            },
            Expr::Attr(of, name) => self.member_type(&self.value(of, place), name),
            Expr::Call(callee, arguments) => self.call_expression_type(callee, arguments, place),
            Expr::Index(of, indices) => self.indexed(&self.value(of, place), indices, place),
            Expr::Text(_) | Expr::Number(_) | Expr::Scalar | Expr::Slice => Type::External,
            Expr::List(all) => Type::iterable_of(Type::union_of(all.iter().map(|one| self.value(one, place)))),
            Expr::Tuple(all) => {
                Type::Container(ContainerKind::Tuple, all.iter().map(|one| self.value(one, place)).collect())
            }
            Expr::Dict(pairs) => {
                let keys = Type::union_of(pairs.iter().map(|(key, _)| self.value(key, place)));
                let values = Type::union_of(pairs.iter().map(|(_, value)| self.value(value, place)));
                Type::Container(ContainerKind::Map, Rc::from([keys, values]))
            }
            Expr::Comprehension(of) => Type::iterable_of(self.value(of, place)),
            Expr::Either(all) => Type::union_of(all.iter().map(|one| self.value(one, place))),
            Expr::Sum(of) => self.value(of, place),
            Expr::Lambda(of) => Type::Container(ContainerKind::Callable, Rc::from([self.value(of, place)])),
            Expr::Unknown => Type::Unknown,
        }
    }

    fn call_expression_type(&self, callee: &Expr<'_>, arguments: &[Arg<'_>], place: &LookupSite) -> Type {
        if *callee == Expr::Name("super") {
            return self.super_type(arguments, place);
        }
        match self.value(callee, place) {
            Type::External => self.external_call_result(callee.last_name().unwrap_or(""), arguments, place),
            // A class that an external function created may be a class of the view.
            Type::ExternalResult => match self.external_call_result(callee.last_name().unwrap_or(""), arguments, place)
            {
                Type::External => Type::ExternalResult,
                known => known,
            },
            known => self.call(&known, arguments, place),
        }
    }

    /// Returns the type of `super()`, `super(A, self)`.
    fn super_type(&self, arguments: &[Arg<'_>], place: &LookupSite) -> Type {
        let named = arguments.first().map(|first| self.value(&first.value, place));
        match named {
            Some(Type::Class(class, _) | Type::SelfClass(class)) => Type::Super(class),
            Some(_) => Type::Unknown,
            None => match self.self_type(place) {
                Type::SelfType(class) => Type::Super(class),
                _ => Type::Unknown,
            },
        }
    }

    /// Returns the result type of standard library functions that pass their arguments through.
    fn external_call_result(&self, name: &str, arguments: &[Arg<'_>], place: &LookupSite) -> Type {
        let argument = |at: usize| arguments.get(at).map_or(Type::Unknown, |arg| self.value(&arg.value, place));
        match name {
            "copy" | "deepcopy" | "iter" | "aiter" | "run" if arguments.len() == 1 => match argument(0) {
                Type::Unknown => Type::ExternalResult,
                known => known,
            },
            "cast" => arguments.first().map_or(Type::Unknown, |to| self.annotation(&to.value, place)),
            "ref" => Type::Container(ContainerKind::Callable, Rc::from([argument(0)])),
            "partial" | "wraps" | "cache" | "lru_cache" => argument(0),
            "type" if arguments.len() == 1 => self.as_class(&argument(0)),
            "next" | "anext" | "max" | "min" if !arguments.is_empty() => self.element(&argument(0)),
            "sorted" | "reversed" | "tuple" | "chain" => Type::iterable_of(self.element(&argument(0))),
            "filter" => Type::iterable_of(self.element(&argument(1))),
            "map" => Type::iterable_of(self.call(&argument(0), &[], place)),
            "enumerate" => Type::iterable_of(Type::Container(
                ContainerKind::Tuple,
                Rc::from([Type::External, self.element(&argument(0))]),
            )),
            "zip" => {
                let each = (0..arguments.len()).map(|at| self.element(&argument(at)));
                Type::iterable_of(Type::Container(ContainerKind::Tuple, each.collect()))
            }
            "getattr" | "deque" | "defaultdict" if arguments.is_empty() => Type::Unknown,
            "getattr" => Type::Unknown,
            "defaultdict" => {
                let made = self.call(&argument(0), &[], place);
                Type::Container(ContainerKind::Map, Rc::from([Type::Unknown, made]))
            }
            _ if is_map(name) => match argument(0) {
                map @ Type::Container(ContainerKind::Map, _) => map,
                _ => Type::Container(ContainerKind::Map, Rc::from([Type::Unknown, Type::Unknown])),
            },
            _ if is_iterable_type(name) => Type::iterable_of(self.element(&argument(0))),
            // A call of an external class constructs an instance of that class.
            _ if is_capitalised(name) || is_builtin(name) => Type::External,
            _ => Type::ExternalResult,
        }
    }

    fn indexed(&self, of: &Type, indices: &[Expr<'_>], place: &LookupSite) -> Type {
        let is_slice = indices.first() == Some(&Expr::Slice);
        match of {
            Type::Union(all) => Type::union_of(all.iter().map(|one| self.indexed(one, indices, place))),
            Type::Container(ContainerKind::Iterable | ContainerKind::Tuple, _) if is_slice => of.clone(),
            Type::Container(ContainerKind::Iterable, parts) => parts.first().cloned().unwrap_or(Type::Unknown),
            Type::Container(ContainerKind::Map, parts) => parts.get(1).cloned().unwrap_or(Type::Unknown),
            Type::Container(ContainerKind::Tuple, parts) => match indices.first() {
                Some(Expr::Number(at)) => parts.get(*at).cloned().unwrap_or(Type::Unknown),
                _ => Type::union_of(parts.iter().cloned()),
            },
            Type::Class(class, _) if self.is_enum(*class) => Type::instance(*class),
            Type::Class(class, _) => {
                Type::Class(*class, indices.iter().map(|one| self.annotation(one, place)).collect())
            }
            Type::Instance(..) | Type::SelfType(_) => self.dunder_result(of, "__getitem__").unwrap_or(Type::Unknown),
            Type::External | Type::ExternalResult => Type::ExternalResult,
            _ => Type::Unknown,
        }
    }

    /// Returns the result type of a method that Python calls implicitly.
    pub(super) fn dunder_result(&self, of: &Type, method: &str) -> Option<Type> {
        match self.member_type(of, method) {
            Type::Unknown | Type::External | Type::ExternalResult => None,
            Type::Method(container, name) => Some(self.container_method_result(&container, &name)),
            known => Some(self.call_plain(&known)),
        }
    }

    /// Returns the element type of a loop over a value.
    pub(super) fn element(&self, of: &Type) -> Type {
        match of {
            Type::Union(all) => Type::union_of(all.iter().map(|one| self.element(one))),
            Type::Container(ContainerKind::Iterable | ContainerKind::Map, parts) => {
                parts.first().cloned().unwrap_or(Type::Unknown)
            }
            Type::Container(ContainerKind::Tuple, parts) => Type::union_of(parts.iter().cloned()),
            Type::External | Type::ExternalResult => Type::ExternalResult,
            Type::Class(class, _) if self.is_enum(*class) => Type::instance(*class),
            Type::Instance(..) | Type::SelfType(_) => {
                let iterator = self.dunder_result(of, "__iter__").or_else(|| self.dunder_result(of, "__aiter__"));
                match iterator {
                    Some(Type::Instance(..) | Type::SelfType(_)) => {
                        let next = iterator.as_ref().and_then(|one| {
                            self.dunder_result(one, "__next__").or_else(|| self.dunder_result(one, "__anext__"))
                        });
                        next.unwrap_or(Type::Unknown)
                    }
                    Some(other) => self.element(&other),
                    None => self.dunder_result(of, "__getitem__").unwrap_or(Type::Unknown),
                }
            }
            _ => Type::Unknown,
        }
    }

    /// Returns the type of the target of a `with`.
    pub(super) fn entered(&self, of: &Type) -> Type {
        match of {
            Type::Union(all) => Type::union_of(all.iter().map(|one| self.entered(one))),
            Type::Container(ContainerKind::Context, parts) => parts.first().cloned().unwrap_or(Type::Unknown),
            Type::Instance(..) | Type::SelfType(_) => {
                let given = self.dunder_result(of, "__enter__").or_else(|| self.dunder_result(of, "__aenter__"));
                given.filter(|given| !given.is_unknown()).unwrap_or_else(|| of.clone())
            }
            other => other.clone(),
        }
    }

    /// Returns the type of a part of a value.
    pub(super) fn part_type(&self, of: Type, part: ValuePart, place: &LookupSite) -> Type {
        match part {
            ValuePart::Whole | ValuePart::Payload => of,
            ValuePart::Element => self.element(&of),
            ValuePart::Index(at) => self.nth(&of, at as usize),
            ValuePart::Field(name) => self.member_type(&of, place.source.name(name)),
            ValuePart::Inside => Type::Unknown,
        }
    }

    pub(super) fn nth(&self, of: &Type, at: usize) -> Type {
        match of {
            Type::Union(all) => Type::union_of(all.iter().map(|one| self.nth(one, at))),
            Type::Container(ContainerKind::Tuple, parts) => parts.get(at).cloned().unwrap_or(Type::Unknown),
            other => self.element(other),
        }
    }

    /// Returns the result type of a call, without its arguments.
    pub(super) fn call_plain(&self, callee: &Type) -> Type {
        self.call_with(callee, &|_, _| {})
    }

    /// Returns the result type of a call.
    pub(super) fn call(&self, callee: &Type, arguments: &[Arg<'_>], place: &LookupSite) -> Type {
        let fill = |function: SymbolAt, filled: &mut Vec<(Rc<str>, Type)>| {
            self.infer_from_arguments(function, matches!(callee, Type::Function(_, Some(_))), arguments, place, filled);
        };
        match callee {
            Type::Method(container, name)
                if matches!(&**name, "get" | "pop" | "setdefault") && arguments.len() == 2 =>
            {
                let otherwise = arguments.get(1).map_or(Type::Unknown, |arg| self.value(&arg.value, place));
                Type::union_of([self.container_method_result(container, name), otherwise])
            }
            _ => self.call_with(callee, &fill),
        }
    }

    fn call_with(&self, callee: &Type, fill: &InferTypeVars<'_>) -> Type {
        match callee {
            Type::Union(all) => Type::union_of(all.iter().map(|one| self.call_with(one, fill))),
            Type::Class(class, arguments) => Type::Instance(*class, arguments.clone()),
            Type::SelfClass(class) => Type::SelfType(*class),
            Type::Function(function, to) => {
                let given = self.return_type(*function);
                if !given.has_type_vars() {
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
                    Some(to) => self.substitute_for_method(&given, *function, to),
                    None => given,
                }
            }
            Type::Instance(..) | Type::SelfType(_) => self.dunder_result(callee, "__call__").unwrap_or(Type::Unknown),
            Type::Container(ContainerKind::Callable, parts) => parts.first().cloned().unwrap_or(Type::Unknown),
            Type::Method(container, name) => self.container_method_result(container, name),
            Type::External | Type::ExternalResult | Type::Container(..) => Type::ExternalResult,
            _ => Type::Unknown,
        }
    }

    /// Returns the result type of a container's method.
    fn container_method_result(&self, container: &Type, name: &str) -> Type {
        let Type::Container(shape, parts) = container else { return Type::External };
        let part = |at: usize| parts.get(at).cloned().unwrap_or(Type::Unknown);
        match (shape, name) {
            (_, "copy" | "__enter__") => container.clone(),
            (ContainerKind::Map, "get" | "pop" | "setdefault" | "__getitem__") => part(1),
            (ContainerKind::Map, "values") => Type::iterable_of(part(1)),
            (ContainerKind::Map, "keys" | "__iter__") => Type::iterable_of(part(0)),
            (ContainerKind::Map, "items") => Type::iterable_of(Type::Container(ContainerKind::Tuple, parts.clone())),
            (ContainerKind::Map, "popitem") => Type::Container(ContainerKind::Tuple, parts.clone()),
            (ContainerKind::Iterable, "get" | "pop" | "popleft" | "__next__" | "__getitem__" | "send") => part(0),
            (ContainerKind::Iterable, "union" | "intersection" | "difference" | "__iter__") => container.clone(),
            (ContainerKind::Callable, "__call__") => part(0),
            _ => Type::External,
        }
    }

    /// Returns the instance type of a class.
    pub(super) fn as_instance(&self, class: &Type) -> Type {
        match class {
            Type::Class(class, arguments) => Type::Instance(*class, arguments.clone()),
            Type::SelfClass(class) => Type::SelfType(*class),
            Type::Union(all) => Type::union_of(all.iter().map(|one| self.as_instance(one))),
            Type::Container(ContainerKind::Callable, parts) => parts.first().cloned().unwrap_or(Type::Unknown),
            Type::Container(ContainerKind::Iterable | ContainerKind::Tuple, parts) => {
                Type::union_of(parts.iter().map(|one| self.as_instance(one)))
            }
            Type::External => Type::External,
            Type::ExternalResult => Type::ExternalResult,
            _ => Type::Unknown,
        }
    }

    /// Returns the class of an instance.
    pub(super) fn as_class(&self, instance: &Type) -> Type {
        match instance {
            Type::Instance(class, arguments) => Type::Class(*class, arguments.clone()),
            Type::SelfType(class) => Type::SelfClass(*class),
            Type::Union(all) => Type::union_of(all.iter().map(|one| self.as_class(one))),
            Type::Var(..) => Type::Container(ContainerKind::Callable, Rc::from([instance.clone()])),
            Type::External => Type::External,
            Type::ExternalResult => Type::ExternalResult,
            class @ (Type::Class(..) | Type::SelfClass(_)) => class.clone(),
            _ => Type::Unknown,
        }
    }

    fn is_enum(&self, class: SymbolAt) -> bool {
        let Some(source) = self.source(class.file) else { return false };
        let is_variant = |place: &u32| source.symbol(*place).is_some_and(|symbol| symbol.kind == SymbolKind::Variant);
        source.children(Some(class.ordinal)).iter().any(is_variant)
    }

    /// Returns the lookup site of a receiver's text, with the extracted information about its first name.
    pub(super) fn receiver_site(&self, place: &LookupSite, binding: Option<u32>, text: ExprId) -> LookupSite {
        let root = match binding {
            Some(at) => RootName::Local(at),
            None if first_name(place.source.expr_text(text)).is_empty() => RootName::Unknown,
            None => RootName::NonLocal(text),
        };
        LookupSite { root, ..place.clone() }
    }
}
