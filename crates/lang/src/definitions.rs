//! Finds definitions in text without a grammar, by the words that most languages write before a name.

/// Words that may precede the defining keyword.
const MODIFIERS: &[&str] = &[
    "abstract",
    "actual",
    "annotation",
    "async",
    "case",
    "companion",
    "constexpr",
    "data",
    "default",
    "expect",
    "explicit",
    "export",
    "extern",
    "fileprivate",
    "final",
    "implicit",
    "indirect",
    "infix",
    "inline",
    "inner",
    "internal",
    "lazy",
    "local",
    "mutating",
    "open",
    "operator",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "sealed",
    "static",
    "suspend",
    "unsafe",
    "value",
    "virtual",
];

/// Keywords that precede a defined name.
const KEYWORDS: &[&str] = &[
    "actor",
    "class",
    "const",
    "data",
    "def",
    "defmacro",
    "defmodule",
    "defp",
    "defprotocol",
    "enum",
    "extension",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "macro",
    "module",
    "namespace",
    "newtype",
    "object",
    "protocol",
    "record",
    "struct",
    "sub",
    "trait",
    "type",
    "typealias",
    "typedef",
    "union",
];

/// Words that begin a line with parentheses that is not a definition.
const STATEMENTS: &[&str] = &["else", "for", "if", "return", "switch", "while"];

/// Returns the name that a line defines, without its path, if the line looks like a definition.
pub(crate) fn defined_name(line: &str) -> Option<&str> {
    let mut words = Words { rest: line.trim_start() };
    let first = words.next()?;
    let mut word = first;
    while MODIFIERS.contains(&word) && !KEYWORDS.contains(&word) {
        word = words.next()?;
    }
    if !KEYWORDS.contains(&word) {
        return function_name(line).filter(|_| !STATEMENTS.contains(&first));
    }
    // `enum class Color`, `data class User`.
    while KEYWORDS.contains(&word) {
        word = words.next()?;
    }
    last_part(word)
}

/// `static int uv__run(loop)`, `load() {`: returns the name before the first parenthesis of a line without indentation.
fn function_name(line: &str) -> Option<&str> {
    let head = &line[..line.find('(')?];
    let is_plain = |c: char| is_part(c) || matches!(c, ' ' | '*' | '&' | '<' | '>' | ',');
    if line.starts_with([' ', '\t']) || line.trim_end().ends_with(';') || !head.chars().all(is_plain) {
        return None;
    }
    last_part(head.rsplit(|c: char| !is_part(c)).find(|word| !word.is_empty())?)
}

fn last_part(name: &str) -> Option<&str> {
    name.trim_matches(['.', ':', '!', '?']).rsplit(['.', ':']).next().filter(|name| !name.is_empty())
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '!' | '?')
}

/// Words separated by blanks only.
struct Words<'l> {
    rest: &'l str,
}

impl<'l> Iterator for Words<'l> {
    type Item = &'l str;

    fn next(&mut self) -> Option<&'l str> {
        let (word, rest) = self.rest.split_at(self.rest.find(|c: char| !is_part(c)).unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        Some(word).filter(|word| !word.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_definitions_in_many_languages() {
        for (line, name) in [
            ("public final class Gson {", Some("Gson")),
            ("    public static function create(string $name): self", Some("create")),
            ("  def self.parse_query(qs)", Some("parse_query")),
            ("defmodule Plug.Session do", Some("Session")),
            ("sealed abstract class Chain[+A]", Some("Chain")),
            ("data class User(val id: Int)", Some("User")),
            ("data Value = Object !Object", Some("Value")),
            ("enum class color : int {", Some("color")),
            ("static int uv__loop_alive(const uv_loop_t* loop) {", Some("uv__loop_alive")),
            ("bats_load_library() { # <slug>", Some("bats_load_library")),
            ("function M.load(plugins)", Some("load")),
            ("pub fn init(self: *Self) void {", Some("init")),
            ("if (ready) {", None),
            ("    int local(call)", None),
            ("int declared(int a);", None),
            ("x = call(1)", None),
            ("class", None),
            ("", None),
        ] {
            assert_eq!(defined_name(line), name, "{line}");
        }
    }
}
