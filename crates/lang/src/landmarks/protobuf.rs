//! Finds messages, enums, services and their calls in interface descriptions. Fields are not landmarks: text search
//! finds them.

use codecompass_model::SymbolKind;

use super::scan::{Scanner, comment_above, is_word};
use super::{Landmark, LandmarkBuilder};

/// The maximum nesting depth to read.
const MAX_DEPTH: usize = 32;

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    let text = reading.text;
    let mut scan = Scanner::new(text);
    // For each open brace, the number of landmarks that were open before it.
    let mut braces: Vec<usize> = Vec::new();
    // The number of braces beyond the maximum depth, which are only counted.
    let mut deeper = 0usize;
    // Whether a statement begins here.
    let mut begins = true;
    // Whether the open landmark is a call, which may end without braces.
    let mut is_call = false;
    while let Some(byte) = scan.byte() {
        let start = scan.at;
        if scan.skip_comment(&["//"]) {
            continue;
        }
        match byte {
            b'"' | b'\'' => scan.skip_string(true),
            b'{' => {
                scan.at += 1;
                let before =
                    reading.depth() - usize::from(std::mem::take(&mut is_call) || awaits_brace(reading, &braces));
                if braces.len() < MAX_DEPTH {
                    braces.push(before);
                } else {
                    deeper += 1;
                }
                begins = true;
            }
            b'}' => {
                scan.at += 1;
                match deeper {
                    0 => reading.close_to(braces.pop().unwrap_or(0), scan.at),
                    _ => deeper -= 1,
                }
                (begins, is_call) = (true, false);
            }
            b';' => {
                scan.at += 1;
                if std::mem::take(&mut is_call) || awaits_brace(reading, &braces) {
                    reading.close_to(reading.depth() - 1, scan.at);
                }
                begins = true;
            }
            byte if is_word(byte) => {
                let word = scan.word(is_word);
                let is_near = deeper == 0 && braces.len() < MAX_DEPTH;
                if std::mem::take(&mut begins) && is_near && !awaits_brace(reading, &braces) {
                    is_call = statement(reading, &mut scan, start, word);
                }
            }
            _ => scan.at += 1,
        }
    }
}

/// Returns whether a landmark is open but its brace has not occurred yet.
fn awaits_brace(reading: &LandmarkBuilder<'_>, braces: &[usize]) -> bool {
    let is_braced = |at: usize| braces.contains(&at);
    reading.depth() > 0 && !is_braced(reading.depth() - 1)
}

/// Opens the landmark of a statement; returns whether it is a call.
fn statement(reading: &mut LandmarkBuilder<'_>, scan: &mut Scanner<'_>, start: usize, word: &str) -> bool {
    let kind = match word {
        "message" => SymbolKind::Message,
        "enum" => SymbolKind::Enum,
        "service" => SymbolKind::Service,
        "rpc" => SymbolKind::Rpc,
        "package" => {
            scan.skip_space();
            let name = scan.word(|byte| is_word(byte) || byte == b'.');
            if reading.depth() == 0 && reading.prefix.is_empty() {
                reading.prefix = crate::text::truncate(name, super::MAX_NAME_BYTES).to_owned();
            }
            return false;
        }
        _ => return false,
    };
    scan.skip_space();
    let at = scan.at;
    let name = scan.word(is_word);
    let rest = reading.text.get(scan.at..).unwrap_or_default();
    let next = rest.trim_start().as_bytes().first().copied();
    // A field may have this word as its name.
    if !matches!((kind, next), (SymbolKind::Rpc, Some(b'(')) | (_, Some(b'{'))) {
        return false;
    }
    let ends: &[char] = if kind == SymbolKind::Rpc { &['{', ';'] } else { &['{'] };
    let header = rest.find(ends).map_or(0, |end| rest[..end].trim_end().len());
    let header_end = scan.at + header;
    let doc = comment_above(reading.text, start, &["//"]);
    reading.open(Landmark { kind, name, name_prefix: "", start, at, header_end, doc }) && kind == SymbolKind::Rpc
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, render_landmarks};

    #[test]
    fn finds_messages_services_and_rpcs() {
        let text = "syntax = \"proto3\";\npackage shop.v1;\noption x = { a: 1 };\n// An order.\nmessage Order {\n  message Line { string id = 1; }\n  enum State { NEW = 0; }\n  oneof z { int32 message = 3; }\n  repeated Line lines = 4; // }\n}\nservice Shop {\n  rpc Get(Id) returns (Order);\n  rpc Put (stream Order)\n    returns (Id) { option y = {}; }\n}\nmessage Empty {}\n";
        let expected = [
            "message shop.v1.Order 5-10",
            " message shop.v1.Order.Line 6-6",
            " enum shop.v1.Order.State 7-7",
            "service shop.v1.Shop 11-15",
            " rpc shop.v1.Shop.Get 12-12",
            " rpc shop.v1.Shop.Put 13-14",
            "message shop.v1.Empty 16-16",
        ];
        assert_eq!(render_landmarks("protobuf", text), expected);
        let facts = facts("protobuf", text);
        assert_eq!(facts.symbols[0].doc.map(|doc| doc.text(text)), Some("// An order."));
        assert_eq!(facts.symbols[5].signature, "rpc Put (stream Order) returns (Id)");
    }

    #[test]
    fn broken_files_keep_clear_landmarks() {
        assert_eq!(
            render_landmarks("protobuf", "message A {\nmessage B\n}\nmessage C {"),
            ["message A 1-3", "message C 4-4"]
        );
        assert!(render_landmarks("protobuf", &"message A {".repeat(2_000)).len() <= 32);
        assert!(render_landmarks("protobuf", "message = 1; enum").is_empty());
    }
}
