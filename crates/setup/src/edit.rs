//! Edits of a text: a few positions where text is removed and inserted, and how to undo them.
//!
//! Every change of a client's file is a list of edits, never a new text: so nothing else can change, the inverse is
//! available, and it contains previous text only where we replaced it.

use codecompass_model::ids::content_hash;
use codecompass_query::line_diff::{Step, diff_lines};
use serde_json::{Value, json};

use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::style;

/// At this byte of the current text, `removed` is replaced with `inserted`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) at: usize,
    pub(super) removed: String,
    pub(super) inserted: String,
}

impl Edit {
    /// A pure insertion.
    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { at, removed: String::new(), inserted: text.into() }
    }

    /// A pure removal.
    pub(super) fn remove(text: &str, range: std::ops::Range<usize>) -> Self {
        Self { at: range.start, removed: text[range].to_owned(), inserted: String::new() }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "at": self.at, "removed": self.removed, "inserted": self.inserted })
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let word = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let at = usize::try_from(value.get("at")?.as_u64()?).ok()?;
        Some(Self { at, removed: word("removed")?, inserted: word("inserted")? })
    }
}

/// The text after the edits, which are ordered and do not overlap; `None` if they do not match the text.
pub(super) fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 256);
    let mut done = 0;
    for edit in edits {
        let end = edit.at.checked_add(edit.removed.len())?;
        out += text.get(done..edit.at)?;
        if text.get(edit.at..end)? != edit.removed {
            return None;
        }
        out += &edit.inserted;
        done = end;
    }
    Some(out + text.get(done..)?)
}

/// The edits that undo these.
pub(super) fn inverse(edits: &[Edit]) -> Vec<Edit> {
    let (mut grown, mut shrunk) = (0, 0);
    let mut back = Vec::with_capacity(edits.len());
    for edit in edits {
        back.push(Edit {
            at: edit.at + grown - shrunk,
            removed: edit.inserted.clone(),
            inserted: edit.removed.clone(),
        });
        grown += edit.inserted.len();
        shrunk += edit.removed.len();
    }
    back
}

/// A fingerprint that identifies a text; the text itself is not stored.
pub(super) fn fingerprint(text: &str) -> String {
    format!("{:016x}", content_hash(&[text.as_bytes()]))
}

/// The line ending of a text: that of its first line.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The start of the line with this byte.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The end of the line with this byte, including its line ending.
pub(super) fn line_stop(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The removed and inserted lines. Unchanged lines are not shown, and of a line that only grew just the position of the
/// change: text beside our entry may be a secret token.
pub(super) fn difference(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let steps = diff_lines(&old, &new);
    let mut text = String::new();
    let mut at = 0;
    while at < steps.len() {
        let run = steps[at..].iter().take_while(|step| !matches!(step, Step::Same(..))).count();
        let removed: Vec<usize> = steps[at..at + run].iter().filter_map(|step| as_removed(*step)).collect();
        let added: Vec<usize> = steps[at..at + run].iter().filter_map(|step| as_added(*step)).collect();
        if let Some(first) = added.first().or(removed.first()) {
            text += &format!("    {}\n", style::dim(&format!("@ line {}", first + 1)));
        }
        for (place, line) in removed.iter().enumerate() {
            let other = added.get(place).map_or("", |line| new[*line]);
            text += &format!(
                "    {}\n",
                style::hit(&format!("- {}", escape_control(&highlight_difference(old[*line], other))))
            );
        }
        for (place, line) in added.iter().enumerate() {
            let other = removed.get(place).map_or("", |line| old[*line]);
            text += &format!(
                "    {}\n",
                style::added(&format!("+ {}", escape_control(&highlight_difference(new[*line], other))))
            );
        }
        at += run.max(1);
    }
    text
}

fn as_removed(step: Step) -> Option<usize> {
    match step {
        Step::Removed(line) => Some(line),
        _ => None,
    }
}

fn as_added(step: Step) -> Option<usize> {
    match step {
        Step::Added(line) => Some(line),
        _ => None,
    }
}

/// The number of common characters shown on each side of a change.
const CONTEXT_CHARS: usize = 12;

/// A line without most of the text that it shares with the other.
fn highlight_difference(line: &str, other: &str) -> String {
    let (line, other): (Vec<char>, Vec<char>) = (line.chars().collect(), other.chars().collect());
    let front = line.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let rest = (line.len() - front).min(other.len() - front);
    let back = line.iter().rev().zip(other.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (from, to) = (front.saturating_sub(CONTEXT_CHARS), (line.len() - back + CONTEXT_CHARS).min(line.len()));
    let is_blank = line[..front].iter().all(|char| char.is_whitespace());
    let (before, from) = if from > 1 && !is_blank { ("…", from) } else { ("", 0) };
    let (after, to) = if to + 1 < line.len() { ("…", to) } else { ("", line.len()) };
    format!("{before}{}{after}", line[from..to].iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_can_be_undone_exactly() {
        let text = "one two three\r\n";
        let edits = [
            Edit::insert(0, "0 "),
            Edit::remove(text, 4..8),
            Edit { at: 8, removed: "three".into(), inserted: "3".into() },
        ];
        let after = apply(text, &edits).expect("the edits match the text");
        assert_eq!(after, "0 one 3\r\n");
        assert_eq!(apply(&after, &inverse(&edits)).as_deref(), Some(text));
        assert_eq!(apply("another text than this", &inverse(&edits)), None);
        assert_eq!(apply("x", &edits), None);
    }

    #[test]
    fn surrounding_text_is_not_shown() {
        let before =
            "{\"mcpServers\":{\"a\":{\"env\":{\"KEY\":\"sk-12345678901234567890\"},\"command\":\"some-server\"}}}";
        let after = before.replace("-server\"}", "-server\"},\"codecompass\":{}");
        let told = codecompass_workspace::output::strip_style(&difference(before, &after));
        assert!(told.contains("codecompass") && !told.contains("sk-1234"), "{told}");
        let told = codecompass_workspace::output::strip_style(&difference(
            "{\n  \"a\": 1\n}\n",
            "{\n  \"a\": 1,\n  \"b\": 2\n}\n",
        ));
        assert_eq!(told, "    @ line 2\n    -   \"a\": 1\n    +   \"a\": 1,\n    +   \"b\": 2\n");
    }
}
