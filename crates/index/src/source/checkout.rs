//! Writes a commit's files to disk from git's objects: without hooks or filters, and without writing to the repository.

use std::fs;
use std::path::{Path, PathBuf};

use codecompass_model::BlobId;
use codecompass_store::private;
use gix::bstr::{BStr, ByteSlice};
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::bounds::check_expansion;
use super::objects::{corrupt_object, is_forbidden_name};
use super::{BlobReader, Repo, SourceError};

/// The maximum total size of the files of a checkout: a few small objects that are named many times could fill the
/// disk.
const MAX_CHECKOUT_BYTES: u64 = 32 << 30;

/// The maximum size of a file in a checkout. Each file is held in memory while it is written.
const MAX_FILE_BYTES: u64 = 256 << 20;

impl Repo {
    /// Writes the files of a commit, given by its full id, into an empty folder, as they are stored. A link becomes a
    /// file that contains the link's target, so that nothing in the folder leads out of it. A submodule becomes an
    /// empty folder. Files with a name that is not allowed here, files missing from a partial clone and files above 256
    /// MiB are skipped. A commit with more files than a listing may have, or with more than 32 GiB, is an error.
    pub fn write_files(&self, commit: &str, folder: &Path) -> Result<u64, SourceError> {
        let reader = self.reader();
        let root = reader.tree_of(commit)?;
        check_expansion(&reader, root)?;
        let mut open = vec![(root, folder.to_owned())];
        let (mut written, mut bytes_left) = (0, MAX_CHECKOUT_BYTES);
        while let Some((id, folder)) = open.pop() {
            make_folder(&folder)?;
            let bytes = reader.object(id, Kind::Tree)?;
            let tree = gix::objs::TreeRef::from_bytes(&bytes, id.kind()).map_err(|error| corrupt_object(id, error))?;
            for entry in &tree.entries {
                let Some(path) = path_in(&folder, entry.filename) else { continue };
                match entry.mode.kind() {
                    EntryKind::Tree => open.push((entry.oid.to_owned(), path)),
                    EntryKind::Commit => make_folder(&path)?,
                    kind => match content(&reader, entry.oid.to_owned(), &mut bytes_left) {
                        Ok(None) => {}
                        Ok(Some(content)) => written += u64::from(write(&path, &content, kind)?),
                        Err(SourceError::MissingObject { .. }) => {}
                        Err(error) => return Err(error),
                    },
                }
            }
        }
        Ok(written)
    }
}

/// Returns the bytes of a blob, unless it is too large for a checkout.
fn content(reader: &BlobReader, id: gix::ObjectId, bytes_left: &mut u64) -> Result<Option<Vec<u8>>, SourceError> {
    let size = match BlobId::from_bytes(id.as_bytes()) {
        Some(blob) => reader.size(&blob)?,
        None => return Ok(None),
    };
    if size > MAX_FILE_BYTES {
        return Ok(None);
    }
    let too_large = SourceError::ListingTooLarge { what: "bytes in all files", limit: MAX_CHECKOUT_BYTES };
    *bytes_left = bytes_left.checked_sub(size).ok_or(too_large)?;
    reader.object(id, Kind::Blob).map(Some)
}

/// Returns the path of an entry; `None` for a name that no checkout may have.
fn path_in(folder: &Path, name: &BStr) -> Option<PathBuf> {
    let plain = name.to_str().ok()?;
    // Names that some file systems treat as `.git`.
    let bare = plain.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    let is_git = bare == ".git" || bare == "git~1" || bare.starts_with(".git:");
    let is_odd = cfg!(windows) && plain.contains(['\\', ':']);
    (!is_forbidden_name(name) && !is_git && !is_odd).then(|| folder.join(plain))
}

fn make_folder(folder: &Path) -> Result<(), SourceError> {
    private::create_folder(folder).map_err(|error| SourceError::io(folder, error))
}

/// Returns whether the file was written: a case-insensitive file system holds only one of the names that differ in
/// case.
fn write(path: &Path, content: &[u8], kind: EntryKind) -> Result<bool, SourceError> {
    use std::io::Write as _;
    let mut file = match private::create_new(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(false),
        file => file.map_err(|error| SourceError::io(path, error))?,
    };
    file.write_all(content).map_err(|error| SourceError::io(path, error))?;
    #[cfg(unix)]
    if kind == EntryKind::BlobExecutable {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(fs::Permissions::from_mode(0o700)).map_err(|error| SourceError::io(path, error))?;
    }
    #[cfg(not(unix))]
    let _ = kind;
    Ok(true)
}
