//! A view in memory: files and their facts, without a store.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::{FileFacts, SourceFile, SymbolAt, VersionId, World};

/// Files by path; their ids are assigned in insertion order.
#[derive(Default)]
pub struct MemoryWorld {
    files: Vec<Rc<SourceFile>>,
    texts: Vec<Arc<str>>,
    by_path: BTreeMap<String, VersionId>,
    by_name: BTreeMap<String, Vec<SymbolAt>>,
    by_reference: BTreeMap<String, Vec<VersionId>>,
}

impl MemoryWorld {
    /// Creates a view without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and returns its id.
    pub fn add(&mut self, path: &str, language: &str, text: &str, facts: FileFacts) -> VersionId {
        let id = self.files.len() as VersionId;
        for (place, symbol) in facts.symbols.iter().enumerate().filter(|(_, symbol)| symbol.kind.can_be_named()) {
            let at = SymbolAt { file: id, ordinal: place as u32 };
            self.by_name.entry(symbol.name.clone()).or_default().push(at);
        }
        for name in facts.references.iter().map(|reference| &facts.names[reference.name as usize]) {
            let files = self.by_reference.entry(name.clone()).or_default();
            if files.last() != Some(&id) {
                files.push(id);
            }
        }
        let file = SourceFile { id, path: path.to_owned(), language: language.to_owned(), facts: Arc::new(facts) };
        self.files.push(Rc::new(file));
        self.texts.push(Arc::from(text));
        self.by_path.insert(path.to_owned(), id);
        id
    }

    /// Returns every file, by path.
    pub fn files(&self) -> impl Iterator<Item = &Rc<SourceFile>> {
        self.by_path.values().map(|id| &self.files[*id as usize])
    }

    /// Returns a symbol as `path:line`.
    pub fn location(&self, symbol: SymbolAt) -> String {
        let file = &self.files[symbol.file as usize];
        format!("{}:{}", file.path, file.facts.symbols[symbol.ordinal as usize].lines.start)
    }
}

impl World for MemoryWorld {
    fn file(&self, id: VersionId) -> Option<Rc<SourceFile>> {
        self.files.get(id as usize).cloned()
    }

    fn file_at(&self, path: &str) -> Option<VersionId> {
        self.by_path.get(path).copied()
    }

    fn files_in(&self, folder: &str) -> Rc<[VersionId]> {
        let is_in = |path: &str| path.rsplit_once('/').map_or("", |(parent, _)| parent) == folder;
        let from = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below = self.by_path.range(from.clone()..).take_while(|(path, _)| path.starts_with(&from));
        below.filter(|(path, _)| is_in(path)).map(|(_, id)| *id).collect()
    }

    fn files_named(&self, name: &str) -> Rc<[VersionId]> {
        let bears = |path: &str| path.rsplit('/').next() == Some(name);
        self.by_path.iter().filter(|(path, _)| bears(path)).map(|(_, id)| *id).collect()
    }

    fn text(&self, id: VersionId) -> Option<Arc<str>> {
        self.texts.get(id as usize).cloned()
    }

    fn symbols_named(&self, name: &str) -> Rc<[SymbolAt]> {
        let mut found = self.by_name.get(name).cloned().unwrap_or_default();
        found.sort_by(|a, b| {
            let path = |at: &SymbolAt| self.files[at.file as usize].path.as_str();
            (path(a), a.ordinal).cmp(&(path(b), b.ordinal))
        });
        found.into()
    }

    fn files_naming(&self, name: &str) -> Rc<[VersionId]> {
        let mut found = self.by_reference.get(name).cloned().unwrap_or_default();
        found.sort_by(|a, b| self.files[*a as usize].path.cmp(&self.files[*b as usize].path));
        found.into()
    }
}
