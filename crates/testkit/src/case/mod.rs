//! A case: a small file tree with its branches, queries and their answers, written as one text file.
//!
//! The crate's README describes the format with examples. Parsing is strict: anything ambiguous is an error with its
//! line, because a case that silently tests nothing is worse than none. A parsed case keeps its lines, so that new
//! answers can be inserted without changing anything else.

mod answers;
mod parse;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::answer::Answer;
use answers::answer_lines;

/// The branch that is checked out. Files without a branch name belong to it.
pub const DEFAULT_BRANCH: &str = "main";

/// One case file.
#[derive(Debug)]
pub struct Case {
    /// The file that it was read from.
    pub path: PathBuf,
    /// The sentence that it proves.
    pub title: String,
    /// Whether it is a folder without git.
    pub plain: bool,
    /// The roads that the case excludes, each with a reason in the file.
    pub excluded_roads: Vec<&'static str>,
    /// Branches that exist but are not indexed.
    pub unindexed: Vec<String>,
    /// The files of the default branch.
    pub files: Vec<Change>,
    /// The other branches, in the order of the file.
    pub branches: Vec<Branch>,
    /// Edits of the work tree, on top of the default branch.
    pub uncommitted: Vec<Change>,
    /// The queries.
    pub queries: Vec<CaseQuery>,
    lines: Vec<String>,
}

/// A branch and its changes relative to the branch it starts from.
#[derive(Debug)]
pub struct Branch {
    /// Its name.
    pub name: String,
    /// The branch it starts from.
    pub from: String,
    /// Its edits.
    pub changes: Vec<Change>,
}

/// One edit of one file.
#[derive(Clone, Debug)]
pub struct Change {
    /// The path of the file from the root, with `/`.
    pub path: String,
    /// The change of the file.
    pub edit: Edit,
}

/// A kind of change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The file gets this text.
    Write(String),
    /// The file is deleted.
    Delete,
    /// The file is moved, and optionally gets a new text.
    Rename(String, Option<String>),
}

/// A command line and its answer.
#[derive(Debug)]
pub struct CaseQuery {
    /// The line of the query, from 1.
    pub line: usize,
    /// The command line, split into words.
    pub words: Vec<String>,
    /// The expected answer.
    pub expected: Answer,
    block: Range<usize>,
}

impl CaseQuery {
    /// Returns the ref that the query names with `--ref`.
    pub fn ref_name(&self) -> Option<&str> {
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            match word.strip_prefix("--ref") {
                Some("") => return words.next().map(String::as_str),
                Some(rest) if rest.starts_with('=') => return Some(&rest[1..]),
                _ => {}
            }
        }
        None
    }

    /// Returns the query without its `--ref`.
    pub fn without_ref(&self) -> Vec<String> {
        let mut words = self.words.iter();
        let mut kept = Vec::new();
        while let Some(word) = words.next() {
            if word == "--ref" {
                words.next();
            } else if !word.starts_with("--ref=") {
                kept.push(word.clone());
            }
        }
        kept
    }
}

/// The reason why a case file cannot be parsed.
#[derive(Debug, PartialEq, Eq)]
pub struct CaseError {
    /// The case file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The error message.
    pub message: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

impl std::error::Error for CaseError {}

impl Case {
    /// Reads and parses a case file.
    pub fn read(path: &Path) -> Result<Self, CaseError> {
        let text = std::fs::read_to_string(path).map_err(|error| CaseError {
            path: path.to_owned(),
            line: 0,
            message: format!("cannot be read: {error}"),
        })?;
        Self::parse(path, &text)
    }

    /// Parses the text of a case; the path is only used in messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self, CaseError> {
        let mut case = Self {
            path: path.to_owned(),
            title: String::new(),
            plain: false,
            excluded_roads: Vec::new(),
            unindexed: Vec::new(),
            files: Vec::new(),
            branches: Vec::new(),
            uncommitted: Vec::new(),
            queries: Vec::new(),
            lines: text.lines().map(str::to_owned).collect(),
        };
        let parsed = case.parse_lines();
        parsed.map_err(|(index, message)| CaseError { path: path.to_owned(), line: index + 1, message })?;
        Ok(case)
    }

    /// Returns the file's name without its extension.
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the branches, except the default one, that a query names and that are to be indexed.
    pub fn indexed_branches(&self) -> Vec<&str> {
        let named = |name: &str| self.queries.iter().any(|question| question.ref_name() == Some(name));
        let wanted = |name: &&str| named(name) && !self.unindexed.iter().any(|other| other == name);
        self.branches.iter().map(|branch| branch.name.as_str()).filter(wanted).collect()
    }

    /// Returns the text of the file with these answers, one per query, in place of its own. Unchanged answers and all
    /// other lines stay as they are.
    pub fn with_answers(&self, answers: &[Answer]) -> String {
        let mut lines = Vec::new();
        let mut next = 0;
        for (question, answer) in self.queries.iter().zip(answers) {
            if !question.expected.accepts(answer) {
                lines.extend_from_slice(&self.lines[next..question.block.start]);
                lines.extend(answer_lines(&answer.comparable_to(&question.expected)));
                next = question.block.end;
            }
        }
        lines.extend_from_slice(&self.lines[next..]);
        lines.join("\n") + "\n"
    }
}
