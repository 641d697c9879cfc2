//! Branch flattened: the branch law on the queries of a case.
//!
//! For every branch that a query names there is a repository that contains nothing else, checked out and indexed as its
//! work tree. With and without the branch's name, its answer must be the case's answer, except for the fields that the
//! law ignores.

use super::{Road, has_indexed_branches};
use crate::case::{Case, CaseQuery};
use crate::case_run::{CaseRun, Failure, compare_texts, join_failures};
use crate::product::Product;

pub(super) const ROAD: Road = Road {
    name: "branch flattened",
    doc: "each branch alone in a fresh repository and a fresh index gives the same answers",
    applies: has_indexed_branches,
    walk: |case, product| {
        let whole = CaseRun::new(case, product);
        let branches = case.indexed_branches().into_iter();
        join_failures(branches.filter_map(|name| walk_branch(&whole, name).err()))
    },
};

fn walk_branch(whole: &CaseRun<'_>, name: &str) -> Result<(), Failure> {
    let product: &dyn Product = whole.product();
    let alone = CaseRun::with_repository(whole.case, product, whole.repository.flattened(name));
    alone.run("index")?;
    let questions = whole.case.queries.iter().filter(|question| question.ref_name() == Some(name));
    join_failures(questions.flat_map(|question| {
        let with = check(whole.case, question, &alone, &question.words, "alone in a fresh index");
        let without = &question.without_ref();
        let without = check(whole.case, question, &alone, without, "alone in a fresh index, asked without --ref");
        [with, without].into_iter().filter_map(Result::err)
    }))
}

fn check(case: &Case, question: &CaseQuery, alone: &CaseRun<'_>, args: &[String], note: &str) -> Result<(), Failure> {
    let expected = question.expected.without_law_exceptions();
    let actual = alone.query(args).without_law_exceptions().comparable_to(&expected);
    compare_texts(case, question, &expected.text(), &actual.text(), note)
}
