//! The `tests` parameter: whether tests are listed. It filters the lists before any limit, but never the traversal.

use std::collections::HashSet;

use super::tool_spec::{Arguments, Param, ParamKind, optional};
use super::{input, rows};
use codecompass_workspace::error::AppError;
use codecompass_workspace::output::Reader;

const NAMES: &[(&str, TestFilter)] =
    &[("include", TestFilter::Include), ("exclude", TestFilter::Exclude), ("only", TestFilter::Only)];

/// The parameter.
pub(crate) const TESTS: Param = optional("tests", ParamKind::Choice(&["include", "exclude", "only"], None), "");

/// The filter for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TestFilter {
    /// Not given: JSON lists all tests, text may fold them.
    #[default]
    Unset,
    Include,
    Exclude,
    Only,
}

impl TestFilter {
    /// Parses the arguments.
    pub(crate) fn parse(arguments: &Arguments) -> Result<Self, AppError> {
        Ok(input::one_of("tests", arguments.text("tests").as_deref(), NAMES)?.unwrap_or_default())
    }

    /// Whether the list includes tests, or other code.
    pub(crate) fn includes(self, is_test: bool) -> bool {
        match self {
            TestFilter::Unset | TestFilter::Include => true,
            TestFilter::Exclude => !is_test,
            TestFilter::Only => is_test,
        }
    }

    /// The part of the cursor identity for this filter.
    pub(crate) fn identity(self) -> String {
        if self.is_filtering() { format!(" {self:?}") } else { String::new() }
    }

    /// Whether anything is filtered out.
    pub(crate) fn is_filtering(self) -> bool {
        matches!(self, TestFilter::Exclude | TestFilter::Only)
    }
}

/// The maximum number of tests that are listed before they become a count.
const MAX_LISTED_TESTS: usize = 10;

/// Tests at the end of a text: those with a row, and the number of the others.
pub(crate) struct FoldedTests<T> {
    pub(crate) rows: Vec<T>,
    folded: usize,
    files: usize,
}

impl<T> FoldedTests<T> {
    /// No tests.
    pub(crate) fn empty() -> Self {
        Self { rows: Vec::new(), folded: 0, files: 0 }
    }

    /// Keeps as many tests as the limit leaves; without a limit, all of a few or none of many.
    pub(crate) fn fold(mut tests: Vec<T>, limit: Option<usize>, path: impl Fn(&T) -> &str) -> Self {
        let kept = limit.unwrap_or(if tests.len() > MAX_LISTED_TESTS { 0 } else { MAX_LISTED_TESTS });
        let rest = tests.split_off(kept.min(tests.len()));
        let files: HashSet<&str> = rest.iter().map(path).collect();
        Self { folded: rest.len(), files: files.len(), rows: tests }
    }

    /// Maps the rows.
    pub(crate) fn try_map<U, E>(self, each: impl FnMut(T) -> Result<U, E>) -> Result<FoldedTests<U>, E> {
        let rows = self.rows.into_iter().map(each).collect::<Result<_, E>>()?;
        Ok(FoldedTests { rows, folded: self.folded, files: self.files })
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
