//! Panic handling: a panic is reported like any other error, after a check whether a corrupt index caused it.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use codecompass_store::{ProjectDir, StoreError};

use crate::error::{AppError, Code};
use crate::escape::escape_control;
use crate::output::print_stderr;

/// Reports panics in one line on standard error. With `-v` or RUST_BACKTRACE, Rust's own report is printed.
pub fn install_hook(verbose: u8) {
    if verbose == 0 && std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|panic| print_stderr(&panic_line(panic))));
    }
}

fn panic_line(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let why = text.and_then(|text| text.lines().next()).unwrap_or_default();
    escape_control(&format!("internal error{place}: {why}")).to_string()
}

/// Runs an operation on a project and turns a panic into an error. `dir` is only called after a panic.
pub fn catch_panic<T>(
    what: &str,
    dir: impl FnOnce() -> Option<ProjectDir>,
    work: impl FnOnce() -> Result<T, AppError>,
) -> Result<T, AppError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(panic_error(what, dir().as_ref())))
}

/// The error for a panic. Wrong bytes can make a reader do anything, so the index is verified: if it is corrupt, that
/// is the error, and rebuilding it is the fix.
pub fn panic_error(what: &str, dir: Option<&ProjectDir>) -> AppError {
    // The verification itself may panic over corrupt data.
    let looked = dir.map(|dir| catch_unwind(AssertUnwindSafe(|| codecompass_store::find_corruption(dir))));
    match looked {
        Some(Ok(Some(damage))) => StoreError::Corrupt(damage).into(),
        Some(Err(_)) => StoreError::Corrupt("it cannot be verified".into()).into(),
        Some(Ok(None)) | None => AppError::new(Code::InternalError, format!("{what} failed unexpectedly.")).hint(
            "Please report it with the line on standard error. `codecompass doctor` finds no corruption in the index.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_is_internal_error_unless_index_is_corrupt() {
        let folder = std::env::temp_dir().join(format!("breakdown-{}", std::process::id()));
        let dir = ProjectDir::new(&folder);
        let ask = |dir: Option<ProjectDir>| catch_panic::<()>("search", || dir, || panic!("index out of bounds"));
        for dir in [None, Some(dir.clone())] {
            let error = ask(dir).expect_err("it panicked");
            assert_eq!(
                (error.code, error.exit_code(), error.message.as_str()),
                (Code::InternalError, 6, "search failed unexpectedly.")
            );
            assert!(error.details.hint.is_some_and(|hint| hint.contains("codecompass doctor")));
        }
        std::fs::create_dir_all(folder.join("epoch-1")).expect("it can be made");
        std::fs::write(folder.join("current"), "epoch-1").expect("it can be written");
        std::fs::write(folder.join("epoch-1/store.db"), "no database").expect("it can be written");
        let error = ask(Some(dir)).expect_err("it panicked");
        assert_eq!((error.code, error.exit_code()), (Code::IndexIncompatible, 3), "{error:?}");
        assert!(error.corruption().is_some_and(|what| what.starts_with("store.db: ")), "{error:?}");
        assert_eq!(catch_panic("search", || None, || Ok(7)).expect("it did not panic"), 7);
        std::fs::remove_dir_all(folder).expect("it was made");
    }
}
