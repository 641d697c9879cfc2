//! Our block in an instruction file for agents, between two markers.

use super::edit::{Edit, line_end, line_start, line_stop};

const BEGIN: &str = "<!-- codecompass: begin -->";
const END: &str = "<!-- codecompass: end -->";

/// The instructions for agents. Four lines, because every session of every client pays for them.
const BLOCK_LINES: [&str; 4] = [
    "This repository is indexed by codecompass (MCP). Use it before grep, or before reading files to find your way:",
    "- `search_code` for words, a name, a path or a message; `read_code` for the exact text of names and `path:line`.",
    "- `find_references` and `get_call_graph` before changing a symbol; `get_file_outline` before reading a long file.",
    "- `diff_context` for what a branch or your edits change. Every tool takes `ref` for another branch, tag or commit.",
];

/// The text of the block.
pub(super) fn block(end: &str) -> String {
    let lines: Vec<&str> = std::iter::once(BEGIN).chain(BLOCK_LINES).chain([END]).collect();
    lines.join(end) + end
}

/// The range of the block, including the lines of its markers; an error if the markers are not exactly one pair.
pub(super) fn find(text: &str) -> Result<Option<std::ops::Range<usize>>, String> {
    let count = |mark: &str| text.matches(mark).count();
    match (count(BEGIN), count(END), text.find(BEGIN), text.find(END)) {
        (0, 0, ..) => Ok(None),
        (1, 1, Some(begin), Some(end)) if begin < end => Ok(Some(line_start(text, begin)..line_stop(text, end))),
        _ => Err("the markers of our block are not a pair".into()),
    }
}

/// Inserts the block at the end, or replaces the existing one.
pub(super) fn insert(text: &str) -> Result<Vec<Edit>, String> {
    let end = line_end(text);
    if let Some(range) = find(text)? {
        return Ok(vec![Edit { at: range.start, removed: text[range].to_owned(), inserted: block(end) }]);
    }
    let gap = match text {
        "" => String::new(),
        text if text.ends_with('\n') => end.to_owned(),
        _ => end.repeat(2),
    };
    Ok(vec![Edit::insert(text.len(), gap + &block(end))])
}

/// Removes the block and the empty line before it.
pub(super) fn remove(text: &str) -> Result<Option<Vec<Edit>>, String> {
    let Some(mut range) = find(text)? else { return Ok(None) };
    for blank in ["\r\n\r\n", "\n\n"] {
        if text[..range.start].ends_with(blank) {
            range.start -= blank.len() / 2;
            break;
        }
    }
    Ok(Some(vec![Edit::remove(text, range)]))
}

#[cfg(test)]
mod tests {
    use super::super::edit::apply;
    use super::*;

    #[test]
    fn block_names_only_offered_tools() {
        for word in BLOCK_LINES.concat().split('`').filter(|word| word.contains('_')) {
            assert!(codecompass_tools::CORE_TOOLS.iter().any(|(name, _)| *name == word), "{word}");
        }
    }

    #[test]
    fn block_is_added_updated_and_removed() {
        for text in ["", "# Notes\n", "# Notes\r\nMore", "a\n\n"] {
            let after = apply(text, &insert(text).expect("no markers yet")).expect("the edits match the text");
            assert!(after.starts_with(text) && after.ends_with(&block(line_end(text))), "{after}");
            assert_eq!(apply(&after, &insert(&after).expect("one pair")).as_deref(), Some(after.as_str()));
            let out = apply(&after, &remove(&after).expect("one pair").expect("the block exists"))
                .expect("the edits match the text");
            assert_eq!(out.trim_end(), text.trim_end());
        }
        assert_eq!(remove("nothing of ours").expect("no markers"), None);
        assert!(insert(&format!("{BEGIN}\nhalf a block")).is_err());
    }
}
