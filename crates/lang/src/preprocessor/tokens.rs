//! Splits source text into words and punctuation, without comments.

/// The form of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    Word,
    Number,
    /// A string or a character.
    Text,
    /// A whole preprocessor line, with the lines that continue it.
    Directive,
    Punctuation,
}

/// A word, a literal, a punctuation character or a preprocessor line.
#[derive(Clone, Copy)]
pub(crate) struct Token<'t> {
    pub(crate) start: usize,
    pub(crate) text: &'t str,
    pub(crate) kind: TokenKind,
    /// Whether the token is the first on its line.
    pub(crate) is_first: bool,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }

    pub(crate) fn is_directive(&self) -> bool {
        self.kind == TokenKind::Directive
    }

    /// Whether the token is spelled like a macro.
    pub(crate) fn is_macro(&self) -> bool {
        let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        self.text.len() > 2
            && self.text.bytes().all(is_part)
            && self.text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && self.text.bytes().any(|byte| byte.is_ascii_uppercase())
    }

    /// Returns the word of a directive, without `#`.
    pub(crate) fn directive(&self) -> &str {
        let rest = self.text.trim_start_matches('#').trim_start();
        rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("")
    }
}

/// The notation of strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// `R"x(…)x"` is one.
    C,
    /// `@"…"`, `$"…"` and `"""…"""` are.
    CSharp,
}

/// Returns the tokens of a text.
pub(crate) fn tokens(text: &str, strings: Strings) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(bytes.len() / 5);
    let (mut at, mut is_first) = (0, true);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let byte = bytes[at];
        if byte == b'\n' {
            is_first = true;
            at += 1;
            continue;
        }
        if byte.is_ascii_whitespace() || byte == b'\\' {
            at += 1;
            continue;
        }
        if rest.starts_with(b"//") || rest.starts_with(b"/*") {
            at += comment(text, at);
            continue;
        }
        let (len, kind) = match byte {
            b'#' if is_first => (directive(text, at), TokenKind::Directive),
            _ => match literal(text, at, strings) {
                Some(len) => (len, TokenKind::Text),
                None => word(rest),
            },
        };
        // A literal may end inside a character of more than one byte where the text is broken.
        let len = (at + len..=bytes.len()).find(|&end| text.is_char_boundary(end)).map_or(1, |end| end - at);
        tokens.push(Token { start: at, text: text.get(at..at + len).unwrap_or(""), kind, is_first });
        at += len;
        is_first = false;
    }
    tokens
}

/// Returns the length of a preprocessor line, without a comment that goes on after it.
fn directive(text: &str, at: usize) -> usize {
    let len = line(&text.as_bytes()[at..]);
    let Some(own) = text.get(at..at + len) else { return len };
    own.rfind("/*").filter(|&open| !own[open..].contains("*/")).unwrap_or(len)
}

/// Returns the length and the kind of a word, a number or a punctuation character.
fn word(rest: &[u8]) -> (usize, TokenKind) {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    if rest[0].is_ascii_digit() {
        // A quote between digits is a digit separator.
        let is_digit = |byte: &&u8| is_part(**byte) || matches!(**byte, b'\'' | b'.');
        return (rest.iter().take_while(is_digit).count(), TokenKind::Number);
    }
    match rest.iter().take_while(|byte| is_part(**byte)).count() {
        0 => (1, TokenKind::Punctuation),
        len => (len, TokenKind::Word),
    }
}

/// Returns the length of a comment.
fn comment(text: &str, at: usize) -> usize {
    if text.as_bytes()[at + 1] == b'/' {
        return line(&text.as_bytes()[at..]);
    }
    text.get(at + 2..).and_then(|rest| rest.find("*/")).map_or(text.len() - at, |end| end + 4)
}

/// Returns the length of a string or a character; `None` if there is none.
fn literal(text: &str, at: usize, strings: Strings) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    match (strings, rest[0]) {
        (Strings::C, b'R') if rest.starts_with(b"R\"") => Some(raw(text, at)),
        (Strings::CSharp, b'"' | b'@' | b'$') => csharp_string(rest),
        (_, b'"' | b'\'') => Some(quoted(rest)),
        _ => None,
    }
}

/// Returns the length of a string of C#; `None` if there is none.
fn csharp_string(rest: &[u8]) -> Option<usize> {
    let prefix = rest.iter().take_while(|byte| matches!(byte, b'@' | b'$')).count();
    let quotes = rest[prefix..].iter().take_while(|byte| **byte == b'"').count();
    if quotes == 0 {
        return None;
    }
    if quotes >= 3 {
        let end = rest[prefix + quotes..].windows(quotes).position(|end| end.iter().all(|byte| *byte == b'"'));
        return Some(end.map_or(rest.len(), |end| prefix + quotes + end + quotes));
    }
    if !rest[..prefix].contains(&b'@') {
        return Some(prefix + quoted(&rest[prefix..]));
    }
    // Two quotes are one in the string.
    let mut at = prefix + 1;
    while at < rest.len() {
        match (rest[at], rest.get(at + 1)) {
            (b'"', Some(b'"')) => at += 2,
            (b'"', _) => return Some(at + 1),
            _ => at += 1,
        }
    }
    Some(rest.len())
}

/// Returns the length of a line, including lines continued by a backslash.
fn line(rest: &[u8]) -> usize {
    let mut at = 0;
    while at < rest.len() {
        let end = rest[at..].iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| at + end);
        let code = rest[at..end].strip_suffix(b"\r").unwrap_or(&rest[at..end]);
        if !code.ends_with(b"\\") {
            return end;
        }
        at = end + 1;
    }
    rest.len()
}

/// Returns the length of a string or character literal. A literal that does not end on its line is not one.
fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'\n' {
        if rest[at] == rest[0] {
            return at + 1;
        }
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at.min(rest.len())
}

/// Returns the length of `R"x(…)x"`.
fn raw(text: &str, at: usize) -> usize {
    let Some(rest) = text.get(at + 2..) else { return 1 };
    let Some(open) = rest.bytes().take(17).position(|byte| byte == b'(') else { return 2 };
    let end = [")", rest.get(..open).unwrap_or(""), "\""].concat();
    rest.find(&end).map_or(text.len() - at, |found| 2 + found + end.len())
}
