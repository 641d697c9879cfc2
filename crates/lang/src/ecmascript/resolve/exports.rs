//! Resolves the exports of modules, and imports.

use std::collections::HashSet;

use codecompass_model::{Flags, Import, SymbolAt, VersionId};

use super::EcmaResolver;
use super::index::Index;
use super::names::{NameTarget, Space, is_in_space};
use super::types::Scope;

/// The maximum number of modules to search for an export; barrels of large projects re-export hundreds.
const MAX_MODULES: usize = 5000;

/// The maximum number of re-exports of a whole module.
const MAX_REEXPORTS: usize = 24;

/// The modules that were already searched.
type VisitedExports = HashSet<(VersionId, String)>;

impl EcmaResolver<'_> {
    /// Resolves an import of a file.
    pub(super) fn imported(&self, file: VersionId, at: u32, space: Space) -> NameTarget {
        let Some(index) = self.index(file) else { return NameTarget::Unresolved };
        match index.file.facts.imports.get(at as usize) {
            Some(import) => self.import_target(&index, import, space, &mut VisitedExports::new()),
            None => NameTarget::Unresolved,
        }
    }

    fn import_target(&self, index: &Index, import: &Import, space: Space, seen: &mut VisitedExports) -> NameTarget {
        if import.module.is_empty() {
            return self.file_level_name(index, import.name.as_deref().unwrap_or(""), space, seen);
        }
        let Some(module) = self.modules.find(&index.file.path, &import.module) else {
            return if self.modules.is_external_package(&import.module) {
                NameTarget::External
            } else {
                NameTarget::Unresolved
            };
        };
        match import.name.as_deref() {
            Some(name) => self.export_of(module, name, space, seen),
            None => NameTarget::Module(module),
        }
    }

    /// Resolves a name at file level, for an export of it.
    fn file_level_name(&self, index: &Index, name: &str, space: Space, seen: &mut VisitedExports) -> NameTarget {
        let own = |place: &u32| index.symbol(*place).is_some_and(|symbol| is_in_space(symbol, space));
        let found: Vec<u32> = index.named(None, name).iter().copied().filter(|place| own(place)).collect();
        if !found.is_empty() {
            let at = |place| SymbolAt { file: index.file.id, ordinal: place };
            return NameTarget::Symbols(found.into_iter().map(at).collect());
        }
        let import = index.imports_named(name).first().and_then(|&at| index.file.facts.imports.get(at as usize));
        match import {
            Some(import) => self.import_target(index, import, space, seen),
            None => match index.named(None, name).is_empty() {
                true => self.nonlocal_target(index, &Scope::new(index.file.id, None, 0), name, space),
                false => NameTarget::Unresolved,
            },
        }
    }

    /// Resolves a name that a module exports.
    pub(super) fn export(&self, file: VersionId, name: &str, space: Space) -> NameTarget {
        let key = (file, name.to_owned(), space);
        self.exports.get_or_compute(&key, || self.export_of(file, name, space, &mut VisitedExports::new()))
    }

    fn export_of(&self, file: VersionId, name: &str, space: Space, seen: &mut VisitedExports) -> NameTarget {
        if seen.len() >= MAX_MODULES || !seen.insert((file, name.to_owned())) {
            return NameTarget::Unresolved;
        }
        let Some(index) = self.index(file) else { return NameTarget::Unresolved };
        let found = self.own_export(&index, name, space, seen);
        if found != NameTarget::Unresolved {
            return found;
        }
        if name != "default" {
            for &glob in &index.globs {
                let import = index.file.facts.imports.get(glob as usize);
                let module = import.and_then(|import| self.modules.find(&index.file.path, &import.module));
                match module.map(|module| self.export_of(module, name, space, seen)) {
                    None | Some(NameTarget::Unresolved) => {}
                    Some(found) => return found,
                }
            }
        }
        self.commonjs_export(&index, name, space, seen)
    }

    /// Resolves an export that the file itself declares.
    fn own_export(&self, index: &Index, name: &str, space: Space, seen: &mut VisitedExports) -> NameTarget {
        let at = |place| SymbolAt { file: index.file.id, ordinal: place };
        let places = index.exported(name);
        let fitting =
            places.iter().filter(|&&place| index.symbol(place).is_some_and(|symbol| is_in_space(symbol, space)));
        let own: Vec<SymbolAt> = fitting.copied().map(at).collect();
        if !own.is_empty() {
            return NameTarget::Symbols(own);
        }
        for &reexport in index.reexports(name) {
            if let Some(import) = index.file.facts.imports.get(reexport as usize) {
                match self.import_target(index, import, space, seen) {
                    NameTarget::Unresolved => {}
                    found => return found,
                }
            }
        }
        NameTarget::Unresolved
    }

    /// Resolves `module.exports = x` and `export = x`: the whole is the default, and its members are exported by name.
    fn commonjs_export(&self, index: &Index, name: &str, space: Space, seen: &mut VisitedExports) -> NameTarget {
        if name == "default" {
            return match self.whole_export(index, space, seen) {
                NameTarget::Unresolved if is_commonjs(index) => NameTarget::Module(index.file.id),
                found => found,
            };
        }
        if name == "export=" {
            return NameTarget::Unresolved;
        }
        match self.whole_export(index, Space::Value, seen) {
            NameTarget::Module(module) if module != index.file.id => self.export_of(module, name, space, seen),
            NameTarget::Symbols(whole) => {
                let found: Vec<SymbolAt> = whole.iter().flat_map(|&at| self.static_members(at, name)).collect();
                if found.is_empty() { NameTarget::Unresolved } else { NameTarget::Symbols(found) }
            }
            _ => NameTarget::Unresolved,
        }
    }

    /// Resolves the whole export of `module.exports = x` or `export = x`.
    fn whole_export(&self, index: &Index, space: Space, seen: &mut VisitedExports) -> NameTarget {
        match self.own_export(index, "export=", space, seen) {
            NameTarget::Unresolved => whole_export_function(index),
            found => found,
        }
    }

    /// Resolves a module that is called or constructed as a whole.
    pub(super) fn callable_module(&self, file: VersionId) -> NameTarget {
        let mut file = file;
        for _ in 0..MAX_REEXPORTS {
            let Some(index) = self.index(file) else { return NameTarget::Unresolved };
            match self.whole_export(&index, Space::Value, &mut VisitedExports::new()) {
                NameTarget::Unresolved => return self.export(file, "default", Space::Value),
                NameTarget::Module(next) if next != file => file = next,
                found => return found,
            }
        }
        NameTarget::Unresolved
    }
}

/// Handles `module.exports = function named() {}`, which is listed under its own name.
fn whole_export_function(index: &Index) -> NameTarget {
    let symbols = index.file.facts.symbols.iter().enumerate();
    let found = symbols.filter(|(_, symbol)| symbol.parent.is_none() && symbol.flags.has(Flags::MODULE_ITSELF));
    let found: Vec<SymbolAt> =
        found.map(|(place, _)| SymbolAt { file: index.file.id, ordinal: place as u32 }).collect();
    if found.is_empty() { NameTarget::Unresolved } else { NameTarget::Symbols(found) }
}

/// Returns whether a file exports in CommonJS style: it contains no `export`.
fn is_commonjs(index: &Index) -> bool {
    let symbols = &index.file.facts.symbols;
    let is_script = index.file.language == "javascript" && !index.file.path.ends_with(".mjs");
    is_script && !symbols.iter().any(|symbol| symbol.visibility_text.is_some() && symbol.parent.is_none())
}
