//! Finds the selectors of style sheets, nested ones inside their parents, each selector of a list separately. Rules
//! that only state conditions for others (`@media`) are searched; mixins and functions are routines.

use codecompass_model::SymbolKind;

use super::scan::{Scanner, is_word};
use super::{Landmark, LandmarkBuilder};

/// The maximum nesting depth to read.
const MAX_DEPTH: usize = 16;

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    rules(reading, &[]);
}

pub(super) fn read_with_line_comments(reading: &mut LandmarkBuilder<'_>) {
    rules(reading, &["//"]);
}

fn rules(reading: &mut LandmarkBuilder<'_>, marks: &[&str]) {
    let text = reading.text;
    let mut scan = Scanner::new(text);
    // For each open brace, the number of landmarks that were open before it.
    let mut braces: Vec<usize> = Vec::new();
    // The number of open braces with skipped content.
    let mut shut = 0usize;
    // The start of the text before a brace.
    let mut from: Option<usize> = None;
    let mut inside = 0usize;
    while let Some(byte) = scan.byte() {
        let start = scan.at;
        // A URL may contain comment markers.
        if inside == 0 && scan.skip_comment(marks) {
            continue;
        }
        scan.at += 1;
        match byte {
            b'"' | b'\'' => {
                scan.at = start;
                scan.skip_string(true);
                from = from.or(Some(start));
            }
            b'(' | b'[' => {
                inside += 1;
                from = from.or(Some(start));
            }
            b')' | b']' => inside = inside.saturating_sub(1),
            b'#' | b'@' if scan.byte() == Some(b'{') => {
                from = from.or(Some(start));
                scan.skip_past("}");
            }
            b'{' => {
                inside = 0;
                let rule = from.take().map(|from| (from, text.get(from..start).unwrap_or_default()));
                let before = reading.depth();
                let is_shut = shut > 0 || braces.len() >= MAX_DEPTH || !enter(reading, rule);
                match is_shut {
                    true => shut += 1,
                    false => braces.push(before),
                }
            }
            b'}' => {
                inside = 0;
                from = None;
                match shut {
                    0 => reading.close_to(braces.pop().unwrap_or(0), scan.at),
                    _ => shut -= 1,
                }
            }
            b';' if inside == 0 => from = None,
            byte if byte.is_ascii_whitespace() => {}
            _ => from = from.or(Some(start)),
        }
    }
}

/// Opens the landmarks of a rule; returns whether to read its content.
fn enter(reading: &mut LandmarkBuilder<'_>, rule: Option<(usize, &str)>) -> bool {
    let Some((start, rule)) = rule.map(|(start, rule)| (start, rule.trim_end())) else { return false };
    if let Some(named) = rule.strip_prefix('@') {
        return at_rule(reading, start, rule, named);
    }
    // `font: { … }` is a value.
    if rule.ends_with(':') {
        return false;
    }
    let depth = reading.depth();
    let header_end = start + rule.len();
    for (offset, name) in selectors(rule) {
        // The selectors of a list are siblings; nested rules belong to the last.
        reading.close_to(depth, header_end);
        let at = start + offset;
        let landmark =
            Landmark { kind: SymbolKind::Selector, name, name_prefix: "", start: at, at, header_end, doc: None };
        reading.open(landmark);
    }
    true
}

fn at_rule(reading: &mut LandmarkBuilder<'_>, start: usize, rule: &str, named: &str) -> bool {
    let is_part = |byte: u8| is_word(byte) || byte == b'-';
    let word = &named[..named.bytes().position(|byte| !is_part(byte)).unwrap_or(named.len())];
    match word {
        "media" | "supports" | "layer" | "container" | "scope" | "include" | "if" | "else" | "each" | "for" => true,
        "mixin" | "function" => {
            let rest = named[word.len()..].trim_start();
            let name = &rest[..rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len())];
            let (at, header_end) = (start + (rule.len() - rest.len()), start + rule.len());
            reading.open(Landmark {
                kind: SymbolKind::Routine,
                name,
                name_prefix: "",
                start,
                at,
                header_end,
                doc: None,
            })
        }
        _ => false,
    }
}

/// Returns the selectors of a list, each with its offset.
fn selectors(rule: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = 0usize;
    let mut at = 0;
    let pieces = rule.split(move |c: char| {
        match c {
            '(' | '[' | '{' => inside += 1,
            ')' | ']' | '}' => inside = inside.saturating_sub(1),
            _ => {}
        }
        c == ',' && inside == 0
    });
    pieces.filter_map(move |piece| {
        let start = at + (piece.len() - piece.trim_start().len());
        at += piece.len() + 1;
        let name = piece.trim();
        (!name.is_empty() && !name.contains("*/")).then_some((start, name))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::render_landmarks;

    #[test]
    fn finds_selectors() {
        let text = ":root { --a: 1; }\n.a,\n.b > c:is(d, e) { x: url(//f); }\n@media (g) {\n  h { i: j }\n}\n@keyframes k { from { l: m } }\n@import \"n\";\n#o { }\n";
        let expected = [
            "selector :root 1-1",
            "selector .a 2-3",
            "selector .b > c:is(d, e) 3-3",
            "selector h 5-5",
            "selector #o 9-9",
        ];
        assert_eq!(render_landmarks("css", text), expected);
    }

    #[test]
    fn nested_rules_have_parents() {
        let text = "// .no {\n.a {\n  $x: 1;\n  &:hover { b: c }\n  .d-#{$e} { f: { g: h } }\n  @include m { .i {} }\n}\n@mixin n($o) { p: q }\n";
        let expected = [
            "selector .a 2-7",
            " selector .a.&:hover 4-4",
            " selector .a..d-#{$e} 5-5",
            " selector .a..i 6-6",
            "routine n 8-8",
        ];
        assert_eq!(render_landmarks("scss", text), expected);
    }
}
