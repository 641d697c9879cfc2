//! Overview of a project's folder. It also reads, as far as possible, an index that is corrupt or of another version.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::{ProjectDir, SchemaStatus, schema, stat_cache};

/// Facts about a project's folder. Fields that cannot be read are empty.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// The roots of all registered workspaces, in order of registration.
    pub workspaces: Vec<String>,
    /// The usability of the index.
    pub status: Option<SchemaStatus>,
    /// When a view was last published, in milliseconds since 1970.
    pub indexed_at: Option<i64>,
    /// When a view was last used by a request.
    pub last_accessed_at: Option<i64>,
}

impl Overview {
    /// Reads a project's folder.
    pub fn read(dir: &ProjectDir) -> Self {
        let Ok(epoch) = dir.epoch() else { return Self::default() };
        let status = SchemaStatus::read(dir).ok();
        let Some(connection) = open_any(&epoch) else { return Self { status, ..Self::default() } };
        // These two tables have been the same in every version so far; where they differ, the fields stay empty.
        let times = "SELECT max(indexed_at), max(last_accessed_at) FROM branch_state";
        let times = connection.query_row(times, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (indexed_at, last_accessed_at) = times.unwrap_or_default();
        let workspaces = stat_cache::roots(&connection).unwrap_or_default();
        Self { workspaces, status, indexed_at, last_accessed_at }
    }
}

/// Opens the database of an epoch of any version.
fn open_any(epoch: &Path) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    schema::open_at(epoch).or_else(|_| Connection::open_with_flags(epoch.join("store.db"), flags)).ok()
}
