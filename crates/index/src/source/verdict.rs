//! What a listing says of one path, for somebody who misses it.

use codecompass_model::SkipReason;

use super::{Limits, Listing, SourceError, Workspace, stat_paths};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is listed, so an index has it, unless its content keeps it out or it came a moment ago.
    Listed,
    /// It, or a folder above it, is left out.
    LeftOut(SkipReason),
    /// No file is there.
    Absent,
}

/// What a listing of the work tree says of a path that is relative to the root. Only its status is looked at.
pub fn worktree_verdict(ws: &Workspace, path: &str, limits: &Limits) -> Result<Verdict, SourceError> {
    Ok(verdict(&stat_paths(ws, &[path.to_owned()], limits)?))
}

/// What a listing of a commit, given by its full id, says of a path; the work tree has no say in it.
pub fn commit_verdict(ws: &Workspace, commit: &str, path: &str, limits: &Limits) -> Result<Verdict, SourceError> {
    let Some(repo) = &ws.repo else { return Ok(Verdict::Absent) };
    Ok(verdict(&repo.list_path(commit, path, limits)?))
}

/// Of a listing of one path.
fn verdict(listing: &Listing) -> Verdict {
    match listing.skips.iter().next() {
        Some((reason, ..)) => Verdict::LeftOut(reason),
        None if listing.entries.is_empty() => Verdict::Absent,
        None => Verdict::Listed,
    }
}
