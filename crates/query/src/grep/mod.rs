//! Exact text: every line of a view that a pattern matches.
//!
//! The words a match must have in it (`need`) name the files that can hold one; their texts are read and matched, like
//! ripgrep does: a match does not span lines, save that of a literal with a line break in it. Nothing is missed, whatever
//! the words say: they only leave out what can not match.

mod lines;
mod need;
mod pattern;
mod stepped;

use std::iter::Peekable;
use std::ops::ControlFlow;
use std::rc::Rc;

use codecompass_model::VersionId;
use codecompass_store::{Result, Snapshot, StoreError, VersionInfo};

pub use lines::Line;
pub use pattern::{BadPattern, Pattern, Wanted};

/// So many files, and so many bytes of text, are read between two looks at whether there is enough. They and what is found in
/// them are all that is held at a time: of an expression that matches every letter that is thirty times the text.
const ROUND: usize = 512;
const ROUND_BYTES: u64 = 1 << 20;

/// The answer. A line counts as one match, however often the pattern stands in it.
#[derive(Clone, Debug)]
pub struct Grepped {
    /// The files with matches, by path.
    pub files: Vec<FileMatches>,
    /// How many lines there are in all of them.
    pub matches: usize,
    /// How many files were read; depends on what else is stored.
    pub files_looked_at: usize,
    /// Whether that is all; else there is more than was asked for, or time was up.
    pub is_complete: bool,
    /// Whether time was up before all files were looked at.
    pub is_late: bool,
}

/// A file with matches.
#[derive(Clone, Debug)]
pub struct FileMatches {
    /// The file.
    pub version: Rc<VersionInfo>,
    /// The lines that match, in order.
    pub lines: Vec<Line>,
}

/// Finds the lines that match in files that the filter lets through, the first `stop_after` in order of path and line.
pub fn find(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    stop_after: Option<usize>,
) -> Result<Grepped> {
    find_while(snapshot, pattern, filter, stop_after, &|| true)
}

/// The same, as long as somebody has patience.
pub fn find_while(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    stop_after: Option<usize>,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Result<Grepped> {
    let mut files = Vec::new();
    let passed = pass(snapshot, pattern, filter, stop_after, goes_on, |file| {
        files.push(file);
        Ok::<_, StoreError>(ControlFlow::Continue(()))
    })?;
    let Passed { matches, files_looked_at, is_complete, is_late } = passed;
    Ok(Grepped { files, matches, files_looked_at, is_complete, is_late })
}

/// What is known once all was passed on.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// How many lines were passed on.
    pub matches: usize,
    /// How many files were read; depends on what else is stored.
    pub files_looked_at: usize,
    /// Whether that is all; else there is more than was asked for, or time was up.
    pub is_complete: bool,
    /// Whether time was up before all files were looked at.
    pub is_late: bool,
}

/// The same, file by file, in order: what was passed on is not held any more. `take` may say that it wants no more.
///
/// `goes_on` is asked once there are files to look at, and inside of them; before that only where there are many words to look up.
pub fn pass<E: From<StoreError>>(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    stop_after: Option<usize>,
    goes_on: &(dyn Fn() -> bool + Sync),
    mut take: impl FnMut(FileMatches) -> Result<ControlFlow<()>, E>,
) -> Result<Passed, E> {
    let enough = stop_after.unwrap_or(usize::MAX);
    let mut passed = Passed { matches: 0, files_looked_at: 0, is_complete: true, is_late: false };
    let mut rest = candidates(snapshot, pattern, filter, goes_on)?.into_iter().peekable();
    while let Some(round) = next_round(&mut rest) {
        passed.files_looked_at += round.len();
        let ids: Vec<VersionId> = round.iter().map(|version| version.id).collect();
        // One more than is wanted tells that there are more.
        let most = (enough - passed.matches).saturating_add(1);
        let looks = snapshot.look_at_texts(&ids, |text| lines::matching(pattern, text, most, goes_on))?;
        for (version, (mut lines, is_late)) in round.into_iter().zip(looks) {
            let is_too_many = lines.len() > enough - passed.matches;
            lines.truncate(enough - passed.matches);
            passed.matches += lines.len();
            (passed.is_complete, passed.is_late) = (!is_late && !is_too_many, is_late);
            let wants_more = lines.is_empty() || take(FileMatches { version, lines })?.is_continue();
            // What comes after a gap would be taken for what comes next.
            if !passed.is_complete || !wants_more {
                return Ok(Passed { is_complete: passed.is_complete && wants_more, ..passed });
            }
        }
        if rest.peek().is_some() && !goes_on() {
            return Ok(Passed { is_complete: false, is_late: true, ..passed });
        }
    }
    Ok(passed)
}

/// The next files to be read, if there are any.
fn next_round(rest: &mut Peekable<impl Iterator<Item = Rc<VersionInfo>>>) -> Option<Vec<Rc<VersionInfo>>> {
    let mut round = vec![rest.next()?];
    let mut bytes = round[0].bytes;
    while round.len() < ROUND {
        let Some(next) = rest.next_if(|next| bytes + next.bytes <= ROUND_BYTES) else { break };
        bytes += next.bytes;
        round.push(next);
    }
    Some(round)
}

/// The files worth reading, by path.
fn candidates(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    goes_on: &dyn Fn() -> bool,
) -> Result<Vec<Rc<VersionInfo>>> {
    let mut candidates = Vec::new();
    for id in snapshot.may_hold(pattern.need(), pattern.is_odd(), goes_on)? {
        let lost = || StoreError::Corrupt(format!("file version {id} is not stored"));
        let version = snapshot.version(id)?.ok_or_else(lost)?;
        if filter(&version) {
            candidates.push(version);
        }
    }
    candidates.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(candidates)
}
