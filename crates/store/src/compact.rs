//! Compact copies: a store with the content of some views, packed tightly, and nothing else.
//!
//! The copy is built in its own folder beside the epoch in use, which is only read. Rows are inserted in key order and
//! indexes are built at the end, so that the same content always gives the same bytes. Nothing that was deleted or is
//! unreachable is copied, not even in unused pages or as a term without its text.

use std::fs;
use std::path::Path;

use codecompass_model::ViewKey;
use roaring::RoaringBitmap;
use rusqlite::{Connection, params};

use crate::layout::sync_to_disk;
use crate::secret_removal::{self, SecretRemoval};
use crate::text::{self, TextIndex};
use crate::verified::META;
use crate::views::{self, ViewInfo};
use crate::{Result, StoreError, codec, garbage, private, rows, schema, totals};

/// The selection of what a copy contains.
pub(crate) struct CompactOptions<'a> {
    /// The views, each with its key in the copy.
    pub(crate) views: &'a [(ViewInfo, ViewKey)],
    /// If set, machine-specific data is copied too: jobs, access times of views, and workspaces with their stat cache,
    /// except the workspaces at these roots.
    pub(crate) local_except_roots: Option<&'a [String]>,
    /// Versions to remove from the views.
    pub(crate) exclude: Option<&'a SecretRemoval>,
}

/// Copies one epoch's folder into an empty one and returns the number of file versions in the copy. The caller must
/// hold the write lock.
pub(crate) fn compact_into(from: &Path, to: &Path, taken: &CompactOptions<'_>) -> Result<u64> {
    let database = to.join("store.db");
    private::ensure_file(&database).map_err(StoreError::io(&database))?;
    let connection = Connection::open(&database)?;
    connection.pragma_update(None, "page_size", 4096)?;
    // No process reads the copy before it is complete, and it is synced at the end.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.execute("ATTACH ?1 AS old", [text_path(&from.join("store.db"))?])?;
    connection.execute_batch("BEGIN")?;
    schema::create_tables(&connection)?;
    let living = copy_views(&connection, taken)?;
    copy_versions(&connection)?;
    garbage::copy_lists(&connection, "old.name_refs", "main.name_refs", |version| living.contains(version))?;
    // The rules of the last secret scan belong to this machine's user.
    let rules = if taken.local_except_roots.is_some() { "" } else { "WHERE key <> 'secret_rules'" };
    connection.execute(&format!("INSERT INTO main.meta SELECT * FROM old.meta {rules} ORDER BY key"), [])?;
    if let Some(without) = taken.local_except_roots {
        copy_local(&connection, without)?;
    }
    if let Some(without) = taken.exclude {
        secret_removal::record_scan(&connection, without)?;
    }
    schema::create_indexes(&connection)?;
    connection.execute_batch("COMMIT; DROP TABLE temp.living; DETACH old")?;
    connection.close().map_err(|(_, error)| error)?;
    sync_to_disk(&database)?;
    copy_text(&from.join("text"), &to.join("text"), &living)?;
    Ok(living.len())
}

/// Returns a path as text for an SQL statement.
fn text_path(path: &Path) -> Result<String> {
    let unusable = || StoreError::io(path)(std::io::Error::other("the path of the data folder is not UTF-8"));
    path.to_str().map(str::to_owned).ok_or_else(unusable)
}

/// Copies the views and returns the versions that they need, which it also writes to `temp.living`.
fn copy_views(connection: &Connection, taken: &CompactOptions<'_>) -> Result<RoaringBitmap> {
    let accessed = if taken.local_except_roots.is_some() { "last_accessed_at" } else { "indexed_at" };
    let mut copy = connection.prepare(&format!(
        "INSERT INTO main.branch_state SELECT ?2, ref, commit_id, generation, members, ?3, skipped, edited, skips,
         facts_key, {}, indexed_at, {accessed}, sum FROM old.branch_state WHERE view = ?1",
        totals::COLUMNS
    ))?;
    // The previous generation is kept for its readers, and the copy has no readers yet.
    let previous = codec::encode_bitmap(&RoaringBitmap::new());
    for (view, key) in taken.views {
        copy.execute(params![view.key.encode(), key.encode(), previous])?;
        views::update_checksum(connection, key)?;
    }
    if let Some(without) = taken.exclude {
        secret_removal::remove_from_views(connection, without)?;
    }
    let living = views::needed_versions(connection)?;
    connection.execute_batch("CREATE TEMP TABLE living (fv INTEGER PRIMARY KEY)")?;
    let mut insert = connection.prepare("INSERT INTO temp.living VALUES (?1)")?;
    for id in &living {
        insert.execute([id])?;
    }
    Ok(living)
}

fn copy_versions(connection: &Connection) -> Result<()> {
    for table in ["file_versions", "outlines", "facts", "texts"] {
        connection.execute(
            &format!(
                "INSERT INTO main.{table} SELECT row.* FROM temp.living CROSS JOIN old.{table} AS row
                 ON row.fv = living.fv ORDER BY living.fv"
            ),
            [],
        )?;
    }
    let (first, last) = rows::symbol_rows(0);
    let per_version = last - first + 1;
    connection.execute(
        "INSERT INTO main.symbol_relations SELECT row.* FROM temp.living CROSS JOIN old.symbol_relations AS row
         ON row.id BETWEEN living.fv * ?1 AND living.fv * ?1 + ?2 ORDER BY living.fv, row.id",
        [per_version, last],
    )?;
    Ok(())
}

fn copy_local(connection: &Connection, without: &[String]) -> Result<()> {
    connection.execute_batch(
        "INSERT INTO main.workspaces SELECT * FROM old.workspaces ORDER BY id;
         INSERT INTO main.jobs SELECT * FROM old.jobs ORDER BY number",
    )?;
    let mut forget = connection.prepare("DELETE FROM main.workspaces WHERE root = ?1")?;
    for root in without {
        forget.execute([root])?;
    }
    connection.execute(
        "INSERT INTO main.stat_cache SELECT * FROM old.stat_cache WHERE fv IN (SELECT fv FROM temp.living)
         AND workspace IN (SELECT id FROM main.workspaces) ORDER BY workspace, path",
        [],
    )?;
    Ok(())
}

/// Copies the text index without the documents of all other versions. Tantivy never changes a file after writing it, so
/// hard links suffice where the system has them; only the list of segments is replaced.
fn copy_text(from: &Path, to: &Path, living: &RoaringBitmap) -> Result<()> {
    let names = TextIndex::open(from)?.files()?;
    private::create_folder(to).map_err(StoreError::io(to))?;
    for name in &names {
        let (source, target) = (from.join(name), to.join(name));
        let linked = if name == META { false } else { fs::hard_link(&source, &target).is_ok() };
        if !linked {
            fs::copy(&source, &target).map_err(StoreError::io(source))?;
            sync_to_disk(&target)?;
        }
    }
    text::write_managed(to, &names)?;
    TextIndex::open(to)?.keep_only(living)
}
