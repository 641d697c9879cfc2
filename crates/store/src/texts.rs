//! Reading many texts of a snapshot, on any thread.

use codecompass_model::VersionId;
use rusqlite::{Connection, OptionalExtension};

use crate::{Result, Snapshot, StoreError, codec, schema};

/// A connection of its own that reads texts by version id. Ids are never used again and what a snapshot holds is not
/// collected, so what it reads is what the snapshot would, as long as that is there.
pub struct Texts {
    connection: Connection,
    unpacker: codec::Unpacker,
    text: Vec<u8>,
}

impl std::fmt::Debug for Texts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

impl Snapshot {
    /// A reader of texts that can go to another thread.
    pub fn texts(&self) -> Result<Texts> {
        let connection = schema::open_at(self.epoch())?;
        connection.execute_batch("PRAGMA query_only = ON")?;
        Ok(Texts { connection, unpacker: codec::Unpacker::new()?, text: Vec::new() })
    }
}

impl Texts {
    /// The text of a version.
    pub fn read(&mut self, id: VersionId) -> Result<&str> {
        let Self { connection, unpacker, text } = self;
        let mut select = connection.prepare_cached("SELECT body FROM texts WHERE fv = ?1")?;
        let unpack = |row: &rusqlite::Row<'_>| Ok(unpacker.unpack(row.get_ref(0)?.as_blob()?, text));
        let found = select.query_row([id], unpack).optional()?;
        found.ok_or_else(|| StoreError::Corrupt(format!("file version {id} has no text")))??;
        std::str::from_utf8(&self.text).map_err(|error| StoreError::Corrupt(format!("a stored text: {error}")))
    }
}
