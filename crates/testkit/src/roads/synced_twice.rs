//! Synced twice: syncing when nothing has changed changes nothing.

use super::{Road, always};
use crate::journey::Journey;

pub(super) const ROAD: Road = Road {
    name: "synced twice",
    doc: "a sync, and indexing again, of what has not changed changes nothing",
    applies: always,
    walk: |case, product| {
        let journey = Journey::new(case, product);
        journey.index_all()?;
        // Asked after each step: the second of two wrong steps can undo the first.
        for _ in 0..2 {
            journey.run("sync")?;
            journey.expect_all()?;
        }
        journey.index_all()?;
        journey.expect_all()
    },
};
