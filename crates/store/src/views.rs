//! Stored views: one row of `branch_state` each, a bitmap and its totals.

use codecompass_model::{SkipReason, ViewKey};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use serde::{Deserialize, Serialize};

use crate::{Result, StoreError, Totals, checksum, codec, rows, totals};

/// A view about to be published.
#[derive(Clone, Debug)]
pub struct ViewUpdate {
    /// Its key.
    pub key: ViewKey,
    /// The ref it represents.
    pub ref_name: String,
    /// The commit it was built from; `None` for a plain folder or an unborn branch.
    pub commit: Option<String>,
    /// The file versions in it.
    pub members: RoaringBitmap,
    /// Versions that were skipped because of their content, recorded so that they are not read again.
    pub skipped: RoaringBitmap,
    /// Members of a work tree that its commit does not have.
    pub edited: RoaringBitmap,
    /// The skipped files, by reason.
    pub skips: Vec<SkipCount>,
    /// The key of the extraction that it is based on.
    pub facts_key: u64,
}

/// The number of files that were skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkipCount {
    /// The reason.
    pub reason: SkipReason,
    /// The number of files or folders.
    pub count: u64,
    /// A few of them.
    pub examples: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredSkip(u8, u64, Vec<String>);

/// The metadata of a published view.
#[derive(Clone, Debug)]
pub struct ViewInfo {
    /// Its key.
    pub key: ViewKey,
    /// The ref it represents.
    pub ref_name: String,
    /// The commit it was built from.
    pub commit: Option<String>,
    /// The generation that published it.
    pub generation: i64,
    /// The key of the extraction that it is based on.
    pub facts_key: u64,
    /// The skipped files, by reason.
    pub skips: Vec<SkipCount>,
    /// Totals over its file versions.
    pub totals: Totals,
    /// When it was published, in milliseconds since 1970.
    pub indexed_at: i64,
    /// When it was last used by a request.
    pub last_accessed_at: i64,
}

/// The bitmaps of a view.
#[derive(Clone, Debug, Default)]
pub struct Bitmaps {
    /// The file versions in it.
    pub members: RoaringBitmap,
    /// The file versions of the previous generation.
    pub previous: RoaringBitmap,
    /// Versions that were skipped because of their content.
    pub skipped: RoaringBitmap,
    /// Members of a work tree that its commit does not have.
    pub edited: RoaringBitmap,
}

/// Returns the columns of a view in the order of its checksum. The bitmaps have their own checksums, because they are
/// read alone.
fn checksummed_columns() -> String {
    format!("view, ref, commit_id, generation, skips, {}, indexed_at", totals::COLUMNS)
}

/// The position of the first total among them.
const TOTALS_AT: usize = 5;

/// The position of the checksum column after them.
const CHECKSUM_COLUMN: usize = TOTALS_AT + totals::COUNT + 1;

fn select_info() -> String {
    format!("SELECT {}, sum, facts_key, last_accessed_at FROM branch_state", checksummed_columns())
}

pub(crate) fn info(connection: &Connection, key: &ViewKey) -> Result<Option<ViewInfo>> {
    let mut select = connection.prepare_cached(&format!("{} WHERE view = ?1", select_info()))?;
    let mut rows = select.query([key.encode()])?;
    rows.next()?.map(info_row).transpose()
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<ViewInfo>> {
    let mut select = connection.prepare_cached(&format!("{} ORDER BY view", select_info()))?;
    let mut rows = select.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(info_row(row)?);
    }
    Ok(all)
}

fn info_row(row: &Row<'_>) -> Result<ViewInfo> {
    checksum::check_row(row, 0..CHECKSUM_COLUMN, "a view")?;
    let text = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
    let key = ViewKey::decode(text).ok_or_else(corrupt_view)?;
    let skips = row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?;
    let skips = postcard::from_bytes::<Vec<StoredSkip>>(skips).map_err(|_| corrupt_view())?;
    Ok(ViewInfo {
        key,
        ref_name: row.get(1)?,
        commit: row.get(2)?,
        generation: row.get(3)?,
        skips: skips.into_iter().filter_map(read_skip).collect(),
        totals: totals_row(row)?,
        indexed_at: row.get(CHECKSUM_COLUMN - 1)?,
        facts_key: row.get::<_, i64>(CHECKSUM_COLUMN + 1)? as u64,
        last_accessed_at: row.get(CHECKSUM_COLUMN + 2)?,
    })
}

/// Recomputes the checksum of a view after a statement derived it from an intact one.
pub(crate) fn update_checksum(connection: &Connection, key: &ViewKey) -> Result<()> {
    let sum: i64 = connection.query_row(
        &format!("SELECT {} FROM main.branch_state WHERE view = ?1", checksummed_columns()),
        [key.encode()],
        |row| checksum::row_checksum(row, 0..CHECKSUM_COLUMN),
    )?;
    connection.execute("UPDATE main.branch_state SET sum = ?2 WHERE view = ?1", params![key.encode(), sum])?;
    Ok(())
}

fn totals_row(row: &Row<'_>) -> rusqlite::Result<Totals> {
    let mut values = [0; totals::COUNT];
    for (at, value) in values.iter_mut().enumerate() {
        *value = row.get(TOTALS_AT + at)?;
    }
    Ok(Totals::from_values(values))
}

fn read_skip(StoredSkip(reason, count, examples): StoredSkip) -> Option<SkipCount> {
    SkipReason::from_index(reason).map(|reason| SkipCount { reason, count, examples })
}

fn corrupt_view() -> StoreError {
    StoreError::Corrupt("store.db: a view cannot be read".into())
}

pub(crate) fn bitmaps(connection: &Connection, key: &ViewKey) -> Result<Option<Bitmaps>> {
    let mut select =
        connection.prepare_cached("SELECT members, previous, skipped, edited FROM branch_state WHERE view = ?1")?;
    let row = select.query_row([key.encode()], bitmap_bytes).optional()?;
    row.map(read_bitmaps).transpose()
}

/// Returns all versions that some view needs: its members, those of the previous generation, and the skipped ones.
pub(crate) fn needed_versions(connection: &Connection) -> Result<RoaringBitmap> {
    let mut select = connection.prepare_cached("SELECT members, previous, skipped, edited FROM branch_state")?;
    let rows = select.query_map([], bitmap_bytes)?;
    let mut needed = RoaringBitmap::new();
    for row in rows {
        let bitmaps = read_bitmaps(row?)?;
        needed |= bitmaps.members;
        needed |= bitmaps.previous;
        needed |= bitmaps.skipped;
    }
    Ok(needed)
}

fn bitmap_bytes(row: &Row<'_>) -> rusqlite::Result<[Vec<u8>; 4]> {
    Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
}

fn read_bitmaps([members, previous, skipped, edited]: [Vec<u8>; 4]) -> Result<Bitmaps> {
    Ok(Bitmaps {
        members: codec::decode_bitmap(&members)?,
        previous: codec::decode_bitmap(&previous)?,
        skipped: codec::decode_bitmap(&skipped)?,
        edited: codec::decode_bitmap(&edited)?,
    })
}

/// Writes a view inside the caller's transaction. A member without a row is [`StoreError::Corrupt`].
pub(crate) fn publish(connection: &Connection, update: &ViewUpdate, generation: i64, now: i64) -> Result<()> {
    let old = bitmaps(connection, &update.key)?.unwrap_or_default();
    let mut totals = info(connection, &update.key)?.map(|info| info.totals).unwrap_or_default();
    let (added, removed) = (&update.members - &old.members, &old.members - &update.members);
    if added.len() > old.members.len() / 2 {
        totals = Totals::default();
        add_totals(connection, &mut totals, &update.members, 1)?;
    } else {
        add_totals(connection, &mut totals, &added, 1)?;
        add_totals(connection, &mut totals, &removed, -1)?;
    }
    let skips: Vec<StoredSkip> =
        update.skips.iter().map(|skip| StoredSkip(skip.reason.index(), skip.count, skip.examples.clone())).collect();
    let skips = postcard::to_stdvec(&skips).expect("because counts and paths can be encoded");
    let (view, facts_key, values) = (update.key.encode(), update.facts_key as i64, totals.values());
    let [members, previous, skipped, edited] =
        [&update.members, &old.members, &update.skipped, &update.edited].map(codec::encode_bitmap);
    let mut bound: Vec<&dyn ToSql> = vec![&view, &update.ref_name, &update.commit, &generation];
    bound.extend([&members as &dyn ToSql, &previous, &skipped, &edited, &skips, &facts_key]);
    bound.extend(values.iter().map(|value| value as &dyn ToSql));
    bound.extend([&now as &dyn ToSql, &now]);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO branch_state VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
             ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, 0)",
        )?
        .execute(&bound[..])?;
    update_checksum(connection, &update.key)
}

/// Records that a view was used.
pub(crate) fn touch(connection: &Connection, key: &ViewKey, now: i64) -> Result<()> {
    connection
        .prepare_cached("UPDATE branch_state SET last_accessed_at = ?2 WHERE view = ?1")?
        .execute(params![key.encode(), now])?;
    Ok(())
}

/// Deletes the views of single commits except the most recently used ones.
pub(crate) fn evict_commit_views(connection: &Connection, keep: i64) -> Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM branch_state WHERE view IN (SELECT view FROM branch_state WHERE view GLOB 'commit:*'
             ORDER BY last_accessed_at DESC, view LIMIT -1 OFFSET ?1)",
        )?
        .execute([keep])?;
    Ok(())
}

/// Recomputes the totals of every view from its members.
pub(crate) fn recompute_totals(connection: &Connection, generation: i64) -> Result<()> {
    for view in all(connection)? {
        let held = bitmaps(connection, &view.key)?.unwrap_or_default();
        let mut totals = Totals::default();
        add_totals(connection, &mut totals, &held.members, 1)?;
        if totals == view.totals {
            continue;
        }
        let (key, values) = (view.key.encode(), totals.values());
        let mut bound: Vec<&dyn ToSql> = vec![&key, &generation];
        bound.extend(values.iter().map(|value| value as &dyn ToSql));
        let update = format!(
            "UPDATE branch_state SET generation = ?2, ({}) = (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             WHERE view = ?1",
            totals::COLUMNS
        );
        connection.execute(&update, &bound[..])?;
        update_checksum(connection, &view.key)?;
    }
    Ok(())
}

fn add_totals(connection: &Connection, totals: &mut Totals, versions: &RoaringBitmap, sign: i64) -> Result<()> {
    rows::for_each_total(connection, versions.iter(), |one| totals.add(one, sign))
}
