//! The outline of a file as text: a row per symbol, fields and variants folded into the row of their type, no imports.

use codecompass_model::{Lines, SymbolKind};
use codecompass_query::Outline;

use super::rows;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::{OutputFormat, Reader, style};

/// The maximum length of a header in a row, in characters.
const MAX_HEADER_CHARS: usize = 72;

/// The maximum length of the header of a symbol inside a function.
const MAX_LOCAL_HEADER_CHARS: usize = 40;

/// The maximum number of folded names that are listed.
const MAX_FOLDED_NAMES: usize = 4;

/// The text of an outline, or of one page of it.
pub(super) struct OutlineText {
    text: String,
    /// The number of top-level symbols it covers.
    pub(super) tops: usize,
    /// The number of symbols with a row, and the number that need one.
    shown: usize,
    total: usize,
}

impl OutlineText {
    /// Completes the text with the number of cut symbols and how to get them.
    pub(super) fn finish(self, next: Option<&str>, form: OutputFormat) -> String {
        let reader = if form == OutputFormat::Text(Reader::Person) { Reader::Person } else { Reader::Agent };
        let mut text = self.text;
        if self.shown < self.total {
            let goes_on = next.map(|cursor| format!("next: {}; ", reader.argument("cursor", cursor)));
            let how = reader.argument("name", "PART");
            text += &format!("… {} of {} ({}{how} filters)\n", self.shown, self.total, goes_on.unwrap_or_default());
        }
        text
    }
}

/// Renders the symbols at these ordinals until `max_bytes` is reached.
pub(super) fn text(outline: &Outline, is_deep: bool, name: Option<&str>, tops: &[u32], room: usize) -> OutlineText {
    let mut sheet = rows::RowWriter::new(room);
    let imports = tops.iter().filter(|place| outline.symbol(**place).kind == SymbolKind::Use).count();
    let imports = if imports > 0 { format!(", {}", rows::count(imports, "import")) } else { String::new() };
    sheet.line(&format!("{}{}", style::path(&escape_control(&outline.version.path)), style::dim(&imports)));
    let mut text = OutlineText { text: String::new(), tops: 0, shown: 0, total: 0 };
    let mut is_full = false;
    let mut at = 0;
    while at < tops.len() {
        // Consecutive one-line values share a row.
        let run = if name.is_none() { value_run_length(outline, &tops[at..]) } else { 0 };
        let count = run.max(1);
        let mut rows = Vec::new();
        match run > 1 {
            true => rows.push(values_row(outline, &tops[at..at + run])),
            false => add(outline, tops[at], 0, is_deep, name, &mut rows),
        }
        at += count;
        text.total += rows.len();
        let before = text.shown;
        for row in &rows {
            is_full = is_full || !sheet.line(row);
            text.shown += usize::from(!is_full);
        }
        // A partly shown symbol counts as covered, so that the next page continues after it.
        if !is_full || text.shown > before && text.tops == 0 {
            text.tops += count;
        }
    }
    text.text = sheet.finish();
    text
}

/// The number of symbols from here on that are plain one-line values of one kind.
fn value_run_length(outline: &Outline, tops: &[u32]) -> usize {
    use SymbolKind::{Const, Key, Static, Type, Var};
    let first = tops.first().map(|place| outline.symbol(*place).kind);
    let is_value = |place: &&u32| {
        let symbol = outline.symbol(**place);
        let is_function = symbol.kind != Type && symbol.signature.contains("=>");
        let is_plain = symbol.lines.start == symbol.lines.end && !is_function;
        let is_leaf = outline.children_of(**place).is_empty();
        Some(symbol.kind) == first && matches!(symbol.kind, Const | Key | Static | Type | Var) && is_plain && is_leaf
    };
    tops.iter().take_while(is_value).count()
}

/// Several values in one row.
fn values_row(outline: &Outline, run: &[u32]) -> String {
    let (first, last) = (outline.symbol(run[0]), outline.symbol(run[run.len() - 1]));
    let lines = rows::lines_text(Lines { start: first.lines.start, end: last.lines.end });
    // Types are looked up by location more often than values.
    let told = match first.kind {
        SymbolKind::Type => {
            let place = |at: &u32| format!("{}:{}", outline.symbol(*at).name, outline.symbol(*at).lines.start);
            format!(" {}", escape_control(&run.iter().map(place).collect::<Vec<_>>().join(", ")))
        }
        _ => names(outline, run),
    };
    format!("{lines} {}{told}", first.kind.as_str())
}

/// The rows of a symbol and of the symbols inside it.
fn add(outline: &Outline, place: u32, level: usize, is_deep: bool, name: Option<&str>, rows: &mut Vec<String>) {
    let symbol = outline.symbol(place);
    if symbol.kind == SymbolKind::Use {
        return;
    }
    let is_meant = |place: u32| name.is_none_or(|name| outline.symbol(place).name.to_lowercase().contains(name));
    let inside = outline.children_of(place);
    let folded: Vec<u32> = inside.iter().copied().filter(|child| is_folded(outline, *child)).collect();
    let line = rows::lines_text(symbol.lines);
    let at = rows.len();
    let what = header(outline, place);
    let only = only_constructor(outline, place).filter(|_| is_deep && name.is_none());
    let constructor = only.map(|only| format!(" {}:{}", header(outline, only), outline.symbol(only).lines.start));
    let inner_names = names(outline, &folded);
    rows.push(format!("{}{line} {what}{inner_names}{}", " ".repeat(level), constructor.unwrap_or_default()));
    if is_deep {
        let inner = if is_meant(place) { None } else { name };
        let open = inside.iter().filter(|child| !is_folded(outline, **child) && only != Some(**child));
        open.for_each(|child| add(outline, *child, level + 1, is_deep, inner, rows));
    }
    // No symbol in it matches the name filter.
    if !is_meant(place) && rows.len() == at + 1 {
        rows.pop();
    }
}

/// The header of a symbol, without line breaks, indentation and the arrow before its body.
fn header(outline: &Outline, place: u32) -> String {
    use SymbolKind::{Constructor, Fn, Method};
    let symbol = outline.symbol(place);
    let is_code = |parent: u32| {
        let parent = outline.symbol(parent);
        matches!(parent.kind, Constructor | Fn | Method) || parent.signature.contains("=>")
    };
    let most = if symbol.parent.is_some_and(is_code) { MAX_LOCAL_HEADER_CHARS } else { MAX_HEADER_CHARS };
    let signature = symbol.signature.replace("( ", "(").replace(", )", ")").replace(" )", ")");
    escape_control(&super::shape::truncate(signature.trim_end_matches(" =>"), most)).into_owned()
}

/// The constructor of a class without other members: the row of the class shows it.
fn only_constructor(outline: &Outline, place: u32) -> Option<u32> {
    let mut open = outline.children_of(place).iter().copied().filter(|child| !is_folded(outline, *child));
    let only = open.next().filter(|child| outline.symbol(*child).kind == SymbolKind::Constructor)?;
    (open.next().is_none() && outline.children_of(only).is_empty()).then_some(only)
}

/// Whether a symbol is shown in the row of its parent.
fn is_folded(outline: &Outline, place: u32) -> bool {
    use SymbolKind::{Field, Key, Property, Variant};
    let symbol = outline.symbol(place);
    // A property with code of its own is more than a name.
    let is_name = symbol.lines.start == symbol.lines.end || !symbol.signature.contains('(');
    let is_inner_key = symbol.kind == Key && symbol.parent.is_some();
    let is_part = is_inner_key || matches!(symbol.kind, Field | Property | Variant) && is_name;
    is_part && outline.children_of(place).is_empty()
}

fn names(outline: &Outline, folded: &[u32]) -> String {
    if folded.is_empty() {
        return String::new();
    }
    let names: Vec<&str> =
        folded.iter().take(MAX_FOLDED_NAMES).map(|place| outline.symbol(*place).name.as_str()).collect();
    let more = if folded.len() > MAX_FOLDED_NAMES {
        format!(", … {} more", folded.len() - MAX_FOLDED_NAMES)
    } else {
        String::new()
    };
    style::dim(&format!(" {{{}{more}}}", escape_control(&names.join(", "))))
}
