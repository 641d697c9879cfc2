//! Finds the methods that implement or override a declared one.

use std::rc::Rc;

use codecompass_model::{SymbolAt, SymbolKind};

use super::EcmaResolver;
use super::index::{Index, is_member};
use super::members::header_after_name;
use super::split;
use super::types::Type;

/// The maximum number of supertypes to follow.
const MAX_ANCESTORS: usize = 16;

impl EcmaResolver<'_> {
    /// Returns members of the same name in subclasses and subinterfaces of a member's type, by path and index.
    pub(super) fn find_implementations(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        let Some(index) = self.index(declared.file) else { return Vec::new() };
        let Some(symbol) = index.symbol(declared.ordinal).filter(|symbol| is_member(symbol.kind)) else {
            return Vec::new();
        };
        let Some(owner) = symbol.parent.map(|place| SymbolAt { file: declared.file, ordinal: place }) else {
            return Vec::new();
        };
        if symbol.kind == SymbolKind::Constructor {
            return Vec::new();
        }
        let named = self.world.symbols_named(&symbol.name);
        named.iter().copied().filter(|&at| at != declared && self.is_in_subtype(at, owner)).collect()
    }

    /// Returns whether a member is in a type that names the other one as a supertype.
    fn is_in_subtype(&self, member: SymbolAt, above: SymbolAt) -> bool {
        let Some(index) = self.index(member.file) else { return false };
        let Some(symbol) = index.symbol(member.ordinal).filter(|symbol| is_member(symbol.kind)) else { return false };
        let Some(class) = symbol.parent.map(|place| SymbolAt { file: member.file, ordinal: place }) else {
            return false;
        };
        let (mut open, mut seen) = (vec![class], vec![class]);
        for _ in 0..MAX_ANCESTORS {
            let next: Vec<SymbolAt> = open.iter().flat_map(|&class| self.direct_supertypes(class)).collect();
            if next.contains(&above) {
                return class != above;
            }
            open = next.into_iter().filter(|class| !seen.contains(class)).collect();
            seen.extend(&open);
        }
        false
    }

    /// Returns the classes and interfaces that a class or interface extends or implements.
    fn direct_supertypes(&self, of: SymbolAt) -> Vec<SymbolAt> {
        let Some(index) = self.index(of.file) else { return Vec::new() };
        let types = self.bases(&index, of, &Rc::from([])).into_iter().chain(self.implemented(&index, of));
        let symbol = |found: Type| match found {
            Type::Instance(symbol, _) => Some(symbol),
            _ => None,
        };
        types.filter_map(symbol).collect()
    }

    fn implemented(&self, index: &Index, of: SymbolAt) -> Vec<Type> {
        let Some(symbol) = index.symbol(of.ordinal) else { return Vec::new() };
        let header = header_after_name(index, symbol);
        let Some(at) = split::find(header, true, |rest| split::after_keyword(rest, "implements").is_some()) else {
            return Vec::new();
        };
        let scope = self.scope_in(of, symbol, &Rc::from([]));
        let list = split::split_top_level(&header[at + "implements".len()..], true, ",");
        list.into_iter().map(|one| self.type_from_text(one, &scope)).collect()
    }
}
