//! Which traits are in scope at a place: what they declare can be called there on types that implement them.
//!
//! In scope is what a block or module declares, imports by name (`as _` too) or takes in by a glob, and the trait around or
//! implemented around the place. Where a glob leads is
//! not always known, and in the body of a macro the place of its call decides: there every trait counts as seen.

use std::collections::HashSet;
use std::rc::Rc;

use codecompass_model::{SymbolAt, SymbolKind};

use super::Rules;
use super::modules::Scope;
use super::scope::{Def, Space};

/// The traits that one block or module sees.
#[derive(Default)]
pub(super) struct Seen {
    traits: HashSet<SymbolAt>,
    /// Whether it may see any other.
    is_open: bool,
}

/// How many modules globs may lead through.
const MAX_GLOBS: usize = 64;

impl Rules<'_> {
    /// Whether a trait can be seen from a place.
    pub(super) fn is_trait_seen(&self, from: Scope, of: SymbolAt) -> bool {
        let Some(index) = self.indexed(from.file) else { return true };
        let sees = |symbol: Option<u32>| {
            let seen = self.traits_seen(Scope { file: from.file, symbol });
            seen.is_open || seen.traits.contains(&of)
        };
        for at in index.around(from.symbol) {
            match index.symbol(at).map(|symbol| symbol.kind) {
                Some(SymbolKind::Macro) => return true,
                Some(SymbolKind::Trait) if (SymbolAt { file: from.file, place: at }) == of => return true,
                Some(SymbolKind::Impl) => {
                    let around = self.implementation(SymbolAt { file: from.file, place: at });
                    if around.of_trait.as_ref().is_some_and(|bound| bound.of == Some(of)) {
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

    fn traits_seen(&self, scope: Scope) -> Rc<Seen> {
        self.seen_traits.once(&scope, || Rc::new(self.find_traits(scope)))
    }

    fn find_traits(&self, scope: Scope) -> Seen {
        let mut seen = Seen::default();
        let mut open = vec![scope];
        let mut at = 0;
        while at < open.len() && at < MAX_GLOBS {
            self.add_traits(open[at], &mut seen, &mut open);
            at += 1;
        }
        seen.is_open |= at < open.len();
        seen
    }

    /// The traits of one block or module, and the modules that its globs lead to.
    fn add_traits(&self, scope: Scope, seen: &mut Seen, open: &mut Vec<Scope>) {
        let Some(index) = self.indexed(scope.file) else { return };
        let is_trait = |at: SymbolAt| self.symbol(at, |symbol| symbol.kind == SymbolKind::Trait).unwrap_or(false);
        let own = index.children(scope.symbol).iter().map(|&place| SymbolAt { file: scope.file, place });
        seen.traits.extend(own.filter(|&at| is_trait(at)));
        for &at in index.imports(scope.symbol) {
            let import = &index.facts().imports[at as usize];
            if import.glob {
                match self.glob(scope, import) {
                    Some(Def::Module(module)) if !open.contains(&module) => open.push(module),
                    Some(_) => {}
                    None => seen.is_open = true,
                }
            } else if let Some(Def::Symbol(at)) = self.imported(scope, import, Space::Type)
                && is_trait(at)
            {
                seen.traits.insert(at);
            }
        }
    }
}
