//! The rows of text answers: each path once per file, below it a row per location that begins with its line.
//!
//! A row shows source text: the header of a definition, the line of a use. It contains no machine-readable ids;
//! `path:line` is the handle, and every tool accepts it in place of a name.

use std::ops::Range;

use codecompass_model::{Lines, Symbol, SymbolKind};

use codecompass_workspace::escape::escape_control;
use codecompass_workspace::escape::truncate_to as truncate;
use codecompass_workspace::output::{Reader, style};

/// The maximum length of a header or source line in a row, in characters.
pub(crate) const MAX_ROW_CHARS: usize = 140;

/// The bytes reserved for the footer.
const FOOTER_BYTES: usize = 500;

/// A text that grows row by row up to a maximum size.
pub(crate) struct RowWriter {
    room: usize,
    text: String,
    path: String,
    /// Whether a path was written: a gap separates the next one from its rows.
    has_rows: bool,
}

impl RowWriter {
    /// An empty writer for `max_bytes` bytes.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            room: room.saturating_sub(FOOTER_BYTES).max(FOOTER_BYTES),
            text: String::new(),
            path: String::new(),
            has_rows: false,
        }
    }

    /// Adds a line if it fits; the first line always fits. After [`Self::end_file`] it begins a section: a gap separates
    /// it from the rows before, and none from the rows that follow.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        if !(self.has_rows && self.path.is_empty()) {
            return self.push(line);
        }
        self.has_rows = false;
        self.push(&format!("{}{line}", style::GAP))
    }

    fn push(&mut self, line: &str) -> bool {
        let fits = self.text.is_empty() || self.text.len() + line.len() < self.room;
        if fits {
            self.text += line;
            self.text.push('\n');
        }
        fits
    }

    /// Adds a row under the path of its file; the path is written if it differs from the path of the previous row.
    pub(crate) fn row(&mut self, path: &str, row: &str) -> bool {
        if self.path == path {
            return self.push(&format!(" {row}"));
        }
        let gap = if self.has_rows { String::from(style::GAP) } else { String::new() };
        let fits = self.push(&format!("{gap}{}\n {row}", style::path(&escape_control(path))));
        if fits {
            path.clone_into(&mut self.path);
            self.has_rows = true;
        }
        fits
    }

    /// Ends the current file: the next row writes its path again.
    pub(crate) fn end_file(&mut self) {
        self.path.clear();
    }

    /// Takes the text written so far, for callers that do not keep all of it in memory.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Returns the text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// The number of rows of these lengths that fit, at least one.
pub(crate) fn fitting_count(lengths: impl Iterator<Item = usize>, room: usize) -> usize {
    let room = room.saturating_sub(FOOTER_BYTES);
    let mut bytes = 0usize;
    let fits = |length: &usize| {
        bytes = bytes.saturating_add(*length);
        bytes <= room
    };
    let lengths: Vec<usize> = lengths.collect();
    lengths.iter().copied().take_while(fits).count().max(1).min(lengths.len())
}

/// Lines as a row shows them: `12`, or `12-20`.
pub(crate) fn lines_text(lines: Lines) -> String {
    match lines.end > lines.start {
        true => style::marked_number(&format!("{}-{}", lines.start, lines.end)),
        false => style::number(lines.start),
    }
}

/// A single location: `src/a.rs:12-20`.
pub(crate) fn location(path: &str, lines: Lines) -> String {
    format!("{}:{}", style::path(&escape_control(path)), lines_text(lines))
}

/// Locations in a row, each path once: `src/a.rs:12 one, :20 two, src/b.rs:7`.
pub(crate) fn locations<'p>(all: impl Iterator<Item = (&'p str, u32, String)>) -> String {
    let mut text = String::new();
    let mut last = None;
    for (path, line, what) in all {
        let comma = if text.is_empty() { "" } else { ", " };
        let path_text = if last == Some(path) { String::new() } else { style::path(&escape_control(path)) };
        let space = if what.is_empty() { "" } else { " " };
        text += &format!("{comma}{path_text}:{}{space}{what}", style::number(line));
        last = Some(path);
    }
    text
}

/// The name with the enclosing type, `Type.name`, but never with the module: the file implies that.
pub(crate) fn short_name(symbol: &Symbol) -> String {
    match owner(symbol) {
        // A private name of JavaScript starts with its own separator.
        Some((owner, _)) if symbol.name.starts_with('#') => format!("{owner}{}", symbol.name),
        Some((owner, mark)) => format!("{owner}{mark}{}", symbol.name),
        None => symbol.name.clone(),
    }
}

/// The name of the enclosing symbol, and the separator between the two.
fn owner(symbol: &Symbol) -> Option<(&str, &'static str)> {
    use SymbolKind::{Constructor, Field, Method, Property, Variant};
    let mark = if symbol.qualified_name.contains("::") { "::" } else { "." };
    let is_member = matches!(symbol.kind, Constructor | Field | Method | Property | Variant);
    // A test block is not part of the name: its qualifier is the module.
    let is_in_block = symbol.kind == SymbolKind::Test || symbol.in_test && mark == ".";
    let has_owner = is_member || symbol.parent.is_some() && !is_in_block;
    let around = symbol.qualified_name.strip_suffix(symbol.name.as_str())?.strip_suffix(mark)?;
    let owner = around.rsplit(mark).next().filter(|owner| !owner.is_empty())?;
    has_owner.then_some((owner, mark))
}

/// The header of a symbol in one line. If it does not name the owner type before the name, the type is added:
/// `fn Type::new()`. A receiver that leaves no room for the parameters is shortened to the type.
pub(crate) fn header(symbol: &Symbol, characters: usize) -> String {
    let signature = match symbol.kind {
        SymbolKind::Use => format!("use {}", symbol.name),
        _ if symbol.signature.is_empty() => symbol.name.clone(),
        _ => symbol.signature.clone(),
    };
    let told = match (owner(symbol), receiver_method(symbol)) {
        (_, Some(method)) if signature.chars().count() > characters => {
            format!("{} {}.{}", method.keyword, method.owner, method.rest)
        }
        (_, Some(_)) | (None, _) => signature,
        (Some((owner, mark)), None) if names_owner(&signature, &symbol.name, owner, mark) => signature,
        _ => replace_word(&signature, &symbol.name, &short_name(symbol)).unwrap_or(signature),
    };
    escape_control(&truncate(&told, characters)).into_owned()
}

/// Whether the owner is written directly before the name, `Type::new` or `Type<T>.new`. Elsewhere it is the type of a
/// parameter or of the result.
fn names_owner(signature: &str, name: &str, owner: &str, mark: &str) -> bool {
    // A constructor has the name of its type.
    if name == owner {
        return true;
    }
    let Some(at) = word_at(signature, name) else { return has_word(signature, owner) };
    let Some(before) = signature[..at].strip_suffix(mark).or_else(|| signature[..at].strip_suffix('.')) else {
        return false;
    };
    has_word(before, owner)
}

/// A method with its receiver before the name: `func (c *Client) Do(r Request)`.
pub(crate) struct ReceiverMethod<'s> {
    keyword: &'s str,
    pub(crate) owner: &'s str,
    /// The signature from the name on.
    pub(crate) rest: &'s str,
}

/// The parts of a signature with a receiver before the name.
pub(crate) fn receiver_method(symbol: &Symbol) -> Option<ReceiverMethod<'_>> {
    let (owner, _) = owner(symbol).filter(|_| symbol.parent.is_none())?;
    let (keyword, rest) = symbol.signature.split_once(" (")?;
    let (receiver, rest) = rest.split_once(") ")?;
    let is_one = !keyword.contains([' ', '(']) && rest.starts_with(symbol.name.as_str()) && has_word(receiver, owner);
    is_one.then_some(ReceiverMethod { keyword, owner, rest })
}

fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// The byte offset of the first whole-word occurrence.
fn word_at(text: &str, word: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find(word).map(|at| at + from) {
        let is_open = |char: Option<char>| char.is_none_or(|char| !is_word_char(char));
        if is_open(text[..at].chars().next_back()) && is_open(text[at + word.len()..].chars().next()) {
            return Some(at);
        }
        from = at + word.len().max(1);
    }
    None
}

fn has_word(text: &str, word: &str) -> bool {
    word_at(text, word).is_some()
}

fn replace_word(text: &str, word: &str, by: &str) -> Option<String> {
    let at = word_at(text, word).filter(|_| !word.is_empty())?;
    Some(format!("{}{by}{}", &text[..at], &text[at + word.len()..]))
}

/// A source line in a row, trimmed.
pub(crate) fn source(line: &str) -> String {
    escape_control(&truncate(line.trim(), MAX_ROW_CHARS)).into_owned()
}

/// The number of characters shown before a highlighted part that does not fit into a row with all that precedes it.
const LEAD_CHARS: usize = 30;

/// The same with some of its bytes highlighted. A line whose first highlighted part would be cut off starts shortly
/// before that part.
pub(crate) fn source_marked(line: &str, ranges: &[Range<usize>]) -> String {
    let mut begin = line.len() - line.trim_start().len();
    let far = ranges
        .first()
        .filter(|range| line.get(begin..range.end).is_some_and(|before| before.chars().count() >= MAX_ROW_CHARS));
    if let Some(range) = far {
        begin = line[..range.start].char_indices().rev().nth(LEAD_CHARS - 1).map_or(begin, |(at, _)| at.max(begin));
        let rest: Vec<Range<usize>> = ranges.iter().map(|range| range.start - begin..range.end - begin).collect();
        return format!("…{}", source_marked_from_start(&line[begin..], &rest));
    }
    source_marked_from_start(line, ranges)
}

/// The beginning of a line with some of its bytes highlighted.
fn source_marked_from_start(line: &str, ranges: &[Range<usize>]) -> String {
    let begin = line.len() - line.trim_start().len();
    let kept = truncate(line.trim(), MAX_ROW_CHARS);
    // Text that was cut off, and the ellipsis, is not highlighted.
    let whole = line.trim().bytes().zip(kept.bytes()).take_while(|(one, other)| one == other).count();
    let inside = |range: &Range<usize>| {
        let (start, end) = (range.start.checked_sub(begin)?, range.end.checked_sub(begin)?.min(whole));
        (start < end && kept.is_char_boundary(start) && kept.is_char_boundary(end)).then_some(start..end)
    };
    marked(&kept, ranges.iter().filter_map(inside), |part| escape_control(part).into_owned())
}

/// A verbatim line with some of its bytes highlighted.
pub(crate) fn exact_marked(line: &str, ranges: &[Range<usize>]) -> String {
    let is_in = |range: &Range<usize>| {
        range.start < range.end
            && line.is_char_boundary(range.start)
            && line.is_char_boundary(range.end.min(line.len()))
    };
    let ranges = ranges.iter().filter(|range| is_in(range)).map(|range| range.start..range.end.min(line.len()));
    marked(line, ranges, exact)
}

/// A text with these ordered ranges highlighted as matches.
fn marked(text: &str, ranges: impl Iterator<Item = Range<usize>>, plain: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut from = 0;
    for range in ranges.filter(|range| range.end <= text.len()) {
        if range.start < from {
            continue;
        }
        out += &plain(&text[from..range.start]);
        out += &style::hit(&plain(&text[range.clone()]));
        from = range.end;
    }
    out + &plain(&text[from..])
}

/// A verbatim source line with its number. Tabs are harmless.
pub(crate) fn numbered(number: u32, line: &str) -> String {
    format!("{number} {}", exact(line)).trim_end_matches(' ').to_owned()
}

/// The distance of the numbers between consecutive lines of code in a text for an agent.
const NUMBER_DISTANCE: u32 = 10;

/// Numbered lines for an agent. The first line has its number, and so does every tenth line and the first one after a
/// gap; a number on each line would be a seventh of the tokens. `|` ends a number, so the text after it is exact.
#[derive(Default)]
pub(crate) struct SparseNumbers {
    last: Option<u32>,
}

impl SparseNumbers {
    /// The row of the next line.
    pub(crate) fn row(&mut self, number: u32, line: &str) -> String {
        let follows = self.last.is_some_and(|last| last + 1 == number);
        self.last = Some(number);
        match follows && !number.is_multiple_of(NUMBER_DISTANCE) {
            true => exact(line),
            false => format!("{number}|{}", exact(line)),
        }
    }

    /// The rows of consecutive lines.
    pub(crate) fn rows<'l>(first: u32, lines: impl Iterator<Item = &'l str>) -> String {
        let mut numbers = Self::default();
        (first..).zip(lines).map(|(number, line)| numbers.row(number, line) + "\n").collect()
    }
}

/// A verbatim line, except that terminal control characters are escaped.
pub(crate) fn exact(line: &str) -> String {
    line.split('\t').map(escape_control).collect::<Vec<_>>().join("\t")
}

/// The remainder that was cut off, and the argument that gets it.
pub(crate) struct Remainder<'m> {
    pub(crate) seen: usize,
    pub(crate) total: usize,
    /// The noun for the items; may be empty.
    pub(crate) what: &'m str,
    /// Whether a larger `limit` is enough; otherwise the cursor continues the list.
    pub(crate) by_limit: bool,
    pub(crate) cursor: Option<&'m str>,
}

impl Remainder<'_> {
    /// One line; empty if nothing was cut. It does not begin with a number, because source lines do.
    pub(crate) fn text(&self, reader: Reader) -> String {
        if self.seen >= self.total {
            return String::new();
        }
        let space = if self.what.is_empty() { "" } else { " " };
        let how = match (self.by_limit && self.total <= super::input::MAX_RESULTS as usize, self.cursor, reader) {
            (true, _, Reader::Agent) => format!(" ({})", reader.argument("limit", self.total)),
            (true, _, Reader::Person) => format!(" ({}, or --all)", reader.argument("limit", self.total)),
            (false, Some(cursor), _) => format!(" (next: {})", reader.argument("cursor", cursor)),
            (false, None, _) => String::new(),
        };
        format!("… {} of {}{space}{}{how}\n", self.seen, self.total, self.what)
    }
}

/// A number with its noun.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_once_and_rows_are_bounded() {
        let mut sheet = RowWriter::new(2 * FOOTER_BYTES);
        assert!(sheet.row("a.rs", "1 one") && sheet.row("a.rs", "2 two") && sheet.row("b.rs", "3 three"));
        assert!(!sheet.row("c.rs", &"x".repeat(FOOTER_BYTES)));
        assert_eq!(
            codecompass_workspace::output::strip_style(&sheet.finish()),
            "a.rs\n 1 one\n 2 two\nb.rs\n 3 three\n"
        );
    }

    #[test]
    fn owner_counts_only_directly_before_the_name() {
        let table = [
            ("def from_state(cls, state) -> Flow", "from_state", "Flow", ".", false),
            ("public Flow copy()", "copy", "Flow", ".", false),
            ("void Flow::copy()", "copy", "Flow", "::", true),
            ("T Flow<T>::copy()", "copy", "Flow", "::", true),
            ("fun Flow.copy()", "copy", "Flow", ".", true),
            ("public Flow(int size)", "Flow", "Flow", ".", true),
            ("fn new(other: &Flow) -> Self", "new", "Flow", "::", false),
        ];
        for (signature, name, owner, mark, expected) in table {
            assert_eq!(names_owner(signature, name, owner, mark), expected, "{signature}");
        }
    }

    #[test]
    fn only_whole_words_are_replaced() {
        assert_eq!(replace_word("fn renew(new: u8)", "new", "T::new").as_deref(), Some("fn renew(T::new: u8)"));
        assert_eq!(replace_word("fn new()", "new", "T::new").as_deref(), Some("fn T::new()"));
        assert_eq!(replace_word("fn other()", "new", "T::new"), None);
    }

    #[test]
    fn numbers_are_written_where_a_reader_needs_them() {
        let rows = SparseNumbers::rows(8, ["eight", "\tnine", "ten", "", "  twelve "].into_iter());
        assert_eq!(rows, "8|eight\n\tnine\n10|ten\n\n  twelve \n");
        let mut numbers = SparseNumbers::default();
        assert_eq!([numbers.row(3, "a"), numbers.row(4, "b"), numbers.row(6, "c")], ["3|a", "b", "6|c"]);
    }

    #[test]
    fn long_lines_are_cut_around_the_first_match() {
        let line = format!("  {} needle {}", "a".repeat(500), "b".repeat(500));
        let at = line.find("needle").expect("is in it");
        let row =
            codecompass_workspace::output::strip_style(&source_marked(&line, std::slice::from_ref(&(at..at + 6))));
        assert!(row.starts_with("…aaa") && row.ends_with('…'), "{row}");
        assert!(row.contains(" needle bbb") && row.chars().count() <= MAX_ROW_CHARS + 2, "{row}");
        let near =
            codecompass_workspace::output::strip_style(&source_marked("  x needle", std::slice::from_ref(&(4..10))));
        assert_eq!(near, "x needle");
    }

    #[test]
    fn remainder_names_the_argument() {
        let more = |by_limit, total| Remainder { seen: 10, total, what: "places", by_limit, cursor: Some("a.1") };
        assert_eq!(more(true, 10).text(Reader::Agent), "");
        assert_eq!(more(true, 12).text(Reader::Agent), "… 10 of 12 places (limit=12)\n");
        assert_eq!(more(true, 12).text(Reader::Person), "… 10 of 12 places (--limit 12, or --all)\n");
        assert_eq!(more(false, 12).text(Reader::Agent), "… 10 of 12 places (next: cursor=a.1)\n");
        assert_eq!(more(true, 900).text(Reader::Agent), "… 10 of 900 places (next: cursor=a.1)\n");
    }
}
