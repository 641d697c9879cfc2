//! Branch beside main: indexes branches before the work tree, the last one first, to show that the order does not
//! matter.

use super::{Road, has_indexed_branches};
use crate::case_run::CaseRun;

pub(super) const ROAD: Road = Road {
    name: "branch beside main",
    doc: "branches are indexed first, in the opposite order, and the work tree last",
    applies: has_indexed_branches,
    walk: |case, product| {
        let journey = CaseRun::new(case, product);
        case.indexed_branches().into_iter().rev().try_for_each(|name| journey.index_branch(name))?;
        journey.run("index")?;
        journey.expect_all()
    },
};
