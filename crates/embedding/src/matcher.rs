//! The match by word: how well each word of a query has a counterpart among the words of a symbol.
//!
//! One embedding of a text blurs its words. Here every query word keeps its own best match over the symbol's fields: the
//! word itself or an inflection of it, else the known word with the most similar row. The logarithm makes the sum a soft
//! AND: one word without any counterpart costs more than several imperfect ones.

use crate::model::{DIMENSIONS, Embedding, Model, PassageWords, Words};

/// The match of a symbol that contains every query word in its name.
pub const MAX_MATCH: u32 = LOGARITHMS[ONE as usize] as u32;

/// The similarity of a word to itself.
const ONE: u8 = 128;

/// The shares of a match in each field, relative to the name, out of [`ONE`].
const DOC: u32 = 102;
const PARENT: u32 = 102;
const HEAD: u32 = 83;
const REST: u32 = 70;
const PATH: u32 = 64;

/// 1 - ln(.1 + .9 m) / ln(.1) for m from 0 to 1 in steps of 1 / [`ONE`], out of 65,535.
const LOGARITHMS: [u16; ONE as usize + 1] = [
    0, 1934, 3745, 5447, 7054, 8574, 10018, 11392, 12702, 13955, 15155, 16306, 17413, 18478, 19505, 20496, 21453,
    22380, 23277, 24147, 24991, 25811, 26608, 27383, 28137, 28872, 29589, 30288, 30970, 31636, 32287, 32924, 33546,
    34155, 34752, 35336, 35908, 36470, 37020, 37560, 38090, 38610, 39120, 39622, 40115, 40600, 41077, 41545, 42006,
    42460, 42907, 43347, 43780, 44206, 44627, 45041, 45449, 45851, 46248, 46640, 47026, 47407, 47782, 48153, 48520,
    48881, 49238, 49591, 49939, 50283, 50623, 50959, 51291, 51619, 51944, 52265, 52582, 52895, 53206, 53513, 53816,
    54117, 54414, 54708, 55000, 55288, 55573, 55856, 56136, 56413, 56687, 56959, 57228, 57495, 57759, 58021, 58280,
    58537, 58792, 59045, 59295, 59543, 59789, 60033, 60275, 60514, 60752, 60988, 61222, 61454, 61684, 61912, 62138,
    62363, 62586, 62807, 63026, 63244, 63460, 63674, 63887, 64099, 64308, 64516, 64723, 64928, 65132, 65334, 65535,
];

/// Decides how well another word is the same as a query word, both in lower case and with the same first letter, out of
/// 128.
pub type SameWord = fn(&str, &str) -> u8;

/// Matches the words of one query with those of many symbols. Similarities are computed once per word of the
/// vocabulary.
#[derive(Clone, Debug)]
pub struct WordMatcher {
    model: Model,
    terms: Vec<Term>,
    same: SameWord,
    /// For each row of the model, one more than its place in `table`, else 0.
    places: Vec<u32>,
    /// The similarity of each term, for each row that was needed so far.
    table: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Term {
    text: String,
    embedding: Embedding,
    /// The share of the query, out of 65,536.
    share: u64,
}

impl Term {
    fn first(&self) -> Option<u8> {
        self.text.as_bytes().first().copied()
    }
}

impl WordMatcher {
    /// Creates the matcher of some lower-case words, each with a factor for its importance; `None` if there is none with
    /// a positive factor. The model's own opinion of a word's importance is multiplied by the factor.
    pub fn new<'q>(model: &Model, words: impl Iterator<Item = (&'q str, u32)>, same: SameWord) -> Option<Self> {
        let known = words.filter_map(|(word, factor)| {
            let (embedding, length) = model.embed_word(word)?;
            let term = Term { text: word.to_owned(), embedding, share: u64::from(length) * u64::from(factor) };
            (term.share > 0).then_some(term)
        });
        let mut terms: Vec<Term> = known.collect();
        let sum: u64 = terms.iter().map(|term| term.share).sum();
        terms.iter_mut().for_each(|term| term.share = (u128::from(term.share) * 65_536 / u128::from(sum)) as u64);
        let places = vec![0; model.known_words()];
        (!terms.is_empty()).then(|| Self { model: *model, terms, same, places, table: Vec::new() })
    }

    /// Returns the match of a symbol, from 0 to about [`MAX_MATCH`].
    pub fn score(&mut self, passage: &PassageWords<'_>, path: &Words<'_>) -> u32 {
        let fields = [
            (&passage.name, u32::from(ONE)),
            (&passage.doc, DOC),
            (&passage.qualified, PARENT),
            (&passage.head, HEAD),
            (&passage.rest, REST),
            (path, PATH),
        ];
        let mut best = vec![0u8; self.terms.len()];
        let mut in_field = vec![0u8; self.terms.len()];
        for (words, share) in fields {
            in_field.fill(0);
            self.best_in(words, &mut in_field);
            for (best, found) in best.iter_mut().zip(&in_field) {
                *best = (*best).max(((u32::from(*found) * share + 64) >> 7) as u8);
            }
        }
        let logarithm = |best: &u8| u64::from(LOGARITHMS[usize::from(*best)]);
        let sum: u64 = self.terms.iter().zip(&best).map(|(term, best)| term.share * logarithm(best)).sum();
        (sum >> 16) as u32
    }

    /// Raises the match of each term to its best one among these words.
    fn best_in(&mut self, words: &Words<'_>, best: &mut [u8]) {
        let count = self.terms.len();
        for row in &words.known {
            let start = self.place(*row as usize);
            for (best, found) in best.iter_mut().zip(&self.table[start..start + count]) {
                *best = (*best).max(*found);
            }
        }
        for word in &words.unknown {
            let first = word.as_bytes().first().map(u8::to_ascii_lowercase);
            for (best, term) in best.iter_mut().zip(&self.terms).filter(|(_, term)| term.first() == first) {
                *best = (*best).max((self.same)(&term.text, &word.to_ascii_lowercase()));
            }
        }
    }

    /// Returns where the similarities of a row start in the table, and computes them the first time.
    fn place(&mut self, row: usize) -> usize {
        if self.places[row] == 0 {
            let components = self.model.components(row);
            // The components are small, so the squares are summed in 32 bits, which processors do eight at a time.
            let squares: i32 = components.iter().map(|one| i32::from(*one) * i32::from(*one)).sum();
            let length = (i64::from(squares) << 16).isqrt().max(1);
            let word = self.model.word(row);
            let start = self.table.len();
            for term in &self.terms {
                let near = similarity(term.embedding.components(), &components, length);
                let is_alike = term.first() == word.first().copied();
                let word = if is_alike { std::str::from_utf8(word).unwrap_or_default() } else { "" };
                self.table.push(if is_alike { near.max((self.same)(&term.text, word)) } else { near });
            }
            self.places[row] = start as u32 + 1;
        }
        self.places[row] as usize - 1
    }
}

/// Returns the cosine of a normalized embedding and a row with this length, in units of 1 / 256, out of [`ONE`]; 0 if it
/// is negative.
fn similarity(one: &[i16; DIMENSIONS], other: &[i16; DIMENSIONS], length: i64) -> u8 {
    let product: i32 = one.iter().zip(other).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum();
    (2 * i64::from(product) / length).clamp(0, i64::from(ONE)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MODEL, Passage};

    fn equal(one: &str, other: &str) -> u8 {
        if one == other { ONE } else { 0 }
    }

    fn matcher(words: &[&str]) -> WordMatcher {
        WordMatcher::new(&MODEL, words.iter().map(|word| (*word, 100)), equal).expect("because there are words")
    }

    fn score(words: &[&str], name: &str, code: &str) -> u32 {
        let passage = Passage { name, qualified: name, doc: "", code: [code, ""] };
        matcher(words).score(&MODEL.passage_words(&passage), &Words::default())
    }

    #[test]
    fn table_contains_logarithms() {
        for (at, known) in LOGARITHMS.iter().enumerate() {
            let share = at as f64 / f64::from(ONE);
            assert_eq!(f64::from(*known), (65_535.0 * (1.0 - (0.1 + 0.9 * share).ln() / 0.1f64.ln())).round(), "{at}");
        }
    }

    #[test]
    fn every_word_in_the_name_is_the_maximum() {
        let most = score(&["open", "socket"], "open_socket", "");
        assert!(most <= MAX_MATCH && most + 2 >= MAX_MATCH, "{most}");
        assert!(score(&["open", "socket"], "open", "socket") < most);
        assert!(score(&["qzxv", "socket"], "qzxv_socket", "") + 2 >= MAX_MATCH);
    }

    #[test]
    fn similar_words_match_better_than_others() {
        let near = score(&["delete"], "remove", "");
        let far = score(&["delete"], "banana", "");
        assert!(near > far, "{near} {far}");
    }

    #[test]
    fn two_half_matches_are_better_than_one_whole_match() {
        let both = score(&["delete", "folder"], "x", "delete folder");
        let one = score(&["delete", "folder"], "delete", "delete");
        assert!(both > one, "{both} {one}");
    }

    #[test]
    fn order_of_symbols_does_not_matter() {
        let mut used = matcher(&["parse", "header"]);
        let words = |name| MODEL.passage_words(&Passage { name, qualified: name, ..Passage::default() });
        let before = used.score(&words("parse_header"), &Words::default());
        let _ = used.score(&words("read_line"), &Words::default());
        assert_eq!(used.score(&words("parse_header"), &Words::default()), before);
        assert!(WordMatcher::new(&MODEL, [("parse", 0)].into_iter(), equal).is_none());
    }
}
