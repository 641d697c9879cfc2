//! Finds the lines of a text that a pattern matches.

use std::ops::{ControlFlow, Range};

use crate::grep::Pattern;
use crate::grep::pattern::ScanEnd;

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedLine {
    /// Its number, from 1.
    pub number: u32,
    /// The offset of its first byte in the text.
    pub start: usize,
    /// The line without its end; a carriage return belongs to the end.
    pub text: String,
    /// The matches, as byte ranges of the line. A match that continues in the next line ends with this one.
    pub ranges: Vec<Range<usize>>,
}

impl MatchedLine {
    /// Returns the column of the first match, in bytes from 1.
    pub fn column(&self) -> usize {
        self.ranges.first().map_or(1, |range| range.start + 1)
    }
}

/// Returns the lines with a match, in order, at most `most`; and whether time ran out before the end of the text.
pub(super) fn matching_lines(
    pattern: &Pattern,
    text: &str,
    most: usize,
    goes_on: &dyn Fn() -> bool,
) -> (Vec<MatchedLine>, bool) {
    let mut lines: Vec<MatchedLine> = Vec::new();
    let mut counted = LineCounter { number: 1, at: 0 };
    let mut end = 0;
    let ended = pattern.for_each_match(text, goes_on, |found| {
        if found.start == text.len() && (text.is_empty() || text.ends_with('\n')) {
            return ControlFlow::Continue(());
        }
        if lines.is_empty() || found.start >= end {
            if lines.len() == most {
                return ControlFlow::Break(());
            }
            let start = text[..found.start].rfind('\n').map_or(0, |at| at + 1);
            let newline = memchr::memchr(b'\n', &text.as_bytes()[found.start..]).map(|at| found.start + at);
            // An empty match at the very end belongs to a last line without a line end.
            end = newline.map_or(usize::MAX, |at| at + 1);
            let line = &text[start..newline.unwrap_or(text.len())];
            let line = line.strip_suffix('\r').unwrap_or(line);
            let number = counted.number_of(text, start);
            lines.push(MatchedLine { number, start, text: line.to_owned(), ranges: Vec::new() });
        }
        let line = lines.last_mut().expect("it was just pushed");
        let within = |offset: usize| (offset - line.start).min(line.text.len());
        let range = within(found.start)..within(found.end);
        line.ranges.push(range);
        ControlFlow::Continue(())
    });
    (lines, ended == ScanEnd::Cancelled)
}

/// Line numbers of offsets in ascending order.
struct LineCounter {
    number: u32,
    at: usize,
}

impl LineCounter {
    fn number_of(&mut self, text: &str, offset: usize) -> u32 {
        self.number += memchr::memchr_iter(b'\n', &text.as_bytes()[self.at..offset]).count() as u32;
        self.at = offset;
        self.number
    }
}
