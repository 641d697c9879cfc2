//! Exact text: every line of a view that a pattern matches.
//!
//! The words a match must have in it (`need`) name the files that can hold one; their texts are read and matched, like
//! ripgrep does: a match does not span lines, save that of a literal with a line break in it. Nothing is missed, whatever
//! the words say: they only leave out what can not match.

mod lines;
mod need;
mod pattern;

use codecompass_model::VersionId;
use codecompass_store::{Result, Snapshot, StoreError, Texts, VersionInfo};

pub use lines::Line;
pub use pattern::{BadPattern, Pattern, Wanted};

/// So many files are read between two looks at whether there is enough.
const ROUND: usize = 512;
/// Fewer files than this are read before a second thread has begun.
const WORTH_A_THREAD: usize = 128;

/// The answer. A line counts as one match, however often the pattern stands in it.
#[derive(Clone, Debug)]
pub struct Grepped {
    /// The files with matches, by path.
    pub files: Vec<FileMatches>,
    /// How many lines there are in all of them.
    pub matches: usize,
    /// How many files were read; depends on what else is stored.
    pub files_looked_at: usize,
    /// Whether that is all; else there is more than was asked for.
    pub is_complete: bool,
}

/// A file with matches.
#[derive(Clone, Debug)]
pub struct FileMatches {
    /// The file.
    pub version: VersionInfo,
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
    let candidates = candidates(snapshot, pattern, filter)?;
    let enough = stop_after.unwrap_or(usize::MAX);
    let mut found = Grepped { files: Vec::new(), matches: 0, files_looked_at: 0, is_complete: true };
    let mut readers = Vec::new();
    let mut rest = candidates.into_iter().peekable();
    while rest.peek().is_some() && found.matches <= enough {
        let round: Vec<VersionInfo> = rest.by_ref().take(ROUND).collect();
        found.files_looked_at += round.len();
        let threads = if round.len() < WORTH_A_THREAD { 1 } else { threads() };
        while readers.len() < threads {
            readers.push(snapshot.texts()?);
        }
        let ids: Vec<VersionId> = round.iter().map(|version| version.id).collect();
        let lines = read(&mut readers[..threads], &ids, pattern)?;
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
) -> Result<Vec<VersionInfo>> {
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

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get().min(4))
}

/// The matching lines of each file. Readers take turns, so that neither has all the large ones.
fn read(readers: &mut [Texts], ids: &[VersionId], pattern: &Pattern) -> Result<Vec<Vec<Line>>> {
    let count = readers.len();
    let share = |texts: &mut Texts, first: usize| -> Result<Vec<Vec<Line>>> {
        ids.iter().skip(first).step_by(count).map(|id| Ok(lines::matching(pattern, texts.read(*id)?))).collect()
    };
    if let [only] = readers {
        return share(only, 0);
    }
    let mut shares: Vec<_> = std::thread::scope(|scope| {
        let share = &share;
        let running: Vec<_> =
            readers.iter_mut().enumerate().map(|(first, texts)| scope.spawn(move || share(texts, first))).collect();
        running.into_iter().map(|thread| thread.join().expect("a reader does not panic")).collect::<Result<Vec<_>>>()
    })?
    .into_iter()
    .map(Vec::into_iter)
    .collect();
    Ok((0..ids.len()).map(|at| shares[at % count].next().expect("each file has an answer")).collect())
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
