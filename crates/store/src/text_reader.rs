//! The open text index of a snapshot.

use std::cell::{OnceCell, RefCell};
use std::panic::resume_unwind;

use roaring::RoaringBitmap;
use tantivy::schema::Field;
use tantivy::{Searcher, SegmentReader};

use crate::dictionary::Dictionary;
use crate::text::{Fields, TextIndex};
use crate::text_fields::{RECORD_KINDS, TextField};
use crate::text_hits::ScoreAccumulator;
use crate::{Result, StoreError, Totals};

/// The number of fields with words.
pub(crate) const WORD_FIELDS: usize = 3;

/// The open text index of a snapshot.
pub(crate) struct TextReader {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    /// The dictionaries of each word field, one per segment, loaded on first use.
    pub(crate) dictionaries: [OnceCell<Vec<Dictionary>>; WORD_FIELDS],
    /// The accumulators of scores, one per record kind, reused by all searches.
    pub(crate) tallies: RefCell<[ScoreAccumulator; RECORD_KINDS]>,
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

    /// Returns a segment.
    pub(crate) fn segment(&self, number: usize) -> &SegmentReader {
        &self.searcher.segment_readers()[number]
    }

    /// Returns a field with the words of lines: of symbols, of text outside symbols, or words too long to be tokens.
    pub(crate) fn word_field(&self, place: usize) -> Field {
        match place {
            0 => self.fields.for_field(TextField::Own),
            1 => self.fields.for_field(TextField::Chunk),
            _ => self.fields.long(),
        }
    }

    /// Returns the flat dictionary of a segment. Those of all segments are copied at once, each on its own thread.
    pub(crate) fn dictionary(&self, place: usize, number: usize) -> Result<&Dictionary> {
        let all = &self.dictionaries[place];
        if all.get().is_none() {
            let field = self.word_field(place);
            let copy = |segment: &SegmentReader| Dictionary::read(segment.inverted_index(field)?.as_ref());
            let copies = std::thread::scope(|scope| {
                let segments = self.searcher.segment_readers().iter();
                let running: Vec<_> = segments.map(|segment| scope.spawn(move || copy(segment))).collect();
                let joined =
                    running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
                joined.collect::<Result<Vec<_>>>()
            })?;
            let _ = all.set(copies);
        }
        Ok(&all.get().expect("because it was just set")[number])
    }
}
