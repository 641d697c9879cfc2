//! Deduplication: merges file versions with the same content that a full extraction stored twice.
//!
//! Version ids are compared to decide whether a file belongs to the default branch or is an edit. All views must
//! therefore hold the same one of two duplicates: the newer one. They are merged when a full extraction is published.
//! If it never was, the next writer merges them.

use codecompass_model::VersionId;
use roaring::RoaringBitmap;
use rusqlite::{Connection, params};

use crate::{Result, codec, schema, stat_cache, views};

/// The key in `meta` that says that duplicates may exist.
const META_KEY: &str = "twins";

/// Records that versions will be stored that may exist already.
pub(crate) fn expect_duplicates(connection: &Connection) -> Result<()> {
    schema::set_meta(connection, META_KEY, 1)
}

/// Whether duplicates may exist.
pub(crate) fn may_have_duplicates(connection: &Connection) -> Result<bool> {
    let mut select = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?1)")?;
    Ok(select.query_row([META_KEY], |row| row.get(0))?)
}

/// Makes every view hold the newer one of duplicates, inside the caller's transaction. Returns whether any view
/// changed.
pub(crate) fn merge_duplicates(connection: &Connection, generation: i64) -> Result<bool> {
    connection.execute_batch(
        "CREATE TEMP TABLE twins AS SELECT old.fv AS old, max(new.fv) AS new FROM file_versions AS old
         JOIN file_versions AS new ON new.path = old.path AND new.blob = old.blob AND new.fv > old.fv
         AND new.language = old.language AND new.facts_version = old.facts_version AND new.skip IS old.skip
         GROUP BY old.fv",
    )?;
    let pairs: Vec<(VersionId, VersionId)> = {
        let mut select = connection.prepare("SELECT old, new FROM temp.twins")?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    connection.execute_batch("DROP TABLE temp.twins")?;
    stat_cache::replace(connection, &pairs)?;
    let mut has_changed = false;
    for view in views::all(connection)? {
        let Some(held) = views::bitmaps(connection, &view.key)? else { continue };
        let [members, skipped, edited] =
            [&held.members, &held.skipped, &held.edited].map(|old| replace_with_newer(old, &pairs));
        if (&members, &skipped, &edited) == (&held.members, &held.skipped, &held.edited) {
            continue;
        }
        has_changed = true;
        connection.execute(
            "UPDATE branch_state SET members = ?2, skipped = ?3, edited = ?4, generation = ?5 WHERE view = ?1",
            params![
                view.key.encode(),
                codec::encode_bitmap(&members),
                codec::encode_bitmap(&skipped),
                codec::encode_bitmap(&edited),
                generation,
            ],
        )?;
        views::update_checksum(connection, &view.key)?;
    }
    connection.execute("DELETE FROM meta WHERE key = ?1", [META_KEY])?;
    Ok(has_changed)
}

fn replace_with_newer(versions: &RoaringBitmap, pairs: &[(VersionId, VersionId)]) -> RoaringBitmap {
    let mut united = versions.clone();
    for (old, new) in pairs {
        if united.remove(*old) {
            united.insert(*new);
        }
    }
    united
}
