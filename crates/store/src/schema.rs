//! The tables, their version, and how a store is opened.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::checksum::{self, Checksum};
use crate::{ProjectDir, Result, StoreError, private};

/// The version of everything this crate writes. Increment it when the tables, the codecs or the text index change.
pub const SCHEMA_VERSION: i64 = 10;

/// The log is truncated to this many bytes when it restarts.
const MAX_LOG_BYTES: i64 = 4 << 20;

/// The usability of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaStatus {
    /// Readable, and something is published.
    Compatible,
    /// Readable, and nothing is published yet.
    NotIndexed,
    /// Written by another version of the schema.
    ReindexRequired {
        /// The version found.
        found: i64,
    },
    /// Not readable.
    CorruptManifest,
}

impl SchemaStatus {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            SchemaStatus::Compatible => "compatible",
            SchemaStatus::NotIndexed => "not_indexed",
            SchemaStatus::ReindexRequired { .. } => "reindex_required",
            SchemaStatus::CorruptManifest => "corrupt_manifest",
        }
    }

    /// Returns the schema version that was found, if one could be read.
    pub const fn found_version(self) -> Option<i64> {
        match self {
            SchemaStatus::Compatible | SchemaStatus::NotIndexed => Some(SCHEMA_VERSION),
            SchemaStatus::ReindexRequired { found } => Some(found),
            SchemaStatus::CorruptManifest => None,
        }
    }

    /// Reads the status of a project's store; [`StoreError::NotRegistered`] if there is none.
    pub fn read(dir: &ProjectDir) -> Result<Self> {
        let sound = dir.epoch().and_then(|epoch| dir.check_noted_corruption(&epoch));
        let connection = match sound.and_then(|()| open(dir)) {
            Ok(connection) => connection,
            Err(StoreError::ReindexRequired { found, .. }) => {
                return Ok(SchemaStatus::ReindexRequired { found });
            }
            Err(StoreError::Corrupt(_)) => return Ok(SchemaStatus::CorruptManifest),
            Err(error) => return Err(error),
        };
        let published = "SELECT EXISTS (SELECT 1 FROM branch_state)";
        match connection.query_row(published, [], |row| row.get(0)) {
            Ok(true) => Ok(SchemaStatus::Compatible),
            Ok(false) => Ok(SchemaStatus::NotIndexed),
            Err(_) => Ok(SchemaStatus::CorruptManifest),
        }
    }
}

// `symbol_relations.id` is the file version times 2^20 plus the symbol's ordinal in its file, so the symbols of a file
// are adjacent in source order and a batch of files is appended. `name_refs` has, per name and batch, a delta-coded
// list of the references with that name. The index by name covers every column that orders homonyms: the flags in
// `marks` say whether the symbol is public (1) and whether it is test code (2), and the bits above them are a checksum
// of the row as the index has it. The other checksums cover the columns before them, except columns that do no harm
// when they change: facts versions and keys, which are only compared, and access times.
const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE workspaces (
    id INTEGER PRIMARY KEY, root TEXT NOT NULL UNIQUE, registered_at INTEGER NOT NULL);
CREATE TABLE file_versions (
    fv INTEGER PRIMARY KEY, path TEXT NOT NULL, blob BLOB NOT NULL, size INTEGER NOT NULL,
    language TEXT NOT NULL, facts_version INTEGER NOT NULL, skip INTEGER,
    lines INTEGER NOT NULL, symbols INTEGER NOT NULL, problems INTEGER NOT NULL,
    piece_docs INTEGER NOT NULL, piece_tokens INTEGER NOT NULL, symbol_docs INTEGER NOT NULL,
    name_tokens INTEGER NOT NULL, doc_tokens INTEGER NOT NULL, own_tokens INTEGER NOT NULL, file_tokens INTEGER NOT NULL,
    digest INTEGER NOT NULL, sum INTEGER NOT NULL, counts_sum INTEGER NOT NULL);
CREATE INDEX file_versions_by_path ON file_versions (path, blob);
CREATE TABLE outlines (fv INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE facts (fv INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE texts (fv INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE symbol_relations (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind INTEGER NOT NULL, marks INTEGER NOT NULL,
    line_start INTEGER NOT NULL, symbol_key INTEGER NOT NULL, stable_key INTEGER NOT NULL);
CREATE INDEX symbol_relations_by_name ON symbol_relations (
    name COLLATE NOCASE, kind, marks, line_start);
CREATE INDEX symbol_relations_by_symbol ON symbol_relations (symbol_key);
CREATE INDEX symbol_relations_by_stable ON symbol_relations (stable_key);
CREATE TABLE name_refs (
    name TEXT NOT NULL, first_fv INTEGER NOT NULL, list BLOB NOT NULL,
    PRIMARY KEY (name, first_fv)) WITHOUT ROWID;
CREATE TABLE branch_state (
    view TEXT PRIMARY KEY, ref TEXT NOT NULL, commit_id TEXT, generation INTEGER NOT NULL,
    members BLOB NOT NULL, previous BLOB NOT NULL, skipped BLOB NOT NULL, edited BLOB NOT NULL, skips BLOB NOT NULL,
    facts_key INTEGER NOT NULL, file_count INTEGER NOT NULL, symbol_count INTEGER NOT NULL,
    line_count INTEGER NOT NULL, byte_count INTEGER NOT NULL,
    piece_docs INTEGER NOT NULL, piece_tokens INTEGER NOT NULL, symbol_docs INTEGER NOT NULL,
    name_tokens INTEGER NOT NULL, doc_tokens INTEGER NOT NULL, own_tokens INTEGER NOT NULL, file_tokens INTEGER NOT NULL,
    digest INTEGER NOT NULL, indexed_at INTEGER NOT NULL, last_accessed_at INTEGER NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE stat_cache (
    workspace INTEGER NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
    ctime INTEGER NOT NULL, inode INTEGER NOT NULL, fv INTEGER NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (workspace, path)) WITHOUT ROWID;
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY, job_id TEXT NOT NULL UNIQUE, view TEXT NOT NULL, ref TEXT NOT NULL,
    mode TEXT NOT NULL, status TEXT NOT NULL, changed_files INTEGER, files_total INTEGER NOT NULL,
    files_scanned INTEGER NOT NULL, files_indexed INTEGER NOT NULL, symbols_extracted INTEGER NOT NULL,
    error TEXT, created_at INTEGER NOT NULL, finished_at INTEGER);
";

/// Creates the tables in a new epoch.
pub(crate) fn create(epoch: &Path) -> Result<Connection> {
    let database = epoch.join("store.db");
    // SQLite gives its log the mode of the database.
    private::ensure_file(&database).map_err(StoreError::io(&database))?;
    let mut connection = Connection::open(database)?;
    connection.pragma_update(None, "page_size", 4096)?;
    configure(&connection)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    for (key, value) in [("schema_version", SCHEMA_VERSION), ("generation", 0), ("next_fv", 1), ("text_mark", 0)] {
        set_meta(&transaction, key, value)?;
    }
    transaction.commit()?;
    Ok(connection)
}

/// Creates the tables in a new database without their indexes, which are faster to build and smaller at the end.
pub(crate) fn create_tables(connection: &Connection) -> Result<()> {
    statements(false).try_for_each(|statement| Ok(connection.execute_batch(statement)?))
}

/// Creates the indexes that [`create_tables`] left out.
pub(crate) fn create_indexes(connection: &Connection) -> Result<()> {
    statements(true).try_for_each(|statement| Ok(connection.execute_batch(statement)?))
}

fn statements(indexes: bool) -> impl Iterator<Item = &'static str> {
    let all = TABLES.split_inclusive(';').filter(|statement| !statement.trim().is_empty());
    all.filter(move |statement| statement.trim_start().starts_with("CREATE INDEX") == indexes)
}

/// Whether a database has exactly the tables and indexes of this version: no view, no trigger, nothing else.
pub(crate) fn has_expected_schema(connection: &Connection) -> Result<bool> {
    let expected = Connection::open_in_memory()?;
    expected.execute_batch(TABLES)?;
    Ok(read_schema(connection)? == read_schema(&expected)?)
}

/// Type, name, table and definition of each object in a database.
type SchemaDefinition = Vec<(String, String, String, Option<String>)>;

fn read_schema(connection: &Connection) -> Result<SchemaDefinition> {
    let mut select = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Opens the current epoch's database and checks that this program can read it.
pub(crate) fn open(dir: &ProjectDir) -> Result<Connection> {
    open_at(&dir.epoch()?)
}

/// Opens the database of an epoch.
pub(crate) fn open_at(epoch: &Path) -> Result<Connection> {
    let path = epoch.join("store.db");
    if !path.is_file() {
        return Err(StoreError::Corrupt("store.db is missing".into()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags)?;
    let connection = match configure(&connection) {
        // Without a log the file is complete, and where no log can be created no process here changes the file.
        Err(_) if !epoch.join("store.db-wal").exists() && is_read_only(epoch) => open_immutable(&path)?,
        outcome => outcome.map(|()| connection)?,
    };
    let version = connection
        .query_row("SELECT value FROM meta WHERE key = 'schema_version'", [], |row| row.get::<_, i64>(0))
        .optional();
    match version {
        Ok(Some(SCHEMA_VERSION)) => Ok(connection),
        Ok(Some(found)) => Err(StoreError::ReindexRequired { found, required: SCHEMA_VERSION }),
        Ok(None) => Err(StoreError::Corrupt("store.db: the manifest has no schema version".into())),
        Err(error) => Err(error.into()),
    }
}

/// Opens a database that cannot be written to, and declares it immutable to SQLite, which then needs no log.
fn open_immutable(path: &Path) -> Result<Connection> {
    let escaped: String = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?)
}

/// Limits the page cache of a connection. A query reads a part of the database, and the system caches the file.
pub(crate) fn limit_page_cache(connection: &Connection, kib: u32) -> Result<()> {
    Ok(connection.pragma_update(None, "cache_size", -i64::from(kib))?)
}

/// Whether no file can be created in a folder.
fn is_read_only(folder: &Path) -> bool {
    let probe = folder.join("store.db-shm");
    private::create_new(&probe).is_err_and(|error| {
        matches!(error.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
    })
}

/// Configures a connection. The writer checkpoints the log when it is large enough, not the last connection to close.
fn configure(connection: &Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(Duration::from_secs(20))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "journal_size_limit", MAX_LOG_BYTES)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

pub(crate) fn meta(connection: &Connection, key: &str) -> Result<i64> {
    let missing = || StoreError::Corrupt(format!("store.db: the manifest has no {key}"));
    meta_if_set(connection, key)?.ok_or_else(missing)
}

/// Reads the value of a key, if it is set.
pub(crate) fn meta_if_set(connection: &Connection, key: &str) -> Result<Option<i64>> {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, checksum::is_intact(row, 0..2)?));
    let value = connection
        .prepare_cached("SELECT key, value, sum FROM meta WHERE key = ?1")?
        .query_row([key], read)
        .optional()?;
    match value {
        Some((value, true)) => Ok(Some(value)),
        Some((_, false)) => Err(checksum::corrupt_row(key)),
        None => Ok(None),
    }
}

pub(crate) fn set_meta(connection: &Connection, key: &str, value: i64) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO meta VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = excluded.value, sum = excluded.sum",
        )?
        .execute((key, value, Checksum::new().text(key).number(value).value()))?;
    Ok(())
}
