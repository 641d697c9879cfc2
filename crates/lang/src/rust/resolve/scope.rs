//! Names in scope: items, imports, globs, crates, the prelude.

use std::rc::Rc;

use codecompass_model::{Flags, Import, Symbol, SymbolAt, SymbolKind, Visibility};

use super::RustResolver;
use super::modules::Scope;

/// The namespace of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    Type,
    Value,
    Macro,
}

/// The target of a name or path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Def {
    Symbol(SymbolAt),
    Module(Scope),
    /// An external item, by the last segment of its path.
    External(Rc<str>),
}

/// Names that are in scope without an import.
const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Hash",
    "Into",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
    "drop",
];

/// Words that are names only as `r#type`; parsed paths omit the `r#`.
const RESERVED: &[&str] = &[
    "as", "async", "await", "box", "const", "dyn", "else", "enum", "extern", "fn", "for", "gen", "if", "impl", "in",
    "let", "loop", "macro", "match", "mod", "move", "mut", "pub", "ref", "return", "static", "struct", "trait", "try",
    "type", "union", "unsafe", "use", "where", "while", "yield",
];

/// Types of the language itself.
pub(super) const PRIMITIVES: &[&str] = &[
    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16", "u32", "u64", "u8",
    "usize",
];

impl RustResolver<'_> {
    /// Resolves a bare name in a scope.
    pub(super) fn name(&self, scope: Scope, name: &str, space: Space) -> Option<Def> {
        let index = self.indexed(scope.file)?;
        let scopes = |at: &u32| {
            let kind = index.symbol(*at).map(|symbol| symbol.kind);
            matches!(kind, Some(SymbolKind::Fn | SymbolKind::Module | SymbolKind::Const | SymbolKind::Static))
        };
        for at in index.ancestors(scope.symbol).filter(scopes) {
            let here = Scope { file: scope.file, symbol: Some(at) };
            if let Some(found) = self.lookup(here, name, space) {
                return Some(found);
            }
            if index.symbol(at).is_some_and(|symbol| symbol.kind == SymbolKind::Module) {
                return self.lookup_outside_modules(here, name, space);
            }
        }
        let file = Scope { file: scope.file, symbol: None };
        self.lookup(file, name, space).or_else(|| self.lookup_outside_modules(file, name, space))
    }

    /// Resolves a path in a scope.
    pub(super) fn path(&self, scope: Scope, segments: &[&str], space: Space) -> Option<Def> {
        let (first, mut rest) = segments.split_first()?;
        let step = |rest: &[&str]| if rest.is_empty() { space } else { Space::Type };
        let module = self.module_of(scope);
        let mut def = match *first {
            "crate" | "$crate" => Def::Module(self.root(module)),
            "self" => Def::Module(module),
            "super" => Def::Module(self.parent(module)?),
            "" => {
                let (name, more) = rest.split_first()?;
                rest = more;
                self.library(scope, name).unwrap_or_else(|| Def::External((*name).into()))
            }
            name => match self.name(scope, name, step(rest)) {
                Some(def) => def,
                // A dependency is known by its name alone.
                None if !rest.is_empty() && !name.starts_with(char::is_uppercase) => Def::External(name.into()),
                None => return None,
            },
        };
        while let Some((segment, more)) = rest.split_first() {
            rest = more;
            def = match (&def, *segment) {
                (Def::Module(module), "super") => Def::Module(self.parent(*module)?),
                (Def::Module(_), "self") => continue,
                (_, segment) => self.step(&def, segment, step(rest))?,
            };
        }
        Some(def)
    }

    /// Resolves a name in the target of a path's prefix.
    pub(super) fn step(&self, def: &Def, name: &str, space: Space) -> Option<Def> {
        match def {
            Def::Module(module) => match self.lookup(*module, name, space) {
                None if self.has_external_glob(*module) => Some(Def::External(name.into())),
                found => found,
            },
            Def::External(_) => Some(Def::External(name.into())),
            Def::Symbol(at) => self.variant(*at, name).map(Def::Symbol),
        }
    }

    /// Returns the variant of an enum with this name.
    pub(super) fn variant(&self, of: SymbolAt, name: &str) -> Option<SymbolAt> {
        let index = self.indexed(of.file)?;
        // Constants are directly in a type if a macro puts them there: the flags of `bitflags!`.
        let is_variant = |&&place: &&u32| {
            index.symbol(place).is_some_and(|symbol| matches!(symbol.kind, SymbolKind::Variant | SymbolKind::Const))
        };
        let place = index.named(Some(of.ordinal), name).iter().find(is_variant)?;
        Some(SymbolAt { file: of.file, ordinal: *place })
    }

    /// Resolves an import.
    pub(super) fn imported(&self, scope: Scope, import: &Import, space: Space) -> Option<Def> {
        let name = import.name.as_deref()?;
        let mut segments: Vec<&str> = Vec::new();
        if !import.module.is_empty() {
            segments.extend(import.module.split("::"));
        } else if name.starts_with("::") {
            segments.push("");
        }
        segments.push(name);
        let root = self.root(scope);
        if self.crates.is_2015(root.file)
            && self.module_of(scope) != root
            && let Some(found) = self.path(root, &segments, space)
            && !matches!(found, Def::External(_))
            && !matches!(segments[0], "self" | "super")
        {
            return Some(found);
        }
        let found = self.path(scope, &segments, space);
        // An undeclared bare name is a dependency.
        let is_crate = segments.len() == 1 && space == Space::Type && !name.starts_with(char::is_uppercase);
        found.or_else(|| is_crate.then(|| Def::External(name.into())))
    }

    /// Looks up a name in a module, or among the items of a function.
    fn lookup(&self, scope: Scope, name: &str, space: Space) -> Option<Def> {
        let key = (scope, name.to_owned(), space);
        self.names.search(&self.lookup_stack, key, || {
            self.declared_in(scope, name, space)
                .or_else(|| self.through_imports(scope, name, space))
                .or_else(|| self.exported_macro(scope, name).filter(|_| space == Space::Macro))
        })
    }

    fn declared_in(&self, scope: Scope, name: &str, space: Space) -> Option<Def> {
        let index = self.indexed(scope.file)?;
        // A method that a macro puts into an `impl` is not a function of the module.
        let is_method = |symbol: &Symbol| symbol.kind == SymbolKind::Fn && symbol.flags.has(Flags::TAKES_SELF);
        let fits =
            |place: &u32| index.symbol(*place).is_some_and(|symbol| is_in(symbol.kind, space) && !is_method(symbol));
        let at = |place: u32| SymbolAt { file: scope.file, ordinal: place };
        let named = match index.named(scope.symbol, name) {
            [] if RESERVED.contains(&name) => index.named(scope.symbol, &format!("r#{name}")),
            named => named,
        };
        let all: Vec<SymbolAt> = named.iter().copied().filter(fits).map(at).collect();
        let best = match all.as_slice() {
            [only] => *only,
            several => several.iter().copied().find(|&at| self.is_active(at)).or(several.first().copied())?,
        };
        match index.symbol(best.ordinal)?.kind {
            SymbolKind::Module => self.declared_module(best).map(Def::Module),
            _ => Some(Def::Symbol(best)),
        }
    }

    /// Looks up an exported macro, which belongs to the root of its crate regardless of its location.
    pub(super) fn exported_macro(&self, scope: Scope, name: &str) -> Option<Def> {
        let is_exported = |&at: &SymbolAt| self.is_exported_macro(at) && self.root(file_scope_of(at)) == scope;
        let is_root = scope.symbol.is_none() && self.crates.is_root(scope.file);
        let all: Vec<SymbolAt> =
            self.world.symbols_named(name).iter().copied().filter(|_| is_root).filter(is_exported).collect();
        all.iter().find(|&&at| self.is_active(at)).or(all.first()).map(|&at| Def::Symbol(at))
    }

    fn is_exported_macro(&self, at: SymbolAt) -> bool {
        let is_public = |symbol: &Symbol| symbol.visibility == Some(Visibility::Public);
        self.symbol(at, |symbol| symbol.kind == SymbolKind::Macro && is_public(symbol)).unwrap_or(false)
    }

    fn through_imports(&self, scope: Scope, name: &str, space: Space) -> Option<Def> {
        let index = self.indexed(scope.file)?;
        let imports = || index.imports(scope.symbol).iter().filter_map(|&at| index.facts().imports.get(at as usize));
        for import in imports().filter(|import| !import.glob) {
            if import.alias.as_deref().or(import.name.as_deref()) == Some(name)
                && let Some(found) = self.imported(scope, import, space)
                && self.is_of(&found, space)
            {
                return Some(found);
            }
        }
        imports().filter(|import| import.glob).find_map(|import| match self.glob(scope, import)? {
            Def::Module(module) if module == scope => None,
            Def::Module(module) => {
                let found = self.lookup(module, name, space)?;
                self.is_visible_through_glob(scope, module, name, &found).then_some(found)
            }
            Def::Symbol(at) => self.variant(at, name).map(Def::Symbol),
            Def::External(_) => None,
        })
    }

    pub(super) fn glob(&self, scope: Scope, import: &Import) -> Option<Def> {
        let segments: Vec<&str> = import.module.split("::").collect();
        self.path(scope, &segments, Space::Type)
    }

    /// Returns whether a glob imports an item: private items are visible only inside their module.
    fn is_visible_through_glob(&self, scope: Scope, module: Scope, name: &str, found: &Def) -> bool {
        if self.is_within(scope, module) || matches!(found, Def::Symbol(at) if self.is_exported_macro(*at)) {
            return true;
        }
        let Some(index) = self.indexed(module.file) else { return true };
        let own = index.named(module.symbol, name);
        let is_public =
            |place: &u32| index.symbol(*place).is_some_and(|symbol| symbol.visibility != Some(Visibility::Private));
        if !own.is_empty() && matches!(found, Def::Symbol(at) if own.contains(&at.ordinal) && at.file == module.file) {
            return own.iter().any(is_public);
        }
        let brings = |at: &u32| {
            let import = &index.facts().imports[*at as usize];
            import.reexport && (import.glob || import.alias.as_deref().or(import.name.as_deref()) == Some(name))
        };
        own.iter().any(is_public) || index.imports(module.symbol).iter().any(brings)
    }

    /// Returns whether the target of an import is in this namespace; an external path may be in any.
    fn is_of(&self, def: &Def, space: Space) -> bool {
        match def {
            Def::Symbol(at) => self.symbol(*at, |symbol| is_in(symbol.kind, space)).unwrap_or(false),
            Def::Module(_) => space == Space::Type,
            Def::External(_) => true,
        }
    }

    /// Looks up a name that no module has: in crates, the prelude, external globs.
    fn lookup_outside_modules(&self, module: Scope, name: &str, space: Space) -> Option<Def> {
        if space == Space::Type
            && let Some(found) = self.library(module, name)
        {
            return Some(found);
        }
        let is_known = PRELUDE.binary_search(&name).is_ok() || space == Space::Type && is_language(name);
        let is_crate = space == Space::Type && self.crates.depends(self.root(module).file, name);
        (is_known || is_crate || self.has_external_glob(module)).then(|| Def::External(name.into()))
    }

    /// Returns whether a name counts as external only because a library's glob might import it, while the crate itself
    /// has a symbol of that name, which a macro may have put there.
    pub(super) fn is_only_guessed(&self, scope: Scope, name: &str, spaces: &[Space]) -> bool {
        let is_known = PRELUDE.binary_search(&name).is_ok() || is_language(name);
        let module = self.module_of(scope);
        if is_known || !self.has_external_glob(module) || self.is_imported(scope, name) {
            return false;
        }
        let root = self.root(module);
        self.world.symbols_named(name).iter().any(|&at| {
            let fits = self.symbol(at, |symbol| spaces.iter().any(|&space| is_in(symbol.kind, space)));
            fits == Some(true) && self.root(Scope { file: at.file, symbol: None }) == root
        })
    }

    /// Returns whether an import of the file declares the name.
    fn is_imported(&self, scope: Scope, name: &str) -> bool {
        let Some(index) = self.indexed(scope.file) else { return false };
        !index.imports_named(name).is_empty()
    }

    fn library(&self, scope: Scope, name: &str) -> Option<Def> {
        let root = self.root(scope).file;
        self.crates.library(name, root).map(|file| Def::Module(Scope { file, symbol: None }))
    }

    /// Returns whether a module, or a module that it glob-imports, glob-imports a library.
    pub(super) fn has_external_glob(&self, module: Scope) -> bool {
        self.external_globs
            .search(&self.lookup_stack, module, || self.find_external_glob(module).then_some(()))
            .is_some()
    }

    fn find_external_glob(&self, module: Scope) -> bool {
        let Some(index) = self.indexed(module.file) else { return false };
        index.imports(module.symbol).iter().any(|&at| {
            let import = &index.facts().imports[at as usize];
            import.glob
                && match self.glob(module, import) {
                    Some(Def::External(_)) => true,
                    Some(Def::Module(other)) => self.has_external_glob(other),
                    _ => false,
                }
        })
    }
}

fn file_scope_of(at: SymbolAt) -> Scope {
    Scope { file: at.file, symbol: None }
}

fn is_language(name: &str) -> bool {
    matches!(name, "std" | "core" | "alloc" | "proc_macro" | "test") || PRIMITIVES.contains(&name)
}

fn is_in(kind: SymbolKind, space: Space) -> bool {
    use SymbolKind::{Const, Enum, Fn, Macro, Module, Static, Struct, Trait, Type, Union, Variant};
    match space {
        Space::Type => matches!(kind, Struct | Enum | Union | Trait | Type | Module | Variant),
        Space::Value => matches!(kind, Fn | Const | Static | Struct | Variant | Union),
        Space::Macro => kind == Macro,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn prelude_is_sorted() {
        assert!(super::PRELUDE.is_sorted());
    }
}
