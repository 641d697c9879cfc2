//! Local bindings: parameters, variables, patterns, type parameters, and their blocks.

use codecompass_model::{BindingKind, Span, SymbolKind, ValuePart};

use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::draft::{ExprInput, NewBinding};
use crate::roles::Role;
use crate::text::{self, is_capitalised};
use crate::tree::Tree;

/// The maximum number of list elements, pattern names or bounds to read, to limit the cost of absurd ones.
pub(super) const MAX_ELEMENTS: usize = 256;

/// The value source of the names in a pattern.
#[derive(Clone, Copy)]
struct ValueSource {
    /// The node of the declared type.
    annotation: Option<usize>,
    /// The node of the expression.
    value: Option<usize>,
    part: ValuePart,
}

impl ValueSource {
    /// Returns the source of a part of this value.
    fn part(self, part: ValuePart) -> ValueSource {
        let part = if self.part == ValuePart::Whole { part } else { ValuePart::Inside };
        ValueSource { part, ..self }
    }
}

/// A pattern, with the state that its names share.
struct Pattern {
    kind: BindingKind,
    from: usize,
    /// The names so far: in `A(x) | B(x)` there is one `x`.
    names: Vec<Span>,
}

/// Opens the blocks that begin at a node, and binds the names that it declares.
pub(super) fn enter(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let next = tree.next(at);
    match tree.kind(at) {
        k::BLOCK | k::CLOSURE | k::ARM | k::WHILE => walk.draft.block(next, false),
        k::IF => walk.draft.block(tree.child(at, f::ALTERNATIVE).unwrap_or(next), false),
        k::FOR => {
            walk.draft.block(next, false);
            let from = tree.child(at, f::BODY).unwrap_or(next);
            bind_declared(walk, at, BindingKind::Local, ValuePart::Element, from);
        }
        k::LET | k::LET_CONDITION => bind_declared(walk, at, BindingKind::Local, ValuePart::Whole, next),
        k::PARAMETER => {
            let from = tree.next(tree.node(at).parent as usize);
            bind_declared(walk, at, BindingKind::Param, ValuePart::Whole, from);
        }
        k::CLOSURE_PARAMETERS => closure_parameters(walk, at),
        k::MATCH_PATTERN => match_pattern(walk, at),
        k::TYPE_PARAMETERS => {
            for parameter in tree.children(at) {
                type_parameter(walk, parameter, tree.node(at).parent as usize);
            }
        }
        _ => {}
    }
}

/// Opens the block of an item. Only items directly in an `impl` or a trait see outer bindings: their type parameters.
pub(super) fn enter_item(walk: &mut Walk<'_, '_>, at: usize, kind: SymbolKind) {
    let around = walk.draft.enclosing().map(|around| around.kind);
    let closed = !matches!(around, Some(SymbolKind::Impl | SymbolKind::Trait));
    if !matches!(kind, SymbolKind::Field | SymbolKind::Variant | SymbolKind::Macro) {
        walk.draft.block(walk.tree.next(at), closed);
    }
}

/// Binds the names of a node with a pattern and optionally a type and a value.
fn bind_declared(walk: &mut Walk<'_, '_>, at: usize, kind: BindingKind, part: ValuePart, from: usize) {
    let tree = walk.tree;
    if let Some(pattern) = tree.child(at, f::PATTERN) {
        let source = ValueSource { annotation: tree.child(at, f::TYPE), value: tree.child(at, f::VALUE), part };
        bind_pattern(walk, pattern, kind, source, from);
    }
}

fn closure_parameters(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    for pattern in tree.children(at).filter(|&child| tree.kind(child) != k::PARAMETER) {
        let source = ValueSource { annotation: None, value: None, part: ValuePart::Whole };
        bind_pattern(walk, pattern, BindingKind::Param, source, tree.next(at));
    }
}

/// Binds the pattern of a match arm, which destructures the matched value.
fn match_pattern(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let above = |at: usize| tree.node(at).parent as usize;
    let matched = above(above(above(at)));
    let value = (tree.kind(matched) == k::MATCH).then(|| tree.child(matched, f::VALUE)).flatten();
    if let Some(pattern) = tree.children(at).next() {
        let source = ValueSource { annotation: None, value, part: ValuePart::Whole };
        bind_pattern(walk, pattern, BindingKind::Local, source, tree.next(pattern));
    }
}

/// Binds a parameter in angle brackets. A type parameter has its inline bounds and those of the item's `where` clause.
/// A constant has its type, and is a value like any other parameter.
fn type_parameter(walk: &mut Walk<'_, '_>, at: usize, item: usize) {
    let tree = walk.tree;
    let (kind, bounds) = match tree.kind(at) {
        k::TYPE_PARAMETER => (BindingKind::TypeParam, bounds(walk, at, item)),
        k::CONST_PARAMETER => {
            (BindingKind::Param, tree.child(at, f::TYPE).map(|at| tree.node(at).span()).into_iter().collect())
        }
        _ => return,
    };
    if let Some(name) = tree.child(at, f::NAME) {
        walk.roles.mark(Some(name), Role::Declares);
        let name = tree.node(name).span();
        let annotation = bounds.first().copied().filter(|_| bounds.len() == 1).map(ExprInput::Text);
        let first = walk.draft.binding_count();
        walk.draft.bind(NewBinding { name, kind, annotation, value: None, part: ValuePart::Whole, from: 0 });
        if bounds.len() > 1 {
            let all: Vec<&str> = bounds.iter().map(|&span| walk.draft.slice(span)).collect();
            walk.draft.annotate(first, &text::qualifier(&all.join(" + ")));
        }
    }
}

/// Returns the bounds of a type parameter: inline, and in the `where` clause.
fn bounds(walk: &Walk<'_, '_>, parameter: usize, item: usize) -> Vec<Span> {
    let tree = walk.tree;
    let Some(name) = tree.child(parameter, f::NAME) else { return Vec::new() };
    let word = walk.draft.slice(tree.node(name).span());
    let is_meant = |&predicate: &usize| {
        tree.child(predicate, f::LEFT).is_some_and(|left| walk.draft.slice(tree.node(left).span()) == word)
    };
    let clause = tree.child_of_kind(item, k::WHERE).into_iter().flat_map(|clause| tree.children(clause));
    let apart = clause.take(MAX_ELEMENTS).filter(is_meant).filter_map(|predicate| tree.child(predicate, f::BOUNDS));
    let all = tree.child(parameter, f::BOUNDS).into_iter().chain(apart);
    all.filter_map(|bounds| bounds_span(tree, bounds)).collect()
}

/// Returns the span of bounds without their colon.
pub(super) fn bounds_span(tree: &Tree, bounds: usize) -> Option<Span> {
    let first = tree.children(bounds).next()?;
    Some(Span { start: tree.node(first).start, end: tree.node(bounds).end })
}

/// Binds the names of a pattern, in source order.
fn bind_pattern(walk: &mut Walk<'_, '_>, root: usize, kind: BindingKind, source: ValueSource, from: usize) {
    let mut pattern = Pattern { kind, from, names: Vec::new() };
    if walk.tree.kind(root) == k::IDENTIFIER {
        return name(walk, &mut pattern, root, source);
    }
    let mut open = vec![(root, source)];
    while let Some((at, source)) = open.pop() {
        let parts = open.len();
        match walk.tree.kind(at) {
            k::IDENTIFIER => name(walk, &mut pattern, at, source),
            k::TUPLE_PATTERN => tuple(walk, &mut open, at, source),
            k::TUPLE_STRUCT_PATTERN => tuple_struct(walk, &mut open, at, source),
            k::STRUCT_PATTERN => {
                let source = with_pattern_type(walk.tree, at, source);
                open.extend(walk.tree.children(at).skip(1).map(|field| (field, source)));
            }
            k::FIELD_PATTERN => field(walk, &mut pattern, &mut open, at, source),
            k::SLICE_PATTERN => {
                open.extend(walk.tree.children(at).map(|part| (part, source.part(ValuePart::Element))));
            }
            k::OR_PATTERN | k::REF_PATTERN | k::MUT_PATTERN | k::REFERENCE_PATTERN | k::CAPTURED_PATTERN => {
                open.extend(walk.tree.children(at).map(|part| (part, source)));
            }
            _ => {}
        }
        open[parts..].reverse();
    }
}

/// Handles a name in a pattern: a declaration, or a constant or variant if it is capitalised.
fn name(walk: &mut Walk<'_, '_>, pattern: &mut Pattern, at: usize, source: ValueSource) {
    let span = walk.tree.node(at).span();
    if is_capitalised(walk.draft.slice(span)) {
        return;
    }
    walk.roles.mark(Some(at), Role::Declares);
    add(walk, pattern, span, source);
}

fn add(walk: &mut Walk<'_, '_>, pattern: &mut Pattern, name: Span, source: ValueSource) {
    let word = walk.draft.slice(name);
    if pattern.names.iter().rev().take(MAX_ELEMENTS).any(|&known| walk.draft.slice(known) == word) {
        return;
    }
    pattern.names.push(name);
    let annotation = source.annotation.map(|at| ExprInput::Text(walk.tree.node(at).span()));
    let value = source.value.map(|at| walk.value_input(at));
    walk.draft.bind(NewBinding { name, kind: pattern.kind, annotation, value, part: source.part, from: pattern.from });
}

/// Handles `(a, b)`: each name is its part of the value. If the value or its type is itself a tuple in the source, the
/// name is the whole of that element.
fn tuple(walk: &Walk<'_, '_>, open: &mut Vec<(usize, ValueSource)>, at: usize, source: ValueSource) {
    let tree = walk.tree;
    let of = |list: Option<usize>, kind: u8| {
        let list = list.filter(|&list| source.part == ValuePart::Whole && tree.kind(list) == kind);
        list.map(|list| elements(walk, list, tree.node(list).start).take(MAX_ELEMENTS).collect::<Vec<_>>())
    };
    let (values, types) = (of(source.value, k::TUPLE), of(source.annotation, k::TUPLE_TYPE));
    for (part, index) in elements(walk, at, tree.node(at).start) {
        let Some(index) = index else {
            open.push((part, source.part(ValuePart::Inside)));
            continue;
        };
        let pick = |list: &Option<Vec<(usize, Option<u32>)>>| {
            let list = list.as_ref()?;
            let found = list.binary_search_by_key(&Some(index), |(_, at)| *at).ok()?;
            Some(list[found].0)
        };
        let own = if values.is_some() || types.is_some() {
            ValueSource { annotation: pick(&types), value: pick(&values), part: ValuePart::Whole }
        } else {
            source.part(ValuePart::Index(index))
        };
        open.push((part, own));
    }
}

/// Handles tuple structs: `Some(x)` is the payload, `Pair(a, b)` has several values. `Err` holds no useful payload.
fn tuple_struct(walk: &Walk<'_, '_>, open: &mut Vec<(usize, ValueSource)>, at: usize, source: ValueSource) {
    let tree = walk.tree;
    let Some(type_at) = tree.child(at, f::TYPE) else { return };
    let type_node = tree.node(type_at);
    let parts: Vec<_> = elements(walk, at, type_node.end).filter(|(part, _)| *part != type_at).collect();
    let rest = tree.child_of_kind(at, k::REST).is_some();
    let several = rest || parts.len() > 1 || parts.iter().any(|(_, index)| *index != Some(0));
    let source = match walk.draft.slice(type_node.span()) {
        "Some" | "Ok" => source,
        "Err" => source.part(ValuePart::Inside),
        _ => with_pattern_type(tree, at, source),
    };
    for (part, index) in parts {
        let own = match index {
            Some(index) if several => ValuePart::Index(index),
            Some(_) => ValuePart::Payload,
            None => ValuePart::Inside,
        };
        open.push((part, source.part(own)));
    }
}

/// Uses the type that a pattern names, unless a type was declared.
fn with_pattern_type(tree: &Tree, at: usize, source: ValueSource) -> ValueSource {
    match (tree.child(at, f::TYPE), source) {
        (Some(_), ValueSource { annotation: Some(_), part: ValuePart::Whole, .. }) | (None, _) => source,
        (annotation, ValueSource { part: ValuePart::Whole, .. }) => ValueSource { annotation, ..source },
        (annotation, _) => ValueSource { annotation, value: None, part: ValuePart::Whole },
    }
}

/// Handles `name` or `name: pattern` in the pattern of a struct.
fn field(
    walk: &mut Walk<'_, '_>,
    pattern: &mut Pattern,
    open: &mut Vec<(usize, ValueSource)>,
    at: usize,
    source: ValueSource,
) {
    let Some(name) = walk.tree.child(at, f::NAME) else { return };
    let span = walk.tree.node(name).span();
    let source = source.part(ValuePart::Field(walk.draft.name(span)));
    match walk.tree.child(at, f::PATTERN) {
        Some(inner) => open.push((inner, source)),
        None if walk.tree.kind(name) == k::SHORTHAND_FIELD => add(walk, pattern, span, source),
        None => {}
    }
}

/// Returns the elements of a bracketed list that the tree kept, with their positions. The tree drops irrelevant leaves
/// but keeps the commas around them. After `..`, positions are unknown.
pub(super) fn elements<'w>(
    walk: &'w Walk<'_, '_>,
    list: usize,
    start: u32,
) -> impl Iterator<Item = (usize, Option<u32>)> + 'w {
    elements_of(walk.tree, walk.draft.text, list, start)
}

/// Returns the elements of a bracketed list of any tree.
pub(super) fn elements_of<'w>(
    tree: &'w Tree,
    text: &'w str,
    list: usize,
    start: u32,
) -> impl Iterator<Item = (usize, Option<u32>)> + 'w {
    let mut from = start;
    let mut index = Some(0);
    tree.children(list).filter(move |&child| tree.node(child).start >= start).filter_map(move |child| {
        let node = tree.node(child);
        let gap = Span { start: from, end: node.start }.text(text);
        index = index.map(|index| index + gap.matches(',').count() as u32);
        from = node.end;
        match node.kind {
            k::LINE_COMMENT | k::BLOCK_COMMENT => return None,
            k::REST => index = None,
            _ => return Some((child, index)),
        }
        None
    })
}
