//! Modules that a call loads: `require('x')`, `import('x')`.

use codecompass_model::{Import, ImportForm};

use super::imports::{ImportedName, MAX_PATH, add};
use super::kinds::{field as f, kind as k};
use super::scopes::{PatternNames, PatternStep};
use super::variables::{unquoted, whole};
use super::walk::Walk;
use crate::roles::Role;
use crate::text;
use crate::tree::OTHER;

/// Adds the names that a declarator gets from `require('x')` or `await import('x')`. Returns whether it is such a load.
pub(super) fn loaded(walk: &mut Walk<'_, '_>, at: usize, pattern: usize, value: usize) -> bool {
    let Some(load) = load(walk, value) else {
        return false;
    };
    let tree = walk.tree;
    let whole = whole(walk, at);
    let span = tree.node(whole).span();
    let keywords = if whole == at { walk.keywords(at) } else { "" };
    let signature = text::signature(&format!("{keywords} {}", walk.slice(whole).trim_end_matches(';')));
    walk.roles.mark(Some(load.call), Role::Declares);
    let mut names = PatternNames::new(pattern);
    while let Some((name_at, step)) = names.next(tree, walk.draft.text) {
        walk.roles.mark(Some(name_at), Role::Declares);
        let name = match step {
            PatternStep::Whole => load.member,
            PatternStep::Field(key) => Some(walk.draft.slice(key)),
            PatternStep::Index(_) | PatternStep::Inside => continue,
        };
        let local = walk.slice(name_at);
        let reexport = walk.tree.kind(whole) == k::EXPORT || walk.exported.contains_key(local);
        add(
            walk,
            ImportedName {
                module: load.module,
                name,
                local: Some(local),
                glob: false,
                form: load.form,
                span,
                name_span: tree.node(name_at).span(),
                signature: signature.clone(),
                reexport,
            },
        );
    }
    true
}

/// A call that loads a module.
struct Load<'t> {
    call: usize,
    module: &'t str,
    /// The accessed member of the module.
    member: Option<&'t str>,
    form: ImportForm,
}

/// Handles `module.exports = require('x')`, which re-exports the loaded module as a whole.
pub(super) fn reexport_loaded(walk: &mut Walk<'_, '_>, value: usize) {
    let Some(load) = load(walk, value) else {
        return;
    };
    walk.roles.mark(Some(load.call), Role::Declares);
    walk.draft.import(Import {
        module: text::truncate(load.module, MAX_PATH).to_owned(),
        name: load.member.map(str::to_owned),
        alias: Some("export=".to_owned()),
        glob: false,
        reexport: true,
        form: load.form,
        line: walk.draft.line(walk.tree.node(load.call).start),
        symbol: walk.draft.enclosing_index(),
    });
}

/// Returns whether a value is a loaded module.
pub(super) fn is_loaded(walk: &Walk<'_, '_>, value: usize) -> bool {
    load(walk, value).is_some()
}

fn load<'t>(walk: &Walk<'_, 't>, value: usize) -> Option<Load<'t>> {
    let tree = walk.tree;
    let mut at = walk.unwrap(value);
    let mut member = None;
    if tree.kind(at) == k::MEMBER {
        member = Some(walk.slice(tree.child(at, f::PROPERTY)?));
        at = walk.unwrap(tree.child(at, f::OBJECT)?);
    }
    let awaited = tree.kind(at) == k::AWAIT;
    if awaited {
        at = walk.unwrap(tree.children(at).next()?);
    }
    let callee = (tree.kind(at) == k::CALL).then(|| tree.child(at, f::FUNCTION))??;
    let form = match tree.kind(callee) {
        k::IMPORT if awaited => ImportForm::Dynamic,
        k::IDENTIFIER if walk.slice(callee) == "require" => ImportForm::Require,
        _ => return None,
    };
    Some(Load { call: at, module: argument(walk, at)?, member, form })
}

/// Returns the module in `require('x')` or `import('x')`.
fn argument<'t>(walk: &Walk<'_, 't>, call: usize) -> Option<&'t str> {
    let arguments = walk.tree.child(call, f::ARGUMENTS)?;
    let first = walk.tree.children(arguments).find(|&child| walk.tree.kind(child) != k::COMMENT)?;
    let is_template = walk.slice(first).starts_with('`') && !walk.slice(first).contains("${");
    (walk.tree.kind(first) == k::STRING || is_template).then(|| unquoted(walk, first))
}

/// Handles `import('x')` without a local name for the module: an expression, or a type.
pub(super) fn dynamic(walk: &mut Walk<'_, '_>, at: usize) {
    if !is_type(walk, at) {
        return import_unnamed(walk, at, None, ImportForm::Dynamic);
    }
    let parent = walk.tree.node(at).parent as usize;
    let member = (walk.tree.kind(parent) == k::MEMBER).then(|| walk.tree.child(parent, f::PROPERTY)).flatten();
    import_unnamed(walk, at, member.map(|member| walk.slice(member)), ImportForm::TypeOnly);
}

/// Returns whether a call is in a type: `typeof import('x')`, `import('x').A`.
fn is_type(walk: &Walk<'_, '_>, call: usize) -> bool {
    let mut at = call;
    for _ in 0..16 {
        at = walk.tree.node(at).parent as usize;
        match walk.tree.kind(at) {
            OTHER | k::MEMBER => {}
            kind => {
                return matches!(
                    kind,
                    k::TYPE_ANNOTATION
                        | k::TYPE_ALIAS
                        | k::UNION_TYPE
                        | k::INTERSECTION_TYPE
                        | k::PARENTHESIZED_TYPE
                        | k::READONLY_TYPE
                        | k::GENERIC_TYPE
                        | k::CONDITIONAL_TYPE
                        | k::FUNCTION_TYPE
                );
            }
        }
    }
    false
}

/// Handles a call of `require` without a local name for the module.
pub(super) fn require(walk: &mut Walk<'_, '_>, at: usize, callee: usize) {
    if walk.slice(callee) == "require" && !walk.draft.is_local(walk.tree.node(callee).span()) {
        import_unnamed(walk, at, None, ImportForm::Require);
    }
}

fn import_unnamed(walk: &mut Walk<'_, '_>, at: usize, name: Option<&str>, form: ImportForm) {
    let Some(module) = argument(walk, at).filter(|_| walk.roles.get(at) == Role::Unset) else {
        return;
    };
    walk.draft.import(Import {
        module: text::truncate(module, MAX_PATH).to_owned(),
        name: name.map(str::to_owned),
        alias: None,
        glob: false,
        reexport: false,
        form,
        line: walk.draft.line(walk.tree.node(at).start),
        symbol: walk.draft.enclosing_index(),
    });
}
