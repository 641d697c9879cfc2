//! A symbol as a search result, with its file and its scores.

use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{Symbol, SymbolAt};
use codecompass_store::{Outline, Result, Snapshot, StoreError, SymbolRow, VersionInfo};

use crate::score::Scores;

/// A symbol with its file.
#[derive(Clone, Debug)]
pub struct SymbolHit {
    /// The file.
    pub version: Rc<VersionInfo>,
    /// The scores of the match.
    pub scores: Scores,
    outline: Arc<Outline>,
    ordinal: u32,
}

impl SymbolHit {
    /// Reads the symbol that a row identifies.
    pub(crate) fn read(snapshot: &Snapshot, row: &SymbolRow) -> Result<Self> {
        let lost = || StoreError::Corrupt(format!("store.db: symbol {} of file version {}", row.ordinal, row.version));
        let outline = snapshot.outline(row.version)?;
        let version = snapshot.version(row.version)?.ok_or_else(lost)?;
        // The row and the outline describe the same symbol. If they differ, one of them is corrupt.
        let fits = |symbol: &Symbol| symbol.kind == row.kind && symbol.lines.start == row.line;
        if !outline.symbols.get(row.ordinal as usize).is_some_and(fits) {
            return Err(lost());
        }
        Ok(Self { version, scores: Scores::default(), outline, ordinal: row.ordinal })
    }

    /// The symbol itself.
    pub fn symbol(&self) -> &Symbol {
        &self.outline.symbols[self.ordinal as usize]
    }

    /// All symbols of its file.
    pub(crate) fn file_symbols(&self) -> &[Symbol] {
        &self.outline.symbols
    }

    /// The ordinal among the symbols of its file.
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// The identity of the symbol in the graph.
    pub fn symbol_at(&self) -> SymbolAt {
        SymbolAt { file: self.version.id, ordinal: self.ordinal }
    }

    /// The `symbol_id`.
    pub fn id(&self) -> SymbolId {
        SymbolId::new(&self.version.path, self.symbol())
    }

    /// The `symbol_stable_id`.
    pub fn stable_id(&self) -> StableId {
        StableId::new(&self.version.language, self.symbol())
    }
}
