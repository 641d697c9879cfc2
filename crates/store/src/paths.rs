//! Path lookups in a view other than by the full path of a file.

use codecompass_model::SkipReason;

use crate::{Result, Snapshot, views};

impl Snapshot {
    /// Whether the path of some file has this prefix.
    pub fn has_path_with_prefix(&self, start: &str) -> Result<bool> {
        let sql = "SELECT fv, path FROM file_versions WHERE path >= ?1 ORDER BY path";
        let mut select = self.connection.prepare_cached(sql)?;
        let mut found = select.query([start])?;
        while let Some(row) = found.next()? {
            let path = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            if !path.starts_with(start) {
                break;
            }
            if self.members().contains(row.get(0)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns why the file at a path is not in the view, if it was read and skipped because of its content.
    pub fn skip_reason_at(&self, path: &str) -> Result<Option<SkipReason>> {
        let sql = "SELECT fv, skip FROM file_versions WHERE path = ?1 AND skip IS NOT NULL";
        let mut select = self.connection.prepare_cached(sql)?;
        let mut found = select.query([path])?;
        let skipped = views::bitmaps(&self.connection, &self.info().key)?.unwrap_or_default().skipped;
        while let Some(row) = found.next()? {
            if skipped.contains(row.get(0)?) {
                return Ok(SkipReason::from_index(row.get(1)?));
            }
        }
        Ok(None)
    }
}
