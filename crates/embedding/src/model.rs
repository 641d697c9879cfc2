//! The model: reads the weights in place and computes embeddings.
//!
//! A text is a bag of words. Each known word has a row of small numbers and a weight for each field it may occur in; an
//! unknown word uses the rows and weights of its hashed n-grams. The embedding of a text is the sum of the rows of its
//! words, each multiplied by its weight and by one plus the logarithm of its number of occurrences, normalized to a
//! fixed length.
//!
//! All arithmetic uses integers: rows of four bits, weights in fixed point, logarithms from a table, the length by an
//! integer square root. An embedding is therefore the same on every machine, in any order of additions.
//! `training/weights.py` writes the file and computes the same; the golden test compares the two.

use crate::tokenizer::MAX_WORD_LEN;
use crate::{Passage, tokenize};

/// The number of components of an embedding.
pub const DIMENSIONS: usize = 256;

/// The length to which embeddings are normalized.
const UNIT_LENGTH: i64 = 1 << 14;

/// The similarity of an embedding to itself, approximately.
pub const MAX_SIMILARITY: i32 = 1 << 15;

const MAGIC: &[u8] = b"CCMEAN";
const FORMAT: u16 = 1;
const FIELDS: usize = 4;
const NGRAM_LEN: usize = 4;

/// 256 times one plus the logarithm of a count, indexed by the count. Higher counts use the last entry.
const TERM_FREQUENCY_WEIGHTS: [u32; 65] = [
    0, 256, 433, 537, 611, 668, 715, 754, 788, 818, 845, 870, 892, 913, 932, 949, 966, 981, 996, 1010, 1023, 1035,
    1047, 1059, 1070, 1080, 1090, 1100, 1109, 1118, 1127, 1135, 1143, 1151, 1159, 1166, 1173, 1180, 1187, 1194, 1200,
    1207, 1213, 1219, 1225, 1231, 1236, 1242, 1247, 1252, 1257, 1263, 1268, 1272, 1277, 1282, 1286, 1291, 1295, 1300,
    1304, 1308, 1313, 1317, 1321,
];

/// The field that a word occurs in. Each field has its own weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Query,
    Code,
    Name,
    Doc,
}

/// The embedding of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedding([i16; DIMENSIONS]);

impl Embedding {
    /// Returns its components.
    pub fn components(&self) -> &[i16; DIMENSIONS] {
        &self.0
    }

    /// Returns the similarity to another embedding, from about -[`MAX_SIMILARITY`] to [`MAX_SIMILARITY`].
    pub fn similarity(&self, other: &Self) -> i32 {
        let products = self.0.iter().zip(&other.0).map(|(one, another)| i32::from(*one) * i32::from(*another));
        products.sum::<i32>() >> 13
    }
}

/// The words of a text: rows of the known ones, and the unknown ones as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words<'t> {
    pub(crate) known: Vec<u32>,
    pub(crate) unknown: Vec<&'t str>,
}

/// The words of a symbol by field, looked up once for the embedding and for the [match by word](crate::WordMatcher).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassageWords<'t> {
    /// The name.
    pub name: Words<'t>,
    /// The end of the qualified name.
    pub qualified: Words<'t>,
    /// The doc comment.
    pub doc: Words<'t>,
    /// The start of the code.
    pub head: Words<'t>,
    /// The rest of the code.
    pub rest: Words<'t>,
}

/// An embedding model: the sections of a weights file, read in place.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    words: usize,
    ngram_buckets: usize,
    ends: &'static [u8],
    text: &'static [u8],
    slots: &'static [u8],
    weights: &'static [u8],
    rows: &'static [u8],
}

impl Model {
    /// Reads a weights file; `None` if the data is not one.
    pub fn read(data: &'static [u8]) -> Option<Self> {
        let mut rest = data.strip_prefix(MAGIC)?;
        let mut take = |bytes: usize| {
            let (taken, left) = rest.split_at_checked(bytes)?;
            rest = left;
            Some(taken)
        };
        if take(2)? != FORMAT.to_le_bytes() {
            return None;
        }
        let mut number = || Some(u32::from_le_bytes(take(4)?.try_into().ok()?) as usize);
        let (words, parts, width, slots) = (number()?, number()?, number()?, number()?);
        let ends = take(4 * words)?;
        let text = take(ends.last_chunk::<4>().map_or(0, |end| u32::from_le_bytes(*end) as usize))?;
        let slots = take(2 * slots)?;
        let weights = take((words + parts) * FIELDS * 2)?;
        let rows = take((words + parts) * DIMENSIONS / 2)?;
        let is_sound =
            width == DIMENSIONS && parts > 0 && (slots.len() / 2).is_power_of_two() && slots.len() > 2 * words;
        (is_sound && rest.is_empty()).then_some(Self { words, ngram_buckets: parts, ends, text, slots, weights, rows })
    }

    /// Embeds a query; `None` if it has no words.
    pub fn embed_query(&self, text: &str) -> Option<Embedding> {
        let mut bag = BagOfWords::new();
        bag.add(self, Field::Query, &[&self.look_up([text])]);
        bag.normalize()
    }

    /// Embeds a symbol.
    pub fn embed_passage(&self, passage: &Passage<'_>) -> Option<Embedding> {
        self.embed_words(&self.passage_words(passage))
    }

    /// Embeds a symbol whose words were looked up.
    pub fn embed_words(&self, words: &PassageWords<'_>) -> Option<Embedding> {
        let mut bag = BagOfWords::new();
        bag.add(self, Field::Code, &[&words.head, &words.rest]);
        bag.add(self, Field::Name, &[&words.name, &words.qualified]);
        bag.add(self, Field::Doc, &[&words.doc]);
        bag.normalize()
    }

    /// Looks up the words of a symbol.
    pub fn passage_words<'t>(&self, passage: &Passage<'t>) -> PassageWords<'t> {
        let [head, rest] = passage.head_and_rest();
        PassageWords {
            name: self.look_up([passage.name]),
            qualified: self.look_up([passage.qualified]),
            doc: self.look_up([passage.doc]),
            head: self.look_up(head),
            rest: self.look_up(rest),
        }
    }

    /// Looks up the words of some texts.
    pub fn look_up<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Words<'t> {
        let mut words = Words::default();
        let mut room = [0; MAX_WORD_LEN];
        for word in texts.into_iter().flat_map(tokenize) {
            let lower = &mut room[..word.len()];
            lower.copy_from_slice(word.as_bytes());
            lower.make_ascii_lowercase();
            match self.row(lower) {
                Some(row) => words.known.push(row as u32),
                None => words.unknown.push(word),
            }
        }
        words
    }

    /// Returns the embedding of one word of a query and the length of its sum, which is its importance to the model.
    pub(crate) fn embed_word(&self, word: &str) -> Option<(Embedding, u32)> {
        let mut bag = BagOfWords::new();
        bag.add(self, Field::Query, &[&self.look_up([word])]);
        let length = bag.sums.iter().map(|sum| i64::from(*sum).pow(2)).sum::<i64>().isqrt();
        Some((bag.normalize()?, length as u32))
    }

    /// Returns the number of rows of known words.
    pub(crate) fn known_words(&self) -> usize {
        self.words
    }

    /// Returns the components of a row.
    pub(crate) fn components(&self, row: usize) -> [i16; DIMENSIONS] {
        let packed = &self.rows[row * DIMENSIONS / 2..(row + 1) * DIMENSIONS / 2];
        let mut components = [0; DIMENSIONS];
        let (lower, upper) = components.split_at_mut(DIMENSIONS / 2);
        for ((lower, upper), two) in lower.iter_mut().zip(upper).zip(packed) {
            (*lower, *upper) = (i16::from(two & 15) - 8, i16::from(two >> 4) - 8);
        }
        components
    }

    /// Returns the row of a lower-case word.
    fn row(&self, word: &[u8]) -> Option<usize> {
        let count = self.slots.len() / 2;
        // `count` is a power of two.
        let mut slot = fnv(word) as usize & (count - 1);
        loop {
            match u16_at(self.slots, slot) {
                0 => return None,
                found if self.word(usize::from(found) - 1) == word => return Some(usize::from(found) - 1),
                _ => slot = (slot + 1) & (count - 1),
            }
        }
    }

    pub(crate) fn word(&self, row: usize) -> &'static [u8] {
        let end =
            |row: usize| u32::from_le_bytes(self.ends[4 * row..4 * row + 4].try_into().unwrap_or_default()) as usize;
        &self.text[if row == 0 { 0 } else { end(row - 1) }..end(row)]
    }

    fn weight(&self, row: usize, field: Field) -> u32 {
        u32::from(u16_at(self.weights, row * FIELDS + field as usize))
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]])
}

fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(2_166_136_261, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(16_777_619))
}

/// The sum of the rows of a text's words.
struct BagOfWords {
    sums: [i32; DIMENSIONS],
}

impl BagOfWords {
    fn new() -> Self {
        Self { sums: [0; DIMENSIONS] }
    }

    fn add(&mut self, model: &Model, field: Field, texts: &[&Words<'_>]) {
        let mut known: Vec<u32> = texts.iter().flat_map(|words| &words.known).copied().collect();
        let unknown = texts.iter().flat_map(|words| &words.unknown);
        let mut unknown: Vec<Vec<u8>> = unknown.map(|word| word.to_ascii_lowercase().into_bytes()).collect();
        known.sort_unstable();
        for same in known.chunk_by(|one, another| one == another) {
            let row = same[0] as usize;
            self.add_row(model, row, (term_frequency_weight(same.len()) * model.weight(row, field)) >> 10);
        }
        unknown.sort_unstable();
        for same in unknown.chunk_by(|one, another| one == another) {
            let rows = ngram_rows(model, &same[0]);
            for row in &rows {
                let weight = (term_frequency_weight(same.len()) * model.weight(*row, field) / rows.len() as u32) >> 10;
                self.add_row(model, *row, weight);
            }
        }
    }

    fn add_row(&mut self, model: &Model, row: usize, weight: u32) {
        // At most 21,134, from the largest weight and the largest term frequency weight. All processors are fast at
        // 16-bit by small-number multiplication.
        let weight = weight as i16;
        let row = &model.rows[row * DIMENSIONS / 2..(row + 1) * DIMENSIONS / 2];
        let (lower, upper) = self.sums.split_at_mut(DIMENSIONS / 2);
        // No text has enough words for these to overflow; a wrong sum is better than a panic.
        for ((lower, upper), two) in lower.iter_mut().zip(upper).zip(row) {
            *lower = lower.wrapping_add(i32::from(weight) * i32::from(i16::from(two & 15) - 8));
            *upper = upper.wrapping_add(i32::from(weight) * i32::from(i16::from(two >> 4) - 8));
        }
    }

    /// Normalizes the sum to a fixed length.
    fn normalize(self) -> Option<Embedding> {
        let most = self.sums.iter().map(|sum| sum.unsigned_abs()).max().unwrap_or(0);
        // Makes the squares fit.
        let shift = (32 - most.leading_zeros()).saturating_sub(23);
        let sums = self.sums.map(|sum| i64::from(sum >> shift));
        let length = sums.iter().map(|sum| sum * sum).sum::<i64>().isqrt();
        (length > 0).then(|| Embedding(sums.map(|sum| (sum * UNIT_LENGTH / length) as i16)))
    }
}

fn term_frequency_weight(count: usize) -> u32 {
    TERM_FREQUENCY_WEIGHTS[count.min(TERM_FREQUENCY_WEIGHTS.len() - 1)]
}

/// Returns the rows of a word's n-grams: every four letters of it, with markers at both ends.
fn ngram_rows(model: &Model, word: &[u8]) -> Vec<usize> {
    let whole: Vec<u8> = [b"<", word, b">"].concat();
    let row = |gram: &[u8]| model.words + fnv(gram) as usize % model.ngram_buckets;
    if whole.len() < NGRAM_LEN { vec![row(&whole)] } else { whole.windows(NGRAM_LEN).map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequency_weights_are_logarithms() {
        for (count, known) in TERM_FREQUENCY_WEIGHTS.iter().enumerate().skip(1) {
            assert_eq!(*known, (256.0 * (1.0 + (count as f64).ln())).round() as u32, "{count}");
        }
    }

    #[test]
    fn invalid_weights_are_rejected() {
        assert!(Model::read(b"").is_none());
        assert!(Model::read(b"CCMEAN\x01\x00").is_none());
        assert!(
            Model::read(b"CCMEAN\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00").is_none()
        );
    }
}
