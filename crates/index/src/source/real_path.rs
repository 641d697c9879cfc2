//! The one name of a place on disk, and how long a path may be.

use std::path::{Path, PathBuf};

/// The maximum length of a path in bytes: `PATH_MAX` on Linux. No file can be opened by a longer path, so arguments
/// that are longer are refused and longer paths in a git tree are skipped. It also bounds the depth of a path: 4,096
/// bytes have at most 2,048 steps.
pub const MAX_PATH_BYTES: usize = 4096;

/// The path with every link followed, as people write it. `std`'s own on Windows begins with `\\?\`, takes no slashes, and is
/// no path to most programs that an answer is handed to; that form is left for what can not be written otherwise.
pub fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    dunce::canonicalize(path)
}
