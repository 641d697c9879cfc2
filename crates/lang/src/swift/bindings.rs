//! Names that get a value: properties, variables, patterns, conditions, accessor parameters.

use codecompass_model::{BindingKind, RefShape, SymbolKind, ValuePart};

use super::hooks::{follows_dot, is_member, mark_label};
use super::implicit_members;
use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// Maximum number of ancestors searched for the accessor or `catch` of a name, and maximum nesting depth of patterns.
const MAX_ANCESTORS: usize = 60;

/// Maximum number of names in one declaration. Each symbol has the whole declaration as its header.
const MAX_NAMES: usize = 200;

/// `let a = 1, b: T`, `var c: T { … }`: properties of a type, constants and variables of a file, local bindings.
pub(super) fn property(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_local = !is_member(walk, at) && (walk.is_local(at) || walk.kind(walk.parent(at)) == "statements");
    let is_constant = walk.child_of(at, "value_binding_pattern").is_some_and(|word| walk.text(word) == "let");
    let kind = match is_member(walk, at) {
        true => SymbolKind::Property,
        false if is_constant => SymbolKind::Const,
        false => SymbolKind::Var,
    };
    let mut all = declared_patterns(walk, at);
    all.truncate(MAX_NAMES);
    let only = all.len() == 1;
    for one in all {
        let names = names_in(walk, one.pattern);
        let is_whole = names.len() == 1 && walk.child(one.pattern, "bound_identifier") == names.first().copied();
        let annotation = one.of_type.filter(|_| is_whole).map(|of| walk.lower(of));
        let (body, value) = (one.body, one.value.filter(|_| is_whole));
        for name in names {
            if is_local {
                let from = walk.tree.next(at);
                let binding = walk.bind_as(name, BindingKind::Local, annotation, ValuePart::Whole, from);
                if let (Some(binding), Some(value)) = (binding, value) {
                    walk.defer_binding_value(binding, value);
                }
            } else {
                let end = if only && is_whole { walk.tree.next(at) } else { 0 };
                walk.define(at, Definition { body, value, annotation, end, ..Definition::new(kind, name) });
            }
        }
    }
    at + 1
}

/// One name or pattern of a declaration, with its type and value.
struct DeclaredPattern {
    pattern: usize,
    of_type: Option<usize>,
    value: Option<usize>,
    body: Option<usize>,
}

/// Returns the names of a declaration. The nodes between a name and the next name belong to it.
fn declared_patterns(walk: &Walk<'_, '_>, at: usize) -> Vec<DeclaredPattern> {
    let values: Vec<usize> = walk.children_in(at, "value").collect();
    let mut all: Vec<DeclaredPattern> = Vec::new();
    for item in walk.items(at) {
        if walk.kind(item) == "pattern" {
            all.push(DeclaredPattern { pattern: item, of_type: None, value: None, body: None });
            continue;
        }
        let Some(one) = all.last_mut() else { continue };
        match walk.kind(item) {
            "type_annotation" => one.of_type = Some(item),
            "computed_property" => one.body = Some(item),
            _ if values.binary_search(&item).is_ok() => one.value = Some(item),
            _ => {}
        }
    }
    all
}

/// Returns the names that a pattern binds if all its names are new.
fn names_in(walk: &Walk<'_, '_>, pattern: usize) -> Vec<usize> {
    let inside = pattern + 1..walk.tree.next(pattern);
    inside.filter(|&inner| walk.kind(inner) == "simple_identifier" && !follows_dot(walk, inner)).collect()
}

/// A pattern: `.a(let b)`, `let .a(b)`, `(a, _)`, `let a as T`.
pub(super) fn pattern(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "simple_identifier").collect();
    for name in names {
        if walk.roles.get(name) != Role::Unset {
            continue;
        }
        if follows_dot(walk, name) {
            let of = implicit_members::pattern_subject(walk, at).unwrap_or_else(|| walk.other());
            walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
            walk.set_qualifier_expr(name, of);
        } else if walk.text(at)[(walk.tree.node(name).end - walk.tree.node(at).start) as usize..]
            .trim_start()
            .starts_with(':')
        {
            // A label before an element.
            mark_label(walk, Some(name));
        } else if walk.child(at, "bound_identifier") == Some(name) || binds(walk, at) {
            let around = walk.parent(at);
            let cast = walk.child(around, "name").filter(|_| walk.kind(around) == "pattern");
            let annotation = cast.map(|of| walk.lower(of));
            walk.bind_as(name, BindingKind::Local, annotation, ValuePart::Whole, name);
        }
    }
    at + 1
}

/// Whether names in a pattern are new: `let` precedes it.
fn binds(walk: &Walk<'_, '_>, at: usize) -> bool {
    let mut at = at;
    for _ in 0..MAX_ANCESTORS {
        if walk.child_of(at, "value_binding_pattern").is_some() {
            return true;
        }
        let around = walk.parent(at);
        match walk.kind(around) {
            "pattern" => at = around,
            "for_statement" => return true,
            "if_statement" | "guard_statement" | "while_statement" => {
                let word = walk
                    .items(around)
                    .take_while(|&item| item < at)
                    .filter(|&item| walk.kind(item) == "value_binding_pattern")
                    .last();
                return word.is_some_and(|word| {
                    let between = walk.tree.node(word).end as usize..walk.tree.node(at).start as usize;
                    walk.draft.text.get(between).is_some_and(|text| !text.contains('='))
                });
            }
            _ => return false,
        }
    }
    false
}

/// `if let a = b, let c`: the names of a condition have the type of their values.
pub(super) fn conditions(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let items: Vec<usize> = walk.items(at).take_while(|&item| walk.kind(item) != "statements").collect();
    for (n, &name) in items.iter().enumerate() {
        let is_new = n > 0 && walk.kind(items[n - 1]) == "value_binding_pattern";
        if walk.kind(name) != "simple_identifier" {
            continue;
        }
        if follows_dot(walk, name) {
            // `case .a(let b) = c`: the matched value comes after the pattern and is visited later.
            let of = walk.other();
            walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
            walk.set_qualifier_expr(name, of);
            continue;
        }
        if !is_new {
            continue;
        }
        let next = items.get(n + 1).copied();
        let of_type = next.filter(|&next| walk.kind(next) == "type_annotation");
        let value = if of_type.is_some() { items.get(n + 2).copied() } else { next };
        let value = value.filter(|&value| is_given(walk, of_type.unwrap_or(name), value));
        let annotation = of_type.map(|of| walk.lower(of));
        // A name that shadows itself has its own previous value.
        let own = value.is_none().then(|| walk.name_expr(name));
        let from = value.map_or(name + 1, |value| walk.tree.next(value));
        let Some(binding) = walk.bind_as(name, BindingKind::Local, annotation, ValuePart::Whole, from) else {
            continue;
        };
        match (value, own) {
            (Some(value), _) => walk.defer_binding_value(binding, value),
            (None, Some(own)) => walk.draft.set_binding_value(binding, own),
            (None, None) => {}
        }
    }
    at + 1
}

/// Whether an equals sign is between a name and a node.
fn is_given(walk: &Walk<'_, '_>, name: usize, value: usize) -> bool {
    let between = walk.tree.node(name).end as usize..walk.tree.node(value).start as usize;
    walk.draft.text.get(between).is_some_and(|text| text.trim() == "=")
}

/// `for a in b`.
pub(super) fn loop_item(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(item), Some(of)) = (walk.child(at, "item"), walk.child(at, "collection")) else { return at + 1 };
    let name = walk.child(item, "bound_identifier").filter(|&name| walk.tree.next(item) == name + 1);
    if let Some(name) = name {
        let annotation = walk.child_of(at, "type_annotation").map(|of| walk.lower(of));
        if let Some(binding) =
            walk.bind_as(name, BindingKind::Local, annotation, ValuePart::Element, walk.tree.next(of))
        {
            walk.defer_binding_value(binding, of);
        }
    }
    at + 1
}

/// `set(value)`, `didSet(before)`.
pub(super) fn accessor_parameter(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child_of(at, "simple_identifier") {
        walk.bind_as(name, BindingKind::Param, None, ValuePart::Whole, at);
    }
    at + 1
}

/// `[weak self]` adds no binding; `[a = b]` does.
pub(super) fn capture(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let (Some(name), Some(value)) = (walk.child(at, "name"), walk.child(at, "value"))
        && walk.text(name) != "self"
        && let Some(binding) = walk.bind_as(name, BindingKind::Local, None, ValuePart::Whole, walk.tree.next(at))
    {
        walk.defer_binding_value(binding, value);
    }
    at + 1
}

/// `error`, `newValue` and `oldValue` have no declaration: each is bound at its first occurrence.
pub(super) fn implicit(walk: &mut Walk<'_, '_>, at: usize) {
    let is_open = walk.roles.get(at) == Role::Unset && !follows_dot(walk, at);
    if !is_open || walk.draft.is_local(walk.tree.node(at).span()) {
        return;
    }
    let is_error = walk.text(at) == "error";
    let mut around = at;
    for _ in 0..MAX_ANCESTORS {
        if around == 0 {
            return;
        }
        around = walk.parent(around);
        let is_meant = match walk.kind(around) {
            "catch_block" => is_error && walk.child(around, "error").is_none(),
            "computed_setter" | "willset_clause" | "didset_clause" => !is_error,
            "function_declaration" | "class_declaration" => return,
            _ => false,
        };
        if is_meant {
            walk.bind_as(at, BindingKind::Local, None, ValuePart::Whole, at);
            return;
        }
    }
}
