//! Language-specific hooks for expressions and types of C#.

use codecompass_model::{Expr, ExprId, RefShape};

use crate::roles::Role;
use crate::spec::Walk;

/// Marks a label: the name of an argument or of a tuple element.
fn mark_label(walk: &mut Walk<'_, '_>, name: usize) {
    walk.roles.mark(Some(name), Role::Declares);
    walk.draft.mark_label(walk.tree.node(name).span());
}

/// A call of a bare name, or of a member of `this`.
pub(super) fn call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(callee) = walk.child(at, "function") else { return at + 1 };
    let is_own = |of: usize| walk.child(of, "expression").is_some_and(|of| walk.kind(of) == "this");
    let shape = match walk.kind(callee) {
        "identifier" | "generic_name" => RefShape::Call,
        "member_access_expression" if is_own(callee) => RefShape::SelfCall,
        _ => RefShape::MemberCall,
    };
    let name = walk.name_node(callee);
    walk.roles.mark(name, Role::Refers(shape));
    at + 1
}

/// `name: value`.
pub(super) fn argument(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "name") {
        mark_label(walk, name);
    }
    at + 1
}

/// `Name = value` in an attribute: a property of the attribute's type.
pub(super) fn attribute_argument(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let attribute = walk.parent(walk.parent(at));
    if let (Some(key), Some(of)) = (walk.child(at, "name"), walk.child(attribute, "name")) {
        walk.roles.mark(Some(key), Role::Refers(RefShape::Member));
        walk.set_qualifier(key, of);
    }
    at + 1
}

/// `: this(…)` and `: base(…)` call a constructor.
pub(super) fn constructor_call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let word = walk.items(at).find(|&item| matches!(walk.kind(item), "this" | "base"));
    let Some(word) = word else { return at + 1 };
    let args = walk.child_of(at, "argument_list");
    let reference = walk.draft.reference_count() as u32;
    walk.draft.reference(walk.tree.node(word).span(), RefShape::Construct, None);
    if let Some(args) = args.filter(|_| walk.draft.reference_count() as u32 > reference) {
        let args = walk.lower_all(args);
        let callee = walk.draft.expr(Expr::This);
        let call = walk.draft.expr(Expr::Call { callee, args });
        walk.draft.set_call(reference, call);
    }
    at + 1
}

/// The names in an initialiser are members of the new value.
pub(super) fn initializer(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    let of = match walk.kind(around) {
        "object_creation_expression" => walk.child(around, "type"),
        "implicit_object_creation_expression" => Some(around),
        // The type of the new value is unknown.
        _ => Some(at),
    };
    let items: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "assignment_expression").collect();
    for item in items {
        let name = walk.child(item, "left").filter(|&left| walk.kind(left) == "identifier");
        if let (Some(name), Some(of)) = (name, of) {
            walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
            walk.set_qualifier(name, of);
        }
    }
    at + 1
}

/// `x with { A = 1 }`.
pub(super) fn with_initializer(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.child_of(at, "identifier");
    let of = walk.items(walk.parent(at)).next();
    if let (Some(name), Some(of)) = (name, of) {
        walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
        walk.set_qualifier(name, of);
    }
    at + 1
}

/// `{ Name: pattern }`: a member of the tested type.
pub(super) fn subpattern(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.items(at).next().filter(|&name| walk.kind(name) == "identifier");
    let clause = walk.parent(at);
    let around = walk.parent(clause);
    if let Some(name) = name.filter(|_| walk.kind(clause) == "property_pattern_clause") {
        let of = walk.child(around, "type").unwrap_or(around);
        walk.roles.mark(Some(name), Role::Refers(RefShape::Member));
        walk.set_qualifier(name, of);
    }
    at + 1
}

/// `new { A = x, y }`: the names before the equals signs are members of an anonymous type.
pub(super) fn anonymous_object(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let names: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "identifier").collect();
    for name in names {
        let rest = walk.draft.text.get(walk.tree.node(name).end as usize..).unwrap_or("").trim_start();
        if rest.starts_with('=') && !rest.starts_with("==") {
            mark_label(walk, name);
        }
    }
    at + 1
}

/// `new(…)` has the type declared by its context.
fn expected_type(walk: &mut Walk<'_, '_>, at: usize) -> Option<ExprId> {
    let around = walk.parent(at);
    let declared = match walk.kind(around) {
        "variable_declarator" => walk.child(walk.parent(around), "type"),
        "property_declaration" => walk.child(around, "type"),
        "arrow_expression_clause" => {
            let around = walk.parent(around);
            walk.child(around, "returns").or_else(|| walk.child(around, "type"))
        }
        _ => None,
    };
    let of = walk.lower(declared?);
    Some(walk.draft.expr(Expr::New(of)))
}

pub(super) fn implicit_new(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(callee) = expected_type(walk, at) else { return walk.other() };
    let args = walk.child_of(at, "argument_list").map_or_else(Box::default, |list| walk.lower_all(list));
    walk.draft.expr(Expr::Call { callee, args })
}

/// The arguments of `new(…)` belong to a constructor call.
pub(super) fn implicit_new_call(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let (Some(list), Some(callee)) = (walk.child_of(at, "argument_list"), expected_type(walk, at)) {
        walk.set_argument_callee(list, callee);
    }
    at + 1
}

/// `await` returns the result of a task.
pub(super) fn awaited(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(task) = walk.items(at).next() else { return walk.other() };
    let of = walk.lower(task);
    let name = walk.draft.word("Result");
    walk.draft.expr(Expr::Member { of, name })
}

/// One of the arms.
pub(super) fn switch_value(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    const MAX_ARMS: usize = 8;
    let arms: Vec<usize> =
        walk.items(at).filter(|&arm| walk.kind(arm) == "switch_expression_arm").take(MAX_ARMS).collect();
    let arms = arms.into_iter().map(|arm| walk.lower(arm)).collect();
    walk.draft.expr(Expr::Either(arms))
}

/// `typeof(T)` is a `Type`.
pub(super) fn type_of(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let of = walk.draft.name_expr("Type", at);
    walk.draft.expr(Expr::Cast(of))
}

/// A number; its suffix determines its type. In a hexadecimal number the last digit is not a suffix.
pub(super) fn number(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let text = walk.text(at);
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let of = match text.as_bytes().last() {
        Some(b'l' | b'L') => "long",
        Some(b'u' | b'U') => "uint",
        Some(b'f' | b'F') if !is_hex => "float",
        Some(b'm' | b'M') => "decimal",
        Some(_) if walk.kind(at) == "real_literal" => "double",
        _ => "int",
    };
    let of = walk.draft.name_expr(of, at);
    walk.draft.expr(Expr::Cast(of))
}

/// A type that is a keyword.
pub(super) fn predefined(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let name = match walk.text(at) {
        "string" => "String",
        "object" => "Object",
        name => name,
    };
    walk.draft.name_expr(name, at)
}

/// `global::A`: a name in the root namespace or in an external assembly.
pub(super) fn aliased(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let Some(name) = walk.child(at, "name").and_then(|name| walk.name_node(name)) else { return walk.other() };
    let whole = [".", walk.text(name)].concat();
    walk.draft.name_expr(&whole, at)
}

pub(super) fn refer_to_aliased(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(alias) = walk.child(at, "alias") {
        mark_label(walk, alias);
    }
    at + 1
}

/// `A<T>`: a type, unless the context says otherwise. The number of type arguments selects the type.
pub(super) fn generic(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child_of(at, "identifier") else { return at + 1 };
    walk.roles.mark(Some(name), Role::Refers(RefShape::Type));
    if matches!(walk.roles.get(name), Role::Refers(RefShape::Type | RefShape::Extends | RefShape::Implements)) {
        walk.call(at, Some(name));
    }
    at + 1
}

pub(super) fn type_arguments(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let items: Vec<usize> = walk.items(at).collect();
    for item in items {
        let name = walk.name_node(item);
        walk.roles.mark(name, Role::Refers(RefShape::Type));
    }
    at + 1
}

/// Names in preprocessor conditions are not names of the program.
pub(super) fn condition(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(condition) = walk.child(at, "condition") {
        for inner in condition..walk.tree.next(condition) {
            if walk.kind(inner) == "identifier" {
                mark_label(walk, inner);
            }
        }
    }
    at + 1
}
