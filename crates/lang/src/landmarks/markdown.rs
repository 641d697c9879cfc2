//! Finds the headings of Markdown and of AsciiDoc, which differ only in the heading mark.
//!
//! A section extends from its heading to the next one that is not below it. Lines in a fence, in front matter or in a
//! comment are not headings. A title over a line of dashes counts only if it is a paragraph of one line; otherwise it
//! is text above a thematic break.

use codecompass_model::SymbolKind;

use super::scan::{indent, lines};
use super::{Landmark, LandmarkBuilder};

/// The marks of a format.
struct Marks {
    heading: u8,
    /// Bytes that delimit fenced text if a line begins with three of them.
    fences: &'static [u8],
    /// Whether a line of `=` or `-` makes the line above it a heading.
    underlines: bool,
}

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    headings(reading, &Marks { heading: b'#', fences: b"`~", underlines: true });
}

pub(super) fn read_asciidoc(reading: &mut LandmarkBuilder<'_>) {
    headings(reading, &Marks { heading: b'=', fences: b"-.+/`", underlines: false });
}

fn headings(reading: &mut LandmarkBuilder<'_>, marks: &Marks) {
    let text = reading.text;
    let mut levels = Vec::new();
    let mut fence: Option<(u8, usize)> = None;
    let mut in_comment = false;
    let from = front_matter(text);
    // The preceding paragraph, if it has one line.
    let mut title: Option<(usize, &str)> = None;
    let mut after_blank = true;
    for (start, line) in lines(text).skip_while(|(start, _)| *start < from) {
        let trimmed = line.trim();
        let previous = title.take();
        let stood_alone = std::mem::replace(&mut after_blank, trimmed.is_empty());
        if in_comment {
            in_comment = !line.contains("-->");
            after_blank = true;
        } else if let Some((mark, count)) = fence {
            if run(trimmed, mark) >= count && trimmed.bytes().all(|byte| byte == mark) {
                fence = None;
            }
            after_blank = true;
        } else if let Some(opened) = fence_of(trimmed, marks) {
            fence = Some(opened);
        } else if trimmed.starts_with("<!--") {
            in_comment = !line.contains("-->");
            after_blank = true;
        } else if let Some((level, name)) = heading(line, marks.heading) {
            enter(reading, &mut levels, level, (start, start + line.len()), name);
            after_blank = true;
        } else if let (Some((above, name)), Some(level)) = (previous, underline(trimmed).filter(|_| marks.underlines)) {
            enter(reading, &mut levels, level, (above, above + name.len()), name.trim());
            after_blank = true;
        } else if stood_alone && is_title(line) {
            title = Some((start, line));
        }
    }
}

/// Returns the offset after the front matter.
fn front_matter(text: &str) -> usize {
    let mut all = lines(text);
    if all.next().is_none_or(|(_, line)| line.trim_end() != "---") {
        return 0;
    }
    let is_end = |line: &str| matches!(line.trim_end(), "---" | "...");
    all.find(|(_, line)| is_end(line)).map_or(0, |(start, line)| start + line.len())
}

fn enter(
    reading: &mut LandmarkBuilder<'_>,
    levels: &mut Vec<usize>,
    level: usize,
    (start, end): (usize, usize),
    name: &str,
) {
    while levels.last().is_some_and(|open| *open >= level) {
        levels.pop();
    }
    reading.close_to(levels.len(), start);
    let at = start + reading.text[start..end].find(name).unwrap_or_default();
    let plain = plain(name);
    let name = if plain.is_empty() { name } else { &plain };
    let landmark = Landmark { kind: SymbolKind::Section, name, name_prefix: "", start, at, header_end: end, doc: None };
    if reading.open(landmark) {
        levels.push(level);
    }
}

/// Returns the level and the words of a heading.
fn heading(line: &str, mark: u8) -> Option<(usize, &str)> {
    let rest = line.get(indent(line)..).filter(|rest| line.len() - rest.len() < 4)?;
    let level = run(rest, mark);
    let words = rest.get(level..).filter(|words| words.is_empty() || words.starts_with([' ', '\t']))?.trim();
    let bare = words.trim_end_matches(mark as char);
    let words = if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end() } else { words };
    ((1..=6).contains(&level) && !words.is_empty()).then_some((level, words))
}

/// Returns the number of such bytes at the start of a text.
fn run(text: &str, mark: u8) -> usize {
    text.bytes().take_while(|byte| *byte == mark).count()
}

fn fence_of(trimmed: &str, marks: &Marks) -> Option<(u8, usize)> {
    let mark = trimmed.bytes().next().filter(|byte| marks.fences.contains(byte))?;
    let count = run(trimmed, mark);
    let rest = &trimmed[count..];
    // A language name may follow backticks; a line of dashes must be alone.
    let is_one = if mark == b'`' || mark == b'~' { !rest.contains('`') } else { rest.is_empty() && count > 3 };
    (count >= 3 && is_one).then_some((mark, count))
}

fn underline(trimmed: &str) -> Option<usize> {
    let mark = trimmed.bytes().next().filter(|byte| matches!(byte, b'=' | b'-'))?;
    let is_whole = trimmed.len() > 1 && trimmed.bytes().all(|byte| byte == mark);
    is_whole.then_some(if mark == b'=' { 1 } else { 2 })
}

/// Returns whether a line may be a title: it does not begin a list, a table, a quote or a tag.
fn is_title(line: &str) -> bool {
    let trimmed = line.trim();
    let is_list = trimmed.starts_with(['-', '*', '+', '>', '|', '<', '=', ':'])
        || trimmed.split_once(['.', ')']).is_some_and(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    !trimmed.is_empty() && indent(line) < 4 && !is_list
}

/// Returns a heading as plain text: without markup for code, emphasis and links, and without pictures and anchors.
fn plain(written: &str) -> String {
    let written = written.rsplit_once("{#").map_or(written, |(before, _)| before.trim_end());
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(char) = rest.chars().next() {
        if let Some(end) = link_end(rest) {
            // A picture has no text, and only the text of a link remains.
            rest = &rest[end..];
            continue;
        }
        rest = &rest[char.len_utf8()..];
        match char {
            '`' | '[' => {}
            '*' if !(out.ends_with(' ') && rest.starts_with(' ')) => {}
            '!' if rest.starts_with('[') => rest = rest.find(')').map_or("", |end| &rest[end + 1..]),
            _ => out.push(char),
        }
    }
    out.trim().to_owned()
}

/// Returns the length of the end of a link that begins here: `](target)`.
fn link_end(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix("](")?;
    Some(2 + inside.find(')')? + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, render_landmarks};
    use super::*;

    #[test]
    fn sections_nest_by_level() {
        let text = "# A\n\nx\n\n### B\ny\n## C ##\n```sh\n# no\n```\nTitle\n===\n\nz\n\nLower\n---\nw\nv\n---\n";
        let expected = ["section A 1-10", " section A.B 5-6", " section A.C 7-10", "section Title 11-20"];
        let found = render_landmarks("markdown", text);
        assert_eq!(found[..4], expected, "{found:?}");
        assert_eq!(found[4..], [" section Title.Lower 16-20"]);
    }

    #[test]
    fn lookalikes_are_not_headings() {
        let none = "---\ntitle: x\n# no\n---\n\n#hash\n    # code\n<!--\n# no\n-->\n- a\n---\ntwo\nlines\n---\n####### seven\n#\n";
        assert!(render_landmarks("markdown", none).is_empty(), "{:?}", render_landmarks("markdown", none));
        assert!(render_landmarks("markdown", "~~~\n# open to the end\n").is_empty());
    }

    #[test]
    fn names_are_plain_text() {
        let table = [
            ("The `run` option", "The run option"),
            ("**Bold** words", "Bold words"),
            ("[CodeCompass](https://x.y)", "CodeCompass"),
            ("Tool ![badge](a.svg)", "Tool"),
            ("Use C# {#csharp}", "Use C#"),
            ("snake_case * 2", "snake_case * 2"),
        ];
        for (written, name) in table {
            assert_eq!(plain(written), name);
        }
        let symbol = &facts("markdown", "## The `x` ##\n").symbols[0];
        assert_eq!(
            (symbol.name.as_str(), symbol.signature.as_str(), symbol.name_column),
            ("The x", "## The `x` ##", 3)
        );
    }

    #[test]
    fn reads_asciidoc_headings() {
        let text = "= A\n\n----\n== no\n----\n\n== B\n";
        assert_eq!(render_landmarks("asciidoc", text), ["section A 1-7", " section A.B 7-7"]);
    }
}
