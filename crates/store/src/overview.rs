//! What a project's folder holds, as far as it can be told: also of an index of another version, or a damaged one.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::{ProjectDir, SchemaStatus, schema, statcache};

/// See the module. What can not be told is empty.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// The roots of all registered workspaces, in the order in which they came.
    pub workspaces: Vec<String>,
    /// What the index is good for.
    pub status: Option<SchemaStatus>,
    /// When something was published last, in milliseconds since 1970.
    pub indexed_at: Option<i64>,
    /// When something was asked last.
    pub last_accessed_at: Option<i64>,
}

impl Overview {
    /// Looks at a project's folder.
    pub fn of(dir: &ProjectDir) -> Self {
        let Ok(epoch) = dir.epoch() else { return Self::default() };
        let status = SchemaStatus::of(dir).ok();
        let Some(connection) = open_any(&epoch) else { return Self { status, ..Self::default() } };
        // These two tables have been the same in every version so far; where they are not, nothing is told.
        let times = "SELECT max(indexed_at), max(last_accessed_at) FROM branch_state";
        let times = connection.query_row(times, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (indexed_at, last_accessed_at) = times.unwrap_or_default();
        let workspaces = statcache::roots(&connection).unwrap_or_default();
        Self { workspaces, status, indexed_at, last_accessed_at }
    }
}

/// The database of an epoch, whatever version wrote it.
fn open_any(epoch: &Path) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    schema::open_at(epoch).or_else(|_| Connection::open_with_flags(epoch.join("store.db"), flags)).ok()
}
