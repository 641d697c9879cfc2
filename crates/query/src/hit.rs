//! A symbol as an answer shows it.

use std::rc::Rc;

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{Symbol, SymbolAt};
use codecompass_store::{Outline, Result, Snapshot, StoreError, SymbolRow, VersionInfo};

use crate::score::Scores;

/// A symbol with the file it stands in.
#[derive(Clone, Debug)]
pub struct SymbolHit {
    /// The file.
    pub version: Rc<VersionInfo>,
    /// How well it answers the question.
    pub scores: Scores,
    outline: Rc<Outline>,
    place: u32,
}

impl SymbolHit {
    /// Reads the symbol behind a row.
    pub(crate) fn read(snapshot: &Snapshot, row: &SymbolRow) -> Result<Self> {
        let lost = || StoreError::Corrupt(format!("store.db: symbol {} of file version {}", row.place, row.version));
        let outline = snapshot.outline(row.version)?;
        let version = snapshot.version(row.version)?.ok_or_else(lost)?;
        // What was found by its row is what its file says of it, or one of them is damaged.
        let fits = |symbol: &Symbol| symbol.kind == row.kind && symbol.lines.start == row.line;
        if !outline.symbols.get(row.place as usize).is_some_and(fits) {
            return Err(lost());
        }
        Ok(Self { version, scores: Scores::default(), outline, place: row.place })
    }

    /// The symbol itself.
    pub fn symbol(&self) -> &Symbol {
        &self.outline.symbols[self.place as usize]
    }

    /// Its place among the symbols of its file.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// Where it stands, for the graph.
    pub fn at(&self) -> SymbolAt {
        SymbolAt { file: self.version.id, place: self.place }
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
