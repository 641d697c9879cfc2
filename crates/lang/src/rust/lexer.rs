//! Splits a fragment of Rust into the tokens that macros see.

use codecompass_model::Span;

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) span: Span,
    pub(super) kind: TokenKind,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or keyword.
    Word,
    /// `$name`.
    Variable,
    /// A bracket, and the index of the bracket that closes it.
    Open(usize),
    Close,
    /// One character of punctuation.
    Punctuation,
    /// A number, a string, a lifetime.
    Literal,
}

/// Returns the tokens in a range. Unclosed brackets end with the range.
pub(super) fn tokens(text: &str, range: Span) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = range.start as usize;
    let end = (range.end as usize).min(text.len());
    while let Some(rest) = text.get(at..end).filter(|rest| !rest.is_empty()) {
        let space = rest.len() - rest.trim_start().len();
        if space > 0 {
            at += space;
            continue;
        }
        if let Some(length) = comment(rest) {
            at += length;
            continue;
        }
        let (kind, length) = token(rest);
        match kind {
            TokenKind::Open(_) => open.push(out.len()),
            TokenKind::Close => {
                if let Some(opened) = open.pop() {
                    out[opened].kind = TokenKind::Open(out.len());
                }
            }
            _ => {}
        }
        out.push(Token { span: Span { start: at as u32, end: (at + length) as u32 }, kind });
        at += length;
    }
    // An empty bracket at the end closes each open one, so that every index is valid in the list.
    while let Some(opened) = open.pop() {
        out[opened].kind = TokenKind::Open(out.len());
        out.push(Token { span: Span { start: end as u32, end: end as u32 }, kind: TokenKind::Close });
    }
    out
}

fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    rest.starts_with("/*").then(|| rest.find("*/").map_or(rest.len(), |end| end + 2))
}

fn token(rest: &str) -> (TokenKind, usize) {
    let word = |from: usize| {
        let after = &rest[from..];
        from + after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len())
    };
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        '(' | '[' | '{' => (TokenKind::Open(0), 1),
        ')' | ']' | '}' => (TokenKind::Close, 1),
        '"' => (TokenKind::Literal, string(rest, 1)),
        '$' if word(1) > 1 => (TokenKind::Variable, word(1)),
        '\'' => (TokenKind::Literal, quoted(rest)),
        'r' | 'b' if raw_string(rest).is_some() => (TokenKind::Literal, raw_string(rest).unwrap_or(1)),
        'b' if rest.starts_with("b\"") => (TokenKind::Literal, string(rest, 2)),
        'r' if rest.starts_with("r#") && word(2) > 2 => (TokenKind::Word, word(2)),
        c if c.is_ascii_digit() => (TokenKind::Literal, word(0)),
        c if c.is_alphabetic() || c == '_' => (TokenKind::Word, word(0)),
        c => (TokenKind::Punctuation, c.len_utf8()),
    }
}

/// Returns the length of a string in quotes, from after the opening quote.
fn string(rest: &str, from: usize) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip_while(|(at, _)| *at < from) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let marks = body.bytes().take_while(|byte| *byte == b'#').count();
    let inside = body[marks..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(marks));
    let start = rest.len() - inside.len();
    Some(inside.find(&close).map_or(rest.len(), |end| start + end + close.len()))
}

/// Returns the length of a lifetime or of a character in quotes.
fn quoted(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => rest[2..].char_indices().skip(1).find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 3),
        Some((at, c)) if rest[at + c.len_utf8()..].starts_with('\'') => at + c.len_utf8() + 1,
        Some(_) => 1 + rest[1..].find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len() - 1),
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, tokens};
    use codecompass_model::Span;

    #[test]
    fn tokenizes_like_macros() {
        let text = "a::b($x:ty, 'a' 'b \"]\" r#\"\"\"#) // (\n{ 1.5";
        let all = tokens(text, Span { start: 0, end: text.len() as u32 });
        let words: Vec<&str> = all.iter().map(|token| token.span.text(text)).collect();
        let expected = "a : : b ( $x : ty , 'a' 'b \"]\" r#\"\"\"# ) { 1 . 5 ";
        assert_eq!(words.join(" "), expected);
        assert_eq!(all[4].kind, TokenKind::Open(13));
        assert_eq!(all[14].kind, TokenKind::Open(18));
    }
}
