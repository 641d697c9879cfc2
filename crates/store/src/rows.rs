//! The rows of file versions, symbols and postings: written in bulk, verified on reading.

use std::collections::HashMap;

use codecompass_model::{BlobId, SkipReason, SymbolKind, VersionId};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use crate::checksum::{self, Checksum};
use crate::postings::PostingsBuilder;
use crate::version::{NewVersion, SymbolEntry};
use crate::{Result, StoreError, StoredVersion, Totals, VersionInfo, totals};

/// The maximum number of symbol ordinals per file.
const MAX_SYMBOLS_PER_FILE: i64 = 1 << 20;

/// Returns the row id of a symbol.
pub(crate) fn symbol_row(version: VersionId, place: u32) -> i64 {
    version as i64 * MAX_SYMBOLS_PER_FILE + place as i64
}

/// Returns the first and last row id that symbols of a version can have.
pub(crate) fn symbol_rows(version: VersionId) -> (i64, i64) {
    (symbol_row(version, 0), symbol_row(version, MAX_SYMBOLS_PER_FILE as u32 - 1))
}

/// Returns the version and ordinal of a row id.
pub(crate) fn symbol_ordinal(row: i64) -> (VersionId, u32) {
    ((row / MAX_SYMBOLS_PER_FILE) as VersionId, (row % MAX_SYMBOLS_PER_FILE) as u32)
}

/// Writes versions, in ascending order of id, inside the caller's transaction.
pub(crate) fn insert(connection: &Connection, versions: &[NewVersion]) -> Result<()> {
    let mut version_row = connection.prepare_cached(
        "INSERT INTO file_versions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
         ?17, ?18, ?19, ?20)",
    )?;
    let mut outlines = connection.prepare_cached("INSERT INTO outlines VALUES (?1, ?2)")?;
    let mut facts = connection.prepare_cached("INSERT INTO facts VALUES (?1, ?2)")?;
    let mut texts = connection.prepare_cached("INSERT INTO texts VALUES (?1, ?2)")?;
    for version in versions {
        let documents = &version.documents;
        let digest = totals::digest(&version.path, &version.blob, version.facts_version);
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
            digest,
            version_checksum(version),
            counts_checksum(version, digest),
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

/// The columns of a file version in the order of its checksum, which follows.
const CHECKSUMMED_COLUMNS: &str = "fv, path, blob, size, language, skip, lines, symbols, sum";

/// The position of the checksum column among these.
const CHECKSUM_COLUMN: usize = 8;

fn version_checksum(version: &NewVersion) -> i64 {
    Checksum::new()
        .number(version.id.into())
        .text(&version.path)
        .bytes(&version.blob.0)
        .number(version.size as i64)
        .text(version.language)
        .optional(version.skip.map(|skip| skip.index().into()))
        .number(version.lines.into())
        .number(version.symbols.len() as i64)
        .value()
}

/// The columns that a file version contributes to the totals of its views, with their checksum.
const COUNT_COLUMNS: &str =
    "fv, problems, piece_docs, piece_tokens, symbol_docs, name_tokens, doc_tokens, own_tokens, file_tokens,
    digest, counts_sum";

fn counts_checksum(version: &NewVersion, digest: i64) -> i64 {
    let documents = &version.documents;
    let tokens = [documents.name_tokens, documents.doc_tokens, documents.own_tokens, documents.file_tokens];
    let sum = Checksum::new().number(version.id.into()).number(version.problems.into());
    let sum = sum.number(version.counts.0).number(documents.piece_tokens as i64).number(version.counts.1);
    tokens.iter().fold(sum, |sum, count| sum.number(*count as i64)).number(digest).value()
}

/// Calls `each` with the contribution of each version to the totals of its views.
pub(crate) fn for_each_total(
    connection: &Connection,
    versions: impl Iterator<Item = VersionId>,
    mut each: impl FnMut(Totals),
) -> Result<()> {
    let mut select = connection
        .prepare_cached(&format!("SELECT {CHECKSUMMED_COLUMNS}, {COUNT_COLUMNS} FROM file_versions WHERE fv = ?1"))?;
    for version in versions {
        let mut rows = select.query([version])?;
        let lost =
            || StoreError::Corrupt(format!("store.db: a view holds file version {version}, which is not stored"));
        each(totals_row(rows.next()?.ok_or_else(lost)?)?);
    }
    Ok(())
}

/// Reads the totals from a row of [`CHECKSUMMED_COLUMNS`] and [`COUNT_COLUMNS`].
fn totals_row(row: &Row<'_>) -> Result<Totals> {
    let counts = CHECKSUM_COLUMN + 1;
    check_version(row)?;
    checksum::check_row(row, counts..counts + 10, &describe(row))?;
    Ok(Totals {
        files: 1,
        symbols: row.get(7)?,
        lines: row.get(6)?,
        bytes: row.get(3)?,
        piece_docs: row.get(counts + 2)?,
        piece_tokens: row.get(counts + 3)?,
        symbol_docs: row.get(counts + 4)?,
        name_tokens: row.get(counts + 5)?,
        doc_tokens: row.get(counts + 6)?,
        own_tokens: row.get(counts + 7)?,
        file_tokens: row.get(counts + 8)?,
        digest: row.get(counts + 9)?,
    })
}

/// Fails if a row of [`CHECKSUMMED_COLUMNS`] is not what was written.
fn check_version(row: &Row<'_>) -> Result<()> {
    match checksum::is_intact(row, 0..CHECKSUM_COLUMN)? {
        true => Ok(()),
        false => Err(checksum::corrupt_row(&describe(row))),
    }
}

fn describe(row: &Row<'_>) -> String {
    row.get::<_, i64>(0).map_or_else(|_| "a file version".to_owned(), |id| format!("file version {id}"))
}

fn insert_symbols(connection: &Connection, versions: &[NewVersion]) -> Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO symbol_relations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for version in versions {
        for (place, symbol) in version.symbols.iter().enumerate().take(MAX_SYMBOLS_PER_FILE as usize) {
            let id = symbol_row(version.id, place as u32);
            insert.execute(params![
                id,
                symbol.name,
                symbol.kind.index(),
                pack_flags(id, symbol),
                symbol.line,
                symbol.symbol_key,
                symbol.stable_key,
            ])?;
        }
    }
    Ok(())
}

/// Packs the flags of a symbol below a checksum of the columns in the index by name.
fn pack_flags(id: i64, symbol: &SymbolEntry) -> i64 {
    let flags = i64::from(symbol.is_public) | i64::from(symbol.in_test) << 1;
    flags | symbol_checksum(id, &symbol.name, symbol.kind.index(), flags, symbol.line) << FLAG_BITS
}

/// The number of flag bits.
const FLAG_BITS: i64 = 2;

/// The checksum has 21 bits, so that with the flags it takes three bytes in the row and three in its index.
const SYMBOL_CHECKSUM_MASK: i64 = (1 << 21) - 1;

fn symbol_checksum(id: i64, name: &str, kind: u8, flags: i64, line: u32) -> i64 {
    let sum = Checksum::new().number(id).text(name).number(kind.into()).number(flags).number(line.into());
    sum.value() & SYMBOL_CHECKSUM_MASK
}

/// Unpacks the flags of a symbol (public, test code); fails if its row is not what was written.
fn unpack_flags(id: i64, name: &str, kind: u8, marks: i64, line: u32) -> Result<(bool, bool)> {
    let flags = marks & ((1 << FLAG_BITS) - 1);
    match marks >> FLAG_BITS == symbol_checksum(id, name, kind, flags, line) {
        true => Ok((flags & 1 != 0, flags & 2 != 0)),
        false => Err(checksum::corrupt_row(&format!("the symbol {name:?}"))),
    }
}

fn insert_references(connection: &Connection, versions: &[NewVersion]) -> Result<()> {
    let mut lists: HashMap<&str, PostingsBuilder> = HashMap::new();
    for version in versions {
        for (name, part) in &version.references {
            lists.entry(name).or_insert_with(|| PostingsBuilder::new(version.id)).push(version.id, part);
        }
    }
    let mut names: Vec<&str> = lists.keys().copied().collect();
    names.sort_unstable();
    let mut insert = connection.prepare_cached("INSERT INTO name_refs VALUES (?1, ?2, ?3)")?;
    for name in names {
        let list = lists.remove(name).expect("because each name is taken once");
        let first = list.first;
        insert.execute(params![name, first, list.finish(name)])?;
    }
    Ok(())
}

/// Calls `look` with every version that a view may hold; fails at the first row that is not what was written.
pub(crate) fn for_each_version(
    connection: &Connection,
    mut look: impl FnMut(&VersionInfo) -> Result<()>,
) -> Result<()> {
    let mut select = connection
        .prepare(&format!("SELECT {CHECKSUMMED_COLUMNS}, facts_version, {COUNT_COLUMNS} FROM file_versions"))?;
    let mut rows = select.query([])?;
    let counts = CHECKSUM_COLUMN + 2;
    while let Some(row) = rows.next()? {
        let version = read_version(row)?;
        checksum::check_row(row, counts..counts + 10, &describe(row))?;
        if row.get::<_, i64>(counts + 9)? != totals::digest(&version.path, &version.blob, version.facts_version) {
            return Err(checksum::corrupt_row(&describe(row)));
        }
        if row.get_ref(5)? == ValueRef::Null {
            look(&version)?;
        }
    }
    Ok(())
}

/// Returns the stored symbols of a version.
pub(crate) fn symbols(connection: &Connection, version: VersionId) -> Result<Vec<SymbolEntry>> {
    let columns = "id, name, kind, marks, line_start, symbol_key, stable_key";
    let sql = format!("SELECT {columns} FROM symbol_relations WHERE id BETWEEN ?1 AND ?2 ORDER BY id");
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(symbol_rows(version))?;
    let mut symbols = Vec::new();
    while let Some(row) = rows.next()? {
        let SymbolRow { kind, is_public, in_test, line, .. } = read_symbol(row)?;
        let (name, symbol_key, stable_key) = (row.get(1)?, row.get(5)?, row.get(6)?);
        symbols.push(SymbolEntry { name, kind, is_public, in_test, line, symbol_key, stable_key });
    }
    Ok(symbols)
}

/// A row of `symbol_relations`; the rest of the symbol is in its file's facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolRow {
    /// Its file version.
    pub version: VersionId,
    /// Its index in that file's facts.
    pub ordinal: u32,
    /// Its kind.
    pub kind: SymbolKind,
    /// Whether it is public.
    pub is_public: bool,
    /// Whether its text makes it test code; the path is not considered.
    pub in_test: bool,
    /// Its first line.
    pub line: u32,
}

/// Selects the columns of symbols.
pub(crate) const SELECT_SYMBOLS: &str = "SELECT id, name, kind, marks, line_start FROM symbol_relations";

/// Reads a symbol and verifies that its row is what was written.
pub(crate) fn read_symbol(row: &Row<'_>) -> Result<SymbolRow> {
    let (id, kind, line) = (row.get(0)?, row.get(2)?, row.get(4)?);
    let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
    let (is_public, in_test) = unpack_flags(id, name, kind, row.get(3)?, line)?;
    let (version, place) = symbol_ordinal(id);
    let unknown = || StoreError::Corrupt("store.db: a symbol of unknown kind".into());
    let kind = SymbolKind::from_index(kind).ok_or_else(unknown)?;
    Ok(SymbolRow { version, ordinal: place, kind, is_public, in_test, line })
}

/// Selects the columns of versions.
pub(crate) fn select_versions() -> String {
    format!("SELECT {CHECKSUMMED_COLUMNS}, facts_version FROM file_versions")
}

/// Reads a version and verifies that its row is what was written.
pub(crate) fn read_version(row: &Row<'_>) -> Result<VersionInfo> {
    check_version(row)?;
    Ok(VersionInfo {
        id: row.get(0)?,
        path: row.get(1)?,
        blob: blob(row)?,
        language: row.get(4)?,
        lines: row.get(6)?,
        symbols: row.get(7)?,
        bytes: row.get::<_, i64>(3)? as u64,
        facts_version: row.get(CHECKSUM_COLUMN + 1)?,
    })
}

/// Returns every stored version of a path, newest first.
pub(crate) fn versions_at_path(connection: &Connection, path: &str) -> Result<Vec<StoredVersion>> {
    let mut select = connection.prepare_cached(&format!("{} WHERE path = ?1 ORDER BY fv DESC", select_versions()))?;
    let mut rows = select.query([path])?;
    let mut known = Vec::new();
    while let Some(row) = rows.next()? {
        known.push(stored_version_row(row)?);
    }
    Ok(known)
}

/// Returns every stored version by path, newest first. For many paths one scan is faster than single lookups.
pub(crate) fn versions_by_path(connection: &Connection) -> Result<HashMap<String, Vec<StoredVersion>>> {
    let mut select = connection.prepare(&format!("{} ORDER BY fv DESC", select_versions()))?;
    let mut rows = select.query([])?;
    let mut known: HashMap<String, Vec<StoredVersion>> = HashMap::new();
    while let Some(row) = rows.next()? {
        known.entry(row.get(1)?).or_default().push(stored_version_row(row)?);
    }
    Ok(known)
}

/// Returns a stored version by its id.
pub(crate) fn version_by_id(connection: &Connection, id: VersionId) -> Result<Option<StoredVersion>> {
    let mut select = connection.prepare_cached(&format!("{} WHERE fv = ?1", select_versions()))?;
    let mut rows = select.query([id])?;
    rows.next()?.map(stored_version_row).transpose()
}

fn stored_version_row(row: &Row<'_>) -> Result<StoredVersion> {
    check_version(row)?;
    Ok(StoredVersion {
        id: row.get(0)?,
        blob: blob(row)?,
        size: row.get::<_, i64>(3)? as u64,
        language: row.get(4)?,
        facts_version: row.get(CHECKSUM_COLUMN + 1)?,
        skip: row.get::<_, Option<u8>>(5)?.and_then(SkipReason::from_index),
    })
}

/// Reads the blob id from a row of [`CHECKSUMMED_COLUMNS`].
fn blob(row: &Row<'_>) -> Result<BlobId> {
    let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
    BlobId::from_bytes(bytes).ok_or_else(|| StoreError::Corrupt(format!("store.db: {} has no blob id", describe(row))))
}
