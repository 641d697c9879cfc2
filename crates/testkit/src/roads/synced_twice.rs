//! Synced twice: a sync without changes does not change an answer.

use super::{Road, always};
use crate::case_run::CaseRun;

pub(super) const ROAD: Road = Road {
    name: "synced twice",
    doc: "syncing and reindexing without changes changes nothing",
    applies: always,
    walk: |case, product| {
        let journey = CaseRun::new(case, product);
        journey.index_all()?;
        // The queries run after each step, because the second of two wrong steps can undo the first.
        for _ in 0..2 {
            journey.run("sync")?;
            journey.expect_all()?;
        }
        journey.index_all()?;
        journey.expect_all()
    },
};
