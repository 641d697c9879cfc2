//! Module names: full names, aliases, and members after them.

use codecompass_model::{Expr, ExprId, RefShape, Span};

use crate::spec::Walk;

/// Expands a module name to the full name at this point.
fn expand_alias(walk: &Walk<'_, '_>, name: &str) -> String {
    let (first, rest) = name.split_at(name.find('.').unwrap_or(name.len()));
    match walk.noted(first) {
        Some(of) => [of, rest].concat(),
        None => name.strip_prefix("Elixir.").unwrap_or(name).to_owned(),
    }
}

/// Returns the qualifier of a module name: `A` in `A.{B, C}`, `__MODULE__` in `__MODULE__.B`.
fn name_qualifier(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let around = walk.parent(at);
    let (dot, part) = match walk.kind(around) {
        "dot" => (around, at),
        "tuple" if walk.kind(walk.parent(around)) == "dot" => (walk.parent(around), around),
        _ => return None,
    };
    (walk.child(dot, "right") == Some(part)).then(|| walk.child(dot, "left")).flatten()
}

/// Returns the module that an expression names, after lowering.
pub(super) fn module_named(walk: &mut Walk<'_, '_>, at: usize) -> Option<String> {
    let id = walk.lower(at);
    let Expr::Module(name) = *walk.draft.expr_at(id) else { return None };
    Some(walk.draft.word_at(name).to_owned())
}

fn module(walk: &mut Walk<'_, '_>, name: &str) -> ExprId {
    let name = walk.draft.word(name);
    walk.draft.expr(Expr::Module(name))
}

/// A name as a value: a module or a local variable.
pub(super) fn value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let text = walk.text(at);
    match walk.kind(at) {
        "alias" => {
            let name = match name_qualifier(walk, at) {
                Some(before) => match module_named(walk, before) {
                    Some(before) => [&before, ".", text].concat(),
                    None => return walk.other(),
                },
                None => expand_alias(walk, &text.split_whitespace().collect::<String>()),
            };
            module(walk, &name)
        }
        // `:lists` is a module where a function is called on it.
        "atom" => module(walk, text),
        "dot" => match walk.child(at, "right").filter(|&right| walk.kind(right) == "alias") {
            Some(right) => walk.lower(right),
            None => walk.other(),
        },
        _ if text == "__MODULE__" => {
            let own = walk.noted(text).unwrap_or("").to_owned();
            if own.is_empty() { walk.other() } else { module(walk, &own) }
        }
        _ => walk.name_expr(at),
    }
}

/// Returns the last part of a name. Blanks may follow a dot.
pub(super) fn last_part(text: &str, start: u32) -> Span {
    let last = text.rfind('.').map_or(text, |dot| text[dot + 1..].trim_start());
    let end = start + text.len() as u32;
    Span { start: end - last.len() as u32, end }
}

/// A module name: a reference to the module.
pub(super) fn name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let id = walk.lower(at);
    if let Expr::Module(_) = walk.draft.expr_at(id)
        && walk.roles.get(at) == crate::roles::Role::Unset
    {
        let is_made = walk.kind(walk.parent(at)) == "struct";
        let shape = if is_made { RefShape::Construct } else { RefShape::Type };
        let last = last_part(walk.text(at), walk.tree.node(at).start);
        walk.draft.mark_name(last);
        walk.draft.reference_with_receiver(last, shape, id);
    }
    at + 1
}

/// The name in `%Name{…}`.
pub(super) fn struct_name(walk: &Walk<'_, '_>, map: usize) -> Option<usize> {
    let of = walk.child_of(map, "struct")?;
    walk.items(of).next().filter(|&name| matches!(walk.kind(name), "alias" | "dot") || walk.text(name) == "__MODULE__")
}

/// `%Name{…}` is a value of that module's struct.
pub(super) fn struct_literal(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(name) = struct_name(walk, at) else { return walk.other() };
    let of = walk.lower(name);
    walk.draft.expr(Expr::Cast(of))
}

/// A key of `%Name{key: …}` is a field of the struct; other keys are labels.
pub(super) fn key(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let pairs = walk.parent(walk.parent(at));
    let mut around = walk.parent(pairs);
    // `%Name{x | key: …}`.
    if walk.kind(around) == "binary_operator" {
        around = walk.parent(around);
    }
    let map = walk.parent(around);
    if walk.kind(pairs) == "keywords"
        && walk.kind(around) == "map_content"
        && walk.kind(map) == "map"
        && let Some(name) = struct_name(walk, map)
    {
        let of = walk.lower(name);
        let name = key_span(walk, at);
        walk.draft.mark_name(name);
        walk.draft.reference_with_receiver(name, RefShape::Member, of);
    }
    at + 1
}

/// The name in `key: ` or `:key`.
pub(super) fn key_span(walk: &Walk<'_, '_>, at: usize) -> Span {
    let start = walk.tree.node(at).start;
    let text = walk.text(at);
    let name = text.trim_start_matches(':').trim_end().trim_end_matches(':');
    let from = start + (text.len() - text.trim_start_matches(':').len()) as u32;
    Span { start: from, end: from + name.len() as u32 }
}
