//! Importing an archive.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use codecompass_model::ViewKey;
use rusqlite::{Connection, OpenFlags, params};

use super::manifest::{self, Manifest, ManifestEntry, check_name, duplicate_entry, invalid_archive};
use super::{DATABASE, FOLDER_ROOT, MANIFEST};
use crate::layout::Scratch;
use crate::views::{self, ViewInfo};
use crate::{ProjectDir, Result, StoreError, WritePoint, doctor, private, schema, stat_cache, text, totals};

/// The maximum number of bytes after the last entry: a tar ends with empty blocks, and some programs write many.
const MAX_TRAILING_BYTES: u64 = 64 << 10;

/// A request to import an archive into a project.
pub struct ImportRequest<'a> {
    /// The archive.
    pub source: &'a Path,
    /// The root of the workspace, which is registered.
    pub root: &'a str,
    /// The initial view of the work tree there; `None` for a bare repository.
    pub start: Option<InitialView<'a>>,
    /// Called before each durable write.
    pub point: Option<WritePoint>,
    /// The time, in milliseconds since 1970.
    pub now: i64,
}

/// The content of a work tree before its first sync: a close published view, under the work tree's own name.
pub struct InitialView<'a> {
    /// The ref name of the work tree.
    pub ref_name: &'a str,
    /// Its commit. A view of the same commit is the closest.
    pub commit: Option<&'a str>,
    /// Further views to start from, best first. If none of them exists, any other view is used.
    pub from: &'a [ViewKey],
}

/// The result of an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The size of the archive.
    pub bytes: u64,
    /// Its unpacked size.
    pub unpacked_bytes: u64,
    /// The views that are published now.
    pub views: Vec<ViewInfo>,
    /// The keys of the extractions that they are based on.
    pub facts_keys: Vec<u64>,
    /// The view that the work tree starts from.
    pub start: Option<ViewKey>,
    /// The state before.
    pub replaced: Option<Replaced>,
}

/// A replaced state.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// Its views; empty when it could not be read.
    pub views: Vec<ViewInfo>,
    /// Whether its space is free already. Otherwise it still has readers, and a later writer frees it.
    pub is_freed: bool,
}

/// Replaces the store of a project by the content of an archive. Waits for the write lock. Until the last step the old
/// state is in use and unchanged, whatever happens.
pub fn import(dir: &ProjectDir, request: &ImportRequest<'_>) -> Result<Imported> {
    let at = |name| {
        if let Some(point) = &request.point {
            point(name);
        }
    };
    let bytes = archive_bytes(request.source)?;
    // Most problems of an archive show in its manifest, before anything is waited for or written.
    let manifest = read_manifest(&mut entries(&mut open(request.source)?)?)?;
    let unpacked_bytes = manifest.unpacked_bytes(bytes)?;
    let _lock = dir.lock_for_writing(true)?;
    let old = schema::open(dir).ok();
    let before = PreviousState::read(old.as_ref());
    at("create epoch");
    let scratch = Scratch::new(dir)?;
    unpack(request.source, &manifest, scratch.path(), &at)?;
    let connection = verify_catching_panics(scratch.path())?;
    at("adopt");
    let start = adopt(&connection, request, &before)?;
    let views = views::all(&connection)?;
    close_database(connection, scratch.path())?;
    let was_registered = dir.is_registered();
    at("switch epoch");
    dir.switch_to(scratch.path())?;
    scratch.keep();
    at("sweep");
    drop(old);
    let is_freed = dir.sweep();
    let replaced = was_registered.then_some(Replaced { views: before.views, is_freed });
    Ok(Imported { bytes, unpacked_bytes, views, facts_keys: manifest.facts_keys, start, replaced })
}

/// The parts of the old state that survive.
#[derive(Default)]
struct PreviousState {
    roots: Vec<String>,
    generation: i64,
    views: Vec<ViewInfo>,
}

impl PreviousState {
    /// Reads the old state. An unreadable state has nothing to keep.
    fn read(old: Option<&Connection>) -> Self {
        let read = |old: &Connection| -> Result<Self> {
            let (roots, generation) = (stat_cache::roots(old)?, schema::meta(old, "generation")?);
            Ok(Self { roots, generation, views: views::all(old)? })
        };
        old.and_then(|old| read(old).ok()).unwrap_or_default()
    }
}

fn archive_bytes(path: &Path) -> Result<u64> {
    let found = fs::metadata(path).map_err(StoreError::io(path))?;
    if found.is_file() { Ok(found.len()) } else { Err(invalid_archive("it is not a file")) }
}

type ArchiveReader = tar::Archive<zstd::Decoder<'static, BufReader<File>>>;

fn open(path: &Path) -> Result<ArchiveReader> {
    let file = File::open(path).map_err(StoreError::io(path))?;
    Ok(tar::Archive::new(zstd::Decoder::new(file).map_err(unreadable)?))
}

/// Returns the raw entries. Long names and other extensions are entries of their own, and are refused as such instead
/// of being read into memory.
fn entries<R: Read>(source: &mut tar::Archive<R>) -> Result<tar::Entries<'_, R>> {
    Ok(source.entries().map_err(unreadable)?.raw(true))
}

fn unreadable(error: io::Error) -> StoreError {
    invalid_archive(format!("it cannot be read or is truncated ({error})"))
}

fn read_manifest<R: Read>(entries: &mut tar::Entries<'_, R>) -> Result<Manifest> {
    let mut entry = entries.next().ok_or_else(|| invalid_archive("it is empty"))?.map_err(unreadable)?;
    if plain_name(&entry)? != MANIFEST {
        return Err(invalid_archive("it does not begin with a manifest"));
    }
    if entry.size() > manifest::MAX_MANIFEST_BYTES {
        return Err(invalid_archive("its manifest is too long"));
    }
    let mut text = String::new();
    entry.read_to_string(&mut text).map_err(unreadable)?;
    Manifest::parse(&text)
}

/// Returns the name of an entry that is a plain file with a safe name.
fn plain_name<R: Read>(entry: &tar::Entry<'_, R>) -> Result<String> {
    let bytes = entry.path_bytes();
    let name = String::from_utf8_lossy(&bytes).into_owned();
    check_name(&name)?;
    match entry.header().entry_type() {
        tar::EntryType::Regular => Ok(name),
        tar::EntryType::Symlink | tar::EntryType::Link => Err(invalid_archive(format!("{name} is a link"))),
        _ => Err(invalid_archive(format!("{name} is not a regular file"))),
    }
}

/// Unpacks the files that the manifest lists into a folder, and nothing else.
fn unpack(path: &Path, manifest: &Manifest, to: &Path, at: &dyn Fn(&'static str)) -> Result<()> {
    let mut source = open(path)?;
    let mut found = entries(&mut source)?;
    if read_manifest(&mut found)? != *manifest {
        return Err(invalid_archive("it changed while it was read"));
    }
    private::create_folder(&to.join("text")).map_err(StoreError::io(to))?;
    for (number, listed) in manifest.files.iter().enumerate() {
        let missing = || invalid_archive(format!("{} is missing", listed.name));
        let mut entry = found.next().ok_or_else(missing)?.map_err(unreadable)?;
        expect_listed(&plain_name(&entry)?, &manifest.files, number)?;
        if entry.size() != listed.size {
            let (name, size) = (&listed.name, listed.size);
            return Err(invalid_archive(format!("{name} has {} bytes, its manifest says {size}", entry.size())));
        }
        at("unpack");
        unpack_file(&mut entry, listed, &to.join(&listed.name))?;
    }
    if let Some(further) = found.next() {
        let name = plain_name(&further.map_err(unreadable)?)?;
        return expect_listed(&name, &manifest.files, manifest.files.len());
    }
    expect_end(source.into_inner())?;
    let names = manifest.files[1..].iter().filter_map(|file| file.name.strip_prefix("text/"));
    text::write_managed(&to.join("text"), &names.map(str::to_owned).collect::<Vec<_>>())
}

/// Checks that the entry with this name is at its position in the manifest.
fn expect_listed(name: &str, files: &[ManifestEntry], number: usize) -> Result<()> {
    match files.iter().position(|file| file.name == name) {
        Some(place) if place == number => Ok(()),
        Some(place) if place < number => Err(duplicate_entry(name)),
        Some(_) => Err(invalid_archive(format!("{} is missing or out of order", files[number].name))),
        None => Err(invalid_archive(format!("{name} is not listed in its manifest"))),
    }
}

fn unpack_file(entry: &mut impl Read, listed: &ManifestEntry, to: &Path) -> Result<()> {
    let mut file = private::create_new(to).map_err(StoreError::io(to))?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 256 << 10];
    let mut left = listed.size;
    while left > 0 {
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = entry.read(&mut buffer[..wanted]).map_err(unreadable)?;
        if read == 0 {
            return Err(invalid_archive(format!("{} is truncated", listed.name)));
        }
        hasher.update(&buffer[..read]);
        file.write_all(&buffer[..read]).map_err(StoreError::io(to))?;
        left -= read as u64;
    }
    if hasher.finalize() != listed.checksum {
        return Err(invalid_archive(format!("{} has a wrong checksum", listed.name)));
    }
    file.sync_all().map_err(StoreError::io(to))
}

/// Checks that nothing but empty blocks follows.
fn expect_end(rest: impl Read) -> Result<()> {
    let mut end = Vec::new();
    rest.take(MAX_TRAILING_BYTES + 1).read_to_end(&mut end).map_err(unreadable)?;
    match end.len() as u64 <= MAX_TRAILING_BYTES && end.iter().all(|byte| *byte == 0) {
        true => Ok(()),
        false => Err(invalid_archive("it has data after its last entry")),
    }
}

/// Verifies the text index and catches panics: Tantivy trusts its own files, and crafted ones may make it panic.
fn verify_catching_panics(epoch: &Path) -> Result<Connection> {
    let broke = |_| Err(invalid_archive("its text index cannot be read"));
    std::panic::catch_unwind(|| open_verified(epoch)).unwrap_or_else(broke)
}

/// Verifies the unpacked files and opens the database. Nothing in them is trusted.
fn open_verified(epoch: &Path) -> Result<Connection> {
    let unsound = |what: &str, why: String| invalid_archive(format!("its {what} is corrupt: {why}"));
    let foreign = |error: StoreError| unsound("database", error.to_string());
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let raw = Connection::open_with_flags(epoch.join(DATABASE), flags)?;
    raw.pragma_update(None, "trusted_schema", false)?;
    if !schema::has_expected_schema(&raw).map_err(foreign)? {
        return Err(unsound("database", "it has unexpected tables".into()));
    }
    raw.close().map_err(|(_, error)| error)?;
    let connection = schema::open_at(epoch).map_err(foreign)?;
    check_paths(&connection)?;
    doctor::check_database(&connection).map_err(|why| unsound("database", why))?;
    views::all(&connection).map_err(foreign)?;
    doctor::check_text(epoch, &connection).map_err(|why| unsound("text index", why))?;
    Ok(connection)
}

/// Checks that no file of the index has a path that leads out of a work tree.
fn check_paths(connection: &Connection) -> Result<()> {
    let mut select = connection.prepare("SELECT path FROM file_versions")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let path = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if path.starts_with('/') || path.split('/').any(|part| part == ".." || part.is_empty()) {
            return Err(invalid_archive(format!("a file in its database has the path {path}")));
        }
    }
    Ok(())
}

/// Adapts an imported state to this machine: its workspaces, its work tree, its generation counter.
fn adopt(connection: &Connection, request: &ImportRequest<'_>, before: &PreviousState) -> Result<Option<ViewKey>> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch("DELETE FROM stat_cache; DELETE FROM jobs; DELETE FROM workspaces")?;
    for root in before.roots.iter().map(String::as_str).chain([request.root]) {
        stat_cache::register(&transaction, root, request.now)?;
    }
    // Readers detect changes by the generation, also across a switch.
    let generation = schema::meta(&transaction, "generation")?.max(before.generation).saturating_add(1);
    schema::set_meta(&transaction, "generation", generation)?;
    let start = match &request.start {
        Some(start) => publish_initial_view(&transaction, request.root, start, generation)?,
        None => None,
    };
    transaction.execute(
        "DELETE FROM branch_state WHERE view GLOB 'worktree:*' AND view <> ?1",
        [ViewKey::Worktree(request.root.to_owned()).encode()],
    )?;
    transaction.execute("UPDATE branch_state SET last_accessed_at = ?1", [request.now])?;
    transaction.commit()?;
    Ok(start)
}

/// Publishes a view for the work tree at a root: the closest imported one, until a sync has read the files.
fn publish_initial_view(
    connection: &Connection,
    root: &str,
    start: &InitialView<'_>,
    generation: i64,
) -> Result<Option<ViewKey>> {
    let mut all = views::all(connection)?;
    all.sort_by_key(|view| std::cmp::Reverse(view.indexed_at));
    let folder = ViewKey::Worktree(FOLDER_ROOT.to_owned());
    let find = |key: &ViewKey| all.iter().find(|view| view.key == *key);
    let same_commit = || all.iter().find(|view| start.commit.is_some() && view.commit.as_deref() == start.commit);
    let near = || start.from.iter().find_map(find);
    let nearest = find(&folder).or_else(same_commit).or_else(near).or(all.first());
    let Some(from) = nearest else { return Ok(None) };
    // Content of another commit keeps its own ref name, so that it is not mistaken for the checked-out one.
    let is_here = from.key == folder || from.commit.as_deref() == start.commit;
    let ref_name = if is_here { start.ref_name } else { &from.ref_name };
    let here = ViewKey::Worktree(root.to_owned());
    let copy = format!(
        "INSERT OR REPLACE INTO branch_state SELECT ?2, ?3, commit_id, ?4, members, previous, skipped, edited, skips,
         facts_key, {}, indexed_at, last_accessed_at, sum FROM branch_state WHERE view = ?1",
        totals::COLUMNS
    );
    connection.execute(&copy, params![from.key.encode(), here.encode(), ref_name, generation])?;
    views::update_checksum(connection, &here)?;
    Ok(Some(from.key.clone()))
}

/// Closes the database with all data in one file, on disk.
fn close_database(connection: Connection, epoch: &Path) -> Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)?;
    for folder in [epoch.join("text"), epoch.to_owned()] {
        // Where folders cannot be synced, this is the best possible.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}
