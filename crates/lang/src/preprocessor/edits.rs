//! Collects the ranges of tokens to blank, and applies them.

use codecompass_model::{RefShape, Span};

use super::Repair;
use super::tokens::{Strings, Token, TokenKind, tokens};

/// The words of directives that are not names.
const DIRECTIVE_WORDS: &[&str] =
    &["if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif", "defined", "true", "false"];

/// What to change in a list of tokens.
pub(crate) struct Edits<'e, 't> {
    tokens: &'e [Token<'t>],
    /// Lists of words that are not names.
    keywords: &'e [&'e [&'e str]],
    /// Whether the words of preprocessor lines are names.
    has_macros: bool,
    is_blank: Vec<bool>,
    /// Single bytes that replace others.
    bytes: Vec<(usize, u8)>,
    starts: Vec<(u32, u32)>,
}

impl<'e, 't> Edits<'e, 't> {
    pub(crate) fn new(tokens: &'e [Token<'t>], keywords: &'e [&'e [&'e str]], has_macros: bool) -> Self {
        let is_blank = vec![false; tokens.len()];
        Self { tokens, keywords, has_macros, is_blank, bytes: Vec::new(), starts: Vec::new() }
    }

    /// Blanks a range of tokens.
    pub(crate) fn blank(&mut self, range: std::ops::Range<usize>) {
        self.is_blank[range].fill(true);
    }

    /// Blanks a range of tokens, except for the definitions of macros and includes.
    pub(crate) fn blank_code(&mut self, range: std::ops::Range<usize>) {
        for at in range {
            let token = &self.tokens[at];
            self.is_blank[at] |= !token.is_directive() || !matches!(token.directive(), "define" | "include");
        }
    }

    /// Replaces a byte.
    pub(crate) fn put(&mut self, offset: usize, byte: u8) {
        self.bytes.push((offset, byte));
    }

    /// Makes the declaration at one token begin at another one before it.
    pub(crate) fn start_at(&mut self, token: usize, start: usize) {
        self.starts.push((self.tokens[token].start as u32, self.tokens[start].start as u32));
    }

    /// Returns the numbers of the tokens that are left.
    pub(crate) fn left(&self) -> Vec<usize> {
        (0..self.tokens.len()).filter(|&at| !self.is_blank[at]).collect()
    }

    /// Returns the changed text, or `None` when nothing changes.
    pub(crate) fn apply(mut self, text: &str) -> Option<Repair> {
        if self.bytes.is_empty() && !self.is_blank.contains(&true) {
            return None;
        }
        let mut bytes = text.as_bytes().to_vec();
        let mut words = Vec::new();
        for (at, token) in self.tokens.iter().enumerate().filter(|(at, _)| self.is_blank[*at]) {
            let range = &mut bytes[token.start..token.end()];
            range.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
            match token.kind {
                TokenKind::Word if !self.keywords.iter().any(|words| words.contains(&token.text)) => {
                    let is_called = self.tokens.get(at + 1).is_some_and(|next| next.text == "(");
                    let shape = match () {
                        () if is_called => RefShape::Call,
                        () if token.is_macro() => RefShape::Value,
                        () => RefShape::Mention,
                    };
                    words.push((span(token, 0), shape));
                }
                TokenKind::Directive if self.has_macros => words.extend(directive_words(token)),
                _ => {}
            }
        }
        for (offset, byte) in self.bytes {
            bytes[offset] = byte;
        }
        self.starts.sort_unstable();
        let text = String::from_utf8(bytes).ok()?;
        Some(Repair { text, words, starts: self.starts })
    }
}

/// Returns the names in a preprocessor line.
fn directive_words<'d>(line: &'d Token<'_>) -> impl Iterator<Item = (Span, RefShape)> + 'd {
    let rest = line.text.trim_start_matches('#');
    let skipped = line.text.len() - rest.len();
    let all = tokens(rest, Strings::C).into_iter();
    let names = all.filter(|token| token.is_word() && !DIRECTIVE_WORDS.contains(&token.text));
    names.map(move |token| (span(&token, line.start + skipped), RefShape::Value))
}

fn span(token: &Token<'_>, offset: usize) -> Span {
    Span { start: (token.start + offset) as u32, end: (token.end() + offset) as u32 }
}
