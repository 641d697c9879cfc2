//! The stat cache: the status of a work tree's files when they were last read. A file with an unchanged status is not
//! read again.
//!
//! A row is written only if the file was older than the read by more than the resolution of the file system's clock.
//! Otherwise an edit right after the read could leave the same status.

use std::collections::HashMap;

use codecompass_model::VersionId;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Result;
use crate::checksum::{self, Checksum};

/// The part of a file's status that changes with its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime: i64,
    /// Status change time in nanoseconds since 1970.
    pub ctime: i64,
    /// The inode number.
    pub inode: u64,
}

/// A stat cache entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedStat {
    /// The status of the file.
    pub stat: Stat,
    /// The version that was read at that time.
    pub version: VersionId,
}

/// Loads the stat cache of a work tree, by path.
pub(crate) fn load(connection: &Connection, root: &str) -> Result<HashMap<String, CachedStat>> {
    let Some(workspace) = workspace(connection, root)? else {
        return Ok(HashMap::new());
    };
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM stat_cache WHERE workspace = ?1")?
        .query_row([workspace], |row| row.get(0))?;
    let mut cache = HashMap::with_capacity(count as usize);
    let mut select = connection.prepare_cached(&format!("{SELECT_CHECKSUMMED} WHERE workspace = ?1"))?;
    let mut rows = select.query([workspace])?;
    while let Some(row) = rows.next()? {
        let (path, cached) = cached_row(row)?;
        cache.insert(path, cached);
    }
    Ok(cache)
}

/// Loads the stat cache entries of these paths.
pub(crate) fn load_paths(connection: &Connection, root: &str, paths: &[String]) -> Result<HashMap<String, CachedStat>> {
    let Some(workspace) = workspace(connection, root)? else {
        return Ok(HashMap::new());
    };
    let mut select = connection.prepare_cached(&format!("{SELECT_CHECKSUMMED} WHERE workspace = ?1 AND path = ?2"))?;
    let mut cache = HashMap::new();
    for path in paths {
        let mut rows = select.query(params![workspace, path])?;
        if let Some(row) = rows.next()? {
            let (path, cached) = cached_row(row)?;
            cache.insert(path, cached);
        }
    }
    Ok(cache)
}

const SELECT_CHECKSUMMED: &str = "SELECT workspace, path, size, mtime, ctime, inode, fv, sum FROM stat_cache";

/// Reads a row. Each row is verified, because a wrong version would replace the content of one file by that of another.
fn cached_row(row: &Row<'_>) -> Result<(String, CachedStat)> {
    checksum::check_row(row, 0..7, "a stat cache entry")?;
    let stat = Stat {
        size: row.get::<_, i64>(2)? as u64,
        mtime: row.get(3)?,
        ctime: row.get(4)?,
        inode: row.get::<_, i64>(5)? as u64,
    };
    Ok((row.get(1)?, CachedStat { stat, version: row.get(6)? }))
}

/// Replaces versions in all rows, inside the caller's transaction.
pub(crate) fn replace(connection: &Connection, pairs: &[(VersionId, VersionId)]) -> Result<()> {
    let pairs: HashMap<VersionId, VersionId> = pairs.iter().copied().collect();
    let mut changed = Vec::new();
    let mut select = connection.prepare(SELECT_CHECKSUMMED)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (path, cached) = cached_row(row)?;
        if let Some(&version) = pairs.get(&cached.version) {
            changed.push((row.get::<_, i64>(0)?, path, CachedStat { version, ..cached }));
        }
    }
    let mut update =
        connection.prepare("UPDATE stat_cache SET fv = ?3, sum = ?4 WHERE workspace = ?1 AND path = ?2")?;
    for (workspace, path, cached) in changed {
        update.execute(params![workspace, path, cached.version, row_checksum(workspace, &path, &cached)])?;
    }
    Ok(())
}

/// Fails if any row is not what was written.
pub(crate) fn check_all(connection: &Connection) -> Result<()> {
    let mut select = connection.prepare(SELECT_CHECKSUMMED)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        cached_row(row)?;
    }
    Ok(())
}

fn row_checksum(workspace: i64, path: &str, CachedStat { stat, version }: &CachedStat) -> i64 {
    let sum = Checksum::new().number(workspace).text(path).number(stat.size as i64).number(stat.mtime);
    sum.number(stat.ctime).number(stat.inode as i64).number((*version).into()).value()
}

/// Whether the stat cache has files below this path.
pub(crate) fn has_below(connection: &Connection, root: &str, path: &str) -> Result<bool> {
    let Some(workspace) = workspace(connection, root)? else { return Ok(false) };
    let mut select = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM stat_cache WHERE workspace = ?1 AND path > ?2 || '/' AND path < ?2 || '0')",
    )?;
    Ok(select.query_row(params![workspace, path], |row| row.get(0))?)
}

/// Updates the stat cache inside the caller's transaction.
pub(crate) fn apply(
    connection: &Connection,
    root: &str,
    seen: &[(String, CachedStat)],
    gone: &[String],
    now: i64,
) -> Result<()> {
    if seen.is_empty() && gone.is_empty() {
        return Ok(());
    }
    let workspace = register(connection, root, now)?;
    let mut upsert =
        connection.prepare_cached("INSERT OR REPLACE INTO stat_cache VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (path, cached) in seen {
        let stat = cached.stat;
        upsert.execute(params![
            workspace,
            path,
            stat.size as i64,
            stat.mtime,
            stat.ctime,
            stat.inode as i64,
            cached.version,
            row_checksum(workspace, path, cached),
        ])?;
    }
    let mut delete = connection.prepare_cached("DELETE FROM stat_cache WHERE workspace = ?1 AND path = ?2")?;
    for path in gone {
        delete.execute(params![workspace, path])?;
    }
    Ok(())
}

/// Registers a workspace and returns its number; returns the existing number if it is registered already.
pub(crate) fn register(connection: &Connection, root: &str, now: i64) -> Result<i64> {
    if let Some(workspace) = workspace(connection, root)? {
        return Ok(workspace);
    }
    connection.execute("INSERT INTO workspaces (root, registered_at) VALUES (?1, ?2)", params![root, now])?;
    Ok(connection.last_insert_rowid())
}

fn workspace(connection: &Connection, root: &str) -> Result<Option<i64>> {
    let mut select = connection.prepare_cached("SELECT id FROM workspaces WHERE root = ?1")?;
    Ok(select.query_row([root], |row| row.get(0)).optional()?)
}

/// Returns the roots of all registered workspaces.
pub(crate) fn roots(connection: &Connection) -> Result<Vec<String>> {
    let mut select = connection.prepare_cached("SELECT root FROM workspaces ORDER BY id")?;
    let rows = select.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
