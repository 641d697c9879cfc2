//! Golden files: the output of a test, stored next to the test, compared, and rewritten with `UPDATE=1`.

use std::path::Path;

use crate::diff::diff;

/// Whether `UPDATE` is set to anything but `0`: expectations are then rewritten instead of compared.
pub fn update_requested() -> bool {
    std::env::var("UPDATE").is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}

/// Compares a text with a file and panics with the diff. With `UPDATE=1` it writes the file instead.
#[track_caller]
pub fn expect_file(path: impl AsRef<Path>, actual: &str) {
    let path = path.as_ref();
    if let Err(message) = check_file(path, actual, update_requested()) {
        panic!("{message}");
    }
}

/// Like [`expect_file`], but takes the update flag as an argument and returns the failure.
pub fn check_file(path: &Path, actual: &str, update: bool) -> Result<(), String> {
    let expected = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    if expected == actual && path.is_file() {
        return Ok(());
    }
    let shown = path.display();
    if update {
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        return folder.and_then(|()| std::fs::write(path, actual)).map_err(|error| format!("{shown}: {error}"));
    }
    let lines = diff(&expected, actual);
    let what = if lines.is_empty() { "only the line endings differ".to_owned() } else { lines };
    Err(format!("{shown} differs from the actual text (UPDATE=1 accepts it):\n{what}"))
}
