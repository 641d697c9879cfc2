//! Possible calls: where resolution ended, and the symbols that an unresolved call may mean.

use codecompass_model::{RefShape, Resolution, SourceFile, SymbolAt, VersionId, World};
use codecompass_store::Result;

use super::references::is_call;
use super::{Graph, enclosing_owner};

/// A name with more definitions than this leads nowhere in particular.
const MAX_HOMONYMS: usize = 6;

/// The maximum number of possible callers to follow from one symbol. With more, its name means many things.
const MAX_POSSIBLE_CALLERS: usize = 20;

/// A symbol at which resolution ended: some of its calls, or of the calls of it, are unresolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontierSymbol {
    /// The symbol.
    pub symbol: SymbolAt,
    /// The number of unresolved calls.
    pub calls: usize,
}

/// A symbol that a possible call leads to, and the line of the call.
pub(super) struct PossibleStep {
    pub(super) symbol: SymbolAt,
    /// The file with the call.
    pub(super) file: VersionId,
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) in_test: bool,
}

/// The possible calls of, or in, one symbol.
#[derive(Default)]
pub(super) struct PossibleSteps {
    /// The number of unresolved calls.
    pub(super) calls: usize,
    /// Where they may lead.
    pub(super) steps: Vec<PossibleStep>,
}

impl Graph<'_> {
    /// Returns the functions that may call a symbol.
    pub(super) fn possible_callers(&self, called: SymbolAt) -> Result<PossibleSteps> {
        let sites = self.unproved_callers(called)?;
        let mut found = PossibleSteps { calls: sites.len(), steps: Vec::new() };
        if sites.len() > MAX_POSSIBLE_CALLERS {
            return Ok(found);
        }
        for site in sites {
            let outline = self.snapshot().outline(site.file.id)?;
            let Some(place) = enclosing_owner(&outline.symbols, site.from) else { continue };
            let symbol = SymbolAt { file: site.file.id, ordinal: place };
            let (file, path) = (site.file.id, site.file.path.clone());
            if symbol != called && !found.steps.iter().any(|known| known.symbol == symbol) {
                found.steps.push(PossibleStep { symbol, file, path, line: site.line, in_test: site.in_test });
            }
        }
        Ok(found)
    }

    /// Returns the functions that the unresolved calls in a symbol may mean. Without `follows`, they are only counted.
    pub(super) fn possible_callees(&self, symbol: SymbolAt, follows: bool) -> Result<PossibleSteps> {
        let mut found = PossibleSteps::default();
        let Some(file) = self.file(symbol.file) else { return Ok(found) };
        for (at, reference) in file.facts.references.iter().enumerate() {
            let is_inside = is_call(reference.shape) && self.belongs_to_symbol(&file, reference.symbol, symbol.ordinal);
            if !is_inside || reference.shape == RefShape::MacroCall {
                continue;
            }
            if !matches!(self.resolve(&file, at as u32), Resolution::Unknown(_)) {
                continue;
            }
            let name = file.facts.names.get(reference.name as usize).cloned().unwrap_or_default();
            let named = self.world.symbols_named(&name);
            if named.is_empty() {
                continue;
            }
            found.calls += 1;
            if !follows || named.len() > MAX_HOMONYMS {
                continue;
            }
            for &target in named.iter() {
                if self.budget.is_spent() {
                    return Ok(found);
                }
                let position = (file.id, reference.line, reference.column);
                let is_new = target != symbol && !found.steps.iter().any(|known| known.symbol == target);
                if is_new && self.may_call(position, target)? {
                    let step = self.possible_step(&file, reference.line, reference.symbol, target);
                    found.steps.push(step);
                }
            }
        }
        self.failure()?;
        Ok(found)
    }

    fn possible_step(&self, file: &SourceFile, line: u32, from: Option<u32>, symbol: SymbolAt) -> PossibleStep {
        let in_test = self.is_in_test(file, from);
        PossibleStep { symbol, file: file.id, path: file.path.clone(), line, in_test }
    }

    /// Whether the unresolved call at a position may call a symbol.
    fn may_call(&self, position: (VersionId, u32, u32), target: SymbolAt) -> Result<bool> {
        let sites = self.unproved_callers(target)?;
        Ok(sites.iter().any(|site| (site.file.id, site.line, site.column) == position))
    }
}
