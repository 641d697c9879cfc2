//! Garbage: file versions that no view holds, in this generation or the previous one.
//!
//! It is collected when it exceeds a fifth of the stored versions and no snapshot is open in any process. Rows are
//! deleted first, in one transaction. Documents follow, because only rows make them reachable. Postings are rewritten
//! without the dead versions.

use codecompass_model::VersionId;
use roaring::RoaringBitmap;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::postings::{self, PostingsBuilder};
use crate::{Result, StoreError, Writer, rows, schema, views};

/// The minimum number of dead versions that is worth a commit.
const MIN_DEAD_VERSIONS: u64 = 64;

/// The result of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Garbage {
    /// The number of removed versions.
    pub removed: u64,
    /// The number of dead versions that are still stored.
    pub left: u64,
}

impl Writer {
    /// Completes the work that no caller waits for: garbage collection, merges, the checkpoint.
    pub fn finish(mut self) -> Result<Garbage> {
        match self.clean_up() {
            // Published views stay published. A later writer with enough space cleans up.
            Err(StoreError::DiskFull(_)) => {
                self.discard_batch();
                Ok(Garbage::default())
            }
            outcome => outcome,
        }
    }

    fn clean_up(&mut self) -> Result<Garbage> {
        let garbage = if self.has_published() { collect(self)? } else { Garbage::default() };
        if let Some(text) = self.take_text_writer() {
            text.finish()?;
        }
        self.checkpoint();
        Ok(garbage)
    }
}

fn collect(writer: &mut Writer) -> Result<Garbage> {
    let dead = dead_versions(writer.connection())?;
    let stored: i64 = writer.connection().query_row("SELECT count(*) FROM file_versions", [], |row| row.get(0))?;
    let wanted = dead.len() > MIN_DEAD_VERSIONS && dead.len() * 5 > stored as u64;
    let alone = if wanted { writer.dir().lock_without_readers() } else { None };
    if alone.is_none() {
        return Ok(Garbage { removed: 0, left: dead.len() });
    }
    remove_rows(writer, &dead)?;
    // A power failure must not restore rows after their documents are gone for good.
    if writer.checkpoint_log() {
        remove_documents(writer)?;
    }
    Ok(Garbage { removed: dead.len(), left: 0 })
}

pub(crate) fn dead_versions(connection: &Connection) -> Result<RoaringBitmap> {
    let mut select = connection.prepare_cached("SELECT fv FROM file_versions ORDER BY fv")?;
    let rows = select.query_map([], |row| row.get::<_, VersionId>(0))?;
    let stored: RoaringBitmap = rows.collect::<rusqlite::Result<_>>()?;
    Ok(stored - views::needed_versions(connection)?)
}

fn remove_rows(writer: &mut Writer, dead: &RoaringBitmap) -> Result<()> {
    writer.reach_write_point("remove rows");
    let transaction = writer.connection().transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut version = transaction.prepare_cached("DELETE FROM file_versions WHERE fv = ?1")?;
        let mut outline = transaction.prepare_cached("DELETE FROM outlines WHERE fv = ?1")?;
        let mut facts = transaction.prepare_cached("DELETE FROM facts WHERE fv = ?1")?;
        let mut text = transaction.prepare_cached("DELETE FROM texts WHERE fv = ?1")?;
        let mut symbols = transaction.prepare_cached("DELETE FROM symbol_relations WHERE id BETWEEN ?1 AND ?2")?;
        for id in dead {
            version.execute([id])?;
            outline.execute([id])?;
            facts.execute([id])?;
            text.execute([id])?;
            symbols.execute(rows::symbol_rows(id))?;
        }
        transaction.execute("DELETE FROM stat_cache WHERE fv NOT IN (SELECT fv FROM file_versions)", [])?;
        rewrite_lists(&transaction, dead)?;
    }
    transaction.commit()?;
    Ok(())
}

/// A name and its references in live versions.
type LivePostings = (String, Vec<(VersionId, Vec<u32>)>);

/// Rewrites the postings of each name as one list of live versions, so that many small publishes do not leave many
/// lists.
fn rewrite_lists(connection: &Connection, dead: &RoaringBitmap) -> Result<()> {
    connection.execute_batch(
        "CREATE TEMP TABLE living (name TEXT NOT NULL, first_fv INTEGER NOT NULL, list BLOB NOT NULL)",
    )?;
    copy_lists(connection, "main.name_refs", "temp.living", |version| !dead.contains(version))?;
    connection.execute_batch(
        "DELETE FROM name_refs;
         INSERT INTO name_refs SELECT name, first_fv, list FROM temp.living ORDER BY name;
         DROP TABLE temp.living",
    )?;
    Ok(())
}

/// Copies postings from one table to another, one list per name, without the versions that are not live.
pub(crate) fn copy_lists(
    connection: &Connection,
    from: &'static str,
    to: &'static str,
    is_living: impl Fn(VersionId) -> bool,
) -> Result<()> {
    let mut select = connection.prepare(&format!("SELECT name, first_fv, list FROM {from} ORDER BY name, first_fv"))?;
    let mut insert = connection.prepare(&format!("INSERT INTO {to} VALUES (?1, ?2, ?3)"))?;
    let mut found = select.query([])?;
    let mut current: Option<LivePostings> = None;
    while let Some(row) = found.next()? {
        let name = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if current.as_ref().is_none_or(|(known, _)| known != name) {
            write_list(&mut insert, current.take())?;
            current = Some((name.to_owned(), Vec::new()));
        }
        let parts = &mut current.as_mut().expect("because it was just set").1;
        let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        let whole = postings::for_each_file(name, row.get(1)?, bytes, |version, places| {
            if is_living(version) {
                parts.push((version, places.to_vec()));
            }
        });
        if !whole {
            return Err(postings::corrupt_list(name));
        }
    }
    write_list(&mut insert, current)
}

fn write_list(insert: &mut rusqlite::Statement<'_>, list: Option<LivePostings>) -> Result<()> {
    let Some((name, mut parts)) = list else {
        return Ok(());
    };
    parts.sort_unstable_by_key(|(version, _)| *version);
    let Some(&(first, _)) = parts.first() else {
        return Ok(());
    };
    let mut builder = PostingsBuilder::new(first);
    for (version, places) in parts {
        builder.push(version, &postings::encode_postings(&places));
    }
    insert.execute(params![name, first, builder.finish(&name)])?;
    Ok(())
}

/// Removes the documents of all versions without a row: the collected ones, and those of a flush that was interrupted
/// between its two commits.
fn remove_documents(writer: &mut Writer) -> Result<()> {
    let present = writer.text().versions()?;
    let stored: RoaringBitmap = {
        let mut select = writer.connection().prepare("SELECT fv FROM file_versions ORDER BY fv")?;
        let rows = select.query_map([], |row| row.get::<_, VersionId>(0))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    let mark = schema::meta(writer.connection(), "text_mark")? + 1;
    let next = schema::meta(writer.connection(), "next_fv")?;
    let text = writer.text_writer()?;
    for id in present.into_iter().filter(|id| !stored.contains(*id)) {
        text.delete(id);
    }
    writer.reach_write_point("remove documents");
    writer.text_writer()?.commit(mark, next)?;
    schema::set_meta(writer.connection(), "text_mark", mark)
}
