//! Health checks of a store. They change nothing.

use std::path::Path;

use rusqlite::Connection;

use crate::text::TextIndex;
use crate::text_reader::TextReader;
use crate::version::symbol_entries;
use crate::{ProjectDir, Result, StoreError, VersionInfo, codec, jobs, postings, rows, schema, stat_cache, views};

/// The outcome of one check.
pub type Check = std::result::Result<String, String>;

/// The result of checking a store.
#[derive(Debug)]
pub struct Health {
    /// The database: SQLite's integrity check, every checksum, and the consistency of related tables.
    pub sqlite: Check,
    /// The text index: every checksum, and that every stored version has its documents.
    pub text: Check,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// The number of stored versions, and how many of them no view needs.
    pub versions: (u64, u64),
    /// Whether some process is writing at this moment.
    pub is_writing: bool,
}

impl Health {
    /// Checks a store.
    pub fn check(dir: &ProjectDir) -> Result<Self> {
        let connection = schema::open(dir)?;
        let generation = schema::meta(&connection, "generation")?;
        let was_writing = dir.is_writing();
        let text = dir.epoch().map_err(|error| error.to_string()).and_then(|epoch| check_text(&epoch, &connection));
        let is_writing = was_writing || dir.is_writing() || schema::meta(&connection, "generation")? != generation;
        let (stored, needed) = (stored_version_count(&connection)?, views::needed_versions(&connection)?);
        Ok(Self {
            sqlite: check_database(&connection),
            // During a write, files appear and disappear, and documents exist before their rows.
            text: if is_writing { text.or(Ok("being written now".into())) } else { text },
            disk_bytes: dir.disk_bytes(),
            versions: (stored, stored.saturating_sub(needed.len())),
            is_writing,
        })
    }
}

fn stored_version_count(connection: &Connection) -> Result<u64> {
    let count: i64 = connection.query_row("SELECT count(*) FROM file_versions", [], |row| row.get(0))?;
    Ok(count as u64)
}

/// Checks the whole database: SQLite's integrity check, every checksum, and the consistency of related tables.
pub(crate) fn check_database(connection: &Connection) -> Check {
    inspect_database(connection).unwrap_or_else(|error| Err(error.corruption()))
}

fn inspect_database(connection: &Connection) -> Result<Check> {
    let verdict: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Ok(Err(format!("store.db: {}", verdict.trim_start_matches("*** in database main ***").trim())));
    }
    for key in ["generation", "next_fv", "text_mark"] {
        schema::meta(connection, key)?;
    }
    views::all(connection)?;
    let needed = views::needed_versions(connection)?;
    let mut find = connection.prepare("SELECT 1 FROM file_versions WHERE fv = ?1")?;
    for id in &needed {
        if !find.exists([id])? {
            return Ok(Err(format!("store.db: a view holds file version {id}, which is not stored")));
        }
    }
    jobs::recent(connection, usize::MAX)?;
    stat_cache::roots(connection)?;
    stat_cache::check_all(connection)?;
    postings::check_all(connection)?;
    rows::for_each_version(connection, |version| check_version(connection, version))?;
    Ok(Ok(format!("{} file versions in use", needed.len())))
}

/// Checks that everything stored for a version can be read, and that its symbols equal those of its outline.
fn check_version(connection: &Connection, version: &VersionInfo) -> Result<()> {
    let id = version.id;
    let unfit = |what: &str| StoreError::Corrupt(format!("store.db: {what} of file version {id} do not match"));
    let body = |table: &str| -> Result<Vec<u8>> {
        let mut select = connection.prepare_cached(&format!("SELECT body FROM {table} WHERE fv = ?1"))?;
        Ok(select.query_row([id], |row| row.get(0))?)
    };
    codec::decode_text(&body("texts")?)?;
    let facts = codec::decode_facts(&codec::decode_outline(&body("outlines")?)?, &body("facts")?)?;
    if facts.lines != version.lines || facts.symbols.len() as u32 != version.symbols {
        return Err(unfit("the facts"));
    }
    match rows::symbols(connection, id)? == symbol_entries(&version.path, &version.language, &facts.symbols) {
        true => Ok(()),
        false => Err(unfit("the symbols")),
    }
}

/// Checks the whole text index: every checksum, and that it has the documents of all stored versions.
pub(crate) fn check_text(epoch: &Path, connection: &Connection) -> Check {
    inspect_text(epoch, connection).unwrap_or_else(|error| Err(error.corruption()))
}

fn inspect_text(epoch: &Path, connection: &Connection) -> Result<Check> {
    let text = TextIndex::open(&epoch.join("text"))?;
    let damaged = text.corrupt_files()?;
    if !damaged.is_empty() {
        return Ok(Err(damaged.join(", ")));
    }
    if text.mark()? < schema::meta(connection, "text_mark")? {
        return Ok(Err("text/meta.json is older than store.db".into()));
    }
    let present = text.versions()?;
    let mut select = connection.prepare("SELECT fv FROM file_versions WHERE skip IS NULL")?;
    let stored = select.query_map([], |row| row.get::<_, u32>(0))?;
    let mut missing = 0;
    for id in stored {
        missing += u64::from(!present.contains(&id?));
    }
    if missing > 0 {
        return Ok(Err(format!("text: {missing} file versions have no documents")));
    }
    let reader = TextReader::open(&text)?;
    for view in views::all(connection)? {
        let members = views::bitmaps(connection, &view.key)?.unwrap_or_default().members;
        reader.expect_documents(&members, &view.totals)?;
    }
    Ok(Ok(format!("{} documents", text.document_count()?)))
}

/// Returns the corruption in a project's store, if there is any. For callers that met an impossible state.
pub fn find_corruption(dir: &ProjectDir) -> Option<String> {
    match Health::check(dir) {
        Ok(health) => health.sqlite.err().or(health.text.err()),
        Err(StoreError::Corrupt(what)) => Some(what),
        Err(_) => None,
    }
}

/// Whether both halves of a store can be read: the database, and the text index with every checksum that this process
/// has not verified yet. Corruption is recorded.
pub fn readable_halves(dir: &ProjectDir) -> (bool, bool) {
    let Ok(epoch) = dir.epoch() else { return (false, false) };
    let database = schema::open_at(&epoch);
    let text = TextIndex::open_verified(&epoch.join("text"), dir.verified_files()).and_then(|text| text.searcher());
    if let Err(StoreError::Corrupt(what)) = &text {
        dir.note_corruption(what);
    }
    // Corruption that is not in the text index is in the database.
    let is_noted = text.is_ok() && dir.check_noted_corruption(&epoch).is_err();
    (database.is_ok() && !is_noted, text.is_ok())
}
