//! The names that patterns bind.

use codecompass_model::{BindingKind, ExprId, ValuePart};

use crate::spec::Walk;

/// A name that a pattern binds: its node, its type annotation, and whether it is the whole matched value.
pub(super) struct BoundName {
    pub(super) name: usize,
    pub(super) of: Option<usize>,
    pub(super) is_whole: bool,
}

/// Returns the names that a pattern binds: lower-case names that do not refer to something else.
pub(super) fn names(walk: &Walk<'_, '_>, pattern: usize) -> Vec<BoundName> {
    let mut found = Vec::new();
    let mut open = vec![(pattern, None, true)];
    while let Some((at, of, is_whole)) = open.pop() {
        match walk.kind(at) {
            "identifier" if binds(walk.text(at)) => found.push(BoundName { name: at, of, is_whole }),
            "typed_pattern" => {
                open.extend(walk.child(at, "pattern").map(|inner| (inner, walk.child(at, "type"), is_whole)));
            }
            "capture_pattern" => {
                let inner = walk.child(at, "pattern");
                let of = inner.and_then(|inner| walk.child(inner, "type"));
                open.extend(inner.map(|inner| (inner, None, false)));
                open.extend(walk.child(at, "name").map(|name| (name, of, is_whole)));
            }
            "case_class_pattern" | "repeat_pattern" => {
                open.extend(walk.children_in(at, "pattern").map(|inner| (inner, None, false)));
            }
            "infix_pattern" => {
                open.extend(
                    [walk.child(at, "right"), walk.child(at, "left")]
                        .into_iter()
                        .flatten()
                        .map(|inner| (inner, None, false)),
                );
            }
            "tuple_pattern" | "alternative_pattern" | "named_pattern" | "named_tuple_pattern" | "identifiers" => {
                let is_list = walk.kind(at) == "identifiers";
                open.extend(walk.items(at).map(|inner| (inner, None, is_list)));
            }
            _ => {}
        }
    }
    found.sort_unstable_by_key(|bound| bound.name);
    found
}

fn binds(name: &str) -> bool {
    name.starts_with(|first: char| first.is_lowercase() || first == '_') && !matches!(name, "this" | "super")
}

/// Binds the names of a pattern; the whole pattern is a part of this value, or has this type.
pub(super) fn bind(
    walk: &mut Walk<'_, '_>,
    pattern: usize,
    value: Option<usize>,
    of: Option<ExprId>,
    part: ValuePart,
    from: usize,
) {
    for bound in names(walk, pattern) {
        let written = bound.of.map(|of| walk.lower(of));
        let annotation = written.or(of.filter(|_| bound.is_whole));
        let part = match () {
            () if annotation.is_some() => ValuePart::Whole,
            () if bound.is_whole => part,
            () => ValuePart::Inside,
        };
        let binding = walk.bind_as(bound.name, BindingKind::Local, annotation, part, from);
        if let (Some(binding), Some(value), true) = (binding, value, bound.is_whole && annotation.is_none()) {
            walk.defer_binding_value(binding, value);
        }
    }
}

/// `case P if c => …`: a block.
pub(super) fn case(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.scope(at);
    let Some(pattern) = walk.child(at, "pattern") else { return at + 1 };
    // The matched value was visited before the cases.
    let matched = walk.parent(walk.parent(at));
    let value = if walk.kind(matched) == "match_expression" { walk.child(matched, "value") } else { None };
    for bound in names(walk, pattern) {
        let annotation = bound.of.map(|of| walk.lower(of));
        let binding = walk.bind_as(bound.name, BindingKind::Local, annotation, ValuePart::Whole, at);
        if let (Some(binding), Some(value), true) = (binding, value, bound.is_whole && annotation.is_none()) {
            let value = walk.lower(value);
            walk.draft.set_binding_value(binding, value);
        }
    }
    let body = walk.children_in(at, "body").last();
    if let Some(body) = body {
        walk.defer_lowering(body);
    }
    at + 1
}

/// `x <- xs`, `y = x + 1` of a `for`.
pub(super) fn enumerator(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let items: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) != "guard").take(2).collect();
    let &[pattern, value] = items.as_slice() else { return at + 1 };
    let between = walk.tree.node(pattern).end as usize..walk.tree.node(value).start as usize;
    let is_each = walk.draft.text.get(between).unwrap_or("").contains("<-");
    let part = if is_each { ValuePart::Element } else { ValuePart::Whole };
    bind(walk, pattern, Some(value), None, part, walk.tree.next(value));
    at + 1
}
