//! `tests`: whether tests are listed. It chooses what is listed, before any limit, and never what is walked.

use std::collections::HashSet;

use super::frame::{Arguments, Kind, Param, optional};
use super::{input, rows};
use crate::error::AppError;
use crate::output::Reader;

const WORDS: &[(&str, Tests)] = &[("include", Tests::Include), ("exclude", Tests::Exclude), ("only", Tests::Only)];

/// The parameter.
pub(crate) const TESTS: Param = optional("tests", Kind::Choice(&["include", "exclude", "only"], None), "");

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tests {
    /// Nobody said: JSON lists all, text may fold them.
    #[default]
    Open,
    Include,
    Exclude,
    Only,
}

impl Tests {
    /// From a call's arguments.
    pub(crate) fn of(arguments: &Arguments) -> Result<Self, AppError> {
        Ok(input::one_of("tests", arguments.text("tests").as_deref(), WORDS)?.unwrap_or_default())
    }

    /// Whether something is listed that is a test, or is none.
    pub(crate) fn lists(self, is_test: bool) -> bool {
        match self {
            Tests::Open | Tests::Include => true,
            Tests::Exclude => !is_test,
            Tests::Only => is_test,
        }
    }

    /// What it adds to everything that decides a list.
    pub(crate) fn identity(self) -> String {
        if self.is_chosen() { format!(" {self:?}") } else { String::new() }
    }

    /// Whether anything is left out.
    pub(crate) fn is_chosen(self) -> bool {
        matches!(self, Tests::Exclude | Tests::Only)
    }
}

/// So many tests are listed one by one before they become a number.
const SHOWN: usize = 10;

/// Tests that stand after everything else in a text: those with a row, and how many have none.
pub(crate) struct Last<T> {
    pub(crate) rows: Vec<T>,
    folded: usize,
    files: usize,
}

impl<T> Last<T> {
    /// None.
    pub(crate) fn none() -> Self {
        Self { rows: Vec::new(), folded: 0, files: 0 }
    }

    /// Of these as many as fit: when nobody said how many, a few or none; else what the limit leaves.
    pub(crate) fn of(mut tests: Vec<T>, limit: Option<usize>, path: impl Fn(&T) -> &str) -> Self {
        let kept = limit.unwrap_or(if tests.len() > SHOWN { 0 } else { SHOWN });
        let rest = tests.split_off(kept.min(tests.len()));
        let files: HashSet<&str> = rest.iter().map(path).collect();
        Self { folded: rest.len(), files: files.len(), rows: tests }
    }

    /// With other rows.
    pub(crate) fn try_map<U, E>(self, each: impl FnMut(T) -> Result<U, E>) -> Result<Last<U>, E> {
        let rows = self.rows.into_iter().map(each).collect::<Result<_, E>>()?;
        Ok(Last { rows, folded: self.folded, files: self.files })
    }

    /// Whether there are no tests.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.folded == 0
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.rows.len() + self.folded
    }

    /// The line that counts those without a row, and the argument that lists them.
    pub(crate) fn text(&self, reader: Reader) -> String {
        if self.folded == 0 {
            return String::new();
        }
        let more = if self.rows.is_empty() { "" } else { " more" };
        let how = reader.argument("tests", "only");
        format!("tests: {}{more} in {} ({how})\n", self.folded, rows::count(self.files, "file"))
    }
}
