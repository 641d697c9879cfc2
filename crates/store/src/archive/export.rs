//! Writing an archive.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use codecompass_model::ViewKey;

use super::manifest::{Manifest, ManifestEntry};
use super::{DATABASE, FOLDER_ROOT, MANIFEST};
use crate::compact::{self, CompactOptions};
use crate::layout::Scratch;
use crate::text::TextIndex;
use crate::text_directory::{self, hyphenated};
use crate::verified::META;
use crate::views::{self, ViewInfo};
use crate::{OnMissing, ProjectDir, Result, SecretRules, StoreError, Tuning, WritePoint, Writer, schema};

/// A higher level costs much time and saves little: the large content is compressed already.
const COMPRESSION_LEVEL: i32 = 3;

/// A request to export a store.
pub struct ExportRequest<'a> {
    /// The file to write.
    pub target: &'a Path,
    /// Whether an existing file may be replaced.
    pub replace: bool,
    /// The root of a plain folder, to export its view. Git work trees are never exported: committed content is
    /// published under its branch as well, and uncommitted content is private.
    pub folder: Option<&'a str>,
    /// Secrets to exclude. They are removed from the store as well.
    pub secrets: &'a dyn SecretRules,
    /// Called before each durable write.
    pub point: Option<WritePoint>,
    /// The time, in milliseconds since 1970.
    pub now: i64,
}

/// The result of an export.
#[derive(Clone, Debug)]
pub struct Archive {
    /// Its size.
    pub bytes: u64,
    /// Its unpacked size.
    pub unpacked_bytes: u64,
    /// The exported generation.
    pub generation: i64,
    /// The number of file versions in it.
    pub versions: u64,
    /// The views in it.
    pub views: Vec<ViewInfo>,
}

/// Exports a project's store as an archive. Waits for the write lock and holds it, so that the content is of one
/// moment; readers are not disturbed. On failure nothing is left behind, and an existing file stays as it was.
pub fn export(dir: &ProjectDir, request: &ExportRequest<'_>) -> Result<Archive> {
    refuse_existing(request)?;
    let writer = Writer::open(dir, OnMissing::Fail, true, Tuning::default(), request.point.clone(), request.now)?;
    let mut writer = writer.without_secrets(request.secrets, request.now)?;
    let views = portable_views(views::all(writer.connection())?, request.folder);
    if views.is_empty() {
        return Err(StoreError::NothingToExport);
    }
    writer.reach_write_point("create epoch");
    let scratch = Scratch::new(dir)?;
    let versions = compact::compact_into(
        writer.epoch(),
        scratch.path(),
        &CompactOptions { views: &views, local_except_roots: None, exclude: None },
    )?;
    let parts = archive_files(scratch.path())?;
    let mut facts_keys: Vec<u64> = views.iter().map(|(view, _)| view.facts_key).collect();
    facts_keys.sort_unstable();
    facts_keys.dedup();
    let manifest = Manifest {
        generation: schema::meta(writer.connection(), "generation")?,
        facts_keys,
        files: parts.iter().map(ArchiveFile::manifest_entry).collect::<Result<_>>()?,
    };
    writer.reach_write_point("write archive");
    let bytes = publish(request, &manifest, &parts)?;
    Ok(Archive {
        bytes,
        unpacked_bytes: manifest.files.iter().map(|file| file.size).sum(),
        generation: manifest.generation,
        versions,
        views: views.into_iter().map(|(view, _)| view).collect(),
    })
}

fn refuse_existing(request: &ExportRequest<'_>) -> Result<()> {
    match request.target.symlink_metadata() {
        Ok(found) if !request.replace || found.is_dir() => Err(StoreError::FileExists(request.target.to_owned())),
        _ => Ok(()),
    }
}

/// Returns the views that are useful on another machine, with their keys there.
fn portable_views(views: Vec<ViewInfo>, folder: Option<&str>) -> Vec<(ViewInfo, ViewKey)> {
    let key = |view: &ViewInfo| match &view.key {
        ViewKey::Worktree(root) => (folder == Some(root)).then(|| ViewKey::Worktree(FOLDER_ROOT.to_owned())),
        other => Some(other.clone()),
    };
    views.into_iter().filter_map(|view| key(&view).map(|key| (view, key))).collect()
}

/// A file of an archive about to be written.
struct ArchiveFile {
    name: String,
    content: Content,
}

enum Content {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl ArchiveFile {
    fn open(&self) -> Result<Box<dyn Read + '_>> {
        Ok(match &self.content {
            Content::File(path) => Box::new(File::open(path).map_err(StoreError::io(path))?),
            Content::Bytes(bytes) => Box::new(bytes.as_slice()),
        })
    }

    fn manifest_entry(&self) -> Result<ManifestEntry> {
        let mut hasher = blake3::Hasher::new();
        let size = io::copy(&mut self.open()?, &mut hasher).map_err(StoreError::io(&self.name))?;
        Ok(ManifestEntry { name: self.name.clone(), size, checksum: hasher.finalize() })
    }
}

/// Returns the files of a compact copy, in order. A segment has a random name. A single segment is named after its
/// content instead, so that merging the same documents again gives the same archive.
fn archive_files(epoch: &Path) -> Result<Vec<ArchiveFile>> {
    let dir = epoch.join("text");
    let index = TextIndex::open(&dir)?;
    let (files, segments) = (index.files()?, index.segments()?);
    let names = match segments.as_slice() {
        [one] => Some((one.as_str(), content_name(&dir, &files)?)),
        _ => None,
    };
    let renamed = |text: &str| match &names {
        Some((old, new)) => text.replace(old, new).replace(&hyphenated(old), &hyphenated(new)),
        None => text.to_owned(),
    };
    let mut parts = vec![ArchiveFile { name: DATABASE.to_owned(), content: Content::File(epoch.join(DATABASE)) }];
    for file in &files {
        let path = dir.join(file);
        let content = match file == META {
            true => Content::Bytes(renamed_list(&path, renamed)?),
            false => Content::File(path),
        };
        parts.push(ArchiveFile { name: format!("text/{}", renamed(file)), content });
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(parts)
}

fn renamed_list(path: &Path, rename: impl Fn(&str) -> String) -> Result<Vec<u8>> {
    let list = fs::read(path).map_err(StoreError::io(path))?;
    let damaged = || StoreError::Corrupt(format!("text/{META}: wrong checksum"));
    text_directory::rename_in_list(&list, rename).ok_or_else(damaged)
}

fn content_name(dir: &Path, files: &[String]) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    for file in files.iter().filter(|file| *file != META) {
        let path = dir.join(file);
        let mut reader = File::open(&path).map_err(StoreError::io(&path))?;
        io::copy(&mut reader, &mut hasher).map_err(StoreError::io(path))?;
    }
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

/// Writes the archive beside its target and renames it once it is complete.
fn publish(request: &ExportRequest<'_>, manifest: &Manifest, parts: &[ArchiveFile]) -> Result<u64> {
    let target = request.target;
    let name = target.file_name().ok_or_else(|| StoreError::FileExists(target.to_owned()))?;
    let partial = target.with_file_name(format!(".{}.partial", name.to_string_lossy()));
    let written = write(&partial, manifest, parts).and_then(|bytes| {
        refuse_existing(request)?;
        if let Some(point) = &request.point {
            point("name archive");
        }
        fs::rename(&partial, target).map_err(StoreError::io(target))?;
        Ok(bytes)
    });
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

fn write(path: &Path, manifest: &Manifest, parts: &[ArchiveFile]) -> Result<u64> {
    let failed = || StoreError::io(path);
    // A killed export may have left the file behind, and a link of that name must not be followed.
    let _ = fs::remove_file(path);
    let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed())?;
    let mut encoder = zstd::Encoder::new(BufWriter::new(file), COMPRESSION_LEVEL).map_err(failed())?;
    encoder.include_checksum(true).map_err(failed())?;
    let mut archive = tar::Builder::new(encoder);
    let text = manifest.to_text();
    append(&mut archive, MANIFEST, text.len() as u64, text.as_bytes()).map_err(failed())?;
    for (part, listed) in parts.iter().zip(&manifest.files) {
        append(&mut archive, &part.name, listed.size, part.open()?).map_err(failed())?;
    }
    let encoder = archive.into_inner().map_err(failed())?;
    let buffer = encoder.finish().map_err(failed())?;
    let file = buffer.into_inner().map_err(|error| failed()(error.into_error()))?;
    file.sync_all().map_err(failed())?;
    Ok(file.metadata().map_err(failed())?.len())
}

fn append<W: Write>(archive: &mut tar::Builder<W>, name: &str, size: u64, content: impl Read) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name)?;
    header.set_size(size);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    archive.append(&header, content)
}
