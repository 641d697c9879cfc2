//! The parts of a type that stand outside of its declaration: `impl` blocks, methods in other files, merged declarations.

use codecompass_model::{Meaning, RefShape, SourceFile, Symbol, SymbolAt, SymbolKind, World};
use codecompass_store::Result;

use super::Graph;

impl Graph<'_> {
    /// Those parts, its own file's first, then by path.
    pub fn blocks_of(&self, at: SymbolAt) -> Result<Vec<SymbolAt>> {
        let Some(file) = self.file(at.file) else { return Ok(Vec::new()) };
        let Some(symbol) = file.facts.symbols.get(at.place as usize) else { return Ok(Vec::new()) };
        let mut blocks = match file.language.as_str() {
            _ if symbol.kind == SymbolKind::Impl => Vec::new(),
            "go" => self.methods_of(&file, symbol),
            "rust" => self.with_name(symbol, |other, block| self.is_block_of(other, block, at, symbol)),
            _ => self.with_name(symbol, |other, block| {
                let merged = &other.facts.symbols[block as usize];
                let is_same = merged.qualified_name == symbol.qualified_name && merged.parent == symbol.parent;
                other.id == at.file && block != at.place && is_same && is_open(symbol.kind) && is_open(merged.kind)
            }),
        };
        self.failure()?;
        blocks.sort_by_key(|block| block.file != at.file);
        Ok(blocks)
    }

    /// The type to which a method belongs that stands outside of it.
    pub fn owner_of(&self, at: SymbolAt) -> Option<SymbolAt> {
        let file = self.file(at.file).filter(|file| file.language == "go")?;
        let method = file.facts.symbols.get(at.place as usize).filter(|symbol| symbol.kind == SymbolKind::Method)?;
        let (owner, _) = method.qualified_name.rsplit_once('.').filter(|_| method.parent.is_none())?;
        let named = self.world.symbols_named(owner.rsplit('.').next()?);
        named.iter().copied().find(|at| {
            let Some(other) = self.file(at.file).filter(|other| folder(&other.path) == folder(&file.path)) else {
                return false;
            };
            let symbol = other.facts.symbols.get(at.place as usize);
            symbol.is_some_and(|symbol| symbol.qualified_name == owner && symbol.parent.is_none())
        })
    }

    /// The symbols with the name of this one that pass.
    fn with_name(&self, symbol: &Symbol, passes: impl Fn(&SourceFile, u32) -> bool) -> Vec<SymbolAt> {
        let named = self.world.symbols_named(&symbol.name);
        let passes = |at: &SymbolAt| {
            let file = self.file(at.file);
            file.is_some_and(|file| (at.place as usize) < file.facts.symbols.len() && passes(&file, at.place))
        };
        named.iter().copied().filter(passes).collect()
    }

    /// Whether a block of Rust is about a type: by what the name in its head means, or, when nobody can tell, because
    /// its file sees no other type of that name.
    fn is_block_of(&self, file: &SourceFile, block: u32, at: SymbolAt, symbol: &Symbol) -> bool {
        let head = &file.facts.symbols[block as usize];
        if file.language != "rust" || head.kind != SymbolKind::Impl {
            return false;
        }
        if file.id == at.file && head.parent == symbol.parent && head.qualified_name == symbol.qualified_name {
            return true;
        }
        let is_head = |name: &str, shape: RefShape, from: Option<u32>, line: u32| {
            name == symbol.name && shape == RefShape::Type && from == Some(block) && line == head.name_line
        };
        let mut references = file.facts.references.iter().enumerate();
        let named = references.find(|(_, reference)| {
            let name = file.facts.names.get(reference.name as usize).map_or("", String::as_str);
            is_head(name, reference.shape, reference.symbol, reference.line)
        });
        match named.map(|(reference, _)| self.meaning(file, reference as u32)) {
            Some(Meaning::Symbols { targets, .. }) => targets.contains(&at),
            Some(Meaning::Unknown(_)) | None => {
                let bearers = self.with_name(symbol, |other, place| {
                    let kind = other.facts.symbols[place as usize].kind;
                    other.language == "rust" && is_type(kind)
                });
                bearers == [at]
            }
            Some(_) => false,
        }
    }

    /// The methods of a type of Go, in all files of its package.
    fn methods_of(&self, file: &SourceFile, symbol: &Symbol) -> Vec<SymbolAt> {
        let start = format!("{}.", symbol.qualified_name);
        let is_method = |other: &Symbol| {
            let rest = other.qualified_name.strip_prefix(&start);
            other.kind == SymbolKind::Method && other.parent.is_none() && rest.is_some_and(|rest| !rest.contains('.'))
        };
        let mut methods = Vec::new();
        for id in self.world.files_in(folder(&file.path)).iter() {
            let Some(other) = self.file(*id).filter(|other| other.language == file.language) else { continue };
            let found = other.facts.symbols.iter().enumerate().filter(|(_, symbol)| is_method(symbol));
            methods.extend(found.map(|(place, _)| SymbolAt { file: *id, place: place as u32 }));
        }
        methods
    }
}

/// Whether a declaration of this kind may be merged with another of its name.
fn is_open(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Enum, Fn, Interface, Module, Namespace};
    matches!(kind, Class | Enum | Fn | Interface | Module | Namespace)
}

fn is_type(kind: SymbolKind) -> bool {
    use SymbolKind::{Enum, Struct, Trait, Type, Union};
    matches!(kind, Enum | Struct | Trait | Type | Union)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
