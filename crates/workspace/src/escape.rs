//! Escaping of text from a repository: it is untrusted, and must not control a terminal or reverse a line.

use std::borrow::Cow;

/// The text with control, line-separator and bidirectional characters written as escapes.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match char {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            char if is_control(char) => out.push_str(&format!("\\u{{{:x}}}", char as u32)),
            char => out.push(char),
        }
    }
    Cow::Owned(out)
}

/// Foreign text as a quotation of limited length.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", truncate(text))
}

/// The beginning of a foreign text.
pub fn truncate(text: &str) -> String {
    const MAX_CHARS: usize = 80;
    let mut chars = text.chars();
    let begun: String = chars.by_ref().take(MAX_CHARS).collect();
    let rest = if chars.next().is_some() { "…" } else { "" };
    format!("{}{rest}", escape_control(&begun))
}

/// JSON with the same characters as `\u` escapes: the same values, and safe to print.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|char| char != '\n' && is_control(char)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match char {
            '\n' => out.push('\n'),
            char if is_control(char) => out.push_str(&format!("\\u{:04x}", char as u32)),
            char => out.push(char),
        }
    }
    Cow::Owned(out)
}

fn is_control(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The text, truncated to a number of characters.
pub fn truncate_to(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape_control("plain ünï 名前"), "plain ünï 名前");
        assert_eq!(escape_control("a\u{1b}[31mb\u{7}"), "a\\u{1b}[31mb\\u{7}");
        assert_eq!(escape_control("x\u{202e}y\u{2066}"), "x\\u{202e}y\\u{2066}");
        assert_eq!(escape_control("two\nlines"), "two\\nlines");
    }

    #[test]
    fn escaped_json_has_the_same_values() {
        let value = serde_json::json!({ "k": "a\u{202e}b\u{1b}\u{85}c" });
        let text = serde_json::to_string_pretty(&value).expect("it is JSON");
        let safe = json(&text);
        assert!(!safe.chars().any(|char| char != '\n' && is_control(char)));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).expect("still JSON"), value);
    }
}
