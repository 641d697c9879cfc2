//! Fuzzes the message layer with random lines: each must be passed on, refused or ignored, and always the right one of
//! these.
//!
//! The source file of the product is included directly, because it needs nothing else of the program.
#![no_main]

#[path = "../../crates/serve/src/mcp/message.rs"]
mod message;

use libfuzzer_sys::fuzz_target;
use message::{MessageCheck, check_message};
use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let read: Option<Value> = serde_json::from_slice(data).ok();
    let ids = read.as_ref().map(requests).unwrap_or_default();
    match check_message(data) {
        MessageCheck::Valid if data.trim_ascii().is_empty() => {}
        // The SDK accepts the message and parses it as the same kind: a request stays a request with its id.
        MessageCheck::Valid => {
            let taken = serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(data)
                .expect("because the SDK parses valid messages");
            let id = match &taken {
                JsonRpcMessage::Request(request) => {
                    Some(serde_json::to_value(&request.id).expect("because an id is JSON"))
                }
                _ => None,
            };
            assert_eq!(id.into_iter().collect::<Vec<_>>(), ids, "every request gets an answer");
        }
        // Every waiting sender gets this answer, each with its own id.
        MessageCheck::Invalid(refusal) => {
            let refusals = refusal.as_array().cloned().unwrap_or_else(|| vec![refusal.clone()]);
            assert!(!refusals.is_empty());
            for one in &refusals {
                assert!(
                    one["jsonrpc"] == "2.0" && one["error"]["code"].is_i64() && one["error"]["message"].is_string(),
                    "{one}"
                );
            }
            let told: Vec<Value> = refusals.iter().map(|one| one["id"].clone()).filter(|id| !id.is_null()).collect();
            // Includes messages that are not requests but have an id: their sender may wait for an answer.
            assert_eq!(told, read.as_ref().map(message_id).unwrap_or_default());
        }
        MessageCheck::Ignored(complaint) => {
            assert!(ids.is_empty() && complaint["id"].is_null(), "a sender waits for an answer: {complaint}")
        }
    }
});

/// Returns the ids of the requests: of a message with a method, or of each such message in a batch.
fn requests(message: &Value) -> Vec<Value> {
    let is_id = |id: &&Value| id.is_string() || id.is_i64();
    let of =
        |message: &Value| message["method"].is_string().then(|| message.get("id").filter(is_id).cloned()).flatten();
    match message {
        Value::Array(messages) => messages.iter().filter_map(of).collect(),
        message => of(message).into_iter().collect(),
    }
}

/// Returns the ids of all messages, requests or not.
fn message_id(message: &Value) -> Vec<Value> {
    let of = |message: &Value| message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    match message {
        Value::Array(messages) => messages.iter().filter_map(of).collect(),
        message => of(message).into_iter().collect(),
    }
}
