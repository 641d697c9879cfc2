//! Language-specific hooks for expressions, names and types of PHP.

use codecompass_model::{Expr, ExprId, LexicalTarget, Literal, RefShape};

use super::docs::name_of;
use crate::roles::Role;
use crate::spec::Walk;

/// Maximum number of arms read in one expression.
const MAX_ARMS: usize = 8;

/// A name of a variable, class, function or constant. Only variables are local.
pub(super) fn name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    let span = walk.tree.node(at).span();
    let role = walk.roles.get(at);
    if walk.kind(around) == "variable_name" {
        // A variable that was never assigned, or `$this`.
        if role == Role::Unset && (walk.text(at) == "this" || !walk.draft.is_local(span)) {
            walk.roles.mark(Some(at), Role::Declares);
            walk.draft.mark_label(span);
        }
        return at + 1;
    }
    let is_path = matches!(walk.kind(around), "qualified_name" | "relative_name");
    let shape = match role {
        // An enclosing node has already set its role.
        Role::Declares | Role::Refers(_) => return at + 1,
        Role::Unset => shape_of(walk, if is_path { around } else { at }),
    };
    match walk.text(at) {
        // The parts of a namespace.
        _ if walk.kind(around) == "namespace_name" => {}
        "self" | "static" | "parent" | "class" if !is_path => {
            if shape == RefShape::Construct {
                walk.draft.reference(span, shape, None);
            }
        }
        _ if is_path => {
            let before = path_before(walk, around);
            walk.draft.reference_with_receiver(span, shape, before);
        }
        _ => walk.draft.reference_nonlocal(span, shape),
    }
    walk.roles.mark(Some(at), Role::Declares);
    at + 1
}

/// Returns the reference shape of a name from its context.
fn shape_of(walk: &Walk<'_, '_>, at: usize) -> RefShape {
    let around = walk.parent(at);
    let is_in = |field: &str| walk.child(around, field) == Some(at);
    let is_first = walk.items(around).next() == Some(at);
    match walk.kind(around) {
        "base_clause" | "use_declaration" => RefShape::Extends,
        "class_interface_clause" => RefShape::Implements,
        "named_type" | "use_instead_of_clause" => RefShape::Type,
        "object_creation_expression" => RefShape::Construct,
        "attribute" => RefShape::Decorator,
        "function_call_expression" if is_in("function") => RefShape::Call,
        "scoped_call_expression" | "scoped_property_access_expression" if is_in("scope") => RefShape::Type,
        "class_constant_access_expression" if is_first => RefShape::Type,
        "binary_expression" if is_in("right") && operator(walk, around) == "instanceof" => RefShape::Type,
        _ => RefShape::Value,
    }
}

/// Returns the operator between the operands.
fn operator<'t>(walk: &Walk<'_, 't>, at: usize) -> &'t str {
    let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { return "" };
    let between = walk.tree.node(left).end as usize..walk.tree.node(right).start as usize;
    walk.draft.text.get(between).unwrap_or("").trim()
}

/// Returns the namespace before the last name of a path.
fn path_before(walk: &mut Walk<'_, '_>, path: usize) -> ExprId {
    let whole = super::docs::absolute(walk, walk.text(path));
    let package = whole.rsplit_once('\\').map_or("", |(package, _)| package);
    // A trailing separator marks a namespace, not a class.
    let package = [package, "\\"].concat();
    nonlocal_name(walk, &package)
}

/// Lowers a name that is never a local variable.
pub(super) fn nonlocal_name(walk: &mut Walk<'_, '_>, name: &str) -> ExprId {
    let name = walk.draft.word(name);
    walk.draft.expr(Expr::Name { name, seen: LexicalTarget::NotLocal })
}

/// Lowers a name to its value.
pub(super) fn name_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let is_variable = walk.kind(walk.parent(at)) == "variable_name";
    match walk.text(at) {
        "this" if is_variable => walk.draft.expr(Expr::This),
        // A variable that was never assigned is not a constant.
        _ if is_variable && !walk.draft.is_local(walk.tree.node(at).span()) => walk.other(),
        _ if is_variable => walk.name_expr(at),
        "parent" => walk.draft.expr(Expr::Super),
        name => name_of(walk, name),
    }
}

pub(super) fn qualified_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let whole = super::docs::absolute(walk, walk.text(at));
    nonlocal_name(walk, &whole)
}

/// `self`, `static` and `parent` before two colons.
pub(super) fn relative_scope(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let of = if walk.text(at) == "parent" { Expr::Super } else { Expr::This };
    walk.draft.expr(of)
}

/// Returns the name after a double colon, and its qualifier.
fn scoped_sides(walk: &Walk<'_, '_>, at: usize) -> Option<(usize, usize)> {
    let of = walk.items(at).next()?;
    let name = walk.child(at, "name").or_else(|| walk.items(at).nth(1))?;
    let name = match walk.kind(name) {
        "name" => name,
        // `A::$b` is a property, but `A::$b()` calls the function that the variable names.
        "variable_name" if walk.kind(at) == "scoped_property_access_expression" => walk.child_of(name, "name")?,
        _ => return None,
    };
    (name != of).then_some((of, name))
}

pub(super) fn scoped(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some((of, name)) = scoped_sides(walk, at) else { return at + 1 };
    let is_call = walk.kind(at) == "scoped_call_expression";
    let is_own = walk.kind(of) == "relative_scope" && walk.text(of) != "parent";
    let shape = match walk.text(name) {
        // `A::class` is the name of the class.
        "class" if !is_call => {
            walk.roles.mark(Some(name), Role::Declares);
            return at + 1;
        }
        _ if !is_call => RefShape::Member,
        _ if is_own => RefShape::SelfCall,
        _ => RefShape::PathCall,
    };
    walk.roles.mark(Some(name), Role::Refers(shape));
    walk.set_qualifier(name, of);
    at + 1
}

pub(super) fn scoped_member(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some((of, name)) = scoped_sides(walk, at) else { return walk.other() };
    if walk.text(name) == "class" {
        return walk.draft.expr(Expr::Literal(Literal::Text));
    }
    let of = walk.lower(of);
    let name = walk.draft.name(walk.tree.node(name).span());
    walk.draft.expr(Expr::Member { of, name })
}

pub(super) fn scoped_call(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let callee = scoped_member(walk, at);
    let args = walk.child(at, "arguments").map_or_else(Box::default, |list| walk.lower_all(list));
    walk.draft.expr(Expr::Call { callee, args })
}

/// A method call on `$this`.
pub(super) fn this_call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let is_own = walk.child(at, "object").is_some_and(|of| walk.text(of) == "$this");
    if let Some(name) = walk.child_of(at, "name").filter(|_| is_own) {
        walk.roles.mark(Some(name), Role::Refers(RefShape::SelfCall));
    }
    at + 1
}

/// An anonymous class has the type of its base.
pub(super) fn anonymous_class(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let base = walk.child_of(at, "base_clause").or_else(|| walk.child_of(at, "class_interface_clause"));
    match base.and_then(|base| walk.items(base).next()) {
        Some(base) => walk.lower(base),
        None => walk.other(),
    }
}

/// `a ?? b` is either operand; any other result has no members.
pub(super) fn binary(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let (Some(left), Some(right)) = (walk.child(at, "left"), walk.child(at, "right")) else { return walk.other() };
    match operator(walk, at) {
        "??" => {
            let both = Box::new([walk.lower(left), walk.lower(right)]);
            walk.draft.expr(Expr::Either(both))
        }
        "." => walk.draft.expr(Expr::Literal(Literal::Text)),
        _ => walk.other(),
    }
}

/// One of the types, or of the values, in a node.
pub(super) fn one_of(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let items: Vec<usize> = walk.items(at).take(MAX_ARMS).collect();
    let all = items.into_iter().map(|item| walk.lower(item)).collect();
    walk.draft.expr(Expr::Either(all))
}

pub(super) fn match_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    match walk.child(at, "body") {
        Some(block) => one_of(walk, block),
        None => walk.other(),
    }
}

pub(super) fn array(walk: &mut Walk<'_, '_>, _: usize) -> ExprId {
    let of = nonlocal_name(walk, "array");
    walk.draft.expr(Expr::Cast(of))
}

/// `(string) $x`.
pub(super) fn cast(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let to = walk.text(at).trim_start_matches('(').trim_start();
    let to = to.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    let to = match to {
        "string" | "float" | "array" => to,
        "int" | "integer" => "int",
        "bool" | "boolean" => "bool",
        _ => return walk.other(),
    };
    let of = nonlocal_name(walk, to);
    walk.draft.expr(Expr::Cast(of))
}

/// A type that is a keyword; types that accept anything are unknown.
pub(super) fn primitive(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    match walk.text(at) {
        "mixed" | "object" | "callable" | "iterable" => walk.other(),
        "null" => walk.draft.expr(Expr::Literal(Literal::Null)),
        name => nonlocal_name(walk, name),
    }
}
