//! The laws hold for a correct product, and each law is broken by the fault that targets it.

use crate::fake;

use codecompass_testkit::{
    Law, branch_law, check_branch_law, check_idempotence_law, check_incremental_law, idempotence_law, incremental_law,
};
use fake::{Fake, Fault};

const LAWS: &[Law] = &[
    Law {
        name: "locate",
        queries: |sample| sample.names.iter().step_by(2).map(|name| format!("locate {name}")).collect(),
    },
    Law { name: "locate --json", queries: |sample| vec![format!("locate {} --ref {{ref}} --json", sample.names[0])] },
];

/// Without the last law: it names its ref in the query, and the incremental law queries the work tree.
const WORK_TREE: &[Law] = &[LAWS[0]];

#[test]
fn correct_product_passes() {
    check_branch_law(&Fake(Fault::None), LAWS, 1..3);
    check_idempotence_law(&Fake(Fault::None), LAWS, 1..3);
    check_incremental_law(&Fake(Fault::None), WORK_TREE, 1..4);
}

#[test]
fn branch_leak_breaks_branch_law() {
    let failure = branch_law(&Fake(Fault::BranchesLeak), LAWS, 1).expect_err("because the leak is detected");
    assert!(failure.0.contains("expected: a fresh index of the ref alone"), "{failure}");
    assert!(failure.0.contains("--ref "), "{failure}");
}

#[test]
fn lost_file_breaks_idempotence_law() {
    let broken = (1..6).any(|seed| idempotence_law(&Fake(Fault::SecondSyncDropsAFile), LAWS, seed).is_err());
    assert!(broken);
}

#[test]
fn stale_file_breaks_incremental_law() {
    let failure = incremental_law(&Fake(Fault::SyncKeepsDeletedFiles), WORK_TREE, 2)
        .expect_err("because the old files are detected");
    assert!(failure.0.contains("expected: a fresh index; done before: "), "{failure}");
}

#[test]
#[should_panic(expected = "──── seed 1\nlocate: ? locate ")]
fn failure_names_seed_and_query() {
    check_branch_law(&Fake(Fault::BranchesLeak), LAWS, [1]);
}
