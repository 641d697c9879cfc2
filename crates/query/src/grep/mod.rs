//! Exact text: every line of a view that a pattern matches.
//!
//! The words a match must have in it (`need`) name the files that can hold one; their texts are read and matched, like
//! ripgrep does: a match does not span lines, save that of a literal with a line break in it. Nothing is missed, whatever
//! the words say: they only leave out what can not match.

mod lines;
mod need;
mod pattern;

use std::rc::Rc;

use codecompass_model::VersionId;
use codecompass_store::{Result, Snapshot, StoreError, VersionInfo};

pub use lines::Line;
pub use pattern::{BadPattern, Pattern, Wanted};

/// So many files are read between two looks at whether there is enough.
const ROUND: usize = 512;

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
    find_while(snapshot, pattern, filter, stop_after, || true)
}

/// The same, as long as somebody has patience.
pub fn find_while(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
    stop_after: Option<usize>,
    goes_on: impl Fn() -> bool,
) -> Result<Grepped> {
    let candidates = candidates(snapshot, pattern, filter)?;
    let enough = stop_after.unwrap_or(usize::MAX);
    let mut found = Grepped { files: Vec::new(), matches: 0, files_looked_at: 0, is_complete: true, is_late: false };
    let mut rest = candidates.into_iter().peekable();
    while rest.peek().is_some() && found.matches <= enough {
        // The first round is always read, so that asking again gets somewhere.
        if found.files_looked_at > 0 && !goes_on() {
            (found.is_complete, found.is_late) = (false, true);
            break;
        }
        let round: Vec<Rc<VersionInfo>> = rest.by_ref().take(ROUND).collect();
        found.files_looked_at += round.len();
        let ids: Vec<VersionId> = round.iter().map(|version| version.id).collect();
        let lines = snapshot.look_at_texts(&ids, |text| lines::matching(pattern, text))?;
        for (version, lines) in round.into_iter().zip(lines).filter(|(_, lines)| !lines.is_empty()) {
            found.matches += lines.len();
            found.files.push(FileMatches { version, lines });
        }
    }
    cut(&mut found, enough);
    Ok(found)
}

/// The files worth reading, by path.
fn candidates(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: impl Fn(&VersionInfo) -> bool,
) -> Result<Vec<Rc<VersionInfo>>> {
    let mut candidates = Vec::new();
    for id in snapshot.may_hold(pattern.need(), pattern.is_odd())? {
        let lost = || StoreError::Corrupt(format!("file version {id} is not stored"));
        let version = snapshot.version(id)?.ok_or_else(lost)?;
        if filter(&version) {
            candidates.push(version);
        }
    }
    candidates.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(candidates)
}

/// Leaves out what is more than enough.
fn cut(found: &mut Grepped, enough: usize) {
    if found.matches <= enough {
        return;
    }
    found.is_complete = false;
    while found.matches > enough {
        let Some(last) = found.files.last_mut() else { break };
        let keep = last.lines.len().saturating_sub(found.matches - enough);
        found.matches -= last.lines.len() - keep;
        last.lines.truncate(keep);
        if keep == 0 {
            found.files.pop();
        }
    }
}
