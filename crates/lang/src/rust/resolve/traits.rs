//! Traits: which types implement them, and their supertraits.

use std::rc::Rc;

use codecompass_model::{Symbol, SymbolAt, SymbolKind};

use super::RustResolver;
use super::library;
use super::modules::Scope;
use super::scope::{Def, Space};
use super::type_ref::TypeRef;
use super::types::{Bound, Parameter, Ty, TypeBindings};

/// Common names of the type parameter of an `impl<T> Trait for T`.
const BLANKET_PARAMETERS: [&str; 16] = ["T", "M", "F", "R", "W", "S", "I", "A", "B", "C", "D", "E", "K", "P", "U", "V"];

/// The maximum length of a chain of `impl<T: A> B for T`.
const MAX_BLANKET_DEPTH: usize = 4;

/// Traits that are derived or automatic: every type may have them.
const COMMON_TRAITS: &[&str] = &[
    "Any",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Eq",
    "Hash",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Send",
    "Sized",
    "Sync",
    "Unpin",
];

/// Returns whether a trait adds nothing to the common abilities of a type.
pub(super) fn is_common_trait(name: &str) -> bool {
    COMMON_TRAITS.contains(&name)
}

impl RustResolver<'_> {
    /// Returns the `impl` blocks for types of this name.
    pub(super) fn impls(&self, name: &str) -> Rc<[SymbolAt]> {
        let is_impl = |at: &SymbolAt| self.symbol(*at, |symbol| symbol.kind == SymbolKind::Impl).unwrap_or(false);
        self.impls.get_or_compute(name, || self.world.symbols_named(name).iter().copied().filter(is_impl).collect())
    }

    /// Returns whether a type implements a trait of the view.
    pub(super) fn implements(&self, ty: &Ty, of: SymbolAt) -> bool {
        let Some(_depth) = self.descend() else { return false };
        let direct = match ty {
            Ty::Item(at, _) => {
                let name = self.symbol(*at, |symbol| symbol.name.clone()).unwrap_or_default();
                self.implements_by(&name, ty, &|bound| bound.symbol == Some(of))
            }
            Ty::Library(name, _) => self.implements_by(name, ty, &|bound| bound.symbol == Some(of)),
            Ty::Param(parameter) => self.with_supertraits(&self.bounds_of(*parameter)).contains(&of),
            Ty::SelfOf(at) => self.with_supertraits(&[self.bound_of(*at)]).contains(&of),
            Ty::Bounds(bounds) => self.with_supertraits(bounds).contains(&of),
            Ty::Projection(on, name) => self.with_supertraits(&self.projection_bounds(on, name)).contains(&of),
            _ => false,
        };
        if direct
            || self.traits_in_progress.borrow().contains(&of)
            || self.traits_in_progress.borrow().len() >= MAX_BLANKET_DEPTH
        {
            return direct;
        }
        // A bound may require the trait itself, so each trait is checked once per chain.
        self.traits_in_progress.borrow_mut().push(of);
        let through = self.blanket_impls(of).iter().any(|&parameter| self.satisfies(ty, &self.bounds_of(parameter)));
        self.traits_in_progress.borrow_mut().pop();
        through
    }

    /// Returns the parameters `T` of every `impl<T> Trait for T`: those in the trait's own file, and those elsewhere
    /// whose parameter has a common name.
    fn blanket_impls(&self, of: SymbolAt) -> Rc<[Parameter]> {
        self.blankets.compute_cyclic(&self.query_stack, of, [].into(), || self.find_blanket_impls(of))
    }

    fn find_blanket_impls(&self, of: SymbolAt) -> Rc<[Parameter]> {
        let usual =
            BLANKET_PARAMETERS.iter().flat_map(|name| self.impls(name).to_vec()).filter(|at| at.file != of.file);
        let index = self.indexed(of.file);
        let here = index.iter().flat_map(|index| {
            let is_impl =
                |(_, symbol): &(usize, &Symbol)| symbol.kind == SymbolKind::Impl && symbol.impl_trait.is_some();
            let all = index.facts().symbols.iter().enumerate().filter(is_impl);
            all.map(|(place, _)| SymbolAt { file: of.file, ordinal: place as u32 })
        });
        let parameter = |at: SymbolAt| {
            let implementation = self.implementation(at);
            match implementation.self_type {
                Ty::Param(parameter) => {
                    let is_of = implementation.of_trait.as_ref().is_some_and(|bound| bound.symbol == Some(of));
                    is_of.then_some(parameter)
                }
                _ => None,
            }
        };
        here.chain(usual).filter_map(parameter).collect()
    }

    fn implements_by(&self, name: &str, ty: &Ty, is_meant: &dyn Fn(&Bound) -> bool) -> bool {
        self.impls(name).iter().any(|&at| {
            let implementation = self.implementation(at);
            let mut none = TypeBindings::default();
            implementation.of_trait.as_ref().is_some_and(is_meant)
                && none.unify(&implementation.self_type, ty, &|_| true)
        })
    }

    /// Returns whether a type satisfies the bounds of a type parameter, as far as the view shows.
    pub(super) fn satisfies(&self, ty: &Ty, bounds: &[Bound]) -> bool {
        bounds.iter().all(|bound| match (bound.symbol, ty) {
            (Some(of), _) => self.implements(ty, of),
            (None, Ty::Item(at, _)) => {
                let name = self.symbol(*at, |symbol| symbol.name.clone()).unwrap_or_default();
                COMMON_TRAITS.contains(&&*bound.name)
                    || self.implements_by(&name, ty, &|known| known.name == bound.name)
            }
            (None, Ty::Param(_) | Ty::SelfOf(_) | Ty::Bounds(_) | Ty::Projection(..)) => {
                COMMON_TRAITS.contains(&&*bound.name) || self.has_bound(ty, &bound.name)
            }
            (None, Ty::Tuple(_)) => COMMON_TRAITS.contains(&&*bound.name),
            (None, Ty::Function(_)) => bound.name.starts_with("Fn"),
            (None, Ty::Library(name, _)) if library::is_data(name) => {
                COMMON_TRAITS.contains(&&*bound.name) || library::data_type_has_trait(name, &bound.name)
            }
            (None, _) => !bound.name.starts_with("Fn"),
        })
    }

    /// Returns whether a type parameter or trait object has a trait by this name.
    pub(super) fn has_bound(&self, ty: &Ty, name: &str) -> bool {
        match ty {
            Ty::Param(parameter) => self.bounds_of(*parameter).iter().any(|bound| &*bound.name == name),
            Ty::Bounds(bounds) => bounds.iter().any(|bound| &*bound.name == name),
            _ => false,
        }
    }

    /// Returns whether a type of the view implements an external trait.
    pub(super) fn implements_external(&self, ty: &Ty, name: &str) -> bool {
        let Ty::Item(at, _) = ty else { return false };
        let own = self.symbol(*at, |symbol| symbol.name.clone()).unwrap_or_default();
        self.implements_by(&own, ty, &|bound| bound.symbol.is_none() && &*bound.name == name)
    }

    /// Returns a trait as a bound without arguments.
    pub(super) fn bound_of(&self, at: SymbolAt) -> Bound {
        let name = self.symbol(at, |symbol| symbol.name.as_str().into()).unwrap_or_else(|| "".into());
        Bound { symbol: Some(at), name, arguments: [].into(), associated: [].into() }
    }

    /// Returns the traits of the view among these, and their supertraits, nearest first.
    pub(super) fn with_supertraits(&self, bounds: &[Bound]) -> Vec<SymbolAt> {
        let mut all: Vec<SymbolAt> = bounds.iter().filter_map(|bound| bound.symbol).collect();
        let mut at = 0;
        while at < all.len() && all.len() < 100 {
            for &more in self.supertraits(all[at]).iter() {
                if !all.contains(&more) {
                    all.push(more);
                }
            }
            at += 1;
        }
        all
    }

    fn supertraits(&self, of: SymbolAt) -> Rc<[SymbolAt]> {
        self.supertraits.get_or_compute(&of, || self.find_supertraits(of).unwrap_or_else(|| [].into()))
    }

    fn find_supertraits(&self, of: SymbolAt) -> Option<Rc<[SymbolAt]>> {
        let index = self.indexed(of.file)?;
        let scope = Scope { file: of.file, symbol: index.symbol(of.ordinal).and_then(|symbol| symbol.parent) };
        let extends = index.bases(of.ordinal).iter().map(|&at| &index.facts().references[at as usize]);
        let meant = extends.filter_map(|reference| {
            let written = TypeRef::parse(reference.qualifier.map_or("", |at| index.expr_text(at)));
            let before = written.segments().iter().map(|segment| segment.name.as_str());
            let path: Vec<&str> = before.chain([index.name(reference.name)]).collect();
            match self.path(scope, &path, Space::Type)? {
                Def::Symbol(at) => Some(at),
                _ => None,
            }
        });
        Some(meant.collect())
    }
}
