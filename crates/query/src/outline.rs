//! What stands in a file, in order and nested.

use std::rc::Rc;

use codecompass_model::{FileFacts, Symbol};
use codecompass_store::{Result, Snapshot, VersionInfo};

/// The symbols of one file.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The file.
    pub version: Rc<VersionInfo>,
    facts: FileFacts,
    /// By place of the parent, the places of its children; the last list is that of the file itself.
    children: Vec<Vec<u32>>,
}

/// The outline of a file; `None` when the view has no such file.
pub fn outline(snapshot: &Snapshot, path: &str) -> Result<Option<Outline>> {
    let Some(version) = snapshot.version_at(path)? else {
        return Ok(None);
    };
    Outline::of(snapshot, Rc::new(version)).map(Some)
}

impl Outline {
    /// The outline of a file version.
    pub fn of(snapshot: &Snapshot, version: Rc<VersionInfo>) -> Result<Self> {
        let facts = snapshot.facts(version.id)?;
        let mut children = vec![Vec::new(); facts.symbols.len() + 1];
        for (place, symbol) in facts.symbols.iter().enumerate() {
            let parent = symbol.parent.map_or(facts.symbols.len(), |parent| parent as usize);
            children[parent].push(place as u32);
        }
        Ok(Self { version, facts, children })
    }

    /// How many symbols the file has.
    pub fn count(&self) -> usize {
        self.facts.symbols.len()
    }

    /// The symbols that stand directly in the file.
    pub fn top(&self) -> &[u32] {
        &self.children[self.facts.symbols.len()]
    }

    /// The symbols that stand directly in a symbol.
    pub fn inside(&self, place: u32) -> &[u32] {
        &self.children[place as usize]
    }

    /// A symbol.
    pub fn symbol(&self, place: u32) -> &Symbol {
        &self.facts.symbols[place as usize]
    }

    /// A symbol and everything around it, from the inside out.
    pub fn around(&self, place: u32) -> Vec<u32> {
        let mut chain = vec![place];
        let mut at = place;
        // A parent stands before its children, so this ends.
        while let Some(parent) = self.symbol(at).parent.filter(|parent| *parent < at) {
            chain.push(parent);
            at = parent;
        }
        chain
    }
}
