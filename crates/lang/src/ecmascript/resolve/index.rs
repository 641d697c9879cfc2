//! Lookups in a file that only TypeScript and JavaScript need: exports, attached members, visible bindings.

use std::ops::Deref;
use std::rc::Rc;

use codecompass_model::{BindingKind, Import, RefShape, SourceFile, Symbol, SymbolKind, Visibility};

use crate::rules::index::{self, indices_where, range, sorted};

/// A file with its facts sorted for lookups.
pub(super) struct Index {
    shared: index::Index,
    /// Symbols with another owner in their qualified name than their enclosing symbol, by that name.
    attached: Box<[u32]>,
    /// The same symbols by the qualified name of that owner.
    owned: Box<[u32]>,
    /// Exports that are stored as imports, by their exported name.
    reexports: Box<[u32]>,
    /// `export * from`.
    pub(super) globs: Vec<u32>,
    /// `import a = B.C`.
    aliases: Vec<u32>,
}

impl Deref for Index {
    type Target = index::Index;

    fn deref(&self) -> &index::Index {
        &self.shared
    }
}

impl Index {
    pub(super) fn new(file: Rc<SourceFile>) -> Self {
        let facts = &file.facts;
        let is_attached = |symbol: &Symbol| symbol.kind.can_be_named() && is_attached(&facts.symbols, symbol);
        let attached = indices_where(&facts.symbols, is_attached);
        let name = |at: u32| facts.symbols[at as usize].qualified_name.as_str();
        let owned = attached.iter().copied().filter(|&at| owner_qualified_name(name(at)).is_some()).collect();
        let reexports = indices_where(&facts.imports, |import| {
            !import.glob && local_name(import).is_some() && (import.reexport || import.module.is_empty())
        });
        let outside = |at: u32| local_name(&facts.imports[at as usize]);
        Index {
            attached: sorted(attached, |a, b| name(a).cmp(name(b))),
            owned: sorted(owned, |a, b| owner_qualified_name(name(a)).cmp(&owner_qualified_name(name(b)))),
            reexports: sorted(reexports, |a, b| outside(a).cmp(&outside(b))),
            globs: indices_where(&facts.imports, |import| import.glob),
            aliases: indices_where(&facts.symbols, |symbol| symbol.kind == SymbolKind::Use && symbol.value.is_some()),
            shared: index::Index::new(file, given_name),
        }
    }

    /// Returns the part of a symbol's header after its name.
    pub(super) fn header(&self, symbol: &Symbol) -> &str {
        symbol.header.map_or("", |header| self.expr_text(header))
    }

    /// Returns the symbols that assignments attach to a symbol: `Foo.prototype.bar = …`.
    pub(super) fn attached(&self, of: &Symbol, name: &str) -> &[u32] {
        let meant = || of.qualified_name.bytes().chain([b'.']).chain(name.bytes());
        range(&self.attached, |at| self.qualified(at).bytes().cmp(meant()))
    }

    /// Returns whether assignments attach members to a symbol.
    pub(super) fn is_owner(&self, symbol: &Symbol) -> bool {
        !range(&self.owned, |at| owner_qualified_name(self.qualified(at)).cmp(&Some(&symbol.qualified_name))).is_empty()
    }

    /// Returns the path that `import a = B.C` renames.
    pub(super) fn alias(&self, name: &str) -> Option<&str> {
        let is_meant = |at: &&u32| self.qualified(**at).rsplit_once('.').is_some_and(|(_, last)| last == name);
        let path = self.symbol(*self.aliases.iter().find(is_meant)?)?.value?;
        Some(self.expr_text(path))
    }

    pub(super) fn reexports(&self, outside: &str) -> &[u32] {
        range(&self.reexports, |at| local_name(&self.facts().imports[at as usize]).cmp(&Some(outside)))
    }

    /// Returns the symbols that the file exports under a name by their own declaration.
    pub(super) fn exported(&self, name: &str) -> Vec<u32> {
        let is_default = |symbol: &Symbol| symbol.visibility_text.as_deref() == Some("export default");
        let fits = |&&place: &&u32| {
            let symbol = self.symbol(place);
            symbol.is_some_and(|symbol| {
                symbol.visibility == Some(Visibility::Public) && !is_object_literal_member(symbol)
            })
        };
        let mut found: Vec<u32> = self.named(None, name).iter().filter(fits).copied().collect();
        if name == "default" && found.is_empty() {
            let symbols = self.file.facts.symbols.iter().enumerate();
            let all = symbols.filter(|(_, symbol)| symbol.parent.is_none() && is_default(symbol));
            found.extend(all.map(|(place, _)| place as u32));
        }
        found
    }

    /// Returns the binding of a name at a site: by the reference on that line, else by visibility.
    pub(super) fn visible_binding(&self, name: &str, symbol: Option<u32>, line: u32, types: bool) -> Option<u32> {
        let all = self.bindings(name);
        if all.is_empty() {
            return None;
        }
        let used = || self.binding_used_on(name, line).or_else(|| self.binding_used_on(name, line.saturating_add(1)));
        if let Some(found) = (!types).then(used).flatten() {
            return found;
        }
        let depth = |around: Option<u32>| self.chain(symbol).position(|at| at == around);
        let visible = all.iter().filter_map(|&at| {
            let binding = self.binding(at)?;
            let fits = (binding.kind == BindingKind::TypeParam) == types && (types || binding.line <= line);
            fits.then(|| depth(binding.symbol).map(|depth| (depth, u32::MAX - binding.line, at)))?
        });
        visible.min().map(|(_, _, at)| at)
    }

    /// Returns the binding of a name on a line, if the name is used there.
    fn binding_used_on(&self, name: &str, line: u32) -> Option<Option<u32>> {
        let references = &self.facts().references;
        // References to a name are in source order.
        let here = range(self.references(name), |at| references[at as usize].line.cmp(&line));
        let mut values = here.iter().map(|&at| &references[at as usize]);
        let first = values.find(|reference| matches!(reference.shape, RefShape::Value | RefShape::Call));
        first.map(|reference| reference.binding)
    }

    /// Returns a symbol and its ancestors, up to the file.
    pub(super) fn chain(&self, symbol: Option<u32>) -> impl Iterator<Item = Option<u32>> + '_ {
        let up = |at: &Option<u32>| at.map(|at| self.symbol(at).and_then(|symbol| symbol.parent));
        std::iter::successors(Some(symbol), up).take(80)
    }

    fn qualified(&self, at: u32) -> &str {
        self.symbol(at).map_or("", |symbol| symbol.qualified_name.as_str())
    }
}

/// Returns whether the qualified name of a symbol has another owner than its enclosing symbol.
fn is_attached(all: &[Symbol], symbol: &Symbol) -> bool {
    let around = Symbol::naming_ancestor(all, symbol.parent);
    let plain = around.map_or(0, |around| around.qualified_name.len() + 1) + symbol.name.len();
    match around {
        Some(_) => symbol.qualified_name.len() != plain,
        None => is_member(symbol.kind),
    }
}

/// Returns the qualified name of a symbol's owner, from its own.
fn owner_qualified_name(qualified: &str) -> Option<&str> {
    qualified.rsplit_once('.').map(|(owner, _)| owner)
}

/// Returns the local name of an import.
fn given_name(import: &Import) -> Option<&str> {
    local_name(import).filter(|_| !import.glob && !import.module.is_empty())
}

fn local_name(import: &Import) -> Option<&str> {
    import.alias.as_deref().or(import.name.as_deref())
}

/// Returns whether symbols of a kind are members, so that no bare name refers to them.
pub(super) fn is_member(kind: SymbolKind) -> bool {
    use SymbolKind::{Constructor, Field, Method, Property, Variant};
    matches!(kind, Constructor | Field | Method | Property | Variant)
}

/// Returns whether a symbol is a member of an object literal somewhere in the file.
fn is_object_literal_member(symbol: &Symbol) -> bool {
    symbol.parent.is_none() && is_member(symbol.kind)
}
