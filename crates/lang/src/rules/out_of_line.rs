//! Types with out-of-line members: declared again, reopened, or with members elsewhere.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{Flags, SymbolAt, SymbolKind, VersionId};

use super::engine::{Engine, is_type};
use super::members::LookupKind;
use super::scope_policy::{OutOfLineMembers, Unit};
use super::types::Type;

impl Engine<'_> {
    pub(super) fn own_members(&self, at: SymbolAt, name: &str, want: LookupKind) -> Vec<SymbolAt> {
        let mut all = self.declared_members(at, name, want);
        match self.policy.out_of_line {
            OutOfLineMembers::InFile => {
                // Only symbols with this name are asked for their owner, because resolving an owner path may need other
                // members.
                let Some(file) = self.file(at.file) else { return all };
                let named = match self.library().has(at.file) {
                    // Any file may add to the library's tables.
                    true => self.symbols_named(name).to_vec(),
                    false => self.filter_by_kind(&file, file.named_anywhere(name), want),
                };
                let is_part = |part: &SymbolAt| self.has_explicit_owner(*part) && self.find_owner(*part) == Some(at);
                all.extend(named.into_iter().filter(is_part));
            }
            OutOfLineMembers::ByOwner => {
                let named = self.out_of_line_named(name);
                let is_part = |part: &&(SymbolAt, SymbolAt)| {
                    part.1 == at && !all.contains(&part.0) && self.matches_kind(part.0, want)
                };
                let parts: Vec<SymbolAt> = named.iter().filter(is_part).map(|part| part.0).collect();
                all.extend(parts);
            }
            OutOfLineMembers::ByName => {
                if !self.has_open_types() {
                    for other in self.other_declarations(at) {
                        all.extend(self.declared_members(other, name, want));
                    }
                    return self.prefer_definitions(all);
                }
                // A type may be reopened hundreds of times, so its members are found by their own qualified names.
                let whole = self
                    .file(at.file)
                    .and_then(|file| Some(self.join_qualified(&file.symbol(at.ordinal)?.qualified_name, name)));
                let named = whole.map_or_else(|| Rc::new([]) as Rc<[SymbolAt]>, |whole| self.find_qualified(&whole));
                let parts = named
                    .iter()
                    .copied()
                    .filter(|part| !all.contains(part) && self.matches_kind(*part, want))
                    .collect::<Vec<_>>();
                all.extend(parts);
            }
        }
        if self.policy.unit == Unit::Namespace { all } else { self.prefer_definitions(all) }
    }

    /// Returns the out-of-line members with this name, each with its owner. Cached by name, because every type needs it
    /// and most names have none.
    pub(super) fn out_of_line_named(&self, name: &str) -> Rc<[(SymbolAt, SymbolAt)]> {
        self.out_of_line_by_name.compute_cyclic(&self.query_stack, name.to_owned(), Rc::new([]), || {
            self.symbols_named(name).iter().filter_map(|&part| Some((part, self.find_owner(part)?))).collect()
        })
    }

    /// Returns the members in a declaration itself; members of embedded types count as its own.
    pub(super) fn declared_members(&self, at: SymbolAt, name: &str, want: LookupKind) -> Vec<SymbolAt> {
        let Some(file) = self.file(at.file) else { return Vec::new() };
        let own = self.filter_by_kind(&file, file.named(Some(at.ordinal), name), want);
        if !own.is_empty() {
            return own;
        }
        let is_embedded =
            |at: &&u32| file.symbol(**at).is_some_and(|of| of.flags.has(Flags::EMBEDDED) && is_type(of.kind));
        let embedded = file.children(Some(at.ordinal)).iter().filter(is_embedded);
        embedded.flat_map(|&inner| self.filter_by_kind(&file, file.named(Some(inner), name), want)).collect()
    }

    /// Returns whether a symbol states its owner itself.
    pub(super) fn has_explicit_owner(&self, at: SymbolAt) -> bool {
        self.file(at.file).is_some_and(|file| file.symbol(at.ordinal).is_some_and(|symbol| symbol.owner.is_some()))
    }

    /// Returns whether any file may reopen any type and add to it, so that one of many declarations represents the
    /// type.
    pub(super) fn has_open_types(&self) -> bool {
        self.policy.out_of_line == OutOfLineMembers::ByName && self.policy.unit == Unit::Program
    }

    /// Returns the other declarations of a type.
    pub(super) fn other_declarations(&self, at: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(at.file) else { return Vec::new() };
        let Some(symbol) = file.symbol(at.ordinal) else { return Vec::new() };
        let all = self.find_qualified(&symbol.qualified_name);
        let is_same = |other: &SymbolAt| {
            self.kind(*other) == Some(symbol.kind)
                && (!self.policy.generic_arity_distinguishes || self.type_arity(*other) == self.type_arity(at))
        };
        all.iter().copied().filter(|other| *other != at && is_same(other)).collect()
    }

    /// Returns the number of type parameters of a type.
    pub(super) fn type_arity(&self, at: SymbolAt) -> usize {
        self.file(at.file).map_or(0, |file| file.type_params(at.ordinal).len())
    }

    /// Returns the type of the same name with this number of type parameters.
    pub(super) fn with_type_arity(&self, at: SymbolAt, count: usize) -> SymbolAt {
        if !self.policy.generic_arity_distinguishes || self.type_arity(at) == count {
            return at;
        }
        let Some(file) = self.file(at.file) else { return at };
        let Some(symbol) = file.symbol(at.ordinal) else { return at };
        let all = self.find_qualified(&symbol.qualified_name);
        all.iter().copied().find(|other| self.type_arity(*other) == count).unwrap_or(at)
    }

    /// Keeps the types with this number of type parameters, if there are any.
    pub(super) fn with_arity(&self, mut all: Vec<SymbolAt>, count: usize) -> Vec<SymbolAt> {
        let is_meant = |at: &SymbolAt| self.kind(*at).is_some_and(is_type) && self.type_arity(*at) == count;
        if self.policy.generic_arity_distinguishes && all.len() > 1 && all.iter().any(is_meant) {
            all.retain(is_meant);
        }
        all
    }

    /// Returns the out-of-line members and declarations of a type.
    pub(super) fn find_out_of_line(&self, at: SymbolAt) -> Vec<SymbolAt> {
        match self.policy.out_of_line {
            OutOfLineMembers::InFile => self.out_of_line_in(at.file).get(&at).cloned().unwrap_or_default(),
            OutOfLineMembers::ByName => self.other_declarations(at),
            OutOfLineMembers::ByOwner => {
                // A member outside its type mentions the type by name.
                let Some(file) = self.file(at.file) else { return Vec::new() };
                let Some(symbol) = file.symbol(at.ordinal) else { return Vec::new() };
                let mut files: Vec<VersionId> = self.world.files_naming(&symbol.name).to_vec();
                files.push(at.file);
                files.sort_unstable();
                files.dedup();
                let parts = files.iter().map(|id| self.out_of_line_in(*id).get(&at).cloned().unwrap_or_default());
                parts.flatten().collect()
            }
        }
    }

    /// Returns the out-of-line members of a file, by owner.
    pub(super) fn out_of_line_in(&self, id: VersionId) -> Rc<HashMap<SymbolAt, Vec<SymbolAt>>> {
        let Some(file) = self.file(id) else { return Rc::default() };
        let owned = || (0..).zip(file.facts().symbols.iter()).filter(|(_, symbol)| symbol.owner.is_some());
        if owned().next().is_none() {
            return Rc::default();
        }
        self.out_of_line.compute_cyclic(&self.query_stack, id, Rc::default(), || {
            let mut parts: HashMap<SymbolAt, Vec<SymbolAt>> = HashMap::new();
            for (place, _) in owned() {
                let part = SymbolAt { file: id, ordinal: place };
                if let Some(owner) = self.find_owner(part) {
                    parts.entry(owner).or_default().push(part);
                }
            }
            Rc::new(parts)
        })
    }

    /// Returns the owner of an out-of-line member: stated by the member itself or by the enclosing block.
    pub(super) fn find_owner(&self, part: SymbolAt) -> Option<SymbolAt> {
        let file = self.file(part.file)?;
        let symbol = file.symbol(part.ordinal)?;
        let block = || symbol.parent.and_then(|at| file.symbol(at)).filter(|around| around.kind == SymbolKind::Impl);
        let owner = symbol.owner.or_else(|| block()?.owner)?;
        let around = self.enclosing_type(&file, symbol.parent);
        let of = match self.policy.modules_are_objects {
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
    pub(super) fn extension_blocks_of(&self, at: SymbolAt) -> Rc<[SymbolAt]> {
        self.extension_blocks.compute_cyclic(&self.query_stack, at, Rc::new([]), || {
            let Some(file) = self.file(at.file) else { return Rc::new([]) };
            let Some(symbol) = file.symbol(at.ordinal) else { return Rc::new([]) };
            let named = self.symbols_named(&symbol.name);
            let is_block =
                |block: &SymbolAt| self.kind(*block) == Some(SymbolKind::Impl) && self.find_owner(*block) == Some(at);
            named.iter().copied().filter(is_block).collect()
        })
    }

    /// Returns the declaration that represents a type with several declarations.
    pub(super) fn main_declaration_of(&self, at: SymbolAt) -> SymbolAt {
        if !self.has_open_types() {
            return at;
        }
        self.main_declarations.get_or_compute(&at, || {
            let mut all = self.other_declarations(at);
            all.push(at);
            all.sort_unstable_by_key(|at| (at.file, at.ordinal));
            self.main_declaration(all).first().copied().unwrap_or(at)
        })
    }

    pub(super) fn extension_bases(&self, at: SymbolAt) -> Vec<Type> {
        let Some(file) = self.file(at.file) else { return Vec::new() };
        let Some(symbol) = file.symbol(at.ordinal) else { return Vec::new() };
        let around = self.enclosing_type(&file, symbol.parent);
        symbol.bases.iter().map(|&base| self.type_at(&file, around, base)).collect()
    }
}
