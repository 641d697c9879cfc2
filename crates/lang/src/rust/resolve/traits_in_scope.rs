//! Determines which traits are in scope at a site: their members can be called there on types that implement them.
//!
//! Traits in scope are those that a block or module declares, imports by name (including `as _`) or imports by a glob,
//! and the trait that encloses the site or is implemented around it. The target of a glob is not always known, and in
//! the body of a macro the site of its call decides: there every trait counts as in scope.

use std::collections::HashSet;
use std::rc::Rc;

use codecompass_model::{SymbolAt, SymbolKind};

use super::RustResolver;
use super::modules::Scope;
use super::scope::{Def, Space};

/// The traits that are in scope in one block or module.
#[derive(Default)]
pub(super) struct TraitsInScope {
    traits: HashSet<SymbolAt>,
    /// Whether any other trait may be in scope.
    may_have_more: bool,
}

/// The maximum number of modules that globs lead through.
const MAX_GLOBS: usize = 64;

impl RustResolver<'_> {
    /// Returns whether a trait is in scope at a site.
    pub(super) fn is_trait_in_scope(&self, from: Scope, of: SymbolAt) -> bool {
        let Some(index) = self.indexed(from.file) else { return true };
        let sees = |symbol: Option<u32>| {
            let seen = self.traits_in_scope(Scope { file: from.file, symbol });
            seen.may_have_more || seen.traits.contains(&of)
        };
        for at in index.ancestors(from.symbol) {
            match index.symbol(at).map(|symbol| symbol.kind) {
                Some(SymbolKind::Macro) => return true,
                Some(SymbolKind::Trait) if (SymbolAt { file: from.file, ordinal: at }) == of => return true,
                Some(SymbolKind::Impl) => {
                    let around = self.implementation(SymbolAt { file: from.file, ordinal: at });
                    if around.of_trait.as_ref().is_some_and(|bound| bound.symbol == Some(of)) {
                        return true;
                    }
                }
                Some(SymbolKind::Module) => return sees(Some(at)),
                Some(SymbolKind::Fn | SymbolKind::Const | SymbolKind::Static) if sees(Some(at)) => return true,
                _ => {}
            }
        }
        sees(None)
    }

    fn traits_in_scope(&self, scope: Scope) -> Rc<TraitsInScope> {
        self.traits_in_scope.get_or_compute(&scope, || Rc::new(self.find_traits(scope)))
    }

    fn find_traits(&self, scope: Scope) -> TraitsInScope {
        let mut seen = TraitsInScope::default();
        let mut open = vec![scope];
        let mut at = 0;
        while at < open.len() && at < MAX_GLOBS {
            self.add_traits(open[at], &mut seen, &mut open);
            at += 1;
        }
        seen.may_have_more |= at < open.len();
        seen
    }

    /// Adds the traits of one block or module, and the modules that its globs lead to.
    fn add_traits(&self, scope: Scope, seen: &mut TraitsInScope, open: &mut Vec<Scope>) {
        let Some(index) = self.indexed(scope.file) else { return };
        let is_trait = |at: SymbolAt| self.symbol(at, |symbol| symbol.kind == SymbolKind::Trait).unwrap_or(false);
        let own = index.children(scope.symbol).iter().map(|&place| SymbolAt { file: scope.file, ordinal: place });
        seen.traits.extend(own.filter(|&at| is_trait(at)));
        for &at in index.imports(scope.symbol) {
            let import = &index.facts().imports[at as usize];
            if import.glob {
                match self.glob(scope, import) {
                    Some(Def::Module(module)) if !open.contains(&module) => open.push(module),
                    Some(_) => {}
                    None => seen.may_have_more = true,
                }
            } else if let Some(Def::Symbol(at)) = self.imported(scope, import, Space::Type)
                && is_trait(at)
            {
                seen.traits.insert(at);
            }
        }
    }
}
