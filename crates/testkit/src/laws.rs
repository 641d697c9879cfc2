//! Laws: properties that every query has on any repository. One [`Law`] in a slice subjects a tool to all of them.
//!
//! - The branch law: the answer for a ref equals the answer of a fresh index of that ref alone.
//! - The rebase law: the same, after all branches were moved.
//! - The idempotence law: indexing and syncing without changes does not change an answer.
//! - The incremental law: after any edits with a sync after each, the answer equals that of a fresh index.
//! - The law of roads: the same, for any index updater: a command, a killed command, a server.
//!
//! All of them compare without the fields in [`LAW_EXCEPTIONS`](crate::LAW_EXCEPTIONS). A failure names the seed, which
//! suffices to reproduce it.

use std::fmt::Write as _;

use crate::answer::Answer;
use crate::case_run::{Failure, Home, describe, join_failures, query_product};
use crate::diff::diff;
use crate::product::{Call, Product};
use crate::random::{RandomRepository, Rng, Size, random_repository};
use crate::repository::Repository;
use crate::shell_words;

/// A kind of query that is subject to the laws.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Its name in messages, which is the name of the tool.
    pub name: &'static str,
    /// Command lines to run on a repository. They are run for each ref: `{ref}` is replaced by its name, and a line
    /// without it gets `--ref` at the end.
    pub queries: fn(&RandomRepository) -> Vec<String>,
}

/// Checks the branch law on generated repositories, one for each seed, and panics with every difference.
#[track_caller]
pub fn check_branch_law(product: &dyn Product, laws: &[Law], seeds: impl IntoIterator<Item = u64>) {
    check(branch_law, product, laws, seeds);
}

/// Checks the rebase law on generated repositories, one for each seed, and panics with every difference.
#[track_caller]
pub fn check_rebase_law(product: &dyn Product, laws: &[Law], seeds: impl IntoIterator<Item = u64>) {
    check(rebase_law, product, laws, seeds);
}

/// Checks the idempotence law on generated repositories, one for each seed, and panics with every difference.
#[track_caller]
pub fn check_idempotence_law(product: &dyn Product, laws: &[Law], seeds: impl IntoIterator<Item = u64>) {
    check(idempotence_law, product, laws, seeds);
}

/// Checks the incremental law on generated repositories, one for each seed, and panics with every difference.
#[track_caller]
pub fn check_incremental_law(product: &dyn Product, laws: &[Law], seeds: impl IntoIterator<Item = u64>) {
    check(incremental_law, product, laws, seeds);
}

/// Keeps an index up to date while its repository changes.
pub trait IndexUpdater {
    /// Syncs all changes and returns when that is done.
    fn sync(&mut self, dice: &mut Rng) -> Result<(), Failure>;
}

/// Creates the updater for an indexed repository and its data directory.
pub type MakeUpdater<'a> = &'a dyn Fn(&Repository, &Home) -> Box<dyn IndexUpdater>;

/// Checks the law of roads on generated repositories, one for each seed, and panics with every difference.
#[track_caller]
pub fn check_road_law(
    product: &dyn Product,
    laws: &[Law],
    seeds: impl IntoIterator<Item = u64>,
    keeping: MakeUpdater<'_>,
) {
    check(|product, laws, seed| road_law(product, laws, seed, keeping), product, laws, seeds);
}

/// Checks the law of roads on one repository. The queries do not sync, so their answers reflect the state that the
/// updater left.
pub fn road_law(product: &dyn Product, laws: &[Law], seed: u64, keeping: MakeUpdater<'_>) -> Result<(), Failure> {
    const STEPS: usize = 14;
    let mut sample = random_repository(seed, Size::default());
    let mut dice = Rng::new(seed);
    let home = Home::new();
    LawRun::with_home(product, &sample.repository, &home).run("index")?;
    let mut keeper = keeping(&sample.repository, &home);
    let mut story = String::from("expected: a fresh index; done before:");
    for _ in 0..STEPS {
        let done = sample.random_change(&mut dice);
        let _ = write!(story, " {done},");
        keeper.sync(&mut dice)?;
    }
    let grown = LawRun::with_home(product, &sample.repository, &home);
    let fresh = LawRun::new(product, &sample.repository);
    fresh.run("index")?;
    join_failures(law_queries(laws, &sample, None).into_iter().filter_map(|(law, mut question)| {
        if question[0] != "status" {
            question.push("--no-sync".to_owned());
        }
        differs(law, &question, &fresh.query(&question), &grown.query(&question), story.trim_end_matches(','))
    }))
}

/// Checks the branch law on one repository: one index of all refs against one index per ref.
pub fn branch_law(product: &dyn Product, laws: &[Law], seed: u64) -> Result<(), Failure> {
    let sample = random_repository(seed, Size::default());
    let shared = LawRun::new(product, &sample.repository);
    shared.index_all(&sample)?;
    refs_match_isolated_indexes(&shared, &sample, laws)
}

/// Checks the rebase law on one repository: all branches are indexed, moved and queried.
pub fn rebase_law(product: &dyn Product, laws: &[Law], seed: u64) -> Result<(), Failure> {
    let mut sample = random_repository(seed, Size::default());
    let mut dice = Rng::new(seed);
    let home = Home::new();
    LawRun::with_home(product, &sample.repository, &home).index_all(&sample)?;
    let topics: Vec<String> = sample.refs.iter().filter(|name| name.starts_with("topic")).cloned().collect();
    topics.iter().for_each(|name| sample.rebase(name, &mut dice));
    refs_match_isolated_indexes(&LawRun::with_home(product, &sample.repository, &home), &sample, laws)
}

fn refs_match_isolated_indexes(shared: &LawRun<'_>, sample: &RandomRepository, laws: &[Law]) -> Result<(), Failure> {
    let mut failures = Vec::new();
    for reference in &sample.refs {
        let flat = sample.repository.flattened(reference);
        let alone = LawRun::new(shared.product, &flat);
        alone.run("index")?;
        for (law, question) in law_queries(laws, sample, Some(reference)) {
            let (together, alone) = (shared.query(&question), alone.query(&question));
            let against = "expected: a fresh index of the ref alone";
            failures.extend(differs(law, &question, &alone, &together, against));
        }
    }
    join_failures(failures.into_iter())
}

/// Checks the idempotence law on one repository: answers before and after indexing everything again.
pub fn idempotence_law(product: &dyn Product, laws: &[Law], seed: u64) -> Result<(), Failure> {
    let sample = random_repository(seed, Size::default());
    let bench = LawRun::new(product, &sample.repository);
    bench.index_all(&sample)?;
    let asked: Vec<_> = sample.refs.iter().flat_map(|name| law_queries(laws, &sample, Some(name))).collect();
    let first: Vec<Answer> = asked.iter().map(|(_, question)| bench.query(question)).collect();
    bench.run("sync")?;
    bench.index_all(&sample)?;
    bench.run("sync")?;
    join_failures(asked.iter().zip(first).filter_map(|((law, question), first)| {
        differs(law, question, &first, &bench.query(question), "expected: the answer before two syncs without changes")
    }))
}

/// Checks the incremental law on one repository: edits with a sync after each, against a fresh index of the final
/// state.
pub fn incremental_law(product: &dyn Product, laws: &[Law], seed: u64) -> Result<(), Failure> {
    const EDITS: usize = 12;
    let mut sample = random_repository(seed, Size::default());
    let mut dice = Rng::new(seed);
    let home = Home::new();
    let mut story = String::from("expected: a fresh index; done before:");
    LawRun::with_home(product, &sample.repository, &home).run("index")?;
    for _ in 0..EDITS {
        let done = sample.random_change(&mut dice);
        let _ = write!(story, " {done},");
        LawRun::with_home(product, &sample.repository, &home).run("sync")?;
    }
    let grown = LawRun::with_home(product, &sample.repository, &home);
    let fresh = LawRun::new(product, &sample.repository);
    fresh.run("index")?;
    join_failures(law_queries(laws, &sample, None).into_iter().filter_map(|(law, question)| {
        differs(law, &question, &fresh.query(&question), &grown.query(&question), story.trim_end_matches(','))
    }))
}

#[track_caller]
fn check(
    law: impl Fn(&dyn Product, &[Law], u64) -> Result<(), Failure>,
    product: &dyn Product,
    laws: &[Law],
    seeds: impl IntoIterator<Item = u64>,
) {
    let broken = seeds.into_iter().filter_map(|seed| {
        let failure = law(product, laws, seed).err()?;
        Some(Failure(format!("──── seed {seed}\n{failure}")))
    });
    if let Err(failure) = join_failures(broken) {
        panic!("a law is broken\n{failure}");
    }
}

/// Returns all queries for one ref, or for the work tree, each with its law.
fn law_queries<'a>(laws: &'a [Law], sample: &RandomRepository, reference: Option<&str>) -> Vec<(&'a Law, Vec<String>)> {
    let mut all = Vec::new();
    for law in laws {
        let lines = (law.queries)(sample);
        assert!(!lines.is_empty(), "{} has no queries", law.name);
        for line in lines {
            let line = match reference {
                Some(name) if line.contains("{ref}") => line.replace("{ref}", &shell_words::quote(name)),
                Some(name) => format!("{line} --ref {}", shell_words::quote(name)),
                None => line.replace("{ref}", "HEAD"),
            };
            let question = shell_words::split(&line).unwrap_or_else(|error| panic!("{}: {line}: {error}", law.name));
            all.push((law, question));
        }
    }
    all
}

fn differs(law: &Law, question: &[String], expected: &Answer, actual: &Answer, against: &str) -> Option<Failure> {
    let (expected, actual) = (expected.without_law_exceptions(), actual.without_law_exceptions());
    let shown =
        |answer: &Answer| answer.comparable_to(&Answer { code: Some(0), stderr: None, stdout: String::new() }).text();
    let lines = diff(&shown(&expected), &shown(&actual));
    let question = question.join(" ");
    (!lines.is_empty()).then(|| Failure(format!("{}: ? {question}\n({against})\n{lines}", law.name)))
}

/// A repository, a data directory and the product.
struct LawRun<'a> {
    product: &'a dyn Product,
    repository: &'a Repository,
    home: HomeRef<'a>,
}

enum HomeRef<'a> {
    Own(Home),
    Shared(&'a Home),
}

impl<'a> LawRun<'a> {
    fn new(product: &'a dyn Product, repository: &'a Repository) -> Self {
        Self { product, repository, home: HomeRef::Own(Home::new()) }
    }

    fn with_home(product: &'a dyn Product, repository: &'a Repository, home: &'a Home) -> Self {
        Self { product, repository, home: HomeRef::Shared(home) }
    }

    fn home(&self) -> &Home {
        match &self.home {
            HomeRef::Own(home) => home,
            HomeRef::Shared(home) => home,
        }
    }

    fn run(&self, command: &str) -> Result<(), Failure> {
        let args = shell_words::split(command).expect("because the testkit's own command lines are well formed");
        let call = Call { args: &args, cwd: self.repository.root(), home: self.home().path(), env: &[] };
        let reply = self.product.call(&call);
        if reply.succeeded() { Ok(()) } else { Err(Failure(format!("`{command}` failed: {}", describe(&reply)))) }
    }

    fn index_all(&self, sample: &RandomRepository) -> Result<(), Failure> {
        self.run("index")?;
        let others = sample.refs.iter().filter(|name| *name != "main");
        others.into_iter().try_for_each(|name| self.run(&format!("index --ref {}", shell_words::quote(name))))
    }

    fn query(&self, question: &[String]) -> Answer {
        query_product(self.product, self.repository, self.home(), question)
    }
}
