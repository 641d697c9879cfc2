//! Names captured in format strings: `println!("{name:?}")`.

use codecompass_model::{RefShape, Span};

use super::bindings::{self, MAX_ELEMENTS};
use super::kinds::{field as f, kind as k};
use super::walk::{Walk, name_node};

/// The macros that format text, and the position of the format string among their arguments.
const FORMATTING: &[(&str, usize)] = &[
    ("anyhow", 0),
    ("assert", 1),
    ("assert_eq", 2),
    ("assert_ne", 2),
    ("bail", 0),
    ("debug", 0),
    ("debug_assert", 1),
    ("debug_assert_eq", 2),
    ("debug_assert_ne", 2),
    ("ensure", 1),
    ("eprint", 0),
    ("eprintln", 0),
    ("error", 0),
    ("format", 0),
    ("format_args", 0),
    ("info", 0),
    ("panic", 0),
    ("print", 0),
    ("println", 0),
    ("todo", 0),
    ("trace", 0),
    ("unimplemented", 0),
    ("unreachable", 0),
    ("warn", 0),
    ("write", 1),
    ("writeln", 1),
];

/// Adds references for the names that a string captures if it is an argument of a macro call. If the macro is not known
/// to format, only the names of local variables count.
pub(super) fn captures(walk: &mut Walk<'_, '_>, at: usize) {
    let text = walk.draft.slice(walk.tree.node(at).span());
    if !text.contains('{') {
        return;
    }
    let Some(call) = enclosing_macro_call(walk, at) else { return };
    let known = is_format(walk, call, at);
    let named = named_arguments(walk, at);
    let start = walk.tree.node(at).start;
    for (from, to) in braces(text, text.starts_with('"')) {
        let name = Span { start: start + from as u32, end: start + to as u32 };
        let is_argument = named.binary_search(&walk.draft.slice(name)).is_ok();
        if !is_argument && (known || walk.draft.is_local(name)) {
            walk.draft.reference(name, RefShape::Value, None);
        }
    }
}

/// Returns the macro call that has a node as an argument; the arguments may be tokens, or code in brackets.
fn enclosing_macro_call(walk: &Walk<'_, '_>, at: usize) -> Option<usize> {
    let above = |at: usize| walk.tree.node(at).parent as usize;
    let tokens = if walk.tree.kind(above(at)) == k::TOKEN_TREE { above(at) } else { above(above(at)) };
    let call = above(tokens);
    let is_call = walk.tree.kind(tokens) == k::TOKEN_TREE && walk.tree.kind(call) == k::MACRO_CALL;
    is_call.then_some(call)
}

/// Returns whether this argument of the call is certainly a format string.
fn is_format(walk: &Walk<'_, '_>, call: usize, at: usize) -> bool {
    let name = walk.tree.child(call, f::MACRO).and_then(|path| name_node(walk.tree, path));
    let word = name.map_or("", |name| walk.draft.slice(walk.tree.node(name).span()));
    let Ok(found) = FORMATTING.binary_search_by_key(&word, |(name, _)| name) else {
        return false;
    };
    let list = walk.tree.node(at).parent as usize;
    let strings = |&child: &usize| matches!(walk.tree.kind(child), k::STRING | k::RAW_STRING);
    let position = bindings::elements(walk, list, walk.tree.node(list).start)
        .take(MAX_ELEMENTS)
        .find_map(|(child, position)| (child == at).then_some(position).flatten());
    let wanted = FORMATTING[found].1;
    position == Some(wanted as u32)
        || wanted == 0 && walk.tree.children(list).take(MAX_ELEMENTS).find(strings) == Some(at)
}

/// Returns the names of the sibling arguments: `name = value`.
fn named_arguments<'t>(walk: &Walk<'_, 't>, at: usize) -> Vec<&'t str> {
    let tree = walk.tree;
    let left = |child: usize| (tree.kind(child) == k::ASSIGNMENT).then(|| tree.child(child, f::LEFT)).flatten();
    let beside = tree.children(tree.node(at).parent as usize).take(MAX_ELEMENTS);
    let mut names: Vec<_> = beside.filter_map(left).map(|left| walk.draft.slice(tree.node(left).span())).collect();
    names.sort_unstable();
    names
}

/// Returns the ranges of the names in the braces of a format string. `{{` is a literal brace, `\u{…}` a character.
fn braces(text: &str, escapes: bool) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut names = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += if bytes[at..].starts_with(b"\\u{") { 3 } else { 2 },
            b'{' if bytes.get(at + 1) == Some(&b'{') => at += 2,
            b'{' => {
                let from = at + 1;
                at = from + name_length(&text[from..]);
                let closed = matches!(bytes.get(at), Some(b'}' | b':'));
                if closed && at > from && !bytes[from].is_ascii_digit() {
                    names.push((from, at));
                }
            }
            _ => at += 1,
        }
    }
    names
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_captured_names() {
        let cases: [(&str, &[&str]); 8] = [
            ("\"{name}\"", &["name"]),
            ("\"{a:?} {b:>8.2} {} {0} {c\"", &["a", "b"]),
            ("\"{{no}} {yes}\"", &["yes"]),
            ("\"\\u{fe} \\\\{x}\"", &["x"]),
            ("r\"\\{x}\"", &["x"]),
            ("\"{é}\"", &["é"]),
            ("\"{ spaced }\"", &[]),
            ("\"{\"", &[]),
        ];
        for (text, names) in cases {
            let found: Vec<_> =
                braces(text, text.starts_with('"')).into_iter().map(|(from, to)| &text[from..to]).collect();
            assert_eq!(found, names, "{text}");
        }
    }

    #[test]
    fn formatting_macros_are_sorted() {
        assert!(FORMATTING.is_sorted());
    }
}
