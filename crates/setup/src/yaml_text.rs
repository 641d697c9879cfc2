//! YAML, edited as text: our entry in block style, right below the key that contains it.
//!
//! The parser reports what the file means and where its keys are. Files in another style than block style are refused.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Value, json};

use super::clients::ENTRY_NAME;
use super::clients::Listing;
use super::edit::{Edit, line_end, line_start, line_stop};

/// The maximum nesting depth of a file.
const MAX_DEPTH: usize = 200;

/// The indentation of entries below a key that has none yet.
const STEP: &str = "  ";

/// A value and its position.
#[derive(Debug)]
struct Node {
    range: Range<usize>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Map(Vec<(Node, Node)>),
    List(Vec<Node>),
    /// A plain value, an alias, or a value with a tag.
    Plain(Value),
}

/// The value of a whole file; `null` if it has none.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    Ok(tree(text)?.map_or(Value::Null, |root| root.value()))
}

/// The edits that insert our entry below a key; `None` if the file has an unusual format there.
pub(super) fn insert(text: &str, key: &str, listing: Listing, entry: &Value) -> Result<Option<Vec<Edit>>, String> {
    let end = line_end(text);
    let at_end = || {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        let written = format!("{gap}{key}:{end}{}", written(STEP, listing, entry, end));
        Some(vec![Edit::insert(text.len(), written)])
    };
    let Some(root) = tree(text)? else { return Ok(at_end()) };
    let is_block = matches!(root.kind, Kind::Map(_)) && !root.is_flow(text);
    if !is_block || column(text, root.range.start) != Some("") {
        return Ok(None);
    }
    let Some((name, value)) = root.member(key)? else { return Ok(at_end()) };
    let below = line_stop(text, name.range.end);
    let gap = if text[..below].ends_with('\n') { "" } else { end };
    Ok(match &value.kind {
        Kind::Map(_) | Kind::List(_) if value.is_flow(text) => {
            let is_empty = text[value.range.clone()].trim_matches(['{', '}', '[', ']']).trim().is_empty();
            is_empty.then(|| {
                let start = text[..value.range.start].trim_end_matches(' ').len();
                let inserted = format!("{gap}{}", written(STEP, listing, entry, end));
                vec![Edit::remove(text, start..value.range.end), Edit::insert(below, inserted)]
            })
        }
        Kind::Map(_) | Kind::List(_) => value
            .first_line(text)
            .filter(|start| line_start(text, *start) >= below)
            .and_then(|start| column(text, start))
            .map(|indent| vec![Edit::insert(below, written(indent, listing, entry, end))]),
        Kind::Plain(Value::Null) if value.range.is_empty() => {
            Some(vec![Edit::insert(below, format!("{gap}{}", written(STEP, listing, entry, end)))])
        }
        Kind::Plain(_) => None,
    })
}

/// The edits that put this entry in the place of the existing one.
pub(super) fn replace(text: &str, key: &str, listing: Listing, entry: &Value) -> Result<Option<Vec<Edit>>, String> {
    let Some(range) = entry_range(text, key, listing)? else { return Ok(None) };
    let indent = &text[range.start..range.start + indentation(&text[range.clone()])];
    let inserted = written(indent, listing, entry, line_end(text));
    Ok(Some(vec![Edit { at: range.start, removed: text[range].to_owned(), inserted }]))
}

/// The edits that put a text in the place of the existing entry.
pub(super) fn restore(text: &str, key: &str, listing: Listing, before: &str) -> Result<Option<Vec<Edit>>, String> {
    let range = entry_range(text, key, listing)?;
    Ok(range.map(|range| vec![Edit { at: range.start, removed: text[range].to_owned(), inserted: before.to_owned() }]))
}

/// The edits that remove our entry, and the key around it if it is ours and has no other.
pub(super) fn remove(text: &str, key: &str, listing: Listing, is_key_ours: bool) -> Result<Option<Vec<Edit>>, String> {
    let (Some(range), Some(root)) = (entry_range(text, key, listing)?, tree(text)?) else { return Ok(None) };
    let Some((name, value)) = root.member(key)? else { return Ok(None) };
    let (is_alone, empty) = match &value.kind {
        Kind::Map(members) => (members.len() == 1, " {}"),
        Kind::List(items) => (items.len() == 1, " []"),
        Kind::Plain(_) => return Ok(None),
    };
    Ok(match (is_alone, is_key_ours) {
        (false, _) => Some(vec![Edit::remove(text, range)]),
        (true, true) => Some(vec![Edit::remove(text, block_range(text, name.range.start))]),
        // A key without a value would be `null`.
        (true, false) => text[name.range.end..line_stop(text, name.range.end)]
            .find(':')
            .map(|colon| vec![Edit::insert(name.range.end + colon + 1, empty), Edit::remove(text, range)]),
    })
}

/// A file with only our entry.
pub(super) fn standalone(key: &str, listing: Listing, entry: &Value) -> String {
    format!("{key}:\n{}", written(STEP, listing, entry, "\n"))
}

/// The lines of our entry; JSON values are valid YAML.
fn written(indent: &str, listing: Listing, entry: &Value, end: &str) -> String {
    let fields = entry.as_object().into_iter().flatten();
    match listing {
        Listing::Keyed => fields.fold(format!("{indent}{ENTRY_NAME}:{end}"), |text, (key, value)| {
            text + &format!("{indent}{STEP}{key}: {value}{end}")
        }),
        Listing::Named(_) => fields
            .enumerate()
            .map(|(place, (key, value))| format!("{indent}{}{key}: {value}{end}", if place == 0 { "- " } else { STEP }))
            .collect(),
    }
}

/// The lines of the existing entry.
fn entry_range(text: &str, key: &str, listing: Listing) -> Result<Option<Range<usize>>, String> {
    let Some(root) = tree(text)? else { return Ok(None) };
    let Some((_, value)) = root.member(key)? else { return Ok(None) };
    if value.is_flow(text) {
        return Ok(None);
    }
    let start = match (listing, &value.kind) {
        (Listing::Keyed, Kind::Map(_)) => value.member(ENTRY_NAME)?.map(|(name, _)| name.range.start),
        (Listing::Named(field), Kind::List(items)) => {
            let ours = items.iter().find(|item| item.value().get(field) == Some(&json!(ENTRY_NAME)));
            ours.and_then(|item| item_mark(text, item))
        }
        _ => None,
    };
    Ok(start.filter(|start| column(text, *start).is_some()).map(|start| block_range(text, start)))
}

/// The mark before an item of a list, if it is on the item's line.
fn item_mark(text: &str, item: &Node) -> Option<usize> {
    let start = line_start(text, item.range.start);
    let head = &text[start..item.range.start];
    (head.trim() == "-").then(|| start + head.len() - head.trim_start().len())
}

/// The lines of a block that begins here: the first one, and those below that are indented more. Comments and blank
/// lines after it are not part of it.
fn block_range(text: &str, start: usize) -> Range<usize> {
    let first = line_start(text, start);
    let (depth, mut end) = (start - first, line_stop(text, start));
    let mut at = end;
    for line in text[end..].split_inclusive('\n') {
        at += line.len();
        match line.trim() {
            "" => {}
            content if content.starts_with('#') => {}
            _ if indentation(line) > depth => end = at,
            _ => break,
        }
    }
    first..end
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The indentation of a position, if only spaces precede it on its line.
fn column(text: &str, at: usize) -> Option<&str> {
    let head = text[line_start(text, at)..at].trim_start_matches('\u{feff}');
    head.chars().all(|char| char == ' ').then_some(head)
}

impl Node {
    /// Whether a container is written with brackets.
    fn is_flow(&self, text: &str) -> bool {
        text[self.range.start..].starts_with(['{', '['])
    }

    /// The start of the first member or item of a container in block style.
    fn first_line(&self, text: &str) -> Option<usize> {
        match &self.kind {
            Kind::Map(_) => Some(self.range.start),
            // Where the parser says that a list begins depends on its indentation.
            Kind::List(items) => items.first().and_then(|item| item_mark(text, item)),
            Kind::Plain(_) => None,
        }
    }

    /// The key and value of a member of a map; a duplicate key is an error.
    fn member(&self, key: &str) -> Result<Option<(&Node, &Node)>, String> {
        let Kind::Map(members) = &self.kind else { return Ok(None) };
        let mut found = members.iter().filter(|(name, _)| name.value() == key);
        let first = found.next();
        match found.next() {
            Some(_) => Err(format!("`{key}` occurs twice")),
            None => Ok(first.map(|(name, value)| (name, value))),
        }
    }

    fn value(&self) -> Value {
        match &self.kind {
            Kind::Map(members) => {
                let text = |key: Value| key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                let pairs = members.iter().map(|(key, value)| (text(key.value()), value.value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
            Kind::List(items) => items.iter().map(Node::value).collect(),
            Kind::Plain(value) => value.clone(),
        }
    }
}

/// A container whose end has not been read yet.
struct Open {
    start: usize,
    is_map: bool,
    tag: Option<String>,
    nodes: Vec<Node>,
}

/// The tree of the only document; `None` if there is none.
fn tree(text: &str) -> Result<Option<Node>, String> {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let inner = &text[mark..];
    // The parser counts characters.
    let offsets: Vec<usize> = inner.char_indices().map(|(at, _)| at + mark).chain([text.len()]).collect();
    let byte = |at: usize| offsets.get(at).copied().unwrap_or(text.len());
    let range = |span: Span| byte(span.start.index())..byte(span.end.index());
    let (mut open, mut root, mut documents) = (Vec::<Open>::new(), None, 0);
    for event in Parser::new_from_str(inner) {
        let (event, span) = event.map_err(|error| {
            let at = error.marker();
            format!("line {}, column {}: {}", at.line(), at.col() + 1, error.info())
        })?;
        let range = range(span);
        let tag = |tag: Option<&saphyr_parser::Tag>| tag.map(|tag| format!("{}{}", tag.handle, tag.suffix));
        let done = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                None
            }
            Event::MappingStart(_, found) | Event::SequenceStart(_, found) if open.len() >= MAX_DEPTH => {
                return Err(format!("it is nested too deeply{}", tag(found.as_deref()).unwrap_or_default()));
            }
            Event::MappingStart(_, found) => {
                open.push(Open { start: range.start, is_map: true, tag: tag(found.as_deref()), nodes: Vec::new() });
                None
            }
            Event::SequenceStart(_, found) => {
                open.push(Open { start: range.start, is_map: false, tag: tag(found.as_deref()), nodes: Vec::new() });
                None
            }
            // The parser counts a comment after a bracket as part of it.
            Event::MappingEnd | Event::SequenceEnd => {
                let bracket = if text[range.start..].starts_with(['}', ']']) { 1 } else { 0 };
                open.pop().map(|container| container.close(range.start + bracket))
            }
            Event::Scalar(word, style, _, found) => {
                let kind = Kind::Plain(tagged(tag(found.as_deref()), scalar(&word, style)));
                Some(Node { range, kind })
            }
            Event::Alias(anchor) => Some(Node { range, kind: Kind::Plain(json!({ "*": anchor })) }),
            _ => None,
        };
        match (done, open.last_mut()) {
            (Some(node), Some(container)) => container.nodes.push(node),
            (Some(node), None) => root = Some(node),
            (None, _) => {}
        }
    }
    match root {
        _ if documents > 1 => Err("it has several documents".into()),
        Some(Node { kind: Kind::Plain(Value::Null), .. }) | None => Ok(None),
        Some(root) => Ok(Some(root)),
    }
}

impl Open {
    fn close(self, end: usize) -> Node {
        let mut nodes = self.nodes.into_iter();
        let kind = match self.is_map {
            true => Kind::Map(std::iter::from_fn(|| nodes.next().zip(nodes.next())).collect()),
            false => Kind::List(nodes.collect()),
        };
        let node = Node { range: self.start..end, kind };
        match self.tag {
            Some(tag) => Node { kind: Kind::Plain(tagged(Some(tag), node.value())), range: node.range },
            None => node,
        }
    }
}

fn tagged(tag: Option<String>, value: Value) -> Value {
    match tag {
        Some(tag) => json!({ "!": tag, "value": value }),
        None => value,
    }
}

/// The value of a scalar. Numbers other than whole ones stay text: values are only compared.
fn scalar(word: &str, style: ScalarStyle) -> Value {
    match word {
        _ if style != ScalarStyle::Plain => Value::from(word),
        "" | "~" | "null" => Value::Null,
        "true" => Value::from(true),
        "false" => Value::from(false),
        _ => word.parse::<i64>().map_or_else(|_| Value::from(word), Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::super::edit::{apply, inverse};
    use super::*;

    fn entry() -> Value {
        json!({ "name": ENTRY_NAME, "cmd": "/bin/cc", "args": ["serve-mcp"], "on": true, "wait": 300 })
    }

    /// Inserts an entry and returns the text; removing it again restores the value, undoing the edits the text.
    #[track_caller]
    fn added(text: &str, listing: Listing) -> String {
        let edits = insert(text, "s", listing, &entry()).expect("the text is YAML").expect("it can be edited");
        let after = apply(text, &edits).expect("the edits match the text");
        assert_eq!(apply(&after, &inverse(&edits)).as_deref(), Some(text));
        let value = parse(&after).unwrap_or_else(|error| panic!("{error}:\n{after}"));
        let found = match listing {
            Listing::Keyed => value["s"][ENTRY_NAME].clone(),
            Listing::Named(_) => value["s"][0].clone(),
        };
        assert_eq!(found, entry(), "{after}");
        let changed = json!({ "name": ENTRY_NAME, "cmd": "x" });
        let edits = replace(&after, "s", listing, &changed).expect("it is YAML").expect("it is there");
        let other = apply(&after, &edits).expect("the edits match the text");
        assert_eq!(other.replace("cmd: \"x\"", "").len(), other.len() - 8, "{other}");
        let is_ours = parse(text).expect("it is YAML").get("s").is_none();
        let edits = remove(&other, "s", listing, is_ours).expect("it is YAML").expect("it is there");
        let out = apply(&other, &edits).expect("the edits match the text");
        let (mut before, left) = (parse(text).expect("it is YAML"), parse(&out).expect("it is YAML"));
        if before["s"].is_null() && !is_ours {
            before["s"] = left["s"].clone();
        }
        assert_eq!(left, before, "{out}");
        after
    }

    #[test]
    fn entry_is_inserted_below_its_key() {
        let lines = "  codecompass:\n    name: \"codecompass\"\n    cmd: \"/bin/cc\"\n    args: [\"serve-mcp\"]\n    on: true\n    wait: 300\n";
        let table = [
            ("", format!("s:\n{lines}")),
            ("# only a comment", format!("# only a comment\ns:\n{lines}")),
            ("a: 1 # one\n", format!("a: 1 # one\ns:\n{lines}")),
            (
                "s: # servers\n  # first\n  x:\n    y: 1\n\nb: 2\n",
                format!("s: # servers\n{lines}  # first\n  x:\n    y: 1\n\nb: 2\n"),
            ),
            ("s:\nb: |\n  text\n", format!("s:\n{lines}b: |\n  text\n")),
            ("s: {} # none\nb: ü\n", format!("s: # none\n{lines}b: ü\n")),
            ("s: {}", format!("s:\n{lines}")),
            ("s:\n    x: 1", format!("s:\n{}    x: 1", lines.replace("\n  ", "\n    ").replacen("  ", "    ", 1))),
        ];
        for (before, after) in table {
            let expected = after.replace("\n        ", "\n      ");
            assert_eq!(added(before, Listing::Keyed), if before.starts_with("s:\n    x") { expected } else { after });
        }
    }

    #[test]
    fn list_item_is_inserted_below_its_key() {
        let item = "- name: \"codecompass\"\n  cmd: \"/bin/cc\"\n  args: [\"serve-mcp\"]\n  on: true\n  wait: 300\n";
        let before = "name: x\ns:\n# why\n- name: a\n  cmd: b\n- name: c\nmodels: []\n";
        assert_eq!(added(before, Listing::Named("name")), before.replace("s:\n", &format!("s:\n{item}")));
        added("s: []\n", Listing::Named("name"));
        added("a: 1\r\ns:\r\n    - name: q\r\n      env: { A: b }\r\n", Listing::Named("name"));
    }

    #[test]
    fn unusual_formats_are_refused() {
        for text in
            ["{s: {}}\n", "s: { x: 1 }\n", "s: ~\n", "s: word\n", "- a\n", "  s:\n    x: 1\n", "s: !tag\n  x: 1\n"]
        {
            assert_eq!(insert(text, "s", Listing::Keyed, &entry()).expect("the text is YAML"), None, "{text}");
        }
        for text in ["s: [", "a: 1\n---\nb: 2\n", "s: 1\ns: 2\n", "a:\n\t- b\n"] {
            assert!(insert(text, "s", Listing::Keyed, &entry()).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
