//! Resolves names in their scope.

use std::rc::Rc;

use codecompass_model::{SymbolAt, SymbolKind};

use super::packages::{FileIndex, is_function, may_be_named};
use super::predeclared::{self, Predeclared};
use super::{GoResolver, Imported};

/// The site of a name in a file.
pub(super) struct Scope {
    pub(super) file: Rc<FileIndex>,
    /// The innermost enclosing symbol.
    pub(super) symbol: Option<u32>,
    pub(super) line: u32,
}

/// The target of a name.
pub(super) enum NameTarget {
    Symbols(Vec<SymbolAt>),
    Import(Rc<Imported>),
    Predeclared(Predeclared),
    /// An external name, through a dot import.
    External,
    Unresolved,
}

impl GoResolver<'_> {
    /// Resolves a name that is not a local variable.
    pub(super) fn find_global(&self, scope: &Scope, name: &str) -> NameTarget {
        match in_function(scope, name) {
            Some(found) => NameTarget::Symbols(vec![found]),
            None => self.find_in_file(&scope.file, name),
        }
    }

    /// Resolves a name that no enclosing function declares.
    pub(super) fn find_in_file(&self, file: &FileIndex, name: &str) -> NameTarget {
        if let Some(package) = self.package_of(file)
            && let targets @ [_, ..] = package.find(name)
        {
            let mut targets = targets.to_vec();
            // Among several declarations under build constraints, the file is built with its own.
            targets.sort_by_key(|target| target.file != file.id());
            return NameTarget::Symbols(targets);
        }
        if let Some(import) = self.find_import(file, name) {
            return NameTarget::Import(self.imported(&file.facts().imports[import as usize].module));
        }
        self.resolve_in_universe(file, name)
    }

    /// Resolves a name from a dot import, or a predeclared one.
    fn resolve_in_universe(&self, file: &FileIndex, name: &str) -> NameTarget {
        let mut outside = false;
        for import in file.facts().imports.iter().filter(|import| import.glob) {
            match self.imported(&import.module).as_ref() {
                Imported::Package(package) => {
                    if let targets @ [_, ..] = package.find(name) {
                        return NameTarget::Symbols(targets.to_vec());
                    }
                }
                _ => outside = true,
            }
        }
        match predeclared::find(name) {
            Some(found) => NameTarget::Predeclared(found),
            None if outside && name.starts_with(char::is_uppercase) => NameTarget::External,
            None => NameTarget::Unresolved,
        }
    }

    /// Returns the import that a name refers to.
    fn find_import(&self, file: &FileIndex, name: &str) -> Option<u32> {
        if let Some(known) = file.imports.borrow().get(name) {
            return *known;
        }
        let found = self.search_import(file, name);
        file.imports.borrow_mut().insert(name.to_owned(), found);
        found
    }

    fn search_import(&self, file: &FileIndex, name: &str) -> Option<u32> {
        let imports = || file.facts().imports.iter().enumerate().filter(|(_, import)| !import.glob);
        let by_alias = imports().find(|(_, import)| import.alias.as_deref() == Some(name));
        let plain = || imports().filter(|(_, import)| import.alias.is_none());
        let by_clause = || {
            plain().find(|(_, import)| match self.imported(&import.module).as_ref() {
                Imported::Package(package) => package.name == name,
                _ => false,
            })
        };
        let by_path = || plain().find(|(_, import)| may_be_named(&import.module, name));
        by_alias.or_else(by_clause).or_else(by_path).map(|(at, _)| at as u32)
    }
}

/// Returns a type that the enclosing function declares.
fn in_function(scope: &Scope, name: &str) -> Option<SymbolAt> {
    let file = &scope.file;
    let functions = file.ancestors(scope.symbol).filter(|&place| file.symbol(place).is_some_and(is_function));
    functions.into_iter().find_map(|place| {
        let is_type = |kind| matches!(kind, SymbolKind::Struct | SymbolKind::Interface | SymbolKind::Type);
        let types = file.members(place).filter(|(_, symbol)| symbol.name == name && is_type(symbol.kind));
        // It is visible from its declaration on, and the nearest one hides those before it.
        let (place, _) = types.filter(|(_, symbol)| symbol.name_line <= scope.line).last()?;
        Some(SymbolAt { file: file.id(), ordinal: place })
    })
}
