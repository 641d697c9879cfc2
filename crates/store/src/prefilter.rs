//! The prefilter for exact text: the files of a view that may contain it, from the words of the text index.
//!
//! The searched text consists of runs of word characters. A closed end of a run (next to a character that is not part
//! of a word) is the start or end of a token; at an open end the token may continue. A run is therefore looked up as a
//! term, as a prefix or, if it is open to the left, in a flat copy of the dictionary, which is made on first use. All
//! runs of a match are on one line, so in one document. The result is a superset: tokens have no case, and parts of
//! words are tokens, too.

use roaring::RoaringBitmap;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, SegmentReader, Term};

use crate::dictionary::{MAX_RUN_TERMS, Run, terms_with_prefix};
use crate::text::corrupt_text_index;
use crate::text_fields::TextFlag;
use crate::text_reader::{TextReader, WORD_FIELDS};
use crate::{Result, Snapshot};

/// Reading this few records is faster than reading further postings.
const SCAN_INSTEAD_OF_POSTINGS: u32 = 20;
/// Reading this few records is faster than scanning a dictionary.
const SCAN_INSTEAD_OF_DICTIONARY: u32 = 100;
/// Reading this few records is faster than copying a dictionary.
const SCAN_INSTEAD_OF_DICTIONARY_COPY: u32 = 2_000;
/// A condition that a text must meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefilter {
    /// Every text matches.
    MatchAll,
    /// A run of word characters.
    Run(Run),
    /// All of these.
    And(Vec<Prefilter>),
    /// At least one of these.
    Or(Vec<Prefilter>),
}

/// The number of alternatives between two checks for cancellation. Each may scan the dictionary.
const CANCEL_CHECK_INTERVAL: usize = 16;

impl Prefilter {
    /// Returns the conjunction of these, simplified.
    pub fn and(mut needs: Vec<Prefilter>) -> Self {
        needs.retain(|need| *need != Prefilter::MatchAll);
        match needs.len() {
            0 => Prefilter::MatchAll,
            1 => needs.remove(0),
            _ => Prefilter::And(needs),
        }
    }

    /// Returns the disjunction of these, simplified.
    pub fn or(mut needs: Vec<Prefilter>) -> Self {
        match needs.len() {
            1 => needs.remove(0),
            _ if needs.contains(&Prefilter::MatchAll) => Prefilter::MatchAll,
            _ => Prefilter::Or(needs),
        }
    }

    /// Ranks by cost: terms, prefixes, alternatives, and last a scan of the dictionary.
    fn cost(&self) -> u32 {
        match self {
            Prefilter::MatchAll => 0,
            Prefilter::Run(run) => match (run.closed_left, run.closed_right) {
                (true, true) => 0,
                (true, false) => 1,
                (false, _) => 3,
            },
            Prefilter::And(needs) => needs.iter().map(Prefilter::cost).min().unwrap_or(0),
            Prefilter::Or(needs) => needs.iter().map(Prefilter::cost).max().unwrap_or(0).max(2),
        }
    }
}

impl Snapshot {
    /// Returns the files that may contain a text matching this prefilter on one line: all that do, and some that do
    /// not. With `odd`, files with odd characters ([`is_odd`](crate::is_odd)) are included, for prefilters that depend
    /// on more than the characters of the text. If `goes_on` returns false before all alternatives are looked up, all
    /// files are returned.
    pub fn prefilter_files(&self, need: &Prefilter, odd: bool, goes_on: &dyn Fn() -> bool) -> Result<RoaringBitmap> {
        let reader = self.text_reader()?;
        let mut versions = VersionSet::new(self.members());
        for (number, segment) in reader.searcher.segment_readers().iter().enumerate() {
            self.check_cancelled()?;
            let Some(mut pieces) = reader.matching_records(number, need, goes_on)? else {
                return Ok(self.members().clone());
            };
            reader.add_flagged(segment, TextFlag::Huge, &mut pieces)?;
            if odd {
                reader.add_flagged(segment, TextFlag::OddCharacters, &mut pieces)?;
            }
            versions.add(segment, &pieces)?;
        }
        Ok(versions.into_bitmap(self.members()))
    }
}

impl TextReader {
    /// Returns the records of a segment that match a prefilter as far as tokens show; `None` if they show nothing.
    fn matching_records(
        &self,
        number: usize,
        need: &Prefilter,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<RecordSet>> {
        match need {
            Prefilter::MatchAll => Ok(None),
            Prefilter::Run(run) => self.records_with_run(number, run),
            Prefilter::And(needs) => self.records_matching_all(number, needs, goes_on),
            Prefilter::Or(needs) => {
                let mut found = RecordSet::empty(self.segment(number));
                for (count, need) in (1..).zip(needs) {
                    if count % CANCEL_CHECK_INTERVAL == 0 && !goes_on() {
                        return Ok(None);
                    }
                    match self.matching_records(number, need, goes_on)? {
                        Some(more) => found.union(&more),
                        None => return Ok(None),
                    }
                }
                Ok(Some(found))
            }
        }
    }

    fn records_matching_all(
        &self,
        number: usize,
        needs: &[Prefilter],
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<RecordSet>> {
        let mut needs: Vec<&Prefilter> = needs.iter().collect();
        needs.sort_by_key(|need| need.cost());
        let mut found: Option<RecordSet> = None;
        for need in needs {
            let few = match need.cost() {
                0..3 => SCAN_INSTEAD_OF_POSTINGS,
                _ if self.dictionaries[0].get().is_some() => SCAN_INSTEAD_OF_DICTIONARY,
                _ => SCAN_INSTEAD_OF_DICTIONARY_COPY,
            };
            if found.as_ref().is_some_and(|found| found.count() <= few) {
                break;
            }
            match (&mut found, self.matching_records(number, need, goes_on)?) {
                (Some(found), Some(more)) => found.intersect(&more),
                (None, more) => found = more,
                (Some(_), None) => {}
            }
        }
        Ok(found)
    }

    /// Returns the records with a word that may contain the run.
    fn records_with_run(&self, number: usize, run: &Run) -> Result<Option<RecordSet>> {
        let (core, ..) = run.core();
        if core.is_empty() {
            return Ok(None);
        }
        let mut records = RecordSet::empty(self.segment(number));
        for place in 0..WORD_FIELDS {
            let inverted = self.segment(number).inverted_index(self.word_field(place))?;
            let terms = match (run.closed_left, run.closed_right) {
                (true, true) => inverted.terms().get(core).map_err(corrupt_text_index)?.into_iter().collect(),
                (true, false) => terms_with_prefix(&inverted, run)?,
                (false, _) => self.dictionary(place, number)?.terms(&inverted, run)?,
            };
            if terms.len() > MAX_RUN_TERMS {
                return Ok(None);
            }
            records.add(&inverted, &terms)?;
        }
        Ok(Some(records))
    }

    fn add_flagged(&self, segment: &SegmentReader, mark: TextFlag, records: &mut RecordSet) -> Result<()> {
        let inverted = segment.inverted_index(self.fields.mark())?;
        let term = Term::from_field_text(self.fields.mark(), mark.term());
        let found = inverted.get_term_info(&term).map_err(corrupt_text_index)?;
        records.add(&inverted, found.as_slice())
    }
}

/// A set of records of a segment, as a bit set.
struct RecordSet(Vec<u64>);

impl RecordSet {
    fn empty(segment: &SegmentReader) -> Self {
        Self(vec![0; segment.max_doc() as usize / 64 + 1])
    }

    /// Adds all records with one of the terms.
    fn add(&mut self, inverted: &InvertedIndexReader, terms: &[TermInfo]) -> Result<()> {
        let Some(first) = terms.first() else { return Ok(()) };
        let option = IndexRecordOption::Basic;
        let mut block = inverted.read_block_postings_from_terminfo(first, option).map_err(corrupt_text_index)?;
        for (number, term) in terms.iter().enumerate() {
            if number > 0 {
                inverted.reset_block_postings_from_terminfo(term, &mut block).map_err(corrupt_text_index)?;
            }
            while !block.docs().is_empty() {
                block.docs().iter().for_each(|doc| self.0[*doc as usize / 64] |= 1 << (doc % 64));
                block.advance();
            }
        }
        Ok(())
    }

    fn union(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(bits, more)| *bits |= more);
    }

    fn intersect(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(bits, more)| *bits &= more);
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|bits| bits.count_ones()).sum()
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        let with_bits = self.0.iter().enumerate().filter(|(_, bits)| **bits != 0);
        with_bits
            .flat_map(|(at, bits)| (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit))
    }
}

/// A set of file versions, as a bit set.
struct VersionSet(Vec<u64>);

impl VersionSet {
    fn new(members: &RoaringBitmap) -> Self {
        Self(vec![0; members.max().map_or(0, |max| max as usize / 64 + 1)])
    }

    /// Adds the versions of records; versions outside the view are dropped later.
    fn add(&mut self, segment: &SegmentReader, records: &RecordSet) -> Result<()> {
        let versions = segment.fast_fields().u64("fv")?;
        for record in records.iter() {
            let version = versions.first(record).unwrap_or(0) as usize;
            if let Some(bits) = self.0.get_mut(version / 64) {
                *bits |= 1 << (version % 64);
            }
        }
        Ok(())
    }

    fn into_bitmap(self, members: &RoaringBitmap) -> RoaringBitmap {
        let has = |id: &u32| self.0[*id as usize / 64] >> (id % 64) & 1 == 1;
        members.iter().filter(has).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefilters_are_simplified() {
        let run = || Prefilter::Run(Run::new("a", (false, false)));
        assert_eq!(Prefilter::and(vec![]), Prefilter::MatchAll);
        assert_eq!(Prefilter::and(vec![Prefilter::MatchAll, run()]), run());
        assert_eq!(Prefilter::or(vec![Prefilter::MatchAll, run()]), Prefilter::MatchAll);
        assert_eq!(Prefilter::or(vec![run(), run()]), Prefilter::Or(vec![run(), run()]));
    }
}
