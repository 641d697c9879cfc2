//! The impact of a change as the contracts define it: affected callers, and the calls that were added and removed.

use std::collections::HashMap;

use codecompass_model::SymbolAt;
use codecompass_model::ids::SymbolId;
use codecompass_query::diff::{FileSide, Pair};
use codecompass_query::impact::{
    AffectedCaller, CallChange, CallingCode, ImpactRequest, Importer, OutgoingCalls, PartialList, SymbolInFile,
    add_callers_of_deleted, add_callers_of_modified, importers,
};
use codecompass_wire::get_call_graph::CallSite;
use codecompass_wire::{ENVELOPE_BYTES, SymbolIdentity, diff_context as wire, fit};
use serde::Serialize;

use super::json;
use crate::graph::{module_identity, with_graph};
use crate::ref_compare::RefState;
use codecompass_workspace::error::AppError;
use codecompass_workspace::time_limit::TimeLimit;

/// The input of the analysis, and the size of the answer.
#[derive(Clone, Copy)]
pub(super) struct ImpactInput<'l> {
    pub(super) base: &'l RefState,
    pub(super) head: &'l RefState,
    pub(super) pairs: &'l [Pair<'l>],
    pub(super) changes: &'l [Pair<'l>],
    pub(super) limit: usize,
    pub(super) most_bytes: usize,
}

impl<'l> ImpactInput<'l> {
    fn request(&self) -> ImpactRequest<'l> {
        let Self { head, pairs, changes, limit, .. } = *self;
        ImpactRequest { head: &head.snapshot, pairs, changes, limit }
    }

    /// The callers of changed symbols: first of deleted symbols, then of changed headers, then of the rest.
    pub(super) fn callers(&self, time_limit: &TimeLimit) -> Result<PartialList<AffectedCaller>, AppError> {
        let (request, mut list) = (self.request(), PartialList::default());
        with_graph(&self.base.resolve_cache, &time_limit.fraction(1, 3), |graph| {
            Ok(add_callers_of_deleted(graph, &request, &mut list)?)
        })?;
        with_graph(&self.head.resolve_cache, &time_limit.fraction(2, 3), |graph| {
            Ok(add_callers_of_modified(graph, &request, &mut list)?)
        })?;
        Ok(self.fit(list))
    }

    /// The importers of each of these files of the base.
    pub(super) fn importers(
        &self,
        files: &[&FileSide],
        time_limit: &TimeLimit,
    ) -> Result<Vec<Vec<Importer>>, AppError> {
        with_graph(&self.base.resolve_cache, &time_limit.fraction(1, 3), |graph| {
            files.iter().map(|file| Ok(importers(graph, file)?)).collect()
        })
    }

    /// The calls that changed symbols gained, and those they lost.
    pub(super) fn call_changes(&self, time_limit: &TimeLimit) -> Result<[PartialList<CallChange>; 2], AppError> {
        let request = self.request();
        let before = with_graph(&self.base.resolve_cache, &time_limit.fraction(1, 2), |graph| {
            Ok(OutgoingCalls::before(graph, &request)?)
        })?;
        let after = with_graph(&self.head.resolve_cache, &time_limit.fraction(1, 2), |graph| {
            Ok(OutgoingCalls::after(graph, &request)?)
        })?;
        Ok(OutgoingCalls::changes(&before, &after).map(|list| self.fit(list)))
    }

    /// Truncates a list to the size of the answer.
    fn fit<T: ToWire>(&self, mut list: PartialList<T>) -> PartialList<T> {
        // The space around the lists is reserved elsewhere.
        let most_bytes = self.most_bytes.saturating_add(ENVELOPE_BYTES);
        let wire = to_wire(&list);
        let kept = fit(&wire, most_bytes).min(self.limit);
        if kept >= list.items.len() {
            return list;
        }
        list.is_complete = false;
        // Each symbol gets its first item before any gets its second, so that one with many does not fill the list.
        let order = shared_out(&list.items);
        let mut sorted: Vec<(usize, T::Wire)> = wire.into_iter().enumerate().collect();
        sorted.sort_by_key(|(at, _)| order[*at]);
        let sorted: Vec<T::Wire> = sorted.into_iter().map(|(_, item)| item).collect();
        let kept = fit(&sorted, most_bytes).min(self.limit);
        let mut place = order.iter();
        list.items.retain(|_| place.next().is_some_and(|place| place.0 < kept));
        list
    }
}

/// Returns for each item its place when the symbols take turns, and its place in the list.
fn shared_out<T: ToWire>(items: &[T]) -> Vec<(usize, usize)> {
    let mut turns: HashMap<SymbolAt, usize> = HashMap::new();
    let mut by_turn: Vec<(usize, usize)> = Vec::with_capacity(items.len());
    for is_minor in [false, true] {
        for (at, item) in items.iter().enumerate().filter(|(_, item)| item.is_minor() == is_minor) {
            let turn = match item.group() {
                Some(group) => {
                    let turn = turns.entry(group).or_default();
                    *turn += 1;
                    *turn
                }
                None => 0,
            };
            by_turn.push((turn, at));
        }
    }
    by_turn.sort_unstable();
    let mut places = vec![(0, 0); items.len()];
    for (place, (_, at)) in by_turn.into_iter().enumerate() {
        places[at] = (place, at);
    }
    places
}

/// The items of a list as the contracts define them.
pub(super) fn to_wire<T: ToWire>(list: &PartialList<T>) -> Vec<T::Wire> {
    list.items.iter().map(ToWire::wire).collect()
}

/// Has a type on the wire.
pub(super) trait ToWire {
    /// The type.
    type Wire: Serialize;

    /// The value as the contracts define it.
    fn wire(&self) -> Self::Wire;

    /// The symbol whose share of the list it takes, if the list is shared out.
    fn group(&self) -> Option<SymbolAt> {
        None
    }

    /// Whether the other items of its symbol come first.
    fn is_minor(&self) -> bool {
        false
    }
}

impl ToWire for AffectedCaller {
    type Wire = wire::AffectedCaller;

    fn group(&self) -> Option<SymbolAt> {
        Some(self.called)
    }

    fn is_minor(&self) -> bool {
        self.is_test
    }

    fn wire(&self) -> wire::AffectedCaller {
        wire::AffectedCaller {
            from: match &self.from {
                CallingCode::Symbol(caller) => wire::CallerSymbol::Symbol(mention(caller)),
                CallingCode::File(file) => wire::CallerSymbol::Module(SymbolIdentity {
                    path: Some(file.path.clone()),
                    ..module_identity(&file.path, &file.language, &file.facts.symbols)
                }),
            },
            to: wire::ChangedCallee {
                symbol: mention(&self.to),
                change_type: json::change_type(self.change),
                signature_changed: self.is_signature_new,
            },
            call_site: CallSite { file: self.path.clone(), line: self.line },
            confidence: self.confidence.as_str().into(),
            is_changed: self.is_changed,
            is_test: self.is_test,
        }
    }
}

impl ToWire for CallChange {
    type Wire = wire::CallChange;

    fn wire(&self) -> wire::CallChange {
        wire::CallChange {
            from: mention(&self.from),
            to: mention(&self.to),
            call_site: CallSite { file: self.path.clone(), line: self.line },
            confidence: self.confidence.as_str().into(),
        }
    }
}

fn mention(SymbolInFile { path, symbol }: &SymbolInFile) -> wire::SymbolMention {
    wire::SymbolMention {
        symbol_id: SymbolId::new(path, symbol).to_string(),
        qualified_name: symbol.qualified_name.clone(),
        kind: symbol.kind.as_str().into(),
        path: path.to_owned(),
    }
}
