//! The refresh policy of commands: compare with the source, and sync before answering.

use std::time::{Duration, Instant};

use codecompass_index::{Freshness as Compared, freshness};
use codecompass_store::{Store, ViewInfo};

use crate::error::{AppError, Code};
use crate::metadata::Freshness;
use crate::session::Request;
use crate::views::{At, BRIEFLY, Upkeep};

/// How often it checks whether another process has finished.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits briefly for another process that syncs this view. Returns whether there was one.
pub(crate) fn others_end(at: &At<'_>) -> bool {
    let is_running = || at.session.active_job().is_some_and(|job| job.view.as_ref() == Some(&at.target.key));
    let until = Instant::now() + BRIEFLY;
    let mut was_running = false;
    while is_running() && Instant::now() < until {
        was_running = true;
        std::thread::sleep(PAUSE);
    }
    was_running
}

/// Refreshes views inside the request itself.
pub(crate) struct AtOnce;

impl Upkeep for AtOnce {
    fn compare(&self, at: &At<'_>, store: &Store, view: &ViewInfo, _closely: bool) -> Result<Compared, AppError> {
        Ok(freshness(store, &at.session.workspace, at.target, view, &at.session.limits(), None)?)
    }

    fn renew(&self, at: &At<'_>) -> Result<Freshness, AppError> {
        match at.session.sync(at.target, Request::default()) {
            Ok(_) => Ok(Freshness::Fresh),
            Err(error) if error.code == Code::IndexInProgress => Ok(Freshness::Syncing),
            Err(error) => Err(error),
        }
    }

    fn follow(&self, at: &At<'_>) -> Result<(), AppError> {
        let until = Instant::now() + BRIEFLY;
        loop {
            match at.session.sync(at.target, Request::default()) {
                // The current writer may be about to sync the same changes, for example a server with a watch.
                Err(error) if error.code == Code::IndexInProgress && Instant::now() < until => {
                    std::thread::sleep(PAUSE);
                }
                outcome => return outcome.map(drop),
            }
        }
    }

    fn settle(&self, at: &At<'_>) -> bool {
        others_end(at)
    }

    fn names_the_unseen(&self) -> bool {
        true
    }

    fn make(&self, at: &At<'_>) -> Result<(), AppError> {
        at.session.sync(at.target, Request { wait: true, ..Request::default() }).map(drop)
    }
}
