//! The path status: why a path is or is not listed.

use codecompass_model::SkipReason;

use super::{Limits, Listing, SourceError, Workspace, stat_paths};

/// The status of one path in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStatus {
    /// It is listed. An index has it, unless its content excludes it or it is newer than the index.
    Listed,
    /// It, or a folder above it, is skipped.
    Skipped(SkipReason),
    /// There is no file at the path.
    Absent,
}

/// Returns the status that a listing of the work tree gives a path relative to the root. Only its stat is read.
pub fn worktree_path_status(ws: &Workspace, path: &str, limits: &Limits) -> Result<PathStatus, SourceError> {
    Ok(path_status(&stat_paths(ws, &[path.to_owned()], limits)?))
}

/// Returns the status that a listing of a commit, given by its full id, gives a path, regardless of the work tree.
pub fn commit_path_status(
    ws: &Workspace,
    commit: &str,
    path: &str,
    limits: &Limits,
) -> Result<PathStatus, SourceError> {
    let Some(repo) = &ws.repo else { return Ok(PathStatus::Absent) };
    Ok(path_status(&repo.list_path(commit, path, limits)?))
}

/// Converts a listing of one path.
fn path_status(listing: &Listing) -> PathStatus {
    match listing.skips.iter().next() {
        Some((reason, ..)) => PathStatus::Skipped(reason),
        None if listing.entries.is_empty() => PathStatus::Absent,
        None => PathStatus::Listed,
    }
}
