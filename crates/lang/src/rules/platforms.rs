//! Declarations that exist once for all platforms and once more for each: together they are one symbol.

use codecompass_model::{Flags, Resolution, SymbolAt, SymbolKind};

use super::engine::{Engine, File};

/// The maximum number of symbols with the name to compare.
const MAX_HOMONYMS: usize = 200;

impl Engine<'_> {
    /// Adds the other declarations of the symbols that a reference resolves to.
    pub(super) fn with_platforms(&self, found: Resolution) -> Resolution {
        let Resolution::Symbols { mut targets, confidence, why } = found else { return found };
        for at in 0..targets.len() {
            for other in self.platform_declarations(targets[at]) {
                if !targets.contains(&other) {
                    targets.push(other);
                }
            }
        }
        Resolution::Symbols { targets, confidence, why }
    }

    fn platform_declarations(&self, at: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(at.file).filter(|file| is_per_platform(file, at)) else { return Vec::new() };
        let Some(symbol) = file.symbol(at.ordinal) else { return Vec::new() };
        // Overloads differ in their types.
        let written = |file: &File, at: SymbolAt| {
            let annotation = file.symbol(at.ordinal)?.annotation?;
            Some(file.facts().render_expr(annotation))
        };
        let own = written(&file, at);
        let is_same = |other: &SymbolAt| {
            let Some(there) = self.file(other.file).filter(|there| is_per_platform(there, *other)) else {
                return false;
            };
            there.symbol(other.ordinal).is_some_and(|known| {
                known.kind == symbol.kind
                    && known.qualified_name == symbol.qualified_name
                    && (!is_function(symbol.kind) || written(&there, *other) == own)
            })
        };
        let named = self.world.symbols_named(&symbol.name);
        named.iter().take(MAX_HOMONYMS).copied().filter(|other| other.file != at.file && is_same(other)).collect()
    }
}

/// Whether a symbol or one around it is declared per platform.
fn is_per_platform(file: &File, at: SymbolAt) -> bool {
    let mut around = file.ancestors(Some(at.ordinal));
    around.any(|place| file.symbol(place).is_some_and(|symbol| symbol.flags.has(Flags::PER_PLATFORM)))
}

fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Fn | SymbolKind::Method | SymbolKind::Constructor)
}
