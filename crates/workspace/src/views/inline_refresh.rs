//! The refresh policy of commands: compare with the source, and sync before answering.

use std::time::{Duration, Instant};

use codecompass_index::{Freshness as Compared, Target, freshness};
use codecompass_store::{Store, ViewInfo};

use crate::error::{AppError, Code};
use crate::jobs::IndexWait;
use crate::metadata::Freshness;
use crate::session::{SYNC_WAIT_TIMEOUT, SyncRequest};
use crate::views::{Refresh, TargetView};

/// How often it checks whether another process has finished.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Waits briefly for another process that syncs this view. Returns whether there was one.
pub fn wait_for_other_process(at: &TargetView<'_>) -> bool {
    let is_running = || at.session.active_job().is_some_and(|job| job.view.as_ref() == Some(&at.target.key));
    let until = Instant::now() + SYNC_WAIT_TIMEOUT;
    let mut was_running = false;
    while is_running() && Instant::now() < until {
        was_running = true;
        std::thread::sleep(POLL_INTERVAL);
    }
    was_running
}

/// Waits for the first index of a work tree by another process. Returns whether there was one and it ended.
pub fn wait_for_first_index_elsewhere(at: &TargetView<'_>, wait: &IndexWait<'_>) -> bool {
    let is_running = || at.session.active_job().is_some();
    if !is_running() {
        return false;
    }
    while is_running() {
        if wait.remaining().is_zero() || wait.is_cancelled() {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    true
}

/// Refreshes views inside the request itself.
pub struct InlineRefresh;

impl Refresh for InlineRefresh {
    fn compare(
        &self,
        at: &TargetView<'_>,
        store: &Store,
        view: &ViewInfo,
        _closely: bool,
    ) -> Result<Compared, AppError> {
        Ok(freshness(store, &at.session.workspace, at.target, view, &at.session.limits(), None)?)
    }

    fn refresh(&self, at: &TargetView<'_>) -> Result<Freshness, AppError> {
        match at.session.sync(at.target, SyncRequest::default()) {
            Ok(_) => Ok(Freshness::Fresh),
            Err(error) if error.code == Code::IndexInProgress => Ok(Freshness::Syncing),
            Err(error) => Err(error),
        }
    }

    fn follow_checkout(&self, at: &TargetView<'_>) -> Result<(), AppError> {
        let until = Instant::now() + SYNC_WAIT_TIMEOUT;
        loop {
            match at.session.sync(at.target, SyncRequest::default()) {
                // The current writer may be about to sync the same changes, for example a server with a watch.
                Err(error) if error.code == Code::IndexInProgress && Instant::now() < until => {
                    std::thread::sleep(POLL_INTERVAL);
                }
                outcome => return outcome.map(drop),
            }
        }
    }

    fn wait_for_sync(&self, at: &TargetView<'_>) -> bool {
        wait_for_other_process(at)
    }

    fn lists_missing_changes(&self) -> bool {
        true
    }

    fn create_views(&self, at: &TargetView<'_>, also: &[Target]) -> Result<(), AppError> {
        let request = SyncRequest { wait: true, also: also.to_vec(), ..SyncRequest::default() };
        at.session.sync(at.target, request).map(drop)
    }
}
