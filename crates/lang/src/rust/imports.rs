//! Flattens `use` trees.

use codecompass_model::{Import, ImportForm, Span, SymbolKind, Visibility};

use super::items;
use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::text;

/// The maximum length of an import path that is kept.
const MAX_PATH: usize = 500;

/// One name that a `use` declaration imports.
struct Leaf {
    /// The whole path, as in an import of this name alone.
    path: String,
    alias: Option<String>,
    glob: bool,
    span: Span,
    name_span: Span,
}

/// The properties that the leaves of a declaration share.
struct Declaration {
    span: Span,
    outer_start: u32,
    keyword: &'static str,
    visibility_text: Option<String>,
    /// Whether it imports one name, which then has the whole declaration as its text.
    single: bool,
    form: ImportForm,
}

/// Handles a `use` declaration: adds an import and a symbol for each leaf. Returns the node after it.
pub(super) fn use_declaration(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(argument) = walk.tree.child(at, f::ARGUMENT) {
        let leaves = leaves(walk, argument);
        let declaration = declaration(walk, at, "use", leaves.len() == 1);
        for leaf in leaves {
            enter(walk, &declaration, leaf);
        }
    }
    walk.tree.next(at)
}

/// Handles `extern crate a as b;`. Returns the node after it.
pub(super) fn extern_crate(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.tree.child(at, f::NAME) {
        let name_span = walk.tree.node(name).span();
        let alias =
            walk.tree.child(at, f::ALIAS).map(|alias| walk.draft.slice(walk.tree.node(alias).span()).to_owned());
        let path = walk.draft.slice(name_span).to_owned();
        let mut declaration = declaration(walk, at, "extern crate", true);
        if walk.outer.attributes.iter().any(|&span| walk.draft.slice(span).contains("macro_use")) {
            declaration.form = ImportForm::Require;
        }
        enter(walk, &declaration, Leaf { path, alias, glob: false, span: name_span, name_span });
    }
    walk.tree.next(at)
}

fn declaration(walk: &mut Walk<'_, '_>, at: usize, keyword: &'static str, single: bool) -> Declaration {
    let node = walk.tree.node(at);
    let visibility = walk.tree.child_of_kind(at, k::VISIBILITY).map(|written| walk.tree.node(written).span());
    Declaration {
        span: node.span(),
        outer_start: walk.outer.start_of(at, node.start),
        keyword,
        visibility_text: visibility.map(|span| text::fold(walk.draft.slice(span)).into_owned()),
        single,
        form: ImportForm::Static,
    }
}

/// Returns the leaves of a use tree in source order.
fn leaves(walk: &Walk<'_, '_>, argument: usize) -> Vec<Leaf> {
    let tree = walk.tree;
    let mut leaves = Vec::new();
    let mut open = vec![(argument, String::new())];
    while let Some((at, prefix)) = open.pop() {
        match tree.kind(at) {
            k::USE_LIST => {
                let parts: Vec<usize> = tree.children(at).collect();
                open.extend(parts.into_iter().rev().map(|part| (part, prefix.clone())));
            }
            k::SCOPED_USE_LIST => {
                let path = tree.child(at, f::PATH).map_or("", |path| walk.draft.slice(tree.node(path).span()));
                let list = tree.child(at, f::LIST);
                open.extend(list.map(|list| (list, text::truncate(&join(&prefix, path), MAX_PATH).to_owned())));
            }
            k::LINE_COMMENT | k::BLOCK_COMMENT => {}
            _ => leaves.extend(leaf(walk, at, &prefix)),
        }
    }
    leaves
}

fn leaf(walk: &Walk<'_, '_>, at: usize, prefix: &str) -> Option<Leaf> {
    let tree = walk.tree;
    let span = tree.node(at).span();
    let slice = |at: usize| walk.draft.slice(tree.node(at).span());
    let (path, alias, glob) = match tree.kind(at) {
        k::USE_AS => (tree.child(at, f::PATH)?, tree.child(at, f::ALIAS).map(|alias| slice(alias).to_owned()), false),
        k::USE_WILDCARD => match tree.children(at).next() {
            Some(path) => (path, None, true),
            None => {
                return Some(Leaf { path: prefix.to_owned(), alias: None, glob: true, span, name_span: span });
            }
        },
        k::IDENTIFIER | k::SCOPED_IDENTIFIER | k::SELF | k::SUPER | k::CRATE | k::METAVARIABLE => (at, None, false),
        _ => return None,
    };
    let name_at = if tree.kind(path) == k::SCOPED_IDENTIFIER { tree.child(path, f::NAME)? } else { path };
    let full = match slice(path) {
        "self" if !prefix.is_empty() => prefix.to_owned(),
        own => join(prefix, own),
    };
    Some(Leaf { path: full, alias, glob, span, name_span: tree.node(name_at).span() })
}

fn join(prefix: &str, path: &str) -> String {
    let path = if path.contains(char::is_whitespace) { path.split_whitespace().collect() } else { path.to_owned() };
    match (prefix, path.as_str()) {
        ("", _) => path,
        (_, "") => prefix.to_owned(),
        _ => format!("{prefix}::{path}"),
    }
}

fn enter(walk: &mut Walk<'_, '_>, declaration: &Declaration, leaf: Leaf) {
    let (module, name) = match leaf.path.rsplit_once("::") {
        _ if leaf.glob => (leaf.path.as_str(), "*"),
        Some((module, name)) => (module, name),
        None => ("", leaf.path.as_str()),
    };
    let shown = if leaf.glob { format!("{}::*", leaf.path) } else { leaf.path.clone() };
    let import = Import {
        module: module.to_owned(),
        name: (!leaf.glob).then(|| name.to_owned()),
        alias: leaf.alias.clone(),
        glob: leaf.glob,
        reexport: declaration.visibility_text.is_some(),
        form: declaration.form,
        line: walk.draft.line(leaf.name_span.start),
        symbol: walk.draft.enclosing_index(),
    };
    let segment = leaf.alias.as_deref().unwrap_or(name);
    let new = NewSymbol {
        kind: SymbolKind::Use,
        name: &shown,
        segment,
        separator: "::",
        impl_trait: None,
        signature: signature(declaration, &shown, leaf.alias.as_deref()),
        visibility_text: declaration.visibility_text.clone(),
        visibility: Some(
            declaration.visibility_text.as_deref().map_or(Visibility::Private, items::visibility_of_modifier),
        ),
        span: if declaration.single { declaration.span } else { leaf.span },
        outer_start: if declaration.single { declaration.outer_start } else { leaf.span.start },
        name_span: leaf.name_span,
        attributes: if declaration.single { &walk.outer.attributes } else { &[] },
        doc: if declaration.single { walk.outer.doc } else { None },
        annotation: None,
        value: None,
        extras: SymbolExtras::default(),
        is_test: false,
    };
    walk.draft.symbol(new, 0);
    walk.draft.import(import);
}

fn signature(declaration: &Declaration, shown: &str, alias: Option<&str>) -> String {
    let visibility = declaration.visibility_text.as_deref().map(|text| format!("{text} ")).unwrap_or_default();
    let alias = alias.map(|alias| format!(" as {alias}")).unwrap_or_default();
    text::signature(&format!("{visibility}{} {shown}{alias}", declaration.keyword))
}
