//! The `tests` parameter: whether tests are listed. It filters the lists before any limit, but never the traversal.

use std::collections::HashSet;

use super::frame::{Arguments, Kind, Param, optional};
use super::{input, rows};
use crate::error::AppError;
use crate::output::Reader;

const WORDS: &[(&str, Tests)] = &[("include", Tests::Include), ("exclude", Tests::Exclude), ("only", Tests::Only)];

/// The parameter.
pub(crate) const TESTS: Param = optional("tests", Kind::Choice(&["include", "exclude", "only"], None), "");

/// The filter for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tests {
    /// Not given: JSON lists all tests, text may fold them.
    #[default]
    Open,
    Include,
    Exclude,
    Only,
}

impl Tests {
    /// Parses the arguments.
    pub(crate) fn of(arguments: &Arguments) -> Result<Self, AppError> {
        Ok(input::one_of("tests", arguments.text("tests").as_deref(), WORDS)?.unwrap_or_default())
    }

    /// Whether the list includes tests, or other code.
    pub(crate) fn lists(self, is_test: bool) -> bool {
        match self {
            Tests::Open | Tests::Include => true,
            Tests::Exclude => !is_test,
            Tests::Only => is_test,
        }
    }

    /// The part of the cursor identity for this filter.
    pub(crate) fn identity(self) -> String {
        if self.is_chosen() { format!(" {self:?}") } else { String::new() }
    }

    /// Whether anything is filtered out.
    pub(crate) fn is_chosen(self) -> bool {
        matches!(self, Tests::Exclude | Tests::Only)
    }
}

/// The maximum number of tests that are listed before they become a count.
const SHOWN: usize = 10;

/// Tests at the end of a text: those with a row, and the number of the others.
pub(crate) struct Last<T> {
    pub(crate) rows: Vec<T>,
    folded: usize,
    files: usize,
}

impl<T> Last<T> {
    /// No tests.
    pub(crate) fn none() -> Self {
        Self { rows: Vec::new(), folded: 0, files: 0 }
    }

    /// Keeps as many tests as the limit leaves; without a limit, all of a few or none of many.
    pub(crate) fn of(mut tests: Vec<T>, limit: Option<usize>, path: impl Fn(&T) -> &str) -> Self {
        let kept = limit.unwrap_or(if tests.len() > SHOWN { 0 } else { SHOWN });
        let rest = tests.split_off(kept.min(tests.len()));
        let files: HashSet<&str> = rest.iter().map(path).collect();
        Self { folded: rest.len(), files: files.len(), rows: tests }
    }

    /// Maps the rows.
    pub(crate) fn try_map<U, E>(self, each: impl FnMut(T) -> Result<U, E>) -> Result<Last<U>, E> {
        let rows = self.rows.into_iter().map(each).collect::<Result<_, E>>()?;
        Ok(Last { rows, folded: self.folded, files: self.files })
    }

    /// Whether there are no tests.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.folded == 0
    }

    /// The number of tests.
    pub(crate) fn count(&self) -> usize {
        self.rows.len() + self.folded
    }

    /// The line that counts the tests without a row, and names the argument that lists them.
    pub(crate) fn text(&self, reader: Reader) -> String {
        if self.folded == 0 {
            return String::new();
        }
        let more = if self.rows.is_empty() { "" } else { " more" };
        let how = reader.argument("tests", "only");
        format!("tests: {}{more} in {} ({how})\n", self.folded, rows::count(self.files, "file"))
    }
}
