//! The message layer under invented lines: whatever comes in, it is passed on, refused or left unheard, and never the wrong
//! one of these.
//!
//! The file of the product is taken in as it is, because it needs nothing else of the program.
#![no_main]

#[path = "../../crates/app/src/mcp/message.rs"]
mod message;

use libfuzzer_sys::fuzz_target;
use message::{Verdict, judge};
use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let read: Option<Value> = serde_json::from_slice(data).ok();
    let ids = read.as_ref().map(requests).unwrap_or_default();
    match judge(data) {
        Verdict::Good if data.trim_ascii().is_empty() => {}
        // The SDK takes it, and takes it for what it is: a request stays one, under its own id.
        Verdict::Good => {
            let taken =
                serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(data).expect("the SDK reads what is passed on");
            let id = match &taken {
                JsonRpcMessage::Request(request) => Some(serde_json::to_value(&request.id).expect("an id is JSON")),
                _ => None,
            };
            assert_eq!(id.into_iter().collect::<Vec<_>>(), ids, "who waits for an answer gets one");
        }
        // Whoever waits for an answer gets this one, each under its own id.
        Verdict::Wrong(refusal) => {
            let refusals = refusal.as_array().cloned().unwrap_or_else(|| vec![refusal.clone()]);
            assert!(!refusals.is_empty());
            for one in &refusals {
                assert!(
                    one["jsonrpc"] == "2.0" && one["error"]["code"].is_i64() && one["error"]["message"].is_string(),
                    "{one}"
                );
            }
            let told: Vec<Value> = refusals.iter().map(|one| one["id"].clone()).filter(|id| !id.is_null()).collect();
            // Also what is no request, but has an id: its sender may take it for one.
            assert_eq!(told, read.as_ref().map(borne).unwrap_or_default());
        }
        Verdict::Unheard(complaint) => {
            assert!(ids.is_empty() && complaint["id"].is_null(), "somebody waits: {complaint}")
        }
    }
});

/// The ids under which somebody waits: of a message with a method, or of each of a batch.
fn requests(message: &Value) -> Vec<Value> {
    let is_id = |id: &&Value| id.is_string() || id.is_i64();
    let of =
        |message: &Value| message["method"].is_string().then(|| message.get("id").filter(is_id).cloned()).flatten();
    match message {
        Value::Array(messages) => messages.iter().filter_map(of).collect(),
        message => of(message).into_iter().collect(),
    }
}

/// The ids that messages bear, whatever they are.
fn borne(message: &Value) -> Vec<Value> {
    let of = |message: &Value| message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    match message {
        Value::Array(messages) => messages.iter().filter_map(of).collect(),
        message => of(message).into_iter().collect(),
    }
}
