//! Declarations of one name that are merged: an interface that is declared twice, a class and a namespace of its name.

use codecompass_model::{SourceFile, Symbol, SymbolAt, SymbolKind, World};

/// Returns the other declarations of a symbol in its file, where the language merges those of one name.
pub(crate) fn merged(world: &dyn World, at: SymbolAt) -> Vec<SymbolAt> {
    let Some(file) = world.file(at.file) else { return Vec::new() };
    let Some(symbol) = file.facts.symbols.get(at.place as usize) else { return Vec::new() };
    named(world, symbol, |other, place| {
        let merged = &other.facts.symbols[place as usize];
        let is_same = merged.qualified_name == symbol.qualified_name && merged.parent == symbol.parent;
        other.id == at.file && place != at.place && is_same && is_open(symbol.kind) && is_open(merged.kind)
    })
}

/// Returns the symbols with the name of this one that pass the filter.
pub(crate) fn named(world: &dyn World, symbol: &Symbol, passes: impl Fn(&SourceFile, u32) -> bool) -> Vec<SymbolAt> {
    let passes = |at: &SymbolAt| {
        let file = world.file(at.file);
        file.is_some_and(|file| (at.place as usize) < file.facts.symbols.len() && passes(&file, at.place))
    };
    world.symbols_named(&symbol.name).iter().copied().filter(passes).collect()
}

/// Returns whether a declaration of this kind may be merged with another of its name.
fn is_open(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Enum, Fn, Interface, Module, Namespace};
    matches!(kind, Class | Enum | Fn | Interface | Module | Namespace)
}
