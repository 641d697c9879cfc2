//! The order of symbols with one name, the same in every tool.

use std::cmp::Reverse;

use codecompass_model::{SourceFile, SymbolAt, SymbolKind, Visibility, World};

use super::{FoundReferences, Graph};
use crate::search::{features, generated};

/// The maximum number of bytes by which a declaration without a body is longer than its signature: `: ...`, `;`.
const MAX_EMPTY_BODY: usize = 6;

impl Graph<'_> {
    /// Sorts symbols with one name: own code before vendored and generated code, definitions before overload signatures
    /// and prototypes, visible before private, code before tests, then the most referenced, then by location.
    pub fn rank_by_use(&self, found: &FoundReferences, candidates: &[SymbolAt]) -> Vec<SymbolAt> {
        let mut order = Vec::with_capacity(candidates.len());
        for at in candidates {
            let Some(file) = self.file(at.file) else { continue };
            let Some(symbol) = file.facts.symbols.get(at.ordinal as usize) else { continue };
            let is_foreign = generated::is_foreign_path(&file.path);
            let is_declared_only =
                symbol.kind == SymbolKind::Prototype || self.is_overload_signature(&file, at.ordinal);
            let is_private = symbol.visibility == Some(Visibility::Private);
            let is_test = self.is_in_test(&file, Some(at.ordinal)) || features::is_example(&file.path);
            let kind = (is_foreign, is_declared_only, is_private, is_test);
            order.push((kind, Reverse(found.count(*at)), file.path.clone(), at.ordinal, *at));
        }
        order.sort();
        order.into_iter().map(|(.., at)| at).collect()
    }

    /// Whether a function is a signature beside the definition with the same qualified name.
    fn is_overload_signature(&self, file: &SourceFile, at: u32) -> bool {
        let symbols = &file.facts.symbols;
        let Some(symbol) = symbols.get(at as usize) else { return false };
        let is_function = matches!(symbol.kind, SymbolKind::Fn | SymbolKind::Method | SymbolKind::Constructor);
        let is_homonym = |other: &(usize, &codecompass_model::Symbol)| {
            other.0 != at as usize && other.1.kind == symbol.kind && other.1.qualified_name == symbol.qualified_name
        };
        let mut homonyms = symbols.iter().enumerate().filter(is_homonym).peekable();
        if !is_function || homonyms.peek().is_none() {
            return false;
        }
        let Some(text) = self.world.text(file.id) else { return false };
        let has_body = |symbol: &codecompass_model::Symbol| {
            let length = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
            length(symbol.span.text(&text)) > length(&symbol.signature) + MAX_EMPTY_BODY
        };
        !has_body(symbol) && homonyms.any(|(_, other)| has_body(other))
    }
}
