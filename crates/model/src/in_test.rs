//! Is a place in a test? One question with one answer, for ranking, references, calls and diffs alike.

use crate::Symbol;

/// Whether a place is in a test: the path of its file says so, or the symbol around it is test code by its own text or
/// by that of a symbol around it (a test block, `#[test]`, `#[cfg(test)]`).
pub fn is_in_test(path: &str, symbol: Option<&Symbol>) -> bool {
    symbol.is_some_and(|symbol| symbol.in_test) || is_test_path(path)
}

/// The folders whose files are tests, whatever their case.
const FOLDERS: &[&str] = &["test", "tests", "testing", "__tests__", "spec", "specs", "testdata", "test_utils", "e2e"];

/// What the names of test files hold: `x_test.go`, `x.spec.ts`, `x_tests.rs`.
const MARKS: &[&str] = &["_test.", "_tests.", ".test.", ".spec.", "_spec."];

/// How the names of test files begin: `test_x.py`, `conftest.py`, and the `tests.rs` or `tests.py` of a module.
const BEGINNINGS: &[&str] = &["test_", "conftest", "tests."];

/// Whether a path is that of a test. It is the one rule of all languages: what pytest, go, cargo and the runners of
/// JavaScript look for, and the folders that people put helpers and data of tests in.
pub fn is_test_path(path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let begins = |start: &str| file.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
    let holds = |part: &str| file.as_bytes().windows(part.len()).any(|at| at.eq_ignore_ascii_case(part.as_bytes()));
    let is_named = |folder: &str| FOLDERS.iter().any(|name| folder.eq_ignore_ascii_case(name));
    folders.split('/').any(is_named)
        || BEGINNINGS.iter().any(|start| begins(start))
        || MARKS.iter().any(|part| holds(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_folder_and_by_name() {
        for (path, expected) in [
            ("tests/api.rs", true),
            ("src/Tests/Api.cs", true),
            ("src/parser/tests.rs", true),
            ("polls/tests.py", true),
            ("polls/test_models.py", true),
            ("conftest.py", true),
            ("context_test.go", true),
            ("src/app.test.ts", true),
            ("src/app.spec.tsx", true),
            ("src/commands/test.rs", false),
            ("src/latest.rs", false),
            ("src/attest/mod.rs", false),
            ("contest.py", false),
            ("src/tests_of_time.rs", false),
        ] {
            assert_eq!(is_test_path(path), expected, "{path}");
        }
    }
}
