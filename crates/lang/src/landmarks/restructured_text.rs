//! Finds the titles of reStructuredText: a line above a row of punctuation, or between two. The order of the marks
//! determines their levels.

use codecompass_model::SymbolKind;

use super::scan::lines;
use super::{Landmark, LandmarkBuilder};

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    // The levels in order of appearance: a mark, and whether it is also above the title.
    let mut known: Vec<(u8, bool)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut before: [(usize, &str); 2] = [(0, ""); 2];
    for (start, line) in lines(reading.text) {
        let [(above, over), (title_start, title)] = before;
        before = [(title_start, title), (start, line)];
        let Some(mark) = rule(line) else { continue };
        let is_title = !title.trim().is_empty() && rule(title).is_none();
        let is_framed = rule(over) == Some(mark) && over.trim_end().len() == line.trim_end().len();
        let fits = title.trim_end().chars().count() <= line.trim_end().len();
        let stands_alone = is_framed || over.trim().is_empty() || above == title_start;
        if !is_title || !fits || !stands_alone || title.starts_with([' ', '\t']) && !is_framed {
            continue;
        }
        let level = match known.iter().position(|one| *one == (mark, is_framed)) {
            Some(level) => level,
            None => {
                known.push((mark, is_framed));
                known.len() - 1
            }
        };
        while open.last().is_some_and(|open| *open >= level) {
            open.pop();
        }
        reading.close_to(open.len(), if is_framed { above } else { title_start });
        let name = title.trim();
        let at = title_start + title.find(name).unwrap_or_default();
        let landmark = Landmark {
            kind: SymbolKind::Section,
            name,
            name_prefix: "",
            start: title_start,
            at,
            header_end: title_start + title.len(),
            doc: None,
        };
        if reading.open(landmark) {
            open.push(level);
        }
    }
}

/// Returns the mark of a line that consists of one mark, at least three times.
fn rule(line: &str) -> Option<u8> {
    let line = line.trim_end();
    let mark = line.bytes().next().filter(u8::is_ascii_punctuation)?;
    (line.len() >= 3 && line.bytes().all(|byte| byte == mark)).then_some(mark)
}

#[cfg(test)]
mod tests {
    use super::super::tests::render_landmarks;

    #[test]
    fn levels_follow_order_of_marks() {
        let text = "=====\n Top\n=====\n\nOne\n---\nx\n\nTwo\n~~~\n\nThree\n-----\ny\n\n::\n\n  no\n  --\n\nlonger than\n---\n";
        let expected =
            ["section Top 2-22", " section Top.One 5-10", "  section Top.One.Two 9-10", " section Top.Three 12-22"];
        assert_eq!(render_landmarks("restructuredtext", text), expected);
    }
}
