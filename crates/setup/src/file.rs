//! Files of other programs: links are followed, writes go beside the file and are renamed, permissions are kept.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};

use codecompass_index::source::real_path;

/// The maximum size of a client's file.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The maximum number of consecutive links.
const MAX_LINKS: usize = 16;

/// Called at each durable step, so that a test can end the process there.
pub(super) type KillPoint<'a> = &'a dyn Fn();

/// The file that a path leads to, whether or not it exists.
pub(super) fn resolve_links(path: &Path) -> Result<PathBuf> {
    let mut path = std::path::absolute(path)?;
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => {
                let folder = path.parent().and_then(|folder| real_path(folder).ok());
                return Ok(match (folder, path.file_name()) {
                    (Some(folder), Some(name)) => folder.join(name),
                    _ => path,
                });
            }
        }
    }
    Err(Error::other("its links form a cycle"))
}

/// The text of a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<String>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Err(Error::other("it is not a file"));
    }
    let mut text = String::new();
    if file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)? as u64 > MAX_FILE_BYTES {
        return Err(Error::other("it is too long"));
    }
    Ok(Some(text))
}

/// Whether a file is read-only; a rename would bypass that.
pub(super) fn is_read_only(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.permissions().readonly())
}

/// Replaces the text of a file atomically. An existing file keeps its permissions.
pub(super) fn write(path: &Path, text: &str, mode: Option<u32>, point: KillPoint<'_>) -> Result<()> {
    let folder = path.parent().ok_or_else(|| Error::other("it has no parent folder"))?;
    let beside = temp_path(path);
    // Left by a run that was killed here; never followed, in case it is a link.
    let _ = fs::remove_file(&beside);
    let original = fs::metadata(path).ok();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Other users must not read the text before the new file has its owner and permissions.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(
        &mut options,
        if original.is_some() { 0o600 } else { mode.unwrap_or(0o644) },
    );
    #[cfg(not(unix))]
    let _ = mode;
    let outcome = options.open(&beside).and_then(|mut file| {
        if let Some(original) = &original {
            keep_owner(&file, original)?;
            file.set_permissions(original.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        point();
        fs::rename(&beside, path)
    });
    if outcome.is_err() {
        let _ = fs::remove_file(&beside);
    }
    outcome?;
    #[cfg(unix)]
    File::open(folder).and_then(|folder| folder.sync_all())?;
    #[cfg(not(unix))]
    let _ = folder;
    point();
    Ok(())
}

/// Gives a file the owner and group of another, as far as this user may.
fn keep_owner(file: &File, original: &fs::Metadata) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let made = file.metadata()?;
        let owner = (made.uid() != original.uid()).then_some(original.uid());
        let group = (made.gid() != original.gid()).then_some(original.gid());
        if owner.is_some() || group.is_some() {
            // Only root may change the owner; otherwise the file has the owner that any editor would leave.
            let _ = std::os::unix::fs::fchown(file, owner, group);
        }
    }
    #[cfg(not(unix))]
    let _ = (file, original);
    Ok(())
}

/// Removes the temporary file of a killed run.
pub(super) fn remove_temp_file(path: &Path) {
    let _ = fs::remove_file(temp_path(path));
}

fn temp_path(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.codecompass-new"))
}

/// The folders that have to be created.
pub(super) fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut missing: Vec<PathBuf> =
        folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Removes a file, and those of these folders that are empty.
pub(super) fn remove(path: &Path, folders: &[PathBuf], point: KillPoint<'_>) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => point(),
    }
    for folder in folders.iter().rev() {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}
