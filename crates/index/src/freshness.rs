//! Is what is published what is there? Answered without writing anything.

use codecompass_store::{Store, ViewInfo};

use crate::plan::stored_stat;
use crate::source::{Entry, Limits, Place, Workspace, blob_id, list_worktree, stat_paths};
use crate::{IndexError, Target, extraction_key};

/// How a published view compares with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Equal, and checked.
    Fresh,
    /// Different.
    Stale {
        /// How many files of a work tree differ; unknown for what git has.
        changed_files: Option<u64>,
    },
}

/// Compares a view with its source. A file whose stat differs is read before it counts as changed.
pub fn freshness(
    store: &Store,
    workspace: &Workspace,
    target: &Target,
    view: &ViewInfo,
    limits: &Limits,
) -> Result<Freshness, IndexError> {
    let same_name = view.ref_name == target.ref_name && view.commit == target.commit;
    if !target.is_worktree() {
        let fresh = same_name && view.facts_key == extraction_key();
        return Ok(if fresh { Freshness::Fresh } else { Freshness::Stale { changed_files: None } });
    }
    let mut cache = store.cached_stats(&workspace.root.to_string_lossy())?;
    let mut changed = 0;
    for entry in list_worktree(workspace, limits)?.entries {
        let Place::File { stat, .. } = &entry.place else {
            continue;
        };
        let same = match cache.remove(&entry.path) {
            Some(cached) if cached.stat == stored_stat(*stat) => true,
            Some(cached) => same_bytes(store, workspace, &entry, cached.version)?,
            None => false,
        };
        changed += u64::from(!same);
    }
    changed += cache.len() as u64;
    if changed == 0 && same_name && view.facts_key == extraction_key() {
        return Ok(Freshness::Fresh);
    }
    Ok(Freshness::Stale { changed_files: Some(changed) })
}

/// Whether any of these files of a work tree differs from what is remembered of it: there, gone, or with another stat.
pub fn touches(store: &Store, workspace: &Workspace, paths: &[String], limits: &Limits) -> Result<bool, IndexError> {
    let mut known = store.cached_stats_of(&workspace.root.to_string_lossy(), paths)?;
    for entry in stat_paths(workspace, paths, limits)?.entries {
        let Place::File { stat, .. } = &entry.place else { continue };
        if known.remove(&entry.path).is_none_or(|cached| cached.stat != stored_stat(*stat)) {
            return Ok(true);
        }
    }
    Ok(!known.is_empty())
}

fn same_bytes(store: &Store, workspace: &Workspace, entry: &Entry, version: u32) -> Result<bool, IndexError> {
    let Some(known) = store.known(version)? else {
        return Ok(false);
    };
    let same_size = known.size == entry.size;
    Ok(same_size && std::fs::read(workspace.root.join(&entry.path)).is_ok_and(|bytes| blob_id(&bytes) == known.blob))
}
