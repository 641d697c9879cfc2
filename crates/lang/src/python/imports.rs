//! Python imports.

use codecompass_model::{Import, ImportForm, Span, SymbolKind};

use super::definitions::visibility;
use super::docs_and_comments;
use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::text;

/// One entry of an import statement.
struct ImportEntry {
    name: Option<String>,
    alias: Option<String>,
    glob: bool,
    span: Span,
}

/// Handles `import a.b as c`, `from a import b`, `from . import *`: adds an import and a symbol for each entry. Returns
/// the node after the statement.
pub(super) fn statement(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let from = source(walk, at);
    let entries: Vec<ImportEntry> = walk.tree.children(at).filter_map(|child| entry(walk, child)).collect();
    let single = entries.len() == 1;
    for entry in entries {
        enter(walk, at, from.as_deref(), entry, single);
    }
    walk.tree.next(at)
}

/// Handles `__import__("a.b")`, `import_module("a.b")`.
pub(super) fn dynamic(walk: &mut Walk<'_, '_>, call: usize) {
    let content =
        docs_and_comments::first_argument(walk, call).and_then(|first| docs_and_comments::plain_string(walk, first));
    let Some(content) = content.map(|content| walk.tree.node(content).span()) else {
        return;
    };
    walk.draft.import(Import {
        module: walk.draft.slice(content).to_owned(),
        name: None,
        alias: None,
        glob: false,
        reexport: false,
        form: ImportForm::Dynamic,
        line: walk.draft.line(content.start),
        symbol: walk.draft.enclosing_index(),
    });
}

/// Returns the module after `from`.
fn source(walk: &Walk<'_, '_>, at: usize) -> Option<String> {
    if walk.tree.kind(at) == k::FUTURE_IMPORT {
        return Some("__future__".to_owned());
    }
    let module = walk.tree.child(at, f::MODULE_NAME)?;
    Some(dotted(walk.draft.slice(walk.tree.node(module).span())))
}

fn entry(walk: &Walk<'_, '_>, at: usize) -> Option<ImportEntry> {
    let tree = walk.tree;
    let span = tree.node(at).span();
    let name = |at: usize| Some(dotted(walk.draft.slice(tree.node(at).span()))).filter(|name| !name.is_empty());
    match (tree.kind(at), tree.node(at).field) {
        (k::WILDCARD_IMPORT, _) => Some(ImportEntry { name: None, alias: None, glob: true, span }),
        (k::ALIASED_IMPORT, _) => Some(ImportEntry {
            name: Some(name(tree.child(at, f::NAME)?)?),
            alias: tree.child(at, f::ALIAS).and_then(name),
            glob: false,
            span,
        }),
        (k::DOTTED_NAME, f::NAME) => Some(ImportEntry { name: Some(name(at)?), alias: None, glob: false, span }),
        _ => None,
    }
}

/// Returns a dotted name without white space.
fn dotted(text: &str) -> String {
    if text.contains(char::is_whitespace) { text.split_whitespace().collect() } else { text.to_owned() }
}

fn enter(walk: &mut Walk<'_, '_>, at: usize, from: Option<&str>, entry: ImportEntry, single: bool) {
    let node = walk.tree.node(at);
    let name = entry.name.as_deref().unwrap_or("*");
    let shown = match from {
        Some(from) if from.ends_with('.') => format!("{from}{name}"),
        Some(from) => format!("{from}.{name}"),
        None => name.to_owned(),
    };
    let alias_text = entry.alias.as_deref().map(|alias| format!(" as {alias}")).unwrap_or_default();
    let signature = match from {
        Some(from) => format!("from {from} import {name}{alias_text}"),
        None => format!("import {name}{alias_text}"),
    };
    let segment = entry.alias.as_deref().unwrap_or(name);
    let import = Import {
        module: from.unwrap_or(name).to_owned(),
        name: from.and(entry.name.clone()),
        alias: entry.alias.clone().filter(|alias| Some(alias) != entry.name.as_ref()),
        glob: entry.glob,
        reexport: from.is_some() && is_reexport(walk.draft.path, &entry),
        form: if at < walk.typing_end { ImportForm::TypeOnly } else { ImportForm::Static },
        line: walk.draft.line(entry.span.start),
        symbol: walk.draft.enclosing_index(),
    };
    let span = if single { node.span() } else { entry.span };
    let new = NewSymbol {
        kind: SymbolKind::Use,
        name: &shown,
        segment,
        separator: ".",
        impl_trait: None,
        signature: text::signature(&signature),
        visibility_text: None,
        visibility: Some(visibility(segment)),
        span,
        outer_start: span.start,
        name_span: entry.span,
        attributes: &[],
        doc: None,
        annotation: None,
        value: None,
        extras: SymbolExtras::default(),
        is_test: false,
    };
    if walk.is_in_order(at) {
        walk.draft.symbol(new, 0);
    }
    walk.draft.import(import);
}

/// Returns whether the name is re-exported: `__init__` collects names, and `b as b` marks a re-export.
fn is_reexport(path: &str, entry: &ImportEntry) -> bool {
    let stem = path.rsplit('/').next().and_then(|file| file.split('.').next());
    stem == Some("__init__") || entry.alias.is_some() && entry.alias == entry.name
}
