//! Golden files: a text that a test produces, kept beside the test, compared, and rewritten with `UPDATE=1`.

use std::path::Path;

use crate::difference::difference;

/// Whether `UPDATE` is set, and not to `0`: expectations are then rewritten instead of compared.
pub fn update_wanted() -> bool {
    std::env::var("UPDATE").is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}

/// Compares a text with a file, and panics with the difference. With `UPDATE=1` it writes the file instead.
#[track_caller]
pub fn expect_file(path: impl AsRef<Path>, actual: &str) {
    let path = path.as_ref();
    if let Err(message) = check_file(path, actual, update_wanted()) {
        panic!("{message}");
    }
}

/// What [`expect_file`] does, with the wish to update given and the failure returned.
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
    let lines = difference(&expected, actual);
    let what = if lines.is_empty() { "only the line ends differ".to_owned() } else { lines };
    Err(format!("{shown} is not what was produced (UPDATE=1 accepts it):\n{what}"))
}
