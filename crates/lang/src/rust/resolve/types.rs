//! Types, as far as member lookups need them: without references, mutability and lifetimes.

use std::rc::Rc;

use codecompass_model::{SymbolAt, VersionId};

/// A type parameter: the binding that declares it.
pub(super) type Parameter = (VersionId, u32);

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    /// An unknown type.
    Unknown,
    /// A struct, enum or union of the view, with its type arguments.
    Item(SymbolAt, Rc<[Ty]>),
    /// An external type by its last name; `[]` for slices and arrays, `Iterator` for all iterators.
    Library(Rc<str>, Rc<[Ty]>),
    /// A tuple.
    Tuple(Rc<[Ty]>),
    /// A type parameter in scope.
    Param(Parameter),
    /// `Self` in a trait.
    SelfOf(SymbolAt),
    /// `dyn A + B` and `impl A + B`.
    Bounds(Rc<[Bound]>),
    /// `T::Name` if too little is known about `T`.
    Projection(Rc<Ty>, Rc<str>),
    /// A callable, with its return type.
    Function(Rc<Ty>),
}

/// A trait that a type is known to implement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    /// The trait, if it is in the view.
    pub(super) symbol: Option<SymbolAt>,
    /// Its last name.
    pub(super) name: Rc<str>,
    /// Its type arguments.
    pub(super) arguments: Rc<[Ty]>,
    /// `Item = T`.
    pub(super) associated: Rc<[(Rc<str>, Ty)]>,
}

impl Ty {
    pub(super) fn library(name: &str, arguments: impl IntoIterator<Item = Ty>) -> Ty {
        Ty::Library(name.into(), arguments.into_iter().collect())
    }

    pub(super) fn tuple(parts: impl IntoIterator<Item = Ty>) -> Ty {
        Ty::Tuple(parts.into_iter().collect())
    }

    pub(super) fn is_known(&self) -> bool {
        *self != Ty::Unknown
    }

    /// Returns the n-th type argument.
    pub(super) fn argument(&self, at: usize) -> Ty {
        match self {
            Ty::Item(_, arguments) | Ty::Library(_, arguments) => arguments.get(at).cloned().unwrap_or(Ty::Unknown),
            _ => Ty::Unknown,
        }
    }

    /// Returns whether it contains an unknown type.
    pub(super) fn has_unknown(&self) -> bool {
        match self {
            Ty::Unknown => true,
            Ty::Item(_, parts) | Ty::Library(_, parts) | Ty::Tuple(parts) => parts.iter().any(Ty::has_unknown),
            Ty::Projection(of, _) | Ty::Function(of) => of.has_unknown(),
            Ty::Param(_) | Ty::SelfOf(_) | Ty::Bounds(_) => false,
        }
    }

    /// Returns the type with its parameters and `Self` replaced.
    pub(super) fn map(&self, replace: &dyn Fn(&Ty) -> Option<Ty>) -> Ty {
        if let Some(other) = replace(self) {
            return other;
        }
        let all = |parts: &Rc<[Ty]>| parts.iter().map(|part| part.map(replace)).collect::<Rc<[Ty]>>();
        match self {
            Ty::Item(of, parts) => Ty::Item(*of, all(parts)),
            Ty::Library(name, parts) => Ty::Library(Rc::clone(name), all(parts)),
            Ty::Tuple(parts) => Ty::Tuple(all(parts)),
            Ty::Projection(of, name) => Ty::Projection(Rc::new(of.map(replace)), Rc::clone(name)),
            Ty::Function(of) => Ty::Function(Rc::new(of.map(replace))),
            Ty::Bounds(bounds) => {
                let bound = |bound: &Bound| Bound {
                    arguments: all(&bound.arguments),
                    associated: bound.associated.iter().map(|(name, ty)| (Rc::clone(name), ty.map(replace))).collect(),
                    ..bound.clone()
                };
                Ty::Bounds(bounds.iter().map(bound).collect())
            }
            other => other.clone(),
        }
    }
}

/// The types that are bound to type parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct TypeBindings(pub(super) Vec<(Parameter, Ty)>);

impl TypeBindings {
    pub(super) fn get(&self, parameter: Parameter) -> Option<&Ty> {
        self.0.iter().find(|(known, _)| *known == parameter).map(|(_, ty)| ty)
    }

    /// Binds the parameters of a pattern to the parts of a type; returns false if the two cannot be the same type.
    pub(super) fn unify(&mut self, pattern: &Ty, ty: &Ty, is_free: &dyn Fn(Parameter) -> bool) -> bool {
        let all = |bindings: &mut Self, a: &[Ty], b: &[Ty]| {
            a.iter().zip(b).all(|(pattern, ty)| bindings.unify(pattern, ty, is_free))
        };
        match (pattern, ty) {
            (Ty::Param(parameter), _) if is_free(*parameter) => {
                if self.get(*parameter).is_none_or(|known| !known.is_known()) {
                    self.0.push((*parameter, ty.clone()));
                }
                true
            }
            (Ty::Unknown, _) | (_, Ty::Unknown) => true,
            (Ty::Item(a, left), Ty::Item(b, right)) => a == b && all(self, left, right),
            (Ty::Library(a, left), Ty::Library(b, right)) => a == b && all(self, left, right),
            (Ty::Tuple(left), Ty::Tuple(right)) => left.len() == right.len() && all(self, left, right),
            (Ty::Bounds(left), Ty::Bounds(right)) => left.first().map(|a| &a.name) == right.first().map(|b| &b.name),
            (Ty::Function(left), Ty::Function(right)) => self.unify(left, right, is_free),
            (Ty::Projection(..), _) => true,
            (Ty::Param(_) | Ty::SelfOf(_) | Ty::Bounds(_), Ty::Param(_) | Ty::SelfOf(_) | Ty::Bounds(_)) => {
                pattern == ty
            }
            _ => false,
        }
    }
}
