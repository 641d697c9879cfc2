//! The order of symbols with one name, the same in every tool.

use std::cmp::Reverse;

use codecompass_model::{SymbolKind, Visibility};
use codecompass_store::Result;

use super::{FoundReferences, Graph};
use crate::SymbolHit;
use crate::overloads::is_overload_signature;
use crate::search::{features, generated};

impl Graph<'_> {
    /// Sorts symbols with one name: own code before vendored and generated code, definitions before overload signatures
    /// and prototypes, visible before private, code before tests, then the most referenced, then by location.
    pub fn sort_by_use(&self, found: &FoundReferences, hits: &mut Vec<SymbolHit>) -> Result<()> {
        // Outlines and paths decide; the facts of the files, of which there may be hundreds, are not read.
        let mut order = Vec::with_capacity(hits.len());
        for hit in hits.drain(..) {
            let (path, symbol) = (&hit.version.path, hit.symbol());
            let is_foreign = generated::is_foreign_path(path);
            let is_declared_only = symbol.kind == SymbolKind::Prototype
                || is_overload_signature(self.snapshot(), hit.version.id, hit.file_symbols(), hit.ordinal())?;
            let is_private = symbol.visibility == Some(Visibility::Private);
            let is_test = self.languages().is_test(path, symbol.in_test) || features::is_example(path);
            let kind = (is_foreign, is_declared_only, is_private, is_test);
            order.push(((kind, Reverse(found.count(hit.symbol_at())), path.clone(), hit.ordinal()), hit));
        }
        order.sort_by(|(one, _), (other, _)| one.cmp(other));
        hits.extend(order.into_iter().map(|(_, hit)| hit));
        Ok(())
    }
}
