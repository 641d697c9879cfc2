//! What a listing says of one path, for somebody who misses it.

use codecompass_model::SkipReason;

use super::{Limits, Listing, SourceError, Workspace, stat_paths};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStatus {
    /// It is listed, so an index has it, unless its content keeps it out or it came a moment ago.
    Listed,
    /// It, or a folder above it, is left out.
    Skipped(SkipReason),
    /// No file is there.
    Absent,
}

/// What a listing of the work tree says of a path that is relative to the root. Only its status is looked at.
pub fn worktree_path_status(ws: &Workspace, path: &str, limits: &Limits) -> Result<PathStatus, SourceError> {
    Ok(path_status(&stat_paths(ws, &[path.to_owned()], limits)?))
}

/// What a listing of a commit, given by its full id, says of a path; the work tree has no say in it.
pub fn commit_path_status(
    ws: &Workspace,
    commit: &str,
    path: &str,
    limits: &Limits,
) -> Result<PathStatus, SourceError> {
    let Some(repo) = &ws.repo else { return Ok(PathStatus::Absent) };
    Ok(path_status(&repo.list_path(commit, path, limits)?))
}

/// Of a listing of one path.
fn path_status(listing: &Listing) -> PathStatus {
    match listing.skips.iter().next() {
        Some((reason, ..)) => PathStatus::Skipped(reason),
        None if listing.entries.is_empty() => PathStatus::Absent,
        None => PathStatus::Listed,
    }
}
