//! A call of an agent on its way into the history.

use std::path::Path;
use std::time::Instant;

use codecompass_query::tokens;
use codecompass_workspace::clock::now_ms;
use codecompass_workspace::history::{History, HistoryEntry};
use serde_json::{Map, Value};

use super::call_request::{CallRequest, Content, Reply};
use super::workers::Client;

/// What is known before the call is answered.
pub(super) struct RecordedCall {
    began: Instant,
    time: i64,
    client: String,
    tool: &'static str,
    arguments: Map<String, Value>,
}

impl RecordedCall {
    /// `None` for calls that no agent makes.
    pub(super) fn new(request: &CallRequest) -> Option<Self> {
        let is_agent = matches!(request.client, Client::Pipe | Client::Session(_) | Client::Address(_));
        is_agent.then(|| Self {
            began: Instant::now(),
            time: now_ms(),
            client: request.client_name.clone().unwrap_or_default(),
            tool: request.tool.name,
            arguments: request.arguments.clone(),
        })
    }

    /// Records the call with its reply.
    pub(super) fn record(self, history: &History, reply: &Reply, own: Option<&Path>) {
        let text = match &reply.content {
            Content::Json(json) => json.to_string(),
            Content::Text(text) => text.clone(),
        };
        let answered = (!reply.repositories.is_empty()).then(|| reply.repositories.join(", "));
        let repository = answered.or_else(|| own.map(|own| own.display().to_string())).unwrap_or_default();
        let entry = HistoryEntry {
            time: self.time,
            client: self.client,
            repository,
            tool: self.tool.to_owned(),
            arguments: self.arguments,
            ms: (self.began.elapsed().as_secs_f64() * 10_000.0).round() / 10.0,
            tokens: tokens::upper_estimate(&text),
            found: !reply.is_error && reply.found,
            answer: None,
        };
        history.record(entry, &text);
    }
}
