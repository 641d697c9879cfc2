//! Resolves names at a site: local bindings, enclosing functions, the file, its imports, built-ins.

use std::rc::Rc;

use codecompass_model::{ExprId, Import, SymbolAt, SymbolKind, VersionId};

use super::PythonResolver;
use super::builtins::is_builtin;
use super::source::{PythonFile, ScopeEntry, is_function};
use super::types::NameTarget;

/// The site where a name is looked up.
#[derive(Clone)]
pub(super) struct LookupSite {
    pub(super) source: Rc<PythonFile>,
    /// The innermost enclosing symbol.
    pub(super) scope: Option<u32>,
    pub(super) line: u32,
    /// Whether this is in the header of a function, where the names of the enclosing class are visible.
    pub(super) in_header: bool,
    /// The extracted information about the first name of an expression.
    pub(super) root: RootName,
}

/// The information about the first name of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum RootName {
    /// Nothing is known.
    Unknown,
    /// It is this local binding.
    Local(u32),
    /// The first name of this text is not local.
    NonLocal(ExprId),
}

impl LookupSite {
    pub(super) fn at(source: &Rc<PythonFile>, scope: Option<u32>, line: u32) -> Self {
        Self { source: source.clone(), scope, line, in_header: false, root: RootName::Unknown }
    }

    /// Returns the site where the types of a function's header are looked up.
    pub(super) fn header(source: &Rc<PythonFile>, function: u32) -> Self {
        let line = source.symbol(function).map_or(0, |symbol| symbol.lines.start);
        Self { in_header: true, ..Self::at(source, Some(function), line) }
    }

    pub(super) fn id(&self) -> VersionId {
        self.source.file.id
    }
}

impl PythonResolver<'_> {
    /// Resolves a name. Local bindings count only if `with_locals`.
    pub(super) fn look_up(&self, place: &LookupSite, name: &str, with_locals: bool) -> NameTarget {
        let mut scope = place.scope;
        let mut sees_classes = true;
        while let Some(at) = scope {
            let Some(symbol) = place.source.symbol(at) else { break };
            let is_function = is_function(symbol.kind);
            if is_function || symbol.kind == SymbolKind::Class && sees_classes {
                let found = self.in_scope(place, Some(at), name, with_locals);
                if found != NameTarget::Unresolved {
                    return found;
                }
            } else if symbol.kind != SymbolKind::Class && with_locals {
                // The loops of a comprehension in the value of a variable.
                if let Some(binding) = visible(place, Some(at), name) {
                    return NameTarget::Local(binding);
                }
            }
            if is_function {
                sees_classes = place.in_header && Some(at) == place.scope;
            }
            scope = symbol.parent;
        }
        match self.in_scope(place, None, name, with_locals) {
            NameTarget::Unresolved => match self.in_globs(&place.source, name) {
                NameTarget::Unresolved if is_builtin(name) => NameTarget::External,
                found => found,
            },
            found => found,
        }
    }

    fn in_scope(&self, place: &LookupSite, scope: Option<u32>, name: &str, with_locals: bool) -> NameTarget {
        match self.defined_in(&place.source, scope, name) {
            NameTarget::Unresolved if with_locals => {
                visible(place, scope, name).map_or(NameTarget::Unresolved, NameTarget::Local)
            }
            found => found,
        }
    }

    /// Returns the target that a scope defines or imports under a name: targets in the view precede external ones.
    pub(super) fn defined_in(&self, source: &Rc<PythonFile>, scope: Option<u32>, name: &str) -> NameTarget {
        let mut symbols: Vec<SymbolAt> = Vec::new();
        let mut other = NameTarget::Unresolved;
        for entry in source.entries(scope, name) {
            let found = match entry {
                ScopeEntry::Symbol(place) => {
                    symbols.push(SymbolAt { file: source.file.id, ordinal: place });
                    continue;
                }
                ScopeEntry::Import(at) => self.imported(source, at),
                ScopeEntry::Binding(_) => continue,
            };
            match found {
                NameTarget::Symbols(more) => {
                    symbols.extend(more.iter().filter(|at| !symbols.contains(at)).copied().collect::<Vec<_>>());
                }
                NameTarget::Module(_) if !matches!(other, NameTarget::Module(_)) => other = found,
                NameTarget::External if other == NameTarget::Unresolved => other = found,
                _ => {}
            }
        }
        // `x = None` beside an import of `x` is a fallback for a failed import.
        if symbols.len() > 1 || other != NameTarget::Unresolved {
            symbols.retain(|at| at.file != source.file.id || !is_none_variable(source, at.ordinal));
        }
        if symbols.is_empty() { other } else { NameTarget::Symbols(symbols.into()) }
    }

    fn in_globs(&self, source: &Rc<PythonFile>, name: &str) -> NameTarget {
        let mut outside = NameTarget::Unresolved;
        for at in source.globs.iter().rev() {
            let Some(import) = source.facts().imports.get(*at as usize) else { continue };
            match self.modules.find(&source.file.path, &import.module) {
                Some(stem) if !name.starts_with('_') || name.starts_with("__") => match self.module_name(&stem, name) {
                    NameTarget::Unresolved => {}
                    found => return found,
                },
                Some(_) => {}
                None => outside = NameTarget::External,
            }
        }
        // A library may export any name, but a built-in is more likely.
        if is_builtin(name) { NameTarget::Unresolved } else { outside }
    }

    /// Returns the target of the name that an import declares.
    pub(super) fn imported(&self, source: &Rc<PythonFile>, at: u32) -> NameTarget {
        let Some(import) = source.facts().imports.get(at as usize) else { return NameTarget::Unresolved };
        if import.name.is_none() && import.alias.is_none() && !import.glob {
            let first = import.module.split('.').next().unwrap_or("");
            return self.module(source, first);
        }
        self.import_target(source, import)
    }

    /// Returns the target of an import.
    pub(super) fn import_target(&self, source: &Rc<PythonFile>, import: &Import) -> NameTarget {
        let Some(name) = import.name.as_deref().filter(|_| !import.glob) else {
            return self.module(source, &import.module);
        };
        let Some(stem) = self.modules.find(&source.file.path, &import.module) else {
            return if import.module.starts_with('.') { NameTarget::Unresolved } else { NameTarget::External };
        };
        // A package that imports one of its own modules.
        let is_own = self.modules.files(&stem).contains(&source.file.id);
        match self.modules.submodule(&stem, name).filter(|_| is_own) {
            Some(module) => NameTarget::Module(module),
            None => self.module_name(&stem, name),
        }
    }

    pub(super) fn module(&self, source: &Rc<PythonFile>, path: &str) -> NameTarget {
        match self.modules.find(&source.file.path, path) {
            Some(stem) => NameTarget::Module(stem),
            None if path.starts_with('.') => NameTarget::Unresolved,
            None => NameTarget::External,
        }
    }

    /// Returns the target of a name in a module: its own, an imported one, or a submodule.
    pub(super) fn module_name(&self, stem: &Rc<str>, name: &str) -> NameTarget {
        let key = (stem.clone(), Rc::from(name));
        self.names.compute_cyclic(&self.query_stack, key, NameTarget::Unresolved, || {
            for id in self.modules.files(stem).iter() {
                let Some(source) = self.source(*id) else { continue };
                let found = match self.defined_in(&source, None, name) {
                    NameTarget::Unresolved => self.in_globs(&source, name),
                    found => found,
                };
                if found != NameTarget::Unresolved {
                    return found;
                }
            }
            self.modules.submodule(stem, name).map_or(NameTarget::Unresolved, NameTarget::Module)
        })
    }
}

/// Returns whether a variable is first assigned `None`.
fn is_none_variable(source: &PythonFile, place: u32) -> bool {
    source.symbol(place).and_then(|symbol| symbol.value).is_some_and(|value| source.expr_text(value) == "None")
}

/// Returns the local binding of a scope that a line most likely sees: the last one above it, else the first.
fn visible(place: &LookupSite, scope: Option<u32>, name: &str) -> Option<u32> {
    let facts = place.source.facts();
    let mut first = None;
    let mut last = None;
    for entry in place.source.entries(scope, name) {
        let ScopeEntry::Binding(at) = entry else { continue };
        let Some(binding) = facts.bindings.get(at as usize) else { continue };
        first = first.or(Some(at));
        if binding.line <= place.line {
            last = Some(at);
        }
    }
    last.or(first)
}
