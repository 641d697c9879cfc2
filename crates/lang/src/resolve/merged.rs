//! Declarations of one name that are merged: an interface that is declared twice, a class and a namespace of its name.

use codecompass_model::{SourceFile, Symbol, SymbolAt, SymbolKind, World};

/// Returns the other declarations of a symbol in its file, where the language merges those of one name.
pub(crate) fn merged(world: &dyn World, at: SymbolAt) -> Vec<SymbolAt> {
    let Some(file) = world.file(at.file) else { return Vec::new() };
    let Some(symbol) = file.facts.symbols.get(at.ordinal as usize) else { return Vec::new() };
    symbols_with_name(world, symbol, |other, place| {
        let merged = &other.facts.symbols[place as usize];
        let is_same = merged.qualified_name == symbol.qualified_name && merged.parent == symbol.parent;
        other.id == at.file && place != at.ordinal && is_same && is_mergeable(symbol.kind) && is_mergeable(merged.kind)
    })
}

/// Returns the symbols with the name of this one that pass the filter.
pub(crate) fn symbols_with_name(
    world: &dyn World,
    symbol: &Symbol,
    passes: impl Fn(&SourceFile, u32) -> bool,
) -> Vec<SymbolAt> {
    let passes = |at: &SymbolAt| {
        let file = world.file(at.file);
        file.is_some_and(|file| (at.ordinal as usize) < file.facts.symbols.len() && passes(&file, at.ordinal))
    };
    world.symbols_named(&symbol.name).iter().copied().filter(passes).collect()
}

/// Returns whether a declaration of this kind may be merged with another of its name.
fn is_mergeable(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Enum, Fn, Interface, Module, Namespace};
    matches!(kind, Class | Enum | Fn | Interface | Module | Namespace)
}
