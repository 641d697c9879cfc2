//! Finds the keys of JSON and related formats, on two levels. Comments, trailing commas and keys without quotes are
//! accepted. A list at the top level has no landmarks: its content is data.

use codecompass_model::SymbolKind;

use super::scan::{Scanner, is_word};
use super::{Landmark, LandmarkBuilder};

/// The maximum number of key levels.
const MAX_LEVELS: usize = 2;

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    let text = reading.text;
    let mut scan = Scanner::new(text);
    // The current depth, and whether each of the outer levels is an object.
    let mut depth = 0;
    let mut is_object = [false; MAX_LEVELS + 1];
    // Whether a key may occur here, and the last word that may be one.
    let mut expects = false;
    let mut word: Option<(usize, usize)> = None;
    while let Some(byte) = scan.byte() {
        let start = scan.at;
        if scan.skip_comment(&["//"]) {
            continue;
        }
        match byte {
            b'"' | b'\'' => {
                scan.skip_string(false);
                let end = scan.at.saturating_sub(1).max(start + 1);
                word = Some((start + 1, end)).filter(|_| expects);
                expects = false;
            }
            b'{' | b'[' => {
                scan.at += 1;
                depth += 1;
                if let Some(kind) = is_object.get_mut(depth) {
                    *kind = byte == b'{';
                }
                expects = byte == b'{';
                word = None;
            }
            b'}' | b']' => {
                if (1..=MAX_LEVELS).contains(&depth) {
                    reading.close_to(depth - 1, start);
                }
                depth = depth.saturating_sub(1);
                scan.at += 1;
                expects = false;
                word = None;
            }
            b',' => {
                if (1..=MAX_LEVELS).contains(&depth) {
                    reading.close_to(depth - 1, start);
                }
                scan.at += 1;
                expects = true;
                word = None;
            }
            b':' => {
                scan.at += 1;
                // Only if all enclosing levels are objects with a key of their own.
                let is_key =
                    (1..=MAX_LEVELS).contains(&depth) && is_object[1..=depth].iter().all(|is_object| *is_object);
                if let Some(word) = word.take().filter(|_| is_key && reading.depth() == depth - 1) {
                    key(reading, &scan, word);
                }
                expects = false;
            }
            byte if is_word(byte) || byte == b'$' => {
                scan.word(|byte| is_word(byte) || matches!(byte, b'$' | b'-' | b'.' | b'+'));
                word = Some((start, scan.at)).filter(|_| expects);
                expects = false;
            }
            _ => scan.at += 1,
        }
    }
}

/// Opens a key; the scanner is before its value.
fn key(reading: &mut LandmarkBuilder<'_>, scan: &Scanner<'_>, (start, end): (usize, usize)) {
    let text = reading.text;
    let Some(name) = text.get(start..end) else { return };
    let is_quoted = start > 0 && matches!(text.as_bytes()[start - 1], b'"' | b'\'');
    let begin = start - usize::from(is_quoted);
    // The header is the key, with its value if that is a single one on the same line.
    let header_end = text[scan.at..].bytes().take(super::MAX_HEADER_BYTES).position(|byte| byte == b'\n');
    let mut header_end = header_end.map_or(scan.at, |end| scan.at + end);
    while !text.is_char_boundary(header_end) {
        header_end -= 1;
    }
    let written = text[begin..header_end].trim_end().trim_end_matches(',');
    let bare = written.trim_end_matches(['{', '[']).trim_end();
    let header = if bare.len() < written.len() { bare.trim_end_matches(':') } else { written };
    let landmark = Landmark {
        kind: SymbolKind::Key,
        name,
        name_prefix: "",
        start: begin,
        at: start,
        header_end: begin + header.len(),
        doc: None,
    };
    reading.open(landmark);
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, render_landmarks};

    #[test]
    fn finds_two_levels_of_keys() {
        let text = "{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"build\": \"tsc\",\n    \"deep\": { \"no\": 1 }\n  },\n  \"files\": [{ \"no\": 1 }]\n}\n";
        let expected =
            ["key name 2-2", "key scripts 3-6", " key scripts.build 4-4", " key scripts.deep 5-5", "key files 7-7"];
        assert_eq!(render_landmarks("json", text), expected);
        let signatures: Vec<String> =
            facts("json", text).symbols.iter().map(|symbol| symbol.signature.clone()).collect();
        assert_eq!(signatures[..3], ["\"name\": \"x\"", "\"scripts\"", "\"build\": \"tsc\""]);
    }

    #[test]
    fn reads_json5() {
        let text = "// {\n{ a: 1, /* \"no\": */ 'b-c': \"\\\"}\", $d: { e: [1, 2,], }, }";
        assert_eq!(
            render_landmarks("jsonc".get(..4).unwrap_or(""), text),
            ["key a 2-2", "key b-c 2-2", "key $d 2-2", " key $d.e 2-2"]
        );
    }

    #[test]
    fn broken_and_listed_objects_keep_clear_keys() {
        assert!(render_landmarks("json", "[{ \"a\": 1 }]").is_empty());
        assert!(render_landmarks("json", "\"a\": 1").is_empty());
        assert_eq!(render_landmarks("json", "{ \"a\": { \"b\": \"c"), ["key a 1-1", " key a.b 1-1"]);
        assert_eq!(render_landmarks("json", "{ \"a\": }}]] , \"b\": 1"), ["key a 1-1"]);
    }
}
