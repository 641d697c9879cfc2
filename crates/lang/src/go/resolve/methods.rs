//! Finds the methods of a type, anywhere in its package.

use codecompass_model::{Symbol, SymbolAt, SymbolKind, World};

/// Returns the methods of a type, in all files of its package.
pub(super) fn methods_of(world: &dyn World, declared: SymbolAt) -> Vec<SymbolAt> {
    let Some(file) = world.file(declared.file) else { return Vec::new() };
    let Some(symbol) = file.facts.symbols.get(declared.ordinal as usize) else { return Vec::new() };
    let start = format!("{}.", symbol.qualified_name);
    let is_method = |other: &Symbol| {
        let rest = other.qualified_name.strip_prefix(&start);
        other.kind == SymbolKind::Method && other.parent.is_none() && rest.is_some_and(|rest| !rest.contains('.'))
    };
    let mut methods = Vec::new();
    for id in world.files_in(folder(&file.path)).iter() {
        let Some(other) = world.file(*id).filter(|other| other.language == file.language) else { continue };
        let found = other.facts.symbols.iter().enumerate().filter(|(_, symbol)| is_method(symbol));
        methods.extend(found.map(|(place, _)| SymbolAt { file: *id, ordinal: place as u32 }));
    }
    methods
}

/// Returns the type that a method is declared for.
pub(super) fn owner_of(world: &dyn World, part: SymbolAt) -> Option<SymbolAt> {
    let file = world.file(part.file)?;
    let method = file.facts.symbols.get(part.ordinal as usize).filter(|symbol| symbol.kind == SymbolKind::Method)?;
    let (owner, _) = method.qualified_name.rsplit_once('.').filter(|_| method.parent.is_none())?;
    let named = world.symbols_named(owner.rsplit('.').next()?);
    named.iter().copied().find(|at| {
        let Some(other) = world.file(at.file).filter(|other| folder(&other.path) == folder(&file.path)) else {
            return false;
        };
        let symbol = other.facts.symbols.get(at.ordinal as usize);
        symbol.is_some_and(|symbol| symbol.qualified_name == owner && symbol.parent.is_none())
    })
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
