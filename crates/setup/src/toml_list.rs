//! Lists of words in TOML that have to contain one of ours, edited at the positions that the parser reports.

use std::ops::Range;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::clients::ENTRY_NAME;
use super::clients::ListElement;
use super::edit::{Edit, line_end, line_start, line_stop};
use super::toml_text;

/// A list on the right side of a key.
struct InlineList {
    key: Range<usize>,
    range: Range<usize>,
    /// The elements, with their text or their name.
    elements: Vec<(Range<usize>, String)>,
}

/// What a file has at the keys of a list.
enum Found {
    List(InlineList),
    /// Neither the list nor the table that would contain it.
    Nothing,
    /// The table that would contain the list, but not the list.
    Table,
    /// Another kind of value.
    Other,
}

/// Whether the list contains the element.
pub(super) fn contains(text: &str, list: &ListElement) -> bool {
    matches!(find(text, list.path), Found::List(found) if found.position(list.element).is_some())
}

/// The edits that add the element; `None` if the file has something else in its place. `is_after_entry` says that our
/// entry is being added at the end of the file.
pub(super) fn insert(text: &str, list: &ListElement, is_after_entry: bool) -> Option<Vec<Edit>> {
    let (key, table) = list.path.split_last()?;
    let word = toml::Value::from(list.element).to_string();
    match find(text, list.path) {
        Found::List(found) if found.position(list.element).is_some() => Some(Vec::new()),
        Found::List(found) => Some(vec![match found.elements.last() {
            Some((last, _)) => Edit::insert(last.end, format!(", {word}")),
            None => Edit::insert(found.range.start + 1, word),
        }]),
        Found::Nothing => {
            let written = standalone(list, line_end(text));
            let gap = if is_after_entry { line_end(text).to_owned() } else { toml_text::gap(text) };
            Some(vec![Edit::insert(text.len(), gap + &written)])
        }
        Found::Table => {
            let header = toml_text::header_line(text, table)?;
            let end = line_end(text);
            let gap = if text[..header.end].ends_with('\n') { "" } else { end };
            Some(vec![Edit::insert(header.end, format!("{gap}{key} = [{word}]{end}"))])
        }
        Found::Other => None,
    }
}

/// Whether a list of tables is written on the right side of its key.
pub(super) fn is_inline(text: &str, path: &[&str]) -> bool {
    matches!(find(text, path), Found::List(_))
}

/// The edits that add our table to such a list, or replace it there.
pub(super) fn insert_table(text: &str, path: &[&str], entry: &Value) -> Option<Vec<Edit>> {
    let Found::List(found) = find(text, path) else { return None };
    let table = toml_text::inline_value(entry);
    Some(vec![match (found.position(ENTRY_NAME), found.elements.last()) {
        (Some(place), _) => {
            let range = found.elements[place].0.clone();
            Edit { at: range.start, removed: text[range].to_owned(), inserted: table }
        }
        (None, Some((last, _))) => Edit::insert(last.end, format!(", {table}")),
        (None, None) => Edit::insert(found.range.start + 1, table),
    }])
}

/// The edits that remove our table from such a list.
pub(super) fn remove_table(text: &str, path: &[&str]) -> Option<Vec<Edit>> {
    let Found::List(found) = find(text, path) else { return None };
    let place = found.position(ENTRY_NAME)?;
    Some(vec![Edit::remove(text, element_range(text, &found, place))])
}

/// The edits that remove the element, and the list and its table if they contain nothing else.
pub(super) fn remove(text: &str, list: &ListElement) -> Vec<Edit> {
    let Found::List(found) = find(text, list.path) else { return Vec::new() };
    let Some(position) = found.position(list.element) else { return Vec::new() };
    let Some((_, table)) = list.path.split_last() else { return Vec::new() };
    if found.elements.len() > 1 {
        return vec![Edit::remove(text, element_range(text, &found, position))];
    }
    let lines = line_start(text, found.key.start)..line_stop(text, found.range.end);
    let header = toml_text::header_line(text, table);
    let is_alone = header.is_some_and(|header| {
        toml_text::table_range(text, table).is_some_and(|range| {
            text[header.end..lines.start].trim().is_empty()
                && text[lines.end.min(range.end)..range.end].trim().is_empty()
        })
    });
    match toml_text::remove(text, table).filter(|_| is_alone) {
        Some(edits) => edits,
        None => vec![Edit::remove(text, lines)],
    }
}

/// The list in a table of its own.
pub(super) fn standalone(list: &ListElement, end: &str) -> String {
    let Some((key, table)) = list.path.split_last() else { return String::new() };
    format!("[{}]{end}{key} = [{}]{end}", table.join("."), toml::Value::from(list.element))
}

impl InlineList {
    fn position(&self, element: &str) -> Option<usize> {
        self.elements.iter().position(|(_, word)| word == element)
    }
}

/// The range of an element with the comma that has to go with it.
fn element_range(text: &str, list: &InlineList, position: usize) -> Range<usize> {
    let own = list.elements[position].0.clone();
    let is_plain = |between: &str| between.chars().all(|char| char == ',' || char == ' ');
    if let Some((next, _)) = list.elements.get(position + 1)
        && is_plain(&text[own.end..next.start])
    {
        return own.start..next.start;
    }
    let before = position.checked_sub(1).map(|position| list.elements[position].0.end);
    match before.filter(|end| is_plain(&text[*end..own.start])) {
        Some(end) => end..own.end,
        // A comment or a line end is between them: TOML allows the comma that stays before it.
        None => own.start..own.end + text[own.end..list.range.end].find(',').map_or(0, |comma| comma + 1),
    }
}

fn find(text: &str, path: &[&str]) -> Found {
    // The parser does not know the mark at the start; positions are counted after it.
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let Ok(root) = DeTable::parse(&text[mark..]) else { return Found::Other };
    let Some((last, tables)) = path.split_last() else { return Found::Other };
    let moved = |range: Range<usize>| range.start + mark..range.end + mark;
    let mut table = root.get_ref();
    for key in tables {
        match table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value.get_ref()) {
            None => return Found::Nothing,
            Some(DeValue::Table(inner)) => table = inner,
            Some(_) => return Found::Other,
        }
    }
    let Some((key, value)) = table.iter().find(|(name, _)| name.get_ref() == last) else { return Found::Table };
    let DeValue::Array(items) = value.get_ref() else { return Found::Other };
    if text[line_start(text, key.span().start + mark)..].trim_start().starts_with("[[") {
        return Found::Other;
    }
    let word = |value: &DeValue<'_>| match value {
        DeValue::String(word) => word.to_string(),
        DeValue::Table(table) => {
            let name = table.iter().find(|(key, _)| key.get_ref() == "name").map(|(_, value)| value.get_ref());
            name.and_then(DeValue::as_str).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    };
    let elements = items.iter().map(|item| (moved(item.span()), word(item.get_ref()))).collect();
    Found::List(InlineList { key: moved(key.span()), range: moved(value.span()), elements })
}

#[cfg(test)]
mod tests {
    use super::super::edit::{apply, inverse};
    use super::*;

    const LIST: ListElement =
        ListElement { path: &["f", "m", "names"], element: "cc", since: ("codex", (0, 142)), purpose: "", by_hand: "" };

    /// Adds the element and removes it again.
    #[track_caller]
    fn added(text: &str) -> String {
        let edits = insert(text, &LIST, false).expect("it can be added");
        let after = apply(text, &edits).expect("the edits match the text");
        assert_eq!(apply(&after, &inverse(&edits)).as_deref(), Some(text));
        assert!(contains(&after, &LIST) && insert(&after, &LIST, false) == Some(Vec::new()), "{after}");
        let out = apply(&after, &remove(&after, &LIST)).expect("the edits match the text");
        assert!(!contains(&out, &LIST), "{out}");
        assert_eq!(out.trim_end(), text.replace("names = []\n", "").trim_end());
        after
    }

    #[test]
    fn element_is_added_where_the_list_is() {
        assert_eq!(added(""), "[f.m]\nnames = [\"cc\"]\n");
        assert_eq!(added("[f]\nx = true"), "[f]\nx = true\n\n[f.m]\nnames = [\"cc\"]\n");
        assert_eq!(added("[f.m] # on\nenabled = true\n"), "[f.m] # on\nnames = [\"cc\"]\nenabled = true\n");
        assert_eq!(added("[f.m]\nx = 1\nnames = []\n"), "[f.m]\nx = 1\nnames = [\"cc\"]\n");
        assert_eq!(added("[f.m]\nnames = [\"a\"] # mine\n"), "[f.m]\nnames = [\"a\", \"cc\"] # mine\n");
        assert_eq!(added("\u{feff}f.m.names = [\"ü\"]\n"), "\u{feff}f.m.names = [\"ü\", \"cc\"]\n");
        added("[f.m]\nnames = [\n  \"a\", # why\n  \"b\",\n]\n\n[g]\n");
    }

    #[test]
    fn element_is_removed_alone() {
        let table = [
            ("[f.m]\nnames = [\"cc\", \"a\"]\n", "[f.m]\nnames = [\"a\"]\n"),
            ("[f.m]\nnames = [\n  \"a\", # why\n  \"cc\",\n]\n", "[f.m]\nnames = [\n  \"a\", # why\n  \n]\n"),
            ("[a]\n\n[f.m]\nnames = [\"cc\"]\n\n[b]\n", "[a]\n\n[b]\n"),
            ("[f.m]\nnames = [\"cc\"]\nx = 1\n", "[f.m]\nx = 1\n"),
        ];
        for (text, expected) in table {
            assert_eq!(apply(text, &remove(text, &LIST)).as_deref(), Some(expected));
        }
        assert!(remove("[f.m]\nnames = [\"a\"]\n", &LIST).is_empty());
    }

    #[test]
    fn other_values_are_left_alone() {
        for text in ["[f]\nm = true\n", "f = 1\n", "[f.m]\nnames = \"cc\"\n", "[f]\nm = { enabled = true }\n"] {
            assert_eq!(insert(text, &LIST, false), None, "{text}");
        }
    }
}
