//! Text search: the records of a view that contain given words, and their scores. Scores are bit-identical, whatever
//! else is stored.
//!
//! BM25, term at a time, over Tantivy's postings and with our own statistics. A posting counts if the view holds its
//! file version, which gives the exact document frequency in the same pass. The number of records and their mean length
//! are the view's own totals. Contributions are added in the order of the query's terms, within a term in the order of
//! the text fields, and counts over several records are integers. Neither segments nor merges nor other branches can
//! change a score, which Tantivy's own scorer does not guarantee.

use codecompass_model::VersionId;
use tantivy::InvertedIndexReader;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::IndexRecordOption;

use crate::records::{NO_ROW, RecordRows};
use crate::text::corrupt_text_index;
use crate::text_fields::{RecordKind, TextField};
use crate::text_hits::{EXACT_FREQUENCY, K1, Posting, ScoreAccumulator, TextHits};
use crate::text_reader::TextReader;
use crate::{Result, Snapshot, Totals};

const B: f64 = 0.75;

/// The weight of a text field of a symbol, and how strongly its length reduces the weight, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct FieldWeight {
    /// The field.
    pub field: TextField,
    /// Its weight.
    pub weight: f64,
    /// Its length normalization.
    pub length_norm: f64,
}

/// The frequencies of one occurrence of other words, in units of 1 / [`EXACT_FREQUENCY`].
const INFLECTION_FREQUENCY: u32 = 2;
const SYNONYM_FREQUENCY: u32 = 1;

/// One term of a query: words that count as the same one, or nearly.
#[derive(Clone, Debug, Default)]
pub struct TermGroup {
    /// The lower-case tokens of the query.
    pub tokens: Vec<String>,
    /// Inflections of the tokens, which count for half.
    pub inflections: Vec<String>,
    /// Synonyms of the tokens, which count for a quarter. A record with nothing but synonyms does not contain the term:
    /// it neither makes the term less rare nor gets its bit.
    pub synonyms: Vec<String>,
    /// The weight of a match.
    pub weight: f64,
}

impl TermGroup {
    /// Creates a term that any of these words matches.
    pub fn any_of(tokens: Vec<String>) -> Self {
        Self { tokens, weight: 1.0, ..Self::default() }
    }

    /// Returns the tokens and inflections of the term, with the frequency that one occurrence counts for.
    fn own_words(&self) -> Vec<(&str, u32)> {
        let tokens = self.tokens.iter().map(|token| (token.as_str(), EXACT_FREQUENCY));
        tokens.chain(self.inflections.iter().map(|form| (form.as_str(), INFLECTION_FREQUENCY))).collect()
    }

    fn synonym_words(&self) -> Vec<(&str, u32)> {
        self.synonyms.iter().map(|word| (word.as_str(), SYNONYM_FREQUENCY)).collect()
    }
}

/// All symbols, chunks and whole files with some of the terms. The rarity of a term is computed over symbols and chunks
/// together, so that their scores are comparable.
#[derive(Clone, Debug, Default)]
pub struct TextResults {
    /// Symbols, by all their fields.
    pub symbols: TextHits,
    /// Chunks outside symbols.
    pub chunks: TextHits,
    /// Files, with all of their text as one record; the ordinal is always 0.
    pub files: TextHits,
}

impl Snapshot {
    /// Returns the records that contain any of the terms in one field.
    pub fn search(&self, part: TextField, groups: &[TermGroup]) -> Result<TextHits> {
        let (reader, rows, record) = (self.text_reader()?, self.rows()?, part.record());
        let (count, mean) = statistics(part, &self.info().totals);
        let weights = length_factors(B, mean);
        let mut found = TextHits::default();
        let mut tallies = reader.tallies.take();
        let tally = &mut tallies[record as usize];
        tally.fit(rows.count(record));
        for (number, group) in groups.iter().enumerate() {
            self.check_cancelled()?;
            reader.collect(rows, part, &group.own_words(), tally)?;
            tally.weigh(1.0, &weights);
            let holders = tally.touched.len();
            let rarity = found.add_term(holders, count, group.weight);
            tally.add(number, rarity, holders);
        }
        tally.drain_into(&mut found, rows.ordinals(record), &[], 0.0);
        reader.tallies.replace(tallies);
        Ok(found)
    }

    /// Returns the symbols, chunks and files with any of the terms in their text; symbols by these fields.
    pub fn search_text(&self, groups: &[TermGroup], parts: &[FieldWeight]) -> Result<TextResults> {
        let (reader, rows, totals) = (self.text_reader()?, self.rows()?, &self.info().totals);
        let weigh = |part: &FieldWeight| (*part, length_factors(part.length_norm, statistics(part.field, totals).1));
        let piece = FieldWeight { field: TextField::Chunk, weight: 1.0, length_norm: B };
        let parts: Vec<(FieldWeight, [f64; 256])> = parts.iter().chain([&piece]).map(weigh).collect();
        let count = (totals.symbol_docs + totals.piece_docs) as f64;
        let mean_file = (totals.own_tokens + totals.piece_tokens) as f64 / (totals.files as f64).max(1.0);
        let mut found = TextResults::default();
        let mut common = Vec::new();
        let mut tallies = reader.tallies.take();
        for (tally, record) in tallies.iter_mut().zip([RecordKind::Chunk, RecordKind::Symbol, RecordKind::File]) {
            tally.fit(if record == RecordKind::File { rows.versions().len() } else { rows.count(record) });
        }
        let [pieces, symbols, files] = &mut tallies;
        for (number, group) in groups.iter().enumerate() {
            let mut look_up = |words: &[(&str, u32)], is_alike: bool| -> Result<[usize; 3]> {
                for (weight, lengths) in &parts {
                    self.check_cancelled()?;
                    let tally = if weight.field == TextField::Chunk { &mut *pieces } else { &mut *symbols };
                    reader.collect(rows, weight.field, words, tally)?;
                    tally.weigh(weight.weight, lengths);
                    if weight.field == TextField::Name && !is_alike {
                        tally.mark_names(number);
                    }
                    if matches!(weight.field, TextField::Own | TextField::Chunk) {
                        files.count(&tally.postings, rows.files(weight.field.record()));
                    }
                }
                Ok([pieces.touched.len(), symbols.touched.len(), files.touched.len()])
            };
            let [in_pieces, in_symbols, in_files] = look_up(&group.own_words(), false)?;
            if !group.synonyms.is_empty() {
                look_up(&group.synonym_words(), true)?;
            }
            let rarity = found.symbols.add_term(in_pieces + in_symbols, count, group.weight);
            found.chunks.add_term(in_pieces + in_symbols, count, group.weight);
            common.extend(((in_pieces + in_symbols) as f64 * COMMON_RATIO > count).then_some(rarity));
            symbols.add(number, rarity, in_symbols);
            pieces.add(number, rarity, in_pieces);
            files.weigh_counts(|file| 1.0 - B + B * f64::from(rows.lengths()[file]) / mean_file.max(1.0));
            let rarity = found.files.add_term(in_files, totals.files as f64, group.weight);
            files.add(number, rarity, in_files);
        }
        let least = min_score(common, found.symbols.ceiling);
        symbols.drain_into(&mut found.symbols, rows.ordinals(RecordKind::Symbol), rows.payloads(), least);
        pieces.drain_into(&mut found.chunks, rows.ordinals(RecordKind::Chunk), &[], least);
        files.drain_into(&mut found.files, |file| (rows.versions()[file as usize], 0), &[], 0.0);
        reader.tallies.replace(tallies);
        Ok(found)
    }

    /// Whether a file version of the view has symbols other than imports.
    pub fn has_symbols(&self, version: VersionId) -> Result<bool> {
        Ok(self.rows()?.has_symbols(version))
    }

    /// Returns the words in one field with this prefix that `fit` accepts, each once, in order. Words of other views
    /// may be among them: they match nothing here.
    pub fn words_with_prefix(
        &self,
        part: TextField,
        prefix: &str,
        fit: impl Fn(&str) -> PrefixDecision,
    ) -> Result<Vec<String>> {
        let reader = self.text_reader()?;
        let mut words = Vec::new();
        for segment in reader.searcher.segment_readers() {
            self.check_cancelled()?;
            let inverted = segment.inverted_index(reader.fields.for_field(part))?;
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
pub enum PrefixDecision {
    /// Accept it.
    Accept,
    /// Reject it.
    Reject,
    /// Reject it, and every word that shares this number of leading bytes with it.
    RejectPrefix(usize),
}

/// Reads a dictionary until there are no more words with the prefix, or until many rejected words follow each other. In
/// the second case returns the position to continue from.
fn words_from(
    inverted: &InvertedIndexReader,
    start: &[u8],
    prefix: &str,
    fit: &impl Fn(&str) -> PrefixDecision,
    words: &mut Vec<String>,
) -> Result<Option<Vec<u8>>> {
    /// Reading this many words is faster than a new lookup.
    const MAX_SEQUENTIAL_READS: usize = 8;
    let mut stream = inverted.terms().range().ge(start).into_stream().map_err(corrupt_text_index)?;
    let mut unwanted = (Vec::new(), 0);
    while let Some((word, _)) = stream.next().filter(|(word, _)| word.starts_with(prefix.as_bytes())) {
        if unwanted.1 > 0 && word.starts_with(&unwanted.0) {
            unwanted.1 += 1;
            if unwanted.1 == MAX_SEQUENTIAL_READS {
                return Ok(prefix_successor(unwanted.0));
            }
            continue;
        }
        let Ok(text) = std::str::from_utf8(word) else { continue };
        match fit(text) {
            PrefixDecision::Accept => words.push(text.to_owned()),
            PrefixDecision::Reject => {}
            PrefixDecision::RejectPrefix(bytes) => unwanted = (word[..bytes].to_vec(), 1),
        }
    }
    Ok(None)
}

/// Returns the first possible word after all words with this prefix, if there is one.
fn prefix_successor(mut start: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = start.pop() {
        if let Some(next) = last.checked_add(1) {
            start.push(next);
            return Some(start);
        }
    }
    None
}

impl TextReader {
    /// Collects the records of the view that contain a term. Several words of the term add to its frequency.
    fn collect(
        &self,
        rows: &RecordRows,
        part: TextField,
        words: &[(&str, u32)],
        tally: &mut ScoreAccumulator,
    ) -> Result<()> {
        let field = self.fields.for_field(part);
        let ScoreAccumulator { postings, places, .. } = tally;
        postings.clear();
        let is_single = words.len() == 1;
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = segment.inverted_index(field)?;
            let lengths = segment.get_fieldnorms_reader(field)?;
            let rows = rows.segment_rows(number);
            for (word, worth) in words {
                for_each_document(&inverted, word, |doc, frequency| {
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
const COMMON_RATIO: f64 = 8.0;

/// The share of the score ceiling below which common terms together are negligible.
const NEGLIGIBLE_SHARE: f64 = 0.1;

/// Returns the minimum score of a result: more than the commonest terms of a query could contribute, if other terms are
/// more specific. Half of all records may contain only common terms, and none of them could come near the best.
fn min_score(mut common: Vec<f64>, ceiling: f64) -> f64 {
    common.sort_by(f64::total_cmp);
    let mut least = 0.0;
    for rarity in common {
        let more = least + rarity * (K1 + 1.0);
        if more > ceiling * NEGLIGIBLE_SHARE {
            break;
        }
        least = more;
    }
    least
}

/// Calls `each` with every document of a segment that contains a token, and the frequency.
fn for_each_document(inverted: &InvertedIndexReader, token: &str, mut each: impl FnMut(u32, u32)) -> Result<()> {
    let Some(term) = inverted.terms().get(token).map_err(corrupt_text_index)? else { return Ok(()) };
    let option = IndexRecordOption::WithFreqs;
    let mut block = inverted.read_block_postings_from_terminfo(&term, option).map_err(corrupt_text_index)?;
    while !block.docs().is_empty() {
        block.docs().iter().zip(block.freqs()).for_each(|(doc, frequency)| each(*doc, *frequency));
        block.advance();
    }
    Ok(())
}

/// Returns the divisor of a term frequency for each encoded field length: longer fields divide by more. Frequencies are
/// in units of 1 / [`EXACT_FREQUENCY`].
fn length_factors(b: f64, mean: f64) -> [f64; 256] {
    let weight = |length: u32| 1.0 - b + b * f64::from(length) / mean.max(1.0);
    std::array::from_fn(|id| f64::from(EXACT_FREQUENCY) * weight(FieldNormReader::id_to_fieldnorm(id as u8)))
}

/// Returns the number of records with a field in the view, and the mean length of the field.
fn statistics(part: TextField, totals: &Totals) -> (f64, f64) {
    let (count, tokens) = match part {
        TextField::Name => (totals.symbol_docs, totals.name_tokens),
        TextField::Doc => (totals.symbol_docs, totals.doc_tokens),
        TextField::Own => (totals.symbol_docs, totals.own_tokens),
        TextField::Chunk => (totals.piece_docs, totals.piece_tokens),
        TextField::Path => (totals.files, totals.file_tokens),
    };
    (count as f64, tokens as f64 / (count as f64).max(1.0))
}
