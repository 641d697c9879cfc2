//! Resolves the exports of modules, and imports.

use std::collections::HashSet;

use codecompass_model::{Flags, Import, SymbolAt, VersionId};

use super::Rules;
use super::index::Index;
use super::names::{Space, Target, is_in_space};
use super::types::Scope;

/// The maximum number of modules to search for an export; barrels of large projects re-export hundreds.
const MAX_ASKED: usize = 5000;

/// The maximum number of re-exports of a whole module.
const MAX_HOPS: usize = 24;

/// The modules that were already searched.
type Asked = HashSet<(VersionId, String)>;

impl Rules<'_> {
    /// Resolves an import of a file.
    pub(super) fn imported(&self, file: VersionId, at: u32, space: Space) -> Target {
        let Some(index) = self.index(file) else { return Target::Nobody };
        match index.file.facts.imports.get(at as usize) {
            Some(import) => self.import_target(&index, import, space, &mut Asked::new()),
            None => Target::Nobody,
        }
    }

    fn import_target(&self, index: &Index, import: &Import, space: Space, seen: &mut Asked) -> Target {
        if import.module.is_empty() {
            return self.own_name(index, import.name.as_deref().unwrap_or(""), space, seen);
        }
        let Some(module) = self.modules.find(&index.file.path, &import.module) else {
            return if self.modules.is_foreign(&import.module) { Target::External } else { Target::Nobody };
        };
        match import.name.as_deref() {
            Some(name) => self.export_of(module, name, space, seen),
            None => Target::Module(module),
        }
    }

    /// Resolves a name at file level, for an export of it.
    fn own_name(&self, index: &Index, name: &str, space: Space, seen: &mut Asked) -> Target {
        let own = |place: &u32| index.symbol(*place).is_some_and(|symbol| is_in_space(symbol, space));
        let found: Vec<u32> = index.named(None, name).iter().copied().filter(|place| own(place)).collect();
        if !found.is_empty() {
            let at = |place| SymbolAt { file: index.file.id, place };
            return Target::Symbols(found.into_iter().map(at).collect());
        }
        let import = index.imports_named(name).first().and_then(|&at| index.file.facts.imports.get(at as usize));
        match import {
            Some(import) => self.import_target(index, import, space, seen),
            None => match index.named(None, name).is_empty() {
                true => self.symbols(index, &Scope::new(index.file.id, None, 0), name, space),
                false => Target::Nobody,
            },
        }
    }

    /// Resolves a name that a module exports.
    pub(super) fn export(&self, file: VersionId, name: &str, space: Space) -> Target {
        let key = (file, name.to_owned(), space);
        self.exports.once(&key, || self.export_of(file, name, space, &mut Asked::new()))
    }

    fn export_of(&self, file: VersionId, name: &str, space: Space, seen: &mut Asked) -> Target {
        if seen.len() >= MAX_ASKED || !seen.insert((file, name.to_owned())) {
            return Target::Nobody;
        }
        let Some(index) = self.index(file) else { return Target::Nobody };
        let found = self.own_export(&index, name, space, seen);
        if found != Target::Nobody {
            return found;
        }
        if name != "default" {
            for &glob in &index.globs {
                let import = index.file.facts.imports.get(glob as usize);
                let module = import.and_then(|import| self.modules.find(&index.file.path, &import.module));
                match module.map(|module| self.export_of(module, name, space, seen)) {
                    None | Some(Target::Nobody) => {}
                    Some(found) => return found,
                }
            }
        }
        self.common_export(&index, name, space, seen)
    }

    /// Resolves an export that the file itself declares.
    fn own_export(&self, index: &Index, name: &str, space: Space, seen: &mut Asked) -> Target {
        let at = |place| SymbolAt { file: index.file.id, place };
        let places = index.exported(name);
        let fitting =
            places.iter().filter(|&&place| index.symbol(place).is_some_and(|symbol| is_in_space(symbol, space)));
        let own: Vec<SymbolAt> = fitting.copied().map(at).collect();
        if !own.is_empty() {
            return Target::Symbols(own);
        }
        for &reexport in index.reexports(name) {
            if let Some(import) = index.file.facts.imports.get(reexport as usize) {
                match self.import_target(index, import, space, seen) {
                    Target::Nobody => {}
                    found => return found,
                }
            }
        }
        Target::Nobody
    }

    /// Resolves `module.exports = x` and `export = x`: the whole is the default, and its members are exported by name.
    fn common_export(&self, index: &Index, name: &str, space: Space, seen: &mut Asked) -> Target {
        if name == "default" {
            return match self.whole(index, space, seen) {
                Target::Nobody if is_common(index) => Target::Module(index.file.id),
                found => found,
            };
        }
        if name == "export=" {
            return Target::Nobody;
        }
        match self.whole(index, Space::Value, seen) {
            Target::Module(module) if module != index.file.id => self.export_of(module, name, space, seen),
            Target::Symbols(whole) => {
                let found: Vec<SymbolAt> = whole.iter().flat_map(|&at| self.static_members(at, name)).collect();
                if found.is_empty() { Target::Nobody } else { Target::Symbols(found) }
            }
            _ => Target::Nobody,
        }
    }

    /// Resolves the whole export of `module.exports = x` or `export = x`.
    fn whole(&self, index: &Index, space: Space, seen: &mut Asked) -> Target {
        match self.own_export(index, "export=", space, seen) {
            Target::Nobody => whole_function(index),
            found => found,
        }
    }

    /// Resolves a module that is called or constructed as a whole.
    pub(super) fn module_itself(&self, file: VersionId) -> Target {
        let mut file = file;
        for _ in 0..MAX_HOPS {
            let Some(index) = self.index(file) else { return Target::Nobody };
            match self.whole(&index, Space::Value, &mut Asked::new()) {
                Target::Nobody => return self.export(file, "default", Space::Value),
                Target::Module(next) if next != file => file = next,
                found => return found,
            }
        }
        Target::Nobody
    }
}

/// Handles `module.exports = function named() {}`, which is listed under its own name.
fn whole_function(index: &Index) -> Target {
    let symbols = index.file.facts.symbols.iter().enumerate();
    let found = symbols.filter(|(_, symbol)| symbol.parent.is_none() && symbol.flags.has(Flags::MODULE_ITSELF));
    let found: Vec<SymbolAt> = found.map(|(place, _)| SymbolAt { file: index.file.id, place: place as u32 }).collect();
    if found.is_empty() { Target::Nobody } else { Target::Symbols(found) }
}

/// Returns whether a file exports in CommonJS style: it contains no `export`.
fn is_common(index: &Index) -> bool {
    let symbols = &index.file.facts.symbols;
    let is_script = index.file.language == "javascript" && !index.file.path.ends_with(".mjs");
    is_script && !symbols.iter().any(|symbol| symbol.visibility_text.is_some() && symbol.parent.is_none())
}
