//! Packages and imports.

use codecompass_model::{Import, ImportForm, Span, SymbolKind, Visibility};

use crate::draft::{NewSymbol, SymbolExtras};
use crate::spec::{Definition, Walk};
use crate::text;

/// Maximum number of preceding clauses that count.
const MAX_CLAUSES: usize = 16;

/// `package a.b`: together with the clauses before it, the prefix of all qualified names. A clause with a body is a
/// symbol.
pub(super) fn package(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    if walk.child(at, "body").is_some() {
        let end = walk.tree.next(at);
        walk.define(
            at,
            Definition { body: walk.child(at, "body"), end, ..Definition::new(SymbolKind::Namespace, name) },
        );
        return at + 1;
    }
    let is_clause = |one: &usize| walk.kind(*one) == "package_clause" && walk.child(*one, "body").is_none();
    let all: Vec<usize> =
        walk.items(walk.parent(at)).take(MAX_CLAUSES).filter(|one| *one <= at && is_clause(one)).collect();
    let names = all.iter().filter_map(|&one| walk.child(one, "name"));
    let names: Vec<String> = names.map(|name| walk.text(name).split_whitespace().collect()).collect();
    walk.draft.set_prefix(names.join("."));
    walk.tree.next(at)
}

/// `export a.b`: the resolver ignores it.
pub(super) fn export(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    walk.tree.next(at)
}

/// One imported name, by its offset in the text of the clause.
struct ImportSelector<'t> {
    name: &'t str,
    alias: Option<&'t str>,
    at: usize,
    alias_at: usize,
}

/// `import a.b.C`, `import a.b.{C, D => E, _}`, `import a.b.*`, several with commas.
pub(super) fn import(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let next = walk.tree.next(at);
    let start = walk.tree.node(at).start as usize;
    let whole = walk.text(at);
    let Some(rest) = whole.strip_prefix("import") else { return next };
    let mut from = whole.len() - rest.len();
    for part in clauses(rest) {
        clause(walk, at, part, start + from);
        from += part.len() + 1;
    }
    next
}

/// Returns the clauses, split at commas outside braces.
fn clauses(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut all) = (0, 0, Vec::new());
    for (at, sign) in text.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    all.push(&text[from..]);
    all
}

fn clause(walk: &mut Walk<'_, '_>, node: usize, part: &str, start: usize) {
    let (path, selectors) = match part.split_once('{') {
        Some((path, selectors)) => (path, selectors.trim_end().trim_end_matches('}')),
        None => {
            // A last name with `as` may have no braces.
            let end = part.find(" as ").unwrap_or(part.len());
            let cut = part[..end].rfind('.').map_or(0, |dot| dot + 1);
            part.split_at(cut)
        }
    };
    let module: String = path.split_whitespace().collect();
    let module = module.trim_end_matches('.').trim_start_matches("_root_.").to_owned();
    let first = start + part.len() - part[path.len()..].len() + usize::from(part[path.len()..].starts_with('{'));
    let mut from = first;
    for one in selectors.split(',') {
        let found = selected(one, from);
        from += one.len() + 1;
        if let Some(found) = found {
            enter(walk, node, &module, &found);
        }
    }
}

fn selected(text: &str, at: usize) -> Option<ImportSelector<'_>> {
    let (name, alias) = match text.split_once("=>").or_else(|| text.split_once(" as ")) {
        Some((name, alias)) => (name, Some(alias)),
        None => (text, None),
    };
    let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize + part.len() - part.trim_start().len();
    let (name_at, alias_at) = (at + offset(name), alias.map_or(0, |alias| at + offset(alias)));
    let name = name.trim();
    let is_one_word = !name.is_empty() && !name.contains(char::is_whitespace);
    is_one_word.then_some(ImportSelector { name, alias: alias.map(str::trim), at: name_at, alias_at })
}

fn enter(walk: &mut Walk<'_, '_>, node: usize, module: &str, found: &ImportSelector<'_>) {
    let glob = matches!(found.name, "_" | "*");
    if found.alias == Some("_") || found.name == "given" {
        return;
    }
    let name = found.alias.unwrap_or(found.name);
    let (start, word) = if found.alias.is_some() { (found.alias_at, name) } else { (found.at, found.name) };
    let name_span = Span { start: start as u32, end: (start + if glob { 0 } else { word.len() }) as u32 };
    let whole = walk.tree.node(node).span();
    let shown = if glob { module } else { name };
    let symbol = walk.draft.enclosing_index();
    walk.draft.symbol(
        NewSymbol {
            kind: SymbolKind::Use,
            name: shown,
            segment: if glob { "*" } else { name },
            separator: ".",
            impl_trait: None,
            signature: text::signature(walk.text(node)),
            visibility_text: None,
            visibility: Some(Visibility::Private),
            span: whole,
            outer_start: whole.start,
            name_span,
            attributes: &[],
            doc: None,
            annotation: None,
            value: None,
            extras: SymbolExtras::default(),
            is_test: false,
        },
        0,
    );
    let line = walk.draft.line(name_span.start);
    walk.draft.import(Import {
        module: module.to_owned(),
        name: (!glob).then(|| found.name.to_owned()),
        alias: found.alias.map(str::to_owned),
        glob,
        reexport: false,
        form: ImportForm::Static,
        line,
        symbol,
    });
}
