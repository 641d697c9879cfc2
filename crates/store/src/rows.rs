//! Rows of new file versions, written in bulk.

use std::collections::HashMap;

use codecompass_model::{BlobId, SkipReason, VersionId};
use rusqlite::{Connection, Row, params};

use crate::lists::ListBuilder;
use crate::version::{NewVersion, SymbolEntry};
use crate::{KnownVersion, Result, StoreError, views};

/// Symbols of one file lie in this many places at most.
const PLACES: i64 = 1 << 20;

/// The row id of a symbol.
pub(crate) fn symbol_row(version: VersionId, place: u32) -> i64 {
    version as i64 * PLACES + place as i64
}

/// The rows that symbols of a version can have.
pub(crate) fn symbol_rows(version: VersionId) -> (i64, i64) {
    (symbol_row(version, 0), symbol_row(version, PLACES as u32 - 1))
}

/// The version and place behind a row id.
pub(crate) fn symbol_place(row: i64) -> (VersionId, u32) {
    ((row / PLACES) as VersionId, (row % PLACES) as u32)
}

/// Writes versions, in ascending order of id, inside the caller's transaction.
pub(crate) fn insert(connection: &Connection, versions: &[NewVersion]) -> Result<()> {
    let mut version_row = connection.prepare_cached(
        "INSERT INTO file_versions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
         ?17, ?18)",
    )?;
    let mut outlines = connection.prepare_cached("INSERT INTO outlines VALUES (?1, ?2)")?;
    let mut facts = connection.prepare_cached("INSERT INTO facts VALUES (?1, ?2)")?;
    let mut texts = connection.prepare_cached("INSERT INTO texts VALUES (?1, ?2)")?;
    for version in versions {
        let documents = &version.documents;
        version_row.execute(params![
            version.id,
            version.path,
            version.blob.0,
            version.size as i64,
            version.language,
            version.facts_version,
            version.skip.map(SkipReason::index),
            version.lines,
            version.symbols.len() as i64,
            version.problems,
            version.counts.0,
            documents.piece_tokens as i64,
            version.counts.1,
            documents.name_tokens as i64,
            documents.doc_tokens as i64,
            documents.own_tokens as i64,
            documents.file_tokens as i64,
            views::digest(&version.path, &version.blob, version.facts_version),
        ])?;
        if version.skip.is_none() {
            outlines.execute(params![version.id, version.facts.0])?;
            facts.execute(params![version.id, version.facts.1])?;
            texts.execute(params![version.id, version.text])?;
        }
    }
    insert_symbols(connection, versions)?;
    insert_references(connection, versions)
}

fn insert_symbols(connection: &Connection, versions: &[NewVersion]) -> Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO symbol_relations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for version in versions {
        for (place, symbol) in version.symbols.iter().enumerate().take(PLACES as usize) {
            insert.execute(params![
                symbol_row(version.id, place as u32),
                symbol.name,
                symbol.kind.index(),
                marks(symbol),
                symbol.line,
                symbol.symbol_key,
                symbol.stable_key,
            ])?;
        }
    }
    Ok(())
}

/// The flags of a symbol in one number.
fn marks(symbol: &SymbolEntry) -> i64 {
    i64::from(symbol.is_public) | i64::from(symbol.in_test) << 1
}

fn insert_references(connection: &Connection, versions: &[NewVersion]) -> Result<()> {
    let mut lists: HashMap<&str, ListBuilder> = HashMap::new();
    for version in versions {
        for (name, part) in &version.references {
            lists.entry(name).or_insert_with(|| ListBuilder::new(version.id)).push(version.id, part);
        }
    }
    let mut names: Vec<&str> = lists.keys().copied().collect();
    names.sort_unstable();
    let mut insert = connection.prepare_cached("INSERT INTO name_refs VALUES (?1, ?2, ?3)")?;
    for name in names {
        let list = lists.remove(name).expect("each name is taken once");
        let first = list.first;
        insert.execute(params![name, first, list.finish()])?;
    }
    Ok(())
}

const KNOWN: &str = "SELECT fv, blob, size, language, facts_version, skip FROM file_versions";

/// Every stored version of a path, the newest first.
pub(crate) fn known(connection: &Connection, path: &str) -> Result<Vec<KnownVersion>> {
    let mut select = connection.prepare_cached(&format!("{KNOWN} WHERE path = ?1 ORDER BY fv DESC"))?;
    let rows = select.query_map([path], known_row)?;
    rows.map(|row| row?.ok_or_else(bad_version)).collect()
}

/// Every stored version, by path, the newest first: where many paths are asked for, one scan is faster than as many
/// look-ups.
pub(crate) fn known_by_path(connection: &Connection) -> Result<HashMap<String, Vec<KnownVersion>>> {
    let mut select = connection
        .prepare("SELECT fv, blob, size, language, facts_version, skip, path FROM file_versions ORDER BY fv DESC")?;
    let mut rows = select.query([])?;
    let mut known: HashMap<String, Vec<KnownVersion>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let version = known_row(row)?.ok_or_else(bad_version)?;
        known.entry(row.get(6)?).or_default().push(version);
    }
    Ok(known)
}

/// A stored version by its id.
pub(crate) fn known_by_id(connection: &Connection, id: VersionId) -> Result<Option<KnownVersion>> {
    let mut select = connection.prepare_cached(&format!("{KNOWN} WHERE fv = ?1"))?;
    let mut rows = select.query_map([id], known_row)?;
    rows.next().transpose()?.map(|row| row.ok_or_else(bad_version)).transpose()
}

fn known_row(row: &Row<'_>) -> rusqlite::Result<Option<KnownVersion>> {
    let Some(blob) = BlobId::from_bytes(row.get_ref(1)?.as_blob()?) else {
        return Ok(None);
    };
    Ok(Some(KnownVersion {
        id: row.get(0)?,
        blob,
        size: row.get::<_, i64>(2)? as u64,
        language: row.get(3)?,
        facts_version: row.get(4)?,
        skip: row.get::<_, Option<u8>>(5)?.and_then(SkipReason::from_index),
    }))
}

fn bad_version() -> StoreError {
    StoreError::Corrupt("a file version without a blob id".into())
}
