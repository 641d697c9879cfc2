//! Changes between two states of some files, symbol by symbol.
//!
//! The caller passes the files that differ as pairs and decides which files differ and which were renamed.
//! [`pair_symbols`] matches the symbols of both states: the identity of a symbol is its language, kind, qualified name
//! and trait. Among equal symbols, those in the same file are paired first, then those with the same text, then by
//! order. Symbols of a renamed file and moved symbols match even if their qualified names differ. A pair is changed if
//! its content hashes differ, unless its text shows that it was merely regrouped (`drop_unchanged.rs`).

mod drop_unchanged;
mod facets;
mod pairing;
mod severity;

use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::{Languages, Symbol, SymbolAt};
use codecompass_store::{Outline, Result, Snapshot, VersionInfo};

pub use drop_unchanged::{BuildVariant, drop_unchanged, variants};
pub use facets::{Facet, doc_changed, facets, own_lines};
pub use pairing::pair_symbols;
pub use severity::{Severity, join_changed_kinds};

/// A file before and after. An added or deleted file has only one side.
#[derive(Clone, Debug)]
pub struct FilePair {
    /// Before.
    pub before: Option<FileSide>,
    /// After.
    pub after: Option<FileSide>,
}

/// One side of a file pair, with the extracted symbols.
#[derive(Clone, Debug)]
pub struct FileSide {
    /// The file version.
    pub version: Rc<VersionInfo>,
    /// The symbols.
    pub outline: Arc<Outline>,
    /// Provides facts about the language.
    languages: &'static dyn Languages,
}

impl FileSide {
    /// Reads the file at a path of a snapshot, if the view contains it.
    pub fn read(snapshot: &Snapshot, languages: &'static dyn Languages, path: &str) -> Result<Option<Self>> {
        let Some(version) = snapshot.version_at(path)? else { return Ok(None) };
        Self::from_version(snapshot, languages, Rc::new(version)).map(Some)
    }

    /// Reads a file version of a snapshot.
    pub fn from_version(
        snapshot: &Snapshot,
        languages: &'static dyn Languages,
        version: Rc<VersionInfo>,
    ) -> Result<Self> {
        let outline = snapshot.outline(version.id)?;
        Ok(Self { version, outline, languages })
    }
}

/// A symbol on one side.
#[derive(Clone, Copy, Debug)]
pub struct SymbolSide<'f> {
    /// The file.
    pub file: &'f FileSide,
    /// The ordinal in the file.
    pub ordinal: u32,
}

impl<'f> SymbolSide<'f> {
    /// The symbol itself.
    pub fn symbol(&self) -> &'f Symbol {
        &self.file.outline.symbols[self.ordinal as usize]
    }

    /// The path of its file.
    pub fn path(&self) -> &'f str {
        &self.file.version.path
    }

    /// Whether it is in a test.
    pub fn is_test(&self) -> bool {
        self.file.languages.is_test(self.path(), self.symbol().in_test)
    }

    /// The identity of the symbol in the graph.
    pub fn at(&self) -> SymbolAt {
        SymbolAt { file: self.file.version.id, ordinal: self.ordinal }
    }

    /// The enclosing symbol.
    pub fn parent(&self) -> Option<SymbolSide<'f>> {
        let parent = self.symbol().parent?;
        self.file.outline.symbols.get(parent as usize).map(|_| SymbolSide { file: self.file, ordinal: parent })
    }
}

/// A symbol before and after; at least one side is present.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'f> {
    /// Before.
    pub before: Option<SymbolSide<'f>>,
    /// After.
    pub after: Option<SymbolSide<'f>>,
    /// Whether it moved to another file, other than by a rename of its file.
    pub is_moved: bool,
    /// Whether its text is the same except for layout.
    pub is_regrouped: bool,
}

/// The kind of change of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SymbolChange {
    /// The symbol was added.
    Added,
    /// The text changed.
    Modified,
    /// The symbol was deleted.
    Deleted,
}

impl SymbolChange {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            SymbolChange::Added => "added",
            SymbolChange::Modified => "modified",
            SymbolChange::Deleted => "deleted",
        }
    }
}

impl<'f> Pair<'f> {
    /// The change, if there is one.
    pub fn change(&self) -> Option<SymbolChange> {
        match (&self.before, &self.after) {
            (None, _) => Some(SymbolChange::Added),
            (_, None) => Some(SymbolChange::Deleted),
            (Some(before), Some(after)) => {
                let has_new_text = before.symbol().content_hash != after.symbol().content_hash;
                (has_new_text && !self.is_regrouped).then_some(SymbolChange::Modified)
            }
        }
    }

    /// The symbol in the later state, or in the earlier state if it was deleted.
    pub fn latest(&self) -> SymbolSide<'f> {
        self.after.or(self.before).expect("because a pair has a side")
    }

    /// Whether it is in a test.
    pub fn is_test(&self) -> bool {
        self.latest().is_test()
    }

    /// Whether both sides exist and their headers differ.
    pub fn has_new_signature(&self) -> bool {
        let both = self.before.zip(self.after);
        both.is_some_and(|(before, after)| before.symbol().signature != after.symbol().signature)
    }

    /// Whether users of the symbol may break: it was deleted, or its header changed.
    pub fn may_break(&self) -> bool {
        self.after.is_none() || self.has_new_signature()
    }

    /// Whether it is a landmark of a file without functions.
    pub fn is_landmark(&self) -> bool {
        self.latest().symbol().kind.is_landmark()
    }

    fn order(&self) -> (bool, bool, &'f str, u32, bool, u32) {
        let latest = self.latest();
        let path = latest.path();
        (self.is_landmark(), self.is_test(), path, latest.symbol().lines.start, self.after.is_none(), latest.ordinal)
    }
}

/// Returns the changed pairs: code before tests, tests before landmarks, then by path and line.
pub fn changed<'f>(pairs: &[Pair<'f>]) -> Vec<Pair<'f>> {
    let mut changed: Vec<Pair<'f>> = pairs.iter().filter(|pair| pair.change().is_some()).copied().collect();
    changed.sort_by(|a, b| a.order().cmp(&b.order()));
    changed
}
