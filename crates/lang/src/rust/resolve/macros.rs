//! Resolves macros by name: in the file, in the crate, exported at the root of another crate.

use codecompass_model::{ImportForm, Resolution, SymbolAt, SymbolKind};

use super::RustResolver;
use super::modules::Scope;
use super::scope::{Def, Space};
use super::type_ref::TypeRef;
use crate::rust::standard_macros;

impl RustResolver<'_> {
    /// Resolves a macro call.
    pub(super) fn macro_call(&self, scope: Scope, name: &str, qualifier: Option<&str>, line: u32) -> Resolution {
        let written = qualifier.map(TypeRef::parse);
        let names = |of: &TypeRef| of.segments().iter().map(|segment| segment.name.clone()).collect::<Vec<_>>();
        let names = written.as_ref().map(names);
        let path: Option<Vec<&str>> = names.as_ref().map(|names| names.iter().map(String::as_str).collect());
        self.macro_named(scope, name, path.as_deref(), line)
    }

    /// Resolves the name of a macro, after a path or alone.
    pub(super) fn macro_named(&self, scope: Scope, name: &str, path: Option<&[&str]>, line: u32) -> Resolution {
        let all: Vec<SymbolAt> = self
            .world
            .symbols_named(name)
            .iter()
            .copied()
            .filter(|&at| self.symbol(at, |symbol| symbol.kind == SymbolKind::Macro).unwrap_or(false))
            .collect();
        if all.is_empty() {
            return Resolution::External;
        }
        let root = self.root(scope);
        if let Some(names) = path {
            return match self.path(scope, names, Space::Type) {
                Some(Def::Module(module)) => self.in_crate(&all, self.root(module)),
                Some(Def::External(_)) => Resolution::External,
                _ => Resolution::Unknown("path not found"),
            };
        }
        let line_of = |at: SymbolAt| self.symbol(at, |symbol| symbol.lines.start).unwrap_or(0);
        let here = || all.iter().copied().filter(|at| at.file == scope.file);
        let active: Vec<SymbolAt> = here().filter(|&at| self.is_active(at)).collect();
        let here: Vec<SymbolAt> = if active.is_empty() { here().collect() } else { active };
        let before = here.iter().rev().find(|&&at| line_of(at) <= line).or(here.first());
        if let Some(&found) = before {
            return Resolution::proved(found, "macro of the file");
        }
        match self.name(scope, name, Space::Macro) {
            Some(Def::Symbol(at)) => return Resolution::proved(at, "macro in scope"),
            Some(Def::External(_)) => return Resolution::External,
            _ => {}
        }
        let seen: Vec<SymbolAt> = all.iter().copied().filter(|&at| self.is_macro_in_scope(at, scope)).collect();
        if seen.is_empty()
            && let Some(at) = self.macro_of_used_crate(root, name)
        {
            return Resolution::proved(at, "macro of a crate with macro_use");
        }
        match (seen.is_empty(), standard_macros::is_external(name)) {
            (false, _) => self.in_crate(&seen, root),
            (true, true) => Resolution::External,
            (true, false) => match self.in_crate(&all, root) {
                Resolution::Symbols { targets, why, .. } if targets.len() == 1 => {
                    Resolution::heuristic(targets[0], why)
                }
                other => other,
            },
        }
    }

    /// Returns the macro that a `#[macro_use] extern crate` at the root of a crate brings into scope.
    fn macro_of_used_crate(&self, root: Scope, name: &str) -> Option<SymbolAt> {
        let index = self.indexed(root.file)?;
        let imports = index.imports(None).iter().filter_map(|&at| index.facts().imports.get(at as usize));
        imports.filter(|import| import.form == ImportForm::Require).find_map(|import| {
            match self.path(root, &[import.name.as_deref()?], Space::Type)? {
                Def::Module(module) => match self.exported_macro(module, name)? {
                    Def::Symbol(at) => Some(at),
                    _ => None,
                },
                _ => None,
            }
        })
    }

    /// Returns whether a macro's textual scope includes a site: it is defined in an enclosing module, or exported
    /// upward by `#[macro_use]`.
    fn is_macro_in_scope(&self, at: SymbolAt, scope: Scope) -> bool {
        let parent = self.symbol(at, |symbol| symbol.parent).flatten();
        let mut module = self.module_of(Scope { file: at.file, symbol: parent });
        for _ in 0..64 {
            if self.is_within(scope, module) {
                return true;
            }
            match self.parent(module).filter(|&above| self.exports_macros_upward(module, above)) {
                Some(above) => module = above,
                None => return false,
            }
        }
        false
    }

    fn exports_macros_upward(&self, module: Scope, above: Scope) -> bool {
        let Some(index) = self.indexed(above.file) else { return false };
        let Some(text) = self.world.text(above.file) else { return false };
        let declares = |&place: &u32| {
            let symbol = index.symbol(place).filter(|symbol| symbol.kind == SymbolKind::Module)?;
            let attributes = text.get(symbol.outer_start as usize..symbol.span.start as usize)?;
            let is_it = attributes.contains("macro_use")
                && self.declared_module(SymbolAt { file: above.file, ordinal: place }) == Some(module);
            is_it.then_some(())
        };
        index.children(above.symbol).iter().any(|place| declares(place).is_some())
    }

    fn in_crate(&self, all: &[SymbolAt], root: Scope) -> Resolution {
        let is_there = |at: &&SymbolAt| self.root(Scope { file: at.file, symbol: None }) == root;
        let found: Vec<SymbolAt> = all.iter().filter(is_there).copied().collect();
        match found.as_slice() {
            [] => Resolution::Unknown("macro not in scope"),
            [only] => Resolution::proved(*only, "macro of the crate"),
            several => {
                let best = several.iter().find(|&&at| self.is_active(at)).unwrap_or(&several[0]);
                Resolution::heuristic(*best, "one of the crate's macros")
            }
        }
    }
}
