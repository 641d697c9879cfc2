//! TOML, edited as text: a table of our own at the end of the file, found again by its header.
//!
//! A small scanner that knows strings and lists finds where tables begin; the parser reads the values before and after
//! the edit. The result is only used if the parser sees no change except in our table.

use serde_json::Value;
use toml::Table;

use super::clients::ENTRY_NAME;
use super::edit::{Edit, line_end, line_start, line_stop};
use codecompass_workspace::toml_errors;

/// Parses the whole file; an error says where it is invalid.
pub(super) fn parse(text: &str) -> Result<Table, String> {
    text.trim_start_matches('\u{feff}')
        .parse()
        .map_err(|error: toml::de::Error| toml_errors::error_location(text, &error))
}

/// Inserts our table after everything else.
pub(super) fn insert(text: &str, path: &[&str], entry: &Value) -> Vec<Edit> {
    vec![Edit::insert(text.len(), gap(text) + &table(path, entry, line_end(text)))]
}

/// The line ends before a table at the end of the file.
pub(super) fn gap(text: &str) -> String {
    let end = line_end(text);
    match text {
        "" => String::new(),
        text if text.ends_with('\n') => end.to_owned(),
        _ => end.repeat(2),
    }
}

/// Inserts our table into a list of tables, after everything else.
pub(super) fn insert_item(text: &str, path: &[&str], entry: &Value) -> Vec<Edit> {
    vec![Edit::insert(text.len(), gap(text) + &item(path, entry, line_end(text)))]
}

/// Replaces the existing table of a list with ours.
pub(super) fn replace_item(text: &str, path: &[&str], field: &str, entry: &Value) -> Option<Vec<Edit>> {
    let range = item_range(text, path, field)?;
    let inserted = item(path, entry, line_end(text));
    Some(vec![Edit { at: range.start, removed: text[range].to_owned(), inserted }])
}

/// Removes our table from a list with the empty line before it.
pub(super) fn remove_item(text: &str, path: &[&str], field: &str) -> Option<Vec<Edit>> {
    Some(remove_range(text, item_range(text, path, field)?))
}

/// Replaces the existing table with ours.
pub(super) fn replace(text: &str, path: &[&str], entry: &Value) -> Option<Vec<Edit>> {
    let range = table_range(text, path)?;
    let inserted = table(path, entry, line_end(text));
    Some(vec![Edit { at: range.start, removed: text[range].to_owned(), inserted }])
}

/// Removes our table with the empty line before it.
pub(super) fn remove(text: &str, path: &[&str]) -> Option<Vec<Edit>> {
    Some(remove_range(text, table_range(text, path)?))
}

fn remove_range(text: &str, mut range: std::ops::Range<usize>) -> Vec<Edit> {
    let before = &text[..range.start];
    for blank in ["\r\n\r\n", "\n\n"] {
        if before.ends_with(blank) {
            range.start -= blank.len() / 2;
            break;
        }
    }
    vec![Edit::remove(text, range)]
}

/// The text of the table: lists and inner tables on one line.
pub(super) fn table(path: &[&str], entry: &Value, end: &str) -> String {
    format!("[{}]{end}{}", path.join("."), fields(entry, end))
}

/// The text of the table as an item of a list.
pub(super) fn item(path: &[&str], entry: &Value, end: &str) -> String {
    format!("[[{}]]{end}{}", path.join("."), fields(entry, end))
}

fn fields(entry: &Value, end: &str) -> String {
    let mut text = String::new();
    for (key, value) in entry.as_object().into_iter().flatten() {
        text += &format!("{key} = {}{end}", inline_value(value));
    }
    text
}

pub(super) fn inline_value(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(inline_value).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let pairs: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key} = {}", inline_value(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        plain => plain.to_string(),
    }
}

/// The range of the table with its subtables: from its header to its last line with content.
pub(super) fn table_range(text: &str, path: &[&str]) -> Option<std::ops::Range<usize>> {
    let headers = headers(text);
    let is_ours = |at: usize| header_value(text, at, path).is_some();
    let first = headers.iter().position(|at| is_ours(*at))?;
    let past = headers[first..].iter().position(|at| !is_ours(*at)).map(|more| headers[first + more]);
    Some(trimmed(text, headers[first], past))
}

/// The range of the table in a list that has our name in this field, with its subtables.
fn item_range(text: &str, path: &[&str], field: &str) -> Option<std::ops::Range<usize>> {
    let headers = headers(text);
    let section = |place: usize| &text[headers[place]..headers.get(place + 1).copied().unwrap_or(text.len())];
    let is_ours = |place: usize| {
        let table = section(place).trim_start_matches('\u{feff}').parse::<Table>().ok().map(toml::Value::Table);
        let list = path.iter().try_fold(table?, |value, key| value.get(*key).cloned())?;
        (list.as_array()?.first()?.get(field)?.as_str()? == ENTRY_NAME).then_some(())
    };
    let first = (0..headers.len()).find(|place| is_ours(*place).is_some())?;
    let is_more = |at: &usize| header_value(text, *at, path).is_some();
    let past = headers[first + 1..].iter().copied().find(|at| !is_more(at));
    Some(trimmed(text, headers[first], past))
}

/// The range of a table that ends before the next one.
fn trimmed(text: &str, start: usize, past: Option<usize>) -> std::ops::Range<usize> {
    let mut stop = past.unwrap_or(text.len());
    // Blank lines, and comments before the next table, are not ours.
    while past.is_some() || text[start..stop].ends_with(['\n', '\r', ' ', '\t']) {
        let last = line_start(text, stop.saturating_sub(1).max(start));
        let line = text[last..stop].trim();
        if last <= start || !(line.is_empty() || (past.is_some() && line.starts_with('#'))) {
            break;
        }
        stop = last;
    }
    start..stop
}

/// The value that the header at this position gives these keys: an empty table, or one with the rest of its path.
fn header_value(text: &str, at: usize, path: &[&str]) -> Option<toml::Value> {
    let line = text[at..].lines().next().unwrap_or_default().trim_start_matches('\u{feff}');
    if line.trim_start().starts_with("[[") {
        return None;
    }
    let mut found = line.parse::<Table>().ok().map(toml::Value::Table);
    for key in path {
        found = found.and_then(|value| value.get(*key).cloned());
    }
    found
}

/// The line with the header of exactly this table.
pub(super) fn header_line(text: &str, path: &[&str]) -> Option<std::ops::Range<usize>> {
    let is_exact =
        |at: &usize| header_value(text, *at, path).is_some_and(|rest| rest.as_table().is_some_and(Table::is_empty));
    let start = headers(text).into_iter().find(is_exact)?;
    Some(start..line_stop(text, start))
}

/// The start of each table header.
fn headers(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut depth, mut is_fresh) = (Vec::new(), 0, 0_usize, true);
    if text.starts_with('\u{feff}') {
        at = 3;
    }
    while at < bytes.len() {
        let rest = &text[at..];
        match bytes[at] {
            b'\n' => is_fresh = true,
            b' ' | b'\t' | b'\r' => {}
            b'#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'[' if is_fresh && depth == 0 => {
                found.push(line_start(text, at));
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' | b'\'' => {
                at += string_length(rest);
                is_fresh = false;
                continue;
            }
            _ => is_fresh = false,
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    found
}

/// The length of the string that begins here.
fn string_length(text: &str) -> usize {
    let quote = &text[..1];
    let mark = if text.starts_with(&quote.repeat(3)) { quote.repeat(3) } else { quote.to_owned() };
    let mut at = mark.len();
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(&mark) {
            // Up to two quotes may precede the three that end it.
            let more = rest[mark.len()..].bytes().take_while(|byte| mark.len() == 3 && *byte == quote.as_bytes()[0]);
            return at + mark.len() + more.take(2).count();
        }
        let escaped = quote == "\"" && rest.starts_with('\\');
        at += rest.chars().take(if escaped { 2 } else { 1 }).map(char::len_utf8).sum::<usize>();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::edit::{apply, inverse};
    use super::*;

    const PATH: &[&str] = &["servers", "cc"];

    fn entry() -> Value {
        json!({ "command": "C:\\bin\\cc", "args": ["serve-mcp"], "env": { "HOME": "/h" } })
    }

    #[track_caller]
    fn added(text: &str) -> String {
        let before = parse(text).expect("it is TOML");
        let edits = insert(text, PATH, &entry());
        let after = apply(text, &edits).expect("the edits fit");
        assert_eq!(apply(&after, &inverse(&edits)).as_deref(), Some(text));
        let table = parse(&after).unwrap_or_else(|error| panic!("{error}:\n{after}"));
        assert_eq!(table["servers"]["cc"]["command"].as_str(), Some("C:\\bin\\cc"), "{after}");
        let out = apply(&after, &remove(&after, PATH).expect("it is there")).expect("the edits fit");
        let mut expected = table;
        if let Some(servers) = expected["servers"].as_table_mut() {
            servers.remove("cc");
        }
        let left = parse(&out).expect("it is TOML");
        assert!(left == before || left == expected, "{out}");
        after
    }

    #[test]
    fn table_is_appended_and_removed_cleanly() {
        for text in [
            "",
            "a = 1",
            "a = 1\n",
            "a = 1\r\n\r\n[servers.x]\r\ncommand = \"x\"\r\n",
            "# only a comment",
            "[servers]\n[servers.x]\nargs = [\n  \"a\",\n  [\"b\"],\n]\n",
            "s = \"\"\"\n[servers.cc]\n\"\"\"\nt = '''\n[servers.cc]'''\n",
        ] {
            let after = added(text);
            assert!(after.starts_with(text), "{after}");
        }
        assert_eq!(
            added("a = 1\n"),
            "a = 1\n\n[servers.cc]\ncommand = 'C:\\bin\\cc'\nargs = [\"serve-mcp\"]\nenv = { HOME = \"/h\" }\n"
        );
    }

    #[test]
    fn only_our_tables_are_removed() {
        let text = "[servers.a]\nx = 1\n\n[servers.cc] # ours\ny = [\n  1,\n]\n[servers.cc.env]\nK = \"[servers.b]\"\n\n# about b\n[servers.b]\nz = 1\n";
        let out = apply(text, &remove(text, PATH).expect("it is there")).expect("the edits fit");
        assert_eq!(out, "[servers.a]\nx = 1\n\n# about b\n[servers.b]\nz = 1\n");
        let text = "[servers.\"cc\"]\ny = 1";
        let out = apply(text, &replace(text, PATH, &json!({ "y": 2 })).expect("it is there")).expect("the edits fit");
        assert_eq!(out, "[servers.cc]\ny = 2\n");
        assert_eq!(remove("servers = { cc = { y = 1 } }\n", PATH), None);
        assert_eq!(remove("[[servers.cc]]\n", PATH), None);
    }

    #[test]
    fn invalid_toml_is_reported_with_line() {
        let told = parse("a = 1\nb = \n").expect_err("it is none");
        assert!(told.starts_with("line 2, column"), "{told}");
    }
}
