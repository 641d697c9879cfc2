//! Finds the lines that contain a literal text, a regular expression, or an error message.

use std::rc::Rc;

use codecompass_store::{Result, Snapshot, TextEverywhere, VersionInfo};

use super::asked::Asked;
use super::signs::LinesOfFiles;
use super::{Mode, Search, messages};
use crate::grep::{self, Pattern, Wanted};

/// The lines that contain a text that the query wants literally.
#[derive(Debug)]
pub(super) struct Exact {
    /// The text, unless it is a regular expression.
    pub(super) text: Option<Rc<str>>,
    /// The lines by file, in order.
    pub(super) lines: LinesOfFiles,
    /// The share of the text that they contain, from 0 to 1.
    pub(super) worth: f64,
    /// Whether these are all matching lines.
    pub(super) is_exhaustive: bool,
    /// Whether the time limit was reached before all texts were searched.
    pub(super) is_late: bool,
}

impl Default for Exact {
    fn default() -> Self {
        Self { text: None, lines: LinesOfFiles::new(), worth: 1.0, is_exhaustive: true, is_late: false }
    }
}

impl Exact {
    /// Finds the requested text; for a query of words, the first of its literal texts that occurs anywhere, else lines
    /// that contain the fixed parts of its message.
    pub(super) fn find(
        snapshot: &Snapshot,
        question: &Search<'_>,
        asked: &Asked,
        found: &TextEverywhere,
    ) -> Result<Self> {
        let text: Rc<str> = Rc::from(question.query);
        match question.mode {
            Mode::Literal(pattern) => Self::lines_of(snapshot, question, pattern, Some(text)),
            Mode::Regex(pattern) => Self::lines_of(snapshot, question, pattern, None),
            Mode::Words => {
                for text in &asked.texts_to_try {
                    let wanted = Wanted { text, literal: true, ignore_case: false, word: false };
                    let Ok(pattern) = Pattern::new(&wanted) else { continue };
                    let exact = Self::lines_of(snapshot, question, &pattern, Some(text.clone()))?;
                    if !exact.lines.is_empty() || exact.is_late {
                        return Ok(exact);
                    }
                }
                let Some(message) = messages::message_of(question.query, asked.intent) else {
                    return Ok(Self::default());
                };
                let (lines, worth, is_late) = messages::holders(snapshot, question, message, found)?;
                Ok(Self { lines, worth, is_late, ..Self::default() })
            }
        }
    }

    fn lines_of(snapshot: &Snapshot, question: &Search<'_>, pattern: &Pattern, text: Option<Rc<str>>) -> Result<Self> {
        let accepts = |version: &VersionInfo| question.accepts(&version.path, &version.language);
        let found = grep::find_while(snapshot, pattern, accepts, Some(MOST_LINES), question.goes_on)?;
        let numbers = |lines: Vec<grep::Line>| lines.into_iter().map(|line| line.number).collect();
        let lines = found.files.into_iter().map(|file| (file.version.id, numbers(file.lines))).collect();
        Ok(Self { text, lines, worth: 1.0, is_exhaustive: found.is_complete || found.is_late, is_late: found.is_late })
    }
}

/// The maximum number of matching lines.
const MOST_LINES: usize = 2000;
