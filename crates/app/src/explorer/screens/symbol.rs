//! A symbol: its source in the middle, its callers on the left, its callees on the right. For a symbol that cannot be
//! called, these are its uses and its members.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{RenderedScreen, is_partial, pending_note, symbol_heading};
use crate::explorer::code;
use crate::explorer::lists::{call_rows, count, escape_name, list, number, place_link, symbol_link, word};
use crate::explorer::page_request::PageRequest;
use crate::explorer::page_tools::source::{self, MAX_OTHERS};

/// The maximum number of calls per side; a link leads to all of them.
const MAX_CALLS: u32 = 80;

const CALLABLE: &[&str] = &["fn", "method", "constructor", "macro", "test"];

pub(super) async fn show(visit: &PageRequest, name: &str) -> Result<RenderedScreen, Value> {
    let source = visit.ask_tool(&source::TOOL, json!({ "name": name, "path": visit.query.get("path") })).await?;
    let symbol = &source["symbol"];
    let id = word(symbol, "symbol_id");
    let is_callable = CALLABLE.contains(&word(symbol, "kind"));
    let (key, tool, question) = match is_callable {
        true => ("calls", "get_call_graph", json!({ "symbol_name": id, "limit": MAX_CALLS })),
        false => ("references", "find_references", json!({ "symbol_name": id, "limit": MAX_CALLS })),
    };
    // A language without rules has no edges, but still has source to show.
    let around = visit.ask(tool, question.clone()).await.unwrap_or_else(|error| error);
    let refusal = around["error"]["message"].as_str();
    let (left, right) = match is_callable {
        true => (callers(visit, id, &around), callees(visit, id, &around)),
        false => (uses(visit, id, &around), member_list(visit, &source)),
    };
    let others = list(&source, "others");
    let body = html! {
        @if !list(&source, "around").is_empty() {
            p.around { "in " @for (at, one) in list(&source, "around").iter().enumerate() { @if at > 0 { " › " } (symbol_link(&visit.at, one)) } }
        }
        @if !others.is_empty() {
            details { summary { (count(others.len() as u64, "other")) " with this name" @if others.len() >= MAX_OTHERS { ", or more" } }
                ul.rows { @for other in others { li data-row { (symbol_link(&visit.at, other)) " " (place_link(&visit.at, word(other, "path"), number(other, "line_start"))) } } }
            }
        }
        @if source["is_edited"] == true { p { span.badge.edited { "edited, not committed" } } }
        div.sides {
            section.middle aria-label="Source" { (code::lines(&visit.at, &source, &[])) (continue_link(visit, &source)) }
            section.left aria-label=(if is_callable { "Callers" } else { "Uses" }) { @if let Some(refusal) = refusal { p.dim { (escape_name(refusal)) } } @else { (left) } }
            section.right aria-label=(if is_callable { "Calls" } else { "Members" }) { @if refusal.is_none() || !is_callable { (right) } }
        }
    };
    let place = format!("{}:{}", word(symbol, "path"), number(symbol, "line_start"));
    let title = word(symbol, "qualified_name").to_owned();
    let heading = symbol_heading(visit, symbol, "symbol");
    let agent = vec![("read_code", json!({ "what": [place] })), (tool, question)];
    // Report a partial result of either answer.
    let metadata = if is_partial(&around) { &around } else { &source }["metadata"].clone();
    Ok(RenderedScreen::new(title, json!({ "source": source, key: around }), &metadata)
        .heading(heading)
        .body(body)
        .with_agent_calls(agent))
}

fn callers(visit: &PageRequest, id: &str, answer: &Value) -> Markup {
    let unproved = number(answer, "unproved_callers");
    html! {
        (call_list(visit, id, answer, "callers"))
        @if unproved > 0 { p.dim { a href=(visit.at.href(&["references", id], &[])) { (count(unproved, "possible call")) } } }
    }
}

fn callees(visit: &PageRequest, id: &str, answer: &Value) -> Markup {
    let (outside, unresolved) = (number(answer, "outside_calls"), number(answer, "unresolved_calls"));
    html! {
        (call_list(visit, id, answer, "callees"))
        @if outside > 0 { p.dim { (count(outside, "external call")) } }
        @if unresolved > 0 { p.dim { (count(unresolved, "unresolved call")) } }
    }
}

/// The first calls of one direction, and a link to more.
fn call_list(visit: &PageRequest, id: &str, answer: &Value, direction: &str) -> Markup {
    let (title, none, all) = match direction {
        "callers" => ("Callers ", "No confirmed callers.", "All callers"),
        _ => ("Calls ", "No calls within this repository.", "All calls"),
    };
    let edges = list(answer, direction);
    let is_full = edges.len() as u64 >= u64::from(MAX_CALLS) && answer["truncated"] == true;
    html! {
        h2 { (title) span.dim { (edges.len()) @if is_full || is_partial(answer) { "+" } } }
        @if edges.is_empty() { (pending_note(is_partial(answer), none)) }
        (call_rows(&visit.at, edges, direction))
        @if is_full { p data-row { a.more href=(visit.at.href(&["calls", id], &[("direction", direction)])) { (all) } } }
    }
}

/// The uses of a type, a field or a constant, by enclosing symbol.
fn uses(visit: &PageRequest, id: &str, answer: &Value) -> Markup {
    let references = list(answer, "references");
    let total = number(answer, "total_references");
    html! {
        h2 { "Used by " span.dim { (total) @if is_partial(answer) { "+" } } }
        @if references.is_empty() { (pending_note(is_partial(answer), "No confirmed uses.")) }
        ul.rows {
            @for one in references {
                li data-row {
                    (symbol_link(&visit.at, &one["from_symbol"]))
                    div.at { (place_link(&visit.at, word(one, "path"), number(one, "line_start"))) " " span.dim { (word(one, "edge_type")) } }
                }
            }
        }
        @if total > references.len() as u64 { p data-row { a.more href=(visit.at.href(&["references", id], &[])) { "Show all" } } }
    }
}

/// The members of the symbol.
fn member_list(visit: &PageRequest, source: &Value) -> Markup {
    let inside = list(source, "inside");
    html! {
        h2 { "Members " span.dim { (inside.len()) } }
        ul.rows { @for part in inside { li data-row { (symbol_link(&visit.at, part)) div.at { (place_link(&visit.at, word(part, "path"), number(part, "line_start"))) } } } }
    }
}

/// The link to the rest of a very long symbol, in its file.
fn continue_link(visit: &PageRequest, source: &Value) -> Markup {
    let (last, end) = (number(source, "last_line"), number(&source["symbol"], "line_end"));
    html! {
        @if last < end { p { a href=(visit.at.line(word(source, "path"), last + 1)) { "Continue to line " (end) } } }
    }
}
