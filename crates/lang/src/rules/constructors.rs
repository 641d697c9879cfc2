//! Constructors, and members that construct values.

use codecompass_model::{ExprId, Resolution, SymbolAt, SymbolKind};

use super::engine::{Engine, LookupSite, is_type};
use super::members::{LookupKind, MemberAccess};
use super::overloads::CallArgs;
use super::scope_policy::{OutOfLineMembers, Unit};
use super::types::Type;
use super::values::Value;

/// The maximum number of types to search for a constructor.
const MAX_BASES: usize = 16;

impl Engine<'_> {
    /// Returns a type and the method that runs, if the member with this name is the factory of the type.
    pub(super) fn factory_targets(&self, of: &Type, name: &str) -> Option<Vec<SymbolAt>> {
        let (_, runs) = self.policy.factory.filter(|(maker, _)| *maker == name)?;
        let Type::Named(at, _) = of else { return None };
        let own = self.filter_by_access(self.members(of, name, LookupKind::Call), MemberAccess::Static);
        if !own.sets.is_empty() {
            return None;
        }
        let run = self.members(of, runs, LookupKind::Call);
        let run = run.sets.first().map_or(&[][..], |(found, _)| found.as_slice());
        Some(std::iter::once(*at).chain(run.iter().copied().filter(|at| !self.library().has(at.file))).collect())
    }

    /// Adds to each constructed type the constructors that match the arguments.
    pub(super) fn with_constructors(
        &self,
        mut targets: Vec<SymbolAt>,
        want: LookupKind,
        given: Option<&CallArgs>,
    ) -> Vec<SymbolAt> {
        if let (LookupKind::Call | LookupKind::Construct, true, &[only]) =
            (want, self.policy.types_are_values, targets.as_slice())
        {
            targets = self.aliased_targets(only).unwrap_or(targets);
        }
        let makes = want == LookupKind::Construct || want == LookupKind::Call && self.policy.calls_construct;
        if let (true, Some(&of)) = (want == LookupKind::Call && self.policy.modules_are_objects, targets.first())
            && let Some(applied) = self.apply_targets(of, given)
        {
            return applied;
        }
        let is_one = targets.len() == 1 || self.policy.out_of_line == OutOfLineMembers::ByName;
        if let (true, true, Some(&of)) = (makes, is_one, targets.first())
            && self.kind(of).is_some_and(is_type)
        {
            targets.extend(self.constructors(of, given));
        }
        targets
    }

    /// Returns the function or type that a constant is an alias of.
    pub(super) fn aliased_targets(&self, at: SymbolAt) -> Option<Vec<SymbolAt>> {
        if self.kind(at) != Some(SymbolKind::Const) {
            return None;
        }
        match self.symbol_type(at) {
            Type::Named(of, _) if self.kind(of).is_some_and(is_type) => Some(vec![of]),
            Type::Unknown => match self.aliased_functions(at)? {
                Value::Functions(all, _) => Some(all.to_vec()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the constructors of a type that match the arguments.
    pub(super) fn constructors(&self, of: SymbolAt, given: Option<&CallArgs>) -> Vec<SymbolAt> {
        let mut all = match self.policy.unit {
            Unit::Namespace => self.constructors_anywhere(of),
            _ => self.construct_candidates(of).to_vec(),
        };
        if self.policy.out_of_line == OutOfLineMembers::ByOwner {
            all.extend(self.constructors_in_blocks(of));
        }
        let mut found = match given {
            Some(given) => self.with_definitions(self.overloads(&all, given)),
            None => self.with_definitions(all),
        };
        // The caller already has the declaration.
        found.retain(|at| *at != of);
        found
    }

    /// Returns all constructors of a type.
    pub(super) fn all_constructors(&self, of: SymbolAt) -> Vec<SymbolAt> {
        if let Some(name) = self.policy.constructor {
            let levels = self.members(&Type::named(of), name, LookupKind::Call);
            return levels.sets.first().map_or_else(Vec::new, |(found, _)| found.clone());
        }
        let parts =
            if self.policy.out_of_line == OutOfLineMembers::ByName { self.find_out_of_line(of) } else { Vec::new() };
        let mut all = Vec::new();
        for of in std::iter::once(of).chain(parts) {
            let Some(file) = self.file(of.file) else { continue };
            let is_one = |at: &&u32| file.symbol(**at).is_some_and(|symbol| symbol.kind == SymbolKind::Constructor);
            let found = file.children(Some(of.ordinal)).iter().filter(is_one);
            all.extend(found.map(|&place| SymbolAt { file: of.file, ordinal: place }));
        }
        all
    }

    /// Returns the constructors in the extension blocks of a type.
    pub(super) fn constructors_in_blocks(&self, of: SymbolAt) -> Vec<SymbolAt> {
        let mut all = Vec::new();
        for &block in self.extension_blocks_of(of).iter() {
            let Some(file) = self.file(block.file) else { continue };
            let places =
                file.children(Some(block.ordinal)).iter().map(|&place| SymbolAt { file: block.file, ordinal: place });
            all.extend(places.filter(|&at| self.kind(at) == Some(SymbolKind::Constructor)));
        }
        all
    }

    /// Returns the constructors named after a type or a value of it, from the nearest type that has one.
    pub(super) fn named_constructors(&self, of: &Type, name: &str, given: Option<&CallArgs>) -> Vec<SymbolAt> {
        let mut open = vec![of.clone()];
        let mut next = 0;
        while let Some(of) = open.get(next).cloned().filter(|_| open.len() < MAX_BASES) {
            next += 1;
            let Type::Named(at, _) = of else { continue };
            let mut found = self.constructors(at, given);
            found.retain(|&at| {
                self.file(at.file).is_some_and(|file| file.symbol(at.ordinal).is_some_and(|of| of.name == name))
            });
            if !found.is_empty() {
                return found;
            }
            open.extend(self.bases(at).iter().cloned());
        }
        Vec::new()
    }

    /// Resolves `this(…)` and `super(…)`.
    pub(super) fn constructor_call_resolution(
        &self,
        place: &LookupSite,
        is_super: bool,
        call: Option<ExprId>,
    ) -> Resolution {
        let Some(class) = self.enclosing_type(&place.file, place.symbol) else {
            return Resolution::Unknown("no class");
        };
        let class = SymbolAt { file: place.file.id(), ordinal: class };
        let of = match is_super {
            false => Type::named(class),
            true => match self.bases(class).first() {
                Some(base) => base.clone(),
                None => return Resolution::External,
            },
        };
        match of {
            Type::Named(of, _) => {
                let given = call.map(|call| self.call_args(place, call));
                let found = self.constructors(of, given.as_ref());
                self.symbols_resolution(if found.is_empty() { vec![of] } else { found }, "a constructor of the class")
            }
            Type::External => Resolution::External,
            _ => Resolution::Unknown("the base type is unknown"),
        }
    }
}
