//! Symbols that are defined by assignment: `exports.x = …`, `Foo.prototype.bar = …`, `this.x = …`.

use codecompass_model::{RefShape, SymbolKind, Visibility};

use super::kinds::{field as f, kind as k};
use super::members::function_in;
use super::symbols::SymbolEntry;
use super::variables::last_value;
use super::walk::Walk;
use super::{contextual_types, exports, imports, loads};
use crate::roles::Role;

/// Handles an assignment. It is a definition if its left side is a path of names and its right side a function or a
/// class, or if it exports something.
pub(super) fn assignment(walk: &mut Walk<'_, '_>, at: usize) {
    let (Some(left), Some(right)) = (walk.tree.child(at, f::LEFT), walk.tree.child(at, f::RIGHT)) else {
        return;
    };
    let value = last_value(walk, right);
    let is_chain = walk.unwrap(right) != value;
    if exports::is_module_exports(walk.slice(left)) {
        return exported(walk, at, value, is_chain);
    }
    if walk.tree.kind(left) != k::MEMBER {
        return;
    }
    let Some(property) = walk.tree.child(left, f::PROPERTY) else {
        return;
    };
    let path = walk.tree.child(left, f::OBJECT).map_or("", |object| walk.slice(object));
    let function = function_in(walk, value);
    let Some(kind) = assigned_kind(walk, path, function) else {
        return this_field(walk, at, path, property);
    };
    if let Some(function) = function.filter(|_| !is_chain) {
        walk.roles.mark(Some(function), Role::Declares);
    }
    enter(walk, at, property, path, kind, function, is_chain);
}

/// Returns the kind of symbol that an assignment to a member of this path defines.
fn assigned_kind(walk: &Walk<'_, '_>, path: &str, function: Option<usize>) -> Option<SymbolKind> {
    let is_class = function.is_some_and(|function| walk.tree.kind(function) == k::CLASS);
    let is_export = exports::is_exports(path);
    match function {
        Some(_) if !is_path(path) => None,
        Some(_) if is_class => Some(SymbolKind::Class),
        Some(_) if is_export => Some(SymbolKind::Fn),
        Some(_) => Some(SymbolKind::Method),
        None if is_export => Some(SymbolKind::Var),
        None if path.ends_with(".prototype") && is_path(path) => Some(SymbolKind::Field),
        None => None,
    }
}

/// Returns whether a text consists of names separated by dots.
fn is_path(text: &str) -> bool {
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
    text.len() <= 120 && text.split('.').all(is_name)
}

/// Returns the segment of a qualified name for a member of a path, without words such as `prototype` and `exports`.
fn segment(path: &str, name: &str) -> String {
    let parts = path.split('.').filter(|part| !matches!(*part, "prototype" | "this" | "exports" | "module" | "self"));
    parts.chain([name]).collect::<Vec<_>>().join(".")
}

fn enter(
    walk: &mut Walk<'_, '_>,
    at: usize,
    property: usize,
    path: &str,
    kind: SymbolKind,
    function: Option<usize>,
    is_chain: bool,
) {
    let Some(name) = walk.name_text(property) else {
        return;
    };
    let segment = segment(path, name);
    let value = walk.tree.child(at, f::RIGHT);
    let entry = SymbolEntry {
        kind,
        name_at: Some(property),
        name,
        segment: Some(&segment),
        whole: statement(walk, at),
        body: function.and_then(|function| walk.body(function)).or_else(|| walk.long_value(value)),
        visibility: (None, Visibility::Public),
        annotation: function.and_then(|function| walk.type_of(function, f::RETURN_TYPE)),
        value: match function {
            Some(function) => contextual_types::result(walk, function),
            None => walk.span_of(at, f::RIGHT),
        },
        end: if is_chain { 0 } else { walk.tree.next(at) },
        owner: None,
    };
    walk.enter(&entry);
}

/// Returns the statement that consists of an assignment, or the assignment itself.
fn statement(walk: &Walk<'_, '_>, at: usize) -> usize {
    let parent = walk.tree.node(at).parent as usize;
    if walk.tree.kind(parent) == k::EXPRESSION_STATEMENT { parent } else { at }
}

/// Handles `module.exports = …`: a function or class is listed under its own name, else as `exports`; the members of an
/// object are listed like those that are exported one by one.
fn exported(walk: &mut Walk<'_, '_>, at: usize, value: usize, is_chain: bool) {
    match walk.tree.kind(value) {
        k::OBJECT => walk.roles.mark(Some(value), Role::Declares),
        k::IDENTIFIER if !is_chain => imports::export_local(walk, value, Some("export=")),
        k::CALL | k::MEMBER => loads::reexport_loaded(walk, value),
        k::ARROW | k::FUNCTION_EXPRESSION | k::GENERATOR | k::CLASS if walk.roles.get(value) == Role::Unset => {
            walk.roles.mark(Some(value), Role::Declares);
            let name_at = walk.tree.child(value, f::NAME);
            let name = name_at.and_then(|name| walk.name_text(name)).unwrap_or("exports");
            let is_class = walk.tree.kind(value) == k::CLASS;
            let entry = SymbolEntry {
                kind: if is_class { SymbolKind::Class } else { SymbolKind::Fn },
                name_at,
                name,
                segment: None,
                whole: statement(walk, at),
                body: walk.body(value),
                visibility: (None, Visibility::Public),
                annotation: walk.type_of(value, f::RETURN_TYPE),
                value: contextual_types::result(walk, value),
                end: walk.tree.next(at),
                owner: None,
            };
            walk.enter(&entry);
        }
        _ => {}
    }
}

/// Handles `this.x = …` in a constructor of JavaScript; the first one declares a field of the class.
fn this_field(walk: &mut Walk<'_, '_>, at: usize, path: &str, property: usize) {
    let around = walk.draft.enclosing().filter(|around| around.kind == SymbolKind::Constructor);
    let Some(class) = around.filter(|_| !walk.typed && path == "this").map(|around| around.parent) else {
        return;
    };
    let Some(name) = walk.name_text(property) else {
        return;
    };
    if walk.tree.kind(property) == k::PRIVATE_IDENTIFIER || walk.fields.insert((class, name), ()).is_some() {
        return;
    }
    walk.roles.mark(Some(property), Role::Refers(RefShape::Member));
    let entry = SymbolEntry {
        kind: SymbolKind::Field,
        name_at: Some(property),
        name,
        segment: None,
        whole: statement(walk, at),
        body: walk.long_value(walk.tree.child(at, f::RIGHT)),
        visibility: (None, Visibility::Public),
        annotation: None,
        value: walk.span_of(at, f::RIGHT),
        end: 0,
        owner: Some(class),
    };
    walk.enter(&entry);
}
