//! Modules: the file or block of a `mod` item, and the module that a file belongs to.

use codecompass_model::{SymbolAt, SymbolKind, VersionId};

use super::RustResolver;
use super::cfg;
use super::crates::join;

/// A scope that declares names: a file, or a symbol in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scope {
    pub(super) file: VersionId,
    pub(super) symbol: Option<u32>,
}

/// The maximum nesting of modules.
const MAX_DEPTH: usize = 64;

impl RustResolver<'_> {
    /// Returns the enclosing module of a scope.
    pub(super) fn module_of(&self, scope: Scope) -> Scope {
        let Some(index) = self.indexed(scope.file) else { return scope };
        Scope { file: scope.file, symbol: index.nearest_ancestor(scope.symbol, &[SymbolKind::Module]) }
    }

    /// Returns the parent module of a module.
    pub(super) fn parent(&self, module: Scope) -> Option<Scope> {
        if let Some(symbol) = module.symbol {
            let above = self.indexed(module.file)?.symbol(symbol)?.parent;
            return Some(self.module_of(Scope { file: module.file, symbol: above }));
        }
        self.parents.get_or_compute(&module.file, || self.declaring(module.file))
    }

    /// Returns the root of the crate that a module belongs to.
    pub(super) fn root(&self, module: Scope) -> Scope {
        let mut at = self.module_of(module);
        for _ in 0..MAX_DEPTH {
            match self.parent(at) {
                Some(above) => at = above,
                None => break,
            }
        }
        at
    }

    /// Returns whether a module is the other one or inside it.
    pub(super) fn is_within(&self, inner: Scope, outer: Scope) -> bool {
        let mut at = Some(self.module_of(inner));
        for _ in 0..MAX_DEPTH {
            match at {
                Some(module) if module == outer => return true,
                Some(module) => at = self.parent(module),
                None => return false,
            }
        }
        false
    }

    /// Returns the module that a `mod` item declares.
    pub(super) fn declared_module(&self, at: SymbolAt) -> Option<Scope> {
        let index = self.indexed(at.file)?;
        let symbol = index.symbol(at.ordinal)?;
        let text = self.world.text(at.file)?;
        if symbol.span.text(&text).ends_with('}') {
            return Some(Scope { file: at.file, symbol: Some(at.ordinal) });
        }
        let path = &index.file.path;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let attributes = text.get(symbol.outer_start as usize..symbol.span.start as usize).unwrap_or("");
        let outer: Vec<&str> = index
            .ancestors(symbol.parent)
            .filter_map(|at| index.symbol(at))
            .filter(|around| around.kind == SymbolKind::Module)
            .map(|around| around.name.as_str())
            .collect();
        let inner = outer.iter().rev().fold(String::new(), |path, name| format!("{path}/{name}"));
        if let Some(other) = path_attribute(attributes) {
            return self.file_scope(&join(folder, &format!("{inner}/{other}")));
        }
        let stem = name.strip_suffix(".rs").unwrap_or(name);
        let own =
            if stem == "mod" || self.crates.is_root(at.file) || matches!(stem, "lib" | "main") { "" } else { stem };
        let base = join(folder, &format!("{own}{inner}"));
        let below = symbol.name.trim_start_matches("r#");
        self.file_scope(&join(&base, &format!("{below}.rs")))
            .or_else(|| self.file_scope(&join(&base, &format!("{below}/mod.rs"))))
    }

    /// Returns whether a symbol exists in a default build.
    pub(super) fn is_active(&self, at: SymbolAt) -> bool {
        let Some(index) = self.indexed(at.file) else { return true };
        let Some(symbol) = index.symbol(at.ordinal) else { return true };
        if symbol.outer_start == symbol.span.start {
            return true;
        }
        let Some(text) = self.world.text(at.file) else { return true };
        let attributes = text.get(symbol.outer_start as usize..symbol.span.start as usize).unwrap_or("");
        if !attributes.contains("cfg(") {
            return true;
        }
        let root = self.root(Scope { file: at.file, symbol: None }).file;
        cfg::is_enabled(attributes, &|feature| self.crates.has_feature(root, feature))
    }

    fn file_scope(&self, path: &str) -> Option<Scope> {
        self.world.file_at(path).map(|file| Scope { file, symbol: None })
    }

    /// Returns the module with the `mod` item for a file.
    fn declaring(&self, file: VersionId) -> Option<Scope> {
        if self.crates.is_root(file) {
            return None;
        }
        let path = self.indexed(file)?.file.path.clone();
        let (mut folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let mut stem = name.strip_suffix(".rs")?;
        if stem == "mod" {
            (folder, stem) = folder.rsplit_once('/').unwrap_or(("", folder));
        }
        let usual = [join(folder, "mod.rs"), format!("{folder}.rs"), join(folder, "lib.rs"), join(folder, "main.rs")];
        let near = usual.iter().filter_map(|path| self.world.file_at(path));
        let beside = self.world.files_in(folder);
        let above = self.world.files_in(folder.rsplit_once('/').map_or("", |(above, _)| above));
        let roots = beside.iter().copied().filter(|&id| self.crates.is_root(id));
        let first = near.chain(roots).find_map(|above| self.declares(above, file, Some(stem)));
        first.or_else(|| beside.iter().chain(above.iter()).find_map(|&above| self.declares(above, file, None)))
    }

    /// Returns the module of `above` that declares this file, by this name or by an explicit path.
    fn declares(&self, above: VersionId, file: VersionId, name: Option<&str>) -> Option<Scope> {
        if above == file || !self.world.file(above)?.path.ends_with(".rs") {
            return None;
        }
        let index = self.indexed(above)?;
        let declared = |place: u32| {
            let symbol = index.symbol(place).filter(|symbol| symbol.kind == SymbolKind::Module)?;
            let found = self.declared_module(SymbolAt { file: above, ordinal: place })?;
            let here = Scope { file: above, symbol: symbol.parent };
            (found == Scope { file, symbol: None }).then(|| self.module_of(here))
        };
        match name {
            Some(name) => index.named(None, name).iter().find_map(|&place| declared(place)),
            None => (0..index.facts().symbols.len() as u32).find_map(declared),
        }
    }
}

fn path_attribute(attributes: &str) -> Option<&str> {
    let (_, rest) = attributes.split_once("path")?;
    rest.trim_start().strip_prefix('=')?.split('"').nth(1)
}
