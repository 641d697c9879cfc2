//! The tokenizer of the text index: whole identifiers and their camel, snake and digit parts.
//!
//! `HTTPServer_v2` gives `HTTPServer_v2`, `HTTP`, `Server`, `v`, `2`; the consumer lower-cases them. A word without
//! inner borders is returned once. The text index and the exact token counts of a view use this one iterator, so they
//! cannot disagree.

/// The maximum length of a token. Longer words and parts are data, not names.
const MAX_TOKEN_BYTES: usize = 80;

/// Whether a character is part of a word.
pub fn is_word(char: char) -> bool {
    match char.is_ascii() {
        true => char.is_ascii_alphanumeric() || char == '_',
        false => char.is_alphabetic() || char.is_numeric(),
    }
}

/// Whether tokens and regular expressions treat a character differently: it is a word character here but not there
/// (`²`), or its lower case differs from that of its upper case (`ſ`, `ς`), so that ignoring case is more than
/// lower-casing.
pub fn is_odd(char: char) -> bool {
    !char.is_ascii() && is_word(char) && (!regex_syntax::is_word_character(char) || has_odd_case(char))
}

fn has_odd_case(char: char) -> bool {
    !char.to_lowercase().eq(char.to_uppercase().flat_map(char::to_lowercase))
}

/// Appends a token in lower case, character by character, so that the lower case of a part is part of the lower case.
pub(crate) fn push_lower(token: &str, into: &mut String) {
    if token.is_ascii() {
        let start = into.len();
        into.push_str(token);
        into[start..].make_ascii_lowercase();
    } else {
        into.extend(token.chars().flat_map(char::to_lowercase));
    }
}

/// Returns a token in lower case.
pub(crate) fn lower(token: &str) -> String {
    let mut lower = String::with_capacity(token.len());
    push_lower(token, &mut lower);
    lower
}

/// Returns the words of a text that are too long to be tokens, without outer underscores.
pub(crate) fn long_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|char| !is_word(char)).filter(|word| word.len() > MAX_TOKEN_BYTES);
    words.map(|word| word.trim_matches('_')).filter(|word| word.len() > MAX_TOKEN_BYTES)
}

/// Whether a text has a character for which [`is_odd`] is true.
pub(crate) fn has_odd(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_odd)
}

/// Returns the tokens of a text, in order, as slices of it.
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, position: 0, parts: Vec::new(), next_part: 0 }
}

/// An iterator over the tokens of a text; see [`tokens`].
#[derive(Debug)]
pub struct Tokens<'t> {
    text: &'t str,
    position: usize,
    parts: Vec<(usize, usize)>,
    next_part: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Underscore,
    Other,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        loop {
            if let Some(&(start, end)) = self.parts.get(self.next_part) {
                self.next_part += 1;
                if end - start <= MAX_TOKEN_BYTES {
                    return Some(&self.text[start..end]);
                }
                continue;
            }
            self.read_word()?;
        }
    }
}

impl Tokens<'_> {
    /// Moves past the next word and records it and its parts; `None` at the end of the text.
    fn read_word(&mut self) -> Option<()> {
        self.parts.clear();
        self.next_part = 0;
        let bytes = self.text.as_bytes();
        let mut start = self.position;
        while start < bytes.len() {
            let (class, length) = class_at(self.text, start);
            if class != Class::Other {
                break;
            }
            start += length;
        }
        if start >= bytes.len() {
            self.position = start;
            return None;
        }
        let mut at = start;
        let mut part_start = start;
        let mut before = Class::Underscore;
        let mut before_length = 0;
        self.parts.push((start, start));
        while at < bytes.len() {
            let (class, length) = class_at(self.text, at);
            if class == Class::Other {
                break;
            }
            let cut = match (before, class) {
                (Class::Underscore, _) | (_, Class::Underscore) => Some(at),
                (Class::Lower, Class::Upper) => Some(at),
                (Class::Digit, Class::Lower | Class::Upper) | (Class::Lower | Class::Upper, Class::Digit) => Some(at),
                // `HTTPServer`: the last capital of a run belongs to the next word.
                (Class::Upper, Class::Lower) if at - before_length > part_start => Some(at - before_length),
                _ => None,
            };
            if let Some(cut) = cut {
                self.end_part(part_start, cut);
                part_start = cut;
            }
            if class == Class::Underscore {
                part_start = at + length;
            }
            before = class;
            before_length = length;
            at += length;
        }
        self.end_part(part_start, at);
        self.position = at;
        self.close_word(start, at);
        Some(())
    }

    fn end_part(&mut self, start: usize, end: usize) {
        if end > start {
            self.parts.push((start, end));
        }
    }

    /// Puts the whole word, without outer underscores, before its parts. A word that is its only part is returned once.
    fn close_word(&mut self, start: usize, end: usize) {
        match self.parts.len() {
            1 => self.parts.clear(),
            2 => {
                self.parts.remove(0);
            }
            count => {
                let (first, last) = (self.parts[1].0, self.parts[count - 1].1);
                debug_assert!(start <= first && last <= end, "parts are inside their word");
                self.parts[0] = (first, last);
            }
        }
    }
}

fn class_at(text: &str, at: usize) -> (Class, usize) {
    let byte = text.as_bytes()[at];
    if byte < 0x80 {
        let class = match byte {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Underscore,
            _ => Class::Other,
        };
        return (class, 1);
    }
    let Some(char) = text[at..].chars().next() else {
        return (Class::Other, 1);
    };
    let class = if char.is_uppercase() {
        Class::Upper
    } else if char.is_alphabetic() {
        Class::Lower
    } else if char.is_numeric() {
        Class::Digit
    } else {
        Class::Other
    };
    (class, char.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_into_parts() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("plain words", &["plain", "words"]),
            ("HTTPServer", &["HTTPServer", "HTTP", "Server"]),
            ("validate_token", &["validate_token", "validate", "token"]),
            ("__init__", &["init"]),
            ("utf8 x2Y", &["utf8", "utf", "8", "x2Y", "x", "2", "Y"]),
            ("a::b.c-d", &["a", "b", "c", "d"]),
            ("camelCase", &["camelCase", "camel", "Case"]),
            ("___", &[]),
            ("Größe straßeNord", &["Größe", "straßeNord", "straße", "Nord"]),
            ("where's 🦀 it", &["where", "s", "it"]),
            ("XMLHttpRequest2", &["XMLHttpRequest2", "XML", "Http", "Request", "2"]),
        ];
        for (text, expected) in table {
            assert_eq!(tokens(text).collect::<Vec<_>>(), *expected, "{text}");
        }
    }

    #[test]
    fn overlong_words_are_dropped() {
        let long = "x".repeat(MAX_TOKEN_BYTES + 1);
        assert_eq!(tokens(&format!("a {long} b")).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn long_words_are_those_that_are_no_tokens() {
        let (fits, long) = ("x".repeat(MAX_TOKEN_BYTES), "é".repeat(MAX_TOKEN_BYTES / 2 + 1));
        for (text, expected) in [(format!("a __{fits}__ b"), false), (format!("a.{long}"), true)] {
            assert_eq!(long_words(&text).next().is_some(), expected, "{text}");
            assert_eq!(tokens(&text).count(), if expected { 1 } else { 3 }, "{text}");
        }
    }

    #[test]
    fn odd_characters_have_ambiguous_case_or_borders() {
        assert!("aZ_9éÉ名ΣσЖж٣".chars().all(|char| !is_odd(char)));
        assert!("ſςµß²½".chars().all(is_odd));
    }
}
