//! The order of symbols with one name, the same in every tool.

use std::cmp::Reverse;

use codecompass_model::{SymbolKind, Visibility, World};

use super::{FoundReferences, Graph};
use crate::SymbolHit;
use crate::search::{features, generated};

/// The maximum number of bytes by which a declaration without a body is longer than its signature: `: ...`, `;`.
const MAX_EMPTY_BODY: usize = 6;

impl Graph<'_> {
    /// Sorts symbols with one name: own code before vendored and generated code, definitions before overload signatures
    /// and prototypes, visible before private, code before tests, then the most referenced, then by location.
    pub fn sort_by_use(&self, found: &FoundReferences, hits: &mut [SymbolHit]) {
        // Outlines and paths decide; the facts of the files, of which there may be hundreds, are not read.
        hits.sort_by_cached_key(|hit| {
            let (path, symbol) = (&hit.version.path, hit.symbol());
            let is_foreign = generated::is_foreign_path(path);
            let is_declared_only = symbol.kind == SymbolKind::Prototype || self.is_overload_signature(hit);
            let is_private = symbol.visibility == Some(Visibility::Private);
            let is_test = self.languages().is_test(path, symbol.in_test) || features::is_example(path);
            let kind = (is_foreign, is_declared_only, is_private, is_test);
            (kind, Reverse(found.count(hit.symbol_at())), path.clone(), hit.ordinal())
        });
    }

    /// Whether a function is a signature beside the definition with the same qualified name.
    fn is_overload_signature(&self, hit: &SymbolHit) -> bool {
        let (symbols, at, symbol) = (hit.file_symbols(), hit.ordinal() as usize, hit.symbol());
        let is_function = matches!(symbol.kind, SymbolKind::Fn | SymbolKind::Method | SymbolKind::Constructor);
        let is_homonym = |other: &(usize, &codecompass_model::Symbol)| {
            other.0 != at && other.1.kind == symbol.kind && other.1.qualified_name == symbol.qualified_name
        };
        let mut homonyms = symbols.iter().enumerate().filter(is_homonym).peekable();
        if !is_function || homonyms.peek().is_none() {
            return false;
        }
        let Some(text) = self.world.text(hit.version.id) else { return false };
        let has_body = |symbol: &codecompass_model::Symbol| {
            let length = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
            length(symbol.span.text(&text)) > length(&symbol.signature) + MAX_EMPTY_BODY
        };
        !has_body(symbol) && homonyms.any(|(_, other)| has_body(other))
    }
}
