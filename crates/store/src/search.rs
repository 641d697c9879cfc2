//! Words: which records of a view hold them, and how well, to the bit the same whatever else is stored.
//!
//! BM25, term at a time, over Tantivy's postings and with statistics of our own: a posting counts when the view holds
//! its file version, which gives the exact document frequency in the same pass; the number of records and their mean
//! length are the view's own sums. Contributions are added in the order of the question's terms. So neither segments
//! nor merges nor other branches can change a score, which Tantivy's own scorer does not promise.

use std::cell::OnceCell;

use codecompass_model::VersionId;
use roaring::RoaringBitmap;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Searcher, SegmentReader, TERMINATED, Term};

use crate::candidates::Dictionary;
use crate::text::{Fields, TextIndex};
use crate::views::Totals;
use crate::{Result, Snapshot};

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
}

impl std::fmt::Debug for TextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReader").finish_non_exhaustive()
    }
}

impl TextReader {
    pub(crate) fn open(index: &TextIndex) -> Result<Self> {
        Ok(Self { searcher: index.searcher()?, fields: index.fields(), dictionaries: Default::default() })
    }
}

impl Snapshot {
    /// The records of one type that hold any of the terms.
    pub fn search(&self, record: Record, groups: &[TermGroup]) -> Result<TextHits> {
        let reader = self.text_reader()?;
        let (count, mean) = statistics(record, &self.info().totals);
        let view = dense(self.members());
        let segments = reader.searcher.segment_readers();
        let mut sums: Vec<Vec<(f64, u64)>> = segments.iter().map(|_| Vec::new()).collect();
        let mut found = TextHits::default();
        for (number, group) in groups.iter().enumerate() {
            let postings: Vec<Vec<Posting>> =
                segments.iter().map(|segment| reader.postings(segment, record, group, &view)).collect::<Result<_>>()?;
            let frequency: usize = postings.iter().map(Vec::len).sum();
            let rarity = if frequency == 0 { 0.0 } else { idf(frequency as f64, count) * group.weight };
            found.rarity.push(rarity);
            found.ceiling += rarity * (K1 + 1.0);
            for ((sums, segment), postings) in sums.iter_mut().zip(segments).zip(&postings) {
                add(sums, segment.max_doc() as usize, postings, number, |posting| {
                    let length = 1.0 - B + B * posting.length / mean.max(1.0);
                    rarity * posting.frequency * (K1 + 1.0) / (posting.frequency + K1 * length)
                });
            }
        }
        for (segment, sums) in segments.iter().zip(&sums) {
            reader.gather(segment, sums, &mut found.hits)?;
        }
        found.hits.sort_unstable_by_key(|hit| (hit.version, hit.place));
        Ok(found)
    }
}

impl Snapshot {
    /// Words of records of one type that begin like this, each once, in order. Words of other views may be among them:
    /// they match nothing here.
    pub fn words_with_prefix(&self, record: Record, prefix: &str) -> Result<Vec<String>> {
        let reader = self.text_reader()?;
        let mut words = std::collections::BTreeSet::new();
        for segment in reader.searcher.segment_readers() {
            let inverted = segment.inverted_index(reader.fields.of(record))?;
            let range = inverted.terms().range().ge(prefix.as_bytes());
            let io = |error| crate::StoreError::Io { path: "text".into(), source: error };
            let mut stream = range.into_stream().map_err(io)?;
            while let Some((word, _)) = stream.next().filter(|(word, _)| word.starts_with(prefix.as_bytes())) {
                words.insert(String::from_utf8_lossy(word).into_owned());
            }
        }
        Ok(words.into_iter().collect())
    }
}

/// A record that holds a term.
struct Posting {
    doc: u32,
    frequency: f64,
    length: f64,
}

impl TextReader {
    /// The records of a segment that hold a term and are in the view, in ascending order.
    fn postings(
        &self,
        segment: &SegmentReader,
        record: Record,
        group: &TermGroup,
        view: &[u64],
    ) -> Result<Vec<Posting>> {
        let field = self.fields.of(record);
        let inverted = segment.inverted_index(field)?;
        let versions = segment.fast_fields().u64("fv")?;
        let lengths = segment.get_fieldnorms_reader(field)?;
        let mut all: Vec<Posting> = Vec::new();
        for token in &group.tokens {
            let term = Term::from_field_text(field, token);
            let io = |error| crate::StoreError::Io { path: "text".into(), source: error };
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::WithFreqs).map_err(io)? else {
                continue;
            };
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                let version = versions.first(doc).unwrap_or(0);
                if holds(view, version) && !segment.is_deleted(doc) {
                    let length = lengths.fieldnorm(doc) as f64;
                    all.push(Posting { doc, frequency: postings.term_freq() as f64, length });
                }
                postings.advance();
            }
        }
        if group.tokens.len() > 1 {
            merge(&mut all);
        }
        Ok(all)
    }

    fn gather(&self, segment: &SegmentReader, sums: &[(f64, u64)], hits: &mut Vec<TextHit>) -> Result<()> {
        let versions = segment.fast_fields().u64("fv")?;
        let places = segment.fast_fields().u64("ord")?;
        for (doc, &(score, terms)) in sums.iter().enumerate().filter(|(_, (_, terms))| *terms != 0) {
            let doc = doc as u32;
            let version = versions.first(doc).unwrap_or(0) as VersionId;
            let place = (places.first(doc).unwrap_or(0) >> 2) as u32;
            hits.push(TextHit { version, place, score, terms });
        }
        Ok(())
    }
}

/// Adds the frequencies of records that hold several words of a term.
fn merge(postings: &mut Vec<Posting>) {
    postings.sort_by_key(|posting| posting.doc);
    postings.dedup_by(|next, kept| {
        let same = next.doc == kept.doc;
        if same {
            kept.frequency += next.frequency;
        }
        same
    });
}

fn add(sums: &mut Vec<(f64, u64)>, records: usize, postings: &[Posting], term: usize, worth: impl Fn(&Posting) -> f64) {
    if postings.is_empty() {
        return;
    }
    sums.resize(records, (0.0, 0));
    for posting in postings {
        let (score, terms) = &mut sums[posting.doc as usize];
        *score += worth(posting);
        *terms |= 1 << term.min(63);
    }
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

/// The members as one bit per version id: a test is one load.
fn dense(members: &RoaringBitmap) -> Vec<u64> {
    let mut bits = vec![0u64; members.max().map_or(0, |max| max as usize / 64 + 1)];
    for id in members {
        bits[id as usize / 64] |= 1 << (id % 64);
    }
    bits
}

fn holds(view: &[u64], version: u64) -> bool {
    view.get(version as usize / 64).is_some_and(|bits| bits >> (version % 64) & 1 == 1)
}
