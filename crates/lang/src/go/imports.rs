//! Import declarations.

use codecompass_model::{Import, ImportForm, Span, SymbolKind, Visibility};

use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::text;

/// Handles one import: adds a symbol under its path, and the import. Returns the node after it.
pub(super) fn spec(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let tree = walk.tree;
    let next = tree.next(at);
    let Some(path_at) = tree.child(at, f::PATH) else {
        return next;
    };
    let quoted = tree.node(path_at).span();
    let name_span = Span { start: quoted.start + 1, end: (quoted.end - 1).max(quoted.start + 1) };
    let path = walk.draft.slice(name_span);
    if path.is_empty() {
        return next;
    }
    let name_at = tree.child(at, f::NAME);
    let glob = name_at.is_some_and(|name| tree.kind(name) == k::DOT);
    let alias = name_at.filter(|_| !glob).map(|name| walk.draft.slice(tree.node(name).span()));
    let (start, _) = walk.declaration_of(at);
    let docs = walk.comments.take_above(walk.draft.text, start);
    let node = tree.node(at);
    let new = NewSymbol {
        kind: SymbolKind::Use,
        name: path,
        segment: if glob { "*" } else { alias.unwrap_or_else(|| package(path)) },
        separator: ".",
        impl_trait: None,
        signature: text::signature(&format!("import {}", walk.draft.slice(node.span()))),
        visibility_text: None,
        visibility: Some(Visibility::Private),
        span: Span { start, end: node.end },
        outer_start: docs.outer_start,
        name_span,
        attributes: &docs.directives,
        doc: docs.doc,
        annotation: None,
        value: None,
        extras: SymbolExtras::default(),
        is_test: false,
    };
    walk.draft.symbol(new, 0);
    walk.draft.import(Import {
        module: path.to_owned(),
        name: None,
        alias: alias.map(str::to_owned),
        glob,
        reexport: false,
        form: ImportForm::Static,
        line: walk.draft.line(name_span.start),
        symbol: walk.draft.enclosing_index(),
    });
    next
}

/// Returns the likely name of a package from its path: the last element without versions, `.v3` and `go-`.
fn package(path: &str) -> &str {
    let mut elements = path.rsplit('/').filter(|element| !element.is_empty());
    let last = elements.next().unwrap_or(path);
    let last = if is_version(last) { elements.next().unwrap_or(last) } else { last };
    let bare = last.rsplit_once('.').filter(|(_, end)| is_version(end)).map_or(last, |(bare, _)| bare);
    let bare = bare.strip_prefix("go-").unwrap_or(bare);
    if bare.is_empty() { last } else { bare }
}

/// Returns whether a path element is a version such as `v2`.
fn is_version(element: &str) -> bool {
    element.strip_prefix('v').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_name_comes_from_path() {
        let cases = [
            ("fmt", "fmt"),
            ("net/http", "http"),
            ("github.com/go-chi/chi/v5", "chi"),
            ("gopkg.in/yaml.v3", "yaml"),
            ("github.com/mattn/go-isatty", "isatty"),
            ("v2", "v2"),
            ("example.com/v", "v"),
            ("go-", "go-"),
            ("/", "/"),
        ];
        for (path, name) in cases {
            assert_eq!(package(path), name, "{path}");
        }
    }
}
