//! The store's own health: what a doctor can find out without changing anything.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::text::TextIndex;
use crate::{ProjectDir, Result, schema, views};

/// The outcome of one check.
pub type Check = std::result::Result<String, String>;

/// Everything the store can say about itself.
#[derive(Debug)]
pub struct Health {
    /// SQLite's own integrity check, and that every view's members are stored.
    pub sqlite: Check,
    /// The text index: checksums, and that every stored version has its documents.
    pub text: Check,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// Versions stored, and how many of them no view needs.
    pub versions: (u64, u64),
    /// Whether some process writes right now.
    pub is_writing: bool,
}

impl Health {
    /// Examines a store.
    pub fn of(dir: &ProjectDir) -> Result<Self> {
        let connection = schema::open(dir)?;
        let generation = schema::meta(&connection, "generation")?;
        let was_writing = dir.is_writing();
        let text = dir.epoch().map_err(|error| error.to_string()).and_then(|epoch| check_text(&epoch, &connection));
        let is_writing = was_writing || dir.is_writing() || schema::meta(&connection, "generation")? != generation;
        let (stored, needed) = (stored(&connection)?, views::needed(&connection)?);
        Ok(Self {
            sqlite: check_database(&connection),
            // While somebody writes, files come and go and documents stand before their rows.
            text: if is_writing { text.or(Ok("being written now".into())) } else { text },
            disk_bytes: dir.disk_bytes(),
            versions: (stored, stored.saturating_sub(needed.len())),
            is_writing,
        })
    }
}

fn stored(connection: &Connection) -> Result<u64> {
    let count: i64 = connection.query_row("SELECT count(*) FROM file_versions", [], |row| row.get(0))?;
    Ok(count as u64)
}

pub(crate) fn check_database(connection: &Connection) -> Check {
    let verdict = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
        .map_err(|error| error.to_string())?;
    if verdict != "ok" {
        return Err(verdict);
    }
    let needed = views::needed(connection).map_err(|error| error.to_string())?;
    let mut find =
        connection.prepare("SELECT 1 FROM file_versions WHERE fv = ?1").map_err(|error| error.to_string())?;
    for id in &needed {
        if !find.exists([id]).map_err(|error| error.to_string())? {
            return Err(format!("a view holds file version {id}, which is not stored"));
        }
    }
    Ok(format!("{} file versions in use", needed.len()))
}

pub(crate) fn check_text(epoch: &Path, connection: &Connection) -> Check {
    let examine = || -> Result<Check> {
        let text = TextIndex::open(&epoch.join("text"))?;
        let damaged = text.damaged_files()?;
        if !damaged.is_empty() {
            return Ok(Err(format!("wrong checksum: {}", names(&damaged))));
        }
        let present = text.versions()?;
        let mut select = connection.prepare("SELECT fv FROM file_versions WHERE skip IS NULL")?;
        let stored = select.query_map([], |row| row.get::<_, u32>(0))?;
        let mut missing = 0;
        for id in stored {
            missing += u64::from(!present.contains(&id?));
        }
        if missing > 0 {
            return Ok(Err(format!("{missing} file versions have no documents")));
        }
        Ok(Ok(format!("{} documents", text.document_count()?)))
    };
    examine().unwrap_or_else(|error| Err(error.to_string()))
}

fn names(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}
