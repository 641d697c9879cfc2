//! Words: which records of a view hold them, and how well, to the bit the same whatever else is stored.
//!
//! BM25, term at a time, over Tantivy's postings and with statistics of our own: a posting counts when the view holds
//! its file version, which gives the exact document frequency in the same pass; the number of records and their mean
//! length are the view's own sums. Contributions are added in the order of the question's terms, within a term in the
//! order of the parts of a record, and what is counted over several records is counted in whole numbers. So neither
//! segments nor merges nor other branches can change a score, which Tantivy's own scorer does not promise.

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

/// The types of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// Pieces of text outside symbols.
    Piece,
    /// Symbols.
    Symbol,
    /// Files.
    File,
}

/// The parts of records that words are looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The name of a symbol.
    Name,
    /// The docs of a symbol.
    Doc,
    /// The lines of a symbol that are no other's, its docs among them, its qualified name, and the end of its path.
    Own,
    /// A piece, and the end of its path.
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

/// What a word in a part of a symbol counts for, and how much a longer part makes less of it, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct PartWeight {
    /// The part.
    pub part: Part,
    /// Its worth.
    pub worth: f64,
    /// What its length matters.
    pub length: f64,
}

/// Frequencies are counted in these parts of one, so that their sums are exact.
const WHOLE: u32 = 4;
const OF_FORM: u32 = 2;
const OF_ALIKE: u32 = 1;

/// One term of a question: words that count as the same one, or nearly.
#[derive(Clone, Debug, Default)]
pub struct TermGroup {
    /// The lower-case tokens that were asked for.
    pub tokens: Vec<String>,
    /// Other forms of them, which count for half.
    pub forms: Vec<String>,
    /// Words that are used like them. They count for a quarter, and what has no other does not hold the term: it is neither
    /// less rare for them, nor marked.
    pub alike: Vec<String>,
    /// What a match is worth.
    pub weight: f64,
}

impl TermGroup {
    /// A term that is any of these words.
    pub fn any_of(tokens: Vec<String>) -> Self {
        Self { tokens, weight: 1.0, ..Self::default() }
    }

    /// The words that are the term, and what one of each counts for.
    fn itself(&self) -> Vec<(&str, u32)> {
        let tokens = self.tokens.iter().map(|token| (token.as_str(), WHOLE));
        tokens.chain(self.forms.iter().map(|form| (form.as_str(), OF_FORM))).collect()
    }

    fn words_alike(&self) -> Vec<(&str, u32)> {
        self.alike.iter().map(|word| (word.as_str(), OF_ALIKE)).collect()
    }
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
    /// A bit for each of these that stands in its name.
    pub in_name: u64,
    /// Of a symbol, what else is told of it.
    pub glance: Glance,
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

/// Everything in symbols, pieces and whole files that holds some of the terms. How rare a term is counts over symbols and
/// pieces together, so that their scores can be compared.
#[derive(Clone, Debug, Default)]
pub struct TextEverywhere {
    /// Symbols, by all their parts.
    pub symbols: TextHits,
    /// Pieces outside symbols.
    pub pieces: TextHits,
    /// Files, by all their text as if it were one record; each has the place 0.
    pub files: TextHits,
}

/// The open text index of a snapshot.
pub(crate) struct TextReader {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    /// The dictionaries of each field of words, one per segment, once they are needed.
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

    /// Fails unless there are as many documents of a view's files as its totals say: a database of an earlier time, put in
    /// place of the right one, names files whose documents were removed since.
    pub(crate) fn expect_documents(&self, members: &RoaringBitmap, totals: &Totals) -> Result<()> {
        let (expected, found) = (totals.files + totals.symbol_docs + totals.piece_docs, self.documents(members)?);
        match expected == found as i64 {
            true => Ok(()),
            false => Err(StoreError::Corrupt(format!("text: {found} of {expected} documents of a view"))),
        }
    }

    /// How many documents belong to these file versions.
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
    /// The records that hold any of the terms in one part.
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

    /// The symbols, pieces and files whose text holds any of the terms; symbols by these parts.
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

    /// Whether a file version of the view has symbols, other than imports.
    pub fn has_symbols(&self, version: VersionId) -> Result<bool> {
        Ok(self.rows()?.has_symbols(version))
    }

    /// Words in one part of records that begin like this and that are wanted, each once, in order. Words of other views
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
    /// How often, in parts of [`WHOLE`].
    frequency: u32,
    /// Its length, as Tantivy counts lengths.
    length: u8,
}

/// Where the worth of terms is added up. Empty between two questions, and kept because it is large.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// For each row, the sum, a bit for each term, and a bit for each in its name.
    sums: Vec<(f64, u64, u64)>,
    /// A bit for each row that has a sum.
    held: Vec<u64>,
    /// The records that hold the term at hand in the part at hand.
    postings: Vec<Posting>,
    /// For each row, one more than its place among them, while the words of a term are put together.
    places: Vec<u32>,
    /// For each row, how often it holds the term at hand, as lengths and parts weigh it.
    weights: Vec<f64>,
    /// The rows that hold it.
    touched: Vec<u32>,
}

impl Tally {
    fn fit(&mut self, rows: usize) {
        self.sums.resize(rows, (0.0, 0, 0));
        self.held.resize(rows / 64 + 1, 0);
        self.places.resize(rows, 0);
        self.weights.resize(rows, 0.0);
    }

    /// Adds the postings at hand to what their rows hold of the term.
    fn weigh(&mut self, worth: f64, lengths: &[f64; 256]) {
        for posting in &self.postings {
            let weight = &mut self.weights[posting.row as usize];
            if *weight == 0.0 {
                self.touched.push(posting.row);
            }
            *weight += worth * f64::from(posting.frequency) / lengths[posting.length as usize];
        }
    }

    /// Notes that the term at hand stands in the names of the records at hand.
    fn mark_names(&mut self, term: usize) {
        for posting in &self.postings {
            self.sums[posting.row as usize].2 |= 1 << term.min(63);
        }
    }

    /// Adds postings of other records to those of their files.
    fn count(&mut self, postings: &[Posting], files: &[u32]) {
        for posting in postings {
            let file = files[posting.row as usize];
            let weight = &mut self.weights[file as usize];
            if *weight == 0.0 {
                self.touched.push(file);
            }
            // Whole numbers far below 2^53: their sum is exact in any order.
            *weight += f64::from(posting.frequency);
        }
    }

    /// Divides what was counted by what a length makes of it.
    fn weigh_counts(&mut self, length: impl Fn(usize) -> f64) {
        for &row in &self.touched {
            self.weights[row as usize] /= f64::from(WHOLE) * length(row as usize);
        }
    }

    /// Adds what the term at hand is worth to each record that holds it; the first so many hold it in one of its own forms.
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

    /// Gives out every sum that is not below the least, in order, and forgets all.
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
    /// Notes a term that so many of all records hold, and gives how rare that makes it.
    fn add_term(&mut self, frequency: usize, count: f64, weight: f64) -> f64 {
        let rarity = if frequency == 0 { 0.0 } else { idf(frequency as f64, count) * weight };
        self.rarity.push(rarity);
        self.ceiling += rarity * (K1 + 1.0);
        rarity
    }
}

impl TextReader {
    /// Notes the records that hold a term and are in the view. One with several words of it holds it more often.
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

/// A term is common when more than one in so many records hold it.
const COMMON: f64 = 8.0;

/// Of the ceiling, so much may common terms make up together to count for nothing alone.
const NEGLIGIBLE: f64 = 0.1;

/// The least that a record must have to be told of: more than the commonest terms of a question could give it, where others
/// tell what it is about. Half of all records may hold nothing else, and none of them could come near the best.
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

/// Calls `each` with every document of a segment that holds a token, and how often.
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

/// What each length of a part makes of the frequency of a term in it, which is counted in parts of [`WHOLE`]: a long one
/// divides it.
fn lengths(b: f64, mean: f64) -> [f64; 256] {
    let weight = |length: u32| 1.0 - b + b * f64::from(length) / mean.max(1.0);
    std::array::from_fn(|id| f64::from(WHOLE) * weight(FieldNormReader::id_to_fieldnorm(id as u8)))
}

fn idf(frequency: f64, count: f64) -> f64 {
    (1.0 + (count - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
}

/// How many records with a part the view has, and how long the part is in the mean.
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
