//! Overload signatures: declarations of a function beside its definition.

use codecompass_model::{Symbol, SymbolKind, VersionId};
use codecompass_store::{Result, Snapshot};

/// The maximum number of bytes by which a declaration without a body is longer than its signature: `: ...`, `;`.
const MAX_EMPTY_BODY: usize = 6;

/// Whether a symbol of this kind can have overload signatures.
pub(crate) fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Fn | SymbolKind::Method | SymbolKind::Constructor)
}

/// Whether a function is a signature beside the definition with the same qualified name. The text of the file is read
/// only if there is such a symbol.
pub(crate) fn is_overload_signature(snapshot: &Snapshot, file: VersionId, symbols: &[Symbol], at: u32) -> Result<bool> {
    let Some(symbol) = symbols.get(at as usize).filter(|symbol| is_function(symbol.kind)) else { return Ok(false) };
    let is_homonym = |other: &(usize, &Symbol)| {
        other.0 != at as usize && other.1.kind == symbol.kind && other.1.qualified_name == symbol.qualified_name
    };
    let mut homonyms = symbols.iter().enumerate().filter(is_homonym).peekable();
    if homonyms.peek().is_none() {
        return Ok(false);
    }
    let text = snapshot.text(file)?;
    let has_body = |symbol: &Symbol| {
        let length = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
        length(symbol.span.text(&text)) > length(&symbol.signature) + MAX_EMPTY_BODY
    };
    Ok(!has_body(symbol) && homonyms.any(|(_, other)| has_body(other)))
}
