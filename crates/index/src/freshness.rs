//! Compares published views with their sources, without writing anything.

use std::time::Instant;

use codecompass_store::{Store, ViewInfo};

use crate::plan::stored_stat;
use crate::source::{
    ContentSource, Entry, Limits, Root, Workspace, blob_id, list_worktree, list_worktree_by, stat_paths,
};
use crate::{IndexError, Target, extraction_key};

/// How a published view compares with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Equal, and verified.
    Fresh,
    /// Different.
    Stale {
        /// The number of changed files in a work tree. Unknown for git refs, and when there was no time to count.
        changed_files: Option<u64>,
        /// Paths of some of them.
        examples: Vec<String>,
    },
}

impl Freshness {
    /// Different, with no details known.
    pub const STALE: Self = Self::Stale { changed_files: None, examples: Vec::new() };
}

/// The maximum number of changed files that are named.
const MAX_EXAMPLES: usize = 5;

/// Compares a view with its source. A file whose stat differs is read before it counts as changed. With a deadline,
/// files that could not be checked in time count as changed.
pub fn freshness(
    store: &Store,
    workspace: &Workspace,
    target: &Target,
    view: &ViewInfo,
    limits: &Limits,
    deadline: Option<Instant>,
) -> Result<Freshness, IndexError> {
    let same_name = view.ref_name == target.ref_name && view.commit == target.commit;
    let is_current = same_name && view.facts_key == extraction_key(limits);
    if !target.is_worktree() {
        return Ok(if is_current { Freshness::Fresh } else { Freshness::STALE });
    }
    let listing = match deadline {
        Some(deadline) => list_worktree_by(workspace, limits, deadline)?,
        None => Some(list_worktree(workspace, limits)?),
    };
    let Some(listing) = listing else { return Ok(Freshness::STALE) };
    let mut cache = store.cached_stats(&workspace.root.to_string_lossy())?;
    let root = Root::open(&workspace.root).ok();
    let mut changed: Vec<String> = Vec::new();
    for entry in listing.entries {
        let ContentSource::File { stat, .. } = &entry.source else {
            continue;
        };
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(Freshness::STALE);
        }
        let same = match cache.remove(&entry.path) {
            Some(cached) if cached.stat == stored_stat(*stat) => true,
            Some(cached) => same_bytes(store, root.as_ref(), &entry, cached.version)?,
            None => false,
        };
        if !same {
            changed.push(entry.path);
        }
    }
    changed.extend(cache.into_keys());
    if changed.is_empty() && is_current {
        return Ok(Freshness::Fresh);
    }
    changed.sort_unstable();
    let changed_files = Some(changed.len() as u64);
    changed.truncate(MAX_EXAMPLES);
    Ok(Freshness::Stale { changed_files, examples: changed })
}

/// Whether any of these files of a work tree differs from its cached stat: added, deleted, or with another stat.
pub fn any_changed(
    store: &Store,
    workspace: &Workspace,
    paths: &[String],
    limits: &Limits,
) -> Result<bool, IndexError> {
    let mut known = store.cached_stats_of(&workspace.root.to_string_lossy(), paths)?;
    for entry in stat_paths(workspace, paths, limits)?.entries {
        let ContentSource::File { stat, .. } = &entry.source else { continue };
        if known.remove(&entry.path).is_none_or(|cached| cached.stat != stored_stat(*stat)) {
            return Ok(true);
        }
    }
    Ok(!known.is_empty())
}

fn same_bytes(store: &Store, root: Option<&Root>, entry: &Entry, version: u32) -> Result<bool, IndexError> {
    let (Some(known), Some(root)) = (store.stored_version(version)?, root) else {
        return Ok(false);
    };
    let same_size = known.size == entry.size;
    Ok(same_size && root.read(&entry.path, entry.size).is_ok_and(|content| blob_id(&content.bytes) == known.blob))
}
