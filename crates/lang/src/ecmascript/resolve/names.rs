//! Resolves names in their scope: local bindings, declarations of the enclosing symbols, imports, globals.

use codecompass_model::{BindingKind, Symbol, SymbolAt, SymbolKind, VersionId};

use super::EcmaResolver;
use super::index::{Index, is_member};
use super::types::Scope;

/// The namespace of a lookup: types and values are separate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Space {
    Value,
    Type,
}

/// The target of a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NameTarget {
    /// A local binding of a file.
    Local(VersionId, u32),
    /// Symbols that are one entity.
    Symbols(Vec<SymbolAt>),
    /// All exports of a file.
    Module(VersionId),
    /// Something external.
    External,
    /// No known name of the view.
    Unresolved,
}

impl EcmaResolver<'_> {
    /// Resolves a name at a site.
    pub(super) fn name(&self, scope: &Scope, name: &str, space: Space) -> NameTarget {
        let Some(index) = self.index(scope.file) else { return NameTarget::Unresolved };
        if let Some(at) = index.visible_binding(name, scope.symbol, scope.line, space == Space::Type) {
            let binding = index.file.facts.bindings.get(at as usize);
            let is_nearer = |binding: Option<u32>| {
                let depth = |around| index.chain(scope.symbol).position(|at| at == around).unwrap_or(usize::MAX);
                let declared = self.declared_around(&index, scope, name, space);
                declared.is_none_or(|(around, _)| depth(binding) <= depth(around))
            };
            if binding.is_some_and(|binding| binding.kind != BindingKind::TypeParam || is_nearer(binding.symbol)) {
                return NameTarget::Local(scope.file, at);
            }
        }
        self.nonlocal_target(&index, scope, name, space)
    }

    /// Resolves a name that is not local.
    pub(super) fn nonlocal_target(&self, index: &Index, scope: &Scope, name: &str, space: Space) -> NameTarget {
        if let Some((_, places)) = self.declared_around(index, scope, name, space) {
            let at = |place| SymbolAt { file: scope.file, ordinal: place };
            return NameTarget::Symbols(places.into_iter().map(at).collect());
        }
        let chain: Vec<Option<u32>> = index.chain(scope.symbol).collect();
        let import = index.imports_named(name).iter().rev().find(|&&at| {
            let import = index.file.facts.imports.get(at as usize);
            import.is_some_and(|import| chain.contains(&import.symbol))
        });
        match import {
            Some(&at) => self.imported(scope.file, at, space),
            None => self.alias(index, name, scope, space).unwrap_or_else(|| {
                // In oddly indented code, an enclosing declaration may seem out of scope.
                let is_declared = chain.iter().any(|&around| !index.named(around, name).is_empty());
                if is_declared { NameTarget::Unresolved } else { self.global(name, space) }
            }),
        }
    }

    /// Resolves the alias of `import a = B.C`.
    fn alias(&self, index: &Index, name: &str, scope: &Scope, space: Space) -> Option<NameTarget> {
        let path = index.alias(name)?;
        let first = path.split('.').next().unwrap_or("");
        if first == name {
            return None;
        }
        // Its first name may be another alias, and the aliases may be cyclic.
        Some(self.query_stack.with_depth_limit(NameTarget::Unresolved, || self.path(scope, path, space)))
    }

    /// Returns the declarations of a name in the enclosing symbols of a site, and the symbol that contains them.
    fn declared_around(
        &self,
        index: &Index,
        scope: &Scope,
        name: &str,
        space: Space,
    ) -> Option<(Option<u32>, Vec<u32>)> {
        let fitting = |&&place: &&u32| {
            index.symbol(place).is_some_and(|symbol| !is_member(symbol.kind) && is_in_space(symbol, space))
        };
        index.chain(scope.symbol).find_map(|around| {
            let found: Vec<u32> = index.named(around, name).iter().filter(fitting).copied().collect();
            let mut found = self.visible(index, around, found, scope.line);
            if found.is_empty() {
                let others = merged_namespaces(index, around).into_iter();
                found = others.flat_map(|other| index.named(Some(other), name)).filter(fitting).copied().collect();
            }
            (!found.is_empty()).then_some((around, found))
        })
    }

    /// Returns those of several symbols of one name that are visible on a line. Blocks and callbacks are no symbols, so
    /// indentation determines where they end.
    fn visible(&self, index: &Index, around: Option<u32>, places: Vec<u32>, line: u32) -> Vec<u32> {
        if places.is_empty() {
            return places;
        }
        let lines = index.lines(&*self.world);
        let indent = |line: u32| lines.indent(line);
        let start = |place: u32| index.symbol(place).map_or(0, |symbol| symbol.lines.start);
        let own = |place: u32| indent(start(place)).unwrap_or(0);
        let floor = around.and_then(|at| index.symbol(at)).and_then(|symbol| indent(symbol.lines.start));
        // The common case: everything is directly in the file.
        if floor.is_none() && places.iter().all(|&place| own(place) == 0) {
            return places;
        }
        let is_open = |place: u32| {
            let (from, to) = (start(place).min(line), start(place).max(line));
            (from + 1..to).all(|line| indent(line).is_none_or(|indent| indent >= own(place)))
                && indent(line).is_none_or(|indent| indent >= own(place))
        };
        let seen: Vec<u32> = places.iter().copied().filter(|&place| is_open(place)).collect();
        let Some(deepest) = seen.iter().map(|&place| own(place)).max() else {
            // Badly indented code: inside a function, the nearest one is the most likely target.
            let before = places.iter().copied().rfind(|&place| start(place) <= line);
            return before.filter(|_| floor.is_some()).into_iter().collect();
        };
        seen.into_iter().filter(|&place| own(place) == deepest).collect()
    }

    /// Resolves a name without a declaration in the file: one of the language, or one declared for all files.
    fn global(&self, name: &str, space: Space) -> NameTarget {
        let key = (name.to_owned(), space);
        self.globals.get_or_compute(&key, || {
            let found = self.world.symbols_named(name);
            let declared: Vec<SymbolAt> = found.iter().copied().filter(|&at| self.is_global(at, space)).collect();
            match declared.is_empty() {
                true if found.iter().any(|&at| self.is_script_level(at)) => NameTarget::Unresolved,
                true => NameTarget::External,
                false => NameTarget::Symbols(declared),
            }
        })
    }

    /// Returns whether a symbol is at file level of a script: a file that is no module shares its names with all
    /// scripts that are loaded with it.
    fn is_script_level(&self, at: SymbolAt) -> bool {
        let Some(index) = self.index(at.file) else { return false };
        let is_exported = |symbol: &Symbol| symbol.visibility_text.is_some();
        let is_alone =
            index.symbol(at.ordinal).is_some_and(|symbol| symbol.parent.is_none() && !is_member(symbol.kind));
        is_alone && index.file.facts.imports.is_empty() && !index.file.facts.symbols.iter().any(is_exported)
    }

    /// Returns whether a symbol is in `declare global`, or at file level of declarations that are no module.
    fn is_global(&self, at: SymbolAt, space: Space) -> bool {
        let Some(index) = self.index(at.file) else { return false };
        let Some(symbol) = index.symbol(at.ordinal).filter(|symbol| is_in_space(symbol, space)) else { return false };
        match symbol.parent.and_then(|parent| index.symbol(parent)) {
            Some(parent) => parent.kind == SymbolKind::Namespace && parent.name == "global" && !is_member(symbol.kind),
            None => {
                index.file.path.ends_with(".d.ts") && index.file.facts.imports.is_empty() && !is_member(symbol.kind)
            }
        }
    }

    /// Resolves a dotted path, from its first name on.
    pub(super) fn path(&self, scope: &Scope, path: &str, space: Space) -> NameTarget {
        let mut parts = path.split('.').map(str::trim);
        let first = parts.next().unwrap_or("");
        let rest: Vec<&str> = parts.collect();
        if rest.is_empty() {
            return self.name(scope, first, space);
        }
        let mut target = self.name(scope, first, Space::Value);
        if !matches!(target, NameTarget::Module(_) | NameTarget::Symbols(_) | NameTarget::Local(..)) {
            target = self.name(scope, first, Space::Type);
        }
        for (at, part) in rest.iter().enumerate() {
            let wanted = if at + 1 == rest.len() { space } else { Space::Value };
            target = self.inner(target, part, wanted);
        }
        target
    }

    /// Resolves a name in a module or namespace.
    fn inner(&self, target: NameTarget, name: &str, space: Space) -> NameTarget {
        match target {
            NameTarget::Module(file) => self.export(file, name, space),
            NameTarget::Symbols(symbols) => {
                let found: Vec<SymbolAt> =
                    symbols.iter().flat_map(|&around| self.namespaced(around, name, space)).collect();
                if found.is_empty() { NameTarget::Unresolved } else { NameTarget::Symbols(found) }
            }
            NameTarget::External => NameTarget::External,
            _ => NameTarget::Unresolved,
        }
    }

    /// Returns the members of a namespace, an enum or a class with this name.
    fn namespaced(&self, around: SymbolAt, name: &str, space: Space) -> Vec<SymbolAt> {
        let Some(index) = self.index(around.file) else { return Vec::new() };
        let children = index.named(Some(around.ordinal), name).iter();
        let fitting = |&&place: &&u32| index.symbol(place).is_some_and(|symbol| is_in_space(symbol, space));
        children.filter(fitting).map(|&place| SymbolAt { file: around.file, ordinal: place }).collect()
    }
}

/// Returns the other declarations of a namespace in the file; all of them share their exported names.
fn merged_namespaces(index: &Index, at: Option<u32>) -> Vec<u32> {
    let is_namespace = |place: u32| index.symbol(place).is_some_and(|symbol| symbol.kind == SymbolKind::Namespace);
    let Some((at, symbol)) = at.filter(|&at| is_namespace(at)).and_then(|at| Some((at, index.symbol(at)?))) else {
        return Vec::new();
    };
    let same = index.named(symbol.parent, &symbol.name).iter().copied();
    same.filter(|&place| place != at && is_namespace(place)).collect()
}

/// Returns whether a symbol is in the namespace of types, or of values.
pub(super) fn is_in_space(symbol: &Symbol, space: Space) -> bool {
    use SymbolKind::{Class, Enum, Interface, Module, Namespace, Type, Use, Variant};
    match space {
        Space::Type => matches!(symbol.kind, Class | Enum | Interface | Namespace | Type | Variant),
        Space::Value => !matches!(symbol.kind, Interface | Type | Use | Module),
    }
}
