//! Modules with exports: the declarations of a file, and the imports that it re-exports.
//!
//! A file of such a language is a module. Declarations inside its types (constructors, fields, methods of classes) are
//! bare names, like everything at its top level. It exports its declarations that are not private, and the imports in
//! its export list or imported modules that it exports as a whole.

use std::rc::Rc;

use codecompass_model::{Expr, ExprId, Import, Meaning, Reference, SymbolAt, SymbolKind, VersionId, Visibility};

use super::engine::{Engine, File, Place, is_type};
use super::members::Want;
use super::names::Found;

/// The alias of a name that an import hides; no identifier can have this spelling.
pub(crate) const HIDDEN: &str = "_";

/// A file, a name that is looked up in it or from it, and the lookup kind.
pub(super) type Asked = (VersionId, String, Want);

/// The exports of a module with one name.
#[derive(Default)]
pub(super) struct Handed {
    found: Vec<SymbolAt>,
    /// Whether it may export an external symbol.
    outside: bool,
}

impl Handed {
    fn add(&mut self, other: &Handed, is_meant: impl Fn(SymbolAt) -> bool) {
        for &at in &other.found {
            if is_meant(at) && !self.found.contains(&at) {
                self.found.push(at);
            }
        }
        self.outside |= other.outside;
    }
}

impl Engine<'_> {
    /// Returns the declarations of a file with this name: at top level, or in a type there.
    pub(super) fn declared_in(&self, file: &File, name: &str, want: Want) -> Vec<SymbolAt> {
        // An extension block has the name of its type, but the name does not refer to it.
        let is_block = |at: &SymbolAt| self.kind(*at) == Some(SymbolKind::Impl);
        let own = self.fitting(file, file.named(None, name), want).into_iter().filter(|at| !is_block(at)).collect();
        let own = self.defined(own);
        if !own.is_empty() {
            return own;
        }
        let named = self.symbols_named(name);
        let is_own = |at: &SymbolAt| {
            at.file == file.id() && !is_block(at) && self.fits(*at, want) && self.is_in_types(file, at.place)
        };
        named.iter().copied().filter(is_own).collect()
    }

    /// Returns whether all enclosing symbols are types or variants.
    pub(super) fn is_in_types(&self, file: &File, place: u32) -> bool {
        let is_one = |at: u32| file.symbol(at).is_some_and(|of| is_type(of.kind) || of.kind == SymbolKind::Variant);
        file.around(Some(place)).skip(1).all(is_one)
    }

    /// Returns the exports of a file with this name.
    fn handed_on(&self, id: VersionId, name: &str, want: Want) -> Rc<Handed> {
        let key = (id, name.to_owned(), want);
        self.handed.answer(&self.course, key, Rc::default(), || Rc::new(self.find_handed_on(id, name, want)))
    }

    fn find_handed_on(&self, id: VersionId, name: &str, want: Want) -> Handed {
        let Some(file) = self.file(id) else { return Handed::default() };
        let is_open =
            |at: &SymbolAt| file.symbol(at.place).is_some_and(|symbol| symbol.visibility != Some(Visibility::Private));
        let own: Vec<SymbolAt> = self.declared_in(&file, name, want).into_iter().filter(is_open).collect();
        if !own.is_empty() {
            return Handed { found: own, outside: false };
        }
        let mut all = Handed::default();
        let is_listed = self.is_listed(&file, name);
        let named = self.symbols_named(name);
        let is_part = named.iter().any(|at| !self.library().has(at.file) && self.type_around(*at).is_some());
        for (at, import) in file.facts().imports.iter().enumerate() {
            let is_passed = is_listed || import.reexport;
            if !is_passed && !is_part {
                continue;
            }
            let Some(given) = self.handed_by(&file, at, import, name, want) else { continue };
            let outside = all.outside || is_passed && given.outside;
            // Constructors and fields of a listed type are exported with it.
            all.add(&given, |at| is_passed || self.type_around(at).is_some_and(|of| self.is_listed(&file, &of)));
            all.outside = outside;
        }
        all
    }

    /// Returns whether a file may export an external symbol with a name that no symbol of the view has.
    fn passes_outside(&self, id: VersionId, name: &str) -> bool {
        let Some(file) = self.file(id) else { return false };
        self.is_listed(&file, name) || self.passes_modules(&file)
    }

    /// Returns whether a file exports an external module as a whole, directly or through another file.
    fn passes_modules(&self, file: &Rc<File>) -> bool {
        self.passing.answer(&self.course, file.id(), false, || {
            let files = self.imported_files(file);
            let mut passed = file.facts().imports.iter().zip(files.iter()).filter(|(import, _)| import.reexport);
            passed.any(|(_, files)| match files.first() {
                None => true,
                Some(&id) => self.file(id).is_some_and(|other| self.passes_modules(&other)),
            })
        })
    }

    /// Returns whether a name is in the export list of a file: only that list has references at top level.
    fn is_listed(&self, file: &File, name: &str) -> bool {
        let is_outer = |&&at: &&u32| file.facts().references[at as usize].symbol.is_none();
        file.references(name).iter().any(|at| is_outer(&at))
    }

    /// Returns the name of the enclosing type of a symbol.
    fn type_around(&self, at: SymbolAt) -> Option<String> {
        let file = self.file(at.file)?;
        let around =
            file.around(Some(at.place)).skip(1).filter_map(|at| file.symbol(at)).find(|of| is_type(of.kind))?;
        Some(around.name.clone())
    }

    /// Returns what an import provides for a bare name; `None` if it cannot provide the name.
    fn handed_by(&self, file: &Rc<File>, at: usize, import: &Import, name: &str, want: Want) -> Option<Rc<Handed>> {
        match &import.name {
            _ if import.alias.as_deref() == Some(HIDDEN) => None,
            Some(own) if own == name => Some(self.brought(file, at, name, want)),
            // Constructors and fields of a type come with it.
            Some(of) if import.glob => {
                let brought = self.brought(file, at, name, want);
                let mut meant = Handed::default();
                meant.add(&brought, |at| self.type_around(at).is_some_and(|around| around == *of));
                Some(Rc::new(meant))
            }
            None if import.glob && !self.hides(file, import, name) => Some(self.brought(file, at, name, want)),
            _ => None,
        }
    }

    /// Returns the files that the imports of a file refer to, one list per import.
    fn imported_files(&self, file: &Rc<File>) -> Rc<[Vec<VersionId>]> {
        self.imported.once(&file.id(), || {
            // The names of one import list follow each other.
            let mut last: Option<(&str, Vec<VersionId>)> = None;
            let files = file.facts().imports.iter().map(|import| match &last {
                Some((module, files)) if *module == import.module => files.clone(),
                _ => {
                    let files = (self.scoping.module)(&*self.world, &file.file.path, &import.module);
                    last = Some((&import.module, files.clone()));
                    files
                }
            });
            files.collect()
        })
    }

    fn brought(&self, file: &Rc<File>, at: usize, name: &str, want: Want) -> Rc<Handed> {
        let files = self.imported_files(file);
        match files.get(at).map_or(&[][..], Vec::as_slice) {
            [] => Rc::new(Handed { found: Vec::new(), outside: true }),
            [only] => self.handed_on(*only, name, want),
            all => {
                let mut whole = Handed::default();
                all.iter().for_each(|id| whole.add(&self.handed_on(*id, name, want), |_| true));
                Rc::new(whole)
            }
        }
    }

    /// Returns whether an import hides a name.
    fn hides(&self, file: &File, import: &Import, name: &str) -> bool {
        let hidden = file.imports_named(HIDDEN).iter().map(|&at| &file.facts().imports[at as usize]);
        let mut same = hidden.filter(|hidden| hidden.line == import.line && hidden.module == import.module);
        same.any(|hidden| hidden.name.as_deref() == Some(name))
    }

    /// Looks up a name in the imports of a file.
    pub(super) fn by_module(&self, file: &Rc<File>, name: &str, want: Want, outside: &mut bool) -> Option<Found> {
        let key = (file.id(), name.to_owned(), want);
        let (all, is_named) =
            &*self.brought_in.unless_cut(&self.course, key, || Rc::new(self.find_by_module(file, name, want)));
        *outside |= all.outside;
        match all.found.is_empty() {
            true => is_named.then_some(Found::External),
            false => Some(Found::Symbols(all.found.clone())),
        }
    }

    /// Like [`Self::by_module`]; also returns whether an import declares an external symbol with this name.
    fn find_by_module(&self, file: &Rc<File>, name: &str, want: Want) -> (Handed, bool) {
        let (mut all, mut is_named) = (Handed::default(), false);
        let is_heard = self.symbols_named(name).iter().any(|at| !self.library().has(at.file) && self.fits(*at, want));
        let files = self.imported_files(file);
        for (at, import) in file.facts().imports.iter().enumerate() {
            // Most names are external: a name that no symbol of the view has needs no search.
            if let Some(&id) = files.get(at).and_then(|files| files.first()).filter(|_| !is_heard) {
                let is_named_so = import.name.as_deref() == Some(name);
                all.outside |= (import.glob || is_named_so) && self.passes_outside(id, name);
                continue;
            }
            let Some(given) = self.handed_by(file, at, import, name, want) else { continue };
            is_named |= given.outside && import.name.as_deref() == Some(name);
            all.add(&given, |_| true);
        }
        (all, is_named)
    }

    /// Returns the target of an import.
    pub(super) fn module_import(&self, file: &Rc<File>, import: &Import) -> Found {
        let Some(name) = &import.name else {
            let files = (self.scoping.module)(&*self.world, &file.file.path, &import.module);
            return if files.is_empty() { Found::External } else { Found::Module(files) };
        };
        let Some(at) = file.facts().imports.iter().position(|other| other == import) else { return Found::Nothing };
        for &want in wants(name) {
            let brought = self.brought(file, at, name, want);
            if !brought.found.is_empty() {
                return Found::Symbols(brought.found.clone());
            }
            if brought.outside {
                return Found::External;
            }
        }
        Found::Nothing
    }

    /// Resolves a name after a module qualifier.
    pub(super) fn behind_module(&self, place: &Place, module: &str, name: &str, want: Want) -> Meaning {
        let file = &place.file;
        let mut all = Handed::default();
        if module == file.package {
            all.found = self.declared_in(file, name, want);
        }
        for (at, import) in file.facts().imports.iter().enumerate().filter(|(_, import)| import.name.is_none()) {
            if import.alias.as_deref() == Some(module) || import.module == module {
                all.add(&self.brought(file, at, name, want), |_| true);
            }
        }
        match all.found.is_empty() {
            false => self.proved(all.found, "in a module"),
            true if all.outside => Meaning::External,
            true => Meaning::Unknown("no such name in the module"),
        }
    }

    /// Resolves a name in an import: a module, or one of its exports.
    pub(super) fn in_module_import(&self, file: &Rc<File>, reference: &Reference) -> Meaning {
        let name = file.name(reference.name);
        let place = Place { file: file.clone(), symbol: None };
        let module = |id: ExprId| match file.facts().expr(id) {
            Expr::Module(module) => Some(file.name(*module)),
            _ => None,
        };
        let Some(of) = reference.qualifier else { return self.named_module(file, name) };
        if let Expr::Cast(of) = file.facts().expr(of) {
            return self.named_module(file, module(*of).unwrap_or(name));
        }
        let (module, wants) = match file.facts().expr(of) {
            // A constructor or field of a type.
            Expr::Member { of, .. } => (module(*of), &[Want::Value][..]),
            _ => (module(of), wants(name)),
        };
        let Some(module) = module else { return Meaning::Unknown("no module") };
        let mut meaning = Meaning::Unknown("no such name in the module");
        for &want in wants {
            meaning = self.behind_module(&place, module, name, want);
            if matches!(meaning, Meaning::Symbols { .. } | Meaning::External) {
                break;
            }
        }
        meaning
    }

    /// Resolves a module by its name or by its import alias.
    fn named_module(&self, file: &Rc<File>, name: &str) -> Meaning {
        let all = self.imported_files(file);
        let imports = file.facts().imports.iter().zip(all.iter());
        let is_meant =
            |import: &Import| import.name.is_none() && (import.alias.as_deref() == Some(name) || import.module == name);
        let mut meant = imports.filter(|(import, _)| is_meant(import)).peekable();
        let mut files: Vec<VersionId> = match meant.peek() {
            Some(_) => meant.flat_map(|(_, files)| files.iter().copied()).collect(),
            None => (self.scoping.module)(&*self.world, &file.file.path, name),
        };
        files.dedup();
        if files.is_empty() { Meaning::External } else { Meaning::Module(files) }
    }
}

/// Returns the lookup kinds of a name in a list: a name with a capital letter is a type first.
fn wants(name: &str) -> &'static [Want] {
    if name.starts_with(char::is_uppercase) { &[Want::Type, Want::Value] } else { &[Want::Value, Want::Type] }
}
