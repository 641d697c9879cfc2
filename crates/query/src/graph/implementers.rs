//! Implementers: the types that implement or extend a type.

use std::collections::{BTreeSet, HashSet};

use codecompass_model::{Confidence, SymbolAt, SymbolKind};
use codecompass_store::Result;

use super::type_use::is_type;
use super::{EdgeKind, FoundReferences, Graph};

/// The maximum number of methods of an interface that a type is checked for.
const MAX_CHECKED_METHODS: usize = 20;

impl Graph<'_> {
    /// Returns the types and `impl` blocks that implement or extend a type, by path and line: those that say so, and in a
    /// language without such a clause (Go) those with all methods of an interface.
    pub fn implementers(&self, found: &FoundReferences, target: SymbolAt) -> Result<Vec<(SymbolAt, EdgeKind)>> {
        let Some(file) = self.file(target.file) else { return Ok(Vec::new()) };
        let Some(symbol) = file.facts.symbols.get(target.ordinal as usize) else { return Ok(Vec::new()) };
        if !is_type(symbol.kind) {
            return Ok(Vec::new());
        }
        let mut all: BTreeSet<(bool, String, u32, u32, SymbolAt, EdgeKind)> = BTreeSet::new();
        let mut known = HashSet::new();
        let said = found.proved(target).iter().filter(|site| {
            matches!(site.kind, EdgeKind::Implements | EdgeKind::Extends) && site.confidence == Confidence::Static
        });
        let said = said.filter_map(|site| Some((SymbolAt { file: site.file.id, ordinal: site.from? }, site.kind)));
        let with_methods = match symbol.kind {
            SymbolKind::Interface => self.types_with_methods(target),
            _ => HashSet::new(),
        };
        for (at, kind) in said.chain(with_methods.into_iter().map(|at| (at, EdgeKind::Implements))) {
            let Some(file) = self.file(at.file).filter(|_| at != target && known.insert(at)) else { continue };
            let Some(symbol) = file.facts.symbols.get(at.ordinal as usize) else { continue };
            if is_type(symbol.kind) || symbol.kind == SymbolKind::Impl {
                let is_test = self.is_in_test(&file, Some(at.ordinal));
                all.insert((is_test, file.path.clone(), symbol.lines.start, at.ordinal, at, kind));
            }
        }
        self.failure()?;
        Ok(all.into_iter().map(|(.., at, kind)| (at, kind)).collect())
    }

    /// Returns the types that have an implementation of each method of an interface.
    fn types_with_methods(&self, interface: SymbolAt) -> HashSet<SymbolAt> {
        let Some(file) = self.file(interface.file) else { return HashSet::new() };
        let symbols = &file.facts.symbols;
        let is_method = |at: &usize| {
            symbols[*at].parent == Some(interface.ordinal)
                && matches!(symbols[*at].kind, SymbolKind::Method | SymbolKind::Fn)
        };
        let mut types: Option<HashSet<SymbolAt>> = None;
        for method in (0..symbols.len()).filter(is_method).take(MAX_CHECKED_METHODS) {
            let method = SymbolAt { file: interface.file, ordinal: method as u32 };
            let owners: HashSet<SymbolAt> =
                self.implementations(method).into_iter().filter_map(|at| self.owner_of(at)).collect();
            let both = match types {
                Some(types) => types.intersection(&owners).copied().collect(),
                None => owners,
            };
            if both.is_empty() {
                return both;
            }
            types = Some(both);
        }
        types.unwrap_or_default()
    }

    /// Returns the type around a method, or the type that an out-of-line method belongs to.
    fn owner_of(&self, method: SymbolAt) -> Option<SymbolAt> {
        let file = self.file(method.file)?;
        match file.facts.symbols.get(method.ordinal as usize)?.parent {
            Some(parent) => Some(SymbolAt { file: method.file, ordinal: parent }),
            None => self.owner_of_member(method),
        }
    }
}
