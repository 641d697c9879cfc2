//! The outline of a file as text: a row per symbol, fields and variants folded into the row of their type, no imports.

use codecompass_model::{Lines, SymbolKind};
use codecompass_query::Outline;

use super::rows;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::{OutputFormat, Reader, style};

/// The maximum length of a header in a row, in characters.
const MAX_HEADER_CHARS: usize = 84;

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
    // The type whose row or heading is above the next row.
    let mut above: Option<&str> = None;
    while at < tops.len() {
        // Consecutive one-line values share a row, and so do overloads that look alike.
        let run = if name.is_none() { value_run_length(outline, &tops[at..]) } else { 0 };
        let count = if run > 1 { run } else { overload_count(outline, &tops[at..], name) };
        let mut rows = Vec::new();
        let symbol = outline.symbol(tops[at]);
        match rows::receiver_method(symbol).map(|method| method.owner) {
            _ if run > 1 => {
                rows.push(values_row(outline, &tops[at..at + run]));
                above = None;
            }
            Some(owner) => {
                if above != Some(owner) && name.is_none() {
                    above = methods_row(outline, &tops[at..], owner).map(|row| {
                        rows.push(row);
                        owner
                    });
                }
                let is_below = above == Some(owner) && name.is_none();
                let form = if is_below { MethodForm::BelowOwner } else { MethodForm::WithOwner };
                add(outline, &tops[at..at + count], usize::from(is_below), is_deep, name, form, &mut rows);
            }
            None => {
                add(outline, &tops[at..at + count], 0, is_deep, name, MethodForm::AsWritten, &mut rows);
                above = Some(symbol.name.as_str()).filter(|_| symbol.kind != SymbolKind::Fn);
            }
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

/// How a header shows the receiver of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MethodForm {
    /// The row is below that of the type, so the receiver is left out.
    BelowOwner,
    /// As `Type.name`.
    WithOwner,
    AsWritten,
}

/// The minimum number of methods that get a heading.
const MIN_METHODS: usize = 3;

/// The heading for the methods of a type from here on, if there are several.
fn methods_row(outline: &Outline, tops: &[u32], owner: &str) -> Option<String> {
    let is_one =
        |place: &&u32| rows::receiver_method(outline.symbol(**place)).is_some_and(|method| method.owner == owner);
    let count = tops.iter().take_while(is_one).count();
    let (first, last) = (outline.symbol(*tops.first()?), outline.symbol(*tops.get(count.checked_sub(1)?)?));
    let lines = rows::lines_text(Lines { start: first.lines.start, end: last.lines.end });
    (count >= MIN_METHODS).then(|| format!("{lines} methods of {}", escape_control(owner)))
}

/// The number of symbols from here on with the same row but for the lines: overloads whose signatures are cut alike.
fn overload_count(outline: &Outline, tops: &[u32], name: Option<&str>) -> usize {
    use SymbolKind::{Constructor, Fn, Method, Prototype};
    let Some(place) = tops.first().filter(|_| name.is_none()) else { return 1 };
    let first = outline.symbol(*place);
    let is_same = |place: &&u32| {
        let symbol = outline.symbol(**place);
        symbol.name == first.name
            && matches!(symbol.kind, Constructor | Fn | Method | Prototype)
            && outline.children_of(**place).is_empty()
            && header(outline, **place, MethodForm::AsWritten) == header(outline, tops[0], MethodForm::AsWritten)
    };
    tops.iter().take_while(is_same).count().max(1)
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

/// The rows of a symbol and of the symbols inside it; overloads that look alike share a row.
fn add(
    outline: &Outline,
    overloads: &[u32],
    level: usize,
    is_deep: bool,
    name: Option<&str>,
    form: MethodForm,
    rows: &mut Vec<String>,
) {
    let place = overloads[0];
    let symbol = outline.symbol(place);
    if symbol.kind == SymbolKind::Use {
        return;
    }
    let is_meant = |place: u32| name.is_none_or(|name| outline.symbol(place).name.to_lowercase().contains(name));
    let inside = outline.children_of(place);
    let folded: Vec<u32> = inside.iter().copied().filter(|child| is_folded(outline, *child)).collect();
    let line: Vec<String> = overloads.iter().map(|place| rows::lines_text(outline.symbol(*place).lines)).collect();
    let line = line.join(",");
    let at = rows.len();
    let what = header(outline, place, form);
    let only = only_constructor(outline, place).filter(|_| is_deep && name.is_none());
    let constructor = only
        .map(|only| format!(" {}:{}", header(outline, only, MethodForm::AsWritten), outline.symbol(only).lines.start));
    let inner_names = names(outline, &folded);
    rows.push(format!("{}{line} {what}{inner_names}{}", " ".repeat(level), constructor.unwrap_or_default()));
    if is_deep {
        let inner = if is_meant(place) { None } else { name };
        let open = inside.iter().copied().filter(|child| !is_folded(outline, *child) && only != Some(*child));
        let open: Vec<u32> = open.collect();
        let mut next = 0;
        while next < open.len() {
            let count = overload_count(outline, &open[next..], inner);
            add(outline, &open[next..next + count], level + 1, is_deep, inner, MethodForm::AsWritten, rows);
            next += count;
        }
    }
    // No symbol in it matches the name filter.
    if !is_meant(place) && rows.len() == at + 1 {
        rows.pop();
    }
}

/// The header of a symbol, without line breaks, indentation and the arrow before its body.
fn header(outline: &Outline, place: u32, form: MethodForm) -> String {
    use SymbolKind::{Constructor, Fn, Method};
    let symbol = outline.symbol(place);
    let is_code = |parent: u32| {
        let parent = outline.symbol(parent);
        matches!(parent.kind, Constructor | Fn | Method) || parent.signature.contains("=>")
    };
    let most = if symbol.parent.is_some_and(is_code) { MAX_LOCAL_HEADER_CHARS } else { MAX_HEADER_CHARS };
    let signature = match (form, rows::receiver_method(symbol)) {
        (MethodForm::BelowOwner, Some(method)) => method.rest.to_owned(),
        (MethodForm::WithOwner, Some(method)) => format!("{}.{}", method.owner, method.rest),
        _ => symbol.signature.clone(),
    };
    let signature = signature.replace("( ", "(").replace(", )", ")").replace(" )", ")");
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
