//! Calls that reach a symbol through another: those of an interface's method reach what implements it, and whoever asks
//! about the interface's method wants the calls of its implementations, too.

use codecompass_model::{Confidence, SymbolAt};
use codecompass_store::Result;

use super::{EdgeKind, FoundReferences, Graph, Site};

/// How the other symbol stands to the one that was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// It declares what the symbol implements.
    Declaration,
    /// It implements what the symbol declares.
    Implementation,
}

impl Link {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Link::Declaration => "declaration",
            Link::Implementation => "implementation",
        }
    }
}

/// A call of another symbol.
#[derive(Clone, Debug)]
pub struct Through {
    /// The symbol that is called.
    pub symbol: SymbolAt,
    /// What it is to the one that was asked about.
    pub link: Link,
    /// The call.
    pub site: Site,
}

impl Graph<'_> {
    /// The proved calls of what a symbol implements, and of what implements it, in the order of those symbols.
    pub fn through(&self, found: &FoundReferences, target: SymbolAt) -> Result<Vec<Through>> {
        let declared = self.declarations(target).into_iter().map(|at| (at, Link::Declaration));
        let implementing = self.implementations(target).into_iter().map(|at| (at, Link::Implementation));
        let mut all = Vec::new();
        for (symbol, link) in declared.chain(implementing).filter(|(at, _)| *at != target) {
            let calls = found.proved(symbol).iter();
            let calls = calls.filter(|site| site.kind == EdgeKind::Calls && site.confidence == Confidence::Static);
            all.extend(calls.map(|site| Through { symbol, link, site: site.clone() }));
        }
        all.sort_by(|a, b| order(a).cmp(&order(b)));
        Ok(all)
    }

    /// What a method implements or overrides: of the others that bear its name, those that know it as an implementation.
    fn declarations(&self, of: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(of.file) else { return Vec::new() };
        let Some(symbol) = file.facts.symbols.get(of.place as usize) else { return Vec::new() };
        let bearers = self.named_symbols(&symbol.name);
        let is_declared = |at: &SymbolAt| *at != of && self.implementations(*at).contains(&of);
        bearers.iter().copied().filter(|at| self.is_kin_of(*at, &file.language)).filter(is_declared).collect()
    }
}

fn order(through: &Through) -> (Link, bool, &str, u32, u32, SymbolAt) {
    let site = &through.site;
    (through.link, site.in_test, &site.file.path, site.line, site.column, through.symbol)
}
