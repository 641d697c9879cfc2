//! Call graphs as JSON.

use codecompass_query::graph::{CallEdge, Graph};
use serde_json::{Map, Value, json};

use super::batch::BatchItem;
use super::call_text;
use super::followups::{KnownSymbols, PreviousCall};
use super::get_call_graph::{CallList, CallRow, Calls, MAX_CALL_LINES, PossibleCall, TOOL};
use super::graph::{self, EnclosingScope, GraphSymbol};
use crate::error::AppError;
use crate::output::Reader;

impl CallRow {
    /// A call with the symbol at its far end.
    pub(super) fn new(graph: &Graph<'_>, call: &CallEdge) -> Result<Self, AppError> {
        let far = match call.symbol {
            Some(at) => EnclosingScope::Symbol(GraphSymbol::load(graph, at)?),
            None => EnclosingScope::Module(graph::module_json(graph, call.file)?),
        };
        let via = call.via.map(|via| GraphSymbol::load(graph, via)).transpose()?;
        Ok(Self { call: call.clone(), far, via, implementations: 0 })
    }

    pub(super) fn json(&self) -> Value {
        let edge = &self.call;
        let mut fields = Map::new();
        fields.insert("symbol".into(), Value::Object(self.far.located()));
        fields.insert("call_site".into(), json!({ "file": edge.path, "line": edge.line }));
        fields.insert("confidence".into(), json!(edge.confidence.as_str()));
        fields.insert("depth".into(), json!(edge.depth));
        if edge.sites > 1 {
            fields.insert("call_count".into(), json!(edge.sites));
            fields.insert("call_lines".into(), json!(edge.lines));
            // Two calls may be on one line, so the list is incomplete only when it is full.
            if edge.lines.len() >= MAX_CALL_LINES && edge.sites > edge.lines.len() {
                fields.insert("call_lines_omitted".into(), json!(edge.sites - edge.lines.len()));
            }
        }
        if edge.is_test {
            fields.insert("is_test".into(), json!(true));
        }
        if let Some(via) = &self.via {
            let via = via.identity();
            fields.insert("via".into(), json!({ "symbol_id": via["symbol_id"], "name": via["name"] }));
        }
        Value::Object(fields)
    }
}

impl BatchItem for Calls {
    fn json(&self) -> Result<Value, AppError> {
        let edges = |side: &Option<CallList>| -> Vec<Value> {
            side.iter().flat_map(|side| &side.edges).map(CallRow::json).collect()
        };
        let mut json = json!({
            "symbol": self.symbol.located(),
            "callers": edges(&self.callers),
            "callees": edges(&self.callees),
            "total_edges": self.total,
            "truncated": self.is_cut,
        });
        if self.callees.is_some() {
            json["unresolved_calls"] = json!(self.unresolved.len());
            json["outside_calls"] = json!(self.external);
        }
        if self.callers.is_some() {
            json["unproved_callers"] = json!(self.possible.len());
        }
        if let Some(counts) = &self.counts {
            json["counts"] = graph::counts_json(counts);
        }
        if self.lists_unresolved {
            let unresolved = self.unresolved.iter().take(self.limit);
            let listed = unresolved.map(|call| json!({ "name": call.name, "line": call.line, "reason": call.why }));
            json["unresolved"] = json!(listed.collect::<Vec<_>>());
            json["unproved"] = json!(self.possible.iter().take(self.limit).map(PossibleCall::json).collect::<Vec<_>>());
        }
        if let Some(path) = &self.path_to {
            json["path_to"] = json!(path.chain.iter().map(GraphSymbol::located).collect::<Vec<_>>());
            if path.chain.is_empty() {
                json["path_to_depth"] = json!(path.depth);
            }
        }
        if self.total == 0 {
            PreviousCall::new(TOOL.name, "symbol_name", &self.asked).add_to(&mut json, KnownSymbols::default());
        }
        if !self.others.is_empty() {
            json["other_matches"] = json!(self.others.iter().map(GraphSymbol::summary_json).collect::<Vec<_>>());
        }
        Ok(json)
    }

    fn text(&self, reader: Reader) -> Result<String, AppError> {
        Ok(call_text::text(self, reader))
    }
}

impl PossibleCall {
    fn json(&self) -> Value {
        let call_site = json!({ "file": self.site.file.path, "line": self.site.line });
        json!({ "from_symbol": self.from.identity(), "call_site": call_site, "reason": graph::unresolved_reason(&self.site) })
    }

    /// The path and the text row: line, enclosing symbol, and why the call is unresolved.
    pub(super) fn row(&self) -> (&str, String) {
        let name = self.from.name().unwrap_or_default();
        (&self.site.file.path, format!("{}? {name}: {}", self.site.line, self.site.why))
    }
}
