//! Forgetting a project: all of its folder goes.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::{ProjectDir, Result, StoreError};

/// Removes a project's folder and all that is in it, and says how many bytes that were. [`StoreError::Locked`] while
/// somebody writes. Who reads right now finds no project with the next question.
pub fn forget(dir: &ProjectDir) -> Result<u64> {
    let root = dir.root();
    if !root.is_dir() {
        return Err(StoreError::NotRegistered(root.to_owned()));
    }
    let lock = dir.lock_for_writing(false)?;
    let bytes = dir.all_bytes();
    // First the name of the store in use: whatever cuts this off, nobody opens half a store.
    remove(&root.join("current"))?;
    let own = root.join("write.lock");
    for entry in fs::read_dir(root).map_err(StoreError::io(root))? {
        let path = entry.map_err(StoreError::io(root))?.path();
        if path != own {
            remove(&path)?;
        }
    }
    remove(&own)?;
    drop(lock);
    match fs::remove_dir(root) {
        // Somebody registers the project anew in this very moment: the folder is theirs.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(bytes),
        removed => removed.map(|()| bytes).map_err(StoreError::io(root)),
    }
}

/// Removes a file, or a folder with all that is in it; links are not followed. What is gone already is as good.
fn remove(path: &Path) -> Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io(path)(error)),
        _ => Ok(()),
    }
}
