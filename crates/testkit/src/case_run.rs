//! The environment of a road: a repository built from the case, a data directory, and the product.

use std::fmt;
use std::path::Path;

use tempfile::TempDir;

use crate::answer::{Answer, Redactions};
use crate::case::{Branch, Case, CaseQuery, Change, DEFAULT_BRANCH, Edit};
use crate::diff::diff;
use crate::product::{Call, Product, Reply};
use crate::repository::Repository;
use crate::shell_words;

/// The reason why a case fails on a road, as readable text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A data directory of the product. Its path stays the same when its content is restored.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
}

/// A backup of the content of a [`Home`].
#[derive(Debug)]
pub struct HomeBackup(TempDir);

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// Creates an empty data directory.
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("because a temporary folder can be created") }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Copies its current content.
    pub fn save(&self) -> HomeBackup {
        let copy = TempDir::new().expect("because a temporary folder can be created");
        copy_folder(self.path(), copy.path()).unwrap_or_else(|error| panic!("{}: {error}", self.path().display()));
        HomeBackup(copy)
    }

    /// Restores a backup and removes everything else.
    pub fn restore(&self, saved: &HomeBackup) {
        let done = empty_folder(self.path()).and_then(|()| copy_folder(saved.0.path(), self.path()));
        done.unwrap_or_else(|error| panic!("{}: {error}", self.path().display()));
    }
}

fn empty_folder(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(path)?;
        } else {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            std::fs::create_dir(&target)?;
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// One run of a case: its repository, a data directory, and the product.
pub struct CaseRun<'a> {
    /// The case being run.
    pub case: &'a Case,
    /// The repository, as far as the road has built it.
    pub repository: Repository,
    /// The product's data directory.
    pub home: Home,
    product: &'a dyn Product,
}

impl<'a> CaseRun<'a> {
    /// Creates the complete repository of the case and an empty data directory.
    pub fn new(case: &'a Case, product: &'a dyn Product) -> Self {
        let journey = Self::with_empty_commit(case, product);
        apply_changes(&journey.repository, &case.files);
        if !case.plain {
            journey.repository.commit("files");
        }
        for branch in &case.branches {
            journey.start_branch(branch);
            apply_changes(&journey.repository, &branch.changes);
            journey.end_branch(branch);
        }
        apply_changes(&journey.repository, &case.uncommitted);
        journey
    }

    /// Creates a repository with only an empty commit, and an empty data directory.
    pub fn with_empty_commit(case: &'a Case, product: &'a dyn Product) -> Self {
        let repository = if case.plain { Repository::plain() } else { Repository::new() };
        if !case.plain {
            repository.commit("nothing");
        }
        Self::with_repository(case, product, repository)
    }

    /// Uses another repository for the same case, with an empty data directory.
    pub fn with_repository(case: &'a Case, product: &'a dyn Product, repository: Repository) -> Self {
        Self { case, repository, home: Home::new(), product }
    }

    /// The product under test.
    pub fn product(&self) -> &'a dyn Product {
        self.product
    }

    /// Checks out a new branch at its start according to the case.
    pub fn start_branch(&self, branch: &Branch) {
        self.repository.checkout(&branch.from).branch(&branch.name);
    }

    /// Commits the changes of a branch and checks out the default branch.
    pub fn end_branch(&self, branch: &Branch) {
        self.repository.commit(&branch.name);
        self.repository.checkout(DEFAULT_BRANCH);
    }

    /// Runs a command that must succeed.
    pub fn run(&self, command: &str) -> Result<(), Failure> {
        let reply = self.try_run(command, &[]);
        if reply.succeeded() { Ok(()) } else { Err(Failure(format!("`{command}` failed: {}", describe(&reply)))) }
    }

    /// Runs a command with additional variables and returns its reply, successful or not.
    pub fn try_run(&self, command: &str, env: &[(String, String)]) -> Reply {
        let args = shell_words::split(command).expect("because the testkit's own command lines are well formed");
        self.call(&args, env)
    }

    /// Indexes the work tree and then every branch that a query names.
    pub fn index_all(&self) -> Result<(), Failure> {
        self.run("index")?;
        self.case.indexed_branches().into_iter().try_for_each(|name| self.index_branch(name))
    }

    /// Indexes one branch from git's objects.
    pub fn index_branch(&self, name: &str) -> Result<(), Failure> {
        self.run(&format!("index --ref {}", shell_words::quote(name)))
    }

    /// Runs a query and returns its answer, successful or not.
    pub fn query(&self, args: &[String]) -> Answer {
        query_product(self.product, &self.repository, &self.home, args)
    }

    /// Returns the answers to all queries of the case.
    pub fn query_all(&self) -> Vec<Answer> {
        self.case.queries.iter().map(|question| self.query(&question.words)).collect()
    }

    /// Runs all queries and compares the answers with the expected ones.
    pub fn expect_all(&self) -> Result<(), Failure> {
        let asked = self.case.queries.iter().zip(self.query_all());
        let wrong = asked.filter_map(|(question, answer)| compare(self.case, question, &answer, "").err());
        join_failures(wrong)
    }

    fn call(&self, args: &[String], env: &[(String, String)]) -> Reply {
        self.product.call(&Call { args, cwd: self.repository.root(), home: self.home.path(), env })
    }
}

/// Runs a query against a repository and redacts its answer.
pub(crate) fn query_product(product: &dyn Product, repository: &Repository, home: &Home, args: &[String]) -> Answer {
    let reply = product.call(&Call { args, cwd: repository.root(), home: home.path(), env: &[] });
    let hexadecimal = |text: &str| text.split(|c: char| !c.is_ascii_hexdigit()).any(|word| word.len() >= 7);
    let mut commits = Vec::new();
    if repository.path(".git").exists() && (hexadecimal(&reply.stdout) || hexadecimal(&reply.stderr)) {
        commits = repository.refs();
        commits.sort_by_key(|(name, _)| name != DEFAULT_BRANCH);
    }
    Answer::new(&reply, &Redactions::new(repository.root(), home.path(), commits))
}

/// Joins failures into one, or returns `Ok` if there are none.
pub(crate) fn join_failures(failures: impl Iterator<Item = Failure>) -> Result<(), Failure> {
    let texts: Vec<String> = failures.map(|failure| failure.0).collect();
    if texts.is_empty() { Ok(()) } else { Err(Failure(texts.join("\n"))) }
}

/// Compares an answer with the expectation of a query. `note` describes the circumstances.
pub(crate) fn compare(case: &Case, question: &CaseQuery, answer: &Answer, note: &str) -> Result<(), Failure> {
    let told = answer.comparable_to(&question.expected);
    compare_texts(case, question, &question.expected.text(), &told.text(), note)
}

/// Compares two texts that should be the same answer.
pub(crate) fn compare_texts(
    case: &Case,
    question: &CaseQuery,
    expected: &str,
    actual: &str,
    note: &str,
) -> Result<(), Failure> {
    if expected == actual {
        return Ok(());
    }
    let words: Vec<String> = question.words.iter().map(|word| shell_words::quote(word)).collect();
    let place = format!("{}:{}: ? {}", case.path.display(), question.line, words.join(" "));
    let note = if note.is_empty() { String::new() } else { format!("\n({note})") };
    Err(Failure(format!("{place}{note}\n{}", diff(expected, actual))))
}

/// Describes a reply briefly.
pub(crate) fn describe(reply: &Reply) -> String {
    let end = reply.code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit {code}"));
    format!("{end}\n{}{}", reply.stdout, reply.stderr)
}

/// Applies changes to the work tree in order.
pub(crate) fn apply_changes(repository: &Repository, changes: &[Change]) {
    for change in changes {
        match &change.edit {
            Edit::Write(text) => repository.write(&change.path, text),
            Edit::Delete => repository.delete(&change.path),
            Edit::Rename(to, None) => repository.rename(&change.path, to),
            Edit::Rename(to, Some(text)) => repository.delete(&change.path).write(to, text),
        };
    }
}
