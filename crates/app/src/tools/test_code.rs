//! `tests`: whether tests are listed. It chooses what is listed, before any limit, and never what is walked.

use super::frame::{Arguments, Kind, Param, optional};
use super::input;
use crate::error::AppError;

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

    /// Whether anything is left out.
    pub(crate) fn is_chosen(self) -> bool {
        matches!(self, Tests::Exclude | Tests::Only)
    }
}
