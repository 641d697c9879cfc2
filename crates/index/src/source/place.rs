//! The one name of a place on disk.

use std::path::{Path, PathBuf};

/// The path with every link followed, as people write it. `std`'s own on Windows begins with `\\?\`, takes no slashes, and is
/// no path to most programs that an answer is handed to; that form is left for what can not be written otherwise.
pub fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    dunce::canonicalize(path)
}
