//! Lowers type syntax to types in a scope.

use std::rc::Rc;

use codecompass_model::{SymbolAt, SymbolKind};

use super::RustResolver;
use super::modules::Scope;
use super::scope::{Def, PRIMITIVES, Space};
use super::type_ref::{Segment, TypeRef};
use super::types::{Bound, Parameter, Ty, TypeBindings};

/// The target of a path that may go through types.
#[derive(Clone, Debug)]
pub(super) enum PathTarget {
    Module,
    /// A type, with the type arguments of its path.
    Type(Ty),
    /// A function, a constant, a variant, an associated item.
    Symbol(SymbolAt, TypeBindings),
    External,
    Unknown,
}

/// The header of an `impl` block.
pub(super) struct ImplHeader {
    pub(super) self_type: Ty,
    pub(super) of_trait: Option<Bound>,
}

impl RustResolver<'_> {
    /// Lowers the text of a type in a scope.
    pub(super) fn lower_text(&self, scope: Scope, text: &str) -> Ty {
        self.lower(scope, &TypeRef::parse(text))
    }

    /// Lowers a parsed type in a scope.
    pub(super) fn lower(&self, scope: Scope, written: &TypeRef) -> Ty {
        let Some(_depth) = self.descend() else { return Ty::Unknown };
        match written {
            TypeRef::Path(None, segments) => self.lower_path(scope, segments),
            TypeRef::Path(Some(of), segments) => {
                let base = self.lower(scope, &of.0);
                segments.iter().fold(base, |ty, segment| self.project(&ty, &segment.name))
            }
            TypeRef::Tuple(parts) => Ty::tuple(parts.iter().map(|part| self.lower(scope, part))),
            TypeRef::Slice(of) => Ty::library("[]", [self.lower(scope, of)]),
            TypeRef::Bounds(all) => Ty::Bounds(all.iter().filter_map(|bound| self.bound(scope, bound)).collect()),
            TypeRef::Function(of) => Ty::Function(Rc::new(self.lower(scope, of))),
            TypeRef::Error => Ty::Unknown,
        }
    }

    fn lower_path(&self, scope: Scope, segments: &[Segment]) -> Ty {
        match self.resolve_path(scope, segments, Space::Type) {
            PathTarget::Type(ty) => ty,
            PathTarget::Symbol(at, _) => self.type_of_symbol(at).unwrap_or(Ty::Unknown),
            _ => Ty::Unknown,
        }
    }

    /// Returns the enum of a variant.
    fn type_of_symbol(&self, at: SymbolAt) -> Option<Ty> {
        let index = self.indexed(at.file)?;
        let symbol = index.symbol(at.ordinal)?;
        let place = symbol.parent.filter(|_| symbol.kind == SymbolKind::Variant)?;
        Some(Ty::Item(SymbolAt { file: at.file, ordinal: place }, [].into()))
    }

    /// Follows a path through modules and types.
    pub(super) fn resolve_path(&self, scope: Scope, segments: &[Segment], space: Space) -> PathTarget {
        let Some(_depth) = self.descend() else { return PathTarget::Unknown };
        let Some(first) = segments.first() else { return PathTarget::Unknown };
        if first.name == "Self" {
            return self.resolve_in_type(scope, self.self_type(scope), &segments[1..], space);
        }
        if let Some(parameter) = self.parameter(scope, &first.name) {
            return self.resolve_in_type(scope, Ty::Param(parameter), &segments[1..], space);
        }
        if PRIMITIVES.contains(&first.name.as_str())
            && self.name(scope, &first.name, Space::Type).is_none_or(is_external_type)
        {
            return self.resolve_in_type(scope, Ty::library(&first.name, []), &segments[1..], space);
        }
        // The longest prefix that modules alone resolve.
        let names: Vec<&str> = segments.iter().map(|segment| segment.name.as_str()).collect();
        let mut done = 1;
        let leading = names.iter().take_while(|name| matches!(**name, "crate" | "self" | "super" | "")).count();
        done = done.max(leading + usize::from(leading > 0 && names[leading - 1].is_empty())).min(names.len());
        let kind = |done: usize| if done == names.len() { space } else { Space::Type };
        let Some(mut def) = self.path(scope, &names[..done], kind(done)) else {
            let unknown_crate = names.len() > 1 && !first.name.starts_with(char::is_uppercase);
            return if unknown_crate {
                self.external_type(&segments[segments.len() - 1], scope)
            } else {
                PathTarget::Unknown
            };
        };
        while done < names.len() {
            if let Def::Symbol(at) = def
                && self.variant(at, names[done]).is_none()
            {
                let ty = self.item_type(scope, at, &segments[done - 1]);
                return self.resolve_in_type(scope, ty, &segments[done..], space);
            }
            // Members of an external type are external, but its traits may be in the view.
            if let Def::External(name) = &def
                && name.starts_with(char::is_uppercase)
            {
                let ty = Ty::Library(Rc::clone(name), self.arguments(scope, &segments[done - 1]));
                return self.resolve_in_type(scope, ty, &segments[done..], space);
            }
            done += 1;
            match self.step(&def, names[done - 1], kind(done)) {
                Some(next) => def = next,
                None => return PathTarget::Unknown,
            }
        }
        let last = &segments[segments.len() - 1];
        match def {
            Def::Module(_) => PathTarget::Module,
            Def::External(name) if space == Space::Type => {
                PathTarget::Type(Ty::Library(name, self.arguments(scope, last)))
            }
            Def::External(_) => PathTarget::External,
            Def::Symbol(at) => self.named_symbol(scope, at, last, space),
        }
    }

    fn named_symbol(&self, scope: Scope, at: SymbolAt, last: &Segment, space: Space) -> PathTarget {
        let kind = self.symbol(at, |symbol| symbol.kind);
        match kind {
            Some(SymbolKind::Variant) => PathTarget::Symbol(at, TypeBindings::default()),
            Some(_) if space == Space::Type => PathTarget::Type(self.item_type(scope, at, last)),
            Some(_) => PathTarget::Symbol(at, TypeBindings::default()),
            None => PathTarget::Unknown,
        }
    }

    fn external_type(&self, last: &Segment, scope: Scope) -> PathTarget {
        match last.name.starts_with(char::is_uppercase) {
            true => PathTarget::Type(Ty::Library(last.name.as_str().into(), self.arguments(scope, last))),
            false => PathTarget::External,
        }
    }

    /// Continues from a type: associated types, then optionally an associated function or constant.
    fn resolve_in_type(&self, scope: Scope, ty: Ty, rest: &[Segment], space: Space) -> PathTarget {
        let Some((next, more)) = rest.split_first() else { return PathTarget::Type(ty) };
        if let Ty::Item(at, _) = ty
            && let Some(variant) = self.variant(at, &next.name)
            && more.is_empty()
        {
            return PathTarget::Symbol(variant, TypeBindings::default());
        }
        if !more.is_empty() || space == Space::Type {
            return self.resolve_in_type(scope, self.project(&ty, &next.name), more, space);
        }
        self.associated(scope, &ty, &next.name)
    }

    fn arguments(&self, scope: Scope, segment: &Segment) -> Rc<[Ty]> {
        segment.arguments.iter().map(|argument| self.lower(scope, argument)).collect()
    }

    /// Returns the type that a symbol declares, with the arguments of a path segment.
    fn item_type(&self, scope: Scope, at: SymbolAt, segment: &Segment) -> Ty {
        match self.symbol(at, |symbol| symbol.kind) {
            Some(SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union) => {
                Ty::Item(at, self.arguments(scope, segment))
            }
            Some(SymbolKind::Type) => self.alias(scope, at, segment),
            Some(SymbolKind::Trait) => {
                self.trait_bound(scope, at, segment).map_or(Ty::Unknown, |bound| Ty::Bounds([bound].into()))
            }
            Some(SymbolKind::Variant) => self.type_of_symbol(at).unwrap_or(Ty::Unknown),
            _ => Ty::Unknown,
        }
    }

    fn alias(&self, scope: Scope, at: SymbolAt, segment: &Segment) -> Ty {
        let Some(index) = self.indexed(at.file) else { return Ty::Unknown };
        let Some(text) = index.annotation(at.ordinal) else { return Ty::Unknown };
        let ty = self.lower_text(Scope { file: at.file, symbol: Some(at.ordinal) }, text);
        let arguments = self.arguments(scope, segment);
        let of = |binding: &u32| index.type_params(at.ordinal).iter().position(|known| known == binding);
        ty.map(&|part| match part {
            Ty::Param((file, binding)) if *file == at.file => {
                of(binding).map(|at| arguments.get(at).cloned().unwrap_or(Ty::Unknown))
            }
            _ => None,
        })
    }

    fn trait_bound(&self, scope: Scope, at: SymbolAt, segment: &Segment) -> Option<Bound> {
        let name = self.symbol(at, |symbol| Rc::from(symbol.name.as_str()))?;
        Some(Bound { symbol: Some(at), name, ..self.bound_arguments(scope, segment) })
    }

    fn bound_arguments(&self, scope: Scope, segment: &Segment) -> Bound {
        let associated =
            segment.associated.iter().map(|(name, value)| (Rc::from(name.as_str()), self.lower(scope, value)));
        Bound {
            symbol: None,
            name: segment.name.as_str().into(),
            arguments: self.arguments(scope, segment),
            associated: associated.collect(),
        }
    }

    /// Lowers a trait that is used as a bound.
    pub(super) fn bound(&self, scope: Scope, written: &TypeRef) -> Option<Bound> {
        let segments = written.segments();
        let last = segments.last()?;
        let names: Vec<&str> = segments.iter().map(|segment| segment.name.as_str()).collect();
        match self.path(scope, &names, Space::Type) {
            Some(Def::Symbol(at)) => self.trait_bound(scope, at, last),
            Some(Def::External(name)) => Some(Bound { name, ..self.bound_arguments(scope, last) }),
            _ => Some(self.bound_arguments(scope, last)),
        }
    }

    /// Returns the bounds of a type parameter.
    pub(super) fn bounds_of(&self, (file, binding): Parameter) -> Rc<[Bound]> {
        let found = || {
            let index = self.indexed(file)?;
            let declared = index.facts().bindings.get(binding as usize)?;
            let scope = Scope { file, symbol: declared.symbol };
            let written = TypeRef::parse(index.expr_text(declared.annotation?));
            Some(match &written {
                TypeRef::Bounds(all) => all.iter().filter_map(|bound| self.bound(scope, bound)).collect(),
                one => self.bound(scope, one).into_iter().collect(),
            })
        };
        found().unwrap_or_else(|| [].into())
    }

    /// Returns the type parameter with this name in scope.
    pub(super) fn parameter(&self, scope: Scope, name: &str) -> Option<Parameter> {
        let index = self.indexed(scope.file)?;
        let is_meant = |binding: &&u32| {
            let declared = index.facts().bindings[**binding as usize].name;
            index.name(declared) == name
        };
        let found =
            index.ancestors(scope.symbol).find_map(|at| index.type_params(at).iter().find(is_meant).copied())?;
        Some((scope.file, found))
    }

    /// Returns the type of `Self` in a scope.
    pub(super) fn self_type(&self, scope: Scope) -> Ty {
        use SymbolKind::{Enum, Impl, Struct, Trait, Union};
        let Some(index) = self.indexed(scope.file) else { return Ty::Unknown };
        let Some(place) = index.nearest_ancestor(scope.symbol, &[Impl, Trait, Struct, Enum, Union]) else {
            return Ty::Unknown;
        };
        let at = SymbolAt { file: scope.file, ordinal: place };
        match index.symbol(place).map(|symbol| symbol.kind) {
            Some(Impl) => self.implementing_type(at),
            Some(Trait) => Ty::SelfOf(at),
            _ => {
                let own = index.type_params(place).iter().map(|&binding| Ty::Param((scope.file, binding)));
                Ty::Item(at, own.collect())
            }
        }
    }

    /// Returns the lowered header of an `impl` block.
    pub(super) fn implementation(&self, at: SymbolAt) -> Rc<ImplHeader> {
        if let Some(known) = self.implementations.get(&at) {
            return known;
        }
        let of = self.implementing_type(at);
        // `Self` within the header is the implementing type, regardless of the trait.
        let alone = Rc::new(ImplHeader { self_type: of.clone(), of_trait: None });
        self.implementations.compute_cyclic(&self.query_stack, at, alone, || {
            let scope = Scope { file: at.file, symbol: Some(at.ordinal) };
            let written = self.symbol(at, |symbol| symbol.impl_trait.clone()).flatten();
            let of_trait = written.and_then(|text| self.bound(scope, &TypeRef::parse(text.trim_start_matches('!'))));
            Rc::new(ImplHeader { self_type: of, of_trait })
        })
    }

    /// Returns the type that an `impl` block is for.
    fn implementing_type(&self, at: SymbolAt) -> Ty {
        self.implementing_types.compute_cyclic(&self.query_stack, at, Ty::Unknown, || {
            let Some(index) = self.indexed(at.file) else { return Ty::Unknown };
            let scope = Scope { file: at.file, symbol: Some(at.ordinal) };
            index.annotation(at.ordinal).map_or(Ty::Unknown, |text| self.lower_text(scope, text))
        })
    }
}

fn is_external_type(def: Def) -> bool {
    matches!(def, Def::External(_))
}
