//! Finds names of the file that a separate statement exports.

use super::kinds::{field as f, kind as k};
use crate::draft::Draft;
use crate::interner::FastMap;
use crate::tree::Tree;

/// Returns the names in `export { a }`, `export default a`, `export = a`, `exports.x = a`, `module.exports = a` and
/// `module.exports = { a, x: b }`, each with whether it is an `export`.
pub(super) fn names<'t>(tree: &Tree, draft: &Draft<'t>) -> FastMap<&'t str, bool> {
    let mut found = FastMap::default();
    if tree.len() == 0 {
        return found;
    }
    let text = |at: usize| draft.slice(tree.node(at).span());
    for statement in tree.children(0) {
        match tree.kind(statement) {
            k::EXPORT if tree.child(statement, f::SOURCE).is_none() => {
                found.extend(exported(tree, statement).into_iter().map(|name| (text(name), true)));
            }
            k::EXPRESSION_STATEMENT => {
                found.extend(assigned_exports(tree, draft, statement).into_iter().map(|name| (text(name), false)));
            }
            _ => {}
        }
    }
    found
}

fn exported(tree: &Tree, statement: usize) -> Vec<usize> {
    let mut names = Vec::new();
    for child in tree.children(statement) {
        match tree.kind(child) {
            k::IDENTIFIER => names.push(child),
            k::EXPORT_CLAUSE => names.extend(tree.children(child).filter_map(|entry| tree.child(entry, f::NAME))),
            _ => {}
        }
    }
    names
}

/// Returns the identifiers that a statement like `exports.x = a` or `module.exports = { a }` exports.
fn assigned_exports(tree: &Tree, draft: &Draft<'_>, statement: usize) -> Vec<usize> {
    let mut names = Vec::new();
    let mut next = tree.children(statement).next();
    while let Some(at) = next.filter(|&at| tree.kind(at) == k::ASSIGNMENT) {
        let left = tree.child(at, f::LEFT).map_or("", |left| draft.slice(tree.node(left).span()));
        let right = tree.child(at, f::RIGHT);
        let is_export = is_module_exports(left) || left.rsplit_once('.').is_some_and(|(path, _)| is_exports(path));
        match right.filter(|_| is_export).map(|right| (right, tree.kind(right))) {
            Some((right, k::IDENTIFIER)) => names.push(right),
            Some((right, k::OBJECT)) => names.extend(tree.children(right).filter_map(|entry| match tree.kind(entry) {
                k::SHORTHAND => Some(entry),
                k::PAIR => tree.child(entry, f::VALUE).filter(|&value| tree.kind(value) == k::IDENTIFIER),
                _ => None,
            })),
            _ => {}
        }
        next = right;
    }
    names
}

/// Returns whether the members of this path are exports.
pub(super) fn is_exports(path: &str) -> bool {
    matches!(path, "exports" | "module.exports")
}

/// Returns whether this path is the whole export of a CommonJS module.
pub(super) fn is_module_exports(left: &str) -> bool {
    left == "module.exports"
}
