//! Finds the methods that implement a method of an interface.
//!
//! A type implements an interface if it has all its methods, by name and by the number of parameters and results. The
//! types themselves are not compared: two spellings of one type are hard to distinguish from two types.

use codecompass_model::{SymbolAt, SymbolKind};

use super::GoResolver;
use super::members::Member;
use super::types::Type;

/// The maximum number of methods, own and embedded, by which an interface is compared.
const MAX_METHODS: usize = 40;

impl GoResolver<'_> {
    /// Returns the methods of types that implement the interface of a declared method.
    pub(super) fn find_implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(declared.file) else { return Vec::new() };
        let Some(method) = file.symbol(declared.ordinal).filter(|symbol| symbol.kind == SymbolKind::Method) else {
            return Vec::new();
        };
        let parent =
            method.parent.filter(|&parent| file.symbol(parent).is_some_and(|of| of.kind == SymbolKind::Interface));
        let Some(parent) = parent else { return Vec::new() };
        let interface = SymbolAt { file: declared.file, ordinal: parent };
        let wanted = self.interface_methods(interface);
        let named = self.world.symbols_named(&method.name);
        named.iter().copied().filter(|&at| self.implements(at, &wanted)).collect()
    }

    fn implements(&self, at: SymbolAt, wanted: &[SymbolAt]) -> bool {
        let Some(file) = self.file(at.file).filter(|file| file.file.language == "go") else { return false };
        if file.symbol(at.ordinal).is_none_or(|symbol| symbol.owner.is_none()) {
            return false;
        }
        let Some(of) = self.receiver_of(&file, at.ordinal) else { return false };
        wanted.iter().all(|&wanted| {
            let Some(declared) = self.file(wanted.file) else { return false };
            let Some(symbol) = declared.symbol(wanted.ordinal) else { return false };
            match self.member(&Type::named(of), &symbol.name) {
                Member::Methods(_, own) => same_shape(&own, &self.symbol_type(wanted)),
                // An embedded external type may have it.
                Member::External | Member::Unknown => true,
                _ => false,
            }
        })
    }

    /// Returns the methods of an interface and of those it embeds, as far as they are in the view.
    fn interface_methods(&self, interface: SymbolAt) -> Vec<SymbolAt> {
        let mut seen = vec![interface];
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(&next) = seen.get(at) {
            at += 1;
            let Some(file) = self.file(next.file) else { continue };
            let methods = file.members(next.ordinal).filter(|(_, symbol)| symbol.kind == SymbolKind::Method);
            found.extend(methods.map(|(place, _)| SymbolAt { file: next.file, ordinal: place }));
            for embedded in self.embedded_interfaces(&file, next.ordinal) {
                if let Type::Named(of, _) = embedded
                    && !seen.contains(&of)
                    && seen.len() < MAX_METHODS
                {
                    seen.push(of);
                }
            }
        }
        found.truncate(MAX_METHODS);
        found
    }
}

fn same_shape(own: &Type, wanted: &Type) -> bool {
    match (own, wanted) {
        (Type::Func(own), Type::Func(wanted)) => {
            (own.params.len(), own.results.len(), own.variadic)
                == (wanted.params.len(), wanted.results.len(), wanted.variadic)
        }
        _ => false,
    }
}
