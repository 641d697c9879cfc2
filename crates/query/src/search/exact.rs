//! Finds the lines that contain a literal text, a regular expression, or an error message.

use std::rc::Rc;

use codecompass_store::{Result, Snapshot, TextResults, VersionInfo};

use super::evidence::FileLines;
use super::parsed_query::ParsedQuery;
use super::{QueryMode, SearchRequest, messages};
use crate::grep::{self, Pattern, PatternOptions};

/// The lines that contain a text that the query wants literally.
#[derive(Debug)]
pub(super) struct ExactMatches {
    /// The text, unless it is a regular expression.
    pub(super) text: Option<Rc<str>>,
    /// The lines by file, in order.
    pub(super) lines: FileLines,
    /// The share of the text that they contain, from 0 to 1.
    pub(super) score: f64,
    /// Whether these are all matching lines.
    pub(super) is_exhaustive: bool,
    /// Whether the time limit was reached before all texts were searched.
    pub(super) timed_out: bool,
    /// The number of files searched to the end by then, and of those to search, if known.
    pub(super) files_searched: Option<(usize, usize)>,
}

impl Default for ExactMatches {
    fn default() -> Self {
        Self {
            text: None,
            lines: FileLines::new(),
            score: 1.0,
            is_exhaustive: true,
            timed_out: false,
            files_searched: None,
        }
    }
}

impl ExactMatches {
    /// Finds the requested text; for a query of words, the first of its literal texts that occurs anywhere, else lines
    /// that contain the fixed parts of its message.
    pub(super) fn find(
        snapshot: &Snapshot,
        request: &SearchRequest<'_>,
        parsed: &ParsedQuery,
        found: &TextResults,
    ) -> Result<Self> {
        let text: Rc<str> = Rc::from(request.query);
        match request.mode {
            QueryMode::Literal(pattern) => Self::find_lines(snapshot, request, pattern, Some(text)),
            QueryMode::Regex(pattern) => Self::find_lines(snapshot, request, pattern, None),
            QueryMode::Words => {
                for text in &parsed.texts_to_try {
                    let wanted = PatternOptions { text, literal: true, ignore_case: false, word: false };
                    let Ok(pattern) = Pattern::new(&wanted) else { continue };
                    let exact = Self::find_lines(snapshot, request, &pattern, Some(text.clone()))?;
                    if !exact.lines.is_empty() || exact.timed_out {
                        return Ok(exact);
                    }
                }
                let Some(message) = messages::find_message(request.query, parsed.intent, !parsed.frames.is_empty())
                else {
                    return Ok(Self::default());
                };
                let (lines, worth, is_late) = messages::matching_lines(snapshot, request, message, found)?;
                Ok(Self { lines, score: worth, timed_out: is_late, ..Self::default() })
            }
        }
    }

    fn find_lines(
        snapshot: &Snapshot,
        request: &SearchRequest<'_>,
        pattern: &Pattern,
        text: Option<Rc<str>>,
    ) -> Result<Self> {
        let accepts = |version: &VersionInfo| request.accepts(&version.path, &version.language);
        let found = grep::find_cancellable(snapshot, pattern, accepts, Some(MAX_EXACT_LINES), request.should_continue)?;
        let numbers = |lines: Vec<grep::MatchedLine>| lines.into_iter().map(|line| line.number).collect();
        let lines = found.files.into_iter().map(|file| (file.version.id, numbers(file.lines))).collect();
        Ok(Self {
            text,
            lines,
            score: 1.0,
            is_exhaustive: found.is_complete || found.timed_out,
            timed_out: found.timed_out,
            files_searched: found.timed_out.then_some((found.files_done, found.files_total)),
        })
    }
}

/// The maximum number of matching lines.
const MAX_EXACT_LINES: usize = 2000;
