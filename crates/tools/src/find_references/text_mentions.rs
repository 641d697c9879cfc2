//! Mentions of a name outside of the classified code: in comments, strings, and other languages.

use std::collections::{BTreeSet, HashSet};

use codecompass_model::VersionId;
use codecompass_query::grep::{self, Pattern, PatternOptions};
use codecompass_store::{Prefilter, Run, Snapshot};

use crate::shape;
use codecompass_workspace::error::AppError;

/// A line of text that contains the word.
pub(crate) struct TextMention {
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) context: String,
}

/// The files that contain a name outside of the classified code: in comments, strings, and other languages.
pub(super) struct TextMentions<'n> {
    name: &'n str,
    pub(super) files: BTreeSet<VersionId>,
}

impl<'n> TextMentions<'n> {
    pub(super) fn find(snapshot: &Snapshot, name: &'n str, accounted: &HashSet<VersionId>) -> Result<Self, AppError> {
        let need = Prefilter::Run(Run::new(&name.to_lowercase(), (true, true)));
        let files = snapshot
            .prefilter_files(&need, false, &|| true)?
            .into_iter()
            .filter(|id| !accounted.contains(id))
            .collect();
        Ok(Self { name, files })
    }

    /// The lines that contain the name.
    pub(super) fn lines(&self, snapshot: &Snapshot, most: usize) -> Result<Vec<TextMention>, AppError> {
        let wanted = PatternOptions { text: self.name, literal: true, ignore_case: false, word: true };
        let Ok(pattern) = Pattern::new(&wanted) else { return Ok(Vec::new()) };
        let found = grep::find(snapshot, &pattern, |version| self.files.contains(&version.id), Some(most))?;
        let lines = found.files.iter().flat_map(|file| {
            file.lines.iter().map(|line| {
                let context = shape::truncate(line.text.trim(), 160);
                TextMention { path: file.version.path.clone(), line: line.number, context }
            })
        });
        Ok(lines.take(most).collect())
    }
}
