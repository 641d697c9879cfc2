//! A Python file with the lookups that only Python needs.

use std::ops::Deref;
use std::rc::Rc;

use codecompass_model::{Import, SourceFile, SymbolKind};

use crate::rules::index::{Index, Lines, indices_where};

/// An entry with a name in a scope.
#[derive(Clone, Copy)]
pub(super) enum ScopeEntry {
    Symbol(u32),
    Import(u32),
    Binding(u32),
}

/// A Python file with its facts sorted for lookups.
pub(super) struct PythonFile {
    index: Index,
    /// The glob imports at file level.
    pub(super) globs: Vec<u32>,
}

impl Deref for PythonFile {
    type Target = Index;

    fn deref(&self) -> &Index {
        &self.index
    }
}

impl PythonFile {
    pub(super) fn new(file: Rc<SourceFile>) -> Self {
        let globs = indices_where(&file.facts.imports, |import| {
            import.glob && import.symbol.is_none() && import.alias.is_none() && import.name.is_none()
        });
        Self { index: Index::new(file, local_name), globs }
    }

    /// Returns the names of the type parameters that a symbol declares.
    pub(super) fn own_params(&self, place: u32) -> impl Iterator<Item = &str> {
        self.type_params(place).iter().filter_map(|&at| self.binding(at)).map(|of| self.name(of.name))
    }

    /// Returns the entries of a name directly in a scope: symbols, imports, then local bindings, each in source order.
    pub(super) fn entries(&self, scope: Option<u32>, name: &str) -> impl Iterator<Item = ScopeEntry> + '_ {
        let facts = self.facts();
        let is_import_here = move |at: &&u32| facts.imports[**at as usize].symbol == scope;
        let is_binding_here = move |at: &&u32| facts.bindings[**at as usize].symbol == scope;
        let symbols = self.named(scope, name).iter().map(|&at| ScopeEntry::Symbol(at));
        let imports = self.imports_named(name).iter().filter(is_import_here).map(|&at| ScopeEntry::Import(at));
        let bindings = self.bindings(name).iter().filter(is_binding_here).map(|&at| ScopeEntry::Binding(at));
        symbols.chain(imports).chain(bindings)
    }

    /// Returns whether a symbol has a decorator with one of these last names.
    pub(super) fn is_decorated(&self, place: u32, names: &[&str]) -> bool {
        let name = |at: &u32| self.facts().references.get(*at as usize).map(|reference| self.name(reference.name));
        self.decorators(place).iter().filter_map(name).any(|name| names.contains(&name))
    }

    /// Returns the class around a function, through functions inside methods.
    pub(super) fn class_around(&self, scope: Option<u32>) -> Option<u32> {
        self.nearest_ancestor(scope, &[SymbolKind::Class])
    }

    /// Returns the function of a class that contains a line, or the class itself.
    pub(super) fn method_at(&self, class: u32, line: u32) -> u32 {
        let is_around = |place: &&u32| {
            self.symbol(**place).is_some_and(|symbol| {
                is_function(symbol.kind) && symbol.lines.start <= line && line <= symbol.lines.end
            })
        };
        self.children(Some(class)).iter().find(is_around).copied().unwrap_or(class)
    }
}

/// Returns the local name of an import; `import os.path` declares `os`.
fn local_name(import: &Import) -> Option<&str> {
    let own = import.alias.as_deref().or(import.name.as_deref());
    own.or_else(|| import.module.split('.').next().filter(|_| !import.glob))
}

/// Returns whether a symbol has a scope of its own in which names are local.
pub(super) fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Fn | SymbolKind::Method | SymbolKind::Property)
}

/// Returns the indentation of a line; `None` for a line without code.
pub(super) fn indent_of(lines: &Lines, line: u32) -> Option<usize> {
    let (indent, code) = lines.code(line);
    (!code.is_empty() && !code.starts_with('#')).then_some(indent)
}
