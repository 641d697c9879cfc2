//! Dispatch calls: calls that reach a symbol through another one. Calls of an interface's method reach its
//! implementations, and the answer for an interface's method includes the calls of its implementations.

use codecompass_model::{Confidence, SymbolAt};
use codecompass_store::Result;

use super::{EdgeKind, FoundReferences, Graph, Site};

/// The relation of the called symbol to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DispatchLink {
    /// It declares the method that the target implements.
    Declaration,
    /// It implements the method that the target declares.
    Implementation,
}

impl DispatchLink {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            DispatchLink::Declaration => "declaration",
            DispatchLink::Implementation => "implementation",
        }
    }
}

/// A call of a related symbol.
#[derive(Clone, Debug)]
pub struct DispatchCall {
    /// The called symbol.
    pub symbol: SymbolAt,
    /// Its relation to the target.
    pub link: DispatchLink,
    /// The call.
    pub site: Site,
}

impl Graph<'_> {
    /// Returns the confirmed calls of the declarations and implementations of a symbol: declarations first, code before
    /// tests, then by location.
    pub fn dispatch_calls(&self, found: &FoundReferences, target: SymbolAt) -> Result<Vec<DispatchCall>> {
        let declared = self.declarations(target).into_iter().map(|at| (at, DispatchLink::Declaration));
        let implementing = self.implementations(target).into_iter().map(|at| (at, DispatchLink::Implementation));
        let mut all = Vec::new();
        for (symbol, link) in declared.chain(implementing).filter(|(at, _)| *at != target) {
            let calls = found.proved(symbol).iter();
            let calls = calls.filter(|site| site.kind == EdgeKind::Calls && site.confidence == Confidence::Static);
            all.extend(calls.map(|site| DispatchCall { symbol, link, site: site.clone() }));
        }
        all.sort_by(|a, b| order(a).cmp(&order(b)));
        Ok(all)
    }

    /// Returns the methods that a method implements or overrides: symbols with its name that have it as an
    /// implementation.
    pub(super) fn declarations(&self, of: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(of.file) else { return Vec::new() };
        let Some(symbol) = file.facts.symbols.get(of.ordinal as usize) else { return Vec::new() };
        let bearers = self.named_symbols(&symbol.name);
        let is_declared = |at: &SymbolAt| *at != of && self.implementations(*at).contains(&of);
        bearers.iter().copied().filter(|at| self.symbol_can_interop(*at, &file.language)).filter(is_declared).collect()
    }
}

fn order(through: &DispatchCall) -> (DispatchLink, bool, &str, u32, u32, SymbolAt) {
    let site = &through.site;
    (through.link, site.in_test, &site.file.path, site.line, site.column, through.symbol)
}
