//! Small operations on source text that every language shares.

use std::borrow::Cow;

/// The maximum length of a receiver or path kept with a reference, in bytes.
const MAX_QUALIFIER: usize = 120;

/// The maximum number of bytes to scan of a long receiver. Without it, chained calls would read their start again for
/// every call.
const MAX_SCANNED: usize = 2000;

/// The maximum length of a signature, in bytes. Longer headers are generated or hostile.
const MAX_SIGNATURE: usize = 4000;

/// Folds the text to one line: every run of white space becomes one space, and none is left at the ends.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let plain = |at: usize| match bytes[at] {
        b'\n' | b'\r' | b'\t' | 0x0b | 0x0c => false,
        b' ' => bytes[at - 1] != b' ',
        _ => true,
    };
    if (0..bytes.len()).all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, word) in text.split_whitespace().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
    Cow::Owned(out)
}

/// Renders a title on one line, limited in length, without the backslashes before quotes and backslashes.
pub(crate) fn title(written: &str, limit: usize) -> Cow<'_, str> {
    let written = truncate(written, limit);
    if !written.contains('\\') {
        return fold(written);
    }
    let mut out = String::with_capacity(written.len());
    let mut rest = written.chars().peekable();
    while let Some(c) = rest.next() {
        let quoted = rest.next_if(|next| c == '\\' && matches!(next, '\'' | '"' | '`' | '\\'));
        out.push(quoted.unwrap_or(c));
    }
    Cow::Owned(fold(&out).into_owned())
}

/// Folds a header to one line and truncates it if it is extremely long.
pub(crate) fn signature(header: &str) -> String {
    truncate(&fold(truncate(header, 4 * MAX_SIGNATURE)), MAX_SIGNATURE).to_owned()
}

/// Folds a receiver or path to one line. A chain with line breaks before its dots becomes the same as one without. If
/// it is long, the content of brackets is replaced by `…` first.
pub(crate) fn qualifier(text: &str) -> Cow<'_, str> {
    let short = if text.len() <= MAX_QUALIFIER { fold(text) } else { Cow::Owned(elide(truncate(text, MAX_SCANNED))) };
    match short {
        Cow::Owned(folded) if folded.contains(" .") => Cow::Owned(folded.replace(" .", ".")),
        other => other,
    }
}

/// Returns the start of a text on one line, without the content of brackets.
fn elide(text: &str) -> String {
    let mut out = String::with_capacity(MAX_QUALIFIER + 4);
    let mut depth = 0usize;
    for c in text.chars() {
        let opens = matches!(c, '(' | '[' | '{');
        if matches!(c, ')' | ']' | '}') {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 && !(c.is_whitespace() && out.ends_with(' ')) {
            out.push(if c.is_whitespace() { ' ' } else { c });
        }
        if opens && depth == 0 {
            out.push('…');
        }
        depth += usize::from(opens);
        if out.len() >= MAX_QUALIFIER {
            break;
        }
    }
    out
}

/// Returns the first bytes of a text, at most `limit`, ending on a character boundary.
pub(crate) fn truncate(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the start of the word at the end of a text; the end of the text if it does not end with a word.
pub(crate) fn last_word(text: &str) -> usize {
    text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len()
}

/// Returns the last bytes of a text, at most `limit`, beginning on a character boundary.
pub(crate) fn last(text: &str, limit: usize) -> &str {
    let mut start = text.len().saturating_sub(limit);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Returns the identifier at the start of an expression; empty if there is none.
pub(crate) fn first_name(text: &str) -> &str {
    let text = text.trim_start_matches(['&', '*', '(', ' ', '!', '-']);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())]
}

/// Returns whether a name begins with a capital letter.
pub(crate) fn is_capitalised(name: &str) -> bool {
    name.trim_start_matches('_').chars().next().is_some_and(char::is_uppercase)
}

/// Returns the number of identifier-like words in a text.
pub(crate) fn count_words(text: &str) -> usize {
    let mut inside = false;
    let mut count = 0;
    for byte in text.bytes() {
        let word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        count += usize::from(word && !inside);
        inside = word;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_white_space() {
        for (text, folded) in
            [("a b", "a b"), (" a\n  b ", "a b"), ("a  b", "a b"), ("\u{a0}a", "a"), ("", ""), ("é\tü", "é ü")]
        {
            assert_eq!(fold(text), folded, "{text:?}");
        }
    }

    #[test]
    fn titles_are_plain_text() {
        for (written, title) in
            [(" a  b", "a b"), (r#"can\'t \"x\""#, r#"can't "x""#), (r"a\nb \\", r"a\nb \"), ("", "")]
        {
            assert_eq!(super::title(written, 40), title, "{written:?}");
        }
        assert_eq!(super::title("éé", 3), "é");
    }

    #[test]
    fn long_receiver_drops_arguments() {
        let long = format!("client.get({}).json", "x".repeat(200));
        assert_eq!(qualifier(&long), "client.get(…).json");
        assert_eq!(qualifier("a\n  .b"), "a.b");
        assert!(qualifier(&"é".repeat(500)).len() < 130);
    }

    #[test]
    fn counts_words() {
        assert_eq!(count_words("fn a_1(b) -> é"), 4);
    }
}
