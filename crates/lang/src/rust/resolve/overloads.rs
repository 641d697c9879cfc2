//! Selects a method among several `impl`s of a generic trait for one type (`From<A>`, `From<B>`) by its first argument.

use codecompass_model::{Flags, Reference, Resolution, SymbolAt};

use super::blocks::skip;
use super::modules::Scope;
use super::types::{Ty, TypeBindings};
use super::{RustResolver, declared_params};
use crate::rules::index::Index;

impl RustResolver<'_> {
    /// Resolves `T::name(argument)` if `T` has the name from `impl`s of generic traits.
    pub(super) fn overloaded(&self, index: &Index, reference: &Reference, ty: &Ty) -> Option<Resolution> {
        let name = index.name(reference.name);
        let all = self.generic_impls(ty, name);
        if all.is_empty() {
            return None;
        }
        let argument = self.first_argument(index, reference).filter(is_distinctive);
        let fitting = match &argument {
            None => all,
            Some(argument) => all.into_iter().filter(|&at| self.accepts_argument(at, argument)).collect(),
        };
        Some(match (fitting.as_slice(), argument) {
            // External types have more implementations than the view shows.
            (_, None) if matches!(ty, Ty::Library(..)) => Resolution::Unknown("the type of the argument is unknown"),
            ([only], _) => Resolution::proved(*only, "implementation for the argument"),
            ([], _) => Resolution::Unknown("no implementation for the argument"),
            _ => Resolution::Unknown("several implementations"),
        })
    }

    /// Returns whether a function's first parameter accepts a type.
    fn accepts_argument(&self, at: SymbolAt, argument: &Ty) -> bool {
        let Some(index) = self.indexed(at.file) else { return true };
        let is_method = index.symbol(at.ordinal).is_some_and(|symbol| symbol.flags.has(Flags::TAKES_SELF));
        let scope = Scope { file: at.file, symbol: Some(at.ordinal) };
        let pattern = match declared_params(&index, at.ordinal).next().filter(|_| !is_method) {
            Some(declared) => self.lower_text(scope, declared.annotation.map_or("", |at| index.expr_text(at))),
            None => self.converts_from(at).unwrap_or(Ty::Unknown),
        };
        let is_open = matches!(pattern, Ty::Projection(..) | Ty::Bounds(_));
        is_open || TypeBindings::default().unify(&pattern, argument, &|_| true)
    }

    /// Returns the source type of an `impl From<T>`; its parameter may have no name.
    fn converts_from(&self, at: SymbolAt) -> Option<Ty> {
        let owner = SymbolAt { file: at.file, ordinal: self.symbol(at, |symbol| symbol.parent)?? };
        let implementation = self.implementation(owner);
        let bound = implementation.of_trait.as_ref().filter(|bound| matches!(&*bound.name, "From" | "TryFrom"))?;
        bound.arguments.first().cloned()
    }

    /// Returns the type of the first argument of a call.
    fn first_argument(&self, index: &Index, reference: &Reference) -> Option<Ty> {
        let text = self.world.text(index.id())?;
        let name = index.name(reference.name);
        let open = index.lines(&*self.world).start(reference.line) + reference.column as usize + name.len();
        if !text.get(open..)?.starts_with('(') {
            return None;
        }
        let close = skip(&text, open)? - 1;
        let inside = text.get(open + 1..close)?;
        let first = super::expressions::arguments(inside).next()?;
        let start = open + 1 + (inside.len() - inside.trim_start().len());
        let scope = Scope { file: index.id(), symbol: reference.symbol };
        Some(self.value_at(index, &text, scope, start..start + first.len()))
    }
}

/// Returns whether a type is known well enough to distinguish it from others.
fn is_distinctive(ty: &Ty) -> bool {
    match ty {
        Ty::Unknown | Ty::Projection(..) => false,
        Ty::Library(name, _) => !matches!(&**name, "?" | "Iterator" | "[]"),
        _ => true,
    }
}
