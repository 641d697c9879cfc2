//! Functions used as values: where a function is passed or registered, and which functions a field holds.
//!
//! A call of a field is known to reach the functions that an assignment or an initialiser of the view puts there by
//! name. Functions that arrive by other ways (parameters, positional initialisers) are not found.

use codecompass_model::{Confidence, RefShape, Resolution, SourceFile, SymbolAt, SymbolKind, World};
use codecompass_store::Result;

use super::{EdgeKind, Graph, Site, is_called};

/// The maximum number of functions listed for one field.
const MAX_HELD: usize = 40;

impl Graph<'_> {
    /// Returns the sites that use a function as a value: they pass it, register it or put it into a table.
    pub(super) fn value_uses(&self, function: SymbolAt) -> Result<Vec<Site>> {
        let Some(file) = self.file(function.file) else { return Ok(Vec::new()) };
        let Some(symbol) = file.facts.symbols.get(function.ordinal as usize) else { return Ok(Vec::new()) };
        if !is_called(symbol.kind) || symbol.kind == SymbolKind::Class {
            return Ok(Vec::new());
        }
        let found = self.references_to_name(&symbol.name)?;
        let is_value = |site: &&Site| {
            site.confidence == Confidence::Static
                && site.kind == EdgeKind::References
                && matches!(site.shape, RefShape::Value | RefShape::Member)
        };
        let mut sites: Vec<Site> = found.proved(function).iter().filter(is_value).cloned().collect();
        sites.sort_by(|a, b| (a.in_test, &a.file.path, a.line).cmp(&(b.in_test, &b.file.path, b.line)));
        sites.dedup_by(|a, b| a.file.id == b.file.id && a.line == b.line);
        Ok(sites)
    }

    /// Returns the functions that assignments and initialisers put into a field.
    pub(super) fn functions_in_field(&self, field: SymbolAt) -> Result<Vec<SymbolAt>> {
        let Some(file) = self.file(field.file) else { return Ok(Vec::new()) };
        let symbol = file.facts.symbols.get(field.ordinal as usize).filter(|symbol| symbol.kind == SymbolKind::Field);
        let Some(symbol) = symbol else { return Ok(Vec::new()) };
        let found = self.references_to_name(&symbol.name)?;
        let mut held = Vec::new();
        for site in found.proved(field).iter().filter(|site| site.shape == RefShape::Member) {
            let Some(file) = self.file(site.file.id) else { continue };
            for function in self.assigned_functions(&file, site, &symbol.name) {
                if held.len() < MAX_HELD && !held.contains(&function) {
                    held.push(function);
                }
            }
        }
        Ok(held)
    }

    /// Returns the functions that follow a field on its line, with only the sign of an assignment between them.
    fn assigned_functions(&self, file: &SourceFile, site: &Site, field: &str) -> Vec<SymbolAt> {
        let references = &file.facts.references;
        let start = references.partition_point(|one| (one.line, one.column) <= (site.line, site.column));
        let Some(next) = references.get(start).filter(|one| one.line == site.line && one.shape == RefShape::Value)
        else {
            return Vec::new();
        };
        let is_assigned = self.world.text(file.id).is_some_and(|text| {
            let line = text.lines().nth(site.line as usize - 1).unwrap_or_default();
            let between = line.get(site.column as usize + field.len()..next.column as usize).unwrap_or_default();
            matches!(between.trim().trim_end_matches('&').trim_end(), "=" | ":")
        });
        let Resolution::Symbols { targets, confidence: Confidence::Static, .. } = self.resolve(file, start as u32)
        else {
            return Vec::new();
        };
        let is_function = |at: &SymbolAt| {
            let file = self.file(at.file);
            let kind = file.and_then(|file| file.facts.symbols.get(at.ordinal as usize).map(|symbol| symbol.kind));
            matches!(kind, Some(SymbolKind::Fn | SymbolKind::Method))
        };
        if is_assigned { targets.into_iter().filter(is_function).collect() } else { Vec::new() }
    }
}
