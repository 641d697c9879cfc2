//! Rows shared by several screens: symbols, calls, locations.

use codecompass_wire::get_call_graph::Call;
use codecompass_wire::get_symbol_hierarchy::HierarchySymbol;
use codecompass_wire::pages::SourceSymbol;
use codecompass_wire::{Candidate, SymbolIdentity};
use maud::{Markup, html};

use super::address::CodeState;
use codecompass_workspace::escape::escape_control;

/// A symbol of an answer, as lists show it.
#[derive(Clone, Copy)]
pub(super) struct SymbolView<'s> {
    /// Empty if it has none.
    pub(super) id: &'s str,
    pub(super) name: &'s str,
    pub(super) kind: &'s str,
    pub(super) path: &'s str,
    pub(super) line: u32,
}

impl<'s> From<&'s SymbolIdentity> for SymbolView<'s> {
    fn from(symbol: &'s SymbolIdentity) -> Self {
        Self {
            id: &symbol.symbol_id,
            name: if symbol.qualified_name.is_empty() { &symbol.name } else { &symbol.qualified_name },
            kind: &symbol.kind,
            path: symbol.path.as_deref().unwrap_or_default(),
            line: symbol.line_start.unwrap_or(1),
        }
    }
}

impl<'s> From<&'s SourceSymbol> for SymbolView<'s> {
    fn from(symbol: &'s SourceSymbol) -> Self {
        let SourceSymbol { symbol_id: id, qualified_name: name, kind, path, line_start: line, .. } = symbol;
        Self { id, name, kind, path, line: *line }
    }
}

impl<'s> From<&'s HierarchySymbol> for SymbolView<'s> {
    fn from(symbol: &'s HierarchySymbol) -> Self {
        let HierarchySymbol { symbol_id: id, qualified_name: name, kind, path, line_start: line, .. } = symbol;
        Self { id, name, kind, path, line: *line }
    }
}

impl<'s> From<&'s Candidate> for SymbolView<'s> {
    fn from(symbol: &'s Candidate) -> Self {
        let Candidate { symbol_id: id, qualified_name: name, kind, path, line } = symbol;
        Self { id, name, kind, path, line: *line }
    }
}

/// A name with control and invisible characters escaped.
pub(super) fn escape_name(text: &str) -> String {
    escape_control(text).into_owned()
}

/// `1 file`, `2 files`.
pub(super) fn count(number: u64, word: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {word}{plural}", codecompass_workspace::measure::count_text(number))
}

/// A key that identifies a symbol; file-level code is identified by its file.
pub(super) fn symbol_key(symbol: SymbolView<'_>) -> String {
    if symbol.id.is_empty() { symbol.path.to_owned() } else { symbol.id.to_owned() }
}

/// The kind of a symbol, as a badge beside its name.
pub(super) fn kind(kind: &str) -> Markup {
    html! { span.kind { (kind) } }
}

/// The end of a qualified name: its own name and that of the enclosing symbol. The rest is the same in most rows of a
/// list.
pub(super) fn short_name(qualified: &str) -> &str {
    let is_border = |char: char| matches!(char, '.' | ':' | '/' | '#' | '\\');
    let around = qualified.trim_end_matches(|char| !is_border(char)).trim_end_matches(is_border);
    let start = around.rfind(is_border).map_or(0, |border| border + 1);
    &qualified[start..]
}

/// A name linked to its symbol.
pub(super) fn symbol_link<'s>(at: &CodeState, symbol: impl Into<SymbolView<'s>>) -> Markup {
    let SymbolView { id, name, kind: word, .. } = symbol.into();
    html! {
        (kind(word)) " "
        @if id.is_empty() { span.name { (escape_name(name)) } }
        @else { a.name href=(at.symbol(id)) title=(escape_name(name)) { (escape_name(short_name(name))) } }
    }
}

/// The place of a symbol, as a link.
pub(super) fn symbol_place<'s>(at: &CodeState, symbol: impl Into<SymbolView<'s>>) -> Markup {
    let SymbolView { path, line, .. } = symbol.into();
    place_link(at, path, line.into())
}

/// `src/a.rs:12`, as a link.
pub(super) fn place_link(at: &CodeState, path: &str, line: u64) -> Markup {
    html! { a.place href=(at.line(path, line)) { (escape_name(path)) ":" (line) } }
}

/// One caller or callee, which can be expanded to its own callers or callees.
pub(super) fn call_row(at: &CodeState, edge: &Call, direction: &str) -> Markup {
    let id = edge.symbol.symbol_id.as_str();
    let more = edge.call_count.unwrap_or_default();
    html! {
        li data-row {
            (symbol_link(at, &edge.symbol))
            @if edge.confidence != "static" { " " span.badge.guess title="unconfirmed" { "guess" } }
            div.at {
                (place_link(at, &edge.call_site.file, edge.call_site.line.into()))
                @if more > 1 { " " span.dim { "×" (more) } }
            }
            @if !id.is_empty() {
                details.hop data-src=(at.href(&["calls", id], &[("direction", direction)])) {
                    summary { @if direction == "callers" { "its callers" } @else { "what it calls" } }
                    p { a href=(at.href(&["calls", id], &[("direction", direction)])) { "open" } }
                }
            }
        }
    }
}

/// Calls, with those of tests folded.
pub(super) fn call_rows(at: &CodeState, edges: &[Call], direction: &str) -> Markup {
    let (tests, code): (Vec<&Call>, Vec<&Call>) = edges.iter().partition(|edge| edge.is_test);
    html! {
        @if !code.is_empty() { ul.rows { @for edge in &code { (call_row(at, edge, direction)) } } }
        @if !tests.is_empty() {
            details.tests {
                summary { (count(tests.len() as u64, "test")) }
                ul.rows { @for edge in &tests { (call_row(at, edge, direction)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_name_keeps_two_segments() {
        for (name, expected) in [
            ("django.core.paginator.Paginator.page", "Paginator.page"),
            ("server::jobs::Jobs::stop", "Jobs::stop"),
            ("gin.cleanPath", "gin.cleanPath"),
            ("a::b", "a::b"),
            ("plain", "plain"),
            ("App\\Http\\Kernel::handle", "Kernel::handle"),
            ("", ""),
        ] {
            assert_eq!(short_name(name), expected, "{name}");
        }
    }
}
