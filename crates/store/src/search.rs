//! Text search: the records of a view that contain given words, and their scores. Scores are bit-identical, whatever
//! else is stored.
//!
//! BM25, term at a time, over Tantivy's postings and with our own statistics. A posting counts if the view holds its
//! file version, which gives the exact document frequency in the same pass. The number of records and their mean length
//! are the view's own totals. Contributions are added in the order of the query's terms, within a term in the order of
//! the text fields, and counts over several records are integers. Neither segments nor merges nor other branches can
//! change a score, which Tantivy's own scorer does not guarantee.

use std::cell::{OnceCell, RefCell};

use codecompass_model::VersionId;
use roaring::RoaringBitmap;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, Searcher};

use crate::candidates::{Dictionary, WORD_FIELDS};
use crate::records::{NO_ROW, Rows, TYPES};
use crate::text::{Fields, TextIndex, unreadable};
use crate::views::Totals;
use crate::{Glance, Result, Snapshot, StoreError};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// Chunks of text outside symbols.
    Piece,
    /// Symbols.
    Symbol,
    /// Files.
    File,
}

/// The text fields of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The name of a symbol.
    Name,
    /// The docs of a symbol.
    Doc,
    /// The lines that belong to a symbol and to no other, including its docs; its qualified name; the end of its path.
    Own,
    /// A chunk, and the end of its path.
    Piece,
    /// The path of a file.
    Path,
}

impl Part {
    const fn record(self) -> Record {
        match self {
            Part::Name | Part::Doc | Part::Own => Record::Symbol,
            Part::Piece => Record::Piece,
            Part::Path => Record::File,
        }
    }
}

/// The weight of a text field of a symbol, and how strongly its length reduces the weight, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct PartWeight {
    /// The field.
    pub part: Part,
    /// Its weight.
    pub worth: f64,
    /// Its length normalization.
    pub length: f64,
}

/// Frequencies are counted in quarters, so that their sums are exact.
const WHOLE: u32 = 4;
const OF_FORM: u32 = 2;
const OF_ALIKE: u32 = 1;

/// One term of a query: words that count as the same one, or nearly.
#[derive(Clone, Debug, Default)]
pub struct TermGroup {
    /// The lower-case tokens of the query.
    pub tokens: Vec<String>,
    /// Inflections of the tokens, which count for half.
    pub forms: Vec<String>,
    /// Synonyms of the tokens, which count for a quarter. A record with nothing but synonyms does not contain the term:
    /// it neither makes the term less rare nor gets its bit.
    pub alike: Vec<String>,
    /// The weight of a match.
    pub weight: f64,
}

impl TermGroup {
    /// Creates a term that any of these words matches.
    pub fn any_of(tokens: Vec<String>) -> Self {
        Self { tokens, weight: 1.0, ..Self::default() }
    }

    /// Returns the tokens and inflections of the term, with the frequency that one occurrence counts for.
    fn itself(&self) -> Vec<(&str, u32)> {
        let tokens = self.tokens.iter().map(|token| (token.as_str(), WHOLE));
        tokens.chain(self.forms.iter().map(|form| (form.as_str(), OF_FORM))).collect()
    }

    fn words_alike(&self) -> Vec<(&str, u32)> {
        self.alike.iter().map(|word| (word.as_str(), OF_ALIKE)).collect()
    }
}

/// A record that contains some of the terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextHit {
    /// Its file version.
    pub version: VersionId,
    /// Its ordinal among the records of its version.
    pub place: u32,
    /// The sum over all terms.
    pub score: f64,
    /// A bit for each term that it contains. Terms after the 64th share the last bit.
    pub terms: u64,
    /// A bit for each term that its name contains.
    pub in_name: u64,
    /// The payload of a symbol.
    pub glance: Glance,
}

/// All records with some of the terms, ordered by file version and ordinal.
#[derive(Clone, Debug, Default)]
pub struct TextHits {
    /// The records.
    pub hits: Vec<TextHit>,
    /// The weight of each term by its rarity in the view; 0 for a term that does not occur.
    pub rarity: Vec<f64>,
    /// The upper bound of any score: that of a record with infinitely many occurrences of every term.
    pub ceiling: f64,
}

/// All symbols, chunks and whole files with some of the terms. The rarity of a term is computed over symbols and chunks
/// together, so that their scores are comparable.
#[derive(Clone, Debug, Default)]
pub struct TextEverywhere {
    /// Symbols, by all their fields.
    pub symbols: TextHits,
    /// Chunks outside symbols.
    pub pieces: TextHits,
    /// Files, with all of their text as one record; the ordinal is always 0.
    pub files: TextHits,
}

/// The open text index of a snapshot.
pub(crate) struct TextReader {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    /// The dictionaries of each word field, one per segment, loaded on first use.
    pub(crate) dictionaries: [OnceCell<Vec<Dictionary>>; WORD_FIELDS],
    tallies: RefCell<[Tally; TYPES]>,
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

    /// Fails unless the number of documents of a view's files equals its totals. An older copy of the database, put in
    /// place of the right one, names files with documents that have been removed since.
    pub(crate) fn expect_documents(&self, members: &RoaringBitmap, totals: &Totals) -> Result<()> {
        let (expected, found) = (totals.files + totals.symbol_docs + totals.piece_docs, self.documents(members)?);
        match expected == found as i64 {
            true => Ok(()),
            false => Err(StoreError::Corrupt(format!("text: {found} of {expected} documents of a view"))),
        }
    }

    /// Counts the documents of these file versions.
    fn documents(&self, members: &RoaringBitmap) -> Result<usize> {
        let mut is_member = vec![false; members.max().map_or(0, |max| max as usize + 1)];
        members.iter().for_each(|id| is_member[id as usize] = true);
        let mut count = 0;
        for segment in self.searcher.segment_readers() {
            let mut ids = vec![0; segment.max_doc() as usize];
            segment.fast_fields().u64("fv")?.first_or_default_col(0).get_range(0, &mut ids);
            let belongs = |(number, id): &(usize, &u64)| {
                is_member.get(**id as usize) == Some(&true) && !segment.is_deleted(*number as u32)
            };
            count += ids.iter().enumerate().filter(belongs).count();
        }
        Ok(count)
    }
}

impl Snapshot {
    /// Returns the records that contain any of the terms in one field.
    pub fn search(&self, part: Part, groups: &[TermGroup]) -> Result<TextHits> {
        let (reader, rows, record) = (self.text_reader()?, self.rows()?, part.record());
        let (count, mean) = statistics(part, &self.info().totals);
        let weights = lengths(B, mean);
        let mut found = TextHits::default();
        let mut tallies = reader.tallies.take();
        let tally = &mut tallies[record as usize];
        tally.fit(rows.count(record));
        for (number, group) in groups.iter().enumerate() {
            self.go_on()?;
            reader.collect(rows, part, &group.itself(), tally)?;
            tally.weigh(1.0, &weights);
            let holders = tally.touched.len();
            let rarity = found.add_term(holders, count, group.weight);
            tally.add(number, rarity, holders);
        }
        tally.empty_into(&mut found, rows.places(record), &[], 0.0);
        reader.tallies.replace(tallies);
        Ok(found)
    }

    /// Returns the symbols, chunks and files with any of the terms in their text; symbols by these fields.
    pub fn search_text(&self, groups: &[TermGroup], parts: &[PartWeight]) -> Result<TextEverywhere> {
        let (reader, rows, totals) = (self.text_reader()?, self.rows()?, &self.info().totals);
        let weigh = |part: &PartWeight| (*part, lengths(part.length, statistics(part.part, totals).1));
        let piece = PartWeight { part: Part::Piece, worth: 1.0, length: B };
        let parts: Vec<(PartWeight, [f64; 256])> = parts.iter().chain([&piece]).map(weigh).collect();
        let count = (totals.symbol_docs + totals.piece_docs) as f64;
        let mean_file = (totals.own_tokens + totals.piece_tokens) as f64 / (totals.files as f64).max(1.0);
        let mut found = TextEverywhere::default();
        let mut common = Vec::new();
        let mut tallies = reader.tallies.take();
        for (tally, record) in tallies.iter_mut().zip([Record::Piece, Record::Symbol, Record::File]) {
            tally.fit(if record == Record::File { rows.versions().len() } else { rows.count(record) });
        }
        let [pieces, symbols, files] = &mut tallies;
        for (number, group) in groups.iter().enumerate() {
            let mut look_up = |words: &[(&str, u32)], is_alike: bool| -> Result<[usize; 3]> {
                for (weight, lengths) in &parts {
                    self.go_on()?;
                    let tally = if weight.part == Part::Piece { &mut *pieces } else { &mut *symbols };
                    reader.collect(rows, weight.part, words, tally)?;
                    tally.weigh(weight.worth, lengths);
                    if weight.part == Part::Name && !is_alike {
                        tally.mark_names(number);
                    }
                    if matches!(weight.part, Part::Own | Part::Piece) {
                        files.count(&tally.postings, rows.files(weight.part.record()));
                    }
                }
                Ok([pieces.touched.len(), symbols.touched.len(), files.touched.len()])
            };
            let [in_pieces, in_symbols, in_files] = look_up(&group.itself(), false)?;
            if !group.alike.is_empty() {
                look_up(&group.words_alike(), true)?;
            }
            let rarity = found.symbols.add_term(in_pieces + in_symbols, count, group.weight);
            found.pieces.add_term(in_pieces + in_symbols, count, group.weight);
            common.extend(((in_pieces + in_symbols) as f64 * COMMON > count).then_some(rarity));
            symbols.add(number, rarity, in_symbols);
            pieces.add(number, rarity, in_pieces);
            files.weigh_counts(|file| 1.0 - B + B * f64::from(rows.lengths()[file]) / mean_file.max(1.0));
            let rarity = found.files.add_term(in_files, totals.files as f64, group.weight);
            files.add(number, rarity, in_files);
        }
        let least = least(common, found.symbols.ceiling);
        symbols.empty_into(&mut found.symbols, rows.places(Record::Symbol), rows.glances(), least);
        pieces.empty_into(&mut found.pieces, rows.places(Record::Piece), &[], least);
        files.empty_into(&mut found.files, |file| (rows.versions()[file as usize], 0), &[], 0.0);
        reader.tallies.replace(tallies);
        Ok(found)
    }

    /// Whether a file version of the view has symbols other than imports.
    pub fn has_symbols(&self, version: VersionId) -> Result<bool> {
        Ok(self.rows()?.has_symbols(version))
    }

    /// Returns the words in one field with this prefix that `fit` accepts, each once, in order. Words of other views
    /// may be among them: they match nothing here.
    pub fn words_with_prefix(&self, part: Part, prefix: &str, fit: impl Fn(&str) -> Fit) -> Result<Vec<String>> {
        let reader = self.text_reader()?;
        let mut words = Vec::new();
        for segment in reader.searcher.segment_readers() {
            self.go_on()?;
            let inverted = segment.inverted_index(reader.fields.of(part))?;
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

/// The decision about a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Accept it.
    Wanted,
    /// Reject it.
    Unwanted,
    /// Reject it, and every word that shares this number of leading bytes with it.
    UnwantedWithAll(usize),
}

/// Reads a dictionary until there are no more words with the prefix, or until many rejected words follow each other. In
/// the second case returns the position to continue from.
fn words_from(
    inverted: &InvertedIndexReader,
    start: &[u8],
    prefix: &str,
    fit: &impl Fn(&str) -> Fit,
    words: &mut Vec<String>,
) -> Result<Option<Vec<u8>>> {
    /// Reading this many words is faster than a new lookup.
    const IN_A_ROW: usize = 8;
    let mut stream = inverted.terms().range().ge(start).into_stream().map_err(unreadable)?;
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

/// Returns the first possible word after all words with this prefix, if there is one.
fn after_all_with(mut start: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = start.pop() {
        if let Some(next) = last.checked_add(1) {
            start.push(next);
            return Some(start);
        }
    }
    None
}

/// A record that contains a term.
#[derive(Clone, Copy, Debug)]
struct Posting {
    row: u32,
    /// The frequency, in units of 1 / [`EXACT_FREQUENCY`].
    frequency: u32,
    /// The length, as Tantivy encodes lengths.
    length: u8,
}

/// Accumulates the scores of terms. Empty between two queries, and reused because it is large.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// For each row, the score, a bit for each term, and a bit for each term in its name.
    sums: Vec<(f64, u64, u64)>,
    /// A bit for each row with a score.
    held: Vec<u64>,
    /// The records that contain the current term in the current field.
    postings: Vec<Posting>,
    /// For each row, one more than its index in `postings`, while the words of a term are combined.
    places: Vec<u32>,
    /// For each row, the frequency of the current term, weighted by field and length.
    weights: Vec<f64>,
    /// The rows that contain the current term.
    touched: Vec<u32>,
}

impl Tally {
    fn fit(&mut self, rows: usize) {
        self.sums.resize(rows, (0.0, 0, 0));
        self.held.resize(rows / 64 + 1, 0);
        self.places.resize(rows, 0);
        self.weights.resize(rows, 0.0);
    }

    /// Adds the current postings to the weights of their rows.
    fn weigh(&mut self, worth: f64, lengths: &[f64; 256]) {
        for posting in &self.postings {
            let weight = &mut self.weights[posting.row as usize];
            if *weight == 0.0 {
                self.touched.push(posting.row);
            }
            *weight += worth * f64::from(posting.frequency) / lengths[posting.length as usize];
        }
    }

    /// Records that the names of the current records contain the current term.
    fn mark_names(&mut self, term: usize) {
        for posting in &self.postings {
            self.sums[posting.row as usize].2 |= 1 << term.min(63);
        }
    }

    /// Adds the postings of other records to their files.
    fn count(&mut self, postings: &[Posting], files: &[u32]) {
        for posting in postings {
            let file = files[posting.row as usize];
            let weight = &mut self.weights[file as usize];
            if *weight == 0.0 {
                self.touched.push(file);
            }
            // Integers far below 2^53: their sum is exact in any order.
            *weight += f64::from(posting.frequency);
        }
    }

    /// Divides the counts by the length norm.
    fn weigh_counts(&mut self, length: impl Fn(usize) -> f64) {
        for &row in &self.touched {
            self.weights[row as usize] /= f64::from(WHOLE) * length(row as usize);
        }
    }

    /// Adds the score of the current term to each record that contains it. The first `holders` rows contain the term
    /// itself.
    fn add(&mut self, term: usize, rarity: f64, holders: usize) {
        for (at, &row) in self.touched.iter().enumerate() {
            let row = row as usize;
            let weight = std::mem::take(&mut self.weights[row]);
            let (score, terms, _) = &mut self.sums[row];
            *score += rarity * weight * (K1 + 1.0) / (weight + K1);
            if at < holders {
                *terms |= 1 << term.min(63);
            }
            self.held[row / 64] |= 1 << (row % 64);
        }
        self.touched.clear();
    }

    /// Moves every score of at least the minimum into the results, in order, and clears the accumulator.
    fn empty_into(
        &mut self,
        found: &mut TextHits,
        mut place_of: impl FnMut(u32) -> (VersionId, u32),
        glances: &[Glance],
        least: f64,
    ) {
        for (at, bits) in self.held.iter_mut().enumerate() {
            while *bits != 0 {
                let row = at as u32 * 64 + bits.trailing_zeros();
                let (score, terms, in_name) = std::mem::take(&mut self.sums[row as usize]);
                *bits &= *bits - 1;
                if score < least {
                    continue;
                }
                let (version, place) = place_of(row);
                let glance = glances.get(row as usize).copied().unwrap_or_default();
                found.hits.push(TextHit { version, place, score, terms, in_name, glance });
            }
        }
    }
}

impl TextHits {
    /// Records a term with its document frequency, and returns its rarity.
    fn add_term(&mut self, frequency: usize, count: f64, weight: f64) -> f64 {
        let rarity = if frequency == 0 { 0.0 } else { idf(frequency as f64, count) * weight };
        self.rarity.push(rarity);
        self.ceiling += rarity * (K1 + 1.0);
        rarity
    }
}

impl TextReader {
    /// Collects the records of the view that contain a term. Several words of the term add to its frequency.
    fn collect(&self, rows: &Rows, part: Part, words: &[(&str, u32)], tally: &mut Tally) -> Result<()> {
        let field = self.fields.of(part);
        let Tally { postings, places, .. } = tally;
        postings.clear();
        let is_single = words.len() == 1;
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = segment.inverted_index(field)?;
            let lengths = segment.get_fieldnorms_reader(field)?;
            let rows = rows.of_segment(number);
            for (word, worth) in words {
                each_document(&inverted, word, |doc, frequency| {
                    let (row, frequency) = (rows[doc as usize], frequency * worth);
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

/// A term is common if more than one in this many records contains it.
const COMMON: f64 = 8.0;

/// The share of the score ceiling below which common terms together are negligible.
const NEGLIGIBLE: f64 = 0.1;

/// Returns the minimum score of a result: more than the commonest terms of a query could contribute, if other terms are
/// more specific. Half of all records may contain only common terms, and none of them could come near the best.
fn least(mut common: Vec<f64>, ceiling: f64) -> f64 {
    common.sort_by(f64::total_cmp);
    let mut least = 0.0;
    for rarity in common {
        let more = least + rarity * (K1 + 1.0);
        if more > ceiling * NEGLIGIBLE {
            break;
        }
        least = more;
    }
    least
}

/// Calls `each` with every document of a segment that contains a token, and the frequency.
fn each_document(inverted: &InvertedIndexReader, token: &str, mut each: impl FnMut(u32, u32)) -> Result<()> {
    let Some(term) = inverted.terms().get(token).map_err(unreadable)? else { return Ok(()) };
    let option = IndexRecordOption::WithFreqs;
    let mut block = inverted.read_block_postings_from_terminfo(&term, option).map_err(unreadable)?;
    while !block.docs().is_empty() {
        block.docs().iter().zip(block.freqs()).for_each(|(doc, frequency)| each(*doc, *frequency));
        block.advance();
    }
    Ok(())
}

/// Returns the divisor of a term frequency for each encoded field length: longer fields divide by more. Frequencies are
/// in units of 1 / [`EXACT_FREQUENCY`].
fn lengths(b: f64, mean: f64) -> [f64; 256] {
    let weight = |length: u32| 1.0 - b + b * f64::from(length) / mean.max(1.0);
    std::array::from_fn(|id| f64::from(WHOLE) * weight(FieldNormReader::id_to_fieldnorm(id as u8)))
}

fn idf(frequency: f64, count: f64) -> f64 {
    (1.0 + (count - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
}

/// Returns the number of records with a field in the view, and the mean length of the field.
fn statistics(part: Part, totals: &Totals) -> (f64, f64) {
    let (count, tokens) = match part {
        Part::Name => (totals.symbol_docs, totals.name_tokens),
        Part::Doc => (totals.symbol_docs, totals.doc_tokens),
        Part::Own => (totals.symbol_docs, totals.own_tokens),
        Part::Piece => (totals.piece_docs, totals.piece_tokens),
        Part::Path => (totals.files, totals.file_tokens),
    };
    (count as f64, tokens as f64 / (count as f64).max(1.0))
}
