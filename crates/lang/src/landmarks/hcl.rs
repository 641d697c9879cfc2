//! Finds the blocks of Terraform and related languages, under the address that other code uses: `aws_s3_bucket.logs`,
//! `var.region`. Values at the top level, and those of `locals`, are keys.

use codecompass_model::SymbolKind;

use super::scan::{Scanner, comment_above, is_word};
use super::{Landmark, LandmarkBuilder};

/// The maximum number of labels; more than any block has.
const MAX_LABELS: usize = 8;

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    let text = reading.text;
    let mut scan = Scanner::new(text);
    let mut depth = 0usize;
    let mut in_locals = false;
    // Whether a line begins here.
    let mut begins = true;
    while let Some(byte) = scan.byte() {
        let start = scan.at;
        if scan.skip_comment(&["#", "//"]) {
            continue;
        }
        match byte {
            b'\n' => {
                scan.at += 1;
                begins = true;
            }
            b'"' => scan.skip_string(true),
            b'<' if scan.starts_with("<<") => skip_heredoc(&mut scan),
            b'{' | b'[' | b'(' => {
                scan.at += 1;
                depth += 1;
                begins = true;
            }
            b'}' | b']' | b')' => {
                scan.at += 1;
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    reading.close_to(0, scan.at);
                }
                begins = false;
            }
            byte if is_word(byte) && begins && depth == 0 => {
                reading.close_to(0, start);
                in_locals = header(reading, &mut scan, start);
                begins = false;
            }
            byte if is_word(byte) && begins && depth == 1 && in_locals => {
                key(reading, &mut scan, start, "local");
                begins = false;
            }
            b' ' | b'\t' | b'\r' => scan.at += 1,
            _ => {
                scan.at += 1;
                begins = false;
            }
        }
    }
}

/// Opens the block or the key that begins here; returns whether it contains local values.
fn header(reading: &mut LandmarkBuilder<'_>, scan: &mut Scanner<'_>, start: usize) -> bool {
    let text = reading.text;
    let kind = scan.word(|byte| is_word(byte) || byte == b'-');
    let mut labels: Vec<(usize, &str)> = Vec::new();
    loop {
        while scan.byte().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            scan.at += 1;
        }
        let at = scan.at;
        match scan.byte() {
            Some(b'"') if labels.len() < MAX_LABELS => {
                scan.skip_string(true);
                let end = scan.at.saturating_sub(1).max(at + 1);
                labels.extend(text.get(at + 1..end).map(|label| (at + 1, label)));
            }
            Some(byte) if is_word(byte) && labels.len() < MAX_LABELS => {
                labels.push((at, scan.word(|byte| is_word(byte) || byte == b'-')));
            }
            Some(b'{') => break,
            Some(b'=') if labels.is_empty() && !scan.starts_with("==") => {
                scan.at = start;
                key(reading, scan, start, "");
                return false;
            }
            _ => return false,
        }
    }
    let (at, name) = labels.last().copied().unwrap_or((start, kind));
    let mut parts: Vec<&str> = Vec::new();
    match kind {
        // References use a shorter address than declarations.
        "resource" => {}
        "variable" => parts.push("var"),
        _ if labels.is_empty() => {}
        _ => parts.push(kind),
    }
    parts.extend(labels.iter().rev().skip(1).rev().map(|(_, label)| *label));
    let doc = comment_above(text, start, &["#", "//"]);
    let landmark =
        Landmark { kind: SymbolKind::Block, name, name_prefix: &parts.join("."), start, at, header_end: scan.at, doc };
    reading.open(landmark) && kind == "locals"
}

/// Adds the key of a value that begins here.
fn key(reading: &mut LandmarkBuilder<'_>, scan: &mut Scanner<'_>, start: usize, before: &str) {
    let text = reading.text;
    let name = scan.word(|byte| is_word(byte) || byte == b'-');
    let rest = text.get(scan.at..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    if !line.trim_start().starts_with('=') || line.trim_start().starts_with("==") {
        return;
    }
    let header_end = scan.at + line.trim_end().len();
    let doc = comment_above(text, start, &["#", "//"]);
    let landmark = Landmark { kind: SymbolKind::Key, name, name_prefix: before, start, at: start, header_end, doc };
    reading.add(landmark, header_end);
}

/// Advances past a heredoc. Its end marker is on a line of its own.
fn skip_heredoc(scan: &mut Scanner<'_>) {
    scan.at += 2;
    if scan.byte() == Some(b'-') {
        scan.at += 1;
    }
    let mark = scan.word(is_word);
    if mark.is_empty() {
        return;
    }
    loop {
        scan.skip_line();
        if scan.byte().is_none() {
            return;
        }
        scan.at += 1;
        while scan.byte().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            scan.at += 1;
        }
        if scan.starts_with(mark) && scan.word(is_word) == mark {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, render_landmarks};

    #[test]
    fn blocks_are_named_by_address() {
        let text = "# Logs.\nresource \"aws_s3_bucket\" \"logs\" {\n  bucket = \"x-${var.a}\"\n  lifecycle { a = 1 }\n}\nvariable \"region\" {}\ndata \"aws_ami\" \"this\" {\n}\nlocals {\n  a = 1\n  b = {\n    c = 2\n  }\n}\nterraform { }\nregion = \"eu\"\n";
        let expected = [
            "block aws_s3_bucket.logs 2-5",
            "block var.region 6-6",
            "block data.aws_ami.this 7-8",
            "block locals 9-14",
            " key locals.local.a 10-10",
            " key locals.local.b 11-11",
            "block terraform 15-15",
            "key region 16-16",
        ];
        assert_eq!(render_landmarks("terraform", text), expected);
        let facts = facts("terraform", text);
        assert_eq!(facts.symbols[0].name, "logs");
        assert_eq!(facts.symbols[0].signature, "resource \"aws_s3_bucket\" \"logs\"");
        assert_eq!(facts.symbols[0].doc.map(|doc| doc.text(text)), Some("# Logs."));
    }

    #[test]
    fn heredocs_are_skipped() {
        let text = "a \"b\" {\n  x = <<-EOT\n  }\n  c \"d\" {\n  EOT\n}\ne \"f\" {\n  g = \"${h(\"i\")} {\"\n}\n";
        assert_eq!(render_landmarks("terraform", text), ["block a.b 1-6", "block e.f 7-9"]);
        assert!(render_landmarks("terraform", "a = <<X\n{").len() == 1);
    }
}
