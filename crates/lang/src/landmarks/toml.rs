//! Finds the tables and keys of TOML: a table has the name in its header and contains its keys.

use codecompass_model::SymbolKind;

use super::scan::lines;
use super::{Landmark, LandmarkBuilder};

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    // The end of a value over several lines: quotes, or the number of open brackets.
    let mut quotes: Option<&str> = None;
    let mut brackets = 0;
    for (start, line) in lines(reading.text) {
        let trimmed = line.trim();
        if let Some(mark) = quotes {
            quotes = Some(mark).filter(|mark| !line.contains(mark));
            continue;
        }
        if brackets > 0 {
            brackets = open_after(trimmed, brackets);
            continue;
        }
        let at = start + (line.len() - line.trim_start().len());
        if let Some(header) = trimmed.strip_prefix('[') {
            let header = header.strip_prefix('[').unwrap_or(header);
            let Some(written) = header.find(']').map(|end| header[..end].trim()) else { continue };
            reading.close_to(0, start);
            key(reading, written, (at, at + trimmed.len()), at);
            continue;
        }
        let Some(end) = equals_offset(trimmed) else { continue };
        let around = usize::from(reading.depth() > 0 && is_table(reading));
        reading.close_to(around, start);
        key(reading, trimmed[..end].trim_end(), (at, at + trimmed.len()), at);
        let value = trimmed[end + 1..].trim_start();
        quotes = ["\"\"\"", "'''"].into_iter().find(|mark| value.starts_with(mark) && !value[3..].contains(mark));
        if value.starts_with(['[', '{']) {
            brackets = open_after(value, 0);
        }
    }
}

/// Returns whether the outermost open key is a table.
fn is_table(reading: &LandmarkBuilder<'_>) -> bool {
    let outer = reading.open.first().map(|at| &reading.entries[*at as usize]);
    outer.is_some_and(|outer| outer.signature.starts_with('['))
}

fn key(reading: &mut LandmarkBuilder<'_>, written: &str, (start, header_end): (usize, usize), from: usize) {
    let (before, name) = last_part(written);
    let before = before.replace(['"', '\''], "");
    let bare = name.trim_matches(['"', '\'']);
    let at = reading.text[from..header_end].find(bare).map_or(from, |found| from + found);
    let landmark =
        Landmark { kind: SymbolKind::Key, name: bare, name_prefix: &before, start, at, header_end, doc: None };
    reading.open(landmark);
}

/// Splits a dotted key into its qualifier and its last part.
fn last_part(written: &str) -> (&str, &str) {
    let mut quote = None;
    let mut dot = None;
    for (at, char) in written.char_indices() {
        match (quote, char) {
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            (None, '.') => dot = Some(at),
            _ => {}
        }
    }
    dot.map_or(("", written), |dot| (written[..dot].trim(), written[dot + 1..].trim()))
}

/// Returns the offset of the equals sign after a key; `None` if the line does not begin with a key.
fn equals_offset(line: &str) -> Option<usize> {
    let mut quote = None;
    for (at, char) in line.char_indices() {
        match (quote, char) {
            (None, '=') => return (at > 0).then_some(at),
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            (None, _) if char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | ' ' | '\t') => {}
            (None, _) => return None,
            _ => {}
        }
    }
    None
}

/// Returns the number of open brackets after a line.
fn open_after(line: &str, mut open: usize) -> usize {
    let mut quote = None;
    for byte in line.bytes() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(mark), _) if mark == byte => quote = None,
            (None, b'#') => break,
            (None, b'[' | b'{') => open += 1,
            (None, b']' | b'}') => open = open.saturating_sub(1),
            _ => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, render_landmarks};

    #[test]
    fn tables_contain_keys() {
        let text = "title = \"x\"\n\n[package]\nname = \"a\"\nkeys = [\n  \"b\", # ]\n  \"c = d\",\n]\n\n[profile.release]\nlto = true\n\n[[bin]]\nname = \"e\"\n";
        let expected = [
            "key title 1-1",
            "key package 3-8",
            " key package.name 4-4",
            " key package.keys 5-8",
            "key profile.release 10-11",
            " key profile.release.lto 11-11",
            "key bin 13-14",
            " key bin.name 14-14",
        ];
        assert_eq!(render_landmarks("toml", text), expected);
        assert_eq!(facts("toml", text).symbols[4].name, "release");
        assert_eq!(facts("toml", text).symbols[4].signature, "[profile.release]");
    }

    #[test]
    fn handles_strings_and_unusual_keys() {
        let text = "a = \"\"\"\nb = 1\n\"\"\"\n'x.y'.z = 1\n# c = 1\n= 2\n[broken\n[\"p.q\".r]\nd=1\n";
        let expected = ["key a 1-3", "key x.y.z 4-7", "key p.q.r 8-9", " key p.q.r.d 9-9"];
        assert_eq!(render_landmarks("toml", text), expected);
    }
}
