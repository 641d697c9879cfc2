//! Imports, re-exports, and exports of local names.

use codecompass_model::{Import, ImportForm, Span, SymbolKind, Visibility};

use super::contextual_types;
use super::kinds::{field as f, kind as k};
use super::symbols::SymbolEntry;
use super::variables::unquoted;
use super::walk::Walk;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::text;

/// The maximum length of a module path that is kept.
pub(super) const MAX_PATH: usize = 500;

/// One name that is imported or exported.
pub(super) struct ImportedName<'t> {
    pub(super) module: &'t str,
    /// The name in the other module; `None` for a whole module.
    pub(super) name: Option<&'t str>,
    /// The local name.
    pub(super) local: Option<&'t str>,
    pub(super) glob: bool,
    pub(super) form: ImportForm,
    /// The span of the whole entry.
    pub(super) span: Span,
    /// The span of the name itself.
    pub(super) name_span: Span,
    pub(super) signature: String,
    pub(super) reexport: bool,
}

/// Handles `import …`. Returns the node after it.
pub(super) fn import(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let tree = walk.tree;
    let node = tree.node(at);
    let clause = tree.child_of_kind(at, k::IMPORT_CLAUSE);
    let require = tree.child_of_kind(at, k::IMPORT_REQUIRE);
    let Some(source) = tree.child(at, f::SOURCE).or_else(|| require.and_then(|r| tree.child(r, f::SOURCE))) else {
        return node.next as usize;
    };
    let mut names = Vec::new();
    match (clause, require) {
        (Some(clause), _) => clause_names(walk, at, clause, &mut names),
        (None, Some(require)) => {
            let local = tree.child_of_kind(require, k::IDENTIFIER);
            names.extend(local.map(|local| (None, Some(local), local, ImportForm::Require)));
        }
        (None, None) => names.push((None, None, source, ImportForm::Static)),
    }
    let single = names.len() == 1;
    for (name, local, entry, form) in names {
        let span = if single { node.span() } else { tree.node(entry).span() };
        let name = name.map(|name| match name {
            ImportedAs::Node(at) => unquoted_or_plain(walk, at),
            ImportedAs::Default => "default",
        });
        let local_text = local.map(|local| walk.slice(local));
        let place = local.unwrap_or(entry);
        let signature = import_signature(walk, source, name, local_text, form);
        let module = unquoted(walk, source);
        let name_span = tree.node(place).span();
        let reexport = local_text.is_some_and(|local| walk.exported.contains_key(local));
        add(
            walk,
            ImportedName { module, name, local: local_text, glob: false, form, span, name_span, signature, reexport },
        );
    }
    node.next as usize
}

/// The source of the imported name.
enum ImportedAs {
    Node(usize),
    Default,
}

/// The name in the other module, the node of the local name, the node of the entry, and its form.
type ClauseName = (Option<ImportedAs>, Option<usize>, usize, ImportForm);

fn clause_names(walk: &Walk<'_, '_>, at: usize, clause: usize, names: &mut Vec<ClauseName>) {
    let tree = walk.tree;
    let form = form_between(walk, tree.node(at).start, tree.node(clause).start);
    for part in tree.children(clause) {
        match tree.kind(part) {
            k::IDENTIFIER => names.push((Some(ImportedAs::Default), Some(part), part, form)),
            k::NAMESPACE_IMPORT => names.push((None, tree.children(part).next(), part, form)),
            k::NAMED_IMPORTS => {
                let specifiers = tree.children(part).filter(|&entry| tree.kind(entry) == k::IMPORT_SPECIFIER);
                names.extend(specifiers.filter_map(|entry| {
                    let name = tree.child(entry, f::NAME)?;
                    let local = tree.child(entry, f::ALIAS).unwrap_or(name);
                    let own = form_between(walk, tree.node(entry).start, tree.node(name).start);
                    let form = if form == ImportForm::TypeOnly { form } else { own };
                    Some((Some(ImportedAs::Node(name)), Some(local), entry, form))
                }));
            }
            _ => {}
        }
    }
}

/// Determines the form by whether the word `type` occurs in a range.
fn form_between(walk: &Walk<'_, '_>, start: u32, end: u32) -> ImportForm {
    let words = walk.draft.slice(Span { start, end });
    match words.split(|c: char| !c.is_ascii_alphabetic()).any(|word| word == "type" || word == "typeof") {
        true => ImportForm::TypeOnly,
        false => ImportForm::Static,
    }
}

fn unquoted_or_plain<'t>(walk: &Walk<'_, 't>, at: usize) -> &'t str {
    if walk.tree.kind(at) == k::STRING { unquoted(walk, at) } else { walk.slice(at) }
}

fn import_signature(
    walk: &Walk<'_, '_>,
    source: usize,
    name: Option<&str>,
    local: Option<&str>,
    form: ImportForm,
) -> String {
    let module = walk.slice(source);
    let word = if form == ImportForm::TypeOnly { "import type" } else { "import" };
    let header = match (name, local) {
        (_, Some(local)) if form == ImportForm::Require => format!("import {local} = require({module})"),
        (Some("default"), Some(local)) => format!("{word} {local} from {module}"),
        (Some(name), Some(local)) if name != local => format!("{word} {{ {name} as {local} }} from {module}"),
        (Some(name), _) => format!("{word} {{ {name} }} from {module}"),
        (None, Some(local)) => format!("{word} * as {local} from {module}"),
        (None, None) => format!("{word} {module}"),
    };
    text::signature(&header)
}

/// Handles `export …`. Returns the next node to visit.
pub(super) fn export(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let tree = walk.tree;
    if let Some(source) = tree.child(at, f::SOURCE) {
        reexports(walk, at, source);
        return tree.next(at);
    }
    if let Some(clause) = tree.child_of_kind(at, k::EXPORT_CLAUSE) {
        for entry in tree.children(clause).filter(|&entry| tree.kind(entry) == k::EXPORT_SPECIFIER) {
            let alias = tree.child(entry, f::ALIAS);
            walk.roles.mark(alias, Role::Declares);
            let alias = alias.map(|alias| unquoted_or_plain(walk, alias));
            if let Some(name) = tree.child(entry, f::NAME) {
                export_local(walk, name, alias);
            }
        }
    } else if let Some(value) = tree.child(at, f::VALUE) {
        default_export(walk, at, value);
    } else if let Some(name) = tree.child_of_kind(at, k::IDENTIFIER) {
        match walk.slice(at).contains('=') {
            true => export_local(walk, name, Some("export=")),
            false => walk.roles.mark(Some(name), Role::Declares),
        }
    }
    at + 1
}

/// Handles `export default …` of a value.
fn default_export(walk: &mut Walk<'_, '_>, at: usize, value: usize) {
    let inner = walk.unwrap(value);
    let (kind, function) = match walk.tree.kind(inner) {
        k::IDENTIFIER => return export_local(walk, inner, Some("default")),
        k::ARROW | k::FUNCTION_EXPRESSION | k::GENERATOR => (SymbolKind::Fn, Some(inner)),
        k::CLASS => (SymbolKind::Class, Some(inner)),
        _ => (SymbolKind::Const, None),
    };
    if walk.tree.child(inner, f::NAME).is_some() && function.is_some() {
        return;
    }
    walk.roles.mark(Some(inner), Role::Declares);
    let entry = SymbolEntry {
        kind,
        name_at: None,
        name: "default",
        segment: None,
        whole: at,
        body: function.and_then(|function| walk.body(function)).or_else(|| walk.long_value(Some(value))),
        visibility: (Some("export default"), Visibility::Public),
        annotation: function.and_then(|function| walk.type_of(function, f::RETURN_TYPE)),
        value: match function {
            Some(function) => contextual_types::result(walk, function),
            None => walk.span_of(at, f::VALUE),
        },
        end: walk.tree.next(at),
        owner: None,
    };
    walk.enter(&entry);
}

/// Handles `export … from 'x'`.
fn reexports(walk: &mut Walk<'_, '_>, at: usize, source: usize) {
    let tree = walk.tree;
    let node = tree.node(at);
    let module = unquoted(walk, source);
    let quoted = walk.slice(source);
    let rest = walk.slice(at).strip_prefix("export").unwrap_or("").trim_start();
    let is_type = rest.strip_prefix("type").is_some_and(|rest| rest.starts_with([' ', '{', '*', '\n']));
    let form = if is_type { ImportForm::TypeOnly } else { ImportForm::Static };
    let word = if is_type { "export type" } else { "export" };
    let Some(clause) = tree.child_of_kind(at, k::EXPORT_CLAUSE) else {
        let alias = tree.child_of_kind(at, k::NAMESPACE_EXPORT).and_then(|export| tree.children(export).next());
        let local = alias.map(|alias| unquoted_or_plain(walk, alias));
        let signature = match local {
            Some(local) => text::signature(&format!("{word} * as {local} from {quoted}")),
            None => text::signature(&format!("{word} * from {quoted}")),
        };
        let name_span = tree.node(alias.unwrap_or(source)).span();
        let (span, glob) = (node.span(), local.is_none());
        return add(
            walk,
            ImportedName { module, name: None, local, glob, form, span, name_span, signature, reexport: true },
        );
    };
    let entries: Vec<usize> = tree.children(clause).filter(|&entry| tree.kind(entry) == k::EXPORT_SPECIFIER).collect();
    for &entry in &entries {
        let Some(name_at) = tree.child(entry, f::NAME) else {
            continue;
        };
        let alias = tree.child(entry, f::ALIAS);
        let own = form_between(walk, tree.node(entry).start, tree.node(name_at).start);
        let form = if is_type { form } else { own };
        let name = unquoted_or_plain(walk, name_at);
        let local = alias.map_or(name, |alias| unquoted_or_plain(walk, alias));
        let shown = if name == local { name.to_owned() } else { format!("{name} as {local}") };
        let span = if entries.len() == 1 { node.span() } else { tree.node(entry).span() };
        let signature = text::signature(&format!("{word} {{ {shown} }} from {quoted}"));
        let name_span = tree.node(alias.unwrap_or(name_at)).span();
        let (name, local) = (Some(name), Some(local));
        add(walk, ImportedName { module, name, local, glob: false, form, span, name_span, signature, reexport: true });
    }
}

/// Exports a local name, optionally under another one.
pub(super) fn export_local(walk: &mut Walk<'_, '_>, name_at: usize, alias: Option<&str>) {
    let name = unquoted_or_plain(walk, name_at);
    let alias = alias.filter(|&alias| alias != name);
    let name_node = walk.tree.node(name_at);
    let around = walk.tree.node(name_node.parent as usize);
    if let Some(alias) = alias.filter(|alias| !name.is_empty() && !alias.is_empty()) {
        let signature = match alias {
            "default" => format!("export default {name}"),
            "export=" => format!("export = {name}"),
            _ => format!("export {{ {name} as {alias} }}"),
        };
        let span = if around.kind == k::EXPORT_SPECIFIER { around.span() } else { name_node.span() };
        if let Some(span) = walk.clamp_to_order(span) {
            walk.draft.symbol(use_symbol(name, alias, signature, span, name_node.span(), true), 0);
        }
    }
    walk.draft.import(Import {
        module: String::new(),
        name: Some(name.to_owned()),
        alias: alias.map(str::to_owned),
        glob: false,
        reexport: true,
        form: ImportForm::Static,
        line: walk.draft.line(name_node.start),
        symbol: walk.draft.enclosing_index(),
    });
}

/// Adds an import and its symbol.
pub(super) fn add(walk: &mut Walk<'_, '_>, new: ImportedName<'_>) {
    let module = text::truncate(new.module, MAX_PATH);
    let shown = match new.name {
        Some(name) => format!("{module}.{name}"),
        None if new.glob || new.local.is_some() && new.form != ImportForm::Require => format!("{module}.*"),
        None => module.to_owned(),
    };
    let local = new.local.or(new.glob.then_some("*")).unwrap_or(module);
    let import = Import {
        module: module.to_owned(),
        name: new.name.map(str::to_owned),
        alias: new.local.filter(|&local| new.name != Some(local)).map(str::to_owned),
        glob: new.glob,
        reexport: new.reexport,
        form: new.form,
        line: walk.draft.line(new.name_span.start),
        symbol: walk.draft.enclosing_index(),
    };
    if let Some(span) = walk.clamp_to_order(new.span).filter(|_| !shown.is_empty()) {
        walk.draft.symbol(use_symbol(&shown, local, new.signature, span, new.name_span, new.reexport), 0);
    }
    walk.draft.import(import);
}

fn use_symbol<'a>(
    name: &'a str,
    segment: &'a str,
    signature: String,
    span: Span,
    name_span: Span,
    is_exported: bool,
) -> NewSymbol<'a> {
    NewSymbol {
        kind: SymbolKind::Use,
        name,
        segment,
        separator: ".",
        impl_trait: None,
        signature,
        visibility_text: is_exported.then(|| "export".to_owned()),
        visibility: Some(if is_exported { Visibility::Public } else { Visibility::Private }),
        span,
        outer_start: span.start,
        name_span,
        attributes: &[],
        doc: None,
        annotation: None,
        value: None,
        extras: SymbolExtras::default(),
        is_test: false,
    }
}

/// Handles `import a = B.C`: another name for something in a namespace.
pub(super) fn alias(walk: &mut Walk<'_, '_>, at: usize) {
    let tree = walk.tree;
    let is_name = |&part: &usize| matches!(tree.kind(part), k::IDENTIFIER | k::NESTED_IDENTIFIER);
    let mut parts = tree.children(at).filter(is_name);
    let (Some(local), Some(target)) = (parts.next(), parts.next()) else {
        return;
    };
    walk.roles.mark(Some(local), Role::Declares);
    let statement = walk.statement(at);
    let Some(span) = walk.clamp_to_order(tree.node(statement).span()) else {
        return;
    };
    let segment = walk.slice(local);
    let visibility = walk.visibility(statement, segment);
    let new = NewSymbol {
        kind: SymbolKind::Use,
        name: walk.slice(target),
        segment,
        separator: ".",
        impl_trait: None,
        signature: text::signature(walk.slice(statement).trim_end_matches(';')),
        visibility_text: visibility.0.map(str::to_owned),
        visibility: Some(visibility.1),
        span,
        outer_start: span.start,
        name_span: tree.node(local).span(),
        attributes: &[],
        doc: None,
        annotation: None,
        value: Some(tree.node(target).span().into()),
        extras: SymbolExtras::default(),
        is_test: false,
    };
    walk.draft.symbol(new, 0);
}
