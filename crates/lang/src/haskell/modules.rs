//! Modules: exports and imports of a file, and the file of a module name.

use codecompass_model::{Expr, ExprId, Import, ImportForm, RefShape, SymbolKind, VersionId, Visibility, World};

use super::patterns::head;
use crate::draft::{NewSymbol, SymbolExtras};
use crate::roles::Role;
use crate::rules::modules::HIDDEN_ALIAS;
use crate::spec::Walk;
use crate::text;

/// A key stored with the exports when the module has an export list.
const HAS_EXPORT_LIST: &str = "";

/// Reads the module's name and its exports, before anything else.
pub(super) fn read_header(walk: &mut Walk<'_, '_>) {
    let header = (walk.tree.len() > 0).then(|| walk.child_of(0, "header")).flatten();
    let Some(header) = header else { return };
    let Some(module) = walk.child(header, "module") else { return };
    let own = module_name(walk, module);
    walk.draft.set_prefix(own.clone());
    let Some(list) = walk.child_of(header, "exports") else { return };
    walk.hook_words.insert(HAS_EXPORT_LIST, true);
    let exports: Vec<usize> = walk.items(list).collect();
    for export in exports {
        if walk.kind(export) == "module_export" {
            let exported = walk.child(export, "module").map_or_else(String::new, |module| module_name(walk, module));
            if exported == own {
                // The module exports everything that it declares.
                walk.hook_words.remove(HAS_EXPORT_LIST);
            }
            walk.hook_words.insert(walk.text(export), true);
            continue;
        }
        let children = walk.child_of(export, "children");
        let named = walk.items(export).find(|&item| Some(item) != children).and_then(|item| head(walk, item));
        let Some(named) = named else { continue };
        let parts: Vec<usize> =
            children.map_or_else(Vec::new, |list| walk.items(list).filter_map(|part| head(walk, part)).collect());
        let has_all = children.is_some_and(|list| walk.text(list).contains(".."));
        *walk.hook_words.entry(walk.text(named)).or_default() |= has_all;
        for part in parts {
            walk.hook_words.entry(walk.text(part)).or_default();
        }
    }
}

/// Whether a name is exported, by itself or with the type that contains it.
pub(super) fn visibility(walk: &Walk<'_, '_>, name: &str, part_of: Option<&str>) -> Option<Visibility> {
    let is_with = part_of.is_some_and(|of| walk.hook_words.get(of) == Some(&true));
    let is_seen = !walk.hook_words.contains_key(HAS_EXPORT_LIST) || walk.hook_words.contains_key(name) || is_with;
    Some(if is_seen { Visibility::Public } else { Visibility::Private })
}

/// `import A.B (c)`, `import qualified A.B as C`, `import A.B hiding (c)`: a symbol, the import itself, and one import
/// for each name.
pub(super) fn import(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(module_at) = walk.child(at, "module") else { return at + 1 };
    let module = module_name(walk, module_at);
    let alias = walk.child(at, "alias").map(|alias| module_name(walk, alias));
    let (module, alias) = (module.as_str(), alias.as_deref());
    let list = walk.child(at, "names");
    let node = walk.tree.node(at);
    let before = list.map_or(node.end, |list| walk.tree.node(list).start);
    let words = walk.draft.text.get(node.start as usize..before as usize).unwrap_or("");
    let has = |word: &str| words.split_whitespace().any(|one| one == word);
    let (is_qualified, is_hiding) = (has("qualified"), words.trim_end().ends_with("hiding"));
    let is_whole = walk.text(module_at) == module;
    let used = is_whole.then(|| NewSymbol {
        kind: SymbolKind::Use,
        name: module,
        segment: module,
        separator: ".",
        impl_trait: None,
        signature: text::signature(walk.text(at)),
        visibility_text: None,
        visibility: Some(Visibility::Private),
        span: node.span(),
        outer_start: node.start,
        name_span: walk.tree.node(module_at).span(),
        attributes: &[],
        doc: None,
        annotation: None,
        value: None,
        extras: SymbolExtras::default(),
        is_test: false,
    });
    if let Some(used) = used {
        walk.draft.symbol(used, 0);
    }
    let line = walk.draft.line(node.start);
    let reexport = walk.hook_words.contains_key(format!("module {}", alias.unwrap_or(module)).as_str());
    let entry = |name: Option<&str>, alias: Option<&str>, glob: bool| Import {
        module: module.to_owned(),
        name: name.map(str::to_owned),
        alias: alias.map(str::to_owned),
        glob,
        reexport: reexport && alias != Some(HIDDEN_ALIAS),
        form: ImportForm::Static,
        line,
        symbol: None,
    };
    walk.draft.import(entry(None, alias, !is_qualified && (list.is_none() || is_hiding)));
    let names: Vec<usize> = list.map_or_else(Vec::new, |list| walk.items(list).collect());
    for item in names {
        let children = walk.child_of(item, "children");
        let named = walk.items(item).find(|&inner| Some(inner) != children && walk.kind(inner) != "namespace");
        let Some(name_at) = named.and_then(|named| head(walk, named)) else { continue };
        let name = walk.text(name_at);
        let hidden = is_hiding.then_some(HIDDEN_ALIAS);
        let has_all = children.is_some_and(|list| walk.text(list).contains(".."));
        if !is_qualified {
            walk.draft.import(entry(Some(name), hidden, has_all));
        }
        walk.roles.mark(Some(name_at), Role::Refers(RefShape::Import));
        walk.set_qualifier(name_at, module_at);
        let of = walk.lower(module_at);
        let word = walk.draft.word(name);
        let of = walk.draft.expr(Expr::Member { of, name: word });
        walk.set_lowered(name_at, of);
        let parts: Vec<usize> =
            children.map_or_else(Vec::new, |list| walk.items(list).filter_map(|part| head(walk, part)).collect());
        for part in parts {
            if !is_qualified {
                walk.draft.import(entry(Some(walk.text(part)), hidden, false));
            }
            walk.roles.mark(Some(part), Role::Refers(RefShape::Import));
            walk.set_qualifier(part, name_at);
        }
    }
    at + 1
}

/// `A.f`: the name after a module name.
pub(super) fn qualified(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let name = walk.child(at, "id").and_then(|id| head(walk, id));
    if let (Some(name), Some(module)) = (name, walk.child(at, "module")) {
        walk.set_qualifier(name, module);
    }
    at + 1
}

/// A module name: its last word is the reference to the module.
pub(super) fn name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let ids: Vec<usize> = walk.items(at).filter(|&item| walk.kind(item) == "module_id").collect();
    let Some((&last, path)) = ids.split_last() else { return at + 1 };
    for &id in path {
        walk.roles.mark(Some(id), Role::Declares);
        walk.draft.mark_label(walk.tree.node(id).span());
    }
    let of = module(walk, at);
    let of = walk.draft.expr(Expr::Cast(of));
    walk.set_lowered(last, of);
    walk.set_qualifier(last, last);
    at + 1
}

/// Returns a module name without the extra text that broken code may have between its words.
fn module_name(walk: &Walk<'_, '_>, at: usize) -> String {
    let ids = walk.items(at).filter(|&item| walk.kind(item) == "module_id").map(|id| walk.text(id));
    ids.collect::<Vec<_>>().join(".")
}

/// Lowers a module name.
pub(super) fn module(walk: &mut Walk<'_, '_>, at: usize) -> ExprId {
    let name = module_name(walk, at);
    let name = walk.draft.word(&name);
    walk.draft.expr(Expr::Module(name))
}

/// Returns the file of a module: its path has the module as a suffix and shares the longest prefix with the importing
/// file's path.
pub(super) fn resolve_module(world: &dyn World, from: &str, module: &str) -> Vec<VersionId> {
    let whole = format!("{}.hs", module.replace('.', "/"));
    let name = whole.rsplit('/').next().unwrap_or(&whole);
    let mut best: Option<(usize, String, VersionId)> = None;
    for &id in world.files_named(name).iter() {
        let Some(file) = world.file(id) else { continue };
        let ends = file.path == whole || file.path.strip_suffix(&whole).is_some_and(|rest| rest.ends_with('/'));
        let common = file.path.bytes().zip(from.bytes()).take_while(|(a, b)| a == b).count();
        let is_better = best.as_ref().is_none_or(|(most, first, _)| {
            common > *most || common == *most && (file.path.len(), &file.path) < (first.len(), first)
        });
        if ends && is_better {
            best = Some((common, file.path.clone(), id));
        }
    }
    best.map(|(.., id)| id).into_iter().collect()
}
