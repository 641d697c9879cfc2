//! Queries that are one quoted text: if the text occurs anywhere, only literal matches are returned.

use codecompass_store::{Result, Snapshot, VersionInfo};

use super::{Mode, Search};
use crate::grep::{self, Pattern, Wanted};

pub(super) struct Quoted<'q> {
    text: &'q str,
    pattern: Pattern,
}

impl<'q> Quoted<'q> {
    pub(super) fn of(question: &Search<'q>) -> Option<Self> {
        if !matches!(question.mode, Mode::Words) {
            return None;
        }
        let query = question.query.trim();
        let text = ['"', '`'].iter().find_map(|quote| query.strip_prefix(*quote)?.strip_suffix(*quote))?;
        if text.trim().is_empty() || text.contains(['"', '`']) {
            return None;
        }
        let wanted = Wanted { text, literal: true, ignore_case: false, word: false };
        Pattern::new(&wanted).ok().map(|pattern| Self { text, pattern })
    }

    /// Creates a literal search request for the text.
    pub(super) fn question<'s>(&'s self, question: &Search<'s>) -> Search<'s> {
        Search { query: self.text, mode: Mode::Literal(&self.pattern), ..*question }
    }

    /// Whether any accepted file contains the text, or the time limit was reached before that was known.
    pub(super) fn is_anywhere(&self, snapshot: &Snapshot, question: &Search<'_>) -> Result<bool> {
        let accepts = |version: &VersionInfo| question.accepts(&version.path, &version.language);
        let found = grep::find_while(snapshot, &self.pattern, accepts, Some(1), question.goes_on)?;
        Ok(!found.files.is_empty() || found.is_late)
    }
}
