//! Types with out-of-line members: declared again, reopened, or with members elsewhere.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{Flags, SymbolAt, SymbolKind, VersionId};

use super::engine::{Engine, is_type};
use super::members::Want;
use super::scoping::{Parts, Unit};
use super::types::Type;

impl Engine<'_> {
    pub(super) fn own_members(&self, at: SymbolAt, name: &str, want: Want) -> Vec<SymbolAt> {
        let mut all = self.declared_members(at, name, want);
        match self.scoping.parts {
            Parts::InFile => {
                // Only symbols with this name are asked for their owner, because resolving an owner path may need other
                // members.
                let Some(file) = self.file(at.file) else { return all };
                let named = match self.library().has(at.file) {
                    // Any file may add to the library's tables.
                    true => self.symbols_named(name).to_vec(),
                    false => self.fitting(&file, file.anywhere(name), want),
                };
                let is_part = |part: &SymbolAt| self.is_owned(*part) && self.owner(*part) == Some(at);
                all.extend(named.into_iter().filter(is_part));
            }
            Parts::ByOwner => {
                let named = self.owned_named(name);
                let is_part =
                    |part: &&(SymbolAt, SymbolAt)| part.1 == at && !all.contains(&part.0) && self.fits(part.0, want);
                let parts: Vec<SymbolAt> = named.iter().filter(is_part).map(|part| part.0).collect();
                all.extend(parts);
            }
            Parts::ByName => {
                if !self.opens_types() {
                    for other in self.same_named(at) {
                        all.extend(self.declared_members(other, name, want));
                    }
                    return self.defined(all);
                }
                // A type may be reopened hundreds of times, so its members are found by their own qualified names.
                let whole =
                    self.file(at.file).and_then(|file| Some(self.joined(&file.symbol(at.place)?.qualified_name, name)));
                let named = whole.map_or_else(|| Rc::new([]) as Rc<[SymbolAt]>, |whole| self.find_qualified(&whole));
                let parts = named
                    .iter()
                    .copied()
                    .filter(|part| !all.contains(part) && self.fits(*part, want))
                    .collect::<Vec<_>>();
                all.extend(parts);
            }
        }
        if self.scoping.unit == Unit::Namespace { all } else { self.defined(all) }
    }

    /// Returns the out-of-line members with this name, each with its owner. Cached by name, because every type needs it
    /// and most names have none.
    pub(super) fn owned_named(&self, name: &str) -> Rc<[(SymbolAt, SymbolAt)]> {
        self.owned.answer(&self.course, name.to_owned(), Rc::new([]), || {
            self.symbols_named(name).iter().filter_map(|&part| Some((part, self.owner(part)?))).collect()
        })
    }

    /// Returns the members in a declaration itself; members of embedded types count as its own.
    pub(super) fn declared_members(&self, at: SymbolAt, name: &str, want: Want) -> Vec<SymbolAt> {
        let Some(file) = self.file(at.file) else { return Vec::new() };
        let own = self.fitting(&file, file.named(Some(at.place), name), want);
        if !own.is_empty() {
            return own;
        }
        let is_embedded =
            |at: &&u32| file.symbol(**at).is_some_and(|of| of.flags.has(Flags::EMBEDDED) && is_type(of.kind));
        let embedded = file.children(Some(at.place)).iter().filter(is_embedded);
        embedded.flat_map(|&inner| self.fitting(&file, file.named(Some(inner), name), want)).collect()
    }

    /// Returns whether a symbol states its owner itself.
    pub(super) fn is_owned(&self, at: SymbolAt) -> bool {
        self.file(at.file).is_some_and(|file| file.symbol(at.place).is_some_and(|symbol| symbol.owner.is_some()))
    }

    /// Returns whether any file may reopen any type and add to it, so that one of many declarations represents the
    /// type.
    pub(super) fn opens_types(&self) -> bool {
        self.scoping.parts == Parts::ByName && self.scoping.unit == Unit::Program
    }

    /// Returns the other declarations of a type.
    pub(super) fn same_named(&self, at: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(at.file) else { return Vec::new() };
        let Some(symbol) = file.symbol(at.place) else { return Vec::new() };
        let all = self.find_qualified(&symbol.qualified_name);
        let is_same = |other: &SymbolAt| {
            self.kind(*other) == Some(symbol.kind)
                && (!self.scoping.generics_apart || self.type_arity(*other) == self.type_arity(at))
        };
        all.iter().copied().filter(|other| *other != at && is_same(other)).collect()
    }

    /// Returns the number of type parameters of a type.
    pub(super) fn type_arity(&self, at: SymbolAt) -> usize {
        self.file(at.file).map_or(0, |file| file.type_params(at.place).len())
    }

    /// Returns the type of the same name with this number of type parameters.
    pub(super) fn of_arity(&self, at: SymbolAt, count: usize) -> SymbolAt {
        if !self.scoping.generics_apart || self.type_arity(at) == count {
            return at;
        }
        let Some(file) = self.file(at.file) else { return at };
        let Some(symbol) = file.symbol(at.place) else { return at };
        let all = self.find_qualified(&symbol.qualified_name);
        all.iter().copied().find(|other| self.type_arity(*other) == count).unwrap_or(at)
    }

    /// Keeps the types with this number of type parameters, if there are any.
    pub(super) fn with_arity(&self, mut all: Vec<SymbolAt>, count: usize) -> Vec<SymbolAt> {
        let is_meant = |at: &SymbolAt| self.kind(*at).is_some_and(is_type) && self.type_arity(*at) == count;
        if self.scoping.generics_apart && all.len() > 1 && all.iter().any(is_meant) {
            all.retain(is_meant);
        }
        all
    }

    /// Returns the out-of-line members and declarations of a type.
    pub(super) fn parts(&self, at: SymbolAt) -> Vec<SymbolAt> {
        match self.scoping.parts {
            Parts::InFile => self.parts_in(at.file).get(&at).cloned().unwrap_or_default(),
            Parts::ByName => self.same_named(at),
            Parts::ByOwner => {
                // A member outside its type mentions the type by name.
                let Some(file) = self.file(at.file) else { return Vec::new() };
                let Some(symbol) = file.symbol(at.place) else { return Vec::new() };
                let mut files: Vec<VersionId> = self.world.files_naming(&symbol.name).to_vec();
                files.push(at.file);
                files.sort_unstable();
                files.dedup();
                let parts = files.iter().map(|id| self.parts_in(*id).get(&at).cloned().unwrap_or_default());
                parts.flatten().collect()
            }
        }
    }

    /// Returns the out-of-line members of a file, by owner.
    pub(super) fn parts_in(&self, id: VersionId) -> Rc<HashMap<SymbolAt, Vec<SymbolAt>>> {
        let Some(file) = self.file(id) else { return Rc::default() };
        let owned = || (0..).zip(&file.facts().symbols).filter(|(_, symbol)| symbol.owner.is_some());
        if owned().next().is_none() {
            return Rc::default();
        }
        self.parts.answer(&self.course, id, Rc::default(), || {
            let mut parts: HashMap<SymbolAt, Vec<SymbolAt>> = HashMap::new();
            for (place, _) in owned() {
                let part = SymbolAt { file: id, place };
                if let Some(owner) = self.owner(part) {
                    parts.entry(owner).or_default().push(part);
                }
            }
            Rc::new(parts)
        })
    }

    /// Returns the owner of an out-of-line member: stated by the member itself or by the enclosing block.
    pub(super) fn owner(&self, part: SymbolAt) -> Option<SymbolAt> {
        let file = self.file(part.file)?;
        let symbol = file.symbol(part.place)?;
        let block = || symbol.parent.and_then(|at| file.symbol(at)).filter(|around| around.kind == SymbolKind::Impl);
        let owner = symbol.owner.or_else(|| block()?.owner)?;
        let around = self.class_of(&file, symbol.parent);
        let of = match self.scoping.objects {
            true => self.type_at(&file, around, owner),
            false => self.value(&file, around, owner).into_type(),
        };
        match of {
            Type::Named(owner, _) => Some(owner),
            // The member belongs to every type that the type parameter allows.
            Type::Param(file, binding) => match self.bound(file, binding) {
                Type::Named(owner, _) => Some(owner),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the extension blocks of a type: they have its name.
    pub(super) fn blocks(&self, at: SymbolAt) -> Rc<[SymbolAt]> {
        self.blocks.answer(&self.course, at, Rc::new([]), || {
            let Some(file) = self.file(at.file) else { return Rc::new([]) };
            let Some(symbol) = file.symbol(at.place) else { return Rc::new([]) };
            let named = self.symbols_named(&symbol.name);
            let is_block =
                |block: &SymbolAt| self.kind(*block) == Some(SymbolKind::Impl) && self.owner(*block) == Some(at);
            named.iter().copied().filter(is_block).collect()
        })
    }

    /// Returns the declaration that represents a type with several declarations.
    pub(super) fn main_of(&self, at: SymbolAt) -> SymbolAt {
        if !self.opens_types() {
            return at;
        }
        self.mains.once(&at, || {
            let mut all = self.same_named(at);
            all.push(at);
            all.sort_unstable_by_key(|at| (at.file, at.place));
            self.main(all).first().copied().unwrap_or(at)
        })
    }

    pub(super) fn bases_of_part(&self, at: SymbolAt) -> Vec<Type> {
        let Some(file) = self.file(at.file) else { return Vec::new() };
        let Some(symbol) = file.symbol(at.place) else { return Vec::new() };
        let around = self.class_of(&file, symbol.parent);
        symbol.bases.iter().map(|&base| self.type_at(&file, around, base)).collect()
    }
}
