//! JSON with comments and trailing commas: parsed with positions, and edited without touching the rest.

use serde_json::{Map, Value};

use super::edit::{Edit, line_end, line_start, line_stop};

/// The maximum nesting depth of a file.
const MAX_DEPTH: usize = 200;

/// A value and its position.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    /// Any other value.
    Plain(Value),
}

/// A key and its value.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    start: usize,
    pub(super) value: Node,
    /// The position after the comma that follows it, if any.
    comma: Option<usize>,
}

impl Node {
    /// The members, if it is an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value without positions. Of several members with one key the last counts, as in other parsers.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => {
                let pairs = members.iter().map(|member| (member.key.clone(), member.value.value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
            Kind::Array(items) => items.iter().map(Node::value).collect(),
            Kind::Plain(value) => value.clone(),
        }
    }
}

/// Parses a complete text; an error has its position.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut reader = Reader { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    let outcome = reader.skip().and_then(|()| reader.value(0)).and_then(|node| {
        reader.skip()?;
        if reader.at == text.len() { Ok(node) } else { Err("unexpected text after the end".into()) }
    });
    outcome.map_err(|what| {
        let at = reader.at.min(text.len());
        let line = text[..at].matches('\n').count() + 1;
        let column = text[line_start(text, at)..at].chars().count() + 1;
        format!("line {line}, column {column}: {what}")
    })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), String> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").ok_or("a comment is not closed")? + 2;
            } else if blank == 0 {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return Err("it is nested too deeply".into());
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Plain(Value::String(self.string()?)),
            Some(_) => Kind::Plain(self.word()?),
            None => return Err("a value is missing".into()),
        };
        Ok(Node { start, end: self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, String> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip()?;
            let start = self.at;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Kind::Object(members));
                }
                Some(b'"') => {}
                _ => return Err("a key or `}` is missing".into()),
            }
            let key = self.string()?;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err("a `:` is missing".into());
            }
            self.at += 1;
            self.skip()?;
            let value = self.value(depth + 1)?;
            let comma = self.comma(b'}')?;
            members.push(Member { key, start, value, comma });
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind, String> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Kind::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.comma(b']')?;
        }
    }

    /// Skips a comma, which may be missing only before the end.
    fn comma(&mut self, end: u8) -> Result<Option<usize>, String> {
        self.skip()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(Some(self.at))
            }
            Some(byte) if byte == end => Ok(None),
            _ => Err(format!("a `,` or `{}` is missing", end as char)),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(byte) if *byte >= b' ' => end += 1,
                _ => return Err("a string is not closed".into()),
            }
        }
        let text = self.text.get(self.at..=end).ok_or("a string is not closed")?;
        let value = serde_json::from_str(text).map_err(|_| "a string has an invalid escape".to_owned())?;
        self.at = end + 1;
        Ok(value)
    }

    fn word(&mut self) -> Result<Value, String> {
        let rest = self.rest();
        let ends = |char: char| char.is_whitespace() || ",:{}[]\"/".contains(char);
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let value = serde_json::from_str(word).map_err(|_| "this is not a value".to_owned())?;
        self.at += word.len();
        Ok(value)
    }
}

/// The object at the end of these keys; `None` if one of them is missing. A duplicate key, or a value that is not an
/// object, is an error.
pub(super) fn find<'n>(root: &'n Node, keys: &[&str]) -> Result<Option<&'n Node>, String> {
    let mut node = root;
    if root.members().is_none() {
        return Err("it is not an object".into());
    }
    for key in keys {
        let Some(member) = member(node, key)? else { return Ok(None) };
        if member.value.members().is_none() {
            return Err(format!("`{key}` is not an object"));
        }
        node = &member.value;
    }
    Ok(Some(node))
}

/// The member of an object with this key.
pub(super) fn member<'n>(object: &'n Node, key: &str) -> Result<Option<&'n Member>, String> {
    let mut found = object.members().into_iter().flatten().filter(|member| member.key == key);
    let first = found.next();
    if found.next().is_some() {
        return Err(format!("`{key}` occurs twice"));
    }
    Ok(first)
}

/// Adds a member at the end of an object.
pub(super) fn insert(text: &str, object: &Node, key: &str, value: &Value) -> Vec<Edit> {
    let members = object.members().unwrap_or_default();
    let end = line_end(text);
    let closing = object.end - 1;
    let head = &text[line_start(text, closing)..closing];
    let is_alone = head.chars().all(|char| char == ' ' || char == '\t') && line_start(text, closing) > object.start;
    let is_flat = !text[object.start..object.end].contains('\n');
    match members.last() {
        // The object is on one line, so the new member is, too.
        Some(last) if is_flat => {
            let space = if text[object.start..object.end].contains("\": ") { " " } else { "" };
            let written = format!("{}:{space}{}", quoted(key), flat(value, space));
            match last.comma {
                Some(comma) => vec![Edit::insert(comma, format!("{space}{written}"))],
                None => vec![Edit::insert(last.value.end, format!(",{space}{written}"))],
            }
        }
        _ => {
            let step = step(text);
            let base = indentation(text, object.start);
            let own_line =
                members.iter().map(|member| member.start).find(|start| indentation_before(text, *start).is_some());
            let indent = own_line.map_or(format!("{base}{step}"), |start| indentation(text, start));
            let written = format!("{indent}{}: {}", quoted(key), pretty(value, &indent, &step, end));
            let comma = members.last().filter(|last| last.comma.is_none());
            let mut edits: Vec<Edit> = comma.map(|last| Edit::insert(last.value.end, ",")).into_iter().collect();
            let trailing = if members.last().is_some_and(|last| last.comma.is_some()) { "," } else { "" };
            if is_alone {
                edits.push(Edit::insert(line_start(text, closing), format!("{written}{trailing}{end}")));
            } else {
                // After everything before the closing brace; blank space stays after the insertion.
                let at = object.start + 1 + text[object.start + 1..closing].trim_end().len();
                edits.push(Edit::insert(at, format!("{end}{written}{trailing}{end}{base}")));
            }
            merge_adjacent(edits)
        }
    }
}

/// Merges edits at the same position.
fn merge_adjacent(edits: Vec<Edit>) -> Vec<Edit> {
    let mut out: Vec<Edit> = Vec::new();
    for edit in edits {
        match out.last_mut() {
            Some(last) if last.at == edit.at && last.removed.is_empty() => last.inserted += &edit.inserted,
            _ => out.push(edit),
        }
    }
    out
}

/// Replaces the value of a member.
pub(super) fn replace(text: &str, member: &Member, value: &Value) -> Vec<Edit> {
    let old = &text[member.value.start..member.value.end];
    let new = match old.contains('\n') || indentation_before(text, member.start).is_some() {
        true => pretty(value, &indentation(text, member.start), &step(text), line_end(text)),
        false => flat(value, " "),
    };
    vec![Edit { at: member.value.start, removed: old.to_owned(), inserted: new }]
}

/// Removes a member from its object, with its comma, and with its lines if they contain nothing else.
pub(super) fn remove(text: &str, object: &Node, key: &str) -> Vec<Edit> {
    let members = object.members().unwrap_or_default();
    let Some(place) = members.iter().position(|member| member.key == key) else { return Vec::new() };
    let member = &members[place];
    let mut edits = Vec::new();
    let before = place.checked_sub(1).map(|place| &members[place]);
    if let (None, Some(before)) = (member.comma, before)
        && let Some(comma) = before.comma
    {
        edits.push(Edit::remove(text, comma - 1..comma));
    }
    let (mut start, mut end) = (member.start, member.comma.unwrap_or(member.value.end));
    let is_first = indentation_before(text, start).is_some();
    let stop = line_stop(text, end);
    if is_first && text[end..stop].trim().is_empty() {
        (start, end) = (line_start(text, start), stop);
    } else if before.is_some() && !is_first {
        // The space between the comma before and the key.
        let from = edits.first().map_or_else(|| before.and_then(|before| before.comma), |edit| Some(edit.at + 1));
        start = from.filter(|from| text[*from..start].trim().is_empty()).unwrap_or(start);
    }
    edits.push(Edit::remove(text, start..end));
    edits
}

/// A value over several lines; all lines but the first are indented. Lists of plain values stay on one line.
pub(super) fn pretty(value: &Value, indent: &str, step: &str, end: &str) -> String {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let inner = format!("{indent}{step}");
            let lines: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{inner}{}: {}", quoted(key), pretty(value, &inner, step, end)))
                .collect();
            format!("{{{end}{}{end}{indent}}}", lines.join(&format!(",{end}")))
        }
        value => flat(value, " "),
    }
}

fn flat(value: &Value, space: &str) -> String {
    match value {
        Value::Object(fields) => {
            let pairs: Vec<String> =
                fields.iter().map(|(key, value)| format!("{}:{space}{}", quoted(key), flat(value, space))).collect();
            let inside = pairs.join(&format!(",{space}"));
            if inside.is_empty() { "{}".into() } else { format!("{{{space}{inside}{space}}}") }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| flat(item, space)).collect();
            format!("[{}]", items.join(&format!(",{space}")))
        }
        plain => plain.to_string(),
    }
}

fn quoted(key: &str) -> String {
    Value::from(key).to_string()
}

/// The white space at the start of the line with this byte.
fn indentation(text: &str, at: usize) -> String {
    let line = &text[line_start(text, at)..];
    let line = line.trim_start_matches('\u{feff}');
    line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
}

/// The same, if only white space precedes the byte on its line.
fn indentation_before(text: &str, at: usize) -> Option<&str> {
    let head = &text[line_start(text, at)..at];
    head.chars().all(|char| char == ' ' || char == '\t').then_some(head)
}

/// The indentation step of the file, from its first indented line.
fn step(text: &str) -> String {
    let indented = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let found = indented.map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    found.filter(|found| found.len() <= 8).unwrap_or("  ").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::edit::{apply, inverse};
    use super::*;

    fn entry() -> Value {
        json!({ "command": "/bin/cc", "args": ["serve-mcp"] })
    }

    /// Adds an entry below `s` and returns the text; removing it again and undoing the edits both restore the original.
    #[track_caller]
    fn added(text: &str) -> String {
        let root = parse(text).expect("the text is valid JSON");
        let object = find(&root, &["s"]).expect("the keys are objects").expect("the key exists");
        let edits = insert(text, object, "cc", &entry());
        let after = apply(text, &edits).expect("the edits match the text");
        assert_eq!(apply(&after, &inverse(&edits)).as_deref(), Some(text));
        let mut expected = root.value();
        expected["s"]["cc"] = entry();
        let parsed = parse(&after).unwrap_or_else(|error| panic!("{error}:\n{after}"));
        assert_eq!(parsed.value(), expected, "{after}");
        let object = find(&parsed, &["s"]).expect("the keys are objects").expect("the key exists");
        let out = apply(&after, &remove(&after, object, "cc")).expect("the edits match the text");
        assert_eq!(parse(&out).unwrap_or_else(|error| panic!("{error}:\n{out}")).value(), root.value(), "{out}");
        after
    }

    #[test]
    fn inserted_entry_follows_file_style() {
        let table = [
            (
                "{\n  \"s\": {\n    \"a\": {}\n  }\n}\n",
                "{\n  \"s\": {\n    \"a\": {},\n    \"cc\": {\n      \"command\": \"/bin/cc\",\n      \"args\": [\"serve-mcp\"]\n    }\n  }\n}\n",
            ),
            (
                "{\r\n\t\"s\": {\r\n\t\t\"a\": 1, // why\r\n\t}, /* x */\r\n}",
                "{\r\n\t\"s\": {\r\n\t\t\"a\": 1, // why\r\n\t\t\"cc\": {\r\n\t\t\t\"command\": \"/bin/cc\",\r\n\t\t\t\"args\": [\"serve-mcp\"]\r\n\t\t},\r\n\t}, /* x */\r\n}",
            ),
            ("{\"s\":{\"a\":1}}", "{\"s\":{\"a\":1,\"cc\":{\"command\":\"/bin/cc\",\"args\":[\"serve-mcp\"]}}}"),
            (
                "{ \"s\": { \"a\": 1 } }",
                "{ \"s\": { \"a\": 1, \"cc\": { \"command\": \"/bin/cc\", \"args\": [\"serve-mcp\"] } } }",
            ),
            (
                "{\n    \"s\": {}\n}",
                "{\n    \"s\": {\n        \"cc\": {\n            \"command\": \"/bin/cc\",\n            \"args\": [\"serve-mcp\"]\n        }\n    }\n}",
            ),
            (
                "{\n  \"s\": {\n    \"a\": 1 // last\n    // and a word after it\n  }\n}\n",
                "{\n  \"s\": {\n    \"a\": 1, // last\n    // and a word after it\n    \"cc\": {\n      \"command\": \"/bin/cc\",\n      \"args\": [\"serve-mcp\"]\n    }\n  }\n}\n",
            ),
        ];
        for (before, after) in table {
            assert_eq!(added(before), after);
        }
    }

    #[test]
    fn odd_layouts_are_edited_correctly() {
        for text in [
            "\u{feff}{ \"s\" : { } }",
            "{\"s\":{\n}}",
            "{\"s\":{ /* nothing */ }}",
            "{\"s\":{ // nothing\n}}",
            "{\n\"s\": {\"a\": 1,\n\"b\": 2}}",
            "// head\n{\"s\": {\"a\": \"}\\\"\", }, \"t\": [1, 2,],}\n\n",
            "{\"s\": {\"a\": {\"x\": \"// no comment\"}\n  , \"b\": -1.5e3\n  }}",
        ] {
            added(text);
        }
    }

    #[test]
    fn invalid_json_is_reported_with_position() {
        let table = [
            ("", "line 1, column 1: a value is missing"),
            ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3: a `,` or `}` is missing"),
            ("{\"a\": }", "line 1, column 7: this is not a value"),
            ("{\"a\": \"x", "line 1, column 7: a string is not closed"),
            ("{} {}", "line 1, column 4: unexpected text after the end"),
            ("{\"a\": 1 /* x", "line 1, column 9: a comment is not closed"),
            ("{'a': 1}", "line 1, column 2: a key or `}` is missing"),
        ];
        for (text, told) in table {
            assert_eq!(parse(text).expect_err("the text is invalid"), told, "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn duplicate_keys_are_refused() {
        let root = parse("{\"s\": {}, \"s\": {}}").expect("the text is valid JSON");
        assert_eq!(find(&root, &["s"]).expect_err("a duplicate key"), "`s` occurs twice");
        let root = parse("{\"s\": []}").expect("the text is valid JSON");
        assert_eq!(find(&root, &["s"]).expect_err("a list"), "`s` is not an object");
    }
}
