//! Call graphs as answers.

use codecompass_query::graph::{CallEdge, Graph, UnresolvedCall};
use codecompass_wire::{SymbolName, get_call_graph as wire};

use super::text;
use super::{CallList, CallRow, Calls, MAX_CALL_LINES, PossibleCall};
use crate::followups::KnownSymbols;
use crate::graph::{self, EnclosingScope, GraphSymbol};
use codecompass_workspace::error::AppError;
use codecompass_workspace::output::{Reader, Render};

impl CallRow {
    /// A call with the symbol at its far end.
    pub(super) fn new(graph: &Graph<'_>, call: &CallEdge) -> Result<Self, AppError> {
        let far = match call.symbol {
            Some(at) => EnclosingScope::Symbol(GraphSymbol::load(graph, at)?),
            None => EnclosingScope::Module(graph::module_identity_of(graph, call.file)?),
        };
        let via = call.via.map(|via| GraphSymbol::load(graph, via)).transpose()?;
        Ok(Self { call: call.clone(), far, via, implementations: 0 })
    }

    pub(super) fn wire(&self) -> wire::Call {
        let edge = &self.call;
        let is_repeated = edge.sites > 1;
        // Two calls may be on one line, so the list is incomplete only when it is full.
        let is_cut = is_repeated && edge.lines.len() >= MAX_CALL_LINES && edge.sites > edge.lines.len();
        wire::Call {
            symbol: self.far.located(),
            call_site: wire::CallSite { file: edge.path.clone(), line: edge.line },
            confidence: edge.confidence.as_str().into(),
            depth: edge.depth,
            call_count: is_repeated.then_some(edge.sites),
            call_lines: is_repeated.then(|| edge.lines.clone()),
            call_lines_omitted: is_cut.then(|| edge.sites - edge.lines.len()),
            is_test: edge.is_test,
            via: self.via.as_ref().map(|via| {
                let via = via.identity();
                SymbolName { symbol_id: via.symbol_id, name: via.name }
            }),
        }
    }
}

impl Render for Calls {
    type Wire = wire::Calls;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let edges = |side: &Option<CallList>| side.iter().flat_map(|side| &side.edges).map(CallRow::wire).collect();
        let unresolved = |call: &UnresolvedCall| wire::UnresolvedCall {
            name: call.name.clone(),
            line: call.line,
            reason: call.why.into(),
        };
        let (lists, limit) = (self.lists_unresolved, self.limit);
        let missing_path = self.path_to.as_ref().filter(|path| path.chain.is_empty());
        Ok(wire::Calls {
            symbol: self.symbol.located(),
            callers: edges(&self.callers),
            callees: edges(&self.callees),
            total_edges: self.total,
            truncated: self.is_cut,
            unresolved_calls: self.callees.is_some().then_some(self.unresolved.len()),
            outside_calls: self.callees.is_some().then_some(self.external),
            unproved_callers: self.callers.is_some().then_some(self.possible.len()),
            counts: self.counts.as_ref().map(graph::counts),
            unresolved: lists.then(|| self.unresolved.iter().take(limit).map(unresolved).collect()),
            unproved: lists.then(|| self.possible.iter().take(limit).map(PossibleCall::wire).collect()),
            path_to_possible: self.path_to.as_ref().filter(|path| path.possible.contains(&true)).map(|path| {
                path.possible.iter().enumerate().filter(|(_, possible)| **possible).map(|(step, _)| step + 1).collect()
            }),
            ended_at: self
                .frontier
                .iter()
                .flatten()
                .chain(missing_path.iter().flat_map(|path| &path.frontier))
                .map(|(symbol, calls)| wire::FrontierSymbol { symbol: symbol.located(), unresolved_calls: *calls })
                .collect(),
            path_to_depth: missing_path.map(|path| path.depth),
            path_to: self.path_to.as_ref().map(|path| path.chain.iter().map(GraphSymbol::located).collect()),
            suggestions: if self.total == 0 { self.previous.suggestions(&KnownSymbols::default()) } else { None },
            other_matches: graph::summaries(&self.others),
        })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        Ok(text::text(&self, reader))
    }
}

impl PossibleCall {
    fn wire(&self) -> wire::UnprovedCall {
        wire::UnprovedCall {
            from_symbol: self.from.identity(),
            call_site: wire::CallSite { file: self.site.file.path.clone(), line: self.site.line },
            reason: graph::unresolved_reason(&self.site),
        }
    }

    /// The path and the text row: line, enclosing symbol, and why the call is unresolved.
    pub(super) fn row(&self) -> (&str, String) {
        let name = self.from.name().unwrap_or_default();
        (&self.site.file.path, format!("{}? {name}: {}", self.site.line, self.site.why))
    }
}
