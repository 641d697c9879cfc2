//! The cache of vectors that an encoder outside of this program has made, by model and content.
//!
//! One file for all projects, `vectors.db` in the data folder. It is a cache: it can be deleted at any time, a file that
//! cannot be read is replaced, and the oldest vectors go when it becomes too large.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use crate::{Result, StoreError, private};

/// The maximum total size of the vectors, in bytes. A vector of 384 components is cached for one million symbols.
const MAX_BYTES: i64 = 400 << 20;

/// The share of the vectors that is deleted when there are too many.
const DELETED_SHARE: i64 = 5;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS model (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS vector (
        number INTEGER PRIMARY KEY,
        model INTEGER NOT NULL,
        key BLOB NOT NULL,
        vector BLOB NOT NULL,
        UNIQUE (model, key)
    );
";

/// The cached vectors of one model.
#[derive(Debug)]
pub struct VectorCache {
    connection: Connection,
    model: i64,
}

impl VectorCache {
    /// The path of the file in a data folder.
    pub fn path(data: &Path) -> PathBuf {
        data.join("vectors.db")
    }

    /// Opens the cache for a model, and creates the file if needed.
    pub fn open(path: &Path, model: &str) -> Result<Self> {
        let opened = Self::try_open(path, model);
        match opened {
            Err(StoreError::Corrupt(_)) => {
                for suffix in ["", "-wal", "-shm"] {
                    let mut file = path.as_os_str().to_owned();
                    file.push(suffix);
                    let _ = std::fs::remove_file(file);
                }
                Self::try_open(path, model)
            }
            opened => opened,
        }
    }

    fn try_open(path: &Path, model: &str) -> Result<Self> {
        if let Some(folder) = path.parent() {
            private::create_folder(folder).map_err(StoreError::io(folder))?;
        }
        private::ensure_file(path).map_err(StoreError::io(path))?;
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(2))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch(SCHEMA)?;
        connection.execute("INSERT OR IGNORE INTO model (name) VALUES (?1)", [model])?;
        let model = connection.query_row("SELECT id FROM model WHERE name = ?1", [model], |row| row.get(0))?;
        Ok(Self { connection, model })
    }

    /// The vectors with these keys, in this order, as far as they are cached.
    pub fn get(&self, keys: &[[u8; 16]]) -> Result<Vec<Option<Vec<u8>>>> {
        let mut select = self.connection.prepare_cached("SELECT vector FROM vector WHERE model = ?1 AND key = ?2")?;
        let find = |key: &[u8; 16]| Ok(select.query_row(params![self.model, key], |row| row.get(0)).optional()?);
        keys.iter().map(find).collect()
    }

    /// Whether each key is cached, in this order.
    pub fn has(&self, keys: &[[u8; 16]]) -> Result<Vec<bool>> {
        let mut select = self.connection.prepare_cached("SELECT 1 FROM vector WHERE model = ?1 AND key = ?2")?;
        keys.iter().map(|key| Ok(select.exists(params![self.model, key])?)).collect()
    }

    /// Adds vectors, and deletes the oldest ones if there are too many.
    pub fn put<'v>(&mut self, vectors: impl IntoIterator<Item = (&'v [u8; 16], &'v [u8])>) -> Result<()> {
        self.put_within(vectors, MAX_BYTES)
    }

    fn put_within<'v>(
        &mut self,
        vectors: impl IntoIterator<Item = (&'v [u8; 16], &'v [u8])>,
        max_bytes: i64,
    ) -> Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT OR IGNORE INTO vector (model, key, vector) VALUES (?1, ?2, ?3)")?;
            for (key, vector) in vectors {
                insert.execute(params![self.model, key, vector])?;
            }
        }
        // The numbers are dense: rows are only deleted from the start.
        let (first, last, width): (Option<i64>, Option<i64>, Option<i64>) = transaction.query_row(
            "SELECT min(number), max(number), (SELECT length(vector) FROM vector ORDER BY number DESC LIMIT 1) FROM vector",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        if let (Some(first), Some(last), Some(width)) = (first, last, width) {
            let count = last - first + 1;
            if count * width > max_bytes {
                transaction
                    .execute("DELETE FROM vector WHERE number < ?1", [first + (count / DELETED_SHARE).max(1)])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// The number of cached vectors of the model.
    pub fn count(&self) -> Result<u64> {
        let count: i64 =
            self.connection
                .query_row("SELECT count(*) FROM vector WHERE model = ?1", [self.model], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> [u8; 16] {
        [number; 16]
    }

    #[test]
    fn vectors_are_kept_by_model_and_content() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = VectorCache::path(folder.path());
        let mut small = VectorCache::open(&path, "small").expect("it opens");
        small.put([(&key(1), &[1_u8, 2][..]), (&key(2), &[3, 4])]).expect("it is written");
        let large = VectorCache::open(&path, "large").expect("it opens");
        assert_eq!(small.get(&[key(2), key(9)]).expect("it is read"), [Some(vec![3, 4]), None]);
        assert_eq!(small.has(&[key(2), key(9)]).expect("it is read"), [true, false]);
        assert_eq!(large.get(&[key(2)]).expect("it is read"), [None]);
        assert_eq!((small.count().expect("it is read"), large.count().expect("it is read")), (2, 0));
    }

    #[test]
    fn the_oldest_vectors_go_first() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut cache = VectorCache::open(&VectorCache::path(folder.path()), "m").expect("it opens");
        for number in 0..20 {
            cache.put_within([(&key(number), &[0_u8; 10][..])], 100).expect("it is written");
        }
        let kept = cache.count().expect("it is read");
        assert!((8..=10).contains(&kept), "{kept}");
        assert_eq!(cache.has(&[key(0), key(19)]).expect("it is read"), [false, true]);
    }

    #[test]
    fn a_file_that_is_no_database_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = VectorCache::path(folder.path());
        std::fs::write(&path, "no database, but long enough to be taken for the header of one".repeat(20))
            .expect("it is written");
        let mut cache = VectorCache::open(&path, "m").expect("it is replaced");
        cache.put([(&key(1), &[1_u8][..])]).expect("it is written");
        assert_eq!(cache.count().expect("it is read"), 1);
    }
}
