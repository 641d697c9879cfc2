//! Words: which records of a view hold them, and how well, to the bit the same whatever else is stored.
//!
//! BM25, term at a time, over Tantivy's postings and with statistics of our own: a posting counts when the view holds
//! its file version, which gives the exact document frequency in the same pass; the number of records and their mean
//! length are the view's own sums. Contributions are added in the order of the question's terms. So neither segments
//! nor merges nor other branches can change a score, which Tantivy's own scorer does not promise.

use std::cell::{OnceCell, RefCell};

use codecompass_model::VersionId;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, Searcher};

use crate::candidates::Dictionary;
use crate::records::{NO_ROW, Rows, TYPES};
use crate::text::{Fields, TextIndex};
use crate::views::Totals;
use crate::{Result, Snapshot, StoreError};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The record types that words are looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// Pieces of text.
    Chunk,
    /// Symbols, by name and qualified name.
    Symbol,
    /// Files, by path.
    File,
}

/// One term of a question: words that count as the same one.
#[derive(Clone, Debug)]
pub struct TermGroup {
    /// Lower-case tokens, the one that was asked for first.
    pub tokens: Vec<String>,
    /// What a match is worth.
    pub weight: f64,
}

/// A record that holds some of the terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextHit {
    /// The file version it is of.
    pub version: VersionId,
    /// Its place among its version's records.
    pub place: u32,
    /// The sum over all terms.
    pub score: f64,
    /// A bit for each of the first 64 terms that it holds.
    pub terms: u64,
}

/// Everything that holds some of the terms, in order of file version and place.
#[derive(Clone, Debug, Default)]
pub struct TextHits {
    /// The records.
    pub hits: Vec<TextHit>,
    /// The weight of each term by how rare it is in the view; 0 for one that does not occur.
    pub rarity: Vec<f64>,
    /// No record can have a higher score: what one would have that held every term without end.
    pub ceiling: f64,
}

/// The open text index of a snapshot.
pub(crate) struct TextReader {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    /// The dictionaries of each field of words, one per segment, once they are needed.
    pub(crate) dictionaries: [OnceCell<Vec<Dictionary>>; 2],
    tallies: [RefCell<Tally>; TYPES],
}

impl std::fmt::Debug for TextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReader").finish_non_exhaustive()
    }
}

impl TextReader {
    pub(crate) fn open(index: &TextIndex) -> Result<Self> {
        let (searcher, fields) = (index.searcher()?, index.fields());
        Ok(Self { searcher, fields, dictionaries: Default::default(), tallies: Default::default() })
    }
}

impl Snapshot {
    /// The records of one type that hold any of the terms.
    pub fn search(&self, record: Record, groups: &[TermGroup]) -> Result<TextHits> {
        let (reader, rows) = (self.text_reader()?, self.rows()?);
        let (count, mean) = statistics(record, &self.info().totals);
        let weights = lengths(mean);
        let mut found = TextHits::default();
        let mut tally = reader.tallies[record as usize].take();
        tally.fit(rows.count(record));
        for (number, group) in groups.iter().enumerate() {
            reader.collect(rows, record, group, &mut tally)?;
            let frequency = tally.postings.len();
            let rarity = if frequency == 0 { 0.0 } else { idf(frequency as f64, count) * group.weight };
            found.rarity.push(rarity);
            found.ceiling += rarity * (K1 + 1.0);
            tally.add(number, |posting| {
                let frequency = f64::from(posting.frequency);
                rarity * frequency * (K1 + 1.0) / (frequency + weights[posting.length as usize])
            });
        }
        let mut place_of = rows.places(record);
        tally.empty(|row, score, terms| {
            let (version, place) = place_of(row);
            found.hits.push(TextHit { version, place, score, terms });
        });
        reader.tallies[record as usize].replace(tally);
        Ok(found)
    }

    /// Words of records of one type that begin like this and that are wanted, each once, in order. Words of other views
    /// may be among them: they match nothing here.
    pub fn words_with_prefix(&self, record: Record, prefix: &str, fit: impl Fn(&str) -> Fit) -> Result<Vec<String>> {
        let reader = self.text_reader()?;
        let mut words = Vec::new();
        for segment in reader.searcher.segment_readers() {
            let inverted = segment.inverted_index(reader.fields.of(record))?;
            let mut from = Some(prefix.as_bytes().to_vec());
            while let Some(start) = from {
                from = words_from(&inverted, &start, prefix, &fit, &mut words)?;
            }
        }
        words.sort_unstable();
        words.dedup();
        Ok(words)
    }
}

/// Whether a word is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It is.
    Wanted,
    /// It is not.
    Unwanted,
    /// It is not, and no other is that has as many first bytes in common with it.
    UnwantedWithAll(usize),
}

/// Reads on in a dictionary until there are no more words with the prefix, or many in a row that are not wanted: then
/// tells where to read on.
fn words_from(
    inverted: &InvertedIndexReader,
    start: &[u8],
    prefix: &str,
    fit: &impl Fn(&str) -> Fit,
    words: &mut Vec<String>,
) -> Result<Option<Vec<u8>>> {
    /// So many words are read faster than others are looked up.
    const IN_A_ROW: usize = 8;
    let mut stream = inverted.terms().range().ge(start).into_stream().map_err(text_io)?;
    let mut unwanted = (Vec::new(), 0);
    while let Some((word, _)) = stream.next().filter(|(word, _)| word.starts_with(prefix.as_bytes())) {
        if unwanted.1 > 0 && word.starts_with(&unwanted.0) {
            unwanted.1 += 1;
            if unwanted.1 == IN_A_ROW {
                return Ok(after_all_with(unwanted.0));
            }
            continue;
        }
        let Ok(text) = std::str::from_utf8(word) else { continue };
        match fit(text) {
            Fit::Wanted => words.push(text.to_owned()),
            Fit::Unwanted => {}
            Fit::UnwantedWithAll(bytes) => unwanted = (word[..bytes].to_vec(), 1),
        }
    }
    Ok(None)
}

/// The first word, if there can be any, that stands behind all that begin like this.
fn after_all_with(mut start: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = start.pop() {
        if let Some(next) = last.checked_add(1) {
            start.push(next);
            return Some(start);
        }
    }
    None
}

/// A record that holds a term.
#[derive(Clone, Copy, Debug)]
struct Posting {
    row: u32,
    frequency: u32,
    /// Its length, as Tantivy counts lengths.
    length: u8,
}

/// Where the worth of terms is added up. Empty between two questions, and kept because it is large.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// For each row, the sum and a bit for each term.
    sums: Vec<(f64, u64)>,
    /// A bit for each row that has a sum.
    held: Vec<u64>,
    /// The records that hold the term at hand.
    postings: Vec<Posting>,
    /// For each row, one more than its place among them, while the words of a term are put together.
    places: Vec<u32>,
}

impl Tally {
    fn fit(&mut self, rows: usize) {
        self.sums.resize(rows, (0.0, 0));
        self.held.resize(rows / 64 + 1, 0);
        self.places.resize(rows, 0);
    }

    /// Adds what the term at hand is worth to each record that holds it.
    fn add(&mut self, term: usize, worth: impl Fn(&Posting) -> f64) {
        for posting in &self.postings {
            let row = posting.row as usize;
            let (score, terms) = &mut self.sums[row];
            *score += worth(posting);
            *terms |= 1 << term.min(63);
            self.held[row / 64] |= 1 << (row % 64);
        }
    }

    /// Gives out every sum, in order, and forgets it.
    fn empty(&mut self, mut each: impl FnMut(u32, f64, u64)) {
        for (at, bits) in self.held.iter_mut().enumerate() {
            while *bits != 0 {
                let row = at as u32 * 64 + bits.trailing_zeros();
                let (score, terms) = std::mem::take(&mut self.sums[row as usize]);
                each(row, score, terms);
                *bits &= *bits - 1;
            }
        }
    }
}

impl TextReader {
    /// Notes the records that hold a term and are in the view. One with several words of it holds it more often.
    fn collect(&self, rows: &Rows, record: Record, group: &TermGroup, tally: &mut Tally) -> Result<()> {
        let field = self.fields.of(record);
        let Tally { postings, places, .. } = tally;
        postings.clear();
        let is_single = group.tokens.len() == 1;
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = segment.inverted_index(field)?;
            let lengths = segment.get_fieldnorms_reader(field)?;
            let rows = rows.of_segment(number);
            for token in &group.tokens {
                each_document(&inverted, token, |doc, frequency| {
                    let row = rows[doc as usize];
                    let posting = || Posting { row, frequency, length: lengths.fieldnorm_id(doc) };
                    match row {
                        NO_ROW => {}
                        _ if is_single => postings.push(posting()),
                        row => match &mut places[row as usize] {
                            place @ 0 => {
                                postings.push(posting());
                                *place = postings.len() as u32;
                            }
                            place => postings[*place as usize - 1].frequency += frequency,
                        },
                    }
                })?;
            }
        }
        if !is_single {
            postings.iter().for_each(|posting| places[posting.row as usize] = 0);
        }
        Ok(())
    }
}

/// Calls `each` with every document of a segment that holds a token, and how often.
fn each_document(inverted: &InvertedIndexReader, token: &str, mut each: impl FnMut(u32, u32)) -> Result<()> {
    let Some(term) = inverted.terms().get(token).map_err(text_io)? else { return Ok(()) };
    let option = IndexRecordOption::WithFreqs;
    let mut block = inverted.read_block_postings_from_terminfo(&term, option).map_err(text_io)?;
    while !block.docs().is_empty() {
        block.docs().iter().zip(block.freqs()).for_each(|(doc, frequency)| each(*doc, *frequency));
        block.advance();
    }
    Ok(())
}

fn text_io(source: std::io::Error) -> StoreError {
    StoreError::Io { path: "text".into(), source }
}

/// What each length of a record makes of the frequency of a term in it.
fn lengths(mean: f64) -> [f64; 256] {
    let weight = |length: u32| K1 * (1.0 - B + B * f64::from(length) / mean.max(1.0));
    std::array::from_fn(|id| weight(FieldNormReader::id_to_fieldnorm(id as u8)))
}

fn idf(frequency: f64, count: f64) -> f64 {
    (1.0 + (count - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
}

/// How many records of a type the view has, and how long they are in the mean.
fn statistics(record: Record, totals: &Totals) -> (f64, f64) {
    let (count, tokens) = match record {
        Record::Chunk => (totals.chunk_docs, totals.chunk_tokens),
        Record::Symbol => (totals.symbol_docs, totals.symbol_tokens),
        Record::File => (totals.files, totals.file_tokens),
    };
    (count as f64, tokens as f64 / (count as f64).max(1.0))
}
