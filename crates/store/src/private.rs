//! Files and folders of the data folder: they hold the text of the user's files, and only the owner may read them.
//!
//! Everything in the data folder is created here. On Windows the folder's own access list holds.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Result, Write as _};
use std::path::Path;

/// Creates a folder, and those above it that are missing, with mode 700.
pub fn create_folder(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Options that create a file with mode 600; the caller adds the others.
pub fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a file that must not exist.
pub fn create_new(path: &Path) -> Result<File> {
    options().write(true).create_new(true).open(path)
}

/// Creates an empty file where there is none, for libraries that would create it with another mode.
pub fn ensure_file(path: &Path) -> Result<()> {
    options().write(true).create(true).truncate(false).open(path).map(drop)
}

/// Writes a file, in place of what it held.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    options().write(true).create(true).truncate(true).open(path)?.write_all(bytes)
}

/// Takes all rights to a file or folder from others than its owner. Links are left alone.
pub fn restrict(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let found = path.symlink_metadata()?;
        let mode = found.permissions().mode() & 0o7777;
        if !found.is_symlink() && mode & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700))?;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Restricts a data folder that an earlier version, or its user, left open to others, with what `is_ours` says of its
/// entries. What cannot be changed stays as it is. A folder that holds other things, too, keeps its mode: it may be
/// a user's home.
pub fn tighten(data: &Path, is_ours: impl Fn(&str) -> bool) {
    if !is_open(data) {
        return;
    }
    let mut is_only_ours = true;
    for entry in fs::read_dir(data).into_iter().flatten().flatten() {
        match entry.file_name().to_str().is_some_and(&is_ours) {
            true => drop(restrict(&entry.path())),
            false => is_only_ours = false,
        }
    }
    if is_only_ours {
        let _ = restrict(data);
    }
}

/// Whether others have rights to a folder.
fn is_open(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        folder.symlink_metadata().is_ok_and(|found| found.is_dir() && found.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        false
    }
}
