//! Checks messages before the SDK sees them, because the SDK silently drops unreadable messages or misclassifies them.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde_json::{Value, json};

/// The result of the check.
pub(super) enum MessageCheck {
    /// It is passed on.
    Valid,
    /// It is answered with this error.
    Invalid(Value),
    /// It is a notification, which gets no answer; a transport that must answer sends this.
    Ignored(Value),
}

/// Checks a message. Empty text is not a message and is valid.
pub(super) fn check_message(text: &[u8]) -> MessageCheck {
    if text.trim_ascii().is_empty() {
        return MessageCheck::Valid;
    }
    let message: Value = match serde_json::from_slice(text) {
        Ok(message) => message,
        Err(error) => {
            return MessageCheck::Invalid(error_response(-32700, &format!("Invalid JSON: {error}."), Value::Null));
        }
    };
    if let Some(messages) = message.as_array().filter(|messages| !messages.is_empty()) {
        return MessageCheck::Invalid(refuse_batch(messages));
    }
    let is_notification = message["method"].is_string() && message.get("id").is_none();
    match find_fault(text, &message) {
        None => MessageCheck::Valid,
        Some((code, what)) if is_notification => MessageCheck::Ignored(error_response(code, what, Value::Null)),
        Some((code, what)) => MessageCheck::Invalid(error_response(code, what, id_of(&message))),
    }
}

/// The data of a request that the transport needs.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) id: RequestId,
    /// Whether it names its protocol revision, as requests without a session do.
    pub(super) declares_revision: bool,
}

/// The request in a valid message; `None` for a notification or a response.
pub(super) fn request(text: &[u8]) -> Option<Request> {
    let mut message: Value = serde_json::from_slice(text).ok()?;
    let id = serde_json::from_value(message["id"].take()).ok()?;
    let declares_revision = declares_revision(&message);
    Some(Request { method: message["method"].as_str()?.to_owned(), id, declares_revision })
}

fn declares_revision(message: &Value) -> bool {
    message["params"]["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some()
}

/// Batches were removed from the protocol. A sender waits for each request of a batch, so each one is refused.
fn refuse_batch(messages: &[Value]) -> Value {
    const BATCH_REFUSED: &str = "Batches are not supported: send each message separately.";
    let ids = messages.iter().map(id_of).filter(|id| !id.is_null());
    let refused: Vec<Value> = ids.map(|id| error_response(-32600, BATCH_REFUSED, id)).collect();
    if refused.is_empty() { error_response(-32600, BATCH_REFUSED, Value::Null) } else { Value::Array(refused) }
}

/// The problem of one message.
fn find_fault(text: &[u8], message: &Value) -> Option<(i32, &'static str)> {
    const NOT_JSON_RPC: (i32, &str) = (-32600, "This is not a JSON-RPC 2.0 message.");
    let is_one = message["jsonrpc"] == "2.0"
        && message.get("id").is_none_or(|id| is_id(id) || message["method"].is_null())
        && (message["method"].is_string() || message.get("result").is_some() || message.get("error").is_some());
    if !is_one {
        return Some(NOT_JSON_RPC);
    }
    if message["method"].is_string() && message.get("params").is_some_and(|params| !params.is_object()) {
        return Some((-32602, "`params` has to be an object."));
    }
    if message["method"] == "tools/call" && message.get("id").is_some() {
        let params = &message["params"];
        let has_arguments =
            params.get("arguments").is_none_or(|arguments| arguments.is_object() || arguments.is_null());
        if !params["name"].is_string() || !has_arguments {
            return Some((-32602, "`params` needs a `name` that is a string and `arguments` that are an object."));
        }
    }
    // The SDK would answer other unreadable messages without the id, or not at all.
    const INVALID_PARAMS: (i32, &str) = (-32602, "Invalid `params` for this method.");
    match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(text) {
        Ok(JsonRpcMessage::Request(request)) => is_misread(&request.request, message).then_some(INVALID_PARAMS),
        Ok(_) => None,
        Err(_) if message["method"].is_string() && message.get("result").or(message.get("error")).is_none() => {
            Some(INVALID_PARAMS)
        }
        Err(_) => Some(NOT_JSON_RPC),
    }
}

/// Whether the SDK took a known method for an unknown one because its parameters are wrong. A request that declares its
/// revision belongs to a revision without `initialize`.
fn is_misread(request: &ClientRequest, message: &Value) -> bool {
    const KNOWN_METHODS: &[&str] = &["ping", "tools/list", "tools/call", "server/discover"];
    let ClientRequest::CustomRequest(custom) = request else { return false };
    KNOWN_METHODS.contains(&custom.method.as_str()) || custom.method == "initialize" && !declares_revision(message)
}

/// Whether the SDK accepts the id.
fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64()
}

/// The id for the answer to a message: its own if it is a number or a string.
fn id_of(message: &Value) -> Value {
    message.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default()
}

/// An error of JSON-RPC.
pub(super) fn error_response(code: i32, message: &str, id: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_messages_pass() {
        let table = [
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", None),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", None),
            ("  ", None),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}", None),
            ("{ this is no JSON", Some((-32700, Value::Null))),
            ("\u{fffd}", Some((-32700, Value::Null))),
            ("[]", Some((-32600, Value::Null))),
            ("{\"id\":7,\"method\":\"ping\"}", Some((-32600, json!(7)))),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", Some((-32600, Value::Null))),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", Some((-32600, json!(1.5)))),
            ("{\"jsonrpc\":\"2.0\",\"id\":\"a\"}", Some((-32600, json!("a")))),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", Some((-32602, json!(1)))),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":\"x\"}}",
                Some((-32602, json!(1))),
            ),
        ];
        for (line, expected) in table {
            let found = match check_message(line.as_bytes()) {
                MessageCheck::Valid => None,
                MessageCheck::Invalid(error) => Some((error["error"]["code"].as_i64(), error["id"].clone())),
                MessageCheck::Ignored(error) => panic!("{line} is a request: {error}"),
            };
            assert_eq!(found, expected.map(|(code, id)| (Some(code), id)), "{line}");
        }
    }

    #[test]
    fn wrong_params_are_refused_with_the_id() {
        let wrong = [
            ("ping", "[]"),
            ("ping", "[1, 2]"),
            ("tools/list", "\"x\""),
            ("tools/list", "7"),
            ("tools/list", "true"),
            ("tools/list", "null"),
            ("tools/list", "{\"_meta\":7}"),
            ("nothing/known", "[]"),
            ("nothing/known", "{\"_meta\":[]}"),
            ("initialize", "{}"),
            ("tools/call", "{\"name\":\"a\",\"_meta\":\"x\"}"),
        ];
        for (method, params) in wrong {
            for id in ["7", "-1", "\"seven\""] {
                let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}");
                let MessageCheck::Invalid(error) = check_message(line.as_bytes()) else { panic!("{line} is wrong") };
                assert_eq!(
                    (&error["error"]["code"], error["id"].to_string()),
                    (&json!(-32602), id.to_owned()),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn unknown_methods_pass_and_notifications_are_ignored() {
        let unknown = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing/known\",\"params\":{\"a\":1}}";
        assert!(matches!(check_message(unknown.as_bytes()), MessageCheck::Valid));
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        let gone = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "_meta": meta } });
        assert!(
            matches!(check_message(gone.to_string().as_bytes()), MessageCheck::Valid),
            "that revision has no such method"
        );
        let note = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\",\"params\":[]}";
        assert!(matches!(check_message(note.as_bytes()), MessageCheck::Ignored(_)));
    }

    #[test]
    fn each_request_of_a_batch_is_refused_with_its_id() {
        let batch = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"a\"},{\"id\":\"b\"}]";
        let MessageCheck::Invalid(answer) = check_message(batch.as_bytes()) else { panic!("batches are not taken") };
        let ids: Vec<&Value> = answer.as_array().expect("a batch again").iter().map(|one| &one["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!("b")]);
    }
}
