//! The roads: different histories that end in the same repository and so must return the same answers.
//!
//! A road is one file here, one line in [`ROADS`] and its name in `road_names.rs`. Every case runs on every road that applies to it.

mod all_at_once;
mod branch_beside_main;
mod branch_flattened;
mod file_by_file;
mod killed;
mod synced_twice;

use crate::case::Case;
use crate::case_run::{CaseRun, Failure};
use crate::product::Product;

/// One way from an empty state to a case's repository with its queries answered.
#[derive(Clone, Copy)]
pub struct Road {
    /// Its name, as in the `roads:` line of a case.
    pub name: &'static str,
    /// Its purpose, in one line.
    pub doc: &'static str,
    /// Whether it applies to a case.
    pub applies: fn(&Case) -> bool,
    /// Runs the case and compares the answers.
    pub walk: fn(&Case, &dyn Product) -> Result<(), Failure>,
}

/// All roads. `UPDATE=1` takes its answers from the first one.
pub const ROADS: &[Road] = &[
    all_at_once::ROAD,
    file_by_file::ROAD,
    synced_twice::ROAD,
    branch_beside_main::ROAD,
    branch_flattened::ROAD,
    killed::ROAD,
];

impl Road {
    /// Returns the roads that a case runs on.
    pub fn for_case(case: &Case) -> impl Iterator<Item = &'static Self> {
        ROADS.iter().filter(|road| (road.applies)(case) && !case.excluded_roads.contains(&road.name))
    }
}

impl std::fmt::Debug for Road {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Road").field(&self.name).finish()
    }
}

/// Returns the answers of the first road, for `UPDATE=1`.
pub(crate) fn first_answers(case: &Case, product: &dyn Product) -> Result<Vec<crate::Answer>, Failure> {
    let journey = CaseRun::new(case, product);
    journey.index_all()?;
    Ok(journey.query_all())
}

fn always(_: &Case) -> bool {
    true
}

fn has_indexed_branches(case: &Case) -> bool {
    !case.indexed_branches().is_empty()
}

#[cfg(test)]
mod tests {
    use super::ROADS;
    use crate::road_names::ROAD_NAMES;

    #[test]
    fn names_are_those_of_the_notation() {
        assert_eq!(ROADS.iter().map(|road| road.name).collect::<Vec<_>>(), ROAD_NAMES);
    }
}
