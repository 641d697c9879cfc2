//! Local bindings of a function: parameters, results, variables, type parameters.

use codecompass_model::{BindingKind, ExprId, ValuePart};

use super::kinds::{field as f, kind as k};
use super::lower::{self, lower, lower_field};
use super::types::{receiver, receiver_parameters};
use super::walk::Walk;
use crate::draft::{ExprInput, NewBinding};
use crate::roles::Role;
use crate::tree::Tree;

/// Opens the block of a function, method or closure and binds the names in its header. Parameters and the names
/// declared in the body share one block.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize, closed: bool) {
    let tree = walk.tree;
    walk.open(at, closed);
    if tree.kind(at) == k::METHOD {
        receiver_types(walk, at);
    }
    if let Some(list) = tree.child(at, f::TYPE_PARAMETERS) {
        type_parameters(walk, list);
    }
    let from = tree.child(at, f::BODY).unwrap_or_else(|| tree.next(at));
    for (field, kind) in
        [(f::RECEIVER, BindingKind::Param), (f::PARAMETERS, BindingKind::Param), (f::RESULT, BindingKind::Local)]
    {
        let list = tree.child(at, field).filter(|&list| tree.kind(list) == k::PARAMETERS);
        for parameter in list.into_iter().flat_map(|list| tree.children(list)) {
            names_of(walk, parameter, kind, from);
        }
    }
}

/// Binds the names of one parameter or type parameter, which share a type.
fn names_of(walk: &mut Walk<'_, '_>, at: usize, kind: BindingKind, from: usize) {
    let tree = walk.tree;
    let annotation = lower::parameter_type(walk, at).map(ExprInput::Expr);
    for name in tree.children(at).filter(|&child| tree.node(child).field == f::NAME) {
        let name = tree.node(name).span();
        walk.draft.bind(NewBinding { name, kind, annotation, value: None, part: ValuePart::Whole, from });
    }
}

/// Binds `[K comparable, V any]`.
pub(super) fn type_parameters(walk: &mut Walk<'_, '_>, list: usize) {
    let around = walk.tree.node(list).parent as usize;
    walk.generic_end = walk.generic_end.max(walk.tree.next(around));
    let tree = walk.tree;
    for parameter in tree.children(list).filter(|&child| tree.kind(child) == k::TYPE_PARAMETER) {
        names_of(walk, parameter, BindingKind::TypeParam, list);
    }
}

/// Binds the type parameters that a method renames in its receiver.
fn receiver_types(walk: &mut Walk<'_, '_>, method: usize) {
    let tree = walk.tree;
    let Some(of) = receiver(tree, method) else { return };
    for name in receiver_parameters(tree, of) {
        walk.generic_end = walk.generic_end.max(tree.next(method));
        walk.roles.mark(Some(name), Role::Declares);
        let name = tree.node(name).span();
        let kind = BindingKind::TypeParam;
        walk.draft.bind(NewBinding { name, kind, annotation: None, value: None, part: ValuePart::Whole, from: method });
    }
}

/// Returns the expressions of a list.
pub(super) fn items(tree: &Tree, list: Option<usize>) -> impl Iterator<Item = usize> + '_ {
    let parts = list.into_iter().flat_map(|list| tree.children(list));
    parts.filter(|&item| tree.kind(item) != k::COMMENT)
}

/// Handles `var a, b T = x, y` and `const a = x` in a function.
pub(super) fn spec(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let names: Vec<usize> = tree.children(at).filter(|&child| tree.node(child).field == f::NAME).collect();
    let annotation = lower_field(walk, at, f::TYPE);
    bind_all(walk, &names, annotation, tree.child(at, f::VALUE), tree.next(at));
}

/// Returns the values of a declaration of symbols, one for each name: its own, or its part of the only value.
pub(super) fn values_of(walk: &mut Walk<'_, '_>, at: usize) -> Vec<ExprId> {
    let tree = walk.tree;
    let names = tree.children(at).filter(|&child| tree.node(child).field == f::NAME).count();
    let values: Vec<usize> = items(tree, tree.child(at, f::VALUE)).collect();
    match values.as_slice() {
        [only] if names > 1 => {
            let whole = lower(walk, *only);
            (0..names).map(|n| lower::part(walk, whole, part_of(tree, Some(*only), n))).collect()
        }
        _ => values.into_iter().map(|value| lower(walk, value)).collect(),
    }
}

/// Handles `a, b := x, y`. With several names, those that the block already has are assigned and keep their binding.
pub(super) fn short_var(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let names: Vec<usize> = items(tree, tree.child(at, f::LEFT)).collect();
    bind_all(walk, &names, None, tree.child(at, f::RIGHT), tree.next(at));
}

/// Binds names to values, one to one, or to the several results of one value.
fn bind_all(walk: &mut Walk<'_, '_>, names: &[usize], annotation: Option<ExprId>, list: Option<usize>, from: usize) {
    let tree = walk.tree;
    let values: Vec<usize> = items(tree, list).collect();
    let several = names.len() > 1;
    let paired = names.len() == values.len();
    for (n, &name) in names.iter().enumerate() {
        let value = if paired { values.get(n) } else { values.first().filter(|_| values.len() == 1) }.copied();
        let part = if paired || annotation.is_some() { ValuePart::Whole } else { part_of(tree, value, n) };
        let value = value.map(|value| lower(walk, value));
        bind_one(walk, name, several, LocalInfo { annotation, value, part, from });
    }
}

/// The properties of a local binding besides its name.
struct LocalInfo {
    annotation: Option<ExprId>,
    value: Option<ExprId>,
    part: ValuePart,
    from: usize,
}

fn bind_one(walk: &mut Walk<'_, '_>, at: usize, several: bool, new: LocalInfo) {
    let name = walk.tree.node(at).span();
    if walk.tree.kind(at) != k::IDENTIFIER || several && walk.draft.is_bound_here(name) {
        return;
    }
    walk.roles.mark(Some(at), Role::Declares);
    let LocalInfo { annotation, value, part, from } = new;
    let (annotation, value) = (annotation.map(ExprInput::Expr), value.map(ExprInput::Expr));
    walk.draft.bind(NewBinding { name, kind: BindingKind::Local, annotation, value, part, from });
}

/// Returns the n-th of the values of one expression: the first of `m[k]`, `x.(T)` and `<-c` is all of it.
fn part_of(tree: &Tree, value: Option<usize>, n: usize) -> ValuePart {
    let alone = value.is_some_and(|value| matches!(tree.kind(value), k::INDEX | k::TYPE_ASSERTION | k::UNARY));
    if n == 0 && alone { ValuePart::Whole } else { ValuePart::Index(n as u32) }
}

/// Handles `for k, v := range x`: `v` is an element of `x`; `k` is a key, an index, or a value from a channel.
pub(super) fn range(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    if tree.child_of_kind(at, k::DEFINE).is_none() {
        return;
    }
    let value = lower_field(walk, at, f::RIGHT);
    for (n, name) in items(tree, tree.child(at, f::LEFT)).enumerate() {
        let part = if n == 1 { ValuePart::Element } else { ValuePart::Index(n as u32) };
        bind_one(walk, name, false, LocalInfo { annotation: None, value, part, from: tree.next(at) });
    }
}

/// Handles `case v, ok := <-c:`.
pub(super) fn receive(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    if tree.child_of_kind(at, k::DEFINE).is_none() {
        return;
    }
    let value = lower_field(walk, at, f::RIGHT);
    for (n, name) in items(tree, tree.child(at, f::LEFT)).enumerate() {
        let part = part_of(tree, tree.child(at, f::RIGHT), n);
        bind_one(walk, name, false, LocalInfo { annotation: None, value, part, from: tree.next(at) });
    }
}

/// Handles `switch v := x.(type)`: the name declares a variable in each case, and none here.
pub(super) fn type_switch(walk: &mut Walk<'_, '_>, at: usize) {
    let name = switched(walk.tree, at).map(|(name, _)| name);
    walk.roles.mark(name, Role::Declares);
}

/// Returns the name and the value in the header of a type switch that has a name.
fn switched(tree: &Tree, at: usize) -> Option<(usize, Option<usize>)> {
    let is_case = |child: usize| matches!(tree.kind(child), k::TYPE_CASE | k::DEFAULT_CASE);
    let mut header = tree.children(at).take_while(|&child| !is_case(child));
    let alias = header.find(|&child| tree.node(child).field == f::ALIAS)?;
    let value = header.find(|&child| tree.node(child).field == f::VALUE);
    Some((items(tree, Some(alias)).next()?, value))
}

/// Handles a case: `v` has the case's type if there is one, else that of `x`.
pub(super) fn type_case(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let Some((name, value)) = switched(tree, tree.node(at).parent as usize) else { return };
    let mut of = tree.children(at).filter(|&child| tree.node(child).field == f::TYPE);
    let only = of.next().filter(|_| of.next().is_none());
    let annotation = only.filter(|&only| walk.draft.slice(tree.node(only).span()) != "nil");
    let annotation = annotation.map(|of| lower(walk, of));
    let value = value.map(|value| lower(walk, value));
    let from = tree.children(at).take_while(|&child| tree.node(child).field == f::TYPE).last();
    let from = from.map_or(at, |last| tree.next(last));
    bind_one(walk, name, false, LocalInfo { annotation, value, part: ValuePart::Whole, from });
}
