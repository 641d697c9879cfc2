//! Queries that are one quoted text: if the text occurs anywhere, only literal matches are returned.

use codecompass_store::{Result, Snapshot, VersionInfo};

use super::{QueryMode, SearchRequest};
use crate::grep::{self, Pattern, PatternOptions};

pub(super) struct Quoted<'q> {
    text: &'q str,
    pattern: Pattern,
}

impl<'q> Quoted<'q> {
    pub(super) fn parse(request: &SearchRequest<'q>) -> Option<Self> {
        if !matches!(request.mode, QueryMode::Words) {
            return None;
        }
        let query = request.query.trim();
        let text = ['"', '`'].iter().find_map(|quote| query.strip_prefix(*quote)?.strip_suffix(*quote))?;
        if text.trim().is_empty() || text.contains(['"', '`']) {
            return None;
        }
        let wanted = PatternOptions { text, literal: true, ignore_case: false, word: false };
        Pattern::new(&wanted).ok().map(|pattern| Self { text, pattern })
    }

    /// Creates a literal search request for the text.
    pub(super) fn to_request<'s>(&'s self, request: &SearchRequest<'s>) -> SearchRequest<'s> {
        SearchRequest { query: self.text, mode: QueryMode::Literal(&self.pattern), ..*request }
    }

    /// Whether any accepted file contains the text, or the time limit was reached before that was known.
    pub(super) fn occurs_anywhere(&self, snapshot: &Snapshot, request: &SearchRequest<'_>) -> Result<bool> {
        let accepts = |version: &VersionInfo| request.accepts(&version.path, &version.language);
        let found = grep::find_cancellable(snapshot, &self.pattern, accepts, Some(1), request.should_continue)?;
        Ok(!found.files.is_empty() || found.timed_out)
    }
}
