//! What a name means where it stands.

use std::rc::Rc;

use codecompass_model::{SymbolAt, SymbolKind};

use super::packages::{FileIndex, is_function, may_be_named};
use super::predeclared::{self, Predeclared};
use super::{Go, Imported};

/// A place in a file that text is read at.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) file: Rc<FileIndex>,
    /// The innermost symbol around it.
    pub(super) symbol: Option<u32>,
    pub(super) near: Near,
}

/// Where the names of a text were met as references, which know the local names they mean.
#[derive(Clone, Copy)]
pub(super) enum Near {
    /// The text is the qualifier of this reference: its names stand before it.
    Reference(u32),
    /// The text begins on this line.
    Line(u32),
    /// No local name can be seen.
    Nothing,
}

/// What a name means.
pub(super) enum Found {
    /// A local name, as a binding of the file.
    Binding(u32),
    Symbols(Vec<SymbolAt>),
    Import(Rc<Imported>),
    Predeclared(Predeclared),
    /// A name from outside of the view, by an import of all names.
    External,
    Nothing,
}

/// How many references are looked at to find a name of a text.
const MAX_REFERENCES: usize = 400;

impl Scope {
    /// The line that types without a name are looked for at, and whether they stand before it.
    pub(super) fn line(&self) -> (u32, bool) {
        match self.near {
            Near::Reference(at) => {
                (self.file.source.facts.references.get(at as usize).map_or(0, |reference| reference.line), true)
            }
            Near::Line(line) => (line, false),
            Near::Nothing => (0, false),
        }
    }

    /// The local name that a name in the text means.
    fn local(&self, name: &str) -> Option<u32> {
        let facts = &self.file.source.facts;
        let references = &facts.references;
        let means = |at: usize| {
            let reference = &references[at];
            let is_alone = reference.qualifier.is_none() && reference.shape.is_use();
            let fits = is_alone && self.file.text(reference.name) == name;
            fits.then_some(reference.binding)
        };
        match self.near {
            Near::Reference(at) => {
                let at = at as usize;
                let own = references.get(at)?;
                // The first name of the qualifier is the one the facts are sure about.
                if let Some(binding) = own.binding
                    && facts.bindings.get(binding as usize).is_some_and(|of| self.file.text(of.name) == name)
                {
                    return Some(binding);
                }
                (at.saturating_sub(MAX_REFERENCES)..at).rev().find_map(means)?
            }
            Near::Line(line) => {
                let from = references.partition_point(|reference| reference.line < line);
                // A predeclared type is no reference: what is met later under its name is something else.
                let is_predeclared = predeclared::find(name).is_some();
                let is_near = |at: &usize| !is_predeclared || references[*at].line == line;
                (from..references.len().min(from + MAX_REFERENCES)).take_while(is_near).find_map(means)?
            }
            Near::Nothing => None,
        }
    }
}

impl Go<'_> {
    /// What a name in a text means.
    pub(super) fn find(&self, scope: &Scope, name: &str) -> Found {
        match scope.local(name) {
            Some(binding) => Found::Binding(binding),
            None => self.find_global(scope, name),
        }
    }

    /// What a name means that is no local variable.
    pub(super) fn find_global(&self, scope: &Scope, name: &str) -> Found {
        if let Some(found) = in_function(scope, name) {
            return found;
        }
        let file = &scope.file;
        if let Some(package) = self.package_of(file)
            && let targets @ [_, ..] = package.find(name)
        {
            let mut targets = targets.to_vec();
            // Of several declarations under build constraints, the file's own is the one it is built with.
            targets.sort_by_key(|target| target.file != file.source.id);
            return Found::Symbols(targets);
        }
        if let Some(import) = self.find_import(file, name) {
            return Found::Import(self.imported(&file.source.facts.imports[import as usize].module));
        }
        self.find_everywhere(file, name)
    }

    /// A name that an import of all names brings in, or that every file knows.
    fn find_everywhere(&self, file: &FileIndex, name: &str) -> Found {
        let mut outside = false;
        for import in file.source.facts.imports.iter().filter(|import| import.glob) {
            match self.imported(&import.module).as_ref() {
                Imported::Package(package) => {
                    if let targets @ [_, ..] = package.find(name) {
                        return Found::Symbols(targets.to_vec());
                    }
                }
                _ => outside = true,
            }
        }
        match predeclared::find(name) {
            Some(found) => Found::Predeclared(found),
            None if outside && name.starts_with(char::is_uppercase) => Found::External,
            None => Found::Nothing,
        }
    }

    /// The import that a name means.
    fn find_import(&self, file: &FileIndex, name: &str) -> Option<u32> {
        if let Some(known) = file.imports.borrow().get(name) {
            return *known;
        }
        let found = self.search_import(file, name);
        file.imports.borrow_mut().insert(name.to_owned(), found);
        found
    }

    fn search_import(&self, file: &FileIndex, name: &str) -> Option<u32> {
        let imports = || file.source.facts.imports.iter().enumerate().filter(|(_, import)| !import.glob);
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

/// A type that the function around declares, or a type parameter.
fn in_function(scope: &Scope, name: &str) -> Option<Found> {
    let file = &scope.file;
    for place in file.around(scope.symbol) {
        let of_name = |&&binding: &&u32| {
            let binding = file.source.facts.bindings.get(binding as usize);
            binding.is_some_and(|binding| file.text(binding.name) == name)
        };
        if let Some(binding) = file.type_params(place).iter().find(of_name) {
            return Some(Found::Binding(*binding));
        }
        let is_function = file.symbol(place).is_some_and(is_function);
        if !is_function {
            continue;
        }
        let is_type = |kind| matches!(kind, SymbolKind::Struct | SymbolKind::Interface | SymbolKind::Type);
        // It can be seen from its declaration on, and the nearest one hides those before it.
        let is_seen = |line: u32| line <= scope.line().0;
        let types = file.children(Some(place)).filter(|(_, symbol)| symbol.name == name && is_type(symbol.kind));
        if let Some((place, _)) = types.filter(|(_, symbol)| is_seen(symbol.name_line)).last() {
            return Some(Found::Symbols(vec![SymbolAt { file: file.source.id, place }]));
        }
    }
    None
}
