//! A symbol as an answer shows it.

use std::rc::Rc;

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{FileFacts, Symbol};
use codecompass_store::{Result, Snapshot, StoreError, SymbolRow, VersionInfo};

use crate::score::Scores;

/// A symbol with the file it stands in.
#[derive(Clone, Debug)]
pub struct SymbolHit {
    /// The file.
    pub version: VersionInfo,
    /// How well it answers the question.
    pub scores: Scores,
    facts: Rc<FileFacts>,
    place: u32,
}

impl SymbolHit {
    /// Reads the symbol behind a row.
    pub(crate) fn read(snapshot: &Snapshot, row: &SymbolRow) -> Result<Self> {
        let lost = || StoreError::Corrupt(format!("symbol {} of file version {}", row.place, row.version));
        let facts = snapshot.facts(row.version)?;
        let version = snapshot.version(row.version)?.ok_or_else(lost)?;
        if facts.symbols.get(row.place as usize).is_none() {
            return Err(lost());
        }
        Ok(Self { version, scores: Scores::default(), facts, place: row.place })
    }

    /// The symbol itself.
    pub fn symbol(&self) -> &Symbol {
        &self.facts.symbols[self.place as usize]
    }

    /// The facts of its file, and its place in them.
    pub fn in_facts(&self) -> (&Rc<FileFacts>, u32) {
        (&self.facts, self.place)
    }

    /// Its `symbol_id`.
    pub fn id(&self) -> SymbolId {
        SymbolId::of(&self.version.path, self.symbol())
    }

    /// Its `symbol_stable_id`.
    pub fn stable_id(&self) -> StableId {
        StableId::of(&self.version.language, self.symbol())
    }
}
