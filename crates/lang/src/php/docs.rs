//! Simple types in PHP doc comments, and names as written in a file.

use codecompass_model::{Expr, ExprId};

use super::hooks::nonlocal_name;
use crate::spec::Walk;

/// Type names without members.
const BASIC_TYPES: &[&str] = &[
    "null",
    "int",
    "integer",
    "string",
    "float",
    "double",
    "bool",
    "boolean",
    "array",
    "mixed",
    "void",
    "callable",
    "iterable",
    "object",
    "resource",
    "false",
    "true",
    "never",
    "scalar",
    "list",
    "positive-int",
    "non-empty-string",
    "class-string",
    "numeric",
];

/// Returns the absolute path, with a leading separator, by the imports and the namespace of the file.
pub(super) fn absolute(walk: &Walk<'_, '_>, path: &str) -> String {
    let path: String = path.split_whitespace().collect();
    if path.starts_with('\\') {
        return path;
    }
    let prefix = walk.draft.prefix();
    let below =
        |rest: &str| if prefix.is_empty() { ["\\", rest].concat() } else { ["\\", prefix, "\\", rest].concat() };
    let Some((first, rest)) = path.split_once('\\') else { return below(&path) };
    if first.eq_ignore_ascii_case("namespace") {
        return below(rest);
    }
    let import =
        walk.draft.imports().iter().find(|import| import.alias.as_deref().or(import.name.as_deref()) == Some(first));
    match import {
        Some(import) => {
            let name = import.name.as_deref().unwrap_or("");
            let whole: Vec<&str> =
                [import.module.as_str(), name, rest].into_iter().filter(|part| !part.is_empty()).collect();
            ["\\", &whole.join("\\")].concat()
        }
        None => below(&path),
    }
}

/// Returns the class that a simple name refers to; `self` is the enclosing class.
pub(super) fn name_of(walk: &mut Walk<'_, '_>, name: &str) -> ExprId {
    match name {
        "self" | "static" | "$this" => {
            let class = walk.draft.enclosing_class_name().map(str::to_owned);
            match class {
                Some(class) => nonlocal_name(walk, &class),
                None => walk.other(),
            }
        }
        _ => nonlocal_name(walk, name),
    }
}

/// Returns the type after a tag of a doc comment; for a parameter, of the tag with the variable's name.
pub(super) fn tagged<'d>(doc: &'d str, tag: &str, variable: Option<&str>) -> Option<&'d str> {
    doc.lines().find_map(|line| {
        let line = line.trim_start_matches(['/', '*', ' ', '\t']);
        let rest = line.strip_prefix(tag)?;
        let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
        let end = end_of_type(rest);
        let (of, behind) = rest.split_at(end);
        let named = behind.trim_start().trim_start_matches("...").strip_prefix('$').unwrap_or("");
        let named = named.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        let is_meant = variable.is_none_or(|variable| named == variable || named.is_empty() && tag == "@var");
        (is_meant && !of.is_empty()).then_some(of)
    })
}

/// Returns the end of a type: the first white space outside brackets.
fn end_of_type(text: &str) -> usize {
    let mut depth = 0_i32;
    for (at, sign) in text.char_indices() {
        match sign {
            '<' | '{' | '(' => depth += 1,
            '>' | '}' | ')' => depth -= 1,
            sign if sign.is_whitespace() && depth <= 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// Lowers a type in a doc comment; `None` when it is not simple.
pub(super) fn type_of(walk: &mut Walk<'_, '_>, text: &str) -> Option<ExprId> {
    let text = text.trim().trim_start_matches('?').trim_end_matches("*/").trim();
    // More bytes than any handwritten type has.
    const MAX_TYPE_BYTES: usize = 120;
    if text.len() > MAX_TYPE_BYTES || text.contains(['{', '(']) {
        return None;
    }
    if let Some(inner) = generic(text) {
        let element = inner.rsplit(',').next().filter(|_| !inner.contains('<'))?;
        let of = type_of(walk, element)?;
        return Some(walk.draft.expr(Expr::List(of)));
    }
    let text = text.split('<').next().unwrap_or(text);
    let mut parts =
        text.split(['|', '&']).map(str::trim).filter(|part| !BASIC_TYPES.contains(&part.to_ascii_lowercase().as_str()));
    let (first, more) = (parts.next()?, parts.next());
    if let Some(of) = first.strip_suffix("[]") {
        let of = if of.ends_with(']') { None } else { type_of(walk, of) }?;
        return Some(walk.draft.expr(Expr::List(of)));
    }
    let is_name =
        |part: &str| part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '\\' | '$')) && !part.is_empty();
    // One of several classes: the actual one is unknown.
    if !is_name(first) || more.is_some() {
        return None;
    }
    Some(if first.contains('\\') { nonlocal_name(walk, &absolute(walk, first)) } else { name_of(walk, first) })
}

/// Returns the text in the brackets of a list type.
fn generic(text: &str) -> Option<&str> {
    let names = ["array<", "list<", "iterable<", "non-empty-array<", "non-empty-list<"];
    let rest = names.iter().find_map(|name| text.strip_prefix(name))?;
    rest.strip_suffix('>')
}

/// Returns the doc comment right before a byte offset.
pub(super) fn doc_comment_before<'t>(walk: &Walk<'_, 't>, start: u32) -> Option<&'t str> {
    // Longer comments are not annotations of a variable.
    const MAX_DISTANCE: usize = 200;
    let text = walk.draft.text.get(..start as usize)?.trim_end().strip_suffix("*/")?;
    let mut from = text.len().saturating_sub(MAX_DISTANCE);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let near = &text[from..];
    near.rfind("/**").map(|at| &near[at..])
}

#[cfg(test)]
mod tests {
    use super::tagged;

    #[test]
    fn finds_type_after_tag() {
        let doc = "/**\n * @param array<int, Foo> $a text\n * @param Bar|null $b\n * @return Baz of something\n */";
        assert_eq!(tagged(doc, "@param", Some("a")), Some("array<int, Foo>"));
        assert_eq!(tagged(doc, "@param", Some("b")), Some("Bar|null"));
        assert_eq!(tagged(doc, "@param", Some("c")), None);
        assert_eq!(tagged(doc, "@return", None), Some("Baz"));
        assert_eq!(tagged("/** @var Foo[] */", "@var", Some("x")), Some("Foo[]"));
        assert_eq!(tagged("/** @var Foo $y */", "@var", Some("x")), None);
    }
}
