//! The members of types: their own, out-of-line members, and those of their base types.

use std::rc::Rc;

use codecompass_model::{Flags, RefShape, SymbolAt, SymbolKind, VersionId};

use super::engine::{Engine, is_type};
use super::overloads::{CallArgs, accepts_arity};
use super::scope_policy::{Namespaces, OutOfLineMembers};
use super::types::{Arguments, Type};

/// The maximum number of types to search for a member.
const MAX_TYPES: usize = 64;

/// The kind of symbol that a name is looked up as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LookupKind {
    Any,
    Value,
    Call,
    Type,
    /// A type that is constructed.
    Construct,
}

impl LookupKind {
    pub(super) fn from_shape(shape: RefShape) -> Self {
        match shape {
            RefShape::Call | RefShape::PathCall | RefShape::SelfCall | RefShape::MemberCall | RefShape::MacroCall => {
                LookupKind::Call
            }
            RefShape::Construct => LookupKind::Construct,
            RefShape::Type | RefShape::Extends | RefShape::Implements | RefShape::Decorator => LookupKind::Type,
            _ => LookupKind::Value,
        }
    }

    /// Returns whether a symbol of this kind is acceptable.
    pub(super) fn accepts(self, kind: SymbolKind, apart: Namespaces) -> bool {
        use SymbolKind::{Fn, Macro, Method, Namespace, Prototype};
        // An extension block has the name of its type, but the name does not refer to it.
        if matches!(kind, SymbolKind::Constructor | SymbolKind::Impl) || !kind.can_be_named() {
            return false;
        }
        match (self, apart) {
            (LookupKind::Any, _) | (_, Namespaces::Shared) => true,
            (LookupKind::Type | LookupKind::Construct, Namespaces::AllSeparate) => is_type(kind),
            (LookupKind::Type | LookupKind::Construct, Namespaces::TypesSeparate) => {
                is_type(kind) || matches!(kind, Macro | Namespace)
            }
            (LookupKind::Call, Namespaces::AllSeparate) => matches!(kind, Method | Fn | Macro | Prototype),
            (LookupKind::Value, Namespaces::AllSeparate) => {
                !is_type(kind) && !matches!(kind, Method | Fn | Macro | Prototype)
            }
            (LookupKind::Call | LookupKind::Value, Namespaces::TypesSeparate) => !is_type(kind),
        }
    }
}

/// The way a member is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberAccess {
    /// Unknown access.
    Any,
    /// From a value of the type.
    Instance,
    /// From the type itself.
    Static,
    /// From a nested type.
    Nested,
}

/// The members with one name, grouped by the types that have them, the nearest first.
#[derive(Default)]
pub(super) struct MemberSets {
    pub(super) sets: Vec<(Vec<SymbolAt>, Arguments)>,
    /// Whether one of the searched types is external.
    pub(super) external: bool,
    pub(super) unknown: bool,
}

impl MemberSets {
    pub(super) fn all(&self) -> impl Iterator<Item = SymbolAt> + '_ {
        self.sets.iter().flat_map(|(found, _)| found.iter().copied())
    }
}

impl Engine<'_> {
    /// Returns the members of a type with this name.
    pub(super) fn members(&self, of: &Type, name: &str, want: LookupKind) -> Rc<MemberSets> {
        let of = &match of {
            Type::Named(at, arguments) => Type::Named(self.main_declaration_of(*at), arguments.clone()),
            other => other.clone(),
        };
        let key = (of.clone(), name.to_owned(), want);
        self.member_sets.get_or_compute_complete(&self.query_stack, key, || Rc::new(self.find_members(of, name, want)))
    }

    fn find_members(&self, of: &Type, name: &str, want: LookupKind) -> MemberSets {
        let mut found = MemberSets::default();
        let mut open = vec![of.clone()];
        let mut seen: Vec<SymbolAt> = Vec::new();
        let mut beside = Vec::new();
        let whole = of.clone();
        let mut next = 0;
        while let Some(of) = open.get(next).cloned().filter(|_| open.len() < MAX_TYPES) {
            next += 1;
            let Some(_deeper) = self.query_stack.descend() else { break };
            match of {
                Type::Named(at, arguments) => {
                    let at = self.main_declaration_of(at);
                    if seen.contains(&at) {
                        continue;
                    }
                    seen.push(at);
                    // Stubs do not list all members of a type of the library.
                    found.external |= self.library().has(at.file);
                    let with = self.arguments(at, &arguments);
                    let own = self.own_members(at, name, want);
                    if !own.is_empty() {
                        let seen = Type::Named(at, arguments.clone());
                        found.sets.push((own.clone(), self.with_owner_arguments(&own, &seen, with.clone())));
                    }
                    // The library is known only in part.
                    found.external |= self.policy.unknown_names_are_external && self.library().has(at.file);
                    beside.extend(self.extensions(at, &arguments, &whole, name, want));
                    open.extend(self.bases(at).iter().map(|base| base.with(&with)));
                }
                Type::File(id) => {
                    let own = self
                        .file(id)
                        .map_or_else(Vec::new, |file| self.filter_by_kind(&file, file.named(None, name), want));
                    if !own.is_empty() {
                        found.sets.push((own, Arguments::new()));
                    }
                }
                Type::Param(file, binding) => open.push(self.bound(file, binding)),
                Type::List(of) if self.policy.lists_are_iterable => {
                    found.external = true;
                    open.extend(self.iterable().map(|at| Type::Named(at, Rc::new([of.as_ref().clone()]))));
                }
                // A pointer has the members of its pointee.
                Type::List(of) if self.policy.root.is_none() => open.push(of.as_ref().clone()),
                Type::Unknown => found.unknown = true,
                Type::External | Type::Basic(_) | Type::List(_) => found.external = true,
                Type::Func(_) | Type::Closure { .. } => {}
            }
        }
        // The root type of all types comes last.
        if let Some(root) = self.root().filter(|root| !seen.contains(root)) {
            let own = self.own_members(root, name, want);
            if !own.is_empty() {
                let with = self.with_owner_arguments(&own, of, Arguments::new());
                found.sets.push((own, with));
            }
            beside.extend(self.extensions(root, &[], &whole, name, want));
        }
        found.sets.extend(beside);
        found
    }

    /// Returns the functions that declare this type as their receiver, and the type arguments that follow from it.
    fn extensions(
        &self,
        at: SymbolAt,
        arguments: &[Type],
        whole: &Type,
        name: &str,
        want: LookupKind,
    ) -> Option<(Vec<SymbolAt>, Arguments)> {
        if !self.policy.extensions || !matches!(want, LookupKind::Call | LookupKind::Any) {
            return None;
        }
        let (mut found, mut with) = (Vec::new(), Arguments::new());
        for &part in self.symbols_named(name).iter() {
            let Some(file) = self.file(part.file) else { continue };
            let Some(symbol) = file.symbol(part.ordinal).filter(|of| of.flags.has(Flags::TAKES_SELF)) else { continue };
            let Some(owner) = symbol.owner else { continue };
            match self.type_at(&file, self.enclosing_type(&file, symbol.parent), owner) {
                Type::Named(owner, args) if owner == at => {
                    let params = args.iter().zip(arguments);
                    with.extend(params.filter_map(|(param, given)| match param {
                        Type::Param(file, binding) => Some(((*file, *binding), given.clone())),
                        _ => None,
                    }));
                }
                Type::Param(file, binding) => match self.bound(file, binding) {
                    Type::Named(bound, _) if bound == at => with.push(((file, binding), whole.clone())),
                    _ => continue,
                },
                _ => continue,
            }
            found.push(part);
        }
        (!found.is_empty()).then_some((found, with))
    }

    /// Returns the iterable type of the library.
    pub(super) fn iterable(&self) -> Option<SymbolAt> {
        self.policy.iterable.and_then(|name| self.library().named(name).first().copied())
    }

    /// Adds the type arguments of out-of-line members whose owner type mentions their type parameters.
    fn with_owner_arguments(&self, members: &[SymbolAt], of: &Type, mut with: Arguments) -> Arguments {
        for &at in members {
            let Some(file) = self.file(at.file) else { continue };
            let Some(symbol) = file.symbol(at.ordinal) else { continue };
            let Some(owner) = symbol.owner else { continue };
            let own: Vec<(VersionId, u32)> =
                file.type_params(at.ordinal).iter().map(|&binding| (at.file, binding)).collect();
            if !own.is_empty() {
                let owner = self.type_at(&file, self.enclosing_type(&file, symbol.parent), owner);
                self.infer_from_arg(&owner, of, &own, &mut with);
            }
        }
        with
    }

    /// Returns the root type of the library, which all types extend.
    pub(super) fn root(&self) -> Option<SymbolAt> {
        let name = self.policy.root?;
        self.library().named(name).first().copied()
    }

    /// Returns whether two functions have the same parameter types.
    pub(super) fn has_same_params(&self, one: SymbolAt, other: SymbolAt) -> bool {
        match (self.symbol_type(one), self.symbol_type(other)) {
            (Type::Func(one), Type::Func(other)) => one.params == other.params && one.variadic == other.variadic,
            _ => false,
        }
    }

    /// Returns the base types of a type.
    pub(super) fn bases(&self, at: SymbolAt) -> Rc<[Type]> {
        let is_alone = self.policy.out_of_line != OutOfLineMembers::ByName;
        let Some(file) = self.file(at.file) else { return Rc::new([]) };
        let Some(symbol) = file.symbol(at.ordinal) else { return Rc::new([]) };
        let has_blocks = self.policy.out_of_line == OutOfLineMembers::ByOwner && is_type(symbol.kind);
        if symbol.bases.is_empty() && is_alone && !has_blocks {
            // A table that is constructed from another has its members.
            let made = symbol.value.filter(|_| symbol.kind == SymbolKind::Var && symbol.annotation.is_none());
            let Some(value) = made else { return Rc::new([]) };
            return self.bases.compute_cyclic(&self.query_stack, at, Rc::new([]), || {
                match self.value(&file, None, value).into_type() {
                    of @ (Type::Named(..) | Type::External) if of != Type::named(at) => Rc::new([of]),
                    _ => Rc::new([]),
                }
            });
        }
        self.bases.compute_cyclic(&self.query_stack, at, Rc::new([]), || {
            let mut all = vec![at];
            if has_blocks {
                all.extend(self.extension_blocks_of(at).iter());
            } else if self.kind(at).is_some_and(is_type) && !is_alone {
                all.extend(self.other_declarations(at));
            }
            let mut bases: Vec<Type> = Vec::new();
            for base in all.into_iter().flat_map(|at| self.extension_bases(at)) {
                if !bases.contains(&base) {
                    bases.push(base);
                }
            }
            bases.into()
        })
    }

    /// Returns the substitution for the type parameters of a symbol.
    pub(super) fn arguments(&self, at: SymbolAt, arguments: &[Type]) -> Arguments {
        let Some(file) = self.file(at.file) else { return Arguments::new() };
        let params = file.type_params(at.ordinal).iter().map(|&binding| (at.file, binding));
        params.zip(arguments.iter().cloned()).collect()
    }

    /// Returns the bound of a type parameter.
    pub(super) fn bound(&self, file: VersionId, binding: u32) -> Type {
        let Some(file) = self.file(file) else { return Type::Unknown };
        let Some(of) = file.binding(binding) else { return Type::Unknown };
        match (of.annotation, self.root()) {
            (Some(bound), _) => self.type_at(&file, self.enclosing_type(&file, of.symbol), bound),
            (None, Some(root)) => Type::named(root),
            (None, None) => Type::Unknown,
        }
    }

    /// Selects the members of the nearest type with members that match the arguments.
    pub(super) fn pick_members(
        &self,
        levels: &MemberSets,
        given: Option<&CallArgs>,
        want: LookupKind,
    ) -> Vec<SymbolAt> {
        let Some(given) = given.filter(|_| want == LookupKind::Call) else {
            return levels.sets.first().map_or_else(Vec::new, |(found, _)| found.clone());
        };
        if self.policy.labels_distinguish {
            let found = levels.sets.iter().map(|(found, with)| (self.filter_by_labels(found, given), with.clone()));
            let levels =
                MemberSets { sets: found.filter(|(found, _)| !found.is_empty()).collect(), ..MemberSets::default() };
            return self.pick_by_types(&levels, given);
        }
        self.pick_by_types(levels, given)
    }

    fn pick_by_types(&self, levels: &MemberSets, given: &[Type]) -> Vec<SymbolAt> {
        // All member sets are judged together; a member that is declared again in a subtype hides the overridden one.
        let mut all: Vec<SymbolAt> = Vec::new();
        for (found, _) in &levels.sets {
            let is_hidden = |at: &SymbolAt| all.iter().any(|known| self.has_same_params(*known, *at));
            let open: Vec<SymbolAt> = found.iter().copied().filter(|at| !is_hidden(at)).collect();
            all.extend(open);
        }
        let fitting = self.fitting_overloads(&all, given);
        if !fitting.is_empty() {
            return fitting;
        }
        let takes_as_many = |at: &SymbolAt| match self.symbol_type(*at) {
            Type::Func(of) => accepts_arity(&of, given.len()),
            _ => true,
        };
        let near = levels.sets.iter().map(|(found, _)| found.iter().copied().filter(takes_as_many).collect());
        let mut near = near.filter(|found: &Vec<SymbolAt>| !found.is_empty());
        if self.policy.arity_mismatch_may_be_inherited && (levels.external || levels.unknown) {
            return near.next().unwrap_or_default();
        }
        near.next().or_else(|| levels.sets.first().map(|(found, _)| found.clone())).unwrap_or_default()
    }

    /// Returns a type as one of its supertypes.
    pub(super) fn as_supertype(&self, of: &Type, wanted: SymbolAt) -> Option<Type> {
        let mut open = vec![of.clone()];
        let mut next = 0;
        while let Some(of) = open.get(next).cloned().filter(|_| open.len() < MAX_TYPES) {
            next += 1;
            let _deeper = self.query_stack.descend()?;
            match of {
                Type::Named(at, _) if at == wanted => return Some(of),
                Type::Named(at, arguments) => {
                    let with = self.arguments(at, &arguments);
                    open.extend(self.bases(at).iter().map(|base| base.with(&with)));
                }
                Type::Param(file, binding) => open.push(self.bound(file, binding)),
                _ => {}
            }
        }
        None
    }

    /// Returns whether some base types of a type are unknown.
    pub(super) fn has_unknown_bases(&self, of: &Type) -> bool {
        let mut open = vec![of.clone()];
        let mut next = 0;
        while let Some(of) = open.get(next).cloned().filter(|_| open.len() < MAX_TYPES) {
            next += 1;
            match of {
                Type::Named(at, _) => open.extend(self.bases(at).iter().cloned()),
                Type::External | Type::Unknown => return true,
                _ => {}
            }
        }
        false
    }
}
