//! The impact of a change: the callers of changed symbols, and the calls that the change added and removed.

use std::collections::{BTreeMap, HashMap, HashSet};

use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{Confidence, Symbol, SymbolAt, SymbolKind};
use codecompass_query::diff::{Pair, SymbolChange, SymbolSide};
use codecompass_query::graph::{CallEdge, Direction, Graph};
use codecompass_wire::get_call_graph::CallSite;
use codecompass_wire::{ENVELOPE_BYTES, SymbolIdentity, diff_context as wire, fit};
use serde::Serialize;

use super::change_json;
use super::graph::{self, GraphSymbol, with_graph};
use super::ref_compare::RefState;
use crate::error::AppError;
use crate::time_limit::TimeLimit;

/// The input of the analysis.
pub(super) struct ImpactInput<'l> {
    pub(super) base: &'l RefState,
    pub(super) head: &'l RefState,
    pub(super) pairs: &'l [Pair<'l>],
    pub(super) changes: &'l [Pair<'l>],
    pub(super) most_bytes: usize,
}

/// A list, and whether it is complete.
pub(super) struct PartialList<T> {
    pub(super) items: Vec<T>,
    pub(super) is_complete: bool,
}

impl<T: ToWire> PartialList<T> {
    fn new() -> Self {
        Self { items: Vec::new(), is_complete: true }
    }

    /// Truncated to the size of an answer.
    fn fitted(mut self, limit: usize, most_bytes: usize) -> Self {
        let items: Vec<T::Wire> = self.items.iter().map(ToWire::wire).collect();
        // The space around the lists is reserved elsewhere.
        let kept = fit(&items, most_bytes.saturating_add(ENVELOPE_BYTES)).min(limit);
        self.is_complete &= kept >= self.items.len();
        self.items.truncate(kept);
        self
    }

    /// The items as the contracts define them.
    pub(super) fn wire(&self) -> Vec<T::Wire> {
        self.items.iter().map(ToWire::wire).collect()
    }
}

/// Has a type on the wire.
pub(super) trait ToWire {
    /// The type.
    type Wire: Serialize;

    /// The value as the contracts define it.
    fn wire(&self) -> Self::Wire;
}

/// A symbol, or file-level code.
pub(super) enum CallingCode {
    Symbol(String, Symbol),
    Module(SymbolIdentity),
}

impl CallingCode {
    /// The symbol, if it is one.
    pub(super) fn symbol(&self) -> Option<&Symbol> {
        match self {
            CallingCode::Symbol(_, symbol) => Some(symbol),
            CallingCode::Module(_) => None,
        }
    }

    fn wire(&self) -> wire::CallerSymbol {
        match self {
            CallingCode::Symbol(path, symbol) => wire::CallerSymbol::Symbol(mention(path, symbol)),
            CallingCode::Module(module) => wire::CallerSymbol::Module(module.clone()),
        }
    }
}

/// A caller of a changed symbol.
pub(super) struct Caller {
    pub(super) from: CallingCode,
    /// The callee, in its current or last version.
    to: (String, Symbol),
    pub(super) called: SymbolAt,
    change: SymbolChange,
    is_signature_new: bool,
    pub(super) path: String,
    pub(super) line: u32,
    confidence: Confidence,
    pub(super) is_changed: bool,
    pub(super) is_test: bool,
}

impl ToWire for Caller {
    type Wire = wire::AffectedCaller;

    fn wire(&self) -> wire::AffectedCaller {
        wire::AffectedCaller {
            from: self.from.wire(),
            to: wire::ChangedCallee {
                symbol: mention(&self.to.0, &self.to.1),
                change_type: change_json::change_type(self.change),
                signature_changed: self.is_signature_new,
            },
            call_site: CallSite { file: self.path.clone(), line: self.line },
            confidence: self.confidence.as_str().into(),
            is_changed: self.is_changed,
            is_test: self.is_test,
        }
    }
}

/// An added or removed call.
#[derive(Clone)]
pub(super) struct CallChange {
    pub(super) from: (String, Symbol),
    pub(super) to: (String, Symbol),
    pub(super) path: String,
    pub(super) line: u32,
    confidence: Confidence,
}

impl ToWire for CallChange {
    type Wire = wire::CallChange;

    fn wire(&self) -> wire::CallChange {
        wire::CallChange {
            from: mention(&self.from.0, &self.from.1),
            to: mention(&self.to.0, &self.to.1),
            call_site: CallSite { file: self.path.clone(), line: self.line },
            confidence: self.confidence.as_str().into(),
        }
    }
}

/// The callers of changed symbols: first of deleted symbols, then of changed headers, then of the rest. Callers of a
/// deleted symbol are those that called it before and still exist unchanged.
pub(super) fn callers(
    looked: &ImpactInput<'_>,
    limit: usize,
    patience: &TimeLimit,
) -> Result<PartialList<Caller>, AppError> {
    let mut listed = PartialList::new();
    let of = |wanted: SymbolChange| {
        looked.changes.iter().filter(move |pair| pair.change() == Some(wanted) && is_called(pair))
    };
    with_graph(&looked.base.resolve_cache, &patience.fraction(1, 3), |graph| {
        for pair in of(SymbolChange::Deleted) {
            let Some(gone) = pair.before else { continue };
            for edge in direct_calls(graph, &gone, Direction::Callers, &mut listed.is_complete)? {
                if let Some(still) = edge.symbol.and_then(|caller| looked.unchanged_symbol(caller)) {
                    listed.items.push(caller(graph, pair, &edge, still.line_of(edge.line), false)?);
                }
            }
            if listed.items.len() > limit {
                break;
            }
        }
        Ok(())
    })?;
    let changed: HashSet<SymbolAt> = looked.changes.iter().filter_map(|pair| Some(pair.after?.at())).collect();
    with_graph(&looked.head.resolve_cache, &patience.fraction(2, 3), |graph| {
        let mut modified: Vec<&Pair<'_>> = of(SymbolChange::Modified).collect();
        modified.sort_by_key(|pair| !pair.may_break());
        for pair in modified {
            let Some(now) = pair.after else { continue };
            for edge in direct_calls(graph, &now, Direction::Callers, &mut listed.is_complete)? {
                if edge.symbol != Some(now.at()) {
                    let is_changed = edge.symbol.is_some_and(|caller| changed.contains(&caller));
                    listed.items.push(caller(graph, pair, &edge, edge.line, is_changed)?);
                }
            }
            if listed.items.len() > limit {
                break;
            }
        }
        Ok(())
    })?;
    Ok(listed.fitted(limit, looked.most_bytes))
}

/// The calls that changed symbols gained, and those they lost.
pub(super) fn edges(
    looked: &ImpactInput<'_>,
    limit: usize,
    patience: &TimeLimit,
) -> Result<[PartialList<CallChange>; 2], AppError> {
    let renamed: HashMap<SymbolAt, StableId> =
        looked.pairs.iter().filter_map(|pair| Some((pair.before?.at(), stable_id(&pair.after?)))).collect();
    let (mut is_old_whole, mut is_new_whole) = (true, true);
    let before = with_graph(&looked.base.resolve_cache, &patience.fraction(1, 2), |graph| {
        calls(graph, looked, |pair| pair.before, |at, id| renamed.get(&at).copied().unwrap_or(id), &mut is_old_whole)
    })?;
    let after = with_graph(&looked.head.resolve_cache, &patience.fraction(1, 2), |graph| {
        calls(graph, looked, |pair| pair.after, |_, id| id, &mut is_new_whole)
    })?;
    // A call that was not read on one side would look added or removed.
    let is_complete = is_old_whole && is_new_whole;
    let mut lists =
        [PartialList { is_complete, ..PartialList::new() }, PartialList { is_complete, ..PartialList::new() }];
    if is_complete {
        let only = |these: &BTreeMap<CallKey, CallChange>, those: &BTreeMap<CallKey, CallChange>| {
            these.iter().filter(|(call, _)| !those.contains_key(call)).map(|(_, item)| item.clone()).collect()
        };
        lists[0].items = only(&after, &before);
        lists[1].items = only(&before, &after);
    }
    Ok(lists.map(|list| list.fitted(limit, looked.most_bytes)))
}

/// The index of the change, and the stable id of the callee.
type CallKey = (usize, u128);

fn calls<'p>(
    graph: &Graph<'_>,
    looked: &ImpactInput<'p>,
    side: impl Fn(&Pair<'p>) -> Option<SymbolSide<'p>>,
    lasting: impl Fn(SymbolAt, StableId) -> StableId,
    is_whole: &mut bool,
) -> Result<BTreeMap<CallKey, CallChange>, AppError> {
    let mut found = BTreeMap::new();
    for (number, pair) in looked.changes.iter().enumerate().filter(|(_, pair)| is_called(pair)) {
        let Some(caller) = side(pair) else { continue };
        for edge in direct_calls(graph, &caller, Direction::Callees, is_whole)? {
            let Some(callee) = edge.symbol else { continue };
            let to = GraphSymbol::load(graph, callee)?;
            let id = lasting(callee, StableId::new(&to.file.language, to.symbol()));
            found.entry((number, id.0)).or_insert_with(|| CallChange {
                from: (caller.path().to_owned(), caller.symbol().clone()),
                to: (to.file.path.clone(), to.symbol().clone()),
                path: edge.path.clone(),
                line: edge.line,
                confidence: edge.confidence,
            });
        }
    }
    Ok(found)
}

fn direct_calls(
    graph: &Graph<'_>,
    entry: &SymbolSide<'_>,
    direction: Direction,
    is_whole: &mut bool,
) -> Result<Vec<CallEdge>, AppError> {
    let found = graph.calls(entry.at(), direction, 1)?;
    *is_whole &= graph.finish()?;
    Ok(found.edges)
}

/// Whether it can be called.
fn is_called(pair: &Pair<'_>) -> bool {
    use SymbolKind::{Class, Constructor, Fn, Macro, Method};
    matches!(pair.latest().symbol().kind, Class | Constructor | Fn | Macro | Method)
}

fn stable_id(entry: &SymbolSide<'_>) -> StableId {
    StableId::new(&entry.file.version.language, entry.symbol())
}

/// An unchanged symbol, possibly on other lines.
struct UnchangedSymbol {
    shift: i64,
}

impl UnchangedSymbol {
    fn line_of(&self, line: u32) -> u32 {
        (i64::from(line) + self.shift).max(1) as u32
    }
}

impl ImpactInput<'_> {
    /// Whether a symbol of the base is unchanged in the head.
    fn unchanged_symbol(&self, at: SymbolAt) -> Option<UnchangedSymbol> {
        if self.head.snapshot.members().contains(at.file) {
            return Some(UnchangedSymbol { shift: 0 });
        }
        let pair = self.pairs.iter().find(|pair| pair.before.is_some_and(|before| before.at() == at))?;
        let (before, after) = pair.before.zip(pair.after).filter(|_| pair.change().is_none())?;
        Some(UnchangedSymbol { shift: i64::from(after.symbol().lines.start) - i64::from(before.symbol().lines.start) })
    }
}

fn caller(
    graph: &Graph<'_>,
    pair: &Pair<'_>,
    edge: &CallEdge,
    line: u32,
    is_changed: bool,
) -> Result<Caller, AppError> {
    let from = match edge.symbol {
        Some(at) => {
            let caller = GraphSymbol::load(graph, at)?;
            CallingCode::Symbol(caller.file.path.clone(), caller.symbol().clone())
        }
        None => CallingCode::Module(graph::module_identity_of(graph, edge.file)?),
    };
    let called = pair.latest();
    Ok(Caller {
        from,
        to: (called.path().to_owned(), called.symbol().clone()),
        called: called.at(),
        change: pair.change().unwrap_or(SymbolChange::Modified),
        is_signature_new: pair.has_new_signature(),
        path: edge.path.clone(),
        line,
        confidence: edge.confidence,
        is_changed,
        is_test: edge.is_test,
    })
}

fn mention(path: &str, symbol: &Symbol) -> wire::SymbolMention {
    wire::SymbolMention {
        symbol_id: SymbolId::new(path, symbol).to_string(),
        qualified_name: symbol.qualified_name.clone(),
        kind: symbol.kind.as_str().into(),
        path: path.to_owned(),
    }
}
