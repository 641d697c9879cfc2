//! What changed between two states of some files, symbol by symbol.
//!
//! The files that differ are given as pairs; which of them differ, and which were renamed, is for others to know. From
//! their outlines it is told which symbol before is which symbol after ([`pair_symbols`]): a symbol is what it is by
//! language, kind, qualified name and trait, and of several equal ones those are paired that stand in the same file,
//! then those of the same text, then by order. A file that was renamed, and a symbol that was moved, may have other
//! qualified names and are the same all the same. A pair is changed when its content hashes differ, unless its text shows
//! that it was merely regrouped (`settle.rs`).

mod facets;
mod pairing;
mod settle;

use std::rc::Rc;

use codecompass_model::{Languages, Symbol, SymbolAt};
use codecompass_store::{Outline, Result, Snapshot, VersionInfo};

pub use facets::{Facet, doc_changed, facets, own_lines};
pub use pairing::pair_symbols;
pub use settle::{Variant, settle, variants};

/// A file before and after. One that came or went has one side.
#[derive(Clone, Debug)]
pub struct FilePair {
    /// Before.
    pub before: Option<FileSide>,
    /// After.
    pub after: Option<FileSide>,
}

/// One side of a file: what extraction said about it.
#[derive(Clone, Debug)]
pub struct FileSide {
    /// The file version.
    pub version: Rc<VersionInfo>,
    /// Its symbols.
    pub outline: Rc<Outline>,
    /// Who knows its language.
    languages: &'static dyn Languages,
}

impl FileSide {
    /// The file at a path of a snapshot, if it is in that view.
    pub fn read(snapshot: &Snapshot, languages: &'static dyn Languages, path: &str) -> Result<Option<Self>> {
        let Some(version) = snapshot.version_at(path)? else { return Ok(None) };
        Self::of(snapshot, languages, Rc::new(version)).map(Some)
    }

    /// A file version of a snapshot.
    pub fn of(snapshot: &Snapshot, languages: &'static dyn Languages, version: Rc<VersionInfo>) -> Result<Self> {
        let outline = snapshot.outline(version.id)?;
        Ok(Self { version, outline, languages })
    }
}

/// A symbol on one side.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'f> {
    /// Its file.
    pub file: &'f FileSide,
    /// Its place in the file.
    pub place: u32,
}

impl<'f> Entry<'f> {
    /// The symbol itself.
    pub fn symbol(&self) -> &'f Symbol {
        &self.file.outline.symbols[self.place as usize]
    }

    /// The path of its file.
    pub fn path(&self) -> &'f str {
        &self.file.version.path
    }

    /// Whether it is in a test.
    pub fn is_test(&self) -> bool {
        self.file.languages.is_test(self.path(), self.symbol().in_test)
    }

    /// Where it stands, for the graph.
    pub fn at(&self) -> SymbolAt {
        SymbolAt { file: self.file.version.id, place: self.place }
    }

    /// The symbol around it.
    pub fn parent(&self) -> Option<Entry<'f>> {
        let parent = self.symbol().parent?;
        self.file.outline.symbols.get(parent as usize).map(|_| Entry { file: self.file, place: parent })
    }
}

/// A symbol before and after; never without both.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'f> {
    /// Before.
    pub before: Option<Entry<'f>>,
    /// After.
    pub after: Option<Entry<'f>>,
    /// Whether it stands in another file that is not the first one renamed.
    pub is_moved: bool,
    /// Whether its text is the same but for where it stands.
    pub is_regrouped: bool,
}

/// What happened to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It came.
    Added,
    /// Its text is another.
    Modified,
    /// It went.
    Deleted,
}

impl Change {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Modified => "modified",
            Change::Deleted => "deleted",
        }
    }
}

impl<'f> Pair<'f> {
    /// What happened, if anything did.
    pub fn change(&self) -> Option<Change> {
        match (&self.before, &self.after) {
            (None, _) => Some(Change::Added),
            (_, None) => Some(Change::Deleted),
            (Some(before), Some(after)) => {
                let has_new_text = before.symbol().content_hash != after.symbol().content_hash;
                (has_new_text && !self.is_regrouped).then_some(Change::Modified)
            }
        }
    }

    /// The symbol as it is now, or as it was last.
    pub fn latest(&self) -> Entry<'f> {
        self.after.or(self.before).expect("a pair has a side")
    }

    /// Whether it is in a test.
    pub fn is_test(&self) -> bool {
        self.latest().is_test()
    }

    /// Whether both sides are there and their headers differ.
    pub fn has_new_signature(&self) -> bool {
        let both = self.before.zip(self.after);
        both.is_some_and(|(before, after)| before.symbol().signature != after.symbol().signature)
    }

    /// Whether those who use it may break: it went, or its header changed.
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
        (self.is_landmark(), self.is_test(), path, latest.symbol().lines.start, self.after.is_none(), latest.place)
    }
}

/// The pairs that changed: code before tests and those before landmarks, then by path and line.
pub fn changed<'f>(pairs: &[Pair<'f>]) -> Vec<Pair<'f>> {
    let mut changed: Vec<Pair<'f>> = pairs.iter().filter(|pair| pair.change().is_some()).copied().collect();
    changed.sort_by(|a, b| a.order().cmp(&b.order()));
    changed
}
