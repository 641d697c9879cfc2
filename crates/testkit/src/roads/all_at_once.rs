//! All at once: indexes the finished repository, the work tree first and then each queried branch.

use super::{Road, always};
use crate::case_run::CaseRun;

pub(super) const ROAD: Road = Road {
    name: "all at once",
    doc: "the finished repository is indexed in one go",
    applies: always,
    walk: |case, product| {
        let journey = CaseRun::new(case, product);
        journey.index_all()?;
        journey.expect_all()
    },
};
