//! Finds the `impl` blocks of a type, in any file.

use codecompass_model::{RefShape, Resolution, Resolver, SourceFile, Symbol, SymbolAt, SymbolKind};

use super::RustResolver;
use crate::resolve::merged::symbols_with_name;

impl RustResolver<'_> {
    /// Returns the `impl` blocks of a type.
    pub(super) fn blocks_of(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.world.file(declared.file) else { return Vec::new() };
        let Some(symbol) = file.facts.symbols.get(declared.ordinal as usize) else { return Vec::new() };
        if symbol.kind == SymbolKind::Impl {
            return Vec::new();
        }
        symbols_with_name(&*self.world, symbol, |other, block| self.is_block_of(other, block, declared, symbol))
    }

    /// Returns whether a block is for a type: because the name in its header resolves to it, or, if that is unresolved,
    /// because its file sees no other type of that name.
    fn is_block_of(&self, file: &SourceFile, block: u32, at: SymbolAt, symbol: &Symbol) -> bool {
        let head = &file.facts.symbols[block as usize];
        if !is_rust(file) || head.kind != SymbolKind::Impl {
            return false;
        }
        if file.id == at.file && head.parent == symbol.parent && head.qualified_name == symbol.qualified_name {
            return true;
        }
        let is_head = |name: &str, shape: RefShape, from: Option<u32>, line: u32| {
            name == symbol.name && shape == RefShape::Type && from == Some(block) && line == head.name_line
        };
        let mut references = file.facts.references.iter().enumerate();
        let found = references.find(|(_, reference)| {
            let name = file.facts.names.get(reference.name as usize).map_or("", String::as_str);
            is_head(name, reference.shape, reference.symbol, reference.line)
        });
        match found.map(|(reference, _)| self.resolve_reference(file.id, reference as u32)) {
            Some(Resolution::Symbols { targets, .. }) => targets.contains(&at),
            Some(Resolution::Unknown(_)) | None => {
                let is_type = |other: &SourceFile, place: u32| {
                    is_rust(other) && is_type(other.facts.symbols[place as usize].kind)
                };
                symbols_with_name(&*self.world, symbol, is_type) == [at]
            }
            Some(_) => false,
        }
    }
}

fn is_rust(file: &SourceFile) -> bool {
    file.language == crate::rust::LANGUAGE.name
}

fn is_type(kind: SymbolKind) -> bool {
    use SymbolKind::{Enum, Struct, Trait, Type, Union};
    matches!(kind, Enum | Struct | Trait | Type | Union)
}
