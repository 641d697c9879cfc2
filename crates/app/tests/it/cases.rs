//! Runs every case of `cases/` on every road of the testkit, against the real program.

use std::path::Path;

use codecompass_testkit::{ProductBinary, run_cases};

#[test]
fn every_case_holds_on_every_road() {
    let product = ProductBinary::new(env!("CARGO_BIN_EXE_codecompass"));
    run_cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"), &product);
}
