//! Reads the names and paths that completion searches.
//!
//! They come from the indexes of the database, the names one first character at a time, and are kept by the process for
//! the publication that they were read from. The text index is not opened, and no file is decoded.

use std::sync::Arc;

use codecompass_model::VersionId;
use codecompass_model::ids::SymbolId;

use crate::names::{NameBlock, PathOrder, ViewNames};
use crate::{Result, Snapshot, StoreError, SymbolRow, rows};

impl Snapshot {
    /// Returns the names of symbols that begin with a character, ignoring case.
    pub fn names_from(&self, first: char) -> Result<Arc<NameBlock>> {
        let first = first.to_lowercase().next().unwrap_or(first);
        let names = self.names();
        if let Some(known) = names.block(first) {
            return Ok(known);
        }
        let mut block = NameBlock::default();
        for spelling in spellings(first) {
            self.read_names(spelling, &mut block)?;
        }
        block.shrink();
        let block = Arc::new(block);
        names.insert(first, &block);
        Ok(block)
    }

    /// Returns the paths of the view in order. They are not verified: [`Snapshot::version`] is, and has the path.
    pub fn paths(&self) -> Result<Arc<PathOrder>> {
        let names = self.names();
        if let Some(known) = names.paths.get() {
            return Ok(Arc::clone(known));
        }
        // The index by path has all that this reads.
        let mut select = self.connection.prepare_cached("SELECT fv, path FROM file_versions ORDER BY path")?;
        let mut found = select.query([])?;
        let mut paths: Vec<(VersionId, Box<str>)> = Vec::with_capacity(self.members().len() as usize);
        while let Some(row) = found.next()? {
            self.check_cancelled()?;
            let version = row.get(0)?;
            if self.members().contains(version) {
                paths.push((version, row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?.into()));
            }
        }
        let order = PathOrder::new(paths);
        if order.len() as u64 != self.members().len() {
            return Err(StoreError::Corrupt("store.db: file versions of a view are not stored".into()));
        }
        Ok(Arc::clone(names.paths.get_or_init(|| Arc::new(order))))
    }

    /// Returns the `result_id` of a symbol of this view, without decoding its file.
    pub fn short_id(&self, row: &SymbolRow) -> Result<String> {
        let mut select = self.connection.prepare_cached("SELECT symbol_key FROM symbol_relations WHERE id = ?1")?;
        let key = select.query_row([rows::symbol_row(row.version, row.ordinal)], |row| row.get(0))?;
        Ok(SymbolId::short_of_key(key))
    }

    /// Appends the names with this first character; an ASCII letter matches both of its cases.
    fn read_names(&self, first: char, block: &mut NameBlock) -> Result<()> {
        let range = "name >= ?1 COLLATE NOCASE AND name < ?2 COLLATE NOCASE ORDER BY name COLLATE NOCASE";
        let mut select = self.connection.prepare_cached(&format!("{} WHERE {range}", rows::SELECT_SYMBOLS))?;
        let mut found = select.query([first.to_string(), next_char(first).to_string()])?;
        // The spellings of one name that differ in case, whose rows are mixed.
        let mut run: Vec<(String, Vec<SymbolRow>)> = Vec::new();
        while let Some(row) = found.next()? {
            self.check_cancelled()?;
            let symbol = rows::read_symbol(row)?;
            if !symbol.kind.can_be_named() || !self.members().contains(symbol.version) {
                continue;
            }
            let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            if run.first().is_some_and(|(known, _)| !known.eq_ignore_ascii_case(name)) {
                end_run(&mut run, block);
            }
            match run.iter_mut().find(|(known, _)| known == name) {
                Some((_, rows)) => rows.push(symbol),
                None => run.push((name.to_owned(), vec![symbol])),
            }
        }
        end_run(&mut run, block);
        Ok(())
    }

    fn names(&self) -> Arc<ViewNames> {
        let view = self.cache.view_key(self.epoch_key, &self.info().key);
        let info = self.info();
        let publication = (info.generation, info.indexed_at, info.totals.digest, self.members().len());
        self.cache.names(view, publication)
    }
}

fn end_run(run: &mut Vec<(String, Vec<SymbolRow>)>, block: &mut NameBlock) {
    run.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    run.drain(..).for_each(|(name, rows)| block.push(&name, &rows));
}

/// Returns the characters with which the spellings of a first character begin in the index.
fn spellings(first: char) -> Vec<char> {
    let mut all = vec![first];
    // The index ignores the case of ASCII letters only.
    all.extend(first.to_uppercase().next().filter(|upper| *upper != first && !first.is_ascii()));
    all
}

/// Returns the character after this one.
fn next_char(char: char) -> char {
    match char {
        '\u{d7ff}' => '\u{e000}',
        _ => char::from_u32(char as u32 + 1).unwrap_or(char::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_a_next_one() {
        assert_eq!(['a', 'z', '\u{d7ff}', char::MAX].map(next_char), ['b', '{', '\u{e000}', char::MAX]);
        assert_eq!((spellings('a'), spellings('é')), (vec!['a'], vec!['é', 'É']));
    }
}
