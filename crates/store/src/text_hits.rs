//! Hits of a text search, and the accumulator of their scores.

use codecompass_model::VersionId;

use crate::SymbolPayload;

/// The saturation of term frequencies in BM25.
pub(crate) const K1: f64 = 1.2;

/// Frequencies are counted in quarters, so that their sums are exact. This is the frequency of one exact occurrence.
pub(crate) const EXACT_FREQUENCY: u32 = 4;

/// A record that contains some of the terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextHit {
    /// Its file version.
    pub version: VersionId,
    /// Its ordinal among the records of its version.
    pub ordinal: u32,
    /// The sum over all terms.
    pub score: f64,
    /// A bit for each term that it contains. Terms after the 64th share the last bit.
    pub terms: u64,
    /// A bit for each term that its name contains.
    pub in_name: u64,
    /// The payload of a symbol.
    pub payload: SymbolPayload,
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

/// A record that contains a term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    pub(crate) row: u32,
    /// The frequency, in units of 1 / [`EXACT_FREQUENCY`].
    pub(crate) frequency: u32,
    /// The length, as Tantivy encodes lengths.
    pub(crate) length: u8,
}

/// Accumulates the scores of terms. Empty between two queries, and reused because it is large.
#[derive(Debug, Default)]
pub(crate) struct ScoreAccumulator {
    /// For each row, the score, a bit for each term, and a bit for each term in its name.
    sums: Vec<(f64, u64, u64)>,
    /// A bit for each row with a score.
    occupied: Vec<u64>,
    /// The records that contain the current term in the current field.
    pub(crate) postings: Vec<Posting>,
    /// For each row, one more than its index in `postings`, while the words of a term are combined.
    pub(crate) places: Vec<u32>,
    /// For each row, the frequency of the current term, weighted by field and length.
    weights: Vec<f64>,
    /// The rows that contain the current term.
    pub(crate) touched: Vec<u32>,
}

impl ScoreAccumulator {
    /// Makes room for this number of rows.
    pub(crate) fn fit(&mut self, rows: usize) {
        self.sums.resize(rows, (0.0, 0, 0));
        self.occupied.resize(rows / 64 + 1, 0);
        self.places.resize(rows, 0);
        self.weights.resize(rows, 0.0);
    }

    /// Adds the current postings to the weights of their rows.
    pub(crate) fn weigh(&mut self, worth: f64, lengths: &[f64; 256]) {
        for posting in &self.postings {
            let weight = &mut self.weights[posting.row as usize];
            if *weight == 0.0 {
                self.touched.push(posting.row);
            }
            *weight += worth * f64::from(posting.frequency) / lengths[posting.length as usize];
        }
    }

    /// Records that the names of the current records contain the current term.
    pub(crate) fn mark_names(&mut self, term: usize) {
        for posting in &self.postings {
            self.sums[posting.row as usize].2 |= 1 << term.min(63);
        }
    }

    /// Adds the postings of other records to their files.
    pub(crate) fn count(&mut self, postings: &[Posting], files: &[u32]) {
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
    pub(crate) fn weigh_counts(&mut self, length: impl Fn(usize) -> f64) {
        for &row in &self.touched {
            self.weights[row as usize] /= f64::from(EXACT_FREQUENCY) * length(row as usize);
        }
    }

    /// Adds the score of the current term to each record that contains it. The first `holders` rows contain the term
    /// itself.
    pub(crate) fn add(&mut self, term: usize, rarity: f64, holders: usize) {
        for (at, &row) in self.touched.iter().enumerate() {
            let row = row as usize;
            let weight = std::mem::take(&mut self.weights[row]);
            let (score, terms, _) = &mut self.sums[row];
            *score += rarity * weight * (K1 + 1.0) / (weight + K1);
            if at < holders {
                *terms |= 1 << term.min(63);
            }
            self.occupied[row / 64] |= 1 << (row % 64);
        }
        self.touched.clear();
    }

    /// Moves every score of at least the minimum into the results, in order, and clears the accumulator.
    pub(crate) fn drain_into(
        &mut self,
        found: &mut TextHits,
        mut place_of: impl FnMut(u32) -> (VersionId, u32),
        glances: &[SymbolPayload],
        least: f64,
    ) {
        for (at, bits) in self.occupied.iter_mut().enumerate() {
            while *bits != 0 {
                let row = at as u32 * 64 + bits.trailing_zeros();
                let (score, terms, in_name) = std::mem::take(&mut self.sums[row as usize]);
                *bits &= *bits - 1;
                if score < least {
                    continue;
                }
                let (version, place) = place_of(row);
                let glance = glances.get(row as usize).copied().unwrap_or_default();
                found.hits.push(TextHit { version, ordinal: place, score, terms, in_name, payload: glance });
            }
        }
    }
}

impl TextHits {
    /// Records a term with its document frequency, and returns its rarity.
    pub(crate) fn add_term(&mut self, frequency: usize, count: f64, weight: f64) -> f64 {
        let rarity = if frequency == 0 { 0.0 } else { idf(frequency as f64, count) * weight };
        self.rarity.push(rarity);
        self.ceiling += rarity * (K1 + 1.0);
        rarity
    }
}

fn idf(frequency: f64, count: f64) -> f64 {
    (1.0 + (count - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
}
