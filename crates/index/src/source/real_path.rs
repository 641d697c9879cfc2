//! The canonical path of a file or folder, and the maximum length of a path.

use std::path::{Path, PathBuf};

/// The maximum length of a path in bytes: `PATH_MAX` on Linux. No file can be opened by a longer path, so arguments
/// that are longer are refused and longer paths in a git tree are skipped. It also bounds the depth of a path: 4,096
/// bytes have at most 2,048 steps.
pub const MAX_PATH_BYTES: usize = 4096;

/// Returns the path with all links resolved, in its usual form. On Windows, the result of `std` starts with `\\?\`,
/// does not allow slashes, and is not a valid path for most programs that receive our answers; that form is used only
/// for paths that have no other.
pub fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    dunce::canonicalize(path)
}
