//! Finds the definition behind a public name: the path by which users import a symbol, through re-exports.

use std::cmp::Reverse;

use codecompass_model::{SourceFile, Symbol, SymbolAt, SymbolKind};
use codecompass_store::Result;

use super::Graph;
use crate::locate::{is_suffix, last_segment, segments};

/// A symbol that an import passes on under another path.
#[derive(Clone, Debug)]
pub struct PublicName {
    /// The definition.
    pub target: SymbolAt,
    /// The qualified name that the import gives it.
    pub name: String,
    /// The path of the import.
    pub path: String,
    /// The line of the import.
    pub line: u32,
}

impl Graph<'_> {
    /// Returns the symbol that imports pass on under a qualified name. Of several, the one whose whole name is closest
    /// to the given one is taken, outside tests.
    pub fn public_name(&self, name: &str) -> Result<Option<PublicName>> {
        if segments(name).count() < 2 {
            return Ok(None);
        }
        let last = last_segment(name);
        let mut found = Vec::new();
        for (version, _) in self.snapshot().references_named(last)? {
            if self.budget.is_spent() {
                break;
            }
            // An outline is faster to read than all facts, and shows whether there is such an import.
            let outline = self.snapshot().outline(version)?;
            let is_it = |symbol: &&Symbol| {
                let qualified = symbol.qualified_name.as_str();
                symbol.kind == SymbolKind::Use && last_segment(qualified) == last && is_suffix(qualified, name)
            };
            if !outline.symbols.iter().any(|symbol| is_it(&symbol)) {
                continue;
            }
            let Some(file) = self.file(version) else { continue };
            for symbol in file.facts.symbols.iter().filter(is_it) {
                let Some(target) = self.reexported(&file, last, symbol.lines.start) else { continue };
                let line = symbol.lines.start;
                let is_whole = segments(&symbol.qualified_name).count() == segments(name).count();
                let is_test = self.languages().is_test(&file.path, symbol.in_test);
                let length = segments(&symbol.qualified_name).count();
                let rank = (is_test, Reverse(is_whole), length, file.path.clone(), line);
                let (path, name) = (file.path.clone(), symbol.qualified_name.clone());
                found.push((rank, PublicName { target, name, path, line }));
            }
        }
        self.failure()?;
        Ok(found.into_iter().min_by(|a, b| a.0.cmp(&b.0)).map(|(_, name)| name))
    }

    /// Returns the symbol that a re-export on a line passes on under a name.
    fn reexported(&self, file: &SourceFile, name: &str, line: u32) -> Option<SymbolAt> {
        let imports = file.facts.imports.iter().enumerate();
        let mut named = imports.filter(|(_, import)| {
            let own = import.alias.as_deref().or(import.name.as_deref());
            import.reexport && import.line == line && own == Some(name)
        });
        named.find_map(|(at, _)| {
            let resolution = self.resolve_import(file, at as u32);
            let mut targets = resolution.targets().iter().copied();
            targets.find(|target| {
                let file = self.file(target.file);
                let kind = file.and_then(|file| file.facts.symbols.get(target.ordinal as usize).map(|of| of.kind));
                kind.is_some_and(|kind| kind != SymbolKind::Use)
            })
        })
    }
}
