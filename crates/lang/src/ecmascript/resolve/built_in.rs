//! A model of the language's own types: containers and promises, because types of the view flow through them.

use std::rc::Rc;

use super::EcmaResolver;
use super::types::{Scope, Type};

/// Members of the language's own types: of strings, lists, sets, maps, promises, functions, and of all objects.
const MEMBERS: &[&str] = &[
    "add",
    "apply",
    "at",
    "bind",
    "call",
    "catch",
    "charAt",
    "charCodeAt",
    "clear",
    "codePointAt",
    "concat",
    "copyWithin",
    "delete",
    "endsWith",
    "entries",
    "every",
    "fill",
    "filter",
    "finally",
    "find",
    "findIndex",
    "findLast",
    "findLastIndex",
    "flat",
    "flatMap",
    "forEach",
    "get",
    "has",
    "hasOwnProperty",
    "includes",
    "indexOf",
    "join",
    "keys",
    "lastIndexOf",
    "length",
    "localeCompare",
    "map",
    "match",
    "matchAll",
    "next",
    "normalize",
    "padEnd",
    "padStart",
    "pop",
    "push",
    "reduce",
    "reduceRight",
    "repeat",
    "replace",
    "replaceAll",
    "return",
    "reverse",
    "search",
    "set",
    "shift",
    "size",
    "slice",
    "some",
    "sort",
    "splice",
    "split",
    "startsWith",
    "substr",
    "substring",
    "test",
    "then",
    "throw",
    "toFixed",
    "toISOString",
    "toLocaleLowerCase",
    "toLocaleString",
    "toLocaleUpperCase",
    "toLowerCase",
    "toReversed",
    "toSorted",
    "toSpliced",
    "toString",
    "toUpperCase",
    "trim",
    "trimEnd",
    "trimStart",
    "unshift",
    "valueOf",
    "values",
    "with",
];

/// Returns whether the language's own types have a member of this name.
pub(super) fn is_language_member(name: &str) -> bool {
    MEMBERS.binary_search(&name).is_ok()
}

impl EcmaResolver<'_> {
    /// Returns a type of the language, by its name and type arguments.
    pub(super) fn built_in(&self, name: &str, argument: &dyn Fn(usize) -> Type) -> Type {
        match name {
            "Array"
            | "ReadonlyArray"
            | "Set"
            | "ReadonlySet"
            | "Iterable"
            | "IterableIterator"
            | "Iterator"
            | "Generator"
            | "AsyncIterable"
            | "AsyncGenerator"
            | "AsyncIterableIterator"
            | "ArrayLike"
            | "WeakSet" => Type::list(argument(0)),
            "Map" | "ReadonlyMap" | "Record" | "WeakMap" => Type::Dict(Rc::new(argument(1))),
            "Promise" | "PromiseLike" => Type::Promise(Rc::new(argument(0))),
            "Awaited" => self.awaited(&argument(0)),
            "Partial" | "Required" | "Readonly" | "NonNullable" | "Omit" | "Pick" | "Exclude" | "Extract"
            | "NoInfer" => argument(0),
            "ReturnType" => self.call_result(&argument(0), "", &Scope::new(u32::MAX, None, 0)),
            "InstanceType" => self.instance_of(&argument(0), &[]),
            "any" | "unknown" | "object" | "Object" | "Function" => Type::Unknown,
            _ => Type::External,
        }
    }

    /// Returns the type of a global value by its name. It is not in the view, so its members are external.
    pub(super) fn built_in_value(&self, name: &str) -> Type {
        match name {
            "Object" | "Promise" | "Array" => Type::Method(Rc::new(Type::External), Rc::from(name)),
            // Any code may add members to these.
            "window" | "globalThis" | "self" | "global" => Type::ExternalResult,
            _ => Type::External,
        }
    }

    /// Returns the type that a promise resolves to.
    pub(super) fn awaited(&self, of: &Type) -> Type {
        let one = |of: &Type| match self.expanded(of) {
            Type::Promise(inner) => (*inner).clone(),
            Type::Union(types) => Type::union_of(types.iter().map(|one| self.awaited(one))),
            other => other,
        };
        Type::union_of(of.alternatives().iter().map(one))
    }

    /// Returns the element type of a list, or the value type of a map.
    pub(super) fn element(&self, of: &Type) -> Type {
        let one = |of: &Type| match self.expanded(of) {
            Type::List(element) | Type::Dict(element) => (*element).clone(),
            Type::Tuple(elements) => Type::union_of(elements.iter().cloned()),
            Type::External | Type::ExternalResult => Type::ExternalResult,
            Type::Union(types) => Type::union_of(types.iter().map(|one| self.element(one))),
            _ => Type::Unknown,
        };
        Type::union_of(of.alternatives().iter().map(one))
    }

    /// Returns the type of the n-th element.
    pub(super) fn nth(&self, of: &Type, at: usize) -> Type {
        match self.expanded(of) {
            Type::Tuple(elements) => elements.get(at).cloned().unwrap_or(Type::Unknown),
            Type::Union(types) => Type::union_of(types.iter().map(|one| self.nth(one, at))),
            other => self.element(&other),
        }
    }

    /// Returns the return type of a container's method.
    pub(super) fn method_result(&self, of: &Type, name: &str) -> Type {
        match (of, name) {
            (Type::Tuple(elements), _) => {
                self.method_result(&Type::list(Type::union_of(elements.iter().cloned())), name)
            }
            (
                Type::List(_),
                "filter" | "slice" | "sort" | "reverse" | "concat" | "splice" | "toSorted" | "toReversed" | "values"
                | "add",
            ) => of.clone(),
            (Type::List(element), "find" | "pop" | "shift" | "at" | "findLast") => (**element).clone(),
            (Type::List(element), "flat") => match &**element {
                Type::List(_) => (**element).clone(),
                _ => of.clone(),
            },
            (Type::List(element), "entries") => Type::list(Type::Tuple([Type::External, (**element).clone()].into())),
            (Type::Dict(value), "get") => (**value).clone(),
            (Type::Dict(_), "set") => of.clone(),
            (Type::Dict(value), "values") => Type::list((**value).clone()),
            (Type::Dict(value), "entries") => Type::list(Type::Tuple([Type::External, (**value).clone()].into())),
            (Type::Promise(_), "catch" | "finally") => of.clone(),
            (Type::List(_), "map" | "flatMap") => Type::list(Type::Unknown),
            (Type::Promise(_), "then") => Type::Promise(Rc::new(Type::Unknown)),
            (Type::List(_), "reduce") => Type::Unknown,
            _ => Type::External,
        }
    }

    /// Returns the type of the n-th parameter of the callback of a container's method.
    pub(super) fn callback_parameter(&self, of: &Type, name: &str, at: usize) -> Type {
        match (of, name, at) {
            (Type::Tuple(elements), ..) => {
                self.callback_parameter(&Type::list(Type::union_of(elements.iter().cloned())), name, at)
            }
            (Type::List(element), "reduce" | "reduceRight", 1) => (**element).clone(),
            (Type::List(element), "sort" | "toSorted", 0 | 1) => (**element).clone(),
            (Type::List(_), "reduce" | "reduceRight", _) => Type::Unknown,
            (Type::List(element) | Type::Dict(element) | Type::Promise(element), _, 0) => match (of, name) {
                (Type::Promise(_), "catch") => Type::Unknown,
                _ => (**element).clone(),
            },
            _ => Type::ExternalResult,
        }
    }
}
