//! Names and locations in other notations than ours, as links, editors, compilers and test runners write them.

use std::borrow::Cow;

/// A location as `path:line` or `path:start-end`, if it is written in another common notation: `a.rs#L10`,
/// `a.rs#L10-L20`, `a.rs:10:5` with a column, `a.rs:10,20`, `a.rs(10)`. Otherwise the text itself.
pub(crate) fn location(text: &str) -> Cow<'_, str> {
    read_location(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn read_location(text: &str) -> Option<String> {
    if let Some((path, rest)) = text.rsplit_once('#').filter(|(path, _)| !path.is_empty()) {
        return Some(format!("{path}:{}", lines(rest)?));
    }
    if let Some((path, rest)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        let number = rest.split(',').next().and_then(line)?;
        return path.contains('.').then(|| format!("{path}:{number}"));
    }
    let (before, last) = text.rsplit_once(':')?;
    match before.rsplit_once(':') {
        Some((path, number)) if is_number(last) && is_number(number) => Some(format!("{path}:{number}")),
        _ if last.contains(',') => Some(format!("{before}:{}", lines(last)?)),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `10`, `L10`, or `L10C5` with a column.
fn line(text: &str) -> Option<&str> {
    let text = text.trim().trim_start_matches('L');
    let text = text.split_once('C').map_or(text, |(line, _)| line);
    is_number(text).then_some(text)
}

fn lines(text: &str) -> Option<String> {
    match text.split_once(['-', ',']) {
        Some((start, end)) => Some(format!("{}-{}", line(start)?, line(end)?)),
        None => line(text).map(str::to_owned),
    }
}

/// The words that a declaration may begin with before its name.
const KEYWORDS: &[&str] = &[
    "async",
    "class",
    "const",
    "def",
    "enum",
    "export",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "interface",
    "macro",
    "method",
    "module",
    "private",
    "protected",
    "pub",
    "public",
    "static",
    "struct",
    "trait",
    "type",
    "unsafe",
];

/// The name in a declaration, a call or a quotation: `fn parse`, `parse()`, `` `Parser#parse` ``. Otherwise the text
/// itself.
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    let mut name = text.trim().trim_matches(['`', '"', '\'']);
    while let Some((word, rest)) = name.split_once(' ')
        && KEYWORDS.contains(&word)
    {
        name = rest.trim_start();
    }
    // A receiver before the name, as in `(c *Client) Do`, names no function.
    if let Some((before, _)) = name.split_once('(').filter(|(before, _)| !before.is_empty() && name.ends_with(')')) {
        name = before;
    }
    // `Type#method`; a name that begins with the mark is private in JavaScript.
    match name.split_once('#') {
        Some((owner, member)) if !owner.is_empty() && !member.is_empty() && !owner.contains('/') => {
            Cow::Owned(format!("{owner}.{member}"))
        }
        _ if name.is_empty() => Cow::Borrowed(text),
        _ => Cow::Borrowed(name),
    }
}

/// The file and the name in `src/a.rs:name`, `src/a.rs::name` or `src/a.rs#name`, if the text has that form. Whether
/// there is such a file remains to be seen.
pub(crate) fn file_and_name(text: &str) -> Option<(&str, &str)> {
    let at = text.find('.')?;
    let end = at + text[at..].find([':', '#'])?;
    let name = text[end..].trim_start_matches([':', '#']);
    let is_name = !name.is_empty() && !name.starts_with(|char: char| char.is_ascii_digit()) && !name.contains('/');
    is_name.then(|| (&text[..end], name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_of_other_programs_are_read() {
        let table = [
            ("src/a.rs#L10", "src/a.rs:10"),
            ("src/a.rs#L10-L20", "src/a.rs:10-20"),
            ("src/a.rs#L10C3-L20C1", "src/a.rs:10-20"),
            ("src/a.rs#10", "src/a.rs:10"),
            ("src/a.rs:10:5", "src/a.rs:10"),
            ("src/a.rs:10,20", "src/a.rs:10-20"),
            ("src/a.cs(10,5)", "src/a.cs:10"),
            ("src/a.rs:10-20", "src/a.rs:10-20"),
            ("src/a.rs:10", "src/a.rs:10"),
            ("src/a.rs", "src/a.rs"),
            ("Parser::parse", "Parser::parse"),
            ("Parser#parse", "Parser#parse"),
            ("#private", "#private"),
            ("parse(10)", "parse(10)"),
            ("std::io", "std::io"),
        ];
        for (given, expected) in table {
            assert_eq!(location(given), expected, "{given}");
        }
    }

    #[test]
    fn names_are_found_in_declarations_calls_and_quotations() {
        let table = [
            ("parse", "parse"),
            ("parse()", "parse"),
            ("Parser::parse(text: &str)", "Parser::parse"),
            ("fn parse", "parse"),
            ("pub async fn parse()", "parse"),
            ("`Parser#parse`", "Parser.parse"),
            ("#secret", "#secret"),
            ("class", "class"),
            ("describe parser works", "describe parser works"),
            ("(c *Client) Do", "(c *Client) Do"),
            ("", ""),
        ];
        for (given, expected) in table {
            assert_eq!(name(given), expected, "{given}");
        }
    }

    #[test]
    fn files_with_names_are_recognized() {
        let table = [
            ("src/a.rs:parse", Some(("src/a.rs", "parse"))),
            ("src/a.rs::Parser::parse", Some(("src/a.rs", "Parser::parse"))),
            ("tests/test_a.py::TestA::test_b", Some(("tests/test_a.py", "TestA::test_b"))),
            ("src/a.rs#parse", Some(("src/a.rs", "parse"))),
            ("src/a.rs:10", None),
            ("src/a.rs", None),
            ("Parser::parse", None),
        ];
        for (given, expected) in table {
            assert_eq!(file_and_name(given), expected, "{given}");
        }
    }
}
