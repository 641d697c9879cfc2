//! Exact text: every line of a view that a pattern matches.
//!
//! The words a match must have in it (`need`) name the files that can hold one; their texts are read and matched, like
//! ripgrep does: a match does not span lines, save that of a literal with a line break in it. Nothing is missed, whatever
//! the words say: they only leave out what can not match.

mod lines;
mod pattern;
mod prefilter;
mod stepped;

use std::iter::Peekable;
use std::ops::ControlFlow;
use std::rc::Rc;

use codecompass_model::VersionId;
use codecompass_store::{Result, Snapshot, StoreError, VersionInfo};

pub use lines::MatchedLine;
pub use pattern::{BadPattern, Pattern, PatternOptions};

/// So many files, and so many bytes of text, are read between two looks at whether there is enough. They and what is found in
/// them are all that is held at a time: of an expression that matches every letter that is thirty times the text.
const BATCH_FILES: usize = 512;
const BATCH_BYTES: u64 = 1 << 20;

/// The answer. A line counts as one match, however often the pattern stands in it.
#[derive(Clone, Debug)]
pub struct GrepResults {
    /// The files with matches, by path.
    pub files: Vec<FileMatches>,
    /// How many lines there are in all of them.
    pub matches: usize,
    /// How many files were read; depends on what else is stored.
    pub files_scanned: usize,
    /// Whether that is all; else there is more than was asked for, or time was up.
    pub is_complete: bool,
    /// Whether time was up before all files were looked at.
    pub timed_out: bool,
}

/// A file with matches.
#[derive(Clone, Debug)]
pub struct FileMatches {
    /// The file.
    pub version: Rc<VersionInfo>,
    /// The lines that match, in order.
    pub lines: Vec<MatchedLine>,
}

/// Finds the lines that match in files that the filter lets through, the first `stop_after` in order of path and line.
pub fn find(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    stop_after: Option<usize>,
) -> Result<GrepResults> {
    find_cancellable(snapshot, pattern, filter, stop_after, &|| true)
}

/// The same, as long as somebody has patience.
pub fn find_cancellable(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    stop_after: Option<usize>,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Result<GrepResults> {
    let mut files = Vec::new();
    let passed = stream(snapshot, pattern, filter, stop_after, goes_on, |file| {
        files.push(file);
        Ok::<_, StoreError>(ControlFlow::Continue(()))
    })?;
    let GrepSummary { matches, files_scanned: files_looked_at, is_complete, timed_out: is_late } = passed;
    Ok(GrepResults { files, matches, files_scanned: files_looked_at, is_complete, timed_out: is_late })
}

/// What is known once all was passed on.
#[derive(Clone, Copy, Debug)]
pub struct GrepSummary {
    /// How many lines were passed on.
    pub matches: usize,
    /// How many files were read; depends on what else is stored.
    pub files_scanned: usize,
    /// Whether that is all; else there is more than was asked for, or time was up.
    pub is_complete: bool,
    /// Whether time was up before all files were looked at.
    pub timed_out: bool,
}

/// The same, file by file, in order: what was passed on is not held any more. `take` may say that it wants no more.
///
/// `goes_on` is asked once there are files to look at, and inside of them; before that only where there are many words to look up.
pub fn stream<E: From<StoreError>>(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    stop_after: Option<usize>,
    goes_on: &(dyn Fn() -> bool + Sync),
    mut take: impl FnMut(FileMatches) -> Result<ControlFlow<()>, E>,
) -> Result<GrepSummary, E> {
    let enough = stop_after.unwrap_or(usize::MAX);
    let mut passed = GrepSummary { matches: 0, files_scanned: 0, is_complete: true, timed_out: false };
    let mut rest = candidate_files(snapshot, pattern, filter, goes_on)?.into_iter().peekable();
    while let Some(round) = next_batch(&mut rest) {
        passed.files_scanned += round.len();
        let ids: Vec<VersionId> = round.iter().map(|version| version.id).collect();
        // One more than is wanted tells that there are more.
        let most = (enough - passed.matches).saturating_add(1);
        let looks = snapshot.map_texts(&ids, |text| lines::matching_lines(pattern, text, most, goes_on))?;
        for (version, (mut lines, is_late)) in round.into_iter().zip(looks) {
            let is_too_many = lines.len() > enough - passed.matches;
            lines.truncate(enough - passed.matches);
            passed.matches += lines.len();
            (passed.is_complete, passed.timed_out) = (!is_late && !is_too_many, is_late);
            let wants_more = lines.is_empty() || take(FileMatches { version, lines })?.is_continue();
            // What comes after a gap would be taken for what comes next.
            if !passed.is_complete || !wants_more {
                return Ok(GrepSummary { is_complete: passed.is_complete && wants_more, ..passed });
            }
        }
        if rest.peek().is_some() && !goes_on() {
            return Ok(GrepSummary { is_complete: false, timed_out: true, ..passed });
        }
    }
    Ok(passed)
}

/// The next files to be read, if there are any.
fn next_batch(rest: &mut Peekable<impl Iterator<Item = Rc<VersionInfo>>>) -> Option<Vec<Rc<VersionInfo>>> {
    let mut round = vec![rest.next()?];
    let mut bytes = round[0].bytes;
    while round.len() < BATCH_FILES {
        let Some(next) = rest.next_if(|next| bytes + next.bytes <= BATCH_BYTES) else { break };
        bytes += next.bytes;
        round.push(next);
    }
    Some(round)
}

/// The files worth reading, by path.
fn candidate_files(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    goes_on: &dyn Fn() -> bool,
) -> Result<Vec<Rc<VersionInfo>>> {
    let mut candidates = Vec::new();
    for id in snapshot.prefilter_files(pattern.prefilter(), pattern.is_odd(), goes_on)? {
        let lost = || StoreError::Corrupt(format!("file version {id} is not stored"));
        let version = snapshot.version(id)?.ok_or_else(lost)?;
        if filter(&version) {
            candidates.push(version);
        }
    }
    candidates.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(candidates)
}
