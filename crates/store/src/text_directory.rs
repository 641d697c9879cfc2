//! The directory of the text index as Tantivy sees it: it returns no corrupt bytes, and may be read-only.
//!
//! Tantivy ends every segment file in a checksum but never verifies it when reading. On wrong bytes it panics, loops
//! forever or returns wrong results. A file is therefore verified here before its first byte is returned, once per
//! process ([`VerifiedFiles`]). The lists of segments and of files have no checksum from Tantivy. They get one here, in
//! a last line, in the same atomic write, so that no order of crashes can separate them. The list of segments also has
//! the checksum of each file that it lists, so that an intact file of another segment is not accepted in its place.
//!
//! Tantivy takes a lock before it opens segments, so that a writer does not remove them meanwhile. Where not even a
//! lock file can be created there is no writer on this side either, and the index is read without the lock. An index of
//! another user, or on a read-only file system, can therefore still be searched.
//!
//! Its lock against a second writer is not taken at all, because the store's own write lock is already held. A process
//! that another thread is starting briefly holds copies of all open files, so a lock that was just released may still
//! be busy.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memmem;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::footer::Footer;
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, INDEX_WRITER_LOCK, Lock, META_LOCK, ManagedDirectory,
    MmapDirectory, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use crate::checksum::Checksum;
use crate::disk_full::is_disk_full;
use crate::private;
use crate::verified::{META, VerifiedFiles};

/// A Tantivy directory that verifies its files.
#[derive(Clone, Debug)]
pub(crate) struct TextDirectory {
    mapped: MmapDirectory,
    path: PathBuf,
    /// The checksums of files, from the list of segments.
    listed: Arc<Mutex<Checksums>>,
    /// How files are verified; `None` if they are not.
    check: Option<Check>,
    /// Set when a write failed because the disk was full. Tantivy's threads do not report why they ended.
    lacked_room: Arc<AtomicBool>,
}

type Checksums = BTreeMap<String, u32>;

#[derive(Clone, Debug)]
struct Check {
    /// Tantivy's own view of the unverified directory, which can compute checksums.
    raw: Arc<ManagedDirectory>,
    examined: Arc<VerifiedFiles>,
}

impl TextDirectory {
    /// Opens a directory that verifies its files when they are opened, unless they are known to be intact.
    pub(crate) fn open(path: &Path, examined: &Arc<VerifiedFiles>) -> tantivy::Result<Self> {
        let raw = Self::unchecked(path)?;
        let check =
            Check { raw: Arc::new(ManagedDirectory::wrap(Box::new(raw.clone()))?), examined: Arc::clone(examined) };
        Ok(Self { check: Some(check), ..raw })
    }

    /// Whether the disk was full during a write.
    pub(crate) fn disk_was_full(&self) -> &Arc<AtomicBool> {
        &self.lacked_room
    }

    fn unchecked(path: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self {
            mapped: MmapDirectory::open(path)?,
            path: path.to_owned(),
            listed: Arc::default(),
            check: None,
            lacked_room: Arc::default(),
        })
    }

    /// Whether a file has the checksum from the list of segments. Files that were written since are not in the list.
    fn has_listed_checksum(&self, path: &Path) -> Result<bool, OpenReadError> {
        let listed = path.to_str().and_then(|name| lock(&self.listed).get(name).copied());
        Ok(match listed {
            Some(listed) => listed == self.footer(path)?,
            None => true,
        })
    }

    /// Returns the checksum at the end of a file.
    fn footer(&self, path: &Path) -> Result<u32, OpenReadError> {
        let footer = Footer::extract_footer(self.mapped.open_read(path)?);
        Ok(footer.map_err(|error| OpenReadError::wrap_io_error(error, path.to_owned()))?.0.crc)
    }

    /// Returns the checksums of all files of the segments in a list. Files are written once, so known ones are not read
    /// again.
    fn checksums(&self, list: &[u8]) -> Checksums {
        let mut known = lock(&self.listed);
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let is_of_segment = |name: &String| {
            let id = name.get(..32).filter(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()));
            id.is_some_and(|id| memmem::find(list, hyphenated(id).as_bytes()).is_some())
        };
        let checksum = |name: String| {
            let sum = known.get(&name).copied().or_else(|| self.footer(Path::new(&name)).ok())?;
            Some((name, sum))
        };
        *known = names.filter(is_of_segment).filter_map(checksum).collect();
        known.clone()
    }
}

/// A file that is being written; it records a full disk.
struct DiskFullWriter {
    file: Box<dyn TerminatingWrite + Send + Sync>,
    lacked_room: Arc<AtomicBool>,
}

fn note_disk_full<T>(lacked_room: &AtomicBool, outcome: io::Result<T>) -> io::Result<T> {
    if outcome.as_ref().is_err_and(is_disk_full) {
        lacked_room.store(true, Ordering::Relaxed);
    }
    outcome
}

impl Write for DiskFullWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        note_disk_full(&self.lacked_room, self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        note_disk_full(&self.lacked_room, self.file.flush())
    }
}

impl TerminatingWrite for DiskFullWriter {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        note_disk_full(&self.lacked_room, self.file.terminate_ref(token))
    }
}

impl Directory for TextDirectory {
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        if lock.filepath == INDEX_WRITER_LOCK.filepath {
            return Ok(DirectoryLock::from(Box::new(())));
        }
        let _ = private::ensure_file(&self.path.join(&lock.filepath));
        match self.mapped.acquire_lock(lock) {
            Err(LockError::IoError(error))
                if lock.filepath == META_LOCK.filepath && (is_read_only(&error) || is_disk_full(&error)) =>
            {
                Ok(DirectoryLock::from(Box::new(())))
            }
            outcome => outcome,
        }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let handle = self.mapped.get_file_handle(path)?;
        if let Some(Check { raw, examined }) = &self.check {
            let check = || -> Result<bool, OpenReadError> {
                Ok(raw.validate_checksum(path)? && self.has_listed_checksum(path)?)
            };
            if !examined.is_verified(&self.path.join(path), check)? {
                return Err(corrupt_file(path, "wrong checksum"));
            }
        }
        Ok(handle)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let opened = self.mapped.open_write(path);
        if opened.is_ok() {
            // Tantivy creates files with the mode of the process. The folder above keeps others out in any case.
            let _ = private::restrict(&self.path.join(path));
        }
        if let Err(OpenWriteError::IoError { io_error, .. }) = &opened
            && is_disk_full(io_error)
        {
            self.lacked_room.store(true, Ordering::Relaxed);
        }
        let unbuffered = opened?.into_inner();
        let file = unbuffered.map_err(|error| OpenWriteError::wrap_io_error(error.into_error(), path.to_owned()))?;
        Ok(BufWriter::new(Box::new(DiskFullWriter { file, lacked_room: Arc::clone(&self.lacked_room) })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let sealed = self.mapped.atomic_read(path)?;
        let (data, files) = unseal(&sealed).ok_or_else(|| corrupt_file(path, "wrong checksum"))?;
        if path == Path::new(META) {
            *lock(&self.listed) = files;
        }
        Ok(data.to_vec())
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let files = if path == Path::new(META) { self.checksums(data) } else { Checksums::new() };
        note_disk_full(&self.lacked_room, self.mapped.atomic_write(path, &seal(data, &files)))
    }

    fn sync_directory(&self) -> io::Result<()> {
        note_disk_full(&self.lacked_room, self.mapped.sync_directory())
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

/// Returns a list of names with its checksum in a last line.
pub(crate) fn seal_list(data: &[u8]) -> Vec<u8> {
    seal(data, &Checksums::new())
}

/// Replaces names in a sealed list by others of the same length; `None` if the list is corrupt.
pub(crate) fn rename_in_list(sealed: &[u8], rename: impl Fn(&str) -> String) -> Option<Vec<u8>> {
    let (data, files) = unseal(sealed)?;
    let files = files.into_iter().map(|(name, sum)| (rename(&name), sum)).collect();
    Some(seal(rename(str::from_utf8(data).ok()?).as_bytes(), &files))
}

/// Returns a segment's name as Tantivy writes it in its list.
pub(crate) fn hyphenated(name: &str) -> String {
    let cut = |from: usize, to: usize| name.get(from..to).unwrap_or_default();
    [cut(0, 8), cut(8, 12), cut(12, 16), cut(16, 20), cut(20, 32)].join("-")
}

fn seal(data: &[u8], files: &Checksums) -> Vec<u8> {
    let mut sealed = [data, b"\n"].concat();
    for (name, sum) in files {
        sealed.extend_from_slice(format!("file {name} {sum:08x}\n").as_bytes());
    }
    let last = checksum_line(&sealed, data.len());
    sealed.extend_from_slice(last.as_bytes());
    sealed
}

/// Returns a list without the appended lines, and the checksums of files; `None` if anything is missing or wrong.
fn unseal(sealed: &[u8]) -> Option<(&[u8], Checksums)> {
    let start = sealed.strip_suffix(b"\n")?.iter().rposition(|byte| *byte == b'\n')? + 1;
    let (body, last) = sealed.split_at(start);
    let length = str::from_utf8(last).ok()?.trim_end().rsplit(' ').next()?.parse().ok()?;
    let (data, lines) = body.split_at_checked(length)?;
    if last != checksum_line(body, length).as_bytes() {
        return None;
    }
    let file = |line: &str| {
        let (name, sum) = line.strip_prefix("file ")?.split_once(' ')?;
        Some((name.to_owned(), u32::from_str_radix(sum, 16).ok()?))
    };
    Some((data, str::from_utf8(lines).ok()?.lines().filter_map(file).collect()))
}

fn checksum_line(body: &[u8], length: usize) -> String {
    format!("sum {:08x} {length}\n", Checksum::new().number(length as i64).bytes(body).value() as u32)
}

fn corrupt_file(path: &Path, what: &str) -> OpenReadError {
    OpenReadError::wrap_io_error(io::Error::new(ErrorKind::InvalidData, what), path.to_owned())
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unseal_rejects_a_changed_byte() {
        let files = Checksums::from([("a.idx".into(), 7), ("b.term".into(), 0xffff_ffff)]);
        let data = b"{\n  \"segments\": []\n}";
        let list = seal(data, &files);
        assert_eq!(unseal(&list), Some((&data[..], files)));
        for place in 0..list.len() {
            let mut harmed = list.clone();
            harmed[place] ^= 1;
            assert_eq!(unseal(&harmed), None, "byte {place}");
            assert_eq!(unseal(&list[..place]), None, "cut after {place}");
        }
        assert_eq!(unseal(&seal_list(b"")), Some((&b""[..], Checksums::new())));
        let other = rename_in_list(&list, |text| text.replace("a.idx", "c.idx")).expect("because it is intact");
        assert_eq!(unseal(&other).expect("because it is intact").1["c.idx"], 7);
    }
}
