//! A folder that is followed when it is renamed.

use std::path::{Path, PathBuf};

/// A folder, held open so that its path is known after it was renamed, where the system tells.
#[derive(Debug)]
pub struct FolderHandle {
    path: PathBuf,
    #[cfg(unix)]
    handle: Option<std::fs::File>,
}

impl FolderHandle {
    /// Holds a folder; the path must be absolute.
    pub fn open(path: PathBuf) -> Self {
        Self {
            #[cfg(unix)]
            handle: std::fs::File::open(&path).ok(),
            path,
        }
    }

    /// The path at which it was opened.
    pub fn first_path(&self) -> &Path {
        &self.path
    }

    /// Where the folder is now; `None` if it was removed, or renamed and the system does not tell where.
    pub fn current_path(&self) -> Option<PathBuf> {
        self.path_of_handle().or_else(|| Some(self.path.clone())).filter(|path| path.is_dir())
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn path_of_handle(&self) -> Option<PathBuf> {
        use std::os::fd::AsRawFd as _;
        use std::os::unix::fs::MetadataExt as _;

        let handle = self.handle.as_ref()?;
        let path = std::fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd())).ok()?;
        // The link of a removed folder is its last path and " (deleted)", which may be the name of another folder.
        let (held, found) = (handle.metadata().ok()?, path.metadata().ok()?);
        (held.dev() == found.dev() && held.ino() == found.ino()).then_some(path)
    }

    #[cfg(target_vendor = "apple")]
    fn path_of_handle(&self) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStringExt as _;

        let path = rustix::fs::getpath(self.handle.as_ref()?).ok()?;
        Some(PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())))
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    #[expect(clippy::unused_self, reason = "other systems do not tell")]
    fn path_of_handle(&self) -> Option<PathBuf> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_folder_is_followed_and_a_removed_one_is_not() {
        let root = tempfile::tempdir().expect("a folder can be made");
        let root = root.path().canonicalize().expect("it exists");
        let [first, second] = ["first", "second"].map(|name| root.join(name));
        std::fs::create_dir(&first).expect("a folder can be made");
        let held = FolderHandle::open(first.clone());
        assert_eq!(held.current_path(), Some(first.clone()));
        std::fs::rename(&first, &second).expect("it can be renamed");
        assert_eq!(held.current_path(), Some(second.clone()));
        std::fs::remove_dir(&second).expect("it can be removed");
        assert_eq!(held.current_path(), None);
        // What the system says about a removed folder may be the path of another one.
        std::fs::create_dir(root.join("second (deleted)")).expect("a folder can be made");
        assert_eq!(held.current_path(), None);
    }
}
