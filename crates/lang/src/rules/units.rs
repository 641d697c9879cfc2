//! The files that see each other: packages by qualified names, and includes.

use std::rc::Rc;

use codecompass_model::{SymbolAt, VersionId};

use super::engine::{Engine, File, LookupSite};
use super::members::LookupKind;

/// The maximum number of direct and indirect includes of a file to follow.
const MAX_INCLUDED: usize = 400;

impl Engine<'_> {
    /// Returns the symbols of this language with a simple name; those of the library come last.
    pub(super) fn symbols_named(&self, name: &str) -> Rc<[SymbolAt]> {
        self.named.get_or_compute(name, || {
            let own = self.world.symbols_named(name);
            let own = own.iter().copied().filter(|at| self.file(at.file).is_some());
            own.chain(self.library().named(name).iter().copied()).collect()
        })
    }

    /// Returns the symbols with a qualified name; those of the view hide those of the library.
    pub(super) fn find_qualified(&self, whole: &str) -> Rc<[SymbolAt]> {
        self.qualified.get_or_compute(whole, || {
            let name = whole.rsplit(['.', ':', '\\']).next().unwrap_or(whole);
            let named = self.symbols_named(name);
            let is_meant = |at: &SymbolAt| {
                let file = self.file(at.file);
                file.is_some_and(|file| file.symbol(at.ordinal).is_some_and(|symbol| symbol.qualified_name == whole))
            };
            let mut found: Vec<SymbolAt> = named.iter().copied().filter(is_meant).collect();
            if found.iter().any(|at| !self.library().has(at.file)) {
                found.retain(|at| !self.library().has(at.file));
            }
            found.into()
        })
    }

    /// Returns the absolute name of a name that begins with a separator.
    pub(super) fn absolute<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(self.policy.separator).filter(|_| self.policy.packages_must_exist)
    }

    /// Returns the package that a name refers to at a site.
    pub(super) fn package_at(&self, place: &LookupSite, name: &str) -> Option<String> {
        let units = self.candidate_units(place, LookupKind::Any);
        units.into_iter().map(|unit| self.join_qualified(unit, name)).find(|whole| self.is_package(whole))
    }

    /// Returns whether there is a package with that name.
    pub(super) fn is_package(&self, whole: &str) -> bool {
        whole == self.policy.prelude || !self.package_files(whole).is_empty()
    }

    /// Returns the files of a package and of its subpackages. Each file of a package mentions the package by name.
    pub(super) fn package_files(&self, whole: &str) -> Rc<[VersionId]> {
        self.packages.get_or_compute(whole, || {
            let name = whole.rsplit(self.policy.separator).next().unwrap_or(whole);
            let is_below = |unit: &str| {
                unit.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(self.policy.separator))
            };
            let is_one = |id: &VersionId| {
                self.file(*id)
                    .is_some_and(|file| is_below(&file.package) || file.namespaces.iter().any(|of| is_below(of)))
            };
            self.world.files_naming(name).iter().copied().filter(is_one).collect()
        })
    }

    /// Returns whether a file includes a file that is not in the view, directly or indirectly.
    pub(super) fn includes_external(&self, file: &Rc<File>) -> bool {
        let is_outside =
            |file: &Rc<File>| {
                file.facts().imports.iter().filter(|import| import.reexport).any(|import| {
                    (self.policy.resolve_module)(&*self.world, &file.file.path, &import.module).is_empty()
                })
            };
        self.external_includes.get_or_compute(&file.id(), || {
            let included = self.included(file);
            is_outside(file) || included.iter().any(|id| self.file(*id).is_some_and(|one| is_outside(&one)))
        })
    }

    /// Returns the files that a file includes directly or indirectly, the nearest first.
    pub(super) fn included(&self, file: &Rc<File>) -> Rc<[VersionId]> {
        self.included.get_or_compute(&file.id(), || {
            let mut all: Vec<VersionId> = vec![file.id()];
            let mut next = 0;
            while let Some(&id) = all.get(next).filter(|_| all.len() < MAX_INCLUDED) {
                next += 1;
                let Some(one) = self.file(id) else { continue };
                for import in one.facts().imports.iter().filter(|import| import.reexport) {
                    for found in (self.policy.resolve_module)(&*self.world, &one.file.path, &import.module) {
                        if !all.contains(&found) {
                            all.push(found);
                        }
                    }
                }
            }
            all.remove(0);
            all.into()
        })
    }
}
