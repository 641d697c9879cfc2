//! Killed: the product aborts at each of its write points in turn, and nothing is lost or partially written.
//!
//! A debug build aborts at its n-th write point when `CODECOMPASS_KILL_AT_WRITE` is n. For n = 1, 2, … from one
//! starting state, until a run survives: the command aborts; the queries are then all answered from the state before
//! it, or all from the state after it; and the plain command leads to the state that the case expects. There are three
//! such commands: the first index, a sync that finds a new file, and the index of a branch.
//!
//! This is the most expensive road. After a kill up to a dozen queries run, because any of them may be the only one
//! that sees a partial state; after recovery, one per ref.

use std::collections::BTreeSet;

use super::{Road, always};
use crate::answer::Answer;
use crate::case::{Case, CaseQuery};
use crate::case_run::{CaseRun, Failure, HomeBackup, compare, describe, join_failures};
use crate::diff::diff;
use crate::product::{KILL_AT_WRITE, Product};
use crate::shell_words;

/// More write points than any command can have on the few files of a case. Reaching it means that the variable has
/// another effect.
const MAX_WRITES: usize = 1_000;

pub(super) const ROAD: Road = Road {
    name: "killed",
    doc: "a kill at any write leaves the last published state, and the next run recovers",
    applies: always,
    walk: |case, product| {
        first_index(case, product)?;
        sync_of_a_new_file(case, product)?;
        case.indexed_branches().last().map_or(Ok(()), |name| index_of_a_branch(case, product, name))
    },
};

/// One command that aborts at each of its writes.
struct KillScenario<'a> {
    journey: CaseRun<'a>,
    command: String,
    start: HomeBackup,
    /// The sets of answers that are valid as if the command had not been run.
    before: Vec<Vec<Answer>>,
}

fn first_index(case: &Case, product: &dyn Product) -> Result<(), Failure> {
    let journey = CaseRun::new(case, product);
    let start = journey.home.save();
    // Without a published state there are two valid answers: unknown, and registered but never indexed.
    let unknown = query_sampled(&journey);
    journey.run("init")?;
    let registered = query_sampled(&journey);
    KillScenario { journey, command: "index".to_owned(), start, before: vec![unknown, registered] }.run()
}

fn sync_of_a_new_file(case: &Case, product: &dyn Product) -> Result<(), Failure> {
    let journey = CaseRun::new(case, product);
    let last = case.files.iter().rev().find(|change| journey.repository.path(&change.path).is_file());
    let Some(last) = last else { return Ok(()) };
    let text = std::fs::read(journey.repository.path(&last.path)).expect("because the file exists");
    journey.repository.delete(&last.path);
    journey.index_all()?;
    journey.repository.write(&last.path, text);
    let start = journey.home.save();
    let before = vec![query_sampled(&journey)];
    KillScenario { journey, command: "sync".to_owned(), start, before }.run()
}

fn index_of_a_branch(case: &Case, product: &dyn Product, name: &str) -> Result<(), Failure> {
    let journey = CaseRun::new(case, product);
    journey.run("index")?;
    let others = case.indexed_branches().into_iter().filter(|other| *other != name);
    others.into_iter().try_for_each(|other| journey.index_branch(other))?;
    let start = journey.home.save();
    let before = vec![query_sampled(&journey)];
    let command = format!("index --ref {}", shell_words::quote(name));
    KillScenario { journey, command, start, before }.run()
}

impl KillScenario<'_> {
    fn run(&self) -> Result<(), Failure> {
        self.journey.home.restore(&self.start);
        self.journey.run(&self.command)?;
        let after = query_sampled(&self.journey);
        for n in 1..=MAX_WRITES {
            self.journey.home.restore(&self.start);
            let reply = self.journey.try_run(&self.command, &[(KILL_AT_WRITE.to_owned(), n.to_string())]);
            if reply.succeeded() && n == 1 {
                return Err(Failure(format!(
                    "`{}` survived {KILL_AT_WRITE}=1, so nothing was tested: does this build support the variable?",
                    self.command
                )));
            }
            let survived = reply.succeeded();
            if !survived && !reply.was_aborted() {
                let told = describe(&reply);
                return Err(Failure(format!("`{}` should have been killed at write {n}, but: {told}", self.command)));
            }
            self.expect_before_or(&after, n, survived)?;
            self.expect_recovered(n)?;
            if survived {
                return Ok(());
            }
        }
        Err(Failure(format!("`{}` still dies at write {MAX_WRITES}", self.command)))
    }

    /// Checks that all answers are from one state. After a run that survived, only the new state is valid.
    fn expect_before_or(&self, after: &Vec<Answer>, n: usize, survived: bool) -> Result<(), Failure> {
        let actual = query_sampled(&self.journey);
        if actual == *after || (!survived && self.before.contains(&actual)) {
            return Ok(());
        }
        let (end, nearest) = if survived { ("survived", after) } else { ("died", self.before.last().unwrap_or(after)) };
        let shown = diff(&render_answers(self.journey.case, nearest), &render_answers(self.journey.case, &actual));
        let state = if survived { "the new one" } else { "the last published one, nor the new one" };
        let command = &self.command;
        Err(Failure(format!("`{command}` {end} with {KILL_AT_WRITE}={n}, and the state is not {state}:\n{shown}")))
    }

    fn expect_recovered(&self, n: usize) -> Result<(), Failure> {
        let context = |failure: Failure| {
            Failure(format!("after `{}` died at write {n}, the next run should recover: {failure}", self.command))
        };
        self.journey.run("sync").map_err(context)?;
        let branches = self.journey.case.indexed_branches().into_iter();
        branches.into_iter().try_for_each(|name| self.journey.index_branch(name)).map_err(context)?;
        let note = format!("recovered after `{}` died at write {n}", self.command);
        join_failures(one_per_ref(self.journey.case).into_iter().filter_map(|question| {
            let answer = self.journey.query(&question.words);
            compare(self.journey.case, question, &answer, &note).err()
        }))
    }
}

/// Returns the queries that run after a kill.
fn sampled_queries(case: &Case) -> &[CaseQuery] {
    const MAX_QUERIES: usize = 12;
    &case.queries[..case.queries.len().min(MAX_QUERIES)]
}

/// Returns the first query for each ref.
fn one_per_ref(case: &Case) -> Vec<&CaseQuery> {
    let mut seen = BTreeSet::new();
    case.queries.iter().filter(|question| seen.insert(question.ref_name())).collect()
}

/// Returns the answers about code to the sampled queries. Freshness and jobs may differ after a kill, and should.
fn query_sampled(journey: &CaseRun<'_>) -> Vec<Answer> {
    let ask = |question: &CaseQuery| journey.query(&question.words).without_law_exceptions();
    let answers = sampled_queries(journey.case).iter().map(ask);
    // Standard error counts only with a failure, as everywhere.
    answers.map(|answer| answer.comparable_to(&Answer { code: Some(0), stderr: None, stdout: String::new() })).collect()
}

fn render_answers(case: &Case, answers: &[Answer]) -> String {
    let asked = sampled_queries(case).iter().zip(answers);
    let tell = |(question, answer): (&CaseQuery, &Answer)| format!("? {}\n{}", question.words.join(" "), answer.text());
    asked.map(tell).collect::<Vec<_>>().join("\n")
}
