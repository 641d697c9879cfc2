//! The visibility of members from a lookup site.

use std::rc::Rc;

use codecompass_model::{Flags, SymbolAt, SymbolKind};

use super::engine::{Engine, LookupSite, is_type};
use super::members::{MemberAccess, MemberSets};
use super::types::Type;

impl Engine<'_> {
    /// Returns the access of bare member names at a site: it depends on whether the enclosing function is static.
    pub(super) fn access_from(&self, place: &LookupSite) -> MemberAccess {
        let file = &place.file;
        let functions =
            |at: &u32| file.symbol(*at).is_some_and(|of| matches!(of.kind, SymbolKind::Method | SymbolKind::Fn));
        match file.ancestors(place.symbol).find(functions).and_then(|at| file.symbol(at)) {
            Some(of) if of.flags.has(Flags::STATIC) => MemberAccess::Static,
            Some(_) => MemberAccess::Instance,
            None => MemberAccess::Any,
        }
    }

    /// Keeps the members that this access allows, if the language separates static members. A function of a module may
    /// be either: a class can include a module's functions as static or as instance members.
    pub(super) fn filter_by_access(&self, all: Rc<MemberSets>, side: MemberAccess) -> Rc<MemberSets> {
        if !self.policy.separates_static_members || side == MemberAccess::Any || all.sets.is_empty() {
            return all;
        }
        let is_seen = |at: &SymbolAt| {
            let Some(file) = self.file(at.file) else { return false };
            let Some(symbol) = file.symbol(at.ordinal) else { return false };
            let is_open = is_type(symbol.kind) || symbol.kind == SymbolKind::Const;
            let is_static = symbol.flags.has(Flags::STATIC);
            let of_module =
                || symbol.parent.and_then(|at| file.symbol(at)).is_some_and(|of| of.kind == SymbolKind::Module);
            match side {
                _ if is_open => true,
                MemberAccess::Any => true,
                MemberAccess::Nested => false,
                MemberAccess::Instance => !is_static,
                MemberAccess::Static => is_static || of_module(),
            }
        };
        let levels = all
            .sets
            .iter()
            .map(|(found, with)| (found.iter().copied().filter(is_seen).collect::<Vec<_>>(), with.clone()));
        let levels = levels.filter(|(found, _)| !found.is_empty()).collect();
        Rc::new(MemberSets { sets: levels, external: all.external, unknown: all.unknown })
    }

    /// Keeps the members that are visible from a site: members added to a type from elsewhere must be in scope, and
    /// file-private ones are visible only in their file.
    pub(super) fn visible_from(&self, place: &LookupSite, levels: Rc<MemberSets>) -> Rc<MemberSets> {
        let is_hidden = |at: SymbolAt| {
            at.file != place.file.id() && self.is_hidden(at)
                || self.policy.extensions_need_scope && !self.is_in_scope(place, at)
        };
        if !levels.all().any(is_hidden) {
            return levels;
        }
        let mut seen = MemberSets { sets: Vec::new(), external: levels.external, unknown: levels.unknown };
        for (found, with) in &levels.sets {
            let found: Vec<SymbolAt> = found.iter().copied().filter(|at| !is_hidden(*at)).collect();
            if !found.is_empty() {
                seen.sets.push((found, with.clone()));
            }
        }
        Rc::new(seen)
    }

    /// Returns whether an out-of-line member is in scope: in the same file or package, by an import, or as a member of
    /// an enclosing type.
    pub(super) fn is_in_scope(&self, place: &LookupSite, at: SymbolAt) -> bool {
        let own = &place.file;
        if at.file == own.id() || self.library().has(at.file) {
            return true;
        }
        let Some(file) = self.file(at.file) else { return true };
        let Some(symbol) = file.symbol(at.ordinal).filter(|symbol| symbol.owner.is_some()) else { return true };
        let around = symbol.qualified_name.strip_suffix(symbol.name.as_str()).unwrap_or("");
        let around = around.trim_end_matches(self.policy.separator);
        let imports = &own.facts().imports;
        let is_named = own.imports_named(&symbol.name).iter().any(|&at| imports[at as usize].name.is_some());
        let is_global = imports
            .iter()
            .any(|import| import.glob && self.modules(own, &import.module).iter().any(|one| one == around));
        let in_type = symbol.parent.filter(|&parent| file.symbol(parent).is_some_and(|of| is_type(of.kind)));
        let is_inherited = |of: u32| {
            let of = SymbolAt { file: at.file, ordinal: of };
            let mut classes = own.ancestors(place.symbol).map(|place| SymbolAt { file: own.id(), ordinal: place });
            classes.any(|class| {
                self.kind(class).is_some_and(is_type) && self.as_supertype(&Type::named(class), of).is_some()
            })
        };
        match (symbol.parent, in_type) {
            _ if is_named || is_global => true,
            (None, _) => file.package == own.package,
            (_, Some(of)) => is_inherited(of),
            _ => false,
        }
    }
}
