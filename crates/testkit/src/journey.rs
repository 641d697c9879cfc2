//! What a road has at hand: a repository made from the case, a data directory, and the product to ask.

use std::fmt;
use std::path::Path;

use tempfile::TempDir;

use crate::answer::{Answer, Names};
use crate::case::{Branch, Case, Change, DEFAULT_BRANCH, Edit, Question};
use crate::difference::difference;
use crate::product::{Call, Product, Reply};
use crate::repository::Repository;
use crate::words;

/// Why a case does not hold on a road: a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A data directory of the product. Its path stays the same when its content is put back.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
}

/// The content of a [`Home`] at one moment.
#[derive(Debug)]
pub struct Saved(TempDir);

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// An empty data directory.
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temp folder can be made") }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Copies what it holds now.
    pub fn save(&self) -> Saved {
        let copy = TempDir::new().expect("a temp folder can be made");
        copy_folder(self.path(), copy.path()).unwrap_or_else(|error| panic!("{}: {error}", self.path().display()));
        Saved(copy)
    }

    /// Makes it hold again what was saved, and nothing else.
    pub fn restore(&self, saved: &Saved) {
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

/// One walk of a case: its repository, a data directory, and the product.
pub struct Journey<'a> {
    /// The case that is walked.
    pub case: &'a Case,
    /// The repository, as far as the road has built it.
    pub repository: Repository,
    /// The product's data directory.
    pub home: Home,
    product: &'a dyn Product,
}

impl<'a> Journey<'a> {
    /// The whole repository of the case, and an empty data directory.
    pub fn new(case: &'a Case, product: &'a dyn Product) -> Self {
        let journey = Self::from_nothing(case, product);
        make(&journey.repository, &case.files);
        if !case.plain {
            journey.repository.commit("files");
        }
        for branch in &case.branches {
            journey.start_branch(branch);
            make(&journey.repository, &branch.changes);
            journey.end_branch(branch);
        }
        make(&journey.repository, &case.uncommitted);
        journey
    }

    /// A repository with nothing but an empty commit, and an empty data directory.
    pub fn from_nothing(case: &'a Case, product: &'a dyn Product) -> Self {
        let repository = if case.plain { Repository::plain() } else { Repository::new() };
        if !case.plain {
            repository.commit("nothing");
        }
        Self::at(case, product, repository)
    }

    /// Another repository for the same case, and an empty data directory.
    pub fn at(case: &'a Case, product: &'a dyn Product, repository: Repository) -> Self {
        Self { case, repository, home: Home::new(), product }
    }

    /// The product under test.
    pub fn product(&self) -> &'a dyn Product {
        self.product
    }

    /// Checks out a new branch where the case says that it starts.
    pub fn start_branch(&self, branch: &Branch) {
        self.repository.checkout(&branch.from).branch(&branch.name);
    }

    /// Commits what was changed on a branch, and goes back to the default one.
    pub fn end_branch(&self, branch: &Branch) {
        self.repository.commit(&branch.name);
        self.repository.checkout(DEFAULT_BRANCH);
    }

    /// Runs a command that must succeed.
    pub fn run(&self, command: &str) -> Result<(), Failure> {
        let reply = self.try_run(command, &[]);
        if reply.succeeded() { Ok(()) } else { Err(Failure(format!("`{command}` failed: {}", describe(&reply)))) }
    }

    /// Runs a command, with further variables, whatever comes of it.
    pub fn try_run(&self, command: &str, env: &[(String, String)]) -> Reply {
        let args = words::split(command).expect("the testkit's own command lines are well formed");
        self.call(&args, env)
    }

    /// Indexes the work tree and then every branch that a question names.
    pub fn index_all(&self) -> Result<(), Failure> {
        self.run("index")?;
        self.case.indexed_branches().into_iter().try_for_each(|name| self.index_branch(name))
    }

    /// Indexes one branch from git's objects.
    pub fn index_branch(&self, name: &str) -> Result<(), Failure> {
        self.run(&format!("index --ref {}", words::quote(name)))
    }

    /// Asks a command line, whatever the answer.
    pub fn ask(&self, args: &[String]) -> Answer {
        ask_product(self.product, &self.repository, &self.home, args)
    }

    /// The answers to all questions of the case.
    pub fn ask_all(&self) -> Vec<Answer> {
        self.case.questions.iter().map(|question| self.ask(&question.words)).collect()
    }

    /// Asks all questions, and compares with what the case expects.
    pub fn expect_all(&self) -> Result<(), Failure> {
        let asked = self.case.questions.iter().zip(self.ask_all());
        let wrong = asked.filter_map(|(question, answer)| compare(self.case, question, &answer, "").err());
        gather(wrong)
    }

    fn call(&self, args: &[String], env: &[(String, String)]) -> Reply {
        self.product.call(&Call { args, cwd: self.repository.root(), home: self.home.path(), env })
    }
}

/// Asks a command line about a repository, and frees the answer from what depends on the machine.
pub(crate) fn ask_product(product: &dyn Product, repository: &Repository, home: &Home, args: &[String]) -> Answer {
    let reply = product.call(&Call { args, cwd: repository.root(), home: home.path(), env: &[] });
    let hexadecimal = |text: &str| text.split(|c: char| !c.is_ascii_hexdigit()).any(|word| word.len() >= 7);
    let mut commits = Vec::new();
    if repository.path(".git").exists() && (hexadecimal(&reply.stdout) || hexadecimal(&reply.stderr)) {
        commits = repository.refs();
        commits.sort_by_key(|(name, _)| name != DEFAULT_BRANCH);
    }
    Answer::new(&reply, &Names::new(repository.root(), home.path(), commits))
}

/// One failure out of many, or none.
pub(crate) fn gather(failures: impl Iterator<Item = Failure>) -> Result<(), Failure> {
    let texts: Vec<String> = failures.map(|failure| failure.0).collect();
    if texts.is_empty() { Ok(()) } else { Err(Failure(texts.join("\n"))) }
}

/// Compares an answer with a question's expectation. `note` says in which circumstances it was asked.
pub(crate) fn compare(case: &Case, question: &Question, answer: &Answer, note: &str) -> Result<(), Failure> {
    let told = answer.as_told_by(&question.expected);
    compare_texts(case, question, &question.expected.text(), &told.text(), note)
}

/// Compares two texts that should be the same answer.
pub(crate) fn compare_texts(
    case: &Case,
    question: &Question,
    expected: &str,
    actual: &str,
    note: &str,
) -> Result<(), Failure> {
    if expected == actual {
        return Ok(());
    }
    let words: Vec<String> = question.words.iter().map(|word| words::quote(word)).collect();
    let place = format!("{}:{}: ? {}", case.path.display(), question.line, words.join(" "));
    let note = if note.is_empty() { String::new() } else { format!("\n({note})") };
    Err(Failure(format!("{place}{note}\n{}", difference(expected, actual))))
}

/// A reply in a few words.
pub(crate) fn describe(reply: &Reply) -> String {
    let end = reply.code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit {code}"));
    format!("{end}\n{}{}", reply.stdout, reply.stderr)
}

/// Makes changes in the work tree, in their order.
pub(crate) fn make(repository: &Repository, changes: &[Change]) {
    for change in changes {
        match &change.edit {
            Edit::Write(text) => repository.write(&change.path, text),
            Edit::Delete => repository.delete(&change.path),
            Edit::Rename(to, None) => repository.rename(&change.path, to),
            Edit::Rename(to, Some(text)) => repository.delete(&change.path).write(to, text),
        };
    }
}
