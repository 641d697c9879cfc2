//! Looks up methods, associated items and fields of a type in the view.

use std::rc::Rc;

use codecompass_model::{Flags, Span, Symbol, SymbolAt, SymbolKind};

use super::RustResolver;
use super::library;
use super::lower::PathTarget;
use super::modules::Scope;
use super::traits::is_common_trait;
use super::types::{Bound, Parameter, Ty, TypeBindings};

/// The maximum number of dereferences on the way to a member.
const MAX_DEREFS: usize = 8;

/// The kind of member to look up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberKind {
    Function,
    /// A function or a constant.
    Value,
    Type,
}

/// The target of a member.
#[derive(Clone, Debug)]
pub(super) enum MemberTarget {
    /// A member of the view, the bindings of the enclosing type parameters, and the type it was found on.
    Found(SymbolAt, TypeBindings, Ty),
    External,
    Unknown,
    /// A member of a trait that is not in scope.
    Hidden,
}

/// A member of some type or trait of the view.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) at: SymbolAt,
    pub(super) owner: SymbolAt,
    kind: SymbolKind,
    origin: MemberOrigin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MemberOrigin {
    Inherent,
    Implementation,
    Trait,
}

impl MemberKind {
    fn fits(self, kind: SymbolKind) -> bool {
        match self {
            MemberKind::Function => kind == SymbolKind::Fn,
            MemberKind::Value => matches!(kind, SymbolKind::Fn | SymbolKind::Const),
            MemberKind::Type => kind == SymbolKind::Type,
        }
    }
}

impl RustResolver<'_> {
    /// Returns all members of this name in an `impl` or a trait.
    pub(super) fn candidates(&self, name: &str) -> Rc<[Candidate]> {
        self.members.get_or_compute(name, || self.find_candidates(name))
    }

    fn find_candidates(&self, name: &str) -> Rc<[Candidate]> {
        let candidate = |&at: &SymbolAt| {
            let index = self.indexed(at.file)?;
            let symbol = index.symbol(at.ordinal)?;
            let owner = symbol.parent?;
            let around = index.symbol(owner)?;
            let place = match around.kind {
                SymbolKind::Trait => MemberOrigin::Trait,
                SymbolKind::Impl if around.impl_trait.is_some() => MemberOrigin::Implementation,
                SymbolKind::Impl => MemberOrigin::Inherent,
                _ => return None,
            };
            Some(Candidate { at, owner: SymbolAt { file: at.file, ordinal: owner }, kind: symbol.kind, origin: place })
        };
        let mut found: Vec<Candidate> = self.world.symbols_named(name).iter().filter_map(candidate).collect();
        if found.len() > 1 {
            found.retain(|candidate| self.is_active(candidate.at) && self.is_active(candidate.owner));
        }
        found.into()
    }

    /// Looks up a member of a value, through references, smart pointers and `Deref`. A trait member is visible only
    /// where the trait is in scope; if no other member has the name, the result is unknown.
    pub(super) fn member(&self, from: Scope, ty: &Ty, name: &str, want: MemberKind) -> MemberTarget {
        let Some(_depth) = self.descend() else { return MemberTarget::Unknown };
        let mut ty = ty.clone();
        let mut is_hidden = false;
        for _ in 0..MAX_DEREFS {
            if library::has_own(&ty, name) {
                return MemberTarget::External;
            }
            match self.select(Some(from), &ty, name, want) {
                Some(MemberTarget::Hidden) => is_hidden = true,
                Some(found) => return found,
                None => {}
            }
            match self.deref(&ty) {
                Some(next) if next != ty => ty = next,
                _ if is_hidden || self.is_macro_generated(&ty) && !self.candidates(name).is_empty() => {
                    return MemberTarget::Unknown;
                }
                _ => return self.missing_member(&ty, name, want),
            }
        }
        MemberTarget::Unknown
    }

    /// Classifies a member that was not found on a type. It is external if there is evidence: the type is a library's,
    /// or only external traits declare the name, which are derived or have it themselves. Otherwise a macro may have
    /// generated it, or the inferred type is wrong.
    fn missing_member(&self, ty: &Ty, name: &str, want: MemberKind) -> MemberTarget {
        let may_be_ours = |candidate: &Candidate| {
            want.fits(candidate.kind)
                && match candidate.origin {
                    MemberOrigin::Inherent | MemberOrigin::Trait => true,
                    MemberOrigin::Implementation => self
                        .implementation(candidate.owner)
                        .of_trait
                        .as_ref()
                        .is_none_or(|bound| bound.symbol.is_some()),
                }
        };
        let from_outside =
            |bounds: &[Bound]| bounds.iter().any(|bound| bound.symbol.is_none() && !is_common_trait(&bound.name));
        let is_outside = match ty {
            // The content may have been extracted on the way by code that no rule covers.
            Ty::Library(of, _) if matches!(&**of, "Option" | "Result") => library::is_wrapper_method(name),
            Ty::Library(of, _) => &**of != "?",
            Ty::Tuple(_) | Ty::Function(_) => true,
            Ty::Param(parameter) => from_outside(&self.bounds_of(*parameter)),
            Ty::Bounds(bounds) => from_outside(bounds),
            Ty::Unknown | Ty::Item(..) | Ty::SelfOf(_) | Ty::Projection(..) => false,
        };
        // Derives and attributes generate methods from fields.
        let is_field = matches!(ty, Ty::Item(..)) && self.field(ty, name).is_some();
        match is_outside || !is_field && !self.candidates(name).iter().any(may_be_ours) {
            true => MemberTarget::External,
            false => MemberTarget::Unknown,
        }
    }

    /// Looks up an associated function or constant of a type, from a scope.
    pub(super) fn associated(&self, from: Scope, ty: &Ty, name: &str) -> PathTarget {
        match self.select(Some(from), ty, name, MemberKind::Value) {
            Some(MemberTarget::Found(at, bindings, _)) => PathTarget::Symbol(at, bindings),
            Some(MemberTarget::External) => PathTarget::External,
            None if self.is_macro_generated(ty) => PathTarget::Unknown,
            None if matches!(self.missing_member(ty, name, MemberKind::Value), MemberTarget::External) => {
                PathTarget::External
            }
            Some(MemberTarget::Unknown | MemberTarget::Hidden) | None => PathTarget::Unknown,
        }
    }

    /// Looks up `<T as Trait>::name`: in the trait's `impl` for the type, then in the trait.
    pub(super) fn member_of_trait(&self, ty: &Ty, of_trait: SymbolAt, name: &str) -> Option<MemberTarget> {
        let is_of_trait = |candidate: &&Candidate| match candidate.origin {
            MemberOrigin::Inherent => false,
            MemberOrigin::Trait => candidate.owner == of_trait,
            MemberOrigin::Implementation => {
                let implementation = self.implementation(candidate.owner);
                implementation.of_trait.as_ref().is_some_and(|bound| bound.symbol == Some(of_trait))
            }
        };
        let all = self.candidates(name);
        let fitting: Vec<Candidate> = all.iter().filter(is_of_trait).copied().collect();
        self.trait_member(ty, &fitting).or_else(|| {
            // No `impl` is known for an open type: the trait's declaration is meant.
            let is_open = matches!(ty, Ty::Param(_) | Ty::SelfOf(_) | Ty::Bounds(_) | Ty::Projection(..));
            let declared = fitting.iter().find(|candidate| is_open && candidate.origin == MemberOrigin::Trait)?;
            Some(MemberTarget::Found(declared.at, TypeBindings::default(), ty.clone()))
        })
    }

    /// Returns the declaration of the associated type of this name.
    pub(super) fn associated_type(&self, ty: &Ty, name: &str) -> Option<SymbolAt> {
        let MemberTarget::Found(at, ..) = self.select(None, ty, name, MemberKind::Type)? else { return None };
        let owner = SymbolAt { file: at.file, ordinal: self.symbol(at, |symbol| symbol.parent)?? };
        if self.symbol(owner, |symbol| symbol.kind)? != SymbolKind::Impl {
            return Some(at);
        }
        // An `impl` defines the trait's type; the trait declares the name.
        let of = self.implementation(owner).of_trait.as_ref()?.symbol?;
        let index = self.indexed(of.file)?;
        index.named(Some(of.ordinal), name).first().map(|&place| SymbolAt { file: of.file, ordinal: place })
    }

    /// Returns the type of `T::Name`.
    pub(super) fn project(&self, ty: &Ty, name: &str) -> Ty {
        let Some(_depth) = self.descend() else { return Ty::Unknown };
        let given = |bounds: &[Bound]| {
            let mut all = bounds.iter().flat_map(|bound| bound.associated.iter());
            all.find(|(known, _)| &**known == name).map(|(_, ty)| ty.clone())
        };
        match ty {
            Ty::Unknown => Ty::Unknown,
            Ty::Library(of, arguments) if name == "Item" && &**of == "Iterator" => {
                arguments.first().cloned().unwrap_or(Ty::Unknown)
            }
            Ty::Bounds(bounds) => given(bounds).unwrap_or_else(|| with_unknown_args(ty, name)),
            Ty::Param(parameter) => given(&self.bounds_of(*parameter)).unwrap_or_else(|| with_unknown_args(ty, name)),
            Ty::SelfOf(_) | Ty::Projection(..) => with_unknown_args(ty, name),
            _ => match self.select(None, ty, name, MemberKind::Type) {
                Some(MemberTarget::Found(at, bindings, _)) => self.declared_type(at, &bindings, ty),
                _ => Ty::Unknown,
            },
        }
    }

    /// Returns a member's annotated type, for the type it was found on.
    pub(super) fn declared_type(&self, at: SymbolAt, bindings: &TypeBindings, receiver: &Ty) -> Ty {
        let Some(index) = self.indexed(at.file) else { return Ty::Unknown };
        let Some(symbol) = index.symbol(at.ordinal) else { return Ty::Unknown };
        let Some(text) = index.annotation(at.ordinal) else {
            return if symbol.kind == SymbolKind::Fn { Ty::tuple([]) } else { Ty::Unknown };
        };
        let ty = self.lower_text(Scope { file: at.file, symbol: Some(at.ordinal) }, text);
        let owner = symbol.parent;
        let is_free = |(file, binding): Parameter| {
            let declared = index.facts().bindings.get(binding as usize).and_then(|binding| binding.symbol);
            file == at.file && (declared == Some(at.ordinal) || declared.is_some() && declared == owner)
        };
        self.substitute(&ty, bindings, receiver, &is_free)
    }

    /// Returns a type with its parameters and `Self` replaced; free parameters without a binding become unknown.
    pub(super) fn substitute(
        &self,
        ty: &Ty,
        bindings: &TypeBindings,
        receiver: &Ty,
        is_free: &dyn Fn(Parameter) -> bool,
    ) -> Ty {
        ty.map(&|part| match part {
            Ty::Param(parameter) => {
                bindings.get(*parameter).cloned().or_else(|| is_free(*parameter).then_some(Ty::Unknown))
            }
            Ty::SelfOf(_) => Some(receiver.clone()),
            Ty::Projection(of, name) => Some(self.project(&self.substitute(of, bindings, receiver, is_free), name)),
            _ => None,
        })
    }

    /// Looks up a member of a type itself, without dereferencing; `None` if no member of the view fits.
    fn select(&self, from: Option<Scope>, ty: &Ty, name: &str, want: MemberKind) -> Option<MemberTarget> {
        let candidates = self.candidates(name);
        let mut fitting = candidates.iter().filter(|candidate| want.fits(candidate.kind)).peekable();
        if !ty.is_known() {
            let may_be_here = fitting.peek().is_some() || want == MemberKind::Function && self.is_stray(name);
            return Some(if may_be_here { MemberTarget::Unknown } else { MemberTarget::External });
        }
        if fitting.peek().is_none() {
            let is_stray = want == MemberKind::Function && !matches!(ty, Ty::Library(..)) && self.is_stray(name);
            return is_stray.then_some(MemberTarget::Hidden);
        }
        let fitting: Vec<Candidate> = fitting.copied().collect();
        let by_bounds = |bounds: &[Bound]| {
            let traits = self.with_supertraits(bounds);
            let owned =
                |candidate: &&Candidate| candidate.origin == MemberOrigin::Trait && traits.contains(&candidate.owner);
            fitting.iter().find(owned).map(|found| MemberTarget::Found(found.at, TypeBindings::default(), ty.clone()))
        };
        let own = match ty {
            Ty::Param(parameter) => by_bounds(&self.bounds_of(*parameter)),
            Ty::SelfOf(of) => by_bounds(&[self.bound_of(*of)]),
            Ty::Bounds(bounds) => self.impl_member(ty, &fitting, MemberOrigin::Inherent).or_else(|| by_bounds(bounds)),
            Ty::Projection(of, name) => by_bounds(&self.projection_bounds(of, name)),
            _ => self.impl_member(ty, &fitting, MemberOrigin::Inherent),
        };
        own.or_else(|| {
            let is_seen = |candidate: &Candidate| from.is_none_or(|from| self.is_candidate_in_scope(from, candidate));
            let (seen, hidden): (Vec<Candidate>, Vec<Candidate>) = fitting.iter().copied().partition(is_seen);
            let found = self.trait_member(ty, &seen);
            // The own methods of an external type are external.
            let may_hide = !matches!(ty, Ty::Library(..)) && hidden.iter().any(|known| self.is_reachable(known.owner));
            found.or_else(|| self.trait_member(ty, &hidden).filter(|_| may_hide).map(|_| MemberTarget::Hidden))
        })
    }

    /// Looks up a member in traits: in the type's own `impl`s, in the trait's provided methods, in blanket `impl`s.
    fn trait_member(&self, ty: &Ty, candidates: &[Candidate]) -> Option<MemberTarget> {
        // An external path may end in a module.
        let is_module = matches!(ty, Ty::Library(name, _)
            if name.starts_with(char::is_lowercase) && !library::is_data(name));
        if is_module {
            return None;
        }
        let is_open = matches!(ty, Ty::Param(_) | Ty::SelfOf(_) | Ty::Bounds(_) | Ty::Projection(..));
        let own = if is_open { None } else { self.impl_member(ty, candidates, MemberOrigin::Implementation) };
        own.or_else(|| self.provided_member(ty, candidates)).or_else(|| self.blanket_member(ty, candidates))
    }

    /// Returns whether the trait of a candidate is in scope; external traits always are.
    fn is_candidate_in_scope(&self, from: Scope, candidate: &Candidate) -> bool {
        match candidate.origin {
            MemberOrigin::Inherent => true,
            MemberOrigin::Trait => self.is_trait_in_scope(from, candidate.owner),
            MemberOrigin::Implementation => {
                let implementation = self.implementation(candidate.owner);
                let of = implementation.of_trait.as_ref().and_then(|bound| bound.symbol);
                of.is_none_or(|of| self.is_trait_in_scope(from, of))
            }
        }
    }

    /// Returns whether a file is part of a crate: text that is only read, such as the input of a test, is not.
    fn is_reachable(&self, at: SymbolAt) -> bool {
        self.crates.is_root(self.root(Scope { file: at.file, symbol: None }).file)
    }

    /// Returns whether a macro declares a type, which may add members that are not visible here.
    fn is_macro_generated(&self, ty: &Ty) -> bool {
        let Ty::Item(at, _) = ty else { return false };
        let Some(text) = self.world.text(at.file) else { return false };
        let head = self.symbol(*at, |symbol| Span { start: symbol.span.start, end: symbol.name_span.start });
        let words = head.map_or("", |head| head.text(&text)).split_whitespace();
        !words.into_iter().any(|word| matches!(word, "struct" | "enum" | "union" | "type" | "trait"))
    }

    /// Returns whether a method of this name is outside all visible `impl`s and traits: a macro puts it into one.
    fn is_stray(&self, name: &str) -> bool {
        let is_method = |symbol: &Symbol| symbol.kind == SymbolKind::Fn && symbol.flags.has(Flags::TAKES_SELF);
        self.world.symbols_named(name).iter().any(|&at| self.symbol(at, is_method).unwrap_or(false))
    }

    fn impl_member(&self, ty: &Ty, candidates: &[Candidate], place: MemberOrigin) -> Option<MemberTarget> {
        let mut found: Vec<(SymbolAt, TypeBindings)> = Vec::new();
        for candidate in candidates.iter().filter(|candidate| candidate.origin == place) {
            let implementation = self.implementation(candidate.owner);
            if matches!(implementation.self_type, Ty::Param(_) | Ty::Unknown) {
                continue;
            }
            if let Some(bindings) = self.unify_impl(&implementation.self_type, ty, candidate.owner) {
                found.push((candidate.at, bindings));
            }
        }
        match found.len() {
            0 => None,
            1 => found.pop().map(|(at, bindings)| MemberTarget::Found(at, bindings, ty.clone())),
            _ => Some(MemberTarget::Unknown),
        }
    }

    /// Returns the functions of this name that a type has from traits with type arguments.
    pub(super) fn generic_impls(&self, ty: &Ty, name: &str) -> Vec<SymbolAt> {
        let is_generic = |candidate: &&Candidate| {
            let implementation = self.implementation(candidate.owner);
            candidate.origin == MemberOrigin::Implementation
                && candidate.kind == SymbolKind::Fn
                && implementation.of_trait.as_ref().is_some_and(|bound| !bound.arguments.is_empty())
                && !matches!(implementation.self_type, Ty::Param(_) | Ty::Unknown)
                && self.unify_impl(&implementation.self_type, ty, candidate.owner).is_some()
        };
        let is_known = matches!(ty, Ty::Item(..) | Ty::Library(..));
        self.candidates(name).iter().filter(|_| is_known).filter(is_generic).map(|found| found.at).collect()
    }

    /// Returns the bindings of an `impl`'s parameters if it is for this type.
    fn unify_impl(&self, of: &Ty, ty: &Ty, owner: SymbolAt) -> Option<TypeBindings> {
        let mut bindings = TypeBindings::default();
        let index = self.indexed(owner.file)?;
        let own = index.type_params(owner.ordinal);
        let fits = bindings.unify(of, ty, &|(file, binding)| file == owner.file && own.contains(&binding));
        fits.then_some(bindings)
    }

    /// Looks up a method that a trait provides for a type that implements it.
    fn provided_member(&self, ty: &Ty, candidates: &[Candidate]) -> Option<MemberTarget> {
        let owned =
            |candidate: &&Candidate| candidate.origin == MemberOrigin::Trait && self.implements(ty, candidate.owner);
        let found = candidates.iter().find(owned)?;
        Some(MemberTarget::Found(found.at, TypeBindings::default(), ty.clone()))
    }

    /// Looks up a method of an `impl<T: Bound> Trait for T`.
    fn blanket_member(&self, ty: &Ty, candidates: &[Candidate]) -> Option<MemberTarget> {
        for candidate in candidates.iter().filter(|candidate| candidate.origin == MemberOrigin::Implementation) {
            let implementation = self.implementation(candidate.owner);
            if let Ty::Param(parameter) = implementation.self_type
                && self.satisfies(ty, &self.bounds_of(parameter))
            {
                let bindings = TypeBindings(vec![(parameter, ty.clone())]);
                return Some(MemberTarget::Found(candidate.at, bindings, ty.clone()));
            }
        }
        None
    }

    /// Returns the bounds that a trait declares for an associated type.
    pub(super) fn projection_bounds(&self, of: &Ty, name: &str) -> Vec<Bound> {
        let traits = match of {
            Ty::Param(parameter) => self.with_supertraits(&self.bounds_of(*parameter)),
            Ty::SelfOf(of) => self.with_supertraits(&[self.bound_of(*of)]),
            Ty::Bounds(bounds) => self.with_supertraits(bounds),
            _ => return Vec::new(),
        };
        let found = self.candidates(name).iter().find(|known| traits.contains(&known.owner)).copied();
        let Some(Candidate { at, .. }) = found.filter(|found| found.kind == SymbolKind::Type) else {
            return Vec::new();
        };
        let Some(index) = self.indexed(at.file) else { return Vec::new() };
        let scope = Scope { file: at.file, symbol: Some(at.ordinal) };
        match index.annotation(at.ordinal).map(super::type_ref::TypeRef::parse) {
            Some(super::type_ref::TypeRef::Bounds(all)) => {
                all.iter().filter_map(|bound| self.bound(scope, bound)).collect()
            }
            Some(one) => self.bound(scope, &one).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// Returns the type that a type dereferences to.
    pub(super) fn deref(&self, ty: &Ty) -> Option<Ty> {
        match ty {
            Ty::Library(..) => library::deref(ty),
            Ty::Item(at, _) => {
                let name = self.symbol(*at, |symbol| symbol.name.clone())?;
                let own = self.impls(&name);
                let of_deref = own.iter().find(|&&at| {
                    let implementation = self.implementation(at);
                    implementation.of_trait.as_ref().is_some_and(|bound| &*bound.name == "Deref")
                        && self.unify_impl(&implementation.self_type, ty, at).is_some()
                })?;
                let index = self.indexed(of_deref.file)?;
                let target = *index.named(Some(of_deref.ordinal), "Target").first()?;
                let bindings = self.unify_impl(&self.implementation(*of_deref).self_type, ty, *of_deref)?;
                let found = self.declared_type(SymbolAt { file: of_deref.file, ordinal: target }, &bindings, ty);
                found.is_known().then_some(found)
            }
            _ => None,
        }
    }

    /// Returns the type of a field.
    pub(super) fn field(&self, ty: &Ty, name: &str) -> Option<(Option<SymbolAt>, Ty)> {
        let mut ty = ty.clone();
        for _ in 0..MAX_DEREFS {
            if let Some(found) = self.declared_field(&ty, name) {
                return Some(found);
            }
            ty = self.deref(&ty)?;
        }
        None
    }

    fn declared_field(&self, ty: &Ty, name: &str) -> Option<(Option<SymbolAt>, Ty)> {
        match ty {
            Ty::Tuple(parts) => Some((None, parts.get(name.parse::<usize>().ok()?)?.clone())),
            Ty::Item(at, arguments) => self.field_of(*at, *at, arguments, name),
            _ => None,
        }
    }

    /// Returns a field of a struct or variant; `of` is the type with the parameters.
    pub(super) fn field_of(
        &self,
        holder: SymbolAt,
        of: SymbolAt,
        arguments: &[Ty],
        name: &str,
    ) -> Option<(Option<SymbolAt>, Ty)> {
        let index = self.indexed(holder.file)?;
        let parameters = index.type_params(of.ordinal);
        let bound = parameters.iter().zip(arguments).map(|(&binding, ty)| ((holder.file, binding), ty.clone()));
        let bindings = TypeBindings(bound.collect());
        let is_free = |(file, binding): Parameter| file == holder.file && parameters.contains(&binding);
        let receiver = Ty::Item(of, arguments.into());
        let scope = Scope { file: holder.file, symbol: Some(holder.ordinal) };
        if let Ok(position) = name.parse::<usize>() {
            let Ty::Tuple(parts) = self.tuple_of(holder)? else { return None };
            return Some((None, self.substitute(parts.get(position)?, &bindings, &receiver, &is_free)));
        }
        let place = *index.named(Some(holder.ordinal), name).first()?;
        let ty = index.annotation(place).map_or(Ty::Unknown, |text| self.lower_text(scope, text));
        let at = SymbolAt { file: holder.file, ordinal: place };
        Some((Some(at), self.substitute(&ty, &bindings, &receiver, &is_free)))
    }

    /// Returns the types in a tuple struct or variant.
    fn tuple_of(&self, holder: SymbolAt) -> Option<Ty> {
        let index = self.indexed(holder.file)?;
        let scope = Scope { file: holder.file, symbol: Some(holder.ordinal) };
        let ty = self.lower_text(scope, index.annotation(holder.ordinal)?);
        Some(match ty {
            Ty::Tuple(parts) => Ty::Tuple(parts),
            // One type in parentheses parses like the type alone.
            one => Ty::tuple([one]),
        })
    }
}

fn with_unknown_args(ty: &Ty, name: &str) -> Ty {
    Ty::Projection(Rc::new(ty.clone()), name.into())
}
