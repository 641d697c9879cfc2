//! What completion searches: the names of the symbols of a view, by their first character, and its paths in order.
//!
//! Both are read from the indexes of the database when they are first needed, one character at a time, and kept by the
//! process for the publication that they were read from. A prefix therefore costs a scan of the names with one first
//! character: a few thousand short strings, without a word of the text index and without a decoded file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use codecompass_model::VersionId;

use crate::SymbolRow;

/// The names and paths of one publication of a view.
#[derive(Debug, Default)]
pub(crate) struct ViewNames {
    blocks: Mutex<HashMap<char, Arc<NameBlock>>>,
    pub(crate) paths: OnceLock<Arc<PathOrder>>,
}

impl ViewNames {
    /// Returns the names with a first character if they were read.
    pub(crate) fn block(&self, first: char) -> Option<Arc<NameBlock>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner).get(&first).map(Arc::clone)
    }

    /// Keeps the names with a first character.
    pub(crate) fn insert(&self, first: char, block: &Arc<NameBlock>) {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner).insert(first, Arc::clone(block));
    }
}

/// The names with one first character, in order, and the symbols with each.
#[derive(Debug, Default)]
pub struct NameBlock {
    text: String,
    names: Vec<NameEntry>,
    rows: Vec<SymbolRow>,
}

#[derive(Clone, Copy, Debug)]
struct NameEntry {
    /// The end of the name in the text.
    text_end: u32,
    /// The end of its symbols.
    rows_end: u32,
    letters: u32,
    is_value: bool,
}

impl NameBlock {
    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns a name by its number.
    pub fn name(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.names[before].text_end);
        &self.text[start as usize..self.names[number].text_end as usize]
    }

    /// Returns the [`letter_set`] of a name.
    pub fn letters(&self, number: usize) -> u32 {
        self.names[number].letters
    }

    /// Whether a name has only values, no functions and types.
    pub fn is_value(&self, number: usize) -> bool {
        self.names[number].is_value
    }

    /// Returns the symbols with a name, without imports, tests and landmarks.
    pub fn symbols(&self, number: usize) -> &[SymbolRow] {
        let start = number.checked_sub(1).map_or(0, |before| self.names[before].rows_end);
        &self.rows[start as usize..self.names[number].rows_end as usize]
    }

    pub(crate) fn push(&mut self, name: &str, rows: &[SymbolRow]) {
        self.text.push_str(name);
        self.rows.extend_from_slice(rows);
        let (text_end, rows_end) = (self.text.len() as u32, self.rows.len() as u32);
        let is_value = rows.iter().all(|row| row.kind.is_value());
        self.names.push(NameEntry { text_end, rows_end, letters: letter_set(name), is_value });
    }

    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.names.shrink_to_fit();
        self.rows.shrink_to_fit();
    }
}

/// Returns the letters and digits of a name as bits: a name can only continue what was typed if it has all of its bits.
pub fn letter_set(name: &str) -> u32 {
    let bit = |letter: char| match letter {
        'a'..='z' => 1 << (letter as u32 - 'a' as u32),
        '0'..='9' => 1 << 26,
        _ => 0,
    };
    if name.is_ascii() {
        return name.bytes().fold(0, |set, byte| set | bit(byte.to_ascii_lowercase().into()));
    }
    // The lower case of a letter that is not ASCII may be.
    name.chars().flat_map(char::to_lowercase).fold(0, |set, letter| set | bit(letter))
}

/// The paths of a view in order.
#[derive(Debug, Default)]
pub struct PathOrder {
    paths: Vec<(VersionId, Box<str>)>,
    /// The file versions in order, each with the position of its path.
    positions: Vec<(VersionId, u32)>,
}

impl PathOrder {
    /// Creates it from paths in order.
    pub(crate) fn new(paths: Vec<(VersionId, Box<str>)>) -> Self {
        let mut positions: Vec<(VersionId, u32)> =
            paths.iter().enumerate().map(|(at, (version, _))| (*version, at as u32)).collect();
        positions.sort_unstable();
        Self { paths, positions }
    }

    /// Returns the number of paths.
    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    /// Returns the paths in order, each with its file version.
    pub fn iter(&self) -> impl Iterator<Item = (VersionId, &str)> {
        self.paths.iter().map(|(version, path)| (*version, &**path))
    }

    /// Returns the position of the path of a file version, and the path.
    pub fn find(&self, version: VersionId) -> Option<(u32, &str)> {
        let at = self.positions.binary_search_by_key(&version, |(known, _)| *known).ok()?;
        let position = self.positions[at].1;
        Some((position, &self.paths[position as usize].1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_sets_ignore_case_and_other_characters() {
        assert_eq!(letter_set("a_Z9"), letter_set("A.z0"));
        assert_eq!(letter_set("ab") & letter_set("ac"), letter_set("a"));
        assert_eq!(letter_set("_ü"), 0);
    }
}
