//! Variables of the shell: which assignments create a symbol, which a local binding, and which only set a value.
//!
//! A variable belongs to the whole shell unless a function declares it. Many variables are assigned in a function
//! without a declaration and are used nowhere else. By convention, shared variables have upper-case names.

use codecompass_model::{BindingKind, Expr, Flags, LexicalTarget, Span, SymbolKind, ValuePart};

use super::hooks::visibility_by_convention;
use crate::draft::NewBinding;
use crate::roles::Role;
use crate::spec::{Definition, Walk};

/// The properties of a variable's declaration.
struct DeclarationInfo {
    /// Local to its function, if it is in one.
    is_local: bool,
    is_constant: bool,
    /// The declaration creates the variable even without a value.
    is_new: bool,
    /// The name is a function.
    is_function: bool,
}

/// Reads the command and the options of a declaration, such as `declare -r`.
fn read_declaration(walk: &Walk<'_, '_>, declaration: usize) -> DeclarationInfo {
    let text = walk.text(declaration);
    let word = text.split_whitespace().next().unwrap_or("");
    let options = text.split_whitespace().skip(1).take(8).take_while(|word| word.starts_with(['-', '+']));
    let has = |option: char| options.clone().any(|word| word.starts_with('-') && word.contains(option));
    let declares = matches!(word, "local" | "declare" | "typeset");
    DeclarationInfo {
        is_local: declares && !has('g'),
        is_constant: word == "readonly" || declares && has('r'),
        is_new: declares,
        is_function: has('f') || has('F'),
    }
}

/// `x=1`, alone or in a declaration.
pub(super) fn assignment(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    let Some(name) = walk.child(at, "name").filter(|&name| walk.kind(name) == "variable_name") else { return at + 1 };
    match walk.kind(around) {
        "declaration_command" => declare(walk, at, name, around),
        // The assignment affects only this command, unless the command is on another line.
        "command" => {
            let next = walk.tree.node(walk.tree.next(at).min(walk.tree.len() - 1)).start;
            let between = Span { start: walk.tree.node(at).end, end: next };
            if between.start < between.end && walk.draft.slice(between).contains('\n') {
                assign(walk, at, at, name, false);
            }
        }
        _ => assign(walk, at, at, name, false),
    }
    at + 1
}

/// A variable reference, or a declaration without a value.
pub(super) fn name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    let around = walk.parent(at);
    if walk.text(at).starts_with(|c: char| c.is_ascii_digit()) {
        walk.roles.mark(Some(at), Role::Declares);
    } else if walk.kind(around) == "declaration_command" && walk.roles.get(at) == Role::Unset {
        let how = read_declaration(walk, around);
        if how.is_function {
            // The function that the name refers to is not resolved here.
            walk.roles.mark(Some(at), Role::Declares);
        } else if how.is_new {
            declare(walk, at, at, around);
        }
    }
    at + 1
}

/// A name in a declaration, with or without a value.
fn declare(walk: &mut Walk<'_, '_>, at: usize, name: usize, declaration: usize) {
    let how = read_declaration(walk, declaration);
    if how.is_local && walk.is_local(at) {
        bind(walk, name, walk.tree.next(at));
        return;
    }
    let is_name = |item: &usize| matches!(walk.kind(*item), "variable_assignment" | "variable_name");
    let mut names = walk.items(declaration).filter(is_name);
    // A declaration of one name is the whole definition; of several, each has its own part.
    let is_only = names.next() == Some(at) && names.next().is_none();
    drop(names);
    let own = if is_only { declaration } else { at };
    assign(walk, own, at, name, how.is_constant);
}

fn bind(walk: &mut Walk<'_, '_>, name: usize, from: usize) -> Option<u32> {
    walk.bind_as(name, BindingKind::Local, None, ValuePart::Whole, from)
}

/// Returns the lexical target of a variable name here.
fn lexical_target(walk: &mut Walk<'_, '_>, name: Span, at: usize) -> LexicalTarget {
    let name = walk.draft.slice(name);
    let expr = walk.draft.name_expr(name, at);
    if let Expr::Name { seen, .. } = walk.draft.expr_at(expr) { *seen } else { LexicalTarget::NotLocal }
}

/// An assignment to a variable; the first one creates it.
fn assign(walk: &mut Walk<'_, '_>, declared: usize, at: usize, name: usize, is_constant: bool) {
    let span = walk.tree.node(name).span();
    let text = walk.text(name);
    if lexical_target(walk, span, at) != LexicalTarget::NotLocal {
        return;
    }
    let is_shared = !text.contains(|c: char| c.is_lowercase());
    if walk.is_local(at) {
        if !is_shared {
            bind(walk, name, walk.tree.next(at));
        }
        return;
    }
    let kind = if is_constant { SymbolKind::Const } else { SymbolKind::Var };
    let flags = Flags::FILE_ONLY.when(!is_shared);
    let value = walk.child(at, "value").filter(|_| name != at);
    let symbol = walk.define(
        declared,
        Definition { value, flags, visibility: visibility_by_convention(text), ..Definition::new(kind, name) },
    );
    if let Some(symbol) = symbol {
        walk.draft.declare(span, symbol, at);
    }
}

/// `for x in …; do`.
pub(super) fn loop_name(walk: &mut Walk<'_, '_>, at: usize) -> usize {
    if let Some(name) = walk.child(at, "variable") {
        let span = walk.tree.node(name).span();
        if lexical_target(walk, span, at) == LexicalTarget::NotLocal {
            bind(walk, name, at);
        }
    }
    at + 1
}

/// The arguments of a builtin that are variables which get a value.
pub(super) fn read(walk: &mut Walk<'_, '_>, builtin: &str, arguments: &[usize]) {
    let mut is_value = false;
    for (n, &argument) in arguments.iter().enumerate() {
        let text = walk.text(argument);
        let was_value = std::mem::replace(&mut is_value, false);
        if text.starts_with('-') {
            // The last letter of `-rp` takes the next word as its value, if any of the letters does.
            is_value = text.ends_with(|c: char| "dinNptuOsc".contains(c) && !(c == 's' && builtin == "read"))
                && !(builtin == "mapfile" && text.ends_with('t'));
            continue;
        }
        let is_name = text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_')
            && walk.kind(argument) == "word";
        let is_one = is_name && !was_value && (builtin != "getopts" || n == 1);
        let span = walk.tree.node(argument).span();
        if is_one && lexical_target(walk, span, argument) == LexicalTarget::NotLocal {
            let new = NewBinding {
                name: span,
                kind: BindingKind::Local,
                annotation: None,
                value: None,
                part: ValuePart::Whole,
                from: argument,
            };
            walk.draft.bind(new);
        }
    }
}
