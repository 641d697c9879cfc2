//! Pruning: removes some views and everything that only they held.
//!
//! The rest is copied into a new epoch, and one switch makes it the store. A kill at any point leaves the old epoch
//! intact, and its readers are not disturbed.

use codecompass_model::ViewKey;

use crate::compact::{self, CompactOptions};
use crate::layout::Scratch;
use crate::views::{self, ViewInfo};
use crate::{OnMissing, ProjectDir, Result, Tuning, WritePoint, Writer, garbage};

/// The result of pruning.
#[derive(Clone, Debug, Default)]
pub struct PruneOutcome {
    /// The removed views.
    pub views: Vec<ViewInfo>,
    /// The number of file versions that were removed with them or were garbage before.
    pub removed_versions: u64,
    /// Bytes on disk before.
    pub bytes_before: u64,
    /// The size of the current epoch on disk.
    pub bytes_after: u64,
    /// Whether the space of the old epoch is free already. Otherwise it still has readers, and a later writer frees it.
    pub is_freed: bool,
}

/// Removes the views that `choose` selects and frees their space. Waits for the write lock and calls `choose` under it,
/// so that `choose` sees the actual state.
pub fn prune(
    dir: &ProjectDir,
    choose: &dyn Fn(&[ViewInfo]) -> Vec<ViewKey>,
    point: Option<WritePoint>,
    now: i64,
) -> Result<PruneOutcome> {
    let mut writer = Writer::open(dir, OnMissing::Fail, true, Tuning::default(), point, now)?;
    let all = views::all(writer.connection())?;
    let chosen = choose(&all);
    let (gone, kept): (Vec<ViewInfo>, Vec<ViewInfo>) = all.into_iter().partition(|view| chosen.contains(&view.key));
    let bytes_before = dir.disk_bytes();
    if gone.is_empty() && garbage::dead_versions(writer.connection())?.is_empty() {
        return Ok(PruneOutcome { bytes_before, bytes_after: bytes_before, is_freed: true, ..PruneOutcome::default() });
    }
    let stored: i64 = writer.connection().query_row("SELECT count(*) FROM file_versions", [], |row| row.get(0))?;
    let roots: Vec<String> = gone.iter().filter_map(worktree_root).collect();
    let kept: Vec<(ViewInfo, ViewKey)> = kept.into_iter().map(|view| (view.clone(), view.key)).collect();
    writer.reach_write_point("create epoch");
    let epoch = Scratch::new(dir)?;
    let taken = CompactOptions { views: &kept, local_except_roots: Some(roots.as_slice()), exclude: None };
    let living = compact::compact_into(writer.epoch(), epoch.path(), &taken)?;
    writer.reach_write_point("switch epoch");
    dir.switch_to(epoch.path())?;
    epoch.keep();
    writer.reach_write_point("sweep");
    let _lock = writer.into_lock();
    let is_freed = dir.sweep();
    Ok(PruneOutcome {
        views: gone,
        removed_versions: (stored as u64).saturating_sub(living),
        bytes_before,
        bytes_after: dir.disk_bytes(),
        is_freed,
    })
}

fn worktree_root(view: &ViewInfo) -> Option<String> {
    match &view.key {
        ViewKey::Worktree(root) => Some(root.clone()),
        ViewKey::Ref(_) | ViewKey::Commit(_) => None,
    }
}
