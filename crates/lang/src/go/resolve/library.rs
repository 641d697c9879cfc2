//! The generic part of the standard library, which hands a caller's own types back.
//!
//! What other functions from outside give is a type from outside, whose members are no edges; but `slices.Clone(routes)`
//! is a list of routes. Type parameters are single capital letters.

use std::rc::Rc;

use codecompass_model::VersionId;

use super::syntax::{self, Expr, Signature};
use super::types::{FuncType, Type};

/// The file that the type parameters of the library belong to: none of the view.
const LIBRARY: VersionId = VersionId::MAX;

/// Package, function, header.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("cmp", "Or", "func(v ...T) T"),
    ("iter", "Pull", "func(seq func(yield func(V) bool)) (func() (V, bool), func())"),
    ("maps", "All", "func(m map[K]V) func(yield func(K, V) bool)"),
    ("maps", "Clone", "func(m M) M"),
    ("maps", "Collect", "func(seq func(yield func(K, V) bool)) map[K]V"),
    ("maps", "Keys", "func(m map[K]V) func(yield func(K) bool)"),
    ("maps", "Values", "func(m map[K]V) func(yield func(V) bool)"),
    ("slices", "All", "func(s []E) func(yield func(int, E) bool)"),
    ("slices", "AppendSeq", "func(s S, seq func(yield func(E) bool)) S"),
    ("slices", "Backward", "func(s []E) func(yield func(int, E) bool)"),
    ("slices", "Chunk", "func(s S, n int) func(yield func(S) bool)"),
    ("slices", "Clip", "func(s S) S"),
    ("slices", "Clone", "func(s S) S"),
    ("slices", "Collect", "func(seq func(yield func(E) bool)) []E"),
    ("slices", "Compact", "func(s S) S"),
    ("slices", "CompactFunc", "func(s S, eq any) S"),
    ("slices", "Concat", "func(s ...S) S"),
    ("slices", "Delete", "func(s S, i, j int) S"),
    ("slices", "DeleteFunc", "func(s S, del any) S"),
    ("slices", "Grow", "func(s S, n int) S"),
    ("slices", "Insert", "func(s S, i int, v any) S"),
    ("slices", "Max", "func(s []E) E"),
    ("slices", "MaxFunc", "func(s []E, cmp any) E"),
    ("slices", "Min", "func(s []E) E"),
    ("slices", "MinFunc", "func(s []E, cmp any) E"),
    ("slices", "Repeat", "func(s S, n int) S"),
    ("slices", "Replace", "func(s S, i, j int, v any) S"),
    ("slices", "Sorted", "func(seq func(yield func(E) bool)) []E"),
    ("slices", "SortedFunc", "func(seq func(yield func(E) bool), cmp any) []E"),
    ("slices", "SortedStableFunc", "func(seq func(yield func(E) bool), cmp any) []E"),
    ("slices", "Values", "func(s []E) func(yield func(E) bool)"),
    ("sync", "OnceValue", "func(f func() T) func() T"),
    ("sync", "OnceValues", "func(f func() (T, U)) func() (T, U)"),
];

/// The name of a method, and its header.
type Method = (&'static str, &'static str);

/// Package, type, its type parameters in order, what it is, its methods.
const TYPES: &[(&str, &str, &str, &str, &[Method])] = &[
    ("iter", "Seq", "V", "func(yield func(V) bool)", &[]),
    ("iter", "Seq2", "KV", "func(yield func(K, V) bool)", &[]),
    ("sync/atomic", "Pointer", "T", "any", &[("Load", "func() *T"), ("Swap", "func(new *T) *T")]),
    ("unique", "Handle", "T", "any", &[("Value", "func() T")]),
    ("weak", "Pointer", "T", "any", &[("Value", "func() *T")]),
];

/// The type of a function of the library.
pub(super) fn function(path: &str, name: &str) -> Option<Type> {
    let (.., header) = FUNCTIONS.iter().find(|(of, known, _)| *of == path && *known == name)?;
    Some(type_of(&syntax::parse_type(header), true))
}

/// A type of the library, by its place in the list.
pub(super) fn find_type(path: &str, name: &str) -> Option<u32> {
    TYPES.iter().position(|(of, known, ..)| *of == path && *known == name).map(|at| at as u32)
}

/// What a type of the library is.
pub(super) fn underlying(at: u32, arguments: &[Type]) -> Type {
    let Some((_, _, params, is, _)) = TYPES.get(at as usize) else { return Type::Unknown };
    filled(type_of(&syntax::parse_type(is), false), params, arguments)
}

/// The type of a method of a type of the library; other methods give nothing that is the caller's.
pub(super) fn method(at: u32, name: &str, arguments: &[Type]) -> Type {
    let Some((_, _, params, _, methods)) = TYPES.get(at as usize) else { return Type::Unknown };
    match methods.iter().find(|(known, _)| *known == name) {
        Some((_, header)) => filled(type_of(&syntax::parse_type(header), false), params, arguments),
        None => Type::External,
    }
}

fn filled(of: Type, params: &str, arguments: &[Type]) -> Type {
    let pairs = params.chars().zip(arguments);
    of.with(&pairs.map(|(param, argument)| (key(param), argument.clone())).collect())
}

fn key(param: char) -> (VersionId, u32) {
    (LIBRARY, u32::from(param))
}

/// A type of the table, which knows no names but type parameters and predeclared types.
fn type_of(expr: &Expr<'_>, declares: bool) -> Type {
    let one = |of: &Expr<'_>| Rc::new(type_of(of, false));
    match expr {
        Expr::Name(name) => match (name.chars().next(), super::predeclared::find(name)) {
            (_, Some(super::predeclared::Predeclared::Type(basic))) => Type::Basic(basic),
            (Some(param), _) if name.len() == 1 => Type::Param(LIBRARY, u32::from(param)),
            _ => Type::External,
        },
        Expr::Star(of) => Type::Pointer(one(of)),
        Expr::List(of) => Type::List(one(of)),
        Expr::Map(key, of) => Type::Map(Rc::new((type_of(key, false), type_of(of, false)))),
        Expr::Func(signature) => Type::Func(Rc::new(func_type(signature, declares))),
        _ => Type::External,
    }
}

fn func_type(signature: &Signature<'_>, declares: bool) -> FuncType {
    let all = |list: &[Expr<'_>]| list.iter().map(|of| type_of(of, false)).collect();
    let own = if declares { ('A'..='Z').map(key).collect() } else { Vec::new() };
    FuncType { own, params: all(&signature.params), variadic: signature.variadic, results: all(&signature.results) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_gives_what_it_takes() {
        for (path, name, _) in FUNCTIONS {
            let Some(Type::Func(of)) = function(path, name) else { panic!("{path}.{name}") };
            assert!(Type::results(&of.results).is_open(), "{path}.{name}");
        }
        for (path, name, params, ..) in TYPES {
            assert!(find_type(path, name).is_some(), "{path}.{name}");
            assert!(!params.is_empty(), "{path}.{name}");
        }
    }
}
