//! `alias`, `import`, `require` and `use`.

use codecompass_model::{Import, ImportForm};

use super::definitions::first_argument;
use super::modules::{self, key_span};
use crate::spec::Walk;

/// One of these calls: adds its imports to the enclosing block.
pub(super) fn import(walk: &mut Walk<'_, '_>, at: usize, word: &str) {
    let Some(list) = walk.child_of(at, "arguments") else { return };
    let mut items = walk.items(list);
    let (Some(first), options) = (items.next(), items.next()) else { return };
    drop(items);
    // `import unquote(__MODULE__)`, in a macro that runs where the module is used.
    let is_quoted = walk.child(first, "target").is_some_and(|target| walk.text(target) == "unquote");
    let first = first_argument(walk, first).filter(|_| is_quoted).unwrap_or(first);
    let end = walk.tree.next(walk.parent(at));
    for name in names(walk, first) {
        let Some(module) = modules::module_named(walk, name) else { continue };
        let given = options.and_then(|options| option(walk, options, "as"));
        let short = match given.map(|given| walk.text(given)) {
            Some(given) => given.to_owned(),
            None => module.rsplit('.').next().unwrap_or(&module).to_owned(),
        };
        let gives_name = word == "alias" || given.is_some();
        let only = options.filter(|_| word == "import").and_then(|options| option(walk, options, "only"));
        if let Some(given) = given {
            // This is the declared alias, not a reference.
            walk.roles.mark(Some(given), crate::roles::Role::Declares);
        }
        let form = match word {
            "alias" => ImportForm::TypeOnly,
            "use" => ImportForm::Dynamic,
            "require" => ImportForm::Require,
            _ => ImportForm::Static,
        };
        // An alias imports one module under a prefix, as other languages import a type of a package.
        let (before, last) = match word {
            "alias" => {
                module.rsplit_once('.').map_or(("", Some(module.as_str())), |(before, last)| (before, Some(last)))
            }
            // `use Web, :controller`: the macro calls that function of the module.
            "use" => {
                let part = options.filter(|&part| walk.kind(part) == "atom").map(|part| key_span(walk, part));
                (module.as_str(), part.map(|part| walk.draft.slice(part)))
            }
            _ => (module.as_str(), None),
        };
        let new = Import {
            module: before.to_owned(),
            name: last.map(str::to_owned),
            alias: Some(short.clone()).filter(|short| gives_name && last != Some(short)),
            glob: matches!(word, "import" | "use"),
            reexport: false,
            form,
            line: walk.draft.line(walk.tree.node(name).start),
            symbol: walk.draft.enclosing_index(),
        };
        match only.map(|only| keys(walk, only)).filter(|keys| !keys.is_empty()) {
            Some(keys) => keys.into_iter().for_each(|key| {
                let line = walk.draft.line(walk.tree.node(key).start);
                let name = Some(walk.draft.slice(key_span(walk, key)).to_owned());
                // An imported function is a member of the module, like a named member import of a class.
                walk.draft.import(Import { name, glob: false, line, ..new.clone() });
            }),
            None => walk.draft.import(new),
        }
        if gives_name {
            walk.note(end, &short, &module);
        }
    }
}

/// Returns the named modules: one, or several after a common prefix.
fn names(walk: &Walk<'_, '_>, first: usize) -> Vec<usize> {
    let several = walk.child(first, "right").filter(|&right| walk.kind(right) == "tuple");
    match several {
        Some(list) => walk.items(list).filter(|&item| walk.kind(item) == "alias").collect(),
        None => vec![first],
    }
}

/// Returns the value of an option: `as: Name`.
pub(super) fn option(walk: &Walk<'_, '_>, options: usize, name: &str) -> Option<usize> {
    let pair = walk
        .items(options)
        .find(|&pair| walk.child(pair, "key").is_some_and(|key| walk.draft.slice(key_span(walk, key)) == name))?;
    walk.child(pair, "value")
}

/// Returns the keys of `[f: 1, g: 2]`.
fn keys(walk: &Walk<'_, '_>, list: usize) -> Vec<usize> {
    let Some(pairs) = walk.child_of(list, "keywords") else { return Vec::new() };
    walk.items(pairs).filter_map(|pair| walk.child(pair, "key")).collect()
}
