//! Exact text search: every line of a view that a pattern matches.
//!
//! The words that a match must contain (`prefilter`) select the candidate files. Their texts are read and matched as in
//! ripgrep: a match does not span lines, except that of a literal with a line break in it. No match is missed: the
//! words only exclude files that cannot match.

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

/// The maximum number of files, and of bytes of text, that are read between two checks if there are enough matches.
/// Only they and their matches are in memory at a time: for an expression that matches every letter, that is thirty
/// times the text.
const BATCH_FILES: usize = 512;
const BATCH_BYTES: u64 = 1 << 20;

/// The matches of a search. A line counts as one match, however often the pattern matches in it.
#[derive(Clone, Debug)]
pub struct GrepResults {
    /// The files with matches, by path.
    pub files: Vec<FileMatches>,
    /// The number of matching lines in all of them.
    pub matches: usize,
    /// The number of files read; depends on the other stored files.
    pub files_scanned: usize,
    /// Whether these are all matches; else the limit was reached, or time ran out.
    pub is_complete: bool,
    /// Whether time ran out before all files were searched.
    pub timed_out: bool,
    /// The number of files searched to the end.
    pub files_done: usize,
    /// The number of files to search.
    pub files_total: usize,
}

impl GrepResults {
    /// The result without a match, of a view without files.
    pub fn empty() -> Self {
        Self {
            files: Vec::new(),
            matches: 0,
            files_scanned: 0,
            is_complete: true,
            timed_out: false,
            files_done: 0,
            files_total: 0,
        }
    }
}

/// A file with matches.
#[derive(Clone, Debug)]
pub struct FileMatches {
    /// The file.
    pub version: Rc<VersionInfo>,
    /// The lines that match, in order.
    pub lines: Vec<MatchedLine>,
}

/// Finds the matching lines in files that the filter accepts, the first `stop_after` in order of path and line.
pub fn find(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    stop_after: Option<usize>,
) -> Result<GrepResults> {
    find_cancellable(snapshot, pattern, filter, stop_after, &|| true)
}

/// [`find`] with cancellation.
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
    let GrepSummary { matches, files_scanned, is_complete, timed_out, files_done, files_total } = passed;
    Ok(GrepResults { files, matches, files_scanned, is_complete, timed_out, files_done, files_total })
}

/// The summary of a streamed search.
#[derive(Clone, Copy, Debug)]
pub struct GrepSummary {
    /// The number of lines passed on.
    pub matches: usize,
    /// The number of files read; depends on the other stored files.
    pub files_scanned: usize,
    /// Whether these are all matches; else the limit was reached, or time ran out.
    pub is_complete: bool,
    /// Whether time ran out before all files were searched.
    pub timed_out: bool,
    /// The number of files searched to the end.
    pub files_done: usize,
    /// The number of files to search.
    pub files_total: usize,
}

/// [`find`], file by file, in order: results that were passed on are not kept. `take` can stop the search.
///
/// `goes_on` is called once there are files to search, and while they are searched; before that only if there are many
/// words to look up.
pub fn stream<E: From<StoreError>>(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    stop_after: Option<usize>,
    goes_on: &(dyn Fn() -> bool + Sync),
    mut take: impl FnMut(FileMatches) -> Result<ControlFlow<()>, E>,
) -> Result<GrepSummary, E> {
    let enough = stop_after.unwrap_or(usize::MAX);
    let candidates = candidate_files(snapshot, pattern, filter, goes_on)?;
    let mut passed = GrepSummary {
        matches: 0,
        files_scanned: 0,
        is_complete: true,
        timed_out: false,
        files_done: 0,
        files_total: candidates.len(),
    };
    let mut rest = candidates.into_iter().peekable();
    while let Some(round) = next_batch(&mut rest) {
        passed.files_scanned += round.len();
        let ids: Vec<VersionId> = round.iter().map(|version| version.id).collect();
        // One more than the limit shows that there are more.
        let most = (enough - passed.matches).saturating_add(1).min(pattern.max_lines_per_file);
        let looks = snapshot.map_texts(&ids, |text| lines::matching_lines(pattern, text, most, goes_on))?;
        for (version, (mut lines, is_late)) in round.into_iter().zip(looks) {
            let is_too_many = lines.len() > enough - passed.matches;
            lines.truncate(enough - passed.matches);
            passed.matches += lines.len();
            (passed.is_complete, passed.timed_out) = (!is_late && !is_too_many, is_late);
            passed.files_done += usize::from(passed.is_complete);
            let wants_more = lines.is_empty() || take(FileMatches { version, lines })?.is_continue();
            // Results after a gap would look like the next ones.
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

/// Returns the next files to read, if there are any.
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

/// Returns the candidate files, by path.
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
