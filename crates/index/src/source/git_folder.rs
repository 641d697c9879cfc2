//! The folders of a repository, and the checks that they pass before gix opens anything in them.
//!
//! Everything in a git folder may come from the author of the repository. Two attacks must fail: a named pipe or device
//! in place of a file, which blocks its reader for ever, and a path that leads elsewhere (a `.git` file, `commondir`,
//! `alternates`, a symbolic link), which exposes the objects of another repository to a client that may not read it.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{DirEntry, FileType};
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::{Access, SourceError, real_path, small_file};

/// The maximum size of `.git`, `commondir`, `gitdir` and loose references. gix refuses larger ones.
const MAX_POINTER_BYTES: u64 = 64 << 10;

/// The maximum size of `alternates` and of the configuration, where this module reads it.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// The maximum number of alternates. git follows chains of five.
const MAX_ALTERNATES: usize = 64;

/// The maximum size of git's index: about two million files.
const MAX_INDEX_BYTES: u64 = 256 << 20;

/// The maximum size of `packed-refs`: about 900,000 references.
const MAX_PACKED_REFS_BYTES: u64 = 64 << 20;

/// Returns the maximum size of a file of a git folder that is read as a whole, by its name; `None` for files that are
/// mapped or not read at all.
fn max_bytes(name: &OsStr) -> Option<u64> {
    match name.to_str()? {
        "HEAD" | "commondir" | "gitdir" => Some(MAX_POINTER_BYTES),
        "config" | "config.worktree" | "shallow" | "alternates" => Some(MAX_TEXT_BYTES),
        "packed-refs" => Some(MAX_PACKED_REFS_BYTES),
        "index" => Some(MAX_INDEX_BYTES),
        _ => None,
    }
}

/// Refuses a file that is larger than git would ever write.
fn check_size(path: &Path, size: u64, limit: u64) -> Result<(), SourceError> {
    match size > limit {
        true => Err(SourceError::repository(path, format!("larger than {limit} bytes"))),
        false => Ok(()),
    }
}

/// The folders of a repository, by their real paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GitFolder {
    /// The `.git` file or folder, or the folder of a bare repository, as it was found.
    pub(super) entry: PathBuf,
    /// The folder with `HEAD` and the index.
    pub(super) git_dir: PathBuf,
    /// The folder with objects and branches, which linked work trees share.
    pub(super) common_dir: PathBuf,
}

impl GitFolder {
    /// Follows `.git` and `commondir` to the folders they name. Opens no other files.
    pub(super) fn find(entry: &Path) -> Result<Self, SourceError> {
        let failed = |cause: std::io::Error| SourceError::repository(entry, cause);
        let real = |path: &Path| real_path(path).map_err(failed);
        let git_dir = match entry.metadata().map_err(failed)?.is_file() {
            true => real(&gitdir_of(entry)?)?,
            false => real(entry)?,
        };
        let common_dir = match pointer(&git_dir.join("commondir"), b"").map_err(failed)? {
            Some(path) => real(&git_dir.join(path))?,
            None => git_dir.clone(),
        };
        Ok(Self { entry: entry.to_owned(), git_dir, common_dir })
    }

    /// Refuses files that block their reader and, where repositories are confined, everything that leads outside.
    /// Returns the object folders of alternates, by their real paths. Loose objects are checked when they are read:
    /// there can be many of them, and listing them takes milliseconds.
    pub(super) fn check(&self, root: &Path, access: &Access) -> Result<Vec<PathBuf>, SourceError> {
        let mut check = Check { allowed: None, seen: HashSet::new() };
        if let Some(roots) = access.roots() {
            check.allowed = Some(self.allowed(root, roots)?);
        }
        for folder in [&self.git_dir, &self.common_dir] {
            check.folder(folder, Scan::Flat)?;
            check.folder(&folder.join("refs"), Scan::Refs)?;
        }
        check.folder(&self.common_dir.join("info"), Scan::Flat)?;
        check.each_folder_in(&self.common_dir.join("worktrees"))?;
        let objects = self.common_dir.join("objects");
        let mut alternates: Vec<PathBuf> = Vec::new();
        let mut open = vec![objects.clone()];
        while let Some(folder) = open.pop() {
            check.objects(&folder)?;
            for alternate in alternates_of(&folder).map_err(|error| SourceError::repository(&self.entry, error))? {
                // gix also resolves every alternate against the first object folder.
                let Ok(real) = real_path(&objects.join(alternate)) else { continue };
                check.is_allowed(&real)?;
                if alternates.contains(&real) {
                    continue;
                }
                if alternates.len() == MAX_ALTERNATES {
                    return Err(SourceError::repository(&self.entry, "it has too many alternates"));
                }
                alternates.push(real.clone());
                open.push(real);
            }
        }
        Ok(alternates)
    }

    /// Returns the folders that this repository may use: the given ones, its own work tree and, if it is not in them, a
    /// git folder that names this work tree as its own.
    fn allowed(&self, root: &Path, roots: &[PathBuf]) -> Result<Vec<PathBuf>, SourceError> {
        let mut allowed = roots.to_vec();
        allowed.push(root.to_owned());
        let is_inside = |path: &Path| allowed.iter().any(|root| path.starts_with(root));
        if is_inside(&self.git_dir) && is_inside(&self.common_dir) {
            return Ok(allowed);
        }
        if !self.is_linked_worktree(root) && !self.is_submodule(root) {
            let outside = if is_inside(&self.git_dir) { &self.common_dir } else { &self.git_dir };
            return Err(SourceError::OutsideRoot { path: outside.clone() });
        }
        allowed.push(self.common_dir.clone());
        Ok(allowed)
    }

    /// Whether the common folder has a record of this work tree. A client that can write only to its work tree cannot
    /// forge it.
    fn is_linked_worktree(&self, root: &Path) -> bool {
        let own = self.git_dir.parent() == Some(&self.common_dir.join("worktrees"));
        let Ok(Some(path)) = pointer(&self.git_dir.join("gitdir"), b"") else { return false };
        own && is_same(&self.git_dir.join(path), &root.join(".git"))
    }

    /// Whether the git folder belongs to a submodule, with a configuration that names this work tree.
    fn is_submodule(&self, root: &Path) -> bool {
        if self.git_dir != self.common_dir {
            return false;
        }
        let Ok(Some(text)) = small_file::read(&self.git_dir.join("config"), MAX_TEXT_BYTES) else { return false };
        let Some(config) = text.to_str().ok().and_then(|text| gix::config::File::try_from(text).ok()) else {
            return false;
        };
        let path = config.string("core.worktree").and_then(|path| path.to_str().ok().map(PathBuf::from));
        path.is_some_and(|path| real_path(&self.git_dir.join(path)).is_ok_and(|path| path == root))
    }

    /// Checks the files that a reference is read from, following symbolic references, and the loose object at its end.
    /// References of open repositories are read by name long after the repository was checked.
    pub(super) fn check_ref(&self, name: &str) -> Result<(), SourceError> {
        const MAX_STEPS: usize = 8;
        // gix opens this file for every reference if it has changed.
        let packed = self.common_dir.join("packed-refs");
        if let Ok(found) = packed.metadata() {
            if !found.is_file() {
                return Err(SourceError::SpecialFile { path: packed });
            }
            check_size(&packed, found.len(), MAX_PACKED_REFS_BYTES)?;
        }
        let mut name = name.to_owned();
        for _ in 0..MAX_STEPS {
            let mut next = None;
            for folder in [&self.git_dir, &self.common_dir] {
                let path = folder.join(&name);
                if path.is_dir() {
                    continue;
                }
                let read = small_file::read(&path, MAX_POINTER_BYTES);
                next = next.or(read.map_err(|error| SourceError::repository(&path, error))?);
            }
            let Some(text) = next else { return Ok(()) };
            let Some(target) = text.trim().strip_prefix(b"ref:") else {
                let id = text.trim().to_str().unwrap_or_default();
                return self.check_object(id);
            };
            let target = target.trim().to_str().unwrap_or_default();
            if target.is_empty() || target.split('/').any(|step| step == "..") {
                return Ok(());
            }
            name = target.to_owned();
        }
        Ok(())
    }

    /// Checks that a loose object is a regular file, if it exists.
    pub(super) fn check_object(&self, id: &str) -> Result<(), SourceError> {
        check_object_in(&self.common_dir.join("objects"), id, false)
    }
}

/// Refuses a loose object that is not a regular file; with `no_links`, also one reached through a link.
pub(super) fn check_object_in(objects: &Path, id: &str, no_links: bool) -> Result<(), SourceError> {
    let Some((folder, file)) = id.split_at_checked(2) else { return Ok(()) };
    let folder = objects.join(folder);
    let path = folder.join(file);
    let found = if no_links { path.symlink_metadata() } else { path.metadata() };
    let Ok(found) = found else { return Ok(()) };
    if found.is_symlink() || (no_links && folder.is_symlink()) {
        return Err(SourceError::OutsideRoot { path });
    }
    if !found.is_file() {
        return Err(SourceError::SpecialFile { path });
    }
    Ok(())
}

/// The extent of a folder check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scan {
    /// Its own entries.
    Flat,
    /// Everything below it.
    Deep,
    /// Everything below it, with all files being loose references.
    Refs,
}

/// A walk over a git folder.
struct Check {
    /// The folders that links may lead to; `None` if they may lead anywhere.
    allowed: Option<Vec<PathBuf>>,
    /// Folders reached through links.
    seen: HashSet<PathBuf>,
}

impl Check {
    fn objects(&mut self, objects: &Path) -> Result<(), SourceError> {
        self.folder(objects, Scan::Flat)?;
        self.folder(&objects.join("info"), Scan::Deep)?;
        self.folder(&objects.join("pack"), Scan::Flat)
    }

    fn each_folder_in(&mut self, folder: &Path) -> Result<(), SourceError> {
        for entry in entries(folder) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.folder(&entry.path(), Scan::Flat)?;
            }
        }
        Ok(())
    }

    /// Checks the entries of a folder, and everything below it unless `scan` is flat. Folders that links lead to are
    /// checked as well.
    fn folder(&mut self, folder: &Path, scan: Scan) -> Result<(), SourceError> {
        let deep = scan != Scan::Flat;
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in entries(&folder) {
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_symlink() {
                    let linked = self.link(&entry.path(), scan)?;
                    open.extend(linked.filter(|_| deep));
                } else if blocks(kind) {
                    return Err(SourceError::SpecialFile { path: entry.path() });
                } else if deep && kind.is_dir() {
                    open.push(entry.path());
                } else if let Some(limit) = file_limit(&entry.file_name(), scan) {
                    check_size(&entry.path(), entry.metadata().map_or(0, |found| found.len()), limit)?;
                }
            }
        }
        Ok(())
    }

    /// Checks the target of a link. Returns it if it is a folder that was not checked yet.
    fn link(&mut self, link: &Path, scan: Scan) -> Result<Option<PathBuf>, SourceError> {
        let Ok(real) = real_path(link) else { return Ok(None) };
        self.is_allowed(&real)?;
        match real.metadata() {
            Ok(found) if blocks(found.file_type()) => Err(SourceError::SpecialFile { path: link.to_owned() }),
            Ok(found) if found.is_dir() => Ok(self.seen.insert(real.clone()).then_some(real)),
            Ok(found) => {
                let limit = link.file_name().and_then(|name| file_limit(name, scan));
                limit.map_or(Ok(()), |limit| check_size(link, found.len(), limit)).map(|()| None)
            }
            Err(_) => Ok(None),
        }
    }

    fn is_allowed(&self, real: &Path) -> Result<(), SourceError> {
        match &self.allowed {
            Some(allowed) if !allowed.iter().any(|root| real.starts_with(root)) => {
                Err(SourceError::OutsideRoot { path: real.to_owned() })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the size limit of a file, if it is read as a whole.
fn file_limit(name: &OsStr, scan: Scan) -> Option<u64> {
    match scan {
        Scan::Refs => Some(MAX_POINTER_BYTES),
        Scan::Flat | Scan::Deep => max_bytes(name),
    }
}

/// Whether opening a file of this type can block or have side effects. A socket cannot be opened at all; git keeps one
/// for its file system monitor.
fn blocks(kind: FileType) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
    }
    #[cfg(not(unix))]
    {
        let _ = kind;
        false
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    folder.read_dir().into_iter().flatten().flatten()
}

/// Returns the folder that a `.git` file names.
fn gitdir_of(file: &Path) -> Result<PathBuf, SourceError> {
    let found = pointer(file, b"gitdir:").map_err(|error| SourceError::repository(file, error))?;
    let path = found.ok_or_else(|| SourceError::repository(file, "the file does not name a git folder"))?;
    Ok(file.parent().unwrap_or(Path::new("")).join(path))
}

/// Reads the path from a file that contains only this word and a path; `None` if the file does not exist.
fn pointer(file: &Path, word: &[u8]) -> std::io::Result<Option<PathBuf>> {
    let Some(text) = small_file::read(file, MAX_POINTER_BYTES)? else { return Ok(None) };
    let path = text.strip_prefix(word).map(ByteSlice::trim).filter(|path| !path.is_empty());
    let malformed = || std::io::Error::new(std::io::ErrorKind::InvalidData, "the file does not name a folder");
    let path = path.ok_or_else(malformed)?.to_path().map_err(|_| malformed())?;
    Ok(Some(path.to_owned()))
}

/// Whether two paths name the same file: literally, or after resolving the links of their folders.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| Some(real_path(path.parent()?).ok()?.join(path.file_name()?));
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}

/// Returns the object folders that the `alternates` file of an object folder names, unresolved.
fn alternates_of(objects: &Path) -> std::io::Result<Vec<PathBuf>> {
    let Some(text) = small_file::read(&objects.join("info/alternates"), MAX_TEXT_BYTES)? else { return Ok(Vec::new()) };
    gix::odb::alternate::parse(&text).map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
}
