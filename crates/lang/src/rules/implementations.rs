//! Finds the functions that override a declared one.

use codecompass_model::{Flags, SymbolAt, SymbolKind, Visibility};

use super::engine::Engine;
use super::types::Type;

impl Engine<'_> {
    /// Returns the methods of subtypes with the name and the number of parameters of a declared method.
    pub(super) fn find_overrides(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(declared.file) else { return Vec::new() };
        let Some(method) = file.symbol(declared.ordinal).filter(|of| of.kind == SymbolKind::Method) else {
            return Vec::new();
        };
        let Some(place) = method.parent.filter(|&parent| self.enclosing_type(&file, Some(parent)) == Some(parent))
        else {
            return Vec::new();
        };
        let of = SymbolAt { file: declared.file, ordinal: place };
        if !self.is_overridable(declared) {
            return Vec::new();
        }
        let arity = self.arity(declared);
        let named = self.symbols_named(&method.name);
        let is_one = |&at: &SymbolAt| {
            at != declared
                && !self.library().has(at.file)
                && self.kind(at) == Some(SymbolKind::Method)
                && self.arity(at) == arity
                && self.is_overridable(at)
                && self.is_in_subtype(at, of)
                && self.may_override(at, declared, of)
        };
        named.iter().copied().filter(is_one).collect()
    }

    /// Returns whether a method is an instance method and not private.
    fn is_overridable(&self, at: SymbolAt) -> bool {
        let file = self.file(at.file);
        let symbol = file.as_ref().and_then(|file| file.symbol(at.ordinal));
        symbol.is_some_and(|of| !of.flags.has(Flags::STATIC) && of.visibility != Some(Visibility::Private))
    }

    /// Returns whether the parameter types of a method may equal those of the declared one, as its type sees them.
    fn may_override(&self, method: SymbolAt, declared: SymbolAt, of: SymbolAt) -> bool {
        let Some(file) = self.file(method.file) else { return false };
        let Some(class) = self.enclosing_type(&file, Some(method.ordinal)) else { return false };
        let bases = self.bases(SymbolAt { file: method.file, ordinal: class });
        let seen = bases.iter().find_map(|base| self.as_supertype(base, of));
        let with = match &seen {
            Some(Type::Named(at, arguments)) => self.arguments(*at, arguments),
            _ => return false,
        };
        let (Type::Func(own), Type::Func(wanted)) = (self.symbol_type(method), self.symbol_type(declared).with(&with))
        else {
            return true;
        };
        own.params.iter().zip(&wanted.params).all(|pair| match pair {
            (Type::Named(own, _), Type::Named(wanted, _)) => own == wanted,
            (Type::Basic(own), Type::Basic(wanted)) => own == wanted,
            (Type::Basic(_), Type::Named(..)) | (Type::Named(..), Type::Basic(_)) => false,
            _ => true,
        })
    }

    fn arity(&self, at: SymbolAt) -> Option<usize> {
        match self.symbol_type(at) {
            Type::Func(of) => Some(of.params.len()),
            _ => None,
        }
    }

    /// Returns whether the enclosing type of a method is a subtype of another.
    fn is_in_subtype(&self, method: SymbolAt, of: SymbolAt) -> bool {
        let Some(file) = self.file(method.file) else { return false };
        let Some(class) = self.enclosing_type(&file, Some(method.ordinal)) else { return false };
        let class = SymbolAt { file: method.file, ordinal: class };
        class != of && self.bases(class).iter().any(|base| self.as_supertype(base, of).is_some())
    }
}
