//! Removing a project: deletes its whole folder.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::{ProjectDir, Result, StoreError};

/// Removes a project's folder with everything in it and returns its size in bytes. [`StoreError::Locked`] during a
/// write. Current readers find no project with their next request.
pub fn remove_project(dir: &ProjectDir) -> Result<u64> {
    let root = dir.root();
    if !root.is_dir() {
        return Err(StoreError::NotRegistered(root.to_owned()));
    }
    let lock = dir.lock_for_writing(false)?;
    let bytes = dir.total_disk_bytes();
    // `current` goes first: if the removal is interrupted, no process opens half a store.
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
        // Another process is registering the project again at this moment: the folder belongs to it.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(bytes),
        removed => removed.map(|()| bytes).map_err(StoreError::io(root)),
    }
}

/// Removes a file, or a folder with its content, without following links. A missing path is not an error.
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
