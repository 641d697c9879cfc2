//! What is a message at all: checked before the SDK sees it, because it drops what it can not read without a word, or
//! calls it something else.

use serde_json::{Value, json};

/// What is wrong with a message, as the JSON-RPC error that answers it; nothing for a good one, and for empty text.
pub(super) fn judge(text: &[u8]) -> Option<Value> {
    if text.trim_ascii().is_empty() {
        return None;
    }
    let message: Value = match serde_json::from_slice(text) {
        Ok(message) => message,
        Err(error) => return Some(complaint(-32700, &format!("This is no JSON: {error}."), Value::Null)),
    };
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    let is_one = message["jsonrpc"] == "2.0"
        && message.get("id").is_none_or(|id| is_id(id) || message["method"].is_null())
        && (message["method"].is_string() || message.get("result").is_some() || message.get("error").is_some());
    let id = message.get("id").filter(|id| is_id(id)).cloned().unwrap_or_default();
    if !is_one {
        return Some(complaint(-32600, "This is no JSON-RPC 2.0 message.", id));
    }
    if message["method"] == "tools/call" && message.get("id").is_some() {
        let params = &message["params"];
        let has_arguments =
            params.get("arguments").is_none_or(|arguments| arguments.is_object() || arguments.is_null());
        if !params["name"].is_string() || !has_arguments {
            return Some(complaint(
                -32602,
                "`params` needs a `name` that is a string and `arguments` that are an object.",
                id,
            ));
        }
    }
    None
}

/// An error of JSON-RPC.
pub(super) fn complaint(code: i32, message: &str, id: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_are_passed_on() {
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
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", Some((-32600, Value::Null))),
            ("{\"jsonrpc\":\"2.0\",\"id\":\"a\"}", Some((-32600, json!("a")))),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", Some((-32602, json!(1)))),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":\"x\"}}",
                Some((-32602, json!(1))),
            ),
        ];
        for (line, expected) in table {
            let found = judge(line.as_bytes()).map(|error| (error["error"]["code"].as_i64(), error["id"].clone()));
            assert_eq!(found, expected.map(|(code, id)| (Some(code), id)), "{line}");
        }
    }
}
