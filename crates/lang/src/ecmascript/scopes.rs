//! Blocks and their local bindings.

use codecompass_model::{BindingKind, Span, ValuePart};

use super::contextual_types::{contextual_type, is_function};
use super::kinds::{field as f, kind as k};
use super::loads;
use super::members::{self, function_in};
use super::walk::Walk;
use crate::draft::{ExprInput, NewBinding};
use crate::roles::Role;
use crate::tree::Tree;

/// The properties that the names of a pattern share.
#[derive(Clone, Copy)]
struct ValueSource {
    kind: BindingKind,
    annotation: Option<Span>,
    value: Option<Span>,
    part: ValuePart,
}

/// Handles nodes that only open a scope or declare names in one.
pub(super) fn open_scope(walk: &mut Walk<'_, '_>, at: usize, kind: u8) {
    match kind {
        k::STATEMENT_BLOCK | k::SWITCH_BODY => block(walk, at),
        k::ARROW => arrow(walk, at),
        k::STATIC_BLOCK | k::CALL_SIGNATURE | k::CONSTRUCT_SIGNATURE | k::FUNCTION_TYPE | k::CONSTRUCTOR_TYPE => {
            function(walk, at);
        }
        k::FORMAL_PARAMETERS => parameters(walk, at),
        k::TYPE_PARAMETERS => type_parameters(walk, at),
        k::FOR => {
            walk.draft.block(walk.tree.next(at), false);
            declarations(walk, at);
        }
        k::FOR_IN => for_in(walk, at),
        k::CATCH => catch(walk, at),
        k::CONDITIONAL_TYPE => conditional_type(walk, at),
        k::INDEX_SIGNATURE => {
            walk.draft.block(walk.tree.next(at), false);
            walk.roles.mark(walk.tree.child(at, f::NAME), Role::Declares);
        }
        k::MAPPED_TYPE => {
            let annotation = walk.tree.child(at, f::TYPE).map(|over| walk.tree.node(over).span());
            type_parameter(walk, walk.tree.child(at, f::NAME), annotation);
        }
        _ => {}
    }
}

/// Opens the scope of a node with parameters.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) {
    let end = walk.tree.next(at);
    walk.draft.block(end, false);
    let has_body = walk.tree.child(at, f::BODY).is_some() || walk.tree.kind(at) == k::STATIC_BLOCK;
    if has_body {
        walk.function_end = walk.function_end.max(end);
        if walk.has_var {
            hoist_vars(walk, at);
        }
    }
}

fn arrow(walk: &mut Walk<'_, '_>, at: usize) {
    function(walk, at);
    if let Some(parameter) = walk.tree.child(at, f::PARAMETER) {
        let first = walk.draft.binding_count();
        bind(
            walk,
            parameter,
            ValueSource { kind: BindingKind::Param, annotation: None, value: None, part: ValuePart::Whole },
        );
        annotate(walk, first, contextual_type(walk, at).as_deref(), 0);
    }
}

/// Opens a block, unless it is the body of a namespace, which declares symbols.
fn block(walk: &mut Walk<'_, '_>, at: usize) {
    let parent = walk.tree.kind(walk.tree.node(at).parent as usize);
    if matches!(parent, k::MODULE | k::INTERNAL_MODULE | k::AMBIENT) {
        return;
    }
    walk.draft.block(walk.tree.next(at), false);
    if walk.tree.kind(at) == k::STATEMENT_BLOCK {
        return declarations(walk, at);
    }
    let tree = walk.tree;
    tree.children(at).for_each(|case| declarations(walk, case));
}

/// Binds the declarations directly below a node, since they are visible in the whole block.
fn declarations(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    for child in tree.children(at) {
        match tree.kind(child) {
            k::LEXICAL | k::USING => tree.children(child).for_each(|declarator| local(walk, declarator)),
            k::FUNCTION_DECLARATION | k::GENERATOR_DECLARATION | k::CLASS_DECLARATION => {
                hide(walk, tree.child(child, f::NAME));
            }
            _ => {}
        }
    }
}

/// Binds the names of a local variable's declarator; a function or a class becomes a symbol instead.
pub(super) fn local(walk: &mut Walk<'_, '_>, at: usize) {
    if walk.tree.kind(at) != k::VARIABLE_DECLARATOR {
        return;
    }
    let Some(name) = walk.tree.child(at, f::NAME) else {
        return;
    };
    let value = walk.tree.child(at, f::VALUE);
    if walk.tree.kind(name) == k::IDENTIFIER && value.is_some_and(|value| function_in(walk, value).is_some()) {
        return hide(walk, Some(name));
    }
    if value.is_some_and(|value| loads::is_loaded(walk, value)) {
        let mut names = PatternNames::new(name);
        while let Some((name, _)) = names.next(walk.tree, walk.draft.text) {
            hide(walk, Some(name));
        }
        return;
    }
    let annotation = walk.type_of(at, f::TYPE);
    let value = value.map(|value| walk.tree.node(value).span());
    bind(walk, name, ValueSource { kind: BindingKind::Local, annotation, value, part: ValuePart::Whole });
}

fn hide(walk: &mut Walk<'_, '_>, name: Option<usize>) {
    if let Some(name) = name {
        walk.draft.hide(walk.tree.node(name).span(), 0);
    }
}

/// Binds the names that `var` declares anywhere in a function, but not in nested functions.
fn hoist_vars(walk: &mut Walk<'_, '_>, function: usize) {
    let tree = walk.tree;
    let end = tree.next(function);
    let mut at = function + 1;
    while at < end {
        match tree.kind(at) {
            kind if is_function(kind) => {
                at = tree.next(at);
                continue;
            }
            k::VARIABLE_DECLARATION => tree.children(at).for_each(|declarator| local(walk, declarator)),
            k::FOR_IN if keyword(walk, at) == Some("var") => loop_variable(walk, at),
            _ => {}
        }
        at += 1;
    }
}

fn parameters(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let function = tree.node(at).parent as usize;
    let place = contextual_type(walk, function).filter(|_| is_function(tree.kind(function)));
    let is_parameter = |&child: &usize| !matches!(tree.kind(child), k::COMMENT | k::DECORATOR);
    for (index, child) in tree.children(at).filter(is_parameter).enumerate() {
        let first = walk.draft.binding_count();
        match tree.kind(child) {
            k::REQUIRED_PARAMETER | k::OPTIONAL_PARAMETER => parameter(walk, child),
            _ => {
                let source =
                    ValueSource { kind: BindingKind::Param, annotation: None, value: None, part: ValuePart::Whole };
                bind(walk, child, source);
            }
        }
        annotate(walk, first, place.as_deref(), index);
    }
}

/// Annotates the parameters from this binding on with the contextual type of their function.
fn annotate(walk: &mut Walk<'_, '_>, first: usize, place: Option<&str>, index: usize) {
    if let Some(place) = place.filter(|_| first < walk.draft.binding_count()) {
        walk.draft.annotate(first, &format!("Parameters<{place}>[{index}]"));
    }
}

fn parameter(walk: &mut Walk<'_, '_>, at: usize) {
    let annotation = walk.type_of(at, f::TYPE);
    let value = walk.tree.child(at, f::VALUE).map(|value| walk.tree.node(value).span());
    let pattern = walk.tree.child(at, f::PATTERN).or_else(|| walk.tree.child(at, f::NAME));
    if let Some(pattern) = pattern.filter(|&pattern| walk.tree.kind(pattern) != k::THIS) {
        bind(walk, pattern, ValueSource { kind: BindingKind::Param, annotation, value, part: ValuePart::Whole });
        members::parameter_property(walk, at, pattern);
    }
}

fn type_parameters(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    for parameter in tree.children(at).filter(|&child| tree.kind(child) == k::TYPE_PARAMETER) {
        let bound = tree.child(parameter, f::CONSTRAINT).map(|bound| tree.node(bound).span());
        let bound = bound.map(|span| Span { start: (span.start + "extends".len() as u32).min(span.end), ..span });
        type_parameter(walk, tree.child(parameter, f::NAME), bound);
    }
}

fn type_parameter(walk: &mut Walk<'_, '_>, name: Option<usize>, annotation: Option<Span>) {
    if let Some(name) = name {
        bind(walk, name, ValueSource { kind: BindingKind::TypeParam, annotation, value: None, part: ValuePart::Whole });
    }
}

/// Handles `A extends B<infer C> ? D : E`: `C` is visible in all of it.
fn conditional_type(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    walk.draft.block(tree.next(at), false);
    let Some(right) = tree.child(at, f::RIGHT) else {
        return;
    };
    let mut inner = right;
    while inner < tree.next(right) {
        match tree.kind(inner) {
            k::CONDITIONAL_TYPE => {
                inner = tree.next(inner);
                continue;
            }
            k::INFER => {
                let mut parts = tree.children(inner);
                let name = parts.next().filter(|&name| tree.kind(name) == k::TYPE_IDENTIFIER);
                let bound = parts.next().map(|bound| tree.node(bound).span());
                type_parameter(walk, name, bound);
            }
            _ => {}
        }
        inner += 1;
    }
}

fn for_in(walk: &mut Walk<'_, '_>, at: usize) {
    walk.draft.block(walk.tree.next(at), false);
    if keyword(walk, at).is_some() {
        loop_variable(walk, at);
    }
}

/// Returns the keyword that declares the variable of a `for … of` or `for … in`.
fn keyword<'t>(walk: &Walk<'_, 't>, at: usize) -> Option<&'t str> {
    let left = walk.tree.node(walk.tree.child(at, f::LEFT)?);
    let before = walk.draft.slice(Span { start: walk.tree.node(at).start, end: left.start });
    let word = before.trim_end().rsplit(|c: char| !c.is_ascii_alphabetic()).next()?;
    matches!(word, "const" | "let" | "var" | "using").then_some(word)
}

/// Binds the variable of a loop: `of` iterates over elements; `in` iterates over keys, which have no useful type.
fn loop_variable(walk: &mut Walk<'_, '_>, at: usize) {
    let (Some(left), Some(right)) = (walk.tree.child(at, f::LEFT), walk.tree.child(at, f::RIGHT)) else {
        return;
    };
    let right = walk.tree.node(right).span();
    let between = walk.draft.slice(Span { start: walk.tree.node(left).end, end: right.start });
    let value = between.contains("of").then_some(right);
    let part = if value.is_some() { ValuePart::Element } else { ValuePart::Whole };
    bind(walk, left, ValueSource { kind: BindingKind::Local, annotation: None, value, part });
}

fn catch(walk: &mut Walk<'_, '_>, at: usize) {
    walk.draft.block(walk.tree.next(at), false);
    let annotation = walk.type_of(at, f::TYPE);
    if let Some(name) = walk.tree.child(at, f::PARAMETER) {
        bind(walk, name, ValueSource { kind: BindingKind::Local, annotation, value: None, part: ValuePart::Whole });
    }
}

/// Binds all names of a pattern that are not yet bound.
fn bind(walk: &mut Walk<'_, '_>, pattern: usize, source: ValueSource) {
    let mut names = PatternNames::new(pattern);
    while let Some((name, step)) = names.next(walk.tree, walk.draft.text) {
        if walk.roles.get(name) != Role::Unset {
            continue;
        }
        walk.roles.mark(Some(name), Role::Declares);
        let part = match step {
            PatternStep::Whole => source.part,
            _ if source.part != ValuePart::Whole => ValuePart::Inside,
            PatternStep::Field(key) => ValuePart::Field(walk.draft.name(key)),
            PatternStep::Index(index) => ValuePart::Index(index),
            PatternStep::Inside => ValuePart::Inside,
        };
        let value = source.value.or_else(|| default_of(walk, name));
        walk.draft.bind(NewBinding {
            name: walk.tree.node(name).span(),
            kind: source.kind,
            annotation: source.annotation.map(ExprInput::Text),
            value: if source.annotation.is_some() && step != PatternStep::Whole { source.value } else { value }
                .map(ExprInput::Text),
            part,
            from: 0,
        });
    }
}

/// Returns the default of a parameter: `1` in `(a = 1) =>`.
fn default_of(walk: &Walk<'_, '_>, name: usize) -> Option<Span> {
    let parent = walk.tree.node(name).parent as usize;
    let right = (walk.tree.kind(parent) == k::ASSIGNMENT_PATTERN).then(|| walk.tree.child(parent, f::RIGHT))??;
    let is_parameter = walk.tree.kind(walk.tree.node(parent).parent as usize) == k::FORMAL_PARAMETERS;
    is_parameter.then(|| walk.tree.node(right).span())
}

/// The part of a pattern's value that a name is bound to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternStep {
    Whole,
    Field(Span),
    Index(u32),
    Inside,
}

/// Iterates over the names that a destructuring pattern binds, in source order, each with the part of the value that it
/// receives.
pub(super) struct PatternNames {
    /// The nodes not yet visited.
    open: Vec<(usize, PatternStep)>,
}

impl PatternNames {
    pub(super) fn new(pattern: usize) -> Self {
        Self { open: vec![(pattern, PatternStep::Whole)] }
    }

    /// Returns the next name.
    pub(super) fn next(&mut self, tree: &Tree, text: &str) -> Option<(usize, PatternStep)> {
        while let Some((at, step)) = self.open.pop() {
            let inner = |own: PatternStep| if step == PatternStep::Whole { own } else { PatternStep::Inside };
            match tree.kind(at) {
                k::IDENTIFIER | k::SHORTHAND_PATTERN | k::TYPE_IDENTIFIER => return Some((at, step)),
                k::OBJECT_PATTERN => {
                    let parts: Vec<_> = tree.children(at).map(|part| (part, inner(field(tree, part)))).collect();
                    self.open.extend(parts.into_iter().rev());
                }
                k::ARRAY_PATTERN => {
                    let parts: Vec<_> =
                        elements(tree, text, at).map(|(part, n)| (part, inner(PatternStep::Index(n)))).collect();
                    self.open.extend(parts.into_iter().rev());
                }
                k::PAIR_PATTERN => self.open.extend(tree.child(at, f::VALUE).map(|value| (value, step))),
                k::ASSIGNMENT_PATTERN | k::OBJECT_ASSIGNMENT_PATTERN => {
                    self.open.extend(tree.child(at, f::LEFT).map(|left| (left, step)));
                }
                k::REST_PATTERN => {
                    let step = if step == PatternStep::Whole { PatternStep::Whole } else { PatternStep::Inside };
                    self.open.extend(tree.children(at).next().map(|rest| (rest, step)));
                }
                _ => {}
            }
        }
        None
    }
}

/// Returns the field that a part of an object pattern extracts.
fn field(tree: &Tree, part: usize) -> PatternStep {
    let key = match tree.kind(part) {
        k::SHORTHAND_PATTERN => Some(part),
        k::PAIR_PATTERN => tree.child(part, f::KEY).filter(|&key| tree.kind(key) == k::PROPERTY_IDENTIFIER),
        k::OBJECT_ASSIGNMENT_PATTERN => {
            tree.child(part, f::LEFT).filter(|&left| tree.kind(left) == k::SHORTHAND_PATTERN)
        }
        _ => None,
    };
    key.map_or(PatternStep::Inside, |key| PatternStep::Field(tree.node(key).span()))
}

/// Returns the elements of an array pattern and their indices; holes count.
fn elements<'a>(tree: &'a Tree, text: &'a str, at: usize) -> impl Iterator<Item = (usize, u32)> + 'a {
    let (mut from, mut place) = (tree.node(at).start, 0);
    tree.children(at).map(move |part| {
        let gap = Span { start: from, end: tree.node(part).start }.text(text);
        place += gap.bytes().filter(|&byte| byte == b',').count() as u32;
        from = tree.node(part).end;
        (part, place)
    })
}
