//! Colours of code, for whoever shows a file to people.
//!
//! [`colours`] says of a text which bytes are comments, texts, numbers, keywords, types, names of functions, constants and
//! attributes. It promises no more than a reader's eye needs: what a node is, its kind's name tells in every grammar alike
//! (`kinds`), what a name is, the nodes around it (`walk`), and what is odd about a language stands in one table (`table`).
//! A text without a grammar has its comments, texts and numbers told by a scanner that knows a few facts of each format
//! (`scan`). Nothing of it is stored or asked for by rules, so a better colour is no new version of anything.
//!
//! Like extraction it is total: any bytes give colours, broken code fewer, a text beyond the budget of a parse none.

mod formats;
mod kinds;
mod scan;
mod table;
mod walk;

use std::cell::Cell;

use crate::{Language, MAX_BYTES, Walk, detect, parse};

/// What a part of a text is. Punctuation, and names of which nothing better is known, are nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// A comment.
    Comment,
    /// A comment, or a text, that documents what stands beside it.
    Doc,
    /// A string, a character, a regular expression; code inside of it is code.
    Text,
    /// A number.
    Number,
    /// A word of the language.
    Keyword,
    /// The name of a type.
    Type,
    /// The name of a function where it is defined or called.
    Function,
    /// A word for a value: `true`, `nil`, `LIMIT`, `:ok`.
    Constant,
    /// An annotation, a decorator, a directive of a preprocessor; in data a key.
    Attribute,
}

impl Colour {
    /// All of them.
    pub const ALL: [Colour; 9] = [
        Colour::Comment,
        Colour::Doc,
        Colour::Text,
        Colour::Number,
        Colour::Keyword,
        Colour::Type,
        Colour::Function,
        Colour::Constant,
        Colour::Attribute,
    ];

    /// Its name, in lower case letters.
    pub const fn name(&self) -> &'static str {
        match self {
            Colour::Comment => "comment",
            Colour::Doc => "doc",
            Colour::Text => "text",
            Colour::Number => "number",
            Colour::Keyword => "keyword",
            Colour::Type => "type",
            Colour::Function => "function",
            Colour::Constant => "constant",
            Colour::Attribute => "attribute",
        }
    }
}

/// A part of a text with a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coloured {
    /// Its first byte.
    pub start: u32,
    /// The byte behind its last one.
    pub end: u32,
    /// What it is.
    pub colour: Colour,
}

/// The colours of a file: in order, none over another, each between two characters of the text. Where the bytes are no UTF-8,
/// places are those of the text that [`extract`](crate::extract) gives back, in which such bytes are replaced. A language may be
/// chosen as for [`extract_as`](crate::extract_as).
pub fn colours(path: &str, bytes: &[u8], language: Option<&str>) -> Vec<Coloured> {
    colours_while(path, bytes, language, &|| true).unwrap_or_default()
}

/// The same for a caller who may lose patience: `go_on` is asked now and then while the file is parsed, and once it has said no
/// there is nothing. A text that the budget of a parse does not suffice for has no colours, whoever waits for them.
pub fn colours_while(
    path: &str,
    bytes: &[u8],
    language: Option<&str>,
    go_on: &dyn Fn() -> bool,
) -> Option<Vec<Coloured>> {
    let text = String::from_utf8_lossy(bytes);
    if text.len() > MAX_BYTES {
        return Some(Vec::new());
    }
    let found = language.and_then(|name| detect::named(name, path)).unwrap_or_else(|| detect::detect(path, &text));
    let Some(language) = found.language else {
        return Some(scan::colours(found.name, &text));
    };
    let is_over = Cell::new(false);
    let go_on = || {
        is_over.set(is_over.get() || !go_on());
        !is_over.get()
    };
    let all = of_code(language, &text, &go_on);
    (!is_over.get()).then_some(all)
}

fn of_code(language: &Language, text: &str, go_on: &dyn Fn() -> bool) -> Vec<Coloured> {
    let Walk::Embedded { code, .. } = language.walk else {
        return of_tree(language, text, text, go_on);
    };
    let code = code(text);
    if code.len() != text.len() {
        return Vec::new();
    }
    let mut all = scan::colours(scan::MARKUP, &without(text, &code));
    all.extend(of_tree(language, &code, text, go_on));
    in_order(all)
}

/// The colours of code, in a text that may be more than the code.
fn of_tree(language: &Language, code: &str, text: &str, go_on: &dyn Fn() -> bool) -> Vec<Coloured> {
    let odd = table::odd(language.name);
    let parsed = parse::with_best_tree(language, code, go_on, |tree, repaired| {
        let mut all = walk::colours(tree, text, odd);
        // What the parser was not shown has no node.
        let hidden = repaired.zip(odd.repaired).map(|(repaired, colour)| changes(code, repaired, colour));
        all.extend(hidden.into_iter().flatten());
        all
    });
    in_order(parsed.unwrap_or_default())
}

/// The text with blanks in the place of the code in it.
fn without(text: &str, code: &str) -> String {
    let blank = |(byte, code): (u8, u8)| if byte == code && byte != b'\n' { b' ' } else { byte };
    // Code is whole characters, so what is left is, too.
    String::from_utf8(text.bytes().zip(code.bytes()).map(blank).collect()).unwrap_or_default()
}

/// The words of a text that stand otherwise in its repaired form.
fn changes(text: &str, repaired: &str, colour: Colour) -> Vec<Coloured> {
    let (text, repaired) = (text.as_bytes(), repaired.as_bytes());
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.len().min(repaired.len()) {
        let same = |(one, other): (&u8, &u8)| one == other;
        let len = text[at..].iter().zip(&repaired[at..]).take_while(|pair| !same(*pair)).count();
        if len > 0 && (text[at].is_ascii_alphabetic() || matches!(text[at], b'#' | b'@' | b'_')) {
            all.push(Coloured { start: at as u32, end: (at + len) as u32, colour });
        }
        at += len.max(1);
    }
    all
}

/// Sorted, and without what begins before the one before it has ended.
fn in_order(mut all: Vec<Coloured>) -> Vec<Coloured> {
    all.sort_by_key(|one| (one.start, one.end));
    let mut end = 0;
    all.retain(|one| {
        let follows = one.start >= end;
        end = if follows { one.end } else { end };
        follows
    });
    all
}

/// Colours while they are found, from the front to the back of a text.
struct Painter<'t> {
    text: &'t str,
    /// All before it is done.
    at: usize,
    done: Vec<Coloured>,
}

impl<'t> Painter<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, done: Vec::new() }
    }

    /// Goes on to a place, and leaves all up to there in one colour, or in none. A place that was passed is none.
    fn to(&mut self, place: usize, colour: Option<Colour>) {
        let (start, end) = (self.at, self.at.max(place));
        self.at = end;
        let Some((colour, part)) = colour.zip(self.text.get(start..end)) else { return };
        let kept = match colour {
            Colour::Comment | Colour::Doc => part.trim_end_matches(['\n', '\r']).len(),
            _ => part.len(),
        };
        let (start, end) = (start as u32, (start + kept) as u32);
        match self.done.last_mut() {
            Some(last) if last.end == start && last.colour == colour => last.end = end,
            _ if kept > 0 => self.done.push(Coloured { start, end, colour }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_many_as_colours() {
        let mut names: Vec<&str> = Colour::ALL.iter().map(Colour::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Colour::ALL.len());
    }

    #[test]
    fn what_the_parser_is_not_shown_has_the_colour_of_repairs() {
        let colour = Colour::Keyword;
        let all = changes("expect open class A\n <T>", "       open class A\n;<T>", colour);
        assert_eq!(all, [Coloured { start: 0, end: 6, colour }]);
    }

    #[test]
    fn of_two_colours_over_each_other_the_first_stays() {
        let one = |start, end| Coloured { start, end, colour: Colour::Text };
        assert_eq!(in_order(vec![one(3, 5), one(0, 2), one(1, 4), one(5, 6)]), [one(0, 2), one(3, 5), one(5, 6)]);
    }
}
