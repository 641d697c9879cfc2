//! Dictionaries: the words of the text index that may contain a run of word characters.

use memchr::memmem;
use tantivy::InvertedIndexReader;
use tantivy::postings::TermInfo;

use crate::Result;
use crate::text::corrupt_text_index;
use crate::tokens::lower;

/// A run that is part of more terms than this does not narrow the search.
pub(crate) const MAX_RUN_TERMS: usize = 30_000;

/// A run of word characters, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    text: String,
    /// Whether no word character can precede it.
    pub(crate) closed_left: bool,
    /// Whether no word character can follow it.
    pub(crate) closed_right: bool,
}

impl Run {
    /// Creates a run. `closed` says, for left and right, whether no word character can be adjacent.
    pub fn new(text: &str, closed: (bool, bool)) -> Self {
        Self { text: lower(text), closed_left: closed.0, closed_right: closed.1 }
    }

    /// Returns the run without outer underscores, as in tokens, and the number of underscores at each end.
    pub(crate) fn core(&self) -> (&str, usize, usize) {
        let left = self.text.len() - self.text.trim_start_matches('_').len();
        let core = self.text.trim_matches('_');
        (core, left, self.text.len() - left.min(self.text.len()) - core.len())
    }

    /// Whether a token that starts with the core can come from a word with the run in it. The word may have lost its
    /// outer underscores.
    fn fits_after(&self, rest: &[u8], underscores: usize) -> bool {
        rest.is_empty() || !self.closed_right && rest.len() >= underscores && is_newline(&rest[..underscores])
    }

    fn fits_before(&self, before: &[u8], underscores: usize) -> bool {
        before.is_empty()
            || !self.closed_left && before.len() >= underscores && is_newline(&before[before.len() - underscores..])
    }
}

impl std::fmt::Display for Run {
    /// Formats the run with `<` and `>` at closed ends.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (left, right) = (if self.closed_left { "<" } else { "" }, if self.closed_right { ">" } else { "" });
        write!(f, "{left}{}{right}", self.text)
    }
}

fn is_newline(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == b'_')
}

/// Returns the terms that start with the run.
pub(crate) fn terms_with_prefix(inverted: &InvertedIndexReader, run: &Run) -> Result<Vec<TermInfo>> {
    let (core, _, after) = run.core();
    let mut stream = inverted.terms().range().ge(core).into_stream().map_err(corrupt_text_index)?;
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

/// The tokens of a segment in order, each between two newlines.
#[derive(Debug)]
pub(crate) struct Dictionary {
    text: Vec<u8>,
    /// The start of each token.
    starts: Vec<u32>,
}

impl Dictionary {
    /// Copies the dictionary of a segment.
    pub(crate) fn read(inverted: &InvertedIndexReader) -> Result<Self> {
        let mut stream = inverted.terms().stream().map_err(corrupt_text_index)?;
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

    /// Returns the terms of words that contain the run; stops when there are too many.
    pub(crate) fn terms(&self, inverted: &InvertedIndexReader, run: &Run) -> Result<Vec<TermInfo>> {
        let (core, before, after) = run.core();
        let mut last = None;
        let mut terms = Vec::new();
        let finder = memmem::Finder::new(core);
        let mut from = 0;
        // A word may contain the run twice, overlapping: the second `obarfoo` in `foobarfoobarfoo` ends the word.
        while let Some(found) = self.text.get(from..).and_then(|rest| finder.find(rest)) {
            let at = from + found;
            from = at + 1;
            let number = self.starts.partition_point(|&start| start as usize <= at) - 1;
            let (start, end) = (self.starts[number] as usize, self.end(number));
            let fits = run.fits_before(&self.text[start..at], before)
                && run.fits_after(&self.text[at + core.len()..end], after);
            if fits && last != Some(number) {
                last = Some(number);
                terms.extend(inverted.terms().get(&self.text[start..end]).map_err(corrupt_text_index)?);
            }
            if terms.len() > MAX_RUN_TERMS {
                break;
            }
        }
        Ok(terms)
    }

    fn end(&self, number: usize) -> usize {
        self.starts.get(number + 1).map_or(self.text.len(), |&next| next as usize) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_fits_tokens_without_outer_underscores() {
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
}
