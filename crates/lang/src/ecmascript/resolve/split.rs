//! Splits the text of types and expressions outside all brackets and strings.

/// Calls a function for each byte outside brackets and strings, with the text from there on, until it returns `true`.
/// Angle brackets count if `angles` is set: in types they enclose, in expressions they compare.
fn walk<'t>(text: &'t str, angles: bool, mut at_top: impl FnMut(usize, &'t str) -> bool) {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'' | b'`') => {
                if depth == 0 && text.is_char_boundary(at) && at_top(at, &text[at..]) {
                    return;
                }
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
                at += 1;
                continue;
            }
            b'=' if bytes.get(at + 1) == Some(&b'>') => {
                if depth == 0 && at_top(at, &text[at..]) {
                    return;
                }
                at += 2;
                continue;
            }
            byte => {
                let opens = matches!(byte, b'(' | b'[' | b'{') || angles && byte == b'<';
                let closes = matches!(byte, b')' | b']' | b'}') || angles && byte == b'>';
                if closes {
                    depth = depth.saturating_sub(1);
                }
                if depth == 0 && text.is_char_boundary(at) && at_top(at, &text[at..]) {
                    return;
                }
                depth += usize::from(opens);
            }
        }
        at += 1;
    }
}

/// Returns the first position outside brackets where the rest matches.
pub(super) fn find(text: &str, angles: bool, fits: impl Fn(&str) -> bool) -> Option<usize> {
    let mut found = None;
    walk(text, angles, |at, rest| {
        if fits(rest) {
            found = Some(at);
        }
        found.is_some()
    });
    found
}

/// Splits a text at the separators outside brackets.
pub(in crate::ecmascript) fn split_top_level<'t>(text: &'t str, angles: bool, separator: &str) -> Vec<&'t str> {
    let (mut out, mut from) = (Vec::new(), 0);
    walk(text, angles, |at, rest| {
        if at >= from && rest.starts_with(separator) {
            out.push(&text[from..at]);
            from = at + separator.len();
        }
        false
    });
    out.push(text.get(from..).unwrap_or(""));
    out
}

/// Returns the text in the brackets that open at the start, and the text after them.
pub(super) fn group(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next().filter(|c| matches!(c, '(' | '[' | '{' | '<'))?;
    let close = match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        _ => '>',
    };
    let mut end = None;
    walk(text, true, |at, rest| {
        if at > 0 && rest.starts_with(close) {
            end = Some(at);
        }
        at > 0
    });
    let end = end?;
    Some((&text[1..end], &text[end + 1..]))
}

/// Returns the name that a text begins with, and the rest.
pub(in crate::ecmascript) fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '#'))).unwrap_or(text.len());
    text.split_at(end)
}

/// Returns the text after a keyword.
pub(super) fn after_keyword<'t>(text: &'t str, keyword: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(keyword)?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_outside_brackets() {
        assert_eq!(split_top_level("A<B | C> | (D | E) | 'x|y'", true, "|"), ["A<B | C> ", " (D | E) ", " 'x|y'"]);
        assert_eq!(split_top_level("(a: A) => B, C", true, ","), ["(a: A) => B", " C"]);
        assert_eq!(group("<A, B<C>>(d)"), Some(("A, B<C>", "(d)")));
        assert_eq!(group("((a) => b) c"), Some(("(a) => b", " c")));
        assert_eq!(group("(a"), None);
        assert_eq!(word("abc<D>"), ("abc", "<D>"));
        assert_eq!(after_keyword("typeof x", "typeof"), Some("x"));
        assert_eq!(after_keyword("typeofx", "typeof"), None);
        assert_eq!(find("a ? b : c", false, |rest| rest.starts_with('?')), Some(2));
    }
}
