//! Determines which names are local in Python, and to which scope.
//!
//! A name that a function assigns anywhere is local in all of it. A function is therefore scanned for its names before
//! the walk enters it: the first assignment of a name is its binding from the function's beginning on, and each later
//! one becomes a further binding when the walk reaches it. All bindings of one name in one function are the same
//! variable; a reference has the binding that it most likely reads, the last one above it.
//!
//! Variables of files and classes are symbols. Names that a loop, a `with`, an `except` or a `:=` binds outside
//! functions are local bindings nevertheless, since users do not search for them.

use codecompass_model::{BindingKind, Expr, Span, ValuePart};

use super::assignments;
use super::kinds::{field as f, kind as k};
use super::patterns::{self, ValueSource};
use super::walk::Walk;
use crate::draft::{ExprInput, NewBinding};
use crate::interner::FastMap;
use crate::roles::Role;

/// The enclosing scopes of the walk, innermost last, and the known localities of their names.
#[derive(Default)]
pub(super) struct Scopes<'t> {
    open: Vec<Scope<'t>>,
    localities: FastMap<(u32, &'t str), Locality>,
}

/// A function or a class.
#[derive(Clone, Copy)]
pub(super) struct Scope<'t> {
    /// Its node.
    pub(super) at: usize,
    /// The first node after it.
    pub(super) end: usize,
    /// The symbol of the class itself, or of the class around a method.
    pub(super) class: Option<u32>,
    pub(super) kind: ScopeKind<'t>,
}

#[derive(Clone, Copy)]
pub(super) enum ScopeKind<'t> {
    /// A class, and whether it is an enumeration.
    Class(bool),
    /// A function: its own name, and the name of its receiver if it is a method.
    Function { name: &'t str, receiver: Option<&'t str> },
}

/// The scope that defines a name in a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Locality {
    Local,
    /// A symbol or import, or a variable of another scope.
    NonLocal,
}

impl<'t> Scopes<'t> {
    pub(super) fn enter(&mut self, scope: Scope<'t>) {
        self.open.push(scope);
    }

    /// Returns the innermost function or class around a node.
    pub(super) fn enclosing(&mut self, at: usize) -> Option<Scope<'t>> {
        while self.open.pop_if(|scope| scope.end <= at).is_some() {}
        self.open.last().copied()
    }
}

/// Scans the body of a function for its local names.
pub(super) fn collect_locals(walk: &mut Walk<'_, '_>, function: usize, body: usize) {
    let tree = walk.tree;
    let end = tree.next(function);
    walk.scanned = function;
    let mut at = body;
    while at < end {
        at = match tree.kind(at) {
            k::FUNCTION | k::CLASS => {
                let name = tree.child(at, f::NAME).map(|name| tree.node(name).span());
                note_nonlocal(walk, function, name, body);
                tree.next(at)
            }
            k::IMPORT | k::FROM_IMPORT | k::GLOBAL | k::NONLOCAL => {
                note_names(walk, function, at, body);
                tree.next(at)
            }
            k::LAMBDA | k::FUTURE_IMPORT => tree.next(at),
            k::ASSIGNMENT | k::FOR | k::NAMED_EXPRESSION | k::AS_PATTERN | k::DOTTED_NAME | k::SPLAT_PATTERN => {
                if let Some((pattern, given)) = patterns::pattern(walk, at) {
                    patterns::each_target(walk, pattern, ValueSource { after: body, ..given }, bind_first_value);
                }
                at + 1
            }
            k::AUGMENTED => {
                let left = tree.children(at).next().filter(|&left| tree.kind(left) == k::IDENTIFIER);
                if let Some(left) = left {
                    let span = tree.node(left).span();
                    if note_locality(walk, function, span, Locality::Local) {
                        bind(walk, span, BindingKind::Local, ValueSource::unknown(body));
                    }
                }
                at + 1
            }
            _ => at + 1,
        };
    }
}

/// Binds a name at its first assignment in a function.
fn bind_first_value(walk: &mut Walk<'_, '_>, target: usize, given: ValueSource) {
    let node = walk.tree.node(target);
    if node.kind == k::IDENTIFIER && note_locality(walk, walk.scanned, node.span(), Locality::Local) {
        walk.roles.mark(Some(target), Role::Declares);
        bind(walk, node.span(), BindingKind::Local, given);
    }
}

/// Records the locality of a name in a function; returns false if it was known.
fn note_locality(walk: &mut Walk<'_, '_>, function: usize, name: Span, known: Locality) -> bool {
    let key = (function as u32, walk.draft.slice(name));
    match walk.scopes.localities.entry(key) {
        std::collections::hash_map::Entry::Occupied(_) => false,
        std::collections::hash_map::Entry::Vacant(free) => {
            free.insert(known);
            true
        }
    }
}

fn note_nonlocal(walk: &mut Walk<'_, '_>, function: usize, name: Option<Span>, body: usize) {
    if let Some(name) = name.filter(|&name| note_locality(walk, function, name, Locality::NonLocal)) {
        walk.draft.hide(name, body);
    }
}

/// Records the names of imports, which are symbols, and of `global` and `nonlocal`, which belong to another scope.
fn note_names(walk: &mut Walk<'_, '_>, function: usize, at: usize, body: usize) {
    let tree = walk.tree;
    for child in tree.children(at) {
        let node = tree.node(child);
        let name = match (tree.kind(at), node.kind) {
            (k::GLOBAL, k::IDENTIFIER) => Some(node.span()),
            (k::NONLOCAL, k::IDENTIFIER) => {
                note_locality(walk, function, node.span(), Locality::NonLocal);
                None
            }
            (_, k::ALIASED_IMPORT) => tree.child(child, f::ALIAS).map(|alias| tree.node(alias).span()),
            (_, k::DOTTED_NAME) if node.field == f::NAME => {
                tree.children(child).next().map(|root| tree.node(root).span())
            }
            _ => None,
        };
        note_nonlocal(walk, function, name, body);
    }
}

/// Handles a statement or expression that assigns names, when the walk reaches it.
pub(super) fn assign(walk: &mut Walk<'_, '_>, at: usize) {
    if let Some((pattern, given)) = patterns::pattern(walk, at) {
        walk.statement = at;
        patterns::each_target(walk, pattern, given, bind_later_value);
    }
}

/// Handles a later assignment. Attributes may be fields; names of functions that already have a binding get another
/// one, names of files and classes a symbol.
fn bind_later_value(walk: &mut Walk<'_, '_>, target: usize, given: ValueSource) {
    let node = walk.tree.node(target);
    if node.kind == k::ATTRIBUTE {
        return assignments::field(walk, target, given);
    }
    if node.kind != k::IDENTIFIER || walk.roles.get(target) != Role::Unset {
        return;
    }
    let scope = walk.scopes.enclosing(walk.statement);
    let name = walk.draft.slice(node.span());
    let is_function = |scope: &Scope<'_>| matches!(scope.kind, ScopeKind::Function { .. });
    let is_written = match scope.filter(is_function) {
        Some(scope) => walk.scopes.localities.get(&(scope.at as u32, name)) != Some(&Locality::NonLocal),
        None if walk.tree.kind(walk.statement) == k::ASSIGNMENT => return assignments::variable(walk, target, given),
        None => !walk.assigned_fields.contains_key(&(scope.and_then(|scope| scope.class), name)),
    };
    if is_written {
        walk.roles.mark(Some(target), Role::Declares);
        bind(walk, node.span(), BindingKind::Local, given);
    }
}

/// Handles a comprehension: it is a block of its own, and its loops bind in all of it.
pub(super) fn comprehension(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    walk.draft.block(tree.next(at), false);
    for clause in tree.children(at).filter(|&child| tree.kind(child) == k::FOR_IN) {
        if let Some((pattern, given)) = patterns::pattern(walk, clause) {
            patterns::each_target(walk, pattern, ValueSource { after: at, ..given }, |walk, target, given| {
                let node = walk.tree.node(target);
                if node.kind == k::IDENTIFIER {
                    walk.roles.mark(Some(target), Role::Declares);
                    bind(walk, node.span(), BindingKind::Local, given);
                }
            });
        }
    }
}

/// Handles a lambda: its parameters are local to it.
pub(super) fn lambda(walk: &mut Walk<'_, '_>, at: usize) {
    walk.draft.block(walk.tree.next(at), false);
    if let Some(list) = walk.tree.child_of_kind(at, k::LAMBDA_PARAMETERS) {
        parameters(walk, None, list, walk.tree.next(list));
    }
}

/// Binds parameters from the node `from` on: their defaults and types are evaluated outside.
pub(super) fn parameters(walk: &mut Walk<'_, '_>, function: Option<usize>, list: usize, from: usize) {
    let tree = walk.tree;
    for parameter in tree.children(list) {
        let span = |node: Option<usize>| node.map(|node| tree.node(node).span());
        let annotation = span(tree.child(parameter, f::TYPE));
        let value = span(tree.child(parameter, f::VALUE));
        let Some(pattern) = parameter_pattern(walk, parameter) else {
            continue;
        };
        let part = if tree.kind(pattern) == k::IDENTIFIER { ValuePart::Whole } else { ValuePart::Inside };
        for name in (pattern..tree.next(pattern)).filter(|&name| tree.kind(name) == k::IDENTIFIER) {
            let word = tree.node(name).span();
            walk.roles.mark(Some(name), Role::Declares);
            if tree.kind(pattern) == k::DICT_SPLAT_PATTERN {
                bind_rest(walk, word, annotation, from);
            } else {
                bind(
                    walk,
                    word,
                    BindingKind::Param,
                    ValueSource { annotation, value, part, ..ValueSource::unknown(from) },
                );
            }
            if let Some(function) = function {
                note_locality(walk, function, word, Locality::Local);
            }
        }
    }
}

/// Binds `**rest`: a map to the declared type.
fn bind_rest(walk: &mut Walk<'_, '_>, name: Span, annotation: Option<Span>, from: usize) {
    let key = walk.draft.expr(Expr::Other);
    let value = walk.draft.text_expr(annotation).unwrap_or(key);
    let annotation = Some(ExprInput::Expr(walk.draft.expr(Expr::Map { key, value })));
    let kind = BindingKind::Param;
    walk.draft.bind(NewBinding { name, kind, annotation, value: None, part: ValuePart::Inside, from });
}

/// Returns the name of a parameter, or the pattern around it: a star, or a tuple as in Python 2.
fn parameter_pattern(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    match walk.tree.kind(at) {
        k::IDENTIFIER | k::LIST_SPLAT_PATTERN | k::DICT_SPLAT_PATTERN | k::TUPLE_PATTERN => Some(at),
        k::DEFAULT_PARAMETER | k::TYPED_DEFAULT_PARAMETER => walk.tree.child(at, f::NAME),
        k::TYPED_PARAMETER => walk.tree.children(at).next(),
        _ => None,
    }
}

/// Returns the name of a function's first parameter.
pub(super) fn receiver<'t>(walk: &Walk<'_, 't>, function: usize) -> Option<&'t str> {
    let list = walk.tree.child_of_kind(function, k::PARAMETERS)?;
    let first = walk.tree.children(list).find(|&child| walk.tree.kind(child) != k::COMMENT)?;
    let name = parameter_pattern(walk, first).filter(|&name| walk.tree.kind(name) == k::IDENTIFIER)?;
    Some(walk.draft.slice(walk.tree.node(name).span()))
}

/// Binds the type parameters of a function, class or alias.
pub(super) fn type_parameters(walk: &mut Walk<'_, '_>, list: Option<usize>) {
    let tree = walk.tree;
    for parameter in list.into_iter().flat_map(|list| tree.children(list)) {
        let inner = tree.children(parameter).next();
        let (name, bound) = match inner.map(|inner| (inner, tree.kind(inner))) {
            Some((inner, k::CONSTRAINED_TYPE)) => {
                let mut parts = tree.children(inner);
                (parts.next().and_then(|part| tree.children(part).next()), parts.next())
            }
            Some((inner, k::SPLAT_TYPE)) => (tree.children(inner).next(), None),
            _ => (inner, None),
        };
        if let Some(name) = name.filter(|&name| tree.kind(name) == k::IDENTIFIER) {
            walk.roles.mark(Some(name), Role::Declares);
            let annotation = bound.map(|bound| tree.node(bound).span());
            let given = ValueSource { annotation, ..ValueSource::unknown(list.unwrap_or(0)) };
            bind(walk, tree.node(name).span(), BindingKind::TypeParam, given);
        }
    }
}

fn bind(walk: &mut Walk<'_, '_>, name: Span, kind: BindingKind, given: ValueSource) {
    let ValueSource { annotation, value, part, after: from, .. } = given;
    let (annotation, value) = (annotation.map(ExprInput::Text), value.map(ExprInput::Text));
    walk.draft.bind(NewBinding { name, kind, annotation, value, part, from });
}
