//! Calls of tools with invented arguments, on a small fixed workspace: each has an answer, or an error with a code that is not
//! `internal_error`, and no error repeats a long argument.
//!
//! The first byte chooses the tool and the form of the answer. Then come arguments: a byte chooses the parameter (one more than there
//! are is a name that no tool declares), a byte the kind of value, and further bytes its length and text. So a few bytes make a
//! long, deep or wide value.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use codecompass::fuzzing::{Workspace, tools};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

/// The maximum length of an error.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// The maximum length of one value.
const MAX_VALUE_BYTES: usize = 1 << 20;

const FILES: &[(&str, &str)] = &[
    ("src/a.py", "def run():\n    return helper()\n\n\ndef helper():\n    return 1\n"),
    ("src/deep/b.rs", "pub struct Kind;\n\nimpl Kind {\n    pub fn run(&self) -> u32 {\n        1\n    }\n}\n"),
    ("notes.md", "# Notes\n\nWhat runs, and what helps.\n"),
];

static WORKSPACE: LazyLock<Workspace> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("codecompass-fuzz-{}", std::process::id()));
    let root = folder.join("work");
    for (path, text) in FILES {
        write(&root.join(path), text);
    }
    let long_line = "a".repeat(100_000);
    write(&root.join("long.txt"), &long_line);
    // SAFETY: this runs once, before any other thread is started by us.
    unsafe { std::env::set_var("CODECOMPASS_HOME", folder.join("data")) };
    Workspace::open(&root).expect("the workspace is indexed")
});

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.iter().copied();
    let Some(first) = bytes.next() else { return };
    let tools = tools();
    let (tool, params) = &tools[usize::from(first >> 1) % tools.len()];
    let arguments = arguments(params, &mut bytes);
    let reply = WORKSPACE.call(tool, arguments, first & 1 == 1).expect("every call is answered");
    if let Some(code) = reply.code {
        assert!(!code.is_empty() && code != "internal_error", "{tool}: {}", reply.text);
        assert!(reply.text.len() <= MAX_ERROR_BYTES, "{tool}: an error of {} bytes", reply.text.len());
    }
});

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
    std::fs::write(path, text).expect("a file can be written");
}

/// Reads arguments until the bytes end.
fn arguments(params: &[&str], bytes: &mut impl Iterator<Item = u8>) -> Map<String, Value> {
    let mut arguments = Map::new();
    while let (Some(param), Some(kind)) = (bytes.next(), bytes.next()) {
        let name = params.get(usize::from(param) % (params.len() + 1)).copied().unwrap_or("undeclared");
        arguments.insert(name.to_owned(), value(kind, bytes));
    }
    arguments
}

/// Reads a value of a kind.
fn value(kind: u8, bytes: &mut impl Iterator<Item = u8>) -> Value {
    match kind % 8 {
        0 | 1 => json!(text(bytes)),
        2 => json!(repeated(bytes)),
        3 => json!([text(bytes), repeated(bytes)]),
        4 => {
            let (item, count) = (text(bytes), number(bytes).unsigned_abs() as usize);
            json!(vec![item.clone(); count.min(MAX_VALUE_BYTES / (item.len() + 1))])
        }
        5 => json!(number(bytes)),
        6 => json!(bytes.next().is_some_and(|byte| byte & 1 == 1)),
        _ => nested(number(bytes).unsigned_abs() as usize),
    }
}

/// A text of up to 255 bytes; bytes that are no UTF-8 become replacement characters.
fn text(bytes: &mut impl Iterator<Item = u8>) -> String {
    let length = usize::from(bytes.next().unwrap_or_default());
    String::from_utf8_lossy(&bytes.take(length).collect::<Vec<u8>>()).into_owned()
}

/// A short text many times over.
fn repeated(bytes: &mut impl Iterator<Item = u8>) -> String {
    let (count, fragment) = (number(bytes).unsigned_abs() as usize, text(bytes));
    fragment.repeat(count.min(MAX_VALUE_BYTES / fragment.len().max(1)))
}

/// Lists in lists. A message can not be nested deeper than this: its reader refuses it.
fn nested(depth: usize) -> Value {
    (0..depth % 128).fold(Value::Null, |inner, _| json!([inner]))
}

/// A number of up to eight bytes; the first byte has their count, so that small ones are common.
fn number(bytes: &mut impl Iterator<Item = u8>) -> i64 {
    let count = usize::from(bytes.next().unwrap_or_default() % 9);
    bytes.take(count).fold(0, |number: i64, byte| number.wrapping_shl(8) | i64::from(byte))
}
