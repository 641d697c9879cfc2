//! The removal of secrets from the rows of a store.

use roaring::RoaringBitmap;
use rusqlite::{Connection, params};

use crate::{Result, codec, schema, views};

/// The versions that a compact copy leaves out.
pub(crate) struct SecretRemoval {
    pub(crate) versions: RoaringBitmap,
    pub(crate) key: i64,
    /// The rules differ from those before. Files that the old rules excluded may be missing now, so every view must be
    /// listed again.
    pub(crate) rules_changed: bool,
}

/// Removes versions from all views, before the content of the views is copied.
pub(crate) fn remove_from_views(connection: &Connection, without: &SecretRemoval) -> Result<()> {
    for view in views::all(connection)? {
        let Some(held) = views::bitmaps(connection, &view.key)? else { continue };
        if held.members.is_disjoint(&without.versions) {
            continue;
        }
        connection.execute(
            // No extraction has this key, so the next request for the view lists it again.
            "UPDATE branch_state SET members = ?2, edited = ?3, facts_key = 0 WHERE view = ?1",
            params![
                view.key.encode(),
                codec::encode_bitmap(&(&held.members - &without.versions)),
                codec::encode_bitmap(&(&held.edited - &without.versions)),
            ],
        )?;
    }
    Ok(())
}

/// Recomputes the totals of views and records the rules. Readers notice the change by the generation.
pub(crate) fn record_scan(connection: &Connection, without: &SecretRemoval) -> Result<()> {
    if without.rules_changed || !without.versions.is_empty() {
        let generation = schema::meta(connection, "generation")? + 1;
        for view in views::all(connection)?.into_iter().filter(|_| without.rules_changed) {
            let renew = "UPDATE branch_state SET facts_key = 0, generation = ?2 WHERE view = ?1";
            connection.execute(renew, params![view.key.encode(), generation])?;
            views::update_checksum(connection, &view.key)?;
        }
        views::recompute_totals(connection, generation)?;
        schema::set_meta(connection, "generation", generation)?;
    }
    schema::set_meta(connection, "secret_rules", without.key)
}
