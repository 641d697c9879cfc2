//! Taking an archive in.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use codecompass_model::ViewKey;
use rusqlite::{Connection, OpenFlags, params};

use super::manifest::{self, Listed, Manifest, check_name, refused, twice};
use super::{DATABASE, FOLDER, MANIFEST};
use crate::layout::Scratch;
use crate::views::{self, ViewInfo};
use crate::{ProjectDir, Result, StoreError, WritePoint, doctor, private, schema, statcache, text};

/// What may follow the last entry: a tar ends with empty blocks, and some programs write many.
const LONGEST_END: u64 = 64 << 10;

/// What to import, and for whom.
pub struct Import<'a> {
    /// The archive.
    pub source: &'a Path,
    /// The root of the workspace, which is registered.
    pub root: &'a str,
    /// What the work tree there starts from; none for a bare repository.
    pub start: Option<Start<'a>>,
    /// Called before each durable write.
    pub point: Option<WritePoint>,
    /// The time, in milliseconds since 1970.
    pub now: i64,
}

/// What a work tree shows before its first sync: a published view that is near, under the work tree's own name.
pub struct Start<'a> {
    /// The name the work tree answers for.
    pub ref_name: &'a str,
    /// The commit it stands on. A view of that commit is as near as can be.
    pub commit: Option<&'a str>,
    /// Further views to start from, the best first; any other, when none of them is there.
    pub from: &'a [ViewKey],
}

/// What came in.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The size of the archive.
    pub bytes: u64,
    /// What it unpacked to.
    pub unpacked_bytes: u64,
    /// The views that are published now.
    pub views: Vec<ViewInfo>,
    /// The extractions they stand on.
    pub facts_keys: Vec<u64>,
    /// The view that the work tree starts from.
    pub start: Option<ViewKey>,
    /// What was there before.
    pub replaced: Option<Replaced>,
}

/// A state that made room for another.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// Its views; empty when it could not be read.
    pub views: Vec<ViewInfo>,
    /// Whether its space is free already. Else somebody still reads it, and a later write frees it.
    pub is_freed: bool,
}

/// Makes the content of an archive the store of a project, in place of what was there. The write lock is waited for.
/// Until the last step the old state is in use and untouched, whatever happens.
pub fn import(dir: &ProjectDir, request: &Import<'_>) -> Result<Imported> {
    let at = |name| {
        if let Some(point) = &request.point {
            point(name);
        }
    };
    let bytes = archive_bytes(request.source)?;
    // Most of what is wrong with an archive shows in its manifest: before anything is waited for or written.
    let manifest = read_manifest(&mut entries(&mut open(request.source)?)?)?;
    let unpacked_bytes = manifest.unpacked_bytes(bytes)?;
    let _lock = dir.lock_for_writing(true)?;
    let old = schema::open(dir).ok();
    let before = Before::of(old.as_ref());
    at("create epoch");
    let scratch = Scratch::new(dir)?;
    unpack(request.source, &manifest, scratch.path(), &at)?;
    let connection = examined(scratch.path())?;
    at("adopt");
    let start = adopt(&connection, request, &before)?;
    let views = views::all(&connection)?;
    settle(connection, scratch.path())?;
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

/// What of the old state outlives it.
#[derive(Default)]
struct Before {
    roots: Vec<String>,
    generation: i64,
    views: Vec<ViewInfo>,
}

impl Before {
    /// A state that can not be read has nothing to pass on.
    fn of(old: Option<&Connection>) -> Self {
        let read = |old: &Connection| -> Result<Self> {
            let (roots, generation) = (statcache::roots(old)?, schema::meta(old, "generation")?);
            Ok(Self { roots, generation, views: views::all(old)? })
        };
        old.and_then(|old| read(old).ok()).unwrap_or_default()
    }
}

fn archive_bytes(path: &Path) -> Result<u64> {
    let found = fs::metadata(path).map_err(StoreError::io(path))?;
    if found.is_file() { Ok(found.len()) } else { Err(refused("it is no file")) }
}

type Source = tar::Archive<zstd::Decoder<'static, BufReader<File>>>;

fn open(path: &Path) -> Result<Source> {
    let file = File::open(path).map_err(StoreError::io(path))?;
    Ok(tar::Archive::new(zstd::Decoder::new(file).map_err(unreadable)?))
}

/// The entries as they stand there: long names and other extensions are entries of their own, and are refused as such
/// instead of being read into memory.
fn entries<R: Read>(source: &mut tar::Archive<R>) -> Result<tar::Entries<'_, R>> {
    Ok(source.entries().map_err(unreadable)?.raw(true))
}

fn unreadable(error: io::Error) -> StoreError {
    refused(format!("it can not be read, or is cut off ({error})"))
}

fn read_manifest<R: Read>(entries: &mut tar::Entries<'_, R>) -> Result<Manifest> {
    let mut entry = entries.next().ok_or_else(|| refused("it is empty"))?.map_err(unreadable)?;
    if plain_name(&entry)? != MANIFEST {
        return Err(refused("it does not begin with a manifest"));
    }
    if entry.size() > manifest::LONGEST {
        return Err(refused("its manifest is too long"));
    }
    let mut text = String::new();
    entry.read_to_string(&mut text).map_err(unreadable)?;
    Manifest::parse(&text)
}

/// The name of an entry that is a plain file with a harmless name.
fn plain_name<R: Read>(entry: &tar::Entry<'_, R>) -> Result<String> {
    let bytes = entry.path_bytes();
    let name = String::from_utf8_lossy(&bytes).into_owned();
    check_name(&name)?;
    match entry.header().entry_type() {
        tar::EntryType::Regular => Ok(name),
        tar::EntryType::Symlink | tar::EntryType::Link => Err(refused(format!("{name} is a link"))),
        _ => Err(refused(format!("{name} is no plain file"))),
    }
}

/// Writes what the manifest lists into a folder, and nothing else.
fn unpack(path: &Path, manifest: &Manifest, to: &Path, at: &dyn Fn(&'static str)) -> Result<()> {
    let mut source = open(path)?;
    let mut found = entries(&mut source)?;
    if read_manifest(&mut found)? != *manifest {
        return Err(refused("it was changed while it was read"));
    }
    private::create_folder(&to.join("text")).map_err(StoreError::io(to))?;
    for (number, listed) in manifest.files.iter().enumerate() {
        let missing = || refused(format!("{} is missing in it", listed.name));
        let mut entry = found.next().ok_or_else(missing)?.map_err(unreadable)?;
        expect_listed(&plain_name(&entry)?, &manifest.files, number)?;
        if entry.size() != listed.size {
            let (name, size) = (&listed.name, listed.size);
            return Err(refused(format!("{name} has {} bytes, its manifest says {size}", entry.size())));
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

/// The entry with this name stands where the manifest lists it.
fn expect_listed(name: &str, files: &[Listed], number: usize) -> Result<()> {
    match files.iter().position(|file| file.name == name) {
        Some(place) if place == number => Ok(()),
        Some(place) if place < number => Err(twice(name)),
        Some(_) => Err(refused(format!("{} is missing in it, or out of order", files[number].name))),
        None => Err(refused(format!("{name} is not listed in its manifest"))),
    }
}

fn unpack_file(entry: &mut impl Read, listed: &Listed, to: &Path) -> Result<()> {
    let mut file = private::create_new(to).map_err(StoreError::io(to))?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 256 << 10];
    let mut left = listed.size;
    while left > 0 {
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = entry.read(&mut buffer[..wanted]).map_err(unreadable)?;
        if read == 0 {
            return Err(refused(format!("{} is cut off", listed.name)));
        }
        hasher.update(&buffer[..read]);
        file.write_all(&buffer[..read]).map_err(StoreError::io(to))?;
        left -= read as u64;
    }
    if hasher.finalize() != listed.checksum {
        return Err(refused(format!("{} has a wrong checksum", listed.name)));
    }
    file.sync_all().map_err(StoreError::io(to))
}

/// Nothing but empty blocks follows.
fn expect_end(rest: impl Read) -> Result<()> {
    let mut end = Vec::new();
    rest.take(LONGEST_END + 1).read_to_end(&mut end).map_err(unreadable)?;
    match end.len() as u64 <= LONGEST_END && end.iter().all(|byte| *byte == 0) {
        true => Ok(()),
        false => Err(refused("something follows its last entry")),
    }
}

/// Those who read a text index trust what they wrote themselves: what somebody else made up may have them break down.
fn examined(epoch: &Path) -> Result<Connection> {
    let broke = |_| Err(refused("its text index can not be read"));
    std::panic::catch_unwind(|| verified(epoch)).unwrap_or_else(broke)
}

/// Opens what was unpacked once it has been examined: nothing of it was written by somebody we know.
fn verified(epoch: &Path) -> Result<Connection> {
    let unsound = |what: &str, why: String| refused(format!("its {what} is not sound: {why}"));
    let foreign = |error: StoreError| unsound("database", error.to_string());
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let raw = Connection::open_with_flags(epoch.join(DATABASE), flags)?;
    raw.pragma_update(None, "trusted_schema", false)?;
    if !schema::is_ours(&raw).map_err(foreign)? {
        return Err(unsound("database", "it has other tables than an index".into()));
    }
    raw.close().map_err(|(_, error)| error)?;
    let connection = schema::open_at(epoch).map_err(foreign)?;
    check_paths(&connection)?;
    doctor::check_database(&connection).map_err(|why| unsound("database", why))?;
    views::all(&connection).map_err(foreign)?;
    doctor::check_text(epoch, &connection).map_err(|why| unsound("text index", why))?;
    Ok(connection)
}

/// No file of the index has a name that leads out of a work tree.
fn check_paths(connection: &Connection) -> Result<()> {
    let mut select = connection.prepare("SELECT path FROM file_versions")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let path = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if path.starts_with('/') || path.split('/').any(|part| part == ".." || part.is_empty()) {
            return Err(refused(format!("a file in its database has the name {path}")));
        }
    }
    Ok(())
}

/// Makes a foreign state one of this machine: its workspaces, its work tree, its count of generations.
fn adopt(connection: &Connection, request: &Import<'_>, before: &Before) -> Result<Option<ViewKey>> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch("DELETE FROM stat_cache; DELETE FROM jobs; DELETE FROM workspaces")?;
    for root in before.roots.iter().map(String::as_str).chain([request.root]) {
        statcache::register(&transaction, root, request.now)?;
    }
    // Readers tell what is new by its generation, also across a switch.
    let generation = schema::meta(&transaction, "generation")?.max(before.generation).saturating_add(1);
    schema::set_meta(&transaction, "generation", generation)?;
    let start = match &request.start {
        Some(start) => begin(&transaction, request.root, start, generation)?,
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

/// Publishes a view for the work tree at a root: the nearest that came in, until a sync has looked at the files.
fn begin(connection: &Connection, root: &str, start: &Start<'_>, generation: i64) -> Result<Option<ViewKey>> {
    let mut all = views::all(connection)?;
    all.sort_by_key(|view| std::cmp::Reverse(view.indexed_at));
    let folder = ViewKey::Worktree(FOLDER.to_owned());
    let find = |key: &ViewKey| all.iter().find(|view| view.key == *key);
    let same_commit = || all.iter().find(|view| start.commit.is_some() && view.commit.as_deref() == start.commit);
    let near = || start.from.iter().find_map(find);
    let nearest = find(&folder).or_else(same_commit).or_else(near).or(all.first());
    let Some(from) = nearest else { return Ok(None) };
    // What another commit holds keeps its own name, so that nobody takes it for what is checked out here.
    let is_here = from.key == folder || from.commit.as_deref() == start.commit;
    let ref_name = if is_here { start.ref_name } else { &from.ref_name };
    let here = ViewKey::Worktree(root.to_owned());
    connection.execute(
        "INSERT OR REPLACE INTO branch_state SELECT ?2, ?3, commit_id, ?4, members, previous, skipped, edited, skips,
         facts_key, file_count, symbol_count, line_count, byte_count, piece_docs, piece_tokens, symbol_docs,
         name_tokens, doc_tokens, own_tokens, file_tokens, digest, indexed_at, last_accessed_at, sum FROM branch_state WHERE view = ?1",
        params![from.key.encode(), here.encode(), ref_name, generation],
    )?;
    views::seal(connection, &here)?;
    Ok(Some(from.key.clone()))
}

/// Closes the database with everything in one file, on disk.
fn settle(connection: Connection, epoch: &Path) -> Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)?;
    for folder in [epoch.join("text"), epoch.to_owned()] {
        // Where folders can not be synced, that is as good as it gets.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}
