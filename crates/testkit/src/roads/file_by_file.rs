//! File by file: the repository grows by one uncommitted file at a time, with a sync after each.
//!
//! The last file of the default branch is first written in part, so that a changed file is covered too. A branch gets
//! one commit per change and is indexed after each.

use super::{Road, always};
use crate::case::{Branch, Case, Edit};
use crate::case_run::{CaseRun, Failure, apply_changes};

pub(super) const ROAD: Road = Road {
    name: "file by file",
    doc: "files appear one at a time, with a sync after each",
    applies: always,
    walk: |case, product| {
        let journey = CaseRun::with_empty_commit(case, product);
        journey.run("index")?;
        grow(&journey, case)?;
        if !case.plain {
            journey.repository.commit("files");
            journey.run("sync")?;
        }
        case.branches.iter().try_for_each(|branch| grow_branch(&journey, branch))?;
        for change in &case.uncommitted {
            apply_changes(&journey.repository, std::slice::from_ref(change));
            journey.run("sync")?;
        }
        journey.run("sync")?;
        journey.expect_all()
    },
};

fn grow(journey: &CaseRun<'_>, case: &Case) -> Result<(), Failure> {
    for (number, change) in case.files.iter().enumerate() {
        if let (true, Edit::Write(text)) = (number + 1 == case.files.len(), &change.edit) {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            journey.repository.write(&change.path, lines[..lines.len() / 2].concat());
            journey.run("sync")?;
        }
        apply_changes(&journey.repository, std::slice::from_ref(change));
        journey.run("sync")?;
    }
    Ok(())
}

fn grow_branch(journey: &CaseRun<'_>, branch: &Branch) -> Result<(), Failure> {
    let indexed = journey.case.indexed_branches().contains(&branch.name.as_str());
    journey.start_branch(branch);
    journey.end_branch(branch);
    for change in &branch.changes {
        journey.repository.checkout(&branch.name);
        apply_changes(&journey.repository, std::slice::from_ref(change));
        journey.end_branch(branch);
        if indexed {
            journey.index_branch(&branch.name)?;
        }
    }
    if indexed { journey.index_branch(&branch.name) } else { Ok(()) }
}
