//! Highlights texts without a grammar: a loop over bytes that recognises the comments and quotes of each format.
//!
//! The scanner skips everything it does not recognise. It reads each byte a bounded number of times: an unclosed
//! comment extends to the end of the text, and a quote without a closing one on its line is recorded, so that the
//! following quotes need no search.

use super::formats::{FORMATS, TextFormat};
use super::{HighlightKind, HighlightSpan, SpanBuilder};

/// The format of the text around embedded code.
pub(super) const MARKUP: &str = "html";

/// Words that are values in every format with words.
const VALUES: &[&str] = &["false", "null", "true"];

/// Highlights a text in a format; returns nothing for an unknown format.
pub(super) fn highlight_text(language: &str, text: &str) -> Vec<HighlightSpan> {
    let Some(format) = FORMATS.iter().find(|format| format.languages.contains(&language)) else {
        return Vec::new();
    };
    let mut scanner = Scanner { format, text, at: 0, in_tag: false, is_first: true, unclosed: [0; 256] };
    let mut painter = SpanBuilder::new(text);
    while scanner.at < text.len() {
        let start = scanner.at;
        let colour = scanner.next();
        // The loop always advances.
        scanner.at = scanner.at.max(start + 1);
        if let Some(colour) = colour {
            painter.advance_to(start, None);
            painter.advance_to(scanner.at, Some(colour));
        }
    }
    painter.spans
}

struct Scanner<'t> {
    format: &'static TextFormat,
    text: &'t str,
    at: usize,
    in_tag: bool,
    /// Whether only blanks precede this position on its line.
    is_first: bool,
    /// By quote: the offset before which it is not closed.
    unclosed: [usize; 256],
}

impl Scanner<'_> {
    fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Advances past the next token, and returns its kind.
    fn next(&mut self) -> Option<HighlightKind> {
        let byte = *self.rest().first()?;
        if byte.is_ascii_whitespace() {
            self.at += 1;
            self.is_first = byte == b'\n' || self.is_first;
            return None;
        }
        let is_first = std::mem::replace(&mut self.is_first, false);
        let found = self.comment(is_first).or_else(|| self.heading(is_first)).or_else(|| self.long_text());
        if found.is_some() {
            // A comment or string literal may have ended at the end of a line.
            return found;
        }
        let is_inert = self.format.tags && !self.in_tag;
        let key = is_first.then(|| self.key()).flatten();
        key.or_else(|| self.quoted().filter(|_| !is_inert)).or_else(|| self.tag()).or_else(|| self.word(is_first))
    }

    fn comment(&mut self, is_first: bool) -> Option<HighlightKind> {
        let rest = self.rest();
        if let Some((open, close)) =
            self.format.block_comments.iter().find(|(open, _)| rest.starts_with(open.as_bytes()))
        {
            let body = self.at + open.len();
            self.at = self.text[body..].find(close).map_or(self.text.len(), |end| body + end + close.len());
            return Some(HighlightKind::Comment);
        }
        let mark = self.format.line_comments.iter().find(|mark| rest.starts_with(mark.as_bytes()))?;
        let before = self.text.as_bytes()[..self.at].last().copied().unwrap_or(b'\n');
        // `a#b`, `http://` and `\#` begin no comment; in line-based markup a comment has a line of its own.
        let begins = match mark.as_bytes() {
            _ if is_first => true,
            [b'/', ..] if !self.format.numbers => false,
            [b'/', ..] => before != b':',
            [b'-' | b'%', ..] => before != b'\\',
            _ => before.is_ascii_whitespace() || matches!(before, b';' | b')' | b'}' | b']' | b','),
        };
        if !begins || self.format.keywords_first_only && !is_first && self.format.key.is_none() {
            return None;
        }
        self.at = self.line_end();
        Some(HighlightKind::Comment)
    }

    /// Highlights `# Title`, `== Title`, `[section]`.
    fn heading(&mut self, is_first: bool) -> Option<HighlightKind> {
        let mark = self.format.heading.filter(|mark| is_first && self.rest().starts_with(&[*mark]))?;
        let signs = self.rest().iter().take_while(|byte| **byte == mark).count();
        let is_section = mark == b'[';
        if !is_section && (signs > 6 || !matches!(self.rest().get(signs), None | Some(b' ' | b'\t' | b'\r' | b'\n'))) {
            return None;
        }
        let line = self.line_end();
        let part = &self.text[self.at..line];
        self.at = match part.find(']').filter(|_| is_section) {
            Some(end) => self.at + end + if part[end..].starts_with("]]") { 2 } else { 1 },
            None => line,
        };
        Some(HighlightKind::Keyword)
    }

    fn long_text(&mut self) -> Option<HighlightKind> {
        let mark = self.format.long_quotes.iter().find(|mark| self.rest().starts_with(mark.as_bytes()))?;
        let body = self.at + mark.len();
        self.at = self.text[body..].find(mark).map_or(self.text.len(), |end| body + end + mark.len());
        Some(HighlightKind::Text)
    }

    /// Highlights a word at the start of a line, possibly after the dashes of a list, that is followed by the key
    /// character.
    fn key(&mut self) -> Option<HighlightKind> {
        let sign = self.format.key?;
        let rest = self.rest();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./$%()".contains(byte) || !byte.is_ascii();
        let len = rest.iter().take_while(|byte| is_part(byte)).count();
        if rest.first() == Some(&b'-') && len == 1 {
            self.is_first = true;
            return None;
        }
        let blanks = rest[len..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let behind = &rest[len + blanks..];
        // In YAML `a:b` is a word; elsewhere `a:=b` and `a == b` have no keys.
        let ends = match behind.get(1) {
            None => true,
            Some(next) if sign == b':' => next.is_ascii_whitespace() || self.format.quotes.is_empty() && *next != b'=',
            Some(next) => *next != b'=',
        };
        if len == 0 || behind.first() != Some(&sign) || !ends {
            return None;
        }
        self.at += len;
        Some(HighlightKind::Attribute)
    }

    /// Highlights a string literal that ends on its line; a key if the key character follows.
    fn quoted(&mut self) -> Option<HighlightKind> {
        let quote = *self.rest().first()?;
        if !self.format.quotes.as_bytes().contains(&quote) || self.at < self.unclosed[quote as usize] {
            return None;
        }
        // In prose and in plain YAML an apostrophe occurs in words.
        let before = self.text.as_bytes()[..self.at].last().copied().unwrap_or(b' ');
        if quote == b'\'' && (before.is_ascii_alphanumeric() || !before.is_ascii()) {
            return None;
        }
        let end = self.closing_quote(quote)?;
        self.at = end;
        let behind = self.rest().iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        let is_key = self.format.key.is_some() && behind == self.format.key.as_ref();
        Some(if is_key { HighlightKind::Attribute } else { HighlightKind::Text })
    }

    /// Returns the end of the string literal that begins here. If it is unclosed, that is recorded for the rest of its
    /// line.
    fn closing_quote(&mut self, quote: u8) -> Option<usize> {
        let has_escapes = self.format.escaping_quotes.as_bytes().contains(&quote);
        let mut at = self.at + 1;
        let bytes = self.text.as_bytes();
        while at < bytes.len() && (bytes[at] != b'\n' || self.in_tag) {
            match bytes[at] {
                byte if byte == quote => return Some(at + 1),
                b'\\' if has_escapes => at += 2,
                _ => at += 1,
            }
        }
        self.unclosed[quote as usize] = at;
        None
    }

    /// Highlights `<name` and `>`, and the names of attributes between them.
    fn tag(&mut self) -> Option<HighlightKind> {
        let rest = self.rest();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-:.@#!?".contains(byte);
        match *rest.first()? {
            _ if !self.format.tags => None,
            b'<' => {
                let slash = usize::from(rest.get(1) == Some(&b'/'));
                let len = rest[1 + slash..].iter().take_while(|byte| is_part(byte)).count();
                self.in_tag = len > 0;
                self.at += 1 + slash + len;
                self.in_tag.then_some(HighlightKind::Keyword)
            }
            b'>' => {
                self.at += 1;
                std::mem::replace(&mut self.in_tag, false).then_some(HighlightKind::Keyword)
            }
            _ => {
                let len = rest.iter().take_while(|byte| is_part(byte)).count();
                self.at += len.max(1);
                (self.in_tag && len > 0).then_some(HighlightKind::Attribute)
            }
        }
    }

    /// Highlights a number, a keyword or a rule.
    fn word(&mut self, is_first: bool) -> Option<HighlightKind> {
        let rest = self.rest();
        let byte = *rest.first()?;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        if byte == b'@' && self.format.rules {
            let len = rest[1..].iter().take_while(|byte| is_part(byte) || **byte == b'-').count();
            self.at += 1 + len;
            return (len > 0).then_some(HighlightKind::Attribute);
        }
        if byte.is_ascii_digit() {
            let len = rest.iter().take_while(|byte| is_part(byte) || matches!(byte, b'.' | b'%')).count();
            let len = len - rest[..len].iter().rev().take_while(|byte| **byte == b'.').count();
            self.at += len;
            return self.format.numbers.then_some(HighlightKind::Number);
        }
        let len = rest.iter().take_while(|byte| is_part(byte) || **byte == b'-').count();
        let word = self.text.get(self.at..self.at + len).filter(|_| len > 0)?;
        self.at += len;
        let word = Some(word.to_ascii_lowercase()).filter(|_| len < 20)?;
        let is_known = self.format.keywords.split(' ').any(|known| known == word)
            && (is_first || !self.format.keywords_first_only);
        let is_value = is_known && VALUES.contains(&word.as_str());
        is_known.then_some(if is_value { HighlightKind::Constant } else { HighlightKind::Keyword })
    }

    fn line_end(&self) -> usize {
        let end = self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end);
        if self.text[..end].ends_with('\r') { (end - 1).max(self.at) } else { end }
    }
}

#[cfg(test)]
mod tests {
    use super::FORMATS;
    use crate::detect;

    #[test]
    fn formats_are_plain_languages_and_unique() {
        let mut names: Vec<&str> = FORMATS.iter().flat_map(|format| format.languages).copied().collect();
        assert!(names.iter().all(|name| detect::is_plain(name)));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let words = FORMATS.iter().flat_map(|format| format.keywords.split(' '));
        words.for_each(|word| assert!(!word.chars().any(char::is_uppercase), "{word}"));
    }
}
