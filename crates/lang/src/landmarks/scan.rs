//! Scanning helpers that several landmark readers share.

use codecompass_model::Span;

/// The maximum number of lines to search upwards for a comment above a landmark.
const MAX_COMMENT_LINES: usize = 60;

/// A position in a text.
pub(super) struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pub(super) at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0 }
    }

    /// Returns the current byte.
    pub(super) fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Returns whether the rest of the text starts with `what`.
    pub(super) fn starts_with(&self, what: &str) -> bool {
        self.bytes[self.at.min(self.bytes.len())..].starts_with(what.as_bytes())
    }

    /// Advances to the end of the line.
    pub(super) fn skip_line(&mut self) {
        self.at = self.find(b'\n', self.at);
    }

    /// Advances past the next occurrence of `end`, or to the end of the text.
    pub(super) fn skip_past(&mut self, end: &str) {
        let from = self.at.min(self.text.len());
        let found = self.text.get(from..).and_then(|rest| rest.find(end));
        self.at = found.map_or(self.bytes.len(), |found| from + found + end.len());
    }

    /// Advances past the string that begins here, in which a backslash escapes the quote.
    pub(super) fn skip_string(&mut self, is_one_line: bool) {
        let Some(quote) = self.byte() else { return };
        self.at += 1;
        while let Some(byte) = self.byte() {
            match byte {
                b'\\' => self.at += 2,
                b'\n' if is_one_line => return,
                _ => self.at += 1,
            }
            if byte == quote {
                break;
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    /// Advances past the word that begins here, and returns it.
    pub(super) fn word(&mut self, is_part: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.byte().is_some_and(|byte| is_part(byte) || byte >= 0x80) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Skips white space.
    pub(super) fn skip_space(&mut self) {
        while self.byte().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Advances past a comment that begins here with one of these marks, or is `/* … */`; returns whether there was
    /// one.
    pub(super) fn skip_comment(&mut self, marks: &[&str]) -> bool {
        if self.starts_with("/*") {
            self.at += 2;
            self.skip_past("*/");
            return true;
        }
        let is_one = marks.iter().any(|mark| self.starts_with(mark));
        if is_one {
            self.skip_line();
        }
        is_one
    }

    fn find(&self, byte: u8, from: usize) -> usize {
        let from = from.min(self.bytes.len());
        self.bytes[from..].iter().position(|one| *one == byte).map_or(self.bytes.len(), |found| from + found)
    }
}

/// Returns whether a byte is part of an identifier.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the lines of a text, each with its start, without its line end.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

/// Returns the number of spaces at the start of a line.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the comment in the lines right above the line of this offset: lines with these marks, or one `/* … */`.
/// Returns `None` if the offset is not the first on its line.
pub(super) fn comment_above(text: &str, start: usize, marks: &[&str]) -> Option<Span> {
    let line_start = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    if !text[line_start..start].trim().is_empty() {
        return None;
    }
    let mut first = None;
    let mut end = line_start;
    let mut in_block = false;
    for _ in 0..MAX_COMMENT_LINES {
        let Some(before) = end.checked_sub(1) else { break };
        let begin = text[..before].rfind('\n').map_or(0, |at| at + 1);
        let line = text[begin..before].trim();
        in_block = in_block || first.is_none() && line.ends_with("*/");
        let is_comment = in_block || marks.iter().any(|mark| line.starts_with(mark));
        if !is_comment {
            break;
        }
        first = Some(begin + (text[begin..before].len() - text[begin..before].trim_start().len()));
        end = begin;
        if in_block && line.starts_with("/*") {
            break;
        }
    }
    let end = text[..line_start].trim_end().len();
    first.filter(|first| *first < end).map(|first| Span { start: first as u32, end: end as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comment_belongs_to_what_follows() {
        let above = |text: &str| {
            let start = text.find('x').expect("because the text contains an x");
            comment_above(text, start, &["#", "//"]).map(|span| span.text(text).to_owned())
        };
        assert_eq!(above("a\n# b\n# c\nx"), Some("# b\n# c".to_owned()));
        assert_eq!(above("/* b\n c */\n  x"), Some("/* b\n c */".to_owned()));
        assert_eq!(above("// b\n\nx"), None);
        assert_eq!(above("// b\na x"), None);
        assert_eq!(above("x"), None);
    }
}
