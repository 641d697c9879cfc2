//! What was typed, as a pattern: beginnings of the words of a name, in order, from its first word on.

use codecompass_store::letter_set;

/// The maximum number of typed letters that are matched as beginnings of words: the bits of a state, less one.
const MAX_LETTERS: usize = 63;

/// What was typed for one name.
#[derive(Debug)]
pub(super) struct Typed<'t> {
    pub(super) text: &'t str,
    /// Whether a capital letter was typed: otherwise a prefix ignores case.
    has_capital: bool,
    /// The letters and digits in lower case.
    letters: Vec<char>,
    letter_set: u32,
    /// For each ASCII letter, the positions at which it was typed, as bits.
    places: [u64; 128],
}

/// How well a name continues what was typed, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// It is the same.
    Exact,
    /// It begins with it.
    Prefix,
    /// It begins with its letters, ignoring case and other characters.
    SameLetters,
    /// Its words begin with it.
    Words,
}

impl<'t> Typed<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let letters: Vec<char> = letters(text).take(MAX_LETTERS).collect();
        let mut places = [0; 128];
        for (at, letter) in letters.iter().enumerate().filter(|(_, letter)| letter.is_ascii()) {
            places[*letter as usize] |= 1 << at;
        }
        let has_capital = text.contains(char::is_uppercase);
        Self { text, has_capital, letter_set: letter_set(text), letters, places }
    }

    /// Returns the characters with which names that continue it can begin. Underscores before a name need not be typed.
    pub(super) fn first_characters(&self) -> Vec<char> {
        match self.text.chars().next() {
            Some(first) if first.is_alphanumeric() => vec![first, '_'],
            Some(first) => vec![first],
            None => Vec::new(),
        }
    }

    /// Whether a name with this [`letter_set`] can continue it.
    pub(super) fn may_match(&self, letter_set: u32) -> bool {
        self.letter_set & !letter_set == 0
    }

    /// Returns how well a name continues it, if it does.
    pub(super) fn matches(&self, name: &str) -> Option<Match> {
        if !self.text.is_empty() && self.is_prefix_of(name) {
            return Some(if name == self.text { Match::Exact } else { Match::Prefix });
        }
        if !self.begins_words(name) {
            return None;
        }
        let is_same = letters(name).take(self.letters.len()).eq(self.letters.iter().copied());
        Some(if is_same { Match::SameLetters } else { Match::Words })
    }

    /// Whether a capital letter was typed, and the first letter of a name has the other case.
    pub(super) fn differs_in_case(&self, name: &str) -> bool {
        let first = |text: &str| text.chars().find(|char| char.is_alphanumeric());
        self.has_capital && first(self.text) != first(name)
    }

    fn is_prefix_of(&self, name: &str) -> bool {
        let is_alike = || name.get(..self.text.len()).is_some_and(|start| start.eq_ignore_ascii_case(self.text));
        name.starts_with(self.text) || !self.has_capital && is_alike()
    }

    /// Whether it consists of beginnings of words of a name, in order, from the first word on. A capital letter after a
    /// small one begins a word, as does any letter after another character.
    fn begins_words(&self, name: &str) -> bool {
        let done = 1 << self.letters.len();
        // A bit for each number of letters that may be matched: with the last one at the previous letter of the name,
        // and with the last one anywhere before. A new word may continue the second.
        let (mut adjacent, mut reached) = (1_u64, 0_u64);
        let mut before: Option<char> = None;
        let mut chars = name.chars().peekable();
        while let Some(char) = chars.next() {
            if char.is_alphanumeric() {
                let from = if begins_word(before, char, chars.peek().copied()) { adjacent | reached } else { adjacent };
                adjacent = char.to_lowercase().fold(from, |from, letter| (from & self.places_of(letter)) << 1);
                reached |= adjacent;
                if reached & done != 0 {
                    return true;
                }
                if reached == 0 {
                    return false;
                }
            }
            before = Some(char);
        }
        false
    }

    fn places_of(&self, letter: char) -> u64 {
        match self.places.get(letter as usize) {
            Some(places) => *places,
            None => self.letters.iter().enumerate().fold(0, |all, (at, known)| all | u64::from(*known == letter) << at),
        }
    }
}

/// Whether a letter begins a word.
fn begins_word(before: Option<char>, char: char, next: Option<char>) -> bool {
    let is_after_small = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
    // The last capital of several begins a word: `HTTPResponse`.
    let is_before_small = next.is_some_and(char::is_lowercase);
    !before.is_some_and(char::is_alphanumeric) || char.is_uppercase() && (is_after_small || is_before_small)
}

/// The letters and digits in lower case.
fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_words_match() {
        use Match::{Exact, Prefix, SameLetters, Words};
        let table = [
            ("QuerySe", "QuerySet", Some(Prefix)),
            ("qs", "QuerySet", Some(Words)),
            ("QS", "QuerySet", Some(Words)),
            ("QuerySet", "QuerySet", Some(Exact)),
            ("queryset", "QuerySet", Some(Prefix)),
            ("Querys", "QuerySet", Some(SameLetters)),
            ("get_objec", "get_object_or_404", Some(Prefix)),
            ("getObj", "get_object_or_404", Some(SameLetters)),
            ("goo4", "get_object_or_404", Some(Words)),
            ("gobject", "get_object_or_404", Some(Words)),
            ("HTTPResp", "HTTPResponse", Some(Prefix)),
            ("hr", "HTTPResponse", Some(Words)),
            ("httpr", "HTTPResponse", Some(Prefix)),
            ("_priv", "_private_name", Some(Prefix)),
            ("priv", "_private_name", Some(SameLetters)),
            ("abab", "AbcAbab", Some(Words)),
            ("straßen", "StraßeNord", Some(Prefix)),
            ("straSS", "stra_ssE", Some(SameLetters)),
            ("éa", "ÉtéAoût", Some(Words)),
            ("set", "QuerySet", None),
            ("qet", "QuerySet", None),
            ("qse", "QUerySet", Some(Words)),
            ("queryx", "QuerySet", None),
            ("", "QuerySet", None),
            ("parse2", "parse_utf8_2", Some(Words)),
        ];
        for (typed, name, expected) in table {
            let typed = Typed::new(typed);
            assert_eq!(typed.matches(name), expected, "{} {name}", typed.text);
            assert!(expected.is_none() || typed.may_match(letter_set(name)), "{} {name}", typed.text);
        }
        let long = "a".repeat(100);
        assert_eq!(Typed::new(&long).matches(&long), Some(Exact));
        assert!(Typed::new(&long).matches(&long.to_uppercase()).is_some());
    }
}
