//! The outline of a file: its symbols in source order, nested.

use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::{FileFacts, Symbol};
use codecompass_store::{Result, Snapshot, VersionInfo};

/// The symbols of one file.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The file.
    pub version: Rc<VersionInfo>,
    facts: Arc<FileFacts>,
    /// The ordinals of the children by the ordinal of the parent. The last list has the top-level symbols.
    children: Vec<Vec<u32>>,
}

/// Returns the outline of a file, or `None` if the view does not contain the file.
pub fn outline(snapshot: &Snapshot, path: &str) -> Result<Option<Outline>> {
    let Some(version) = snapshot.version_at(path)? else {
        return Ok(None);
    };
    Outline::from_version(snapshot, Rc::new(version)).map(Some)
}

impl Outline {
    /// Reads the outline of a file version.
    pub fn from_version(snapshot: &Snapshot, version: Rc<VersionInfo>) -> Result<Self> {
        let facts = snapshot.facts(version.id)?;
        let mut children = vec![Vec::new(); facts.symbols.len() + 1];
        for (place, symbol) in facts.symbols.iter().enumerate() {
            let parent = symbol.parent.map_or(facts.symbols.len(), |parent| parent as usize);
            children[parent].push(place as u32);
        }
        Ok(Self { version, facts, children })
    }

    /// The number of symbols in the file.
    pub fn count(&self) -> usize {
        self.facts.symbols.len()
    }

    /// The top-level symbols of the file.
    pub fn top_level(&self) -> &[u32] {
        &self.children[self.facts.symbols.len()]
    }

    /// The direct children of a symbol.
    pub fn children_of(&self, place: u32) -> &[u32] {
        &self.children[place as usize]
    }

    /// A symbol.
    pub fn symbol(&self, place: u32) -> &Symbol {
        &self.facts.symbols[place as usize]
    }

    /// Returns a symbol and its ancestors, innermost first.
    pub fn with_ancestors(&self, place: u32) -> Vec<u32> {
        let mut chain = vec![place];
        let mut at = place;
        // A parent precedes its children, so this loop ends.
        while let Some(parent) = self.symbol(at).parent.filter(|parent| *parent < at) {
            chain.push(parent);
            at = parent;
        }
        chain
    }
}
