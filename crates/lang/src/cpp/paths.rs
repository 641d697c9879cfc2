//! Qualified names: `a::b::c`, `a->b`, calls, and template arguments.
//!
//! The grammar nests paths to the right: in `a::b::c` the outer path has `a` and an inner path `b::c`. So the qualifier
//! of a part is read from the enclosing paths.

use codecompass_model::{Expr, ExprId, Literal, RefShape, Wrap};

use crate::roles::Role;
use crate::spec::Walk;

/// Keywords that look like function names.
pub(super) const CASTS: &[&str] = &["static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"];

/// Maximum nesting depth of a name.
const MAX_DEPTH: usize = 64;

/// Returns the leaf that names a path, a template or a type.
pub(super) fn leaf_of(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let mut at = at;
    for _ in 0..MAX_DEPTH {
        at = match walk.kind(at) {
            "identifier" | "field_identifier" | "type_identifier" | "namespace_identifier" => return Some(at),
            "qualified_identifier" => walk.children_in(at, "name").last()?,
            "template_type" | "template_function" | "template_method" => walk.child(at, "name")?,
            "dependent_name" | "dependent_type" => walk.items(at).next()?,
            "pointer_type_declarator" => walk.child(at, "declarator")?,
            _ => return None,
        };
    }
    None
}

fn last_name(walk: &Walk<'_, '_>, path: usize) -> Option<usize> {
    walk.children_in(path, "name").last()
}

/// Returns the path of which this path is the last part.
fn outer(walk: &Walk<'_, '_>, path: usize) -> Option<usize> {
    let around = walk.parent(path);
    let is_part = path > 0 && walk.kind(around) == "qualified_identifier" && last_name(walk, around) == Some(path);
    is_part.then_some(around)
}

/// Sets the qualifiers of the parts of a path.
pub(super) fn qualified(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let scope = walk.child(at, "scope");
    let inner = last_name(walk, at).filter(|&name| walk.kind(name) != "qualified_identifier");
    if let Some(leaf) = inner.and_then(|name| leaf_of(walk, name)) {
        walk.set_qualifier(leaf, scope.unwrap_or(leaf));
    }
    let around = outer(walk, at).map(|around| walk.child(around, "scope"));
    if let (Some(before), Some(leaf)) = (around, scope.and_then(|scope| leaf_of(walk, scope))) {
        walk.set_qualifier(leaf, before.unwrap_or(leaf));
    }
    at + 1
}

/// Returns the qualifier of the last part of a path.
fn qualifier(walk: &mut Walk<'_, '_>, path: usize) -> ExprId {
    match walk.child(path, "scope") {
        Some(scope) => walk.lower(scope),
        None => walk.draft.name_expr("", path),
    }
}

/// Lowers a whole path.
pub(super) fn path(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(name) = last_name(walk, at) else { return walk.other() };
    match walk.kind(name) {
        "qualified_identifier" => walk.lower(name),
        _ => {
            let before = qualifier(walk, at);
            path_segment(walk, name, Some(before))
        }
    }
}

/// Lowers a name before `::`.
pub(super) fn scope(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let before = scope_qualifier(walk, at);
    path_segment(walk, at, before)
}

/// Returns the qualifier of a name before `::`.
fn scope_qualifier(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    let outer = is_scope(walk, at).then(|| outer(walk, walk.parent(at))).flatten()?;
    Some(qualifier(walk, outer))
}

/// Whether `::` follows a name.
fn is_scope(walk: &Walk<'_, '_>, at: usize) -> bool {
    let around = walk.parent(at);
    walk.kind(around) == "qualified_identifier" && walk.child(around, "scope") == Some(at)
}

/// Lowers a part of a path with its qualifier.
fn path_segment(walk: &mut Walk<'_, '_>, at: usize, before: Option<ExprId>) -> ExprId {
    let Some(leaf) = leaf_of(walk, at) else { return walk.other() };
    let of = match before {
        Some(of) => {
            let name = walk.draft.name(walk.tree.node(leaf).span());
            walk.draft.expr(Expr::Member { of, name })
        }
        None if is_scope(walk, at) && !walk.draft.is_type_parameter(walk.tree.node(leaf).span()) => {
            // The leading blank restricts the lookup: the name is neither a function nor a variable.
            let name = [" ", walk.text(leaf)].concat();
            walk.draft.name_expr(&name, leaf)
        }
        None => walk.name_expr(leaf),
    };
    let template = if walk.kind(at) == "dependent_name" { walk.items(at).next() } else { Some(at) };
    match template.and_then(|template| walk.child(template, "arguments")) {
        Some(list) => {
            let args = walk.lower_all(list);
            walk.draft.expr(Expr::Apply { of, args })
        }
        None => of,
    }
}

/// A template with its arguments. A cast creates a value of the target type.
pub(super) fn template_with_args(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    if is_cast(walk, at) {
        let list = walk.child(at, "arguments");
        return match list.and_then(|list| walk.items(list).next()) {
            Some(to) => {
                let to = walk.lower(to);
                walk.draft.expr(Expr::New(to))
            }
            None => walk.other(),
        };
    }
    let before = scope_qualifier(walk, at);
    path_segment(walk, at, before)
}

fn is_cast(walk: &Walk<'_, '_>, at: usize) -> bool {
    walk.kind(at) == "template_function" && walk.child(at, "name").is_some_and(|name| CASTS.contains(&walk.text(name)))
}

/// The keyword of a cast is not a name.
pub(super) fn cast(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if is_cast(walk, at) {
        let name = walk.child(at, "name");
        walk.roles.mark(name, Role::Declares);
    }
    at + 1
}

/// `a::b` before a brace or after `namespace x =`.
pub(super) fn nested(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let mut whole = None;
    for name in namespaces(walk, at) {
        whole = Some(path_segment(walk, name, whole));
    }
    whole.unwrap_or_else(|| walk.other())
}

/// Returns the names in a namespace path.
pub(super) fn namespaces(walk: &Walk<'_, '_>, at: usize) -> Vec<usize> {
    let end = walk.tree.next(at);
    (at..end).filter(|&inner| walk.kind(inner) == "namespace_identifier").take(MAX_DEPTH).collect()
}

/// `this` is a pointer.
pub(super) fn this(walk: &mut Walk<'_, '_>, _: usize) -> ExprId {
    let of = walk.draft.expr(Expr::This);
    walk.draft.expr(Expr::Wrap { how: Wrap::Ref, of })
}

/// Numbers with a fraction have a different type.
pub(super) fn number(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let text = walk.text(at);
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'\'');
    let is_float = !is_hex && text.contains(['.', 'e', 'E']);
    match (is_plain, is_float) {
        (true, _) => walk.draft.expr(Expr::Literal(Literal::Int)),
        (_, true) => walk.draft.expr(Expr::Literal(Literal::Float)),
        // `1u`, `0xffL`: an integer of unknown size.
        _ => walk.other(),
    }
}

/// A call sets the reference shape of the called name.
pub(super) fn call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(callee) = walk.child(at, "function") else { return at + 1 };
    let (name, shape) = match walk.kind(callee) {
        "identifier" | "template_function" => (Some(callee), RefShape::Call),
        "qualified_identifier" => (Some(callee), RefShape::PathCall),
        "field_expression" => {
            let is_own = walk.child(callee, "argument").is_some_and(|of| walk.kind(of) == "this");
            (walk.child(callee, "field"), if is_own { RefShape::SelfCall } else { RefShape::MemberCall })
        }
        _ => (None, RefShape::Call),
    };
    if let Some(leaf) = name.and_then(|name| leaf_of(walk, name)) {
        walk.roles.mark(Some(leaf), Role::Refers(shape));
        walk.call(at, Some(leaf));
    }
    at + 1
}

/// A constructed value: `new T(…)`, `T{…}`.
pub(super) fn construct(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let leaf = walk.child(at, "type").and_then(|of| leaf_of(walk, of));
    if let Some(leaf) = leaf {
        walk.roles.mark(Some(leaf), Role::Refers(RefShape::Construct));
        walk.call(at, Some(leaf));
    }
    at + 1
}

fn constructed(walk: &mut Walk<'_, '_>, at: usize, args: &str, pointer: bool) -> ExprId {
    let of = match walk.child(at, "type") {
        Some(of) => walk.lower(of),
        None => return walk.other(),
    };
    let of = if pointer { walk.draft.expr(Expr::List(of)) } else { of };
    let callee = walk.draft.expr(Expr::New(of));
    let args = walk.child(at, args).map_or_else(Box::default, |list| walk.lower_all(list));
    walk.draft.expr(Expr::Call { callee, args })
}

/// `new T(…)` is a pointer.
pub(super) fn new_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    constructed(walk, at, "arguments", true)
}

/// `T{…}`.
pub(super) fn literal_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    constructed(walk, at, "value", false)
}

/// `a.b<int>` and `a->B::b`: the name is deeper than the field.
pub(super) fn field(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let (Some(of), Some(name)) = (walk.child(at, "argument"), walk.child(at, "field")) else { return at + 1 };
    let is_path = walk.kind(name) == "qualified_identifier";
    if let Some(leaf) = leaf_of(walk, name).filter(|&leaf| leaf != name && !is_path) {
        let between = walk.tree.node(of).end as usize..walk.tree.node(name).start as usize;
        let is_arrow = walk.draft.text.get(between).is_some_and(|between| between.contains("->"));
        walk.roles.mark(Some(leaf), Role::Refers(RefShape::Member));
        if is_arrow { walk.set_pointer_qualifier(leaf, of) } else { walk.set_qualifier(leaf, of) }
    }
    at + 1
}

/// `~T`: the reference is the whole name.
pub(super) fn destructor(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.items(at).next();
    if let Some(name) = name {
        walk.roles.mark(Some(name), Role::Declares);
        walk.draft.mark_label(walk.tree.node(name).span());
    }
    at + 1
}
