//! Finds the keys of YAML in block style, on two levels, in all documents of a file. Lists and block scalars are data.

use codecompass_model::SymbolKind;

use super::scan::{indent, lines};
use super::{Landmark, LandmarkBuilder};

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    // The indentation of the inner keys below the open outer one; `is_closed` if it has none.
    let mut inner: Option<usize> = None;
    let mut is_closed = false;
    // The closing quote of a value over several lines.
    let mut quote: Option<char> = None;
    for (start, line) in lines(reading.text) {
        let trimmed = line.trim();
        if let Some(mark) = quote {
            quote = Some(mark).filter(|mark| !trimmed.ends_with(*mark));
            continue;
        }
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = indent(line);
        if indent == 0 && (trimmed == "---" || trimmed.starts_with("--- ") || trimmed == "...") {
            reading.close_to(0, start);
            continue;
        }
        let is_outer = indent == 0;
        if !is_outer && (is_closed || reading.depth() == 0 || inner.is_some_and(|inner| inner != indent)) {
            continue;
        }
        let Some(key) = key(trimmed) else {
            // A list or unsupported syntax: there are no keys beside it.
            is_closed = is_closed || is_outer || inner.is_none();
            continue;
        };
        reading.close_to(usize::from(!is_outer), start);
        let at = start + indent;
        let landmark = Landmark {
            kind: SymbolKind::Key,
            name: key.name,
            name_prefix: "",
            start: at,
            at: at + key.at,
            header_end: at + trimmed.len(),
            doc: None,
        };
        let is_open = reading.open(landmark);
        match is_outer {
            true => (inner, is_closed) = (None, !is_open || key.is_text),
            false => inner = Some(indent),
        }
        quote = key.quote;
    }
}

struct Key<'t> {
    name: &'t str,
    /// The offset of the name in its line.
    at: usize,
    /// Whether the following lines are a block scalar, or in brackets.
    is_text: bool,
    quote: Option<char>,
}

/// Returns the key at the start of a line.
fn key(line: &str) -> Option<Key<'_>> {
    let first = line.chars().next()?;
    let (name, at, rest) = match first {
        '"' | '\'' => {
            let end = line[1..].find(first)? + 1;
            (&line[1..end], 1, line[end + 1..].trim_start().strip_prefix(':')?)
        }
        '-' | '[' | ']' | '{' | '}' | ',' | '?' | ':' | '&' | '*' | '!' | '|' | '>' | '%' | '@' | '`' => return None,
        _ => {
            let is_end = |at: &usize| line[at + 1..].is_empty() || line[at + 1..].starts_with([' ', '\t']);
            let end = line.match_indices(':').map(|(at, _)| at).find(is_end)?;
            (line[..end].trim_end(), 0, &line[end + 1..])
        }
    };
    if name.is_empty() || name.contains(" #") || !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let value = rest.trim();
    let is_block = value.rsplit(' ').next().is_some_and(|last| {
        last.starts_with(['|', '>']) && last[1..].chars().all(|c| matches!(c, '+' | '-') || c.is_ascii_digit())
    });
    let opened = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let quote = opened.filter(|quote| !value[1..].contains(*quote));
    Some(Key { name, at, is_text: is_block || value.starts_with(['[', '{']), quote })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, render_landmarks};

    #[test]
    fn finds_two_levels_of_keys() {
        let text = "# c\nname: ci\n\non:\n  push:\n    branches: [main]\n  pull_request:\njobs:\n  build:\n    steps:\n      - run: x\n        name: y\n\n";
        let expected = [
            "key name 2-2",
            "key on 4-7",
            " key on.push 5-6",
            " key on.pull_request 7-7",
            "key jobs 8-12",
            " key jobs.build 9-12",
        ];
        assert_eq!(render_landmarks("yaml", text), expected);
        assert_eq!(facts("yaml", text).symbols[0].signature, "name: ci");
    }

    #[test]
    fn scalars_lists_and_flow_style_have_no_keys() {
        let text = "a: |\n  b: c\nlist:\n- x: 1\n  y: 2\nother:\n  - z: 1\n    w: 2\nflow: {\n  p: q\n}\nq: \"r\n  s: t\"\nu: v\n";
        assert_eq!(
            render_landmarks("yaml", text),
            ["key a 1-2", "key list 3-5", "key other 6-8", "key flow 9-11", "key q 12-13", "key u 14-14"]
        );
    }

    #[test]
    fn handles_multiple_documents_and_unusual_keys() {
        let text = "kind: A\n---\nkind: B\n\"quoted key\": 1\nurl:http://no\nhttp://x: 1\n? q\n{{ if }}\nwin: C:\\x\n";
        let expected = ["key kind 1-1", "key kind 3-3", "key quoted key 4-5", "key http://x 6-8", "key win 9-9"];
        assert_eq!(render_landmarks("yaml", text), expected);
    }
}
