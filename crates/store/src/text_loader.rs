//! The text loader: reads texts on a thread of its own.

use std::path::Path;

use codecompass_model::VersionId;
use rusqlite::{Connection, OptionalExtension};

use crate::{Result, StoreError, codec, schema};

/// A separate connection that reads texts by version id. Ids are never reused and versions of an open snapshot are not
/// collected, so it reads what the snapshot would, while the snapshot exists.
pub(crate) struct TextLoader {
    connection: Connection,
    unpacker: codec::Unpacker,
    text: Vec<u8>,
}

impl std::fmt::Debug for TextLoader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

impl TextLoader {
    /// Opens the store in the folder of an epoch.
    pub(crate) fn open(epoch: &Path) -> Result<Self> {
        let connection = schema::open_at(epoch)?;
        connection.execute_batch("PRAGMA query_only = ON")?;
        // Every text is read once, from pages of its own.
        schema::limit_page_cache(&connection, 256)?;
        Ok(Self { connection, unpacker: codec::Unpacker::new()?, text: Vec::new() })
    }

    /// Reads the text of a version and returns what `look` makes of it.
    pub(crate) fn read<T>(&mut self, id: VersionId, look: impl FnOnce(&str) -> T) -> Result<T> {
        let Self { connection, unpacker, text } = self;
        let mut select = connection.prepare_cached("SELECT body FROM texts WHERE fv = ?1")?;
        let unpack = |row: &rusqlite::Row<'_>| Ok(unpacker.unpack(row.get_ref(0)?.as_blob()?, text));
        let found = select.query_row([id], unpack).optional()?;
        found.ok_or_else(|| StoreError::Corrupt(format!("store.db: file version {id} has no text")))??;
        let text = std::str::from_utf8(text);
        text.map(look).map_err(|error| StoreError::Corrupt(format!("store.db: a text: {error}")))
    }
}
