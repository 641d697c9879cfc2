//! Opens files and folders below a root without following links.
//!
//! A work tree can change while it is listed and read: a file, or a folder above it, can be replaced by a link to
//! something outside. A path that was checked before therefore proves nothing when it is opened later. Here every path
//! is resolved from a descriptor of the root, and no step of it may be a link. The opened file is checked, not its
//! name: only a regular file is read, and only up to a limit. Opening never blocks, so a named pipe in place of a file
//! does no harm.
//!
//! On Linux one `openat2` call does this. Where the kernel or a sandbox refuses that call, and on other Unix systems,
//! each step is opened from the previous one with `O_NOFOLLOW`. Windows has no such call: there the folders on the path
//! are checked before and after.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::FileStat;

#[cfg(unix)]
pub(crate) use unix::{Folder, Root};
#[cfg(windows)]
pub(crate) use windows::{Folder, Root};

/// The type of a folder entry. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A named pipe, socket or device.
    Other,
}

/// An entry of a folder.
pub(crate) struct Child {
    /// The name.
    pub(crate) name: OsString,
    /// The type; `None` if only a stat can determine it.
    pub(crate) kind: Option<Kind>,
}

/// The reason why a file could not be read.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It does not exist.
    Missing,
    /// It, or a folder above it, is a link.
    Link,
    /// It is not a regular file.
    NotAFile,
    /// It has more bytes than the limit.
    TooLarge,
    /// The system returned another error.
    Unreadable,
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Refused::Missing,
            _ if is_link_error(&error) => Refused::Link,
            _ => Refused::Unreadable,
        }
    }
}

/// The bytes of a file, and its stat when it was opened.
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stat: FileStat,
}

/// Reads an open file if it is a regular one, up to a limit that holds even if the file grows meanwhile.
fn read_open(mut file: File, max_bytes: u64) -> Result<Content, Refused> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(Refused::NotAFile);
    }
    let stat = FileStat::from_metadata(&metadata);
    if stat.size > max_bytes {
        return Err(Refused::TooLarge);
    }
    // With space for one byte more than the file has, one call reads it all and a second one finds its end.
    let mut bytes = vec![0; stat.size as usize + 1];
    let mut filled = 0;
    loop {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
        if filled as u64 > max_bytes {
            return Err(Refused::TooLarge);
        }
        if filled == bytes.len() {
            let room = (2 * filled as u64).max(4096).min(max_bytes.saturating_add(1));
            bytes.resize(room as usize, 0);
        }
    }
    bytes.truncate(filled);
    Ok(Content { bytes, stat })
}

/// Reads a file outside any work tree, such as git's `info/exclude`: a regular file, no link, up to a limit.
pub(crate) fn read_file(path: &Path, max_bytes: u64) -> Result<Content, Refused> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Err(Refused::Missing) };
    Root::open(folder)?.folder("")?.read(name, max_bytes)
}

#[cfg(unix)]
fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(windows)]
fn is_link_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

#[cfg(unix)]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::Path;

    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
    use rustix::io::Errno;

    use super::{Child, Content, Kind, Refused, read_open};
    use crate::source::FileStat;

    /// Opening never waits for the other end of a pipe, and never acquires a controlling terminal.
    const READ: OFlags =
        OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
    const LIST: OFlags = READ.union(OFlags::DIRECTORY);

    /// The descriptor of a folder. Nothing opened through it lies outside the folder.
    #[derive(Debug)]
    pub(crate) struct Root {
        fd: OwnedFd,
    }

    impl Root {
        /// Opens the root itself. Links in its path are followed: the caller that names the root is trusted.
        pub(crate) fn open(path: &Path) -> io::Result<Self> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(Self { fd: rustix::fs::open(path, flags, Mode::empty())? })
        }

        /// Opens a folder by its path from the root, with or without a closing slash; the empty path is the root.
        pub(crate) fn folder(&self, path: &str) -> io::Result<Folder> {
            let path = path.trim_end_matches('/');
            let path = if path.is_empty() { "." } else { path };
            Ok(Folder { fd: self.resolve(path, LIST)? })
        }

        /// Reads a regular file by its path from the root.
        pub(crate) fn read(&self, path: &str, max_bytes: u64) -> Result<Content, Refused> {
            let fd = self.resolve(path, READ).map_err(io::Error::from)?;
            read_open(File::from(fd), max_bytes)
        }

        #[cfg(target_os = "linux")]
        fn resolve(&self, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
            use std::sync::atomic::{AtomicBool, Ordering};

            use rustix::fs::{ResolveFlags, openat2};

            /// The kernel is older than 5.6, or a sandbox refuses the call.
            static IS_REFUSED: AtomicBool = AtomicBool::new(false);
            if !IS_REFUSED.load(Ordering::Relaxed) {
                let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
                match openat2(&self.fd, path, flags, Mode::empty(), how) {
                    Err(Errno::NOSYS | Errno::PERM) => IS_REFUSED.store(true, Ordering::Relaxed),
                    // A folder was moved meanwhile, and the kernel cannot decide. Opening step by step is unambiguous.
                    Err(Errno::AGAIN) => {}
                    result => return result,
                }
            }
            self.resolve_by_steps(path, flags)
        }

        #[cfg(not(target_os = "linux"))]
        fn resolve(&self, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
            self.resolve_by_steps(path, flags)
        }

        /// Opens each step from the previous one. Valid paths contain no `..`; a path that does is refused.
        pub(super) fn resolve_by_steps(&self, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
            if path.starts_with('/') || path.split('/').any(|step| step == "..") {
                return Err(Errno::XDEV);
            }
            let Some((parents, name)) = path.rsplit_once('/') else {
                return link_or(openat(&self.fd, path, flags, Mode::empty()), flags, &self.fd, path);
            };
            let mut steps = parents.split('/');
            let first = steps.next().unwrap_or(".");
            let mut folder = link_or(openat(&self.fd, first, LIST, Mode::empty()), LIST, &self.fd, first)?;
            for step in steps {
                folder = link_or(openat(&folder, step, LIST, Mode::empty()), LIST, &folder, step)?;
            }
            link_or(openat(&folder, name, flags, Mode::empty()), flags, &folder, name)
        }
    }

    /// `O_DIRECTORY | O_NOFOLLOW` on a link returns `ENOTDIR`, as on a file; this reports it as a link.
    fn link_or(
        opened: rustix::io::Result<OwnedFd>,
        flags: OFlags,
        parent: &OwnedFd,
        name: &str,
    ) -> rustix::io::Result<OwnedFd> {
        match opened {
            Err(Errno::NOTDIR) if flags.contains(OFlags::DIRECTORY) => {
                let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let is_link = FileType::from_raw_mode(stat.st_mode).is_symlink();
                Err(if is_link { Errno::LOOP } else { Errno::NOTDIR })
            }
            opened => opened,
        }
    }

    /// An open folder below a root.
    pub(crate) struct Folder {
        fd: OwnedFd,
    }

    impl Folder {
        /// Returns the entries, in no order, until `take` refuses one.
        pub(crate) fn children<E: From<io::Error>>(
            &self,
            mut take: impl FnMut(&Child) -> Result<(), E>,
        ) -> Result<Vec<Child>, E> {
            let mut children = Vec::new();
            // The descriptor is not shared and is read once, so it needs no second one with its own position.
            let fd = self.fd.try_clone()?;
            for entry in Dir::new(fd).map_err(io::Error::from)? {
                // On a read error the remaining entries are left to the next walk, like names that vanished.
                let Ok(entry) = entry else { break };
                let name = entry.file_name().to_bytes();
                if matches!(name, b"." | b"..") {
                    continue;
                }
                let kind = match entry.file_type() {
                    FileType::Unknown => None,
                    known => Some(kind_of(known)),
                };
                let child = Child { name: OsString::from_vec(name.to_vec()), kind };
                take(&child)?;
                children.push(child);
            }
            Ok(children)
        }

        /// Returns the stat of an entry, which may be a link.
        pub(crate) fn stat(&self, name: &OsStr) -> io::Result<(Kind, FileStat)> {
            let stat = statat(&self.fd, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW)?;
            Ok((kind_of(FileType::from_raw_mode(stat.st_mode)), FileStat::of_stat(&stat)))
        }

        /// Reads a regular file in this folder.
        pub(crate) fn read(&self, name: &OsStr, max_bytes: u64) -> Result<Content, Refused> {
            let fd = openat(self.fd.as_fd(), name.as_bytes(), READ, Mode::empty()).map_err(io::Error::from)?;
            read_open(File::from(fd), max_bytes)
        }
    }

    fn kind_of(kind: FileType) -> Kind {
        match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        }
    }
}

#[cfg(windows)]
mod windows {
    //! Windows: no call opens a path relative to a folder without following links. Each folder on the path is checked
    //! before a file is opened and again afterwards, and the last step is opened as itself (`OPEN_REPARSE_POINT`), so a
    //! link in its place is detected. The remaining race has to be won twice in one read.

    use std::ffi::OsStr;
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::windows::fs::OpenOptionsExt as _;
    use std::path::{Path, PathBuf};

    use super::{Child, Content, Kind, Refused, read_open};
    use crate::source::FileStat;

    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

    /// A folder. Nothing opened through it lies outside the folder.
    #[derive(Debug)]
    pub(crate) struct Root {
        path: PathBuf,
    }

    impl Root {
        /// Opens the root itself. Links in its path are followed: the caller that names the root is trusted.
        pub(crate) fn open(path: &Path) -> io::Result<Self> {
            path.read_dir()?;
            Ok(Self { path: path.to_owned() })
        }

        /// Opens a folder by its path from the root, with or without a closing slash; the empty path is the root.
        pub(crate) fn folder(&self, path: &str) -> io::Result<Folder> {
            let steps: Vec<String> = path.split('/').filter(|step| !step.is_empty()).map(str::to_owned).collect();
            let folder = Folder { root: self.path.clone(), steps };
            folder.check()?;
            Ok(folder)
        }

        /// Reads a regular file by its path from the root.
        pub(crate) fn read(&self, path: &str, max_bytes: u64) -> Result<Content, Refused> {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            self.folder(parent)?.read(OsStr::new(name), max_bytes)
        }
    }

    /// A folder below a root.
    pub(crate) struct Folder {
        root: PathBuf,
        steps: Vec<String>,
    }

    impl Folder {
        fn path(&self) -> PathBuf {
            self.steps.iter().fold(self.root.clone(), |path, step| path.join(step))
        }

        /// Checks that each step below the root is a folder and not a link.
        fn check(&self) -> io::Result<()> {
            let mut path = self.root.clone();
            for step in &self.steps {
                path.push(step);
                match kind_of(&path.symlink_metadata()?) {
                    Kind::Folder if step != ".." => {}
                    Kind::Link => return Err(io::ErrorKind::InvalidData.into()),
                    _ => return Err(io::ErrorKind::NotADirectory.into()),
                }
            }
            Ok(())
        }

        /// Returns the entries, in no order, until `take` refuses one.
        pub(crate) fn children<E: From<io::Error>>(
            &self,
            mut take: impl FnMut(&Child) -> Result<(), E>,
        ) -> Result<Vec<Child>, E> {
            let mut children = Vec::new();
            for entry in self.path().read_dir()?.filter_map(Result::ok) {
                let kind = entry.metadata().ok().map(|metadata| kind_of(&metadata));
                let child = Child { name: entry.file_name(), kind };
                take(&child)?;
                children.push(child);
            }
            self.check()?;
            Ok(children)
        }

        /// Returns the stat of an entry, which may be a link.
        pub(crate) fn stat(&self, name: &OsStr) -> io::Result<(Kind, FileStat)> {
            let metadata = self.path().join(name).symlink_metadata()?;
            Ok((kind_of(&metadata), FileStat::from_metadata(&metadata)))
        }

        /// Reads a regular file in this folder.
        pub(crate) fn read(&self, name: &OsStr, max_bytes: u64) -> Result<Content, Refused> {
            let mut options = File::options();
            let file = options.read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(self.path().join(name))?;
            if kind_of(&file.metadata()?) == Kind::Link {
                return Err(Refused::Link);
            }
            self.check()?;
            read_open(file, max_bytes)
        }
    }

    fn kind_of(metadata: &Metadata) -> Kind {
        let kind = metadata.file_type();
        if kind.is_symlink() {
            Kind::Link
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() {
            Kind::File
        } else {
            Kind::Other
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::OFlags;

    use super::*;

    /// A root with a file, a folder, and links to targets outside and inside.
    fn sandbox() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir_all(at("root/in")).expect("it can be created");
        std::fs::write(at("secret"), "secret").expect("it can be written");
        std::fs::write(at("root/in/file"), "0123456789").expect("it can be written");
        symlink(at("secret"), at("root/link")).expect("it can be linked");
        symlink(folder.path(), at("root/out")).expect("it can be linked");
        symlink("in", at("root/inner")).expect("it can be linked");
        let root = Root::open(&at("root")).expect("it can be opened");
        (folder, root)
    }

    #[test]
    fn no_step_of_a_path_may_be_a_link_or_lead_out() {
        let (_folder, root) = sandbox();
        assert_eq!(root.read("in/file", 10).expect("it is a file").bytes, b"0123456789");
        for path in ["link", "out/secret", "inner/file"] {
            assert!(matches!(root.read(path, 10), Err(Refused::Link)), "{path}");
        }
        for path in ["../secret", "in/../../secret", "/etc/hostname"] {
            assert!(root.read(path, 10).is_err(), "{path}");
        }
        assert!(matches!(root.read("gone", 10), Err(Refused::Missing)));
        assert!(root.folder("out").is_err() && root.folder("inner/").is_err() && root.folder("in/file").is_err());
        assert!(root.folder("").is_ok() && root.folder("in/").is_ok());
    }

    #[test]
    fn resolving_step_by_step_answers_as_the_kernel_does() {
        let (_folder, root) = sandbox();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        for path in ["link", "out/secret", "inner/file", "out", "../secret", "gone", "gone/file", "in/file/x"] {
            assert!(root.resolve_by_steps(path, flags).is_err(), "{path}");
        }
        for (path, is_link) in [("out/secret", true), ("inner/file", true), ("link", true), ("in/gone", false)] {
            let error = root.resolve_by_steps(path, flags).map(drop).expect_err("it is refused");
            assert_eq!(is_link_error(&error.into()), is_link, "{path}");
        }
        assert!(root.resolve_by_steps("in/file", flags).is_ok() && root.resolve_by_steps(".", flags).is_ok());
    }

    #[test]
    fn only_regular_files_are_read_and_only_up_to_the_limit() {
        let (folder, root) = sandbox();
        assert!(matches!(root.read("in/file", 9), Err(Refused::TooLarge)));
        assert!(matches!(root.read("in", 10), Err(Refused::NotAFile)));
        #[cfg(target_os = "linux")]
        {
            let (pipe, mode) = (folder.path().join("root/pipe"), rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
            rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0)
                .expect("a pipe can be created");
            assert!(matches!(root.read("pipe", 10), Err(Refused::NotAFile)));
            // A file that reports size 0 and is not empty.
            let process = Root::open(Path::new("/proc/self")).expect("it is a folder");
            assert!(matches!(process.read("maps", 100), Err(Refused::TooLarge)));
        }
        std::fs::File::create(folder.path().join("root/huge"))
            .and_then(|file| file.set_len(1 << 40))
            .expect("a sparse file can be created");
        assert!(matches!(root.read("huge", 1 << 20), Err(Refused::TooLarge)));
        let place = root.folder("").expect("it is a folder");
        let kinds = |name: &str| place.stat(name.as_ref()).expect("it is there").0;
        assert_eq!([kinds("in"), kinds("link"), kinds("huge")], [Kind::Folder, Kind::Link, Kind::File]);
    }
}
