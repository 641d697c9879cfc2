//! Functions and commands of the shell, and the builtins that define, load or call something.

use codecompass_model::{Import, ImportForm, RefShape, Span, SymbolKind, Visibility};

use super::{bats, sources, variables};
use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// Builtins, and a test runner's command, that run the command after them.
const COMMAND_RUNNERS: &[&str] = &["run", "time", "coproc"];

/// `f() { … }`, `function f { … }`, and a Bats test that was rewritten as a function.
pub(super) fn function(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(name) = walk.child(at, "name") else { return at + 1 };
    let test = bats::start(walk, name);
    let body = walk.child(at, "body");
    let end = walk.tree.next(at);
    let kind = if test.is_some() { SymbolKind::Test } else { SymbolKind::Fn };
    let visibility = visibility_by_convention(walk.text(name)).filter(|_| test.is_none());
    let symbol = walk.define(at, Definition { body, visibility, start: test, end, ..Definition::new(kind, name) });
    walk.open_function(at, symbol);
    at + 1
}

/// By convention, a name with a leading underscore is private to its file.
pub(super) fn visibility_by_convention(name: &str) -> Option<Visibility> {
    name.starts_with('_').then_some(Visibility::Private)
}

/// The first word of a command: a call if it is a plain word; some builtins have further effects.
pub(super) fn command(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let Some(word) = walk.child_of(at, "word") else { return at + 1 };
    let name = walk.text(word);
    if is_function_name(name) {
        walk.roles.mark(Some(word), Role::Refers(RefShape::Call));
    }
    let around = walk.parent(at);
    let first = walk.child(around, "argument");
    match name {
        "source" | "." => {
            if let Some(path) = first.and_then(|first| sources::path(walk, first)) {
                import(walk, at, path);
            }
        }
        // The test runner loads helpers from the test's folder and adds the extension.
        "load" if walk.draft.path.ends_with(".bats") => {
            if let Some(path) = first.and_then(|first| sources::path(walk, first)) {
                let ending = if path.ends_with("bash") { "" } else { ".bash" };
                import(walk, at, path + ending);
            }
        }
        "trap" => walk.roles.mark(first, Role::Refers(RefShape::Call)),
        "alias" => {
            let all: Vec<usize> = walk.children_in(around, "argument").collect();
            all.into_iter().for_each(|argument| alias(walk, argument));
        }
        "read" | "mapfile" | "readarray" | "getopts" => {
            let all: Vec<usize> = walk.children_in(around, "argument").collect();
            variables::read(walk, name, &all);
        }
        _ if COMMAND_RUNNERS.contains(&name) => {
            let run = walk.children_in(around, "argument").find(|&argument| !walk.text(argument).starts_with('-'));
            let run = run.filter(|&run| walk.kind(run) == "word");
            walk.roles.mark(run, Role::Refers(RefShape::Call));
        }
        _ => {}
    }
    at + 1
}

/// Whether a word can be the name of a function: not a path, an option or an expansion.
fn is_function_name(word: &str) -> bool {
    word.contains(|c: char| c.is_alphanumeric())
        && !word.starts_with('-')
        && !word.contains(['/', '\\', '=', '$', '@', '{', '*'])
}

/// A word is a name only where its context says so.
pub(super) fn word(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Role::Refers(_) = walk.roles.get(at)
        && is_function_name(walk.text(at))
    {
        let name = walk.tree.node(at).span();
        walk.draft.mark_name(name);
        walk.draft.reference_to_function(name);
    }
    at + 1
}

/// A quoted string that a builtin runs: its first command is called.
pub(super) fn quoted(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Role::Refers(_) = walk.roles.get(at) {
        let start = walk.tree.node(at).start;
        let text = walk.text(at).get(1..).unwrap_or("");
        let inner = text.trim_start_matches([' ', '\t']);
        let end = inner.find(|c: char| !c.is_alphanumeric() && !"_-:.".contains(c)).unwrap_or(inner.len());
        let from = start + 1 + (text.len() - inner.len()) as u32;
        if is_function_name(&inner[..end]) && !inner[end..].starts_with(['=', '(']) {
            walk.draft.reference_to_function(Span { start: from, end: from + end as u32 });
        }
    }
    at + 1
}

/// `alias ll='ls -l'`: a name for other words.
fn alias(walk: &mut Walk<'_, '_>, at: usize) {
    let start = walk.tree.node(at).start;
    let text = walk.text(at);
    let Some(end) = text.find('=').filter(|&end| end > 0 && is_function_name(&text[..end])) else { return };
    let named = Some(Span { start, end: start + end as u32 });
    let name = walk.child_of(at, "word").unwrap_or(at);
    walk.define(at, Definition { name_span: named, ..Definition::new(SymbolKind::Macro, name) });
}

/// `source lib.sh`, `. "$here/lib.sh"`.
fn import(walk: &mut Walk<'_, '_>, at: usize, module: String) {
    walk.draft.import(Import {
        module,
        name: None,
        alias: None,
        glob: true,
        reexport: true,
        form: ImportForm::Static,
        line: walk.draft.line(walk.tree.node(at).start),
        symbol: walk.draft.enclosing_index(),
    });
}
