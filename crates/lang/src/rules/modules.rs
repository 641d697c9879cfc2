//! Modules with exports: the declarations of a file, and the imports that it re-exports.
//!
//! A file of such a language is a module. Declarations inside its types (constructors, fields, methods of classes) are
//! bare names, like everything at its top level. It exports its declarations that are not private, and the imports in
//! its export list or imported modules that it exports as a whole.

use std::rc::Rc;

use codecompass_model::{Expr, ExprId, Import, Reference, Resolution, SymbolAt, SymbolKind, VersionId, Visibility};

use super::engine::{Engine, File, LookupSite, is_type};
use super::members::LookupKind;
use super::names::NameTarget;

/// The alias of a name that an import hides; no identifier can have this spelling.
pub(crate) const HIDDEN_ALIAS: &str = "_";

/// A file, a name that is looked up in it or from it, and the lookup kind.
pub(super) type ExportKey = (VersionId, String, LookupKind);

/// The exports of a module with one name.
#[derive(Default)]
pub(super) struct ModuleExports {
    symbols: Vec<SymbolAt>,
    /// Whether it may export an external symbol.
    external: bool,
}

impl ModuleExports {
    fn add(&mut self, other: &ModuleExports, is_meant: impl Fn(SymbolAt) -> bool) {
        for &at in &other.symbols {
            if is_meant(at) && !self.symbols.contains(&at) {
                self.symbols.push(at);
            }
        }
        self.external |= other.external;
    }
}

impl Engine<'_> {
    /// Returns the declarations of a file with this name: at top level, or in a type there.
    pub(super) fn declared_in(&self, file: &File, name: &str, want: LookupKind) -> Vec<SymbolAt> {
        // An extension block has the name of its type, but the name does not refer to it.
        let is_block = |at: &SymbolAt| self.kind(*at) == Some(SymbolKind::Impl);
        let own =
            self.filter_by_kind(file, file.named(None, name), want).into_iter().filter(|at| !is_block(at)).collect();
        let own = self.prefer_definitions(own);
        if !own.is_empty() {
            return own;
        }
        let named = self.symbols_named(name);
        let is_own = |at: &SymbolAt| {
            at.file == file.id()
                && !is_block(at)
                && self.matches_kind(*at, want)
                && self.is_only_in_types(file, at.ordinal)
        };
        named.iter().copied().filter(is_own).collect()
    }

    /// Returns whether all enclosing symbols are types or variants.
    pub(super) fn is_only_in_types(&self, file: &File, place: u32) -> bool {
        let is_one = |at: u32| file.symbol(at).is_some_and(|of| is_type(of.kind) || of.kind == SymbolKind::Variant);
        file.ancestors(Some(place)).skip(1).all(is_one)
    }

    /// Returns the exports of a file with this name.
    fn module_exports(&self, id: VersionId, name: &str, want: LookupKind) -> Rc<ModuleExports> {
        let key = (id, name.to_owned(), want);
        self.exports
            .compute_cyclic(&self.query_stack, key, Rc::default(), || Rc::new(self.find_module_exports(id, name, want)))
    }

    fn find_module_exports(&self, id: VersionId, name: &str, want: LookupKind) -> ModuleExports {
        let Some(file) = self.file(id) else { return ModuleExports::default() };
        let is_open = |at: &SymbolAt| {
            file.symbol(at.ordinal).is_some_and(|symbol| symbol.visibility != Some(Visibility::Private))
        };
        let own: Vec<SymbolAt> = self.declared_in(&file, name, want).into_iter().filter(is_open).collect();
        if !own.is_empty() {
            return ModuleExports { symbols: own, external: false };
        }
        let mut all = ModuleExports::default();
        let is_listed = self.is_in_export_list(&file, name);
        let named = self.symbols_named(name);
        let is_part = named.iter().any(|at| !self.library().has(at.file) && self.enclosing_type_name(*at).is_some());
        for (at, import) in file.facts().imports.iter().enumerate() {
            let is_passed = is_listed || import.reexport;
            if !is_passed && !is_part {
                continue;
            }
            let Some(given) = self.exports_through_import(&file, at, import, name, want) else { continue };
            let outside = all.external || is_passed && given.external;
            // Constructors and fields of a listed type are exported with it.
            all.add(&given, |at| {
                is_passed || self.enclosing_type_name(at).is_some_and(|of| self.is_in_export_list(&file, &of))
            });
            all.external = outside;
        }
        all
    }

    /// Returns whether a file may export an external symbol with a name that no symbol of the view has.
    fn may_reexport_external(&self, id: VersionId, name: &str) -> bool {
        let Some(file) = self.file(id) else { return false };
        self.is_in_export_list(&file, name) || self.reexports_external_module(&file)
    }

    /// Returns whether a file exports an external module as a whole, directly or through another file.
    fn reexports_external_module(&self, file: &Rc<File>) -> bool {
        self.external_reexports.compute_cyclic(&self.query_stack, file.id(), false, || {
            let files = self.imported_files(file);
            let mut passed = file.facts().imports.iter().zip(files.iter()).filter(|(import, _)| import.reexport);
            passed.any(|(_, files)| match files.first() {
                None => true,
                Some(&id) => self.file(id).is_some_and(|other| self.reexports_external_module(&other)),
            })
        })
    }

    /// Returns whether a name is in the export list of a file: only that list has references at top level.
    fn is_in_export_list(&self, file: &File, name: &str) -> bool {
        let is_outer = |&&at: &&u32| file.facts().references[at as usize].symbol.is_none();
        file.references(name).iter().any(|at| is_outer(&at))
    }

    /// Returns the name of the enclosing type of a symbol.
    fn enclosing_type_name(&self, at: SymbolAt) -> Option<String> {
        let file = self.file(at.file)?;
        let around =
            file.ancestors(Some(at.ordinal)).skip(1).filter_map(|at| file.symbol(at)).find(|of| is_type(of.kind))?;
        Some(around.name.clone())
    }

    /// Returns what an import provides for a bare name; `None` if it cannot provide the name.
    fn exports_through_import(
        &self,
        file: &Rc<File>,
        at: usize,
        import: &Import,
        name: &str,
        want: LookupKind,
    ) -> Option<Rc<ModuleExports>> {
        match &import.name {
            _ if import.alias.as_deref() == Some(HIDDEN_ALIAS) => None,
            Some(own) if own == name => Some(self.exports_of_imported_files(file, at, name, want)),
            // Constructors and fields of a type come with it.
            Some(of) if import.glob => {
                let brought = self.exports_of_imported_files(file, at, name, want);
                let mut meant = ModuleExports::default();
                meant.add(&brought, |at| self.enclosing_type_name(at).is_some_and(|around| around == *of));
                Some(Rc::new(meant))
            }
            None if import.glob && !self.hides(file, import, name) => {
                Some(self.exports_of_imported_files(file, at, name, want))
            }
            _ => None,
        }
    }

    /// Returns the files that the imports of a file refer to, one list per import.
    fn imported_files(&self, file: &Rc<File>) -> Rc<[Vec<VersionId>]> {
        self.imported.get_or_compute(&file.id(), || {
            // The names of one import list follow each other.
            let mut last: Option<(&str, Vec<VersionId>)> = None;
            let files = file.facts().imports.iter().map(|import| match &last {
                Some((module, files)) if *module == import.module => files.clone(),
                _ => {
                    let files = (self.policy.resolve_module)(&*self.world, &file.file.path, &import.module);
                    last = Some((&import.module, files.clone()));
                    files
                }
            });
            files.collect()
        })
    }

    fn exports_of_imported_files(&self, file: &Rc<File>, at: usize, name: &str, want: LookupKind) -> Rc<ModuleExports> {
        let files = self.imported_files(file);
        match files.get(at).map_or(&[][..], Vec::as_slice) {
            [] => Rc::new(ModuleExports { symbols: Vec::new(), external: true }),
            [only] => self.module_exports(*only, name, want),
            all => {
                let mut whole = ModuleExports::default();
                all.iter().for_each(|id| whole.add(&self.module_exports(*id, name, want), |_| true));
                Rc::new(whole)
            }
        }
    }

    /// Returns whether an import hides a name.
    fn hides(&self, file: &File, import: &Import, name: &str) -> bool {
        let hidden = file.imports_named(HIDDEN_ALIAS).iter().map(|&at| &file.facts().imports[at as usize]);
        let mut same = hidden.filter(|hidden| hidden.line == import.line && hidden.module == import.module);
        same.any(|hidden| hidden.name.as_deref() == Some(name))
    }

    /// Looks up a name in the imports of a file.
    pub(super) fn by_module(
        &self,
        file: &Rc<File>,
        name: &str,
        want: LookupKind,
        outside: &mut bool,
    ) -> Option<NameTarget> {
        let key = (file.id(), name.to_owned(), want);
        let (all, is_named) = &*self
            .imported_names
            .get_or_compute_complete(&self.query_stack, key, || Rc::new(self.find_by_module(file, name, want)));
        *outside |= all.external;
        match all.symbols.is_empty() {
            true => is_named.then_some(NameTarget::External),
            false => Some(NameTarget::Symbols(all.symbols.clone())),
        }
    }

    /// Like [`Self::by_module`]; also returns whether an import declares an external symbol with this name.
    fn find_by_module(&self, file: &Rc<File>, name: &str, want: LookupKind) -> (ModuleExports, bool) {
        let (mut all, mut is_named) = (ModuleExports::default(), false);
        let is_heard =
            self.symbols_named(name).iter().any(|at| !self.library().has(at.file) && self.matches_kind(*at, want));
        let files = self.imported_files(file);
        for (at, import) in file.facts().imports.iter().enumerate() {
            // Most names are external: a name that no symbol of the view has needs no search.
            if let Some(&id) = files.get(at).and_then(|files| files.first()).filter(|_| !is_heard) {
                let is_named_so = import.name.as_deref() == Some(name);
                all.external |= (import.glob || is_named_so) && self.may_reexport_external(id, name);
                continue;
            }
            let Some(given) = self.exports_through_import(file, at, import, name, want) else { continue };
            is_named |= given.external && import.name.as_deref() == Some(name);
            all.add(&given, |_| true);
        }
        (all, is_named)
    }

    /// Returns the target of an import.
    pub(super) fn module_import(&self, file: &Rc<File>, import: &Import) -> NameTarget {
        let Some(name) = &import.name else {
            let files = (self.policy.resolve_module)(&*self.world, &file.file.path, &import.module);
            return if files.is_empty() { NameTarget::External } else { NameTarget::Module(files) };
        };
        let Some(at) = file.facts().imports.iter().position(|other| other == import) else {
            return NameTarget::Unresolved;
        };
        for &want in lookup_kinds(name) {
            let brought = self.exports_of_imported_files(file, at, name, want);
            if !brought.symbols.is_empty() {
                return NameTarget::Symbols(brought.symbols.clone());
            }
            if brought.external {
                return NameTarget::External;
            }
        }
        NameTarget::Unresolved
    }

    /// Resolves a name after a module qualifier.
    pub(super) fn module_member_resolution(
        &self,
        place: &LookupSite,
        module: &str,
        name: &str,
        want: LookupKind,
    ) -> Resolution {
        let file = &place.file;
        let mut all = ModuleExports::default();
        if module == file.package {
            all.symbols = self.declared_in(file, name, want);
        }
        for (at, import) in file.facts().imports.iter().enumerate().filter(|(_, import)| import.name.is_none()) {
            if import.alias.as_deref() == Some(module) || import.module == module {
                all.add(&self.exports_of_imported_files(file, at, name, want), |_| true);
            }
        }
        match all.symbols.is_empty() {
            false => self.symbols_resolution(all.symbols, "in a module"),
            true if all.external => Resolution::External,
            true => Resolution::Unknown("no such name in the module"),
        }
    }

    /// Resolves a name in an import: a module, or one of its exports.
    pub(super) fn module_import_name_resolution(&self, file: &Rc<File>, reference: &Reference) -> Resolution {
        let name = file.name(reference.name);
        let place = LookupSite { file: file.clone(), symbol: None };
        let module = |id: ExprId| match file.facts().expr(id) {
            Expr::Module(module) => Some(file.name(*module)),
            _ => None,
        };
        let Some(of) = reference.qualifier else { return self.module_name_resolution(file, name) };
        if let Expr::Cast(of) = file.facts().expr(of) {
            return self.module_name_resolution(file, module(*of).unwrap_or(name));
        }
        let (module, wants) = match file.facts().expr(of) {
            // A constructor or field of a type.
            Expr::Member { of, .. } => (module(*of), &[LookupKind::Value][..]),
            _ => (module(of), lookup_kinds(name)),
        };
        let Some(module) = module else { return Resolution::Unknown("no module") };
        let mut meaning = Resolution::Unknown("no such name in the module");
        for &want in wants {
            meaning = self.module_member_resolution(&place, module, name, want);
            if matches!(meaning, Resolution::Symbols { .. } | Resolution::External) {
                break;
            }
        }
        meaning
    }

    /// Resolves a module by its name or by its import alias.
    fn module_name_resolution(&self, file: &Rc<File>, name: &str) -> Resolution {
        let all = self.imported_files(file);
        let imports = file.facts().imports.iter().zip(all.iter());
        let is_meant =
            |import: &Import| import.name.is_none() && (import.alias.as_deref() == Some(name) || import.module == name);
        let mut meant = imports.filter(|(import, _)| is_meant(import)).peekable();
        let mut files: Vec<VersionId> = match meant.peek() {
            Some(_) => meant.flat_map(|(_, files)| files.iter().copied()).collect(),
            None => (self.policy.resolve_module)(&*self.world, &file.file.path, name),
        };
        files.dedup();
        if files.is_empty() { Resolution::External } else { Resolution::Module(files) }
    }
}

/// Returns the lookup kinds of a name in a list: a name with a capital letter is a type first.
fn lookup_kinds(name: &str) -> &'static [LookupKind] {
    if name.starts_with(char::is_uppercase) {
        &[LookupKind::Type, LookupKind::Value]
    } else {
        &[LookupKind::Value, LookupKind::Type]
    }
}
