//! Exact text: which files of a view may hold it, by the words of the text index.
//!
//! A text that is looked for consists of runs of word characters. Where a run is closed (something that is no word
//! character stands beside it) it begins or ends a token; where it is open, it may stand anywhere in one. So a run is
//! looked up as a term, as a prefix, or, when it is open to the left, in a flat copy of the dictionary, which is made when
//! it is first needed. What comes out is a superset: tokens have no case, and parts of words are tokens, too.

use std::cell::OnceCell;
use std::io;
use std::sync::Arc;

use memchr::memmem;
use roaring::RoaringBitmap;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use crate::search::{Record, TextReader};
use crate::text::Mark;
use crate::tokens::push_lower;
use crate::{Result, Snapshot, StoreError};

/// So few files are read faster than a list of records.
const FEW: u64 = 40;
/// So few files are read faster than a dictionary.
const FEWER_THAN_WORDS: u64 = 400;
/// A run that stands in more words than this says nothing.
const MOST_WORDS: usize = 30_000;

/// What a text must have in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing is known of it.
    Anything,
    /// A run of word characters.
    Run(Run),
    /// All of these.
    All(Vec<Need>),
    /// At least one of these.
    One(Vec<Need>),
}

/// A run of word characters, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    text: String,
    /// Whether no word character can stand before it.
    closed_left: bool,
    /// Whether no word character can stand after it.
    closed_right: bool,
}

impl Need {
    /// The need of all of these, as plain as it can be said.
    pub fn all(mut needs: Vec<Need>) -> Self {
        needs.retain(|need| *need != Need::Anything);
        match needs.len() {
            0 => Need::Anything,
            1 => needs.remove(0),
            _ => Need::All(needs),
        }
    }

    /// The need of one of these, as plain as it can be said.
    pub fn one(mut needs: Vec<Need>) -> Self {
        match needs.len() {
            1 => needs.remove(0),
            _ if needs.contains(&Need::Anything) => Need::Anything,
            _ => Need::One(needs),
        }
    }

    /// Cheap ones come first: terms, prefixes, choices, and last what needs a look through the dictionary.
    fn cost(&self) -> u32 {
        match self {
            Need::Anything => 0,
            Need::Run(run) => match (run.closed_left, run.closed_right) {
                (true, true) => 0,
                (true, false) => 1,
                (false, _) => 3,
            },
            Need::All(needs) => needs.iter().map(Need::cost).min().unwrap_or(0),
            Need::One(needs) => needs.iter().map(Need::cost).max().unwrap_or(0).max(2),
        }
    }
}

impl Run {
    /// A run; `closed` tells, for the left and the right, that no word character can stand there.
    pub fn new(text: &str, closed: (bool, bool)) -> Self {
        let mut lower = String::with_capacity(text.len());
        push_lower(text, &mut lower);
        Self { text: lower, closed_left: closed.0, closed_right: closed.1 }
    }

    /// The run without outer underscores, as tokens are; and how many there were at each end.
    fn core(&self) -> (&str, usize, usize) {
        let left = self.text.len() - self.text.trim_start_matches('_').len();
        let core = self.text.trim_matches('_');
        (core, left, self.text.len() - left.min(self.text.len()) - core.len())
    }

    /// Whether a token that begins with the core can stand for a word with the run in it. Outer underscores may have
    /// been cut off the word.
    fn fits_after(&self, rest: &[u8], underscores: usize) -> bool {
        rest.is_empty() || !self.closed_right && rest.len() >= underscores && is_line(&rest[..underscores])
    }

    fn fits_before(&self, before: &[u8], underscores: usize) -> bool {
        before.is_empty()
            || !self.closed_left && before.len() >= underscores && is_line(&before[before.len() - underscores..])
    }
}

impl std::fmt::Display for Run {
    /// The run, with `<` and `>` at closed ends.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (left, right) = (if self.closed_left { "<" } else { "" }, if self.closed_right { ">" } else { "" });
        write!(f, "{left}{}{right}", self.text)
    }
}

fn is_line(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == b'_')
}

impl Snapshot {
    /// The files that may hold a text with this need: all that do, and some that do not. With `odd`, also those with
    /// characters that [`is_odd`](crate::is_odd), which is for needs that tell more than the characters of the text.
    pub fn may_hold(&self, need: &Need, odd: bool) -> Result<RoaringBitmap> {
        let reader = self.text_reader()?;
        let Some(mut found) = reader.meeting(need, self.members())? else {
            return Ok(self.members().clone());
        };
        found |= reader.marked(Mark::Long, self.members())?;
        if odd {
            found |= reader.marked(Mark::Odd, self.members())?;
        }
        Ok(found)
    }
}

impl TextReader {
    /// The members that meet a need as far as tokens tell; `None` when they tell nothing.
    fn meeting(&self, need: &Need, members: &RoaringBitmap) -> Result<Option<RoaringBitmap>> {
        match need {
            Need::Anything => Ok(None),
            Need::Run(run) => self.with_run(run, members),
            Need::All(needs) => self.meeting_all(needs, members),
            Need::One(needs) => {
                let mut found = RoaringBitmap::new();
                for need in needs {
                    match self.meeting(need, members)? {
                        Some(more) => found |= more,
                        None => return Ok(None),
                    }
                }
                Ok(Some(found))
            }
        }
    }

    fn meeting_all(&self, needs: &[Need], members: &RoaringBitmap) -> Result<Option<RoaringBitmap>> {
        let mut needs: Vec<&Need> = needs.iter().collect();
        needs.sort_by_key(|need| need.cost());
        let mut found: Option<RoaringBitmap> = None;
        for need in needs {
            let few = if need.cost() < 3 { FEW } else { FEWER_THAN_WORDS };
            if found.as_ref().is_some_and(|found| found.len() <= few) {
                break;
            }
            found = match (found, self.meeting(need, members)?) {
                (Some(found), Some(more)) => Some(found & more),
                (found, more) => found.or(more),
            };
        }
        Ok(found)
    }

    /// The members with a word that the run can be part of.
    fn with_run(&self, run: &Run, members: &RoaringBitmap) -> Result<Option<RoaringBitmap>> {
        let (core, ..) = run.core();
        if core.is_empty() {
            return Ok(None);
        }
        let mut versions = Versions::new(members);
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = segment.inverted_index(self.fields.of(Record::Chunk))?;
            let terms = match (run.closed_left, run.closed_right) {
                (true, true) => inverted.terms().get(core).map_err(text_io)?.into_iter().collect(),
                (true, false) => terms_with_prefix(&inverted, run)?,
                (false, _) => self.dictionary(number)?.terms(&inverted, run)?,
            };
            if terms.len() > MOST_WORDS {
                return Ok(None);
            }
            versions.add(segment, &inverted, &terms)?;
        }
        Ok(Some(versions.into_bitmap(members)))
    }

    fn marked(&self, mark: Mark, members: &RoaringBitmap) -> Result<RoaringBitmap> {
        let term = Term::from_field_text(self.fields.mark(), mark.word());
        let mut versions = Versions::new(members);
        for segment in self.searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.mark())?;
            let found = inverted.get_term_info(&term).map_err(text_io)?;
            versions.add(segment, &inverted, found.as_slice())?;
        }
        Ok(versions.into_bitmap(members))
    }

    /// The dictionary of a segment, flat.
    fn dictionary(&self, number: usize) -> Result<&Dictionary> {
        let all =
            self.dictionaries.get_or_init(|| self.searcher.segment_readers().iter().map(|_| OnceCell::new()).collect());
        if all[number].get().is_none() {
            let inverted = self.searcher.segment_readers()[number].inverted_index(self.fields.of(Record::Chunk))?;
            let _ = all[number].set(Dictionary::read(&inverted)?);
        }
        Ok(all[number].get().expect("it was just read"))
    }
}

fn text_io(source: io::Error) -> StoreError {
    StoreError::Io { path: "text".into(), source }
}

fn terms_with_prefix(inverted: &InvertedIndexReader, run: &Run) -> Result<Vec<TermInfo>> {
    let (core, _, after) = run.core();
    let mut stream = inverted.terms().range().ge(core).into_stream().map_err(text_io)?;
    let mut terms = Vec::new();
    while let Some((token, term)) = stream.next() {
        match token.strip_prefix(core.as_bytes()) {
            Some(rest) if run.fits_after(rest, after) => terms.push(term.clone()),
            Some(_) => {}
            None => break,
        }
    }
    Ok(terms)
}

/// The tokens of a segment, each between two newlines, in order.
#[derive(Debug)]
pub(crate) struct Dictionary {
    text: Vec<u8>,
    /// Where each token begins.
    starts: Vec<u32>,
}

impl Dictionary {
    fn read(inverted: &InvertedIndexReader) -> Result<Self> {
        let mut stream = inverted.terms().stream().map_err(text_io)?;
        let count = inverted.terms().num_terms();
        let mut dictionary = Self { text: Vec::with_capacity(count * 12), starts: Vec::with_capacity(count) };
        dictionary.text.push(b'\n');
        while stream.advance() {
            dictionary.starts.push(dictionary.text.len() as u32);
            dictionary.text.extend_from_slice(stream.key());
            dictionary.text.push(b'\n');
        }
        Ok(dictionary)
    }

    /// The terms that stand for words with the run in them; no more are looked for once there are too many.
    fn terms(&self, inverted: &InvertedIndexReader, run: &Run) -> Result<Vec<TermInfo>> {
        let (core, before, after) = run.core();
        let mut last = None;
        let mut terms = Vec::new();
        for at in memmem::find_iter(&self.text, core) {
            let number = self.starts.partition_point(|&start| start as usize <= at) - 1;
            let (start, end) = (self.starts[number] as usize, self.end(number));
            let fits = run.fits_before(&self.text[start..at], before)
                && run.fits_after(&self.text[at + core.len()..end], after);
            if fits && last != Some(number) {
                last = Some(number);
                terms.extend(inverted.terms().get(&self.text[start..end]).map_err(text_io)?);
            }
            if terms.len() > MOST_WORDS {
                break;
            }
        }
        Ok(terms)
    }

    fn end(&self, number: usize) -> usize {
        self.starts.get(number + 1).map_or(self.text.len(), |&next| next as usize) - 1
    }
}

/// A set of file versions, a bit for each.
struct Versions(Vec<u64>);

impl Versions {
    fn new(members: &RoaringBitmap) -> Self {
        Self(vec![0; members.max().map_or(0, |max| max as usize / 64 + 1)])
    }

    /// Adds the versions of all records with one of the terms.
    fn add(&mut self, segment: &SegmentReader, inverted: &Arc<InvertedIndexReader>, terms: &[TermInfo]) -> Result<()> {
        let versions = segment.fast_fields().u64("fv")?;
        for term in terms {
            let mut postings = inverted.read_postings_from_terminfo(term, IndexRecordOption::Basic).map_err(text_io)?;
            while postings.doc() != TERMINATED {
                let version = versions.first(postings.doc()).unwrap_or(0) as usize;
                if let Some(bits) = self.0.get_mut(version / 64) {
                    *bits |= 1 << (version % 64);
                }
                postings.advance();
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
    fn a_run_fits_tokens_that_lost_their_outer_underscores() {
        let open = Run::new("_Foo__", (false, false));
        assert_eq!(open.core(), ("foo", 1, 2));
        let table: &[(&str, &str, bool)] = &[
            ("", "", true),
            ("a_", "__b", true),
            ("", "__b", true),
            ("a_", "", true),
            ("a", "", false),
            ("", "_b", false),
        ];
        for (before, after, expected) in table {
            let fits = open.fits_before(before.as_bytes(), 1) && open.fits_after(after.as_bytes(), 2);
            assert_eq!(fits, *expected, "{before:?} {after:?}");
        }
        let closed = Run::new("foo", (true, true));
        assert!(closed.fits_before(b"", 0) && !closed.fits_before(b"a", 0) && !closed.fits_after(b"_", 0));
        assert_eq!(Run::new("___", (false, true)).core().0, "");
    }

    #[test]
    fn needs_are_said_plainly() {
        let run = || Need::Run(Run::new("a", (false, false)));
        assert_eq!(Need::all(vec![]), Need::Anything);
        assert_eq!(Need::all(vec![Need::Anything, run()]), run());
        assert_eq!(Need::one(vec![Need::Anything, run()]), Need::Anything);
        assert_eq!(Need::one(vec![run(), run()]), Need::One(vec![run(), run()]));
    }
}
